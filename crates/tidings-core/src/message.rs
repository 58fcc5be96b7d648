//! What comes out: messages, and the books that must balance.

use serde::Serialize;

use crate::id::Id;
use crate::reason::Reason;
use crate::time::Instant;

/// One message, as `simulate` prints it and as delivery sends it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The instant of the closing.
    pub at: Instant,
    /// Who is told.
    pub recipient: Id,
    /// On which channel.
    pub channel: String,
    /// The lane's name.
    pub lane: String,
    /// What is told, by (t, arrival).
    pub items: Vec<Item>,
    /// What ended at this look, in the order of items.
    pub skipped: Vec<Skipped>,
}

/// One entry that a message tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// The event.
    pub event: Id,
    /// Its type.
    pub kind: Id,
    /// Its object.
    pub object: Id,
    /// When the entry entered its first lane.
    pub t: Instant,
    /// Why this recipient is concerned: `everyone`, `named`, `near`, `topic:…`, sorted by bytes.
    pub reasons: Vec<String>,
}

/// One entry that ended when a message was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// The event.
    pub event: Id,
    /// Why it is not told.
    pub reason: Reason,
}

/// The summary's counters (contract, sections 2 and 3). Entries unless said otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Books {
    /// Events accepted.
    pub events: u64,
    /// Publishes of an event that was known already.
    pub republished: u64,
    /// Pairs of event and recipient with at least one entry.
    pub notifications: u64,
    /// Notifications times channels.
    pub entries: u64,
    /// Messages that told something.
    pub messages: u64,
    /// Told.
    pub delivered: u64,
    /// Taken back.
    pub cancelled: u64,
    /// Not worth telling when the message was made.
    pub skipped: u64,
    /// Too late, or forgotten with their day.
    pub expired: u64,
    /// Refused by the channel for good.
    pub failed: u64,
    /// Nobody knows.
    pub unknown: u64,
    /// Still waiting.
    pub pending: u64,
    /// What an event should have and the store has not: 0.
    pub lost: u64,
    /// Told twice without need: 0.
    pub duplicates: u64,
    /// Sent again after an unknown outcome, because the type says so.
    pub resent: u64,
    /// Named but unknown recipients, and empty audiences.
    pub warnings: u64,
}

impl Books {
    /// Whether every entry is in exactly one column and nothing was lost or told twice.
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
