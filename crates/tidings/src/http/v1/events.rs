//! Events: one, an array, or a stream of lines.

pub(super) mod cancel;
pub(in crate::http) mod cloud;
pub(super) mod outcome;

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use tidings_core::engine::{Published, PublishedAs, Reply, Warning};
use tidings_core::{Command, Id, Rules, Trace};
use utoipa::openapi::{Array, OneOf, Ref, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};
use utoipa_axum::routes;

use self::cloud::Form;
use crate::body::Fields;
use crate::body::event::EventBody;
use crate::body::json::{self, Json};
use crate::http::call::Calls;
use crate::http::error::{Code, Problem};
use crate::http::request::array;
use crate::http::request::ids;
use crate::http::request::lines::{self, Counted, Lines, Rejected, Wanted};
use crate::http::request::query::InQuery;
use crate::http::request::traces::{self, traced};
use crate::http::request::{content_type, idempotency_key};
use crate::http::{Answer, Change, Service, only};
use crate::warning::Worded;

/// Warnings of one event that are told one by one.
const WARNINGS_MAX: usize = 20;

/// The calls of events.
pub(super) fn calls(calls: Calls) -> Calls {
    calls.add("publish", routes!(publish))
}

/// The result of one event.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"id": "018cc251f40075a4b2a5ce9d0f7a3b11", "status": "accepted", "notifications": 2, "suppressed": 0, "warnings": []}))]
struct PublishedEvent {
    /// In a stream: the line number, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    line: Option<u64>,
    /// The event's id; made by the server if the event had none.
    id: String,
    /// `accepted`, or `duplicate` if its id is known: then nothing happened.
    status: PublishedStatus,
    /// Number of recipients with at least one entry.
    notifications: u64,
    /// Number of recipients whom the admission of its type left out.
    suppressed: u64,
    /// In a cluster: true once all shards have applied the event, so that the counts are complete and inboxes have it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    applied: Option<bool>,
    /// A warning: what was sent is accepted, and probably not what was meant.
    warnings: Vec<EventWarning>,
}

#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum PublishedStatus {
    Accepted,
    Duplicate,
    /// It was cancelled before it came: nobody is told.
    Cancelled,
}

/// A warning: what was sent is accepted, and probably not what was meant.
#[derive(Serialize, ToSchema)]
pub(super) struct EventWarning {
    /// The stable code: `unknown_recipient`; `no_followers`, `only_exceptions`, `only_the_actor`, `nobody_near` or
    /// `nobody_concerned` if the audience is empty; `already_expired`, `expires_before_delivery`; `differs` for an id
    /// that was used before for another event; or `more_warnings` in place of many.
    pub(super) code: &'static str,
    /// The fault, in words.
    pub(super) detail: String,
    /// A way to fix it.
    pub(super) hint: &'static str,
}

/// The result of one event of an array.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
enum EventOutcome {
    Published(PublishedEvent),
    Rejected(Rejected),
}

impl From<Rejected> for EventOutcome {
    fn from(rejected: Rejected) -> Self {
        Self::Rejected(rejected)
    }
}

/// The answer to a line of a stream of events.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "describes what `publish` answers")]
enum EventLineAnswer {
    Published(PublishedEvent),
    Rejected(Rejected),
    Counted(Counted),
}

/// One event, or an array of events, each of which is handled by itself.
struct PublishBody;

impl PartialSchema for PublishBody {
    fn schema() -> RefOr<Schema> {
        let many =
            Array::builder().description(Some("Events; each is accepted or rejected by itself"));
        let event = Ref::from_schema_name(EventBody::name());
        let many = many.items(event.clone());
        OneOf::builder().item(event).item(many).into()
    }
}

impl ToSchema for PublishBody {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((EventBody::name().into_owned(), EventBody::schema()));
        EventBody::schemas(schemas);
    }
}

/// The result of one event, or of each event of an array.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "describes what `publish` answers")]
enum PublishAnswer {
    One(PublishedEvent),
    Many(Vec<EventOutcome>),
}

impl From<Published> for PublishedEvent {
    fn from(published: Published) -> Self {
        let count = published.warnings.len();
        let mut warnings: Vec<EventWarning> =
            published.warnings.iter().take(WARNINGS_MAX).map(EventWarning::from).collect();
        if count > WARNINGS_MAX {
            warnings.push(EventWarning {
                code: "more_warnings",
                detail: format!("and {} more", count - WARNINGS_MAX),
                hint: "fix these first",
            });
        }
        Self {
            line: None,
            id: published.id.as_str().to_owned(),
            status: match published.status {
                PublishedAs::Accepted => PublishedStatus::Accepted,
                PublishedAs::Duplicate => PublishedStatus::Duplicate,
                PublishedAs::Cancelled => PublishedStatus::Cancelled,
            },
            notifications: published.notifications,
            suppressed: published.suppressed,
            applied: Some(published.applied),
            warnings,
        }
    }
}

impl From<&Warning> for EventWarning {
    fn from(warning: &Warning) -> Self {
        let Worded { code, detail, hint } = warning.into();
        Self { code, detail, hint }
    }
}

/// Publish events
///
/// One event as an object, many as an array (`application/json`), or a stream of any length with one event
/// per line (`application/x-ndjson`). Events are answered in order, once they are durable.
///
/// An event with a known id is a `duplicate`: nothing happens. An event without an id gets one. (Where parts of the
/// store are at several nodes it derives from an `Idempotency-Key` and the request.) An invalid event of an array is
/// `rejected` with its problem, and the others are accepted.
///
/// Of several nodes the answer waits up to a second until all parts of the store have the event in their inboxes, and
/// `applied` says whether they do. With `Prefer: respond-async` it does not wait.
///
/// A stream is read as fast as it can be made durable, and each line is answered as an item of an array is.
/// Read the answers while you write. A problem of the server (status 429 or 503) ends the stream: send the
/// lines without an answer again, with the same ids. With an `Idempotency-Key`, events without an id get one
/// that derives from the key, the line number and the line's content: sent again they are duplicates.
///
/// CloudEvents 1.0 (the schema `CloudEvent`) are taken in structured mode (`application/cloudevents+json`), as a batch
/// (`application/cloudevents-batch+json`), and in binary mode (any JSON with the headers `ce-specversion`, `ce-id`,
/// `ce-source` and `ce-type`). Their `type` and `id` are those of the event, their `data` is the body without
/// the two. `time` is its `occurred_at`, `traceparent` its `trace`. A batch is answered as an array is.
#[utoipa::path(
    post, path = "/v1/events", tag = "events",
    params(Wanted),
    request_body(content(
        (PublishBody = "application/json", example = json!({"type": "comment", "actor": "ben", "object": {"id": "works/1", "title": "Water Lilies"}, "to": {"recipients": ["ada"]}})),
        (EventBody = "application/x-ndjson"),
    )),
    responses((status = 202, description = "The result of each item", content(
        (PublishAnswer = "application/json", example = json!({"id": "018cc251f40075a4b2a5ce9d0f7a3b11", "status": "accepted", "notifications": 1, "suppressed": 0, "warnings": []})),
        (EventLineAnswer = "application/x-ndjson", example = json!({"line": 1, "id": "018cc251f40075a4b2a5ce9d0f7a3b11", "status": "accepted", "notifications": 1, "suppressed": 0, "warnings": []})),
    )))
)]
async fn publish(
    State(service): State<Arc<Service>>,
    InQuery(wanted): InQuery<Wanted>,
    request: Request,
) -> Result<Response, Problem> {
    let (parts, body) = request.into_parts();
    let trace = traces::context(&parts.extensions);
    if content_type(&parts.headers)?.as_deref() == Some("application/x-ndjson") {
        let key = idempotency_key(&parts.headers)?.map(str::to_owned);
        let events = EventLines { service: Arc::clone(&service), key, trace };
        return lines::answer(service, body, wanted, events).await;
    }
    let form = Form::of(&parts.headers)?;
    let beside = form.beside_body();
    let change = Change::read_as(&parts, body, &service, &form.media(), &beside).await?;
    let answer = match json::value(&change.body)? {
        Json::List(list) if form.takes_many() => {
            let rules = service.rules();
            let read = |place, fields: Fields<'_>| {
                let new_id = || new_id(&service, &change, place);
                Ok(traced(read(&rules, form.fields(fields)?, new_id)?, trace))
            };
            let of_nodes = service.cluster.is_some();
            let done = move |reply| published(of_nodes, reply).map(EventOutcome::Published);
            array::answer(&service, &change, StatusCode::ACCEPTED, list, read, done).await
        }
        Json::Table(table) if form.takes_one() => {
            one(&service, &change, form.fields(Fields::new(table))?, trace).await
        }
        other => {
            let detail = format!("the body must be {}, got {}", form.wanted(), other.kind());
            Err(Problem::new(Code::InvalidBody, detail))
        }
    };
    Ok(answer?.into_response())
}

async fn one(
    service: &Service,
    change: &Change,
    fields: Fields<'_>,
    trace: Option<Trace>,
) -> Result<Answer, Problem> {
    let command = read(&service.rules(), fields, || new_id(service, change, 0))?;
    let command = traced(command, trace);
    let of_nodes = service.cluster.is_some();
    let told =
        move |replies| Answer::json(StatusCode::ACCEPTED, &published(of_nodes, only(replies)?)?);
    service.change(change, vec![command], told).await
}

/// An id for an event without one. Where parts are on other nodes the answer of a request is kept after its commit: an
/// event of a request that comes again in between has to be known.
pub(in crate::http) fn new_id(service: &Service, change: &Change, place: usize) -> Id {
    match change.once.filter(|_| service.among().is_some()) {
        Some(once) => ids::of_request(once, place),
        None => service.ids.next(service.now()),
    }
}

fn read(
    rules: &Rules,
    fields: Fields<'_>,
    new_id: impl FnOnce() -> Id,
) -> Result<Command, Problem> {
    Ok(fields.body::<EventBody>()?.command(rules, new_id)?)
}

/// The result of a publish. Of one machine it does not say that the event is applied: it always is.
fn published(of_nodes: bool, reply: Reply) -> Result<PublishedEvent, Problem> {
    match reply {
        Reply::Published(published) => {
            let published = PublishedEvent::from(published);
            let applied = published.applied.filter(|_| of_nodes);
            Ok(PublishedEvent { applied, ..published })
        }
        Reply::Done
        | Reply::Flushed { .. }
        | Reply::Cancelled(_)
        | Reply::Dropped(_)
        | Reply::Operated(_) => {
            Err(Problem::new(Code::Internal, "the node gave an answer of the wrong kind"))
        }
    }
}

/// Events as lines.
struct EventLines {
    service: Arc<Service>,
    key: Option<String>,
    trace: Option<Trace>,
}

impl Lines for EventLines {
    const STATUS: StatusCode = StatusCode::ACCEPTED;

    fn read(&mut self, rules: &Rules, number: u64, line: &[u8]) -> Result<Command, Problem> {
        let id = || match &self.key {
            Some(key) => ids::derived(key, number, line.trim_ascii()),
            None => self.service.ids.next(self.service.now()),
        };
        let event: EventBody = Fields::parse(line)?.body()?;
        Ok(traced(event.command(rules, id)?, self.trace))
    }

    fn tell(&self, line: u64, reply: Reply, out: &mut Vec<u8>) -> Result<(), Problem> {
        let published = PublishedEvent {
            line: Some(line),
            ..published(self.service.cluster.is_some(), reply)?
        };
        let written = serde_json::to_writer(out, &published);
        written.map_err(|fault| Problem::new(Code::Internal, fault.to_string()))
    }
}

#[cfg(test)]
mod tests;
