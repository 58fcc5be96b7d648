//! The triggers of Knock and Novu, each behind its key of `[compat]`: their bodies become events, and the answers are
//! those that their clients read. They are no calls of our own document.

pub(super) mod names;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use serde_json::{Value, json};
use tidings_api::body::Fields;
use tidings_api::body::event::EventBody;
use tidings_api::body::json::{self, JsonObject};
use tidings_api::compat::{knock, novu};
use tidings_config::wording::quoted;
use tidings_core::Id;

use self::names::COMPAT;
use super::call::{CallName, roles_of};
use super::error::{Code, Problem};
use super::request::InPath;
use super::request::caller::Caller;
use super::v1::events::new_id;
use super::{Answer, Change, Service, only};

/// The routes.
pub(super) fn routes() -> Router<Arc<Service>> {
    Router::new()
        .route("/v1/workflows/{key}/trigger", post(knock_trigger))
        .route("/v1/events/{id}", post(novu_trigger))
}

async fn knock_trigger(
    State(service): State<Arc<Service>>,
    InPath(workflow): InPath<Id>,
    request: Request,
) -> Response {
    if !service.rules().compat.knock {
        return off(request.uri(), "knock");
    }
    let answer = trigger(&service, request, StatusCode::OK, |body, id| {
        let id = id(None);
        let fields = knock::trigger(workflow.as_str(), &id, body)?;
        let event: EventBody = Fields::new(fields).body()?;
        Ok((event, json!({ "workflow_run_id": id.as_str() }), id.clone()))
    });
    named(COMPAT[0], answer.await)
}

async fn novu_trigger(
    State(service): State<Arc<Service>>,
    InPath(path): InPath<Id>,
    request: Request,
) -> Response {
    if path.as_str() != "trigger" {
        let detail = format!("`{}` has no method `POST`; it has `GET`", request.uri().path());
        let mut response = Problem::new(Code::MethodNotAllowed, detail).into_response();
        response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET,HEAD"));
        return response;
    }
    if !service.rules().compat.novu {
        return off(request.uri(), "novu");
    }
    let answer = trigger(&service, request, StatusCode::CREATED, |mut body, id| {
        let id = id(novu::transaction(&mut body)?);
        let fields = novu::trigger(&id, body)?;
        let event: EventBody = Fields::new(fields).body()?;
        let answer = json!({
            "acknowledged": true, "status": "processed", "transactionId": id.as_str(),
        });
        Ok((event, json!({ "data": answer }), id.clone()))
    });
    named(COMPAT[1], answer.await)
}

/// Publishes the events of a body, and answers in the form of `read`.
async fn trigger(
    service: &Arc<Service>,
    request: Request,
    status: StatusCode,
    read: impl for<'b> FnOnce(
        JsonObject<'b>,
        &dyn Fn(Option<Id>) -> Id,
    ) -> Result<(EventBody, Value, Id), Problem>,
) -> Result<Answer, Problem> {
    let (parts, body) = request.into_parts();
    let caller = parts.extensions.get::<Arc<Caller>>();
    if let (Some(caller), Some(roles)) = (caller, roles_of("publish"))
        && !roles.allow(caller.role)
    {
        return Err(Problem::new(Code::Role, roles.lacking(caller.role)));
    }
    let change = Change::read(&parts, body, service).await?;
    let (command, answer) = {
        let table = json::object(&change.body)?;
        let id = |given: Option<Id>| given.unwrap_or_else(|| new_id(service, &change, 0));
        let (event, answer, id) = read(table, &id)?;
        (event.command(&service.rules(), || id)?, answer)
    };
    let done = move |replies| {
        only(replies)?;
        Answer::json(status, &answer)
    };
    service.change(&change, vec![command], done).await
}

/// The answer of a call that the configuration has not.
fn off(uri: &Uri, key: &str) -> Response {
    let detail = format!("no call has the path {}", quoted(uri.path()));
    let hint = format!("It is taken with `[compat] {key} = true` in the configuration.");
    Problem::new(Code::NotFound, detail).hint(hint).into_response()
}

fn named(name: &'static str, answer: Result<Answer, Problem>) -> Response {
    let mut response = answer.into_response();
    response.extensions_mut().insert(CallName(name));
    response
}
