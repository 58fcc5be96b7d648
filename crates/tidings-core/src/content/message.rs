//! Output: messages, and the books that must balance.

use std::iter::Sum;
use std::ops::Add;

use serde::Serialize;

use crate::model::batch_key::BatchKey;
use crate::model::id::Id;
use crate::model::reason::Reason;
use crate::model::time::Instant;

/// One message, as `simulate` prints it and as delivery sends it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The instant of the closing.
    pub at: Instant,
    /// The recipient.
    pub recipient: Id,
    /// The channel.
    pub channel: String,
    /// The lane's name.
    pub lane: String,
    /// The lane's batch key.
    pub key: BatchKey,
    /// The tenant of its entries; `None` = they are of none.
    pub tenant: Option<Id>,
    /// The entries, by (t, arrival).
    pub items: Vec<Item>,
    /// The entries that ended at the check, in the order of items.
    pub skipped: Vec<SkippedEntry>,
}

/// An entry of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// The event.
    pub event: Id,
    /// Its type.
    pub event_type: Id,
    /// The object's hash.
    pub object: Id,
    /// Time at which the entry entered its first lane.
    pub t: Instant,
    /// The reasons why this recipient was notified: `everyone`, `named`, `near`, `topic:…`, sorted by
    /// bytes.
    pub reasons: Vec<String>,
}

/// An entry that ended when its message was built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedEntry {
    /// The event.
    pub event: Id,
    /// The reason.
    pub reason: Reason,
}

/// The counters of the summary (contract, sections 2 and 3), of entries unless said otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Totals {
    /// Events accepted.
    pub events: u64,
    /// Publishes of an event that was known already.
    pub republished: u64,
    /// Pairs of event and recipient with at least one entry.
    pub notifications: u64,
    /// Entries: one per notification and channel.
    pub entries: u64,
    /// Messages with at least one entry.
    pub messages: u64,
    /// Delivered entries.
    pub delivered: u64,
    /// Cancelled entries.
    pub cancelled: u64,
    /// Entries skipped when the message was built.
    pub skipped: u64,
    /// Expired entries: too late, or deleted with their day.
    pub expired: u64,
    /// Failed entries: the channel refused them, or gave up.
    pub failed: u64,
    /// Entries whose outcome is unknown.
    pub unknown: u64,
    /// Pending entries.
    pub pending: u64,
    /// Entries that an event should have and the store has not: 0.
    pub lost: u64,
    /// Entries delivered twice without need: 0.
    pub duplicates: u64,
    /// Messages sent again after an unknown outcome.
    pub resent: u64,
    /// Recipients left out of an event by an admission.
    pub suppressed: u64,
    /// Unknown recipients, and empty audiences.
    pub warnings: u64,
}

impl Add for Totals {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            events: self.events + other.events,
            republished: self.republished + other.republished,
            notifications: self.notifications + other.notifications,
            entries: self.entries + other.entries,
            messages: self.messages + other.messages,
            delivered: self.delivered + other.delivered,
            cancelled: self.cancelled + other.cancelled,
            skipped: self.skipped + other.skipped,
            expired: self.expired + other.expired,
            failed: self.failed + other.failed,
            unknown: self.unknown + other.unknown,
            pending: self.pending + other.pending,
            lost: self.lost + other.lost,
            duplicates: self.duplicates + other.duplicates,
            resent: self.resent + other.resent,
            suppressed: self.suppressed + other.suppressed,
            warnings: self.warnings + other.warnings,
        }
    }
}

impl Sum for Totals {
    fn sum<I: Iterator<Item = Self>>(books: I) -> Self {
        books.fold(Self::default(), Add::add)
    }
}

impl Totals {
    /// Returns true if every entry is in exactly one column and nothing was lost or delivered twice.
    ///
    /// # Examples
    /// ```
    /// use tidings_core::content::Totals;
    ///
    /// let mut totals = Totals { entries: 3, delivered: 2, pending: 1, ..Totals::default() };
    /// assert!(totals.balance());
    /// // An entry that was delivered is no longer pending.
    /// totals.delivered += 1;
    /// assert!(!totals.balance());
    /// ```
    #[must_use]
    pub fn balance(&self) -> bool {
        let ended = self.delivered
            + self.cancelled
            + self.skipped
            + self.expired
            + self.failed
            + self.unknown;
        self.entries == ended + self.pending && self.lost == 0 && self.duplicates == 0
    }
}
