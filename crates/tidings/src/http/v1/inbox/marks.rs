//! Marks of inbox items: seen, read, archived, snoozed, deleted.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use tidings_core::Command;
use tidings_core::command::{ItemChange, MarkKind};
use utoipa_axum::routes;

use super::counted;
use super::shown::Counts;
use crate::body::items::Items;
use crate::http::call::Calls;
use crate::http::error::Problem;
use crate::http::request::query::InQuery;
use crate::http::users::reader::{Reader, TenantAlone};
use crate::http::{Answer, Change, Service};

/// The calls of marks.
pub(super) fn calls(calls: Calls) -> Calls {
    calls
        .add("mark_seen", routes!(mark_seen))
        .add("mark_read", routes!(mark_read))
        .add("mark_unread", routes!(mark_unread))
        .add("archive", routes!(archive))
        .add("unarchive", routes!(unarchive))
        .add("unsnooze", routes!(unsnooze))
        .add("delete_items", routes!(delete_items))
        .add("snooze", routes!(snooze))
}

/// A mark.
enum Made {
    Mark(MarkKind),
    Items(ItemChange),
}

/// Marks the items of a body, and answers with the counts afterwards.
async fn mark(
    service: &Service,
    reader: Reader,
    change: &Change,
    made: Made,
) -> Result<Answer, Problem> {
    let mut items: Items = change.parse()?;
    let view = reader.reach(items.tenant())?;
    let what = items.named(&service.rules(), service.now())?;
    let recipient = reader.recipient.clone();
    let command = match made {
        Made::Mark(kind) => Command::Mark { view, recipient, what, kind },
        Made::Items(change) => Command::ChangeItems { view, recipient, what, change },
    };
    done(service, &reader, change, command).await
}

async fn done(
    service: &Service,
    reader: &Reader,
    change: &Change,
    command: Command,
) -> Result<Answer, Problem> {
    service.done(change, command).await?;
    Answer::json(StatusCode::OK, &counted(service, reader).await?)
}

/// Mark items as seen
///
/// Lowers `unseen`, not `unread`. Returns the counts afterwards, also if no item matches. An event or a group is marked
/// wherever it is, other items only in the inbox.
#[utoipa::path(
    post, path = "/v1/recipients/{id}/inbox/seen", tag = "inbox",
    params(
        ("id" = String, Path, description = "Recipient id", example = "ada", min_length = 1, max_length = 256),
        ("tenant" = Option<String>, Query, description = "Only items of this tenant and those without a tenant", min_length = 1, max_length = 256),
    ),
    request_body = Items,
    responses((status = 200, description = "The counts afterwards", body = Counts))
)]
pub(in crate::http) async fn mark_seen(
    State(service): State<Arc<Service>>,
    reader: Reader,
    _: InQuery<TenantAlone>,
    change: Change,
) -> Result<Answer, Problem> {
    mark(&service, reader, &change, Made::Mark(MarkKind::Seen)).await
}

/// Mark items as read
///
/// Marks items as read, and hence as seen. Returns the counts afterwards, also if no item matches. An event or a group
/// is marked wherever it is, other items only in the inbox.
#[utoipa::path(
    post, path = "/v1/recipients/{id}/inbox/read", tag = "inbox",
    params(
        ("id" = String, Path, description = "Recipient id", example = "ada", min_length = 1, max_length = 256),
        ("tenant" = Option<String>, Query, description = "Only items of this tenant and those without a tenant", min_length = 1, max_length = 256),
    ),
    request_body = Items,
    responses((status = 200, description = "The counts afterwards", body = Counts))
)]
pub(in crate::http) async fn mark_read(
    State(service): State<Arc<Service>>,
    reader: Reader,
    _: InQuery<TenantAlone>,
    change: Change,
) -> Result<Answer, Problem> {
    mark(&service, reader, &change, Made::Mark(MarkKind::Read)).await
}

/// Mark items as unread
///
/// Raises `unread`; seen items stay seen. Returns the counts afterwards, also if no item matches. An event or a group
/// is marked wherever it is, other items only in the inbox.
#[utoipa::path(
    post, path = "/v1/recipients/{id}/inbox/unread", tag = "inbox",
    params(
        ("id" = String, Path, description = "Recipient id", example = "ada", min_length = 1, max_length = 256),
        ("tenant" = Option<String>, Query, description = "Only items of this tenant and those without a tenant", min_length = 1, max_length = 256),
    ),
    request_body = Items,
    responses((status = 200, description = "The counts afterwards", body = Counts))
)]
pub(in crate::http) async fn mark_unread(
    State(service): State<Arc<Service>>,
    reader: Reader,
    _: InQuery<TenantAlone>,
    change: Change,
) -> Result<Answer, Problem> {
    mark(&service, reader, &change, Made::Items(ItemChange::Unread)).await
}

/// Archive items
///
/// Removes items from pages and counts, except with `state=archived` and `all`. They count as seen for other channels.
/// Returns the counts afterwards, also if no item matches. An event or a group is archived wherever it is, other items
/// only in the inbox.
#[utoipa::path(
    post, path = "/v1/recipients/{id}/inbox/archive", tag = "inbox",
    params(
        ("id" = String, Path, description = "Recipient id", example = "ada", min_length = 1, max_length = 256),
        ("tenant" = Option<String>, Query, description = "Only items of this tenant and those without a tenant", min_length = 1, max_length = 256),
    ),
    request_body = Items,
    responses((status = 200, description = "The counts afterwards", body = Counts))
)]
pub(in crate::http) async fn archive(
    State(service): State<Arc<Service>>,
    reader: Reader,
    _: InQuery<TenantAlone>,
    change: Change,
) -> Result<Answer, Problem> {
    mark(&service, reader, &change, Made::Items(ItemChange::Archive)).await
}

/// Take items out of the archive
///
/// Brings archived items back as they were. Returns the counts afterwards, also if no item matches. An event or a group
/// is brought back wherever it is, other items only if that puts them into the inbox.
#[utoipa::path(
    post, path = "/v1/recipients/{id}/inbox/unarchive", tag = "inbox",
    params(
        ("id" = String, Path, description = "Recipient id", example = "ada", min_length = 1, max_length = 256),
        ("tenant" = Option<String>, Query, description = "Only items of this tenant and those without a tenant", min_length = 1, max_length = 256),
    ),
    request_body = Items,
    responses((status = 200, description = "The counts afterwards", body = Counts))
)]
pub(in crate::http) async fn unarchive(
    State(service): State<Arc<Service>>,
    reader: Reader,
    _: InQuery<TenantAlone>,
    change: Change,
) -> Result<Answer, Problem> {
    mark(&service, reader, &change, Made::Items(ItemChange::Unarchive)).await
}

/// End the snooze of items
///
/// Brings snoozed items back as they were, to their old position. Returns the counts afterwards, also if no item
/// matches. An event or a group is brought back wherever it is, other items only if that puts them into the inbox.
#[utoipa::path(
    post, path = "/v1/recipients/{id}/inbox/unsnooze", tag = "inbox",
    params(
        ("id" = String, Path, description = "Recipient id", example = "ada", min_length = 1, max_length = 256),
        ("tenant" = Option<String>, Query, description = "Only items of this tenant and those without a tenant", min_length = 1, max_length = 256),
    ),
    request_body = Items,
    responses((status = 200, description = "The counts afterwards", body = Counts))
)]
pub(in crate::http) async fn unsnooze(
    State(service): State<Arc<Service>>,
    reader: Reader,
    _: InQuery<TenantAlone>,
    change: Change,
) -> Result<Answer, Problem> {
    mark(&service, reader, &change, Made::Items(ItemChange::Unsnooze)).await
}

/// Delete items from an inbox
///
/// Removes items for ever; statistics stay. They count as seen for other channels. Returns the counts afterwards, also
/// if no item matches. An event or a group is deleted wherever it is, other items only in the inbox.
#[utoipa::path(
    post, path = "/v1/recipients/{id}/inbox/delete", tag = "inbox",
    params(
        ("id" = String, Path, description = "Recipient id", example = "ada", min_length = 1, max_length = 256),
        ("tenant" = Option<String>, Query, description = "Only items of this tenant and those without a tenant", min_length = 1, max_length = 256),
    ),
    request_body = Items,
    responses((status = 200, description = "The counts afterwards", body = Counts))
)]
pub(in crate::http) async fn delete_items(
    State(service): State<Arc<Service>>,
    reader: Reader,
    _: InQuery<TenantAlone>,
    change: Change,
) -> Result<Answer, Problem> {
    mark(&service, reader, &change, Made::Items(ItemChange::Delete)).await
}

/// Snooze items
///
/// Removes items from the inbox until an instant (`until`) or for a duration (`for`). They then return, unseen and
/// unread, at the position of that instant. Returns the counts afterwards.
#[utoipa::path(
    post, path = "/v1/recipients/{id}/inbox/snooze", tag = "inbox",
    params(
        ("id" = String, Path, description = "Recipient id", example = "ada", min_length = 1, max_length = 256),
        ("tenant" = Option<String>, Query, description = "Only items of this tenant and those without a tenant", min_length = 1, max_length = 256),
    ),
    request_body(content = Items, example = json!({"event": "e-1", "for": "1h"})),
    responses((status = 200, description = "The counts afterwards", body = Counts))
)]
pub(in crate::http) async fn snooze(
    State(service): State<Arc<Service>>,
    reader: Reader,
    _: InQuery<TenantAlone>,
    change: Change,
) -> Result<Answer, Problem> {
    let mut items: Items = change.parse()?;
    let view = reader.reach(items.tenant())?;
    let (what, snoozed) = items.snoozed(&service.rules(), service.now())?;
    let command =
        Command::ChangeItems { view, recipient: reader.recipient.clone(), what, change: snoozed };
    done(&service, &reader, &change, command).await
}
