//! Entries in inboxes, as the model keeps them.

use tidings_core::{Day, Instant};

/// An entry in an inbox.
#[derive(Clone, Debug)]
pub(super) struct ModelItem {
    pub(super) seen: bool,
    pub(super) read: bool,
    pub(super) shelf: Shelf,
    /// The instant of its place.
    pub(super) newest_at: Instant,
    /// The day that lists it.
    pub(super) listed: Day,
    /// Number of places that were given before it.
    pub(super) order: usize,
}

/// The place of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shelf {
    Active,
    Archived,
    Snoozed(Instant),
    Deleted,
}
