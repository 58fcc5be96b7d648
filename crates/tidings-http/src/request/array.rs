//! Calls with many items: an array, whose items are handled one by one, or a stream of lines.

use std::sync::Arc;

use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use serde::Serialize;
use tidings_api::body::json::{self, Json};
use tidings_api::body::{Fault, Fields};
use tidings_core::Command;
use tidings_core::engine::Reply;
use utoipa::ToSchema;

use super::lines::{self, BulkLinesQuery, Done, Each, ReadItem, Rejected};
use crate::error::{Code, Problem};
use crate::request::{content_type, idempotency_key};
use crate::{Answer, Change, Service};

/// The answer to an item of an array.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum ItemAnswer {
    Done(Done),
    Rejected(Rejected),
}

impl From<Rejected> for ItemAnswer {
    fn from(rejected: Rejected) -> Self {
        Self::Rejected(rejected)
    }
}

/// Answers a call with many bodies, and says of each only that it is done.
///
/// # Errors
/// A [`Problem`] of the whole request.
pub(crate) async fn many(
    service: Arc<Service>,
    request: Request,
    wanted: BulkLinesQuery,
    each: Each<impl ReadItem>,
) -> Result<Response, Problem> {
    let (parts, body) = request.into_parts();
    if content_type(&parts.headers)?.as_deref() == Some("application/x-ndjson") {
        // Lines are done each by itself, and may be sent again: the key is only looked at.
        idempotency_key(&parts.headers)?;
        return lines::answer(service, body, wanted, each).await;
    }
    let change = Change::read(&parts, body, &service).await?;
    let list = json::list(&change.body)?;
    let rules = service.rules();
    let read = |_, fields: Fields<'_>| (each.0)(&rules, fields);
    let done = |_| Ok(ItemAnswer::Done(Done::new(None)));
    let answer = answer(&service, &change, StatusCode::OK, list, read, done).await?;
    Ok(answer.into_response())
}

/// The answer to an array: the result of `done` for each item that was done, and the problems of the others.
///
/// # Errors
/// A [`Problem`] of the whole request.
pub(crate) async fn answer<T: Serialize + From<Rejected>>(
    service: &Service,
    change: &Change,
    status: StatusCode,
    list: Vec<Json<'_>>,
    read: impl Fn(usize, Fields<'_>) -> Result<Command, Problem>,
    done: impl Fn(Reply) -> Result<T, Problem> + Send + 'static,
) -> Result<Answer, Problem> {
    let most = service.settings.array_items_max;
    if list.len() > most {
        let detail = format!("the array has {} items, more than {most}", list.len());
        return Err(Problem::new(Code::BodyTooLarge, detail));
    }
    let mut commands = Vec::with_capacity(list.len());
    let mut items = Vec::with_capacity(list.len());
    for (place, item) in list.into_iter().enumerate() {
        let (id, command) = match item {
            Json::Table(table) => {
                let fields = Fields::new(table);
                let id = fields.said_id().map(str::to_owned);
                (id, read(place, fields))
            }
            other => {
                let reason = format!("the item must be an object, got {}", other.kind());
                (None, Err(Fault::new(reason, "write `{…}`").into()))
            }
        };
        let fault = command.map(|command| commands.push(command)).err();
        items.push((id, fault));
    }
    let answer = move |replies: Vec<Result<Reply, Problem>>| {
        let mut replies = replies.into_iter();
        let rejected = |id, problem: &Problem| T::from(Rejected::new(None, id, problem));
        let outcome = |(id, fault): (Option<String>, Option<Problem>)| match fault {
            Some(fault) => Ok(rejected(id, &fault)),
            None => match replies.next() {
                Some(Ok(reply)) => done(reply),
                Some(Err(problem)) => Ok(rejected(id, &problem)),
                None => Err(Problem::new(Code::Internal, "the node gave no answer")),
            },
        };
        let outcomes: Result<Vec<T>, Problem> = items.into_iter().map(outcome).collect();
        Answer::json(status, &outcomes?)
    };
    service.change(change, commands, answer).await
}
