//! The extent of a command: what callers are told before it is done.

use serde::{Deserialize, Serialize};

/// The people, entries and messages that a command would touch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandConcerns {
    /// Number of recipients that it would touch.
    pub people: u64,
    /// Number of entries that it would make, end, send or take back.
    pub entries: u64,
    /// Number of built messages that it would send, change or stop; of a flush the number of lanes.
    pub messages: u64,
}

impl CommandConcerns {
    /// Adds those of other shards.
    pub fn add(&mut self, other: Self) {
        self.people += other.people;
        self.entries += other.entries;
        self.messages += other.messages;
    }
}
