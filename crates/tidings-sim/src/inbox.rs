//! Inboxes as a recipient sees them: the form in which model and engine are compared.

use std::collections::BTreeMap;

use tidings_core::{Id, Instant};

/// The rows and the counts of an inbox, or of a view of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inbox {
    /// All rows, newest first: active, archived and snoozed ones.
    pub rows: Vec<Row>,
    /// Number of active rows with an unseen item.
    pub unseen: u64,
    /// Number of active rows with an unread item.
    pub unread: u64,
    /// The same of each tenant that has some, where the view has all tenants.
    pub tenants: BTreeMap<Id, (u64, u64)>,
}

/// A row of an inbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The tenant of all its items.
    pub tenant: Option<Id>,
    /// The type.
    pub event_type: Id,
    /// Number of its items.
    pub count: usize,
    /// The events of the items that are listed, newest first.
    pub events: Vec<Id>,
    /// True if all items were seen.
    pub seen: bool,
    /// True if all items were read.
    pub read: bool,
    /// True if it is archived.
    pub archived: bool,
    /// The earliest end of a snooze; `None` = it is not snoozed.
    pub snoozed_until: Option<Instant>,
    /// The instant of its place.
    pub newest_at: Instant,
}
