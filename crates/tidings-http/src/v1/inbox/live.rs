//! Streams of inboxes.

use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use utoipa_axum::routes;

use crate::Service;
use crate::call::Calls;
use crate::error::Problem;
use crate::request::query::InQuery;
use crate::request::reader::{InboxReader, TenantAlone};
use crate::service::streams::Opening;

/// The call that opens a stream.
pub(super) fn calls(calls: Calls) -> Calls {
    calls.add("live", routes!(live))
}

/// The position at which a reader goes on, as browsers send it when they reconnect.
fn last_event(headers: &HeaderMap) -> Option<String> {
    let last = headers.get("last-event-id")?;
    // What is no text is no cursor of this server.
    Some(String::from_utf8_lossy(last.as_bytes()).into_owned()).filter(|last| !last.is_empty())
}

/// Follow an inbox
///
/// Streams server-sent events. The first is `hello`, with the counts; then each change of the inbox is an event
/// `inbox`, within 100 ms: the counts, the new and changed groups (`changed`), and the keys of groups that are gone
/// (`gone`). Changes close together may be one event. Its `id` is a cursor: with `Last-Event-ID` the stream goes on
/// from there, or `hello` has `"reset": true`, and the page has to be read again. A comment comes every 15 s. `end`
/// comes before the server closes the stream, with a `code`: `restart` (open it again after `retry_ms`), `replaced`
/// (the recipient opened more than 8 streams of that view, or 32 with long polls), or the reason for the end of the
/// token (`token_expired`, `token_revoked`, `token_key`).
#[utoipa::path(
    get, path = "/v1/recipients/{id}/live", tag = "inbox",
    params(
        ("id" = String, Path, description = "Recipient id", example = "ada", min_length = 1, max_length = 256),
        ("tenant" = Option<String>, Query, description = "Only items of this tenant and those without a tenant, as with a token with this claim", min_length = 1, max_length = 256),
        ("Last-Event-ID" = Option<String>, Header, description = "The `id` of the last event that was received"),
    ),
    responses((
        status = 200, description = "The events", body = String, content_type = "text/event-stream",
        example = json!("event: hello\ndata: {\"rev\":7,\"unseen\":1,\"unread\":1,\"categories\":{\"news\":{\"unseen\":1,\"unread\":1}}}\n\n"),
    ))
)]
pub(crate) async fn live(
    State(service): State<Arc<Service>>,
    reader: InboxReader,
    _: InQuery<TenantAlone>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let opening =
        Opening { last: last_event(&headers), token: reader.token(), view: reader.view() };
    service.open_stream(reader.recipient, opening).await
}
