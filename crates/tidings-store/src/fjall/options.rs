//! The options of a store on disk.

use std::time::Duration;

/// Options of a store on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Bytes of disk space reserved for deletion and compaction: a commit is refused with [`Error::Full`](crate::Error::Full)
    /// if fewer than these and its own are free. Default 64 MiB.
    pub floor_bytes: u64,
    /// The time after which a write hangs: within a commit the engine waits for its own background work,
    /// which may be slow or dead. Default 30 s.
    pub patience: Duration,
    /// Bytes of memory for the block cache. Default 64 MiB.
    pub cache_bytes: u64,
    /// The interval of noting the newest commit beside the engine, so that its loss is detected when the
    /// store is opened; it is noted at the end, too. Default 5 s.
    pub note_every: Duration,
    /// True if a store is opened although its newest commits are gone. Default no.
    pub accept_loss: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            floor_bytes: 64 << 20,
            patience: Duration::from_secs(30),
            cache_bytes: 64 << 20,
            note_every: Duration::from_secs(5),
            accept_loss: false,
        }
    }
}
