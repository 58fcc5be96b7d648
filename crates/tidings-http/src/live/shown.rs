//! Rows of inboxes and their counts, as answers and frames show them.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use tidings_core::Object;
use tidings_core::content::Group as Content;
use tidings_core::engine::{CategoryCounts, InboxCounts, InboxGroup, InboxItem, InboxPage};
use tidings_core::model::Data;
use tidings_mail::{Design, RowText};
use utoipa::ToSchema;

/// The counts of an inbox.
#[derive(Default, Serialize, ToSchema)]
#[schema(as = InboxCounts, example = json!({"rev": 7, "unseen": 1, "unread": 1, "categories": {"conversations": {"unseen": 1, "unread": 1}}}))]
pub(crate) struct Counts {
    /// Revision: the answer with the higher number is newer.
    rev: u64,
    /// Number of groups with an unseen item, in the whole inbox: the badge.
    unseen: u64,
    /// Number of groups with an unread item, in the whole inbox.
    unread: u64,
    /// The same for each category, by its name.
    categories: BTreeMap<String, OfCategory>,
    /// The same for each tenant with unread items, by tenant id; absent in the view of one tenant, and if tenants are off.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    tenants: Option<BTreeMap<String, OfCategory>>,
}

/// The counts of a category, or of a tenant.
#[derive(Serialize, ToSchema)]
#[schema(as = CategoryCounts)]
struct OfCategory {
    /// Number of groups with an unseen item.
    unseen: u64,
    /// Number of groups with an unread item.
    unread: u64,
}

impl From<InboxCounts> for Counts {
    fn from(counts: InboxCounts) -> Self {
        let shown = |counts: BTreeMap<String, CategoryCounts>| {
            let counts = counts.into_iter().map(|(name, of)| {
                let counts = OfCategory { unseen: of.unseen, unread: of.unread };
                (name, counts)
            });
            counts.collect()
        };
        Self {
            rev: counts.rev,
            unseen: counts.unseen,
            unread: counts.unread,
            categories: shown(counts.categories),
            tenants: counts.tenants.map(shown),
        }
    }
}

/// A page of an inbox, newest first.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"groups": [{"key": "comment:6f1d3c2a9b8e7f05:2024-03-07:new", "order": "000000000000002a", "type": "comment", "count": 1, "text": "Ben commented on Water Lilies", "lang": "en", "actors": ["ben"], "newest_at": "2024-03-07T08:03:00Z", "seen": false, "read": false, "archived": false, "snoozed_until": null, "items": [{"event": "e-1", "type": "comment", "category": "conversations", "actor": {"id": "ben", "title": "Ben"}, "object": {"id": "works/1", "title": "Water Lilies"}, "data": {"work": 7}, "body": "Well done", "t": "2024-03-07T08:03:00Z", "reasons": ["named"], "seen": false, "read": false, "text": "Ben commented on Water Lilies", "lang": "en", "archived": false, "snoozed_until": null}]}], "rev": 7, "unseen": 1, "unread": 1, "categories": {"conversations": {"unseen": 1, "unread": 1}}, "next": null}))]
pub(crate) struct Page {
    /// Its groups.
    groups: Vec<Group>,
    #[serde(flatten)]
    counts: Counts,
    /// The next page's cursor; null = this is the last.
    #[schema(required)]
    next: Option<String>,
}

/// A group: items of one type about one thing on one day, of one tenant or of none. Read items are in a group of their own.
#[derive(Serialize, ToSchema)]
pub(crate) struct Group {
    /// Key of the group, unique in this inbox.
    key: String,
    /// Its position: groups are in falling order of these texts, compared by bytes.
    order: String,
    /// The type.
    r#type: String,
    /// The tenant of its items; absent = none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    tenant: Option<String>,
    /// The name of the tenant; absent where it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    tenant_name: Option<String>,
    /// Number of items, listed or not.
    count: usize,
    /// The actors of the listed items, each once, newest first.
    actors: Vec<String>,
    /// The sentence of its type, plain, in the recipient's language.
    text: String,
    /// The language that `text` is in.
    lang: String,
    /// Time of its position: that of the newest item, or of its return from a snooze.
    #[schema(format = "date-time")]
    newest_at: String,
    /// True if all items were seen.
    seen: bool,
    /// True if all items were read.
    read: bool,
    /// True if it is archived.
    archived: bool,
    /// The earliest end of a snooze; null = not snoozed.
    #[schema(required, format = "date-time")]
    snoozed_until: Option<String>,
    /// The newest items, newest first, at most 25.
    items: Vec<Item>,
}

/// One notification.
#[derive(Serialize, ToSchema)]
pub(crate) struct Item {
    /// The event.
    event: String,
    /// Its type.
    r#type: String,
    /// Its tenant; absent = none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    tenant: Option<String>,
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
    #[schema(required)]
    body: Option<String>,
    /// The event's `occurred_at`, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = "date-time", nullable = false)]
    occurred_at: Option<String>,
    /// Time at which it entered the inbox.
    #[schema(format = "date-time")]
    t: String,
    /// The reasons why this recipient was notified: `everyone`, `named`, `near`, or `topic:` and a topic that they
    /// follow.
    reasons: Vec<String>,
    /// True if it was seen.
    seen: bool,
    /// True if it was read.
    read: bool,
    /// The sentence of its type, plain, in the recipient's language.
    text: String,
    /// The language that `text` is in.
    lang: String,
    /// True if it is archived.
    archived: bool,
    /// The end of its snooze; null = not snoozed.
    #[schema(required, format = "date-time")]
    snoozed_until: Option<String>,
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

impl Page {
    /// A page in the words of a design.
    pub(crate) fn of(page: InboxPage, design: &Design) -> Self {
        let groups = page.groups.into_iter();
        Self {
            groups: groups.map(|group| Group::of(group, design)).collect(),
            counts: page.counts.into(),
            next: page.next.map(|next| next.to_string()),
        }
    }
}

/// The items of a page of single items, in the words of a design.
pub(crate) fn items(page: InboxPage, design: &Design) -> Vec<Item> {
    page.groups.into_iter().flat_map(|group| Group::of(group, design).items).collect()
}

impl Group {
    /// Renders a group with the words of a design, or those of its tenant.
    pub(crate) fn of(group: InboxGroup, design: &Design) -> Self {
        let actors = group.actors.iter();
        let known = group.known_tenant.as_deref();
        let of_tenant = known.map(|known| design.of_tenant(&known.id, &known.tenant));
        let design = of_tenant.as_deref().unwrap_or(design);
        let of_tenant = known.and_then(|known| known.tenant.locale.as_deref());
        let locales: Vec<&str> = [&*group.locale].into_iter().chain(of_tenant).collect();
        let reader = (&*locales, &*group.tz);
        let content = counted(group.content, group.count.saturating_sub(group.items.len()));
        let RowText { text, lang, .. } = design.row_text(&content, reader.0, reader.1);
        let items = group.items.into_iter();
        let items = items.map(|item| Item::of(item, design, reader)).collect();
        Self {
            key: group.key,
            order: group.order,
            text,
            lang,
            r#type: group.event_type.as_str().to_owned(),
            tenant: group.tenant.map(|tenant| tenant.as_str().to_owned()),
            tenant_name: known.and_then(|known| known.tenant.name.clone()),
            count: group.count,
            actors: actors.map(|actor| actor.as_str().to_owned()).collect(),
            newest_at: group.newest_at.to_string(),
            seen: group.seen,
            read: group.read,
            archived: group.archived,
            snoozed_until: group.snoozed_until.map(|until| until.to_string()),
            items,
        }
    }
}

/// The content of a group, with the count of items that are not listed.
fn counted(mut content: Vec<Content>, unlisted: usize) -> Vec<Content> {
    let lines = content.last_mut().and_then(|group| group.lines.last_mut());
    if let Some(line) = lines {
        line.entries += unlisted;
    }
    content
}

impl Item {
    fn of(item: InboxItem, design: &Design, (locales, tz): (&[&str], &str)) -> Self {
        let row = design.row_text(&item.content, locales, tz);
        let object = |object: &Object| ItemObject::of(object, &row);
        Self {
            event: item.event.as_str().to_owned(),
            r#type: item.event_type.as_str().to_owned(),
            tenant: item.tenant.map(|tenant| tenant.as_str().to_owned()),
            category: item.category,
            actor: item.actor.as_deref().map(object),
            object: object(&item.object),
            target: item.target.as_deref().map(object),
            data: item.data,
            body: item.body.as_ref().map(|body| row.localised(body).to_owned()),
            occurred_at: item.occurred_at.map(|at| at.to_string()),
            t: item.t.to_string(),
            reasons: item.reasons,
            seen: item.seen,
            read: item.read,
            text: row.text,
            lang: row.lang,
            archived: item.archived,
            snoozed_until: item.snoozed_until.map(|until| until.to_string()),
        }
    }
}

impl ItemObject {
    /// An object in the language of a row.
    fn of(object: &Object, row: &RowText) -> Self {
        Self {
            id: object.id.as_str().to_owned(),
            title: object.title.as_ref().map(|title| row.localised(title).to_owned()),
            url: object.url.clone(),
            image: object.image.clone(),
            data: object.data.clone(),
        }
    }
}
