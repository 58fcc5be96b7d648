//! Marks of inbox items: seen, read, archived, snoozed, deleted.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use tidings_api::body::items::Items;
use tidings_core::Command;
use tidings_core::model::{ItemChange, MarkKind};
use utoipa_axum::routes;

use super::counted;
use crate::call::Calls;
use crate::error::Problem;
use crate::live::shown::Counts;
use crate::request::query::InQuery;
use crate::request::reader::{InboxReader, TenantAlone};
use crate::{Answer, Change, Service};

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
enum MarkOrChange {
    Mark(MarkKind),
    Items(ItemChange),
}

/// Marks the items of a body, and answers with the counts afterwards.
async fn mark(
    service: &Service,
    reader: InboxReader,
    change: &Change,
    made: MarkOrChange,
) -> Result<Answer, Problem> {
    let mut items: Items = change.parse()?;
    let view = reader.reach(items.tenant())?;
    let what = items.named(&service.rules(), service.now())?;
    let recipient = reader.recipient.clone();
    let command = match made {
        MarkOrChange::Mark(kind) => Command::Mark { view, recipient, what, kind },
        MarkOrChange::Items(change) => Command::ChangeItems { view, recipient, what, change },
    };
    done(service, &reader, change, command).await
}

async fn done(
    service: &Service,
    reader: &InboxReader,
    change: &Change,
    command: Command,
) -> Result<Answer, Problem> {
    service.done(change, command).await?;
    Answer::json(StatusCode::OK, &counted(service, reader).await?)
}

/// A call of a mark: its documentation, name, path, and what it does.
macro_rules! mark_call {
    ($(#[$doc:meta])* $name:ident, $path:tt, $made:expr) => {
        $(#[$doc])*
        #[utoipa::path(
            post, path = $path, tag = "inbox",
            params(
                ("id" = String, Path, description = "Recipient id", example = "ada", min_length = 1, max_length = 256),
                ("tenant" = Option<String>, Query, description = "Only items of this tenant and those without a tenant", min_length = 1, max_length = 256),
            ),
            request_body = Items,
            responses((status = 200, description = "The counts afterwards", body = Counts))
        )]
        pub(crate) async fn $name(
            State(service): State<Arc<Service>>,
            reader: InboxReader,
            _: InQuery<TenantAlone>,
            change: Change,
        ) -> Result<Answer, Problem> {
            mark(&service, reader, &change, $made).await
        }
    };
}

mark_call! {
    /// Mark items as seen
    ///
    /// Lowers `unseen`, not `unread`. Returns the counts afterwards, also if no item matches. An event or a group is marked
    /// wherever it is, other items only in the inbox.
    mark_seen, "/v1/recipients/{id}/inbox/seen", MarkOrChange::Mark(MarkKind::Seen)
}

mark_call! {
    /// Mark items as read
    ///
    /// Marks items as read, and hence as seen. Returns the counts afterwards, also if no item matches. An event or a group
    /// is marked wherever it is, other items only in the inbox.
    mark_read, "/v1/recipients/{id}/inbox/read", MarkOrChange::Mark(MarkKind::Read)
}

mark_call! {
    /// Mark items as unread
    ///
    /// Raises `unread`; seen items stay seen. Returns the counts afterwards, also if no item matches. An event or a group
    /// is marked wherever it is, other items only in the inbox.
    mark_unread, "/v1/recipients/{id}/inbox/unread", MarkOrChange::Items(ItemChange::Unread)
}

mark_call! {
    /// Archive items
    ///
    /// Removes items from pages and counts, except with `state=archived` and `all`. They count as seen for other channels.
    /// Returns the counts afterwards, also if no item matches. An event or a group is archived wherever it is, other items
    /// only in the inbox.
    archive, "/v1/recipients/{id}/inbox/archive", MarkOrChange::Items(ItemChange::Archive)
}

mark_call! {
    /// Take items out of the archive
    ///
    /// Brings archived items back as they were. Returns the counts afterwards, also if no item matches. An event or a group
    /// is brought back wherever it is, other items only if that puts them into the inbox.
    unarchive, "/v1/recipients/{id}/inbox/unarchive", MarkOrChange::Items(ItemChange::Unarchive)
}

mark_call! {
    /// End the snooze of items
    ///
    /// Brings snoozed items back as they were, to their old position. Returns the counts afterwards, also if no item
    /// matches. An event or a group is brought back wherever it is, other items only if that puts them into the inbox.
    unsnooze, "/v1/recipients/{id}/inbox/unsnooze", MarkOrChange::Items(ItemChange::Unsnooze)
}

mark_call! {
    /// Delete items from an inbox
    ///
    /// Removes items for ever; statistics stay. They count as seen for other channels. Returns the counts afterwards, also
    /// if no item matches. An event or a group is deleted wherever it is, other items only in the inbox.
    delete_items, "/v1/recipients/{id}/inbox/delete", MarkOrChange::Items(ItemChange::Delete)
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
pub(crate) async fn snooze(
    State(service): State<Arc<Service>>,
    reader: InboxReader,
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
