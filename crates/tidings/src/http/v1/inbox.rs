//! Inboxes, and their seen and read marks.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use tidings_core::command::MarkKind;
use tidings_core::engine::{Cursor, InboxGroup, InboxItem, InboxPage};
use tidings_core::{Data, Id, Object};
use tidings_node::Durable;
use utoipa::ToSchema;
use utoipa_axum::routes;

use crate::body::short::Mark;
use crate::config::duration::{self, DurationError};
use crate::http::call::{Calls, Kind};
use crate::http::error::{Code, Problem};
use crate::http::request::InPath;
use crate::http::request::query::{FromQuery, InQuery, Parameters};
use crate::http::{Answer, Change, Service};

/// Groups of a page where the query does not say.
const GROUPS_USUAL: u16 = 20;
/// The most groups of a page.
const GROUPS_MAX: u16 = 100;

/// The calls of the inbox.
pub(super) fn calls(calls: Calls) -> Calls {
    const MARKS: &[Code] = &[
        Code::InvalidPath,
        Code::InvalidJson,
        Code::InvalidBody,
        Code::UnsupportedMediaType,
        Code::RecipientNotFound,
    ];
    calls
        .add(
            "inbox",
            Kind::Looks,
            routes!(inbox),
            &[Code::InvalidPath, Code::InvalidQuery, Code::RecipientNotFound, Code::StreamsFull],
        )
        .add("mark_seen", Kind::Changes, routes!(mark_seen), MARKS)
        .add("mark_read", Kind::Changes, routes!(mark_read), MARKS)
}

/// The choice of a page.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
struct InboxQuery {
    /// Maximum number of groups; 20 if absent.
    #[param(minimum = 1, maximum = 100)]
    limit: Option<u16>,
    /// Start of the page: `next` of the previous page.
    cursor: Option<String>,
    /// Answer as soon as `rev` is above this one, or 304 if it is not within `wait`.
    since: Option<u64>,
    /// The time to wait with `since`, such as `25s`, at most `60s`; `0s` if absent.
    #[param(value_type = Option<String>, example = "25s")]
    wait: Option<Duration>,
}

impl FromQuery for InboxQuery {
    const KNOWN: &'static [&'static str] = &["limit", "cursor", "since", "wait"];

    fn read(query: &Parameters) -> Result<Self, Problem> {
        Ok(Self {
            limit: query.whole_number("limit", 1..=GROUPS_MAX)?,
            cursor: query.text("cursor").map(str::to_owned),
            since: query.parsed("since", str::parse, "the `rev` of an answer")?,
            wait: query.parsed("wait", wait, "a duration of at most 60s, such as 25s")?,
        })
    }
}

/// The longest wait for a change.
const WAIT_MAX: Duration = Duration::from_secs(60);

fn wait(text: &str) -> Result<Duration, ()> {
    let wait = match duration::parse(text) {
        Ok(ms) => Duration::from_millis(ms.unsigned_abs()),
        Err(DurationError::Zero) => Duration::ZERO,
        Err(_) => return Err(()),
    };
    if wait <= WAIT_MAX { Ok(wait) } else { Err(()) }
}

/// A page of an inbox, newest first.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"groups": [{"key": "g-1", "type": "comment", "count": 1, "actors": ["ben"], "newest_at": "2024-03-07T08:03:00Z", "seen": false, "read": false, "items": [{"event": "e-1", "type": "comment", "category": "conversations", "actor": {"id": "ben", "title": "Ben"}, "object": {"id": "works/1", "title": "Water Lilies"}, "data": {"work": 7}, "body": "Well done", "t": "2024-03-07T08:03:00Z", "reasons": ["named"], "seen": false, "read": false}]}], "unseen": 1, "unread": 1, "rev": 7, "next": null}))]
struct Page {
    /// Its groups.
    groups: Vec<Group>,
    /// Number of groups with an unseen item, in the whole inbox: the badge.
    unseen: u64,
    /// Number of groups with an unread item, in the whole inbox.
    unread: u64,
    /// Revision: of two answers the one with the higher number is newer.
    rev: u64,
    /// The next page's cursor; null = this is the last.
    #[schema(required)]
    next: Option<String>,
}

/// A group: items of one type about one thing on one day. Read items are in a group of their own.
#[derive(Serialize, ToSchema)]
pub(in crate::http) struct Group {
    /// Key of the group, unique in this inbox.
    key: String,
    /// The type.
    r#type: String,
    /// Number of items, listed or not.
    count: usize,
    /// The actors of the listed items, each once, newest first.
    actors: Vec<String>,
    /// Time of the newest item.
    #[schema(format = "date-time")]
    newest_at: String,
    /// True if all items were seen.
    seen: bool,
    /// True if it was read.
    read: bool,
    /// The newest items, newest first, at most 25.
    items: Vec<Item>,
}

/// One notification.
#[derive(Serialize, ToSchema)]
struct Item {
    /// The event.
    event: String,
    /// Its type.
    r#type: String,
    /// The category of the type; absent if the type is no longer configured.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    category: Option<String>,
    /// The actor as it is now; absent if the event has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    actor: Option<ItemObject>,
    /// The object as it is now.
    object: ItemObject,
    /// The target as it is now; absent if the event has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    target: Option<ItemObject>,
    /// The event's `data`; absent if it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<serde_json::Map<String, serde_json::Value>>)]
    data: Option<Arc<serde_json::Map<String, serde_json::Value>>>,
    /// The event's `body`; null = it has none.
    #[schema(required, value_type = Option<String>)]
    body: Option<Arc<str>>,
    /// The event's `occurred_at`, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = "date-time", nullable = false)]
    occurred_at: Option<String>,
    /// Time at which it entered the inbox.
    #[schema(format = "date-time")]
    t: String,
    /// The reason why this recipient was notified: `everyone`, `named`, `near`, or `topic:` and the topic that they
    /// follow.
    reasons: Vec<String>,
    /// True if it was seen.
    seen: bool,
    /// True if it was read.
    read: bool,
}

/// An object, an actor or a target as it is now.
#[derive(Serialize, ToSchema)]
struct ItemObject {
    /// Its id.
    id: String,
    /// A title to show.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    title: Option<String>,
    /// Address of its page.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    url: Option<String>,
    /// Address of a picture.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    image: Option<String>,
    /// Data of the host about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<std::collections::BTreeMap<String, serde_json::Value>>)]
    data: Option<Data>,
}

impl From<InboxPage> for Page {
    fn from(page: InboxPage) -> Self {
        Self {
            groups: page.groups.into_iter().map(Group::from).collect(),
            unseen: page.unseen,
            unread: page.unread,
            rev: page.rev,
            next: page.next.map(|next| next.to_string()),
        }
    }
}

impl From<InboxGroup> for Group {
    fn from(group: InboxGroup) -> Self {
        let actors = group.actors.iter();
        Self {
            key: group.key,
            r#type: group.event_type.as_str().to_owned(),
            count: group.count,
            actors: actors.map(|actor| actor.as_str().to_owned()).collect(),
            newest_at: group.newest_at.to_string(),
            seen: group.seen,
            read: group.read,
            items: group.items.into_iter().map(Item::from).collect(),
        }
    }
}

impl From<InboxItem> for Item {
    fn from(item: InboxItem) -> Self {
        Self {
            event: item.event.as_str().to_owned(),
            r#type: item.event_type.as_str().to_owned(),
            category: item.category,
            actor: item.actor.as_deref().map(ItemObject::from),
            object: ItemObject::from(&*item.object),
            target: item.target.as_deref().map(ItemObject::from),
            data: item.data,
            body: item.body,
            occurred_at: item.occurred_at.map(|at| at.to_string()),
            t: item.t.to_string(),
            reasons: item.reasons,
            seen: item.seen,
            read: item.read,
        }
    }
}

impl From<&Object> for ItemObject {
    fn from(object: &Object) -> Self {
        Self {
            id: object.id.as_str().to_owned(),
            title: object.title.clone(),
            url: object.url.clone(),
            image: object.image.clone(),
            data: object.data.clone(),
        }
    }
}

/// Get a page of an inbox
///
/// Returns groups, newest first, with up to 25 items each, and the counts of the whole inbox. Follow `next`
/// for older groups; new arrivals do not shift the pages. Of two answers the one with the higher `rev` is
/// newer; with `since` and `wait` the answer comes as soon as there is a newer one (long poll).
#[utoipa::path(
    get, path = "/v1/recipients/{id}/inbox", tag = "inbox",
    params(
        ("id" = String, Path, description = "Recipient id", example = "ada", min_length = 1, max_length = 256),
        InboxQuery,
    ),
    responses(
        (status = 200, description = "The page", body = Page),
        (status = 304, description = "`rev` is not above `since`"),
    )
)]
async fn inbox(
    State(service): State<Arc<Service>>,
    InPath(id): InPath<Id>,
    InQuery(query): InQuery<InboxQuery>,
) -> Result<Answer, Problem> {
    let limit = query.limit.unwrap_or(GROUPS_USUAL);
    let from: Option<Cursor> = match query.cursor.as_deref().map(str::parse) {
        None => None,
        Some(Ok(cursor)) => Some(cursor),
        Some(Err(fault)) => {
            let detail = format!("`cursor` must be the `next` of a page: {fault}");
            let problem = Problem::new(Code::InvalidQuery, detail);
            return Err(problem.hint("leave it out for the first page"));
        }
    };
    let recipient = id.clone();
    let read = move |node: &Durable| -> Result<InboxPage, Problem> {
        let engine = node.engine();
        Ok(engine.reader(node.view()).inbox(&id, from, usize::from(limit))?)
    };
    let page = match query.since {
        None => Some(service.look(read).await??),
        Some(since) => {
            let until = (since, query.wait.unwrap_or_default());
            service.newer(&recipient, until, |page: &InboxPage| page.rev, read).await?
        }
    };
    match page {
        Some(page) => Answer::json(StatusCode::OK, &Page::from(page)),
        None => Ok(Answer::not_modified()),
    }
}

/// Mark notifications as seen
///
/// Marks everything up to now as seen; later items are not affected. Lowers `unseen`, not `unread`. An event or object
/// that is not in the inbox marks nothing, which is no error.
#[utoipa::path(
    post, path = "/v1/recipients/{id}/inbox/seen", tag = "inbox",
    params(("id" = String, Path, description = "Recipient id", example = "ada", min_length = 1, max_length = 256)),
    request_body = Mark,
    responses((status = 204, description = "The notifications are marked as seen"))
)]
async fn mark_seen(
    State(service): State<Arc<Service>>,
    InPath(recipient): InPath<Id>,
    change: Change,
) -> Result<Answer, Problem> {
    mark(&service, recipient, MarkKind::Seen, &change).await
}

/// Mark notifications as read
///
/// Marks everything up to now as read and seen; later items are not affected. An event or object that is not in the
/// inbox marks nothing, which is no error.
#[utoipa::path(
    post, path = "/v1/recipients/{id}/inbox/read", tag = "inbox",
    params(("id" = String, Path, description = "Recipient id", example = "ada", min_length = 1, max_length = 256)),
    request_body = Mark,
    responses((status = 204, description = "The notifications are marked as read"))
)]
async fn mark_read(
    State(service): State<Arc<Service>>,
    InPath(recipient): InPath<Id>,
    change: Change,
) -> Result<Answer, Problem> {
    mark(&service, recipient, MarkKind::Read, &change).await
}

async fn mark(
    service: &Service,
    recipient: Id,
    kind: MarkKind,
    change: &Change,
) -> Result<Answer, Problem> {
    let mark: Mark = change.parse()?;
    let command = mark.command(recipient, kind)?;
    service.done(change, command).await
}

#[cfg(test)]
mod tests;
