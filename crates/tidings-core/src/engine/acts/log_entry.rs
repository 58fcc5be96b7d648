//! Log entries: the acts of a step under one number, as they are stored and sent to nodes with other shards.
//!
//! Each shard stores the number of the newest entry that it has applied: each act is applied by every shard once.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::act::Act;
use crate::journal::stored::{Unreadable, from_json, to_json};
use crate::journal::table::{Key, Owner, Table};

/// The number of the acts of a step: they count from 1.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct LogNo(pub u64);

impl fmt::Display for LogNo {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

/// The acts of a step, as nodes with other shards read them.
#[derive(Clone, Debug)]
pub struct LogEntry {
    pub(crate) acts: Vec<Act>,
    stored: StoredEntry,
}

/// The acts of a step as they are stored and sent.
#[derive(Clone, Debug)]
pub struct StoredEntry {
    /// Their number: the acts before are those of the number before.
    pub no: LogNo,
    bytes: Arc<Vec<u8>>,
}

/// The key of the acts with a number.
pub(crate) fn log_key(no: LogNo) -> Vec<u8> {
    Key::of(Owner::Intake, Table::Acts).u64(no.0).done()
}

impl LogEntry {
    pub(crate) fn new(no: LogNo, acts: Vec<Act>) -> Self {
        let stored = StoredEntry::new(no, to_json(&acts));
        Self { acts, stored }
    }

    /// Their number.
    #[must_use]
    pub fn no(&self) -> LogNo {
        self.stored.no
    }

    /// The acts as they are stored and sent.
    #[must_use]
    pub fn stored(&self) -> &StoredEntry {
        &self.stored
    }
}

impl StoredEntry {
    /// Stored acts of a number, not decoded yet.
    #[must_use]
    pub fn new(no: LogNo, bytes: Vec<u8>) -> Self {
        let bytes = Arc::new(bytes);
        Self { no, bytes }
    }

    /// Their bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Reads them.
    ///
    /// # Errors
    /// [`Unreadable`] where the bytes are no acts.
    pub fn read(self) -> Result<LogEntry, Unreadable> {
        let acts = from_json("acts", &self.bytes)?;
        Ok(LogEntry { acts, stored: self })
    }
}
