//! The times of the election, which depend on each other.

/// The times of leases and shares, which depend on each other.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// The time between two heartbeats.
    pub heartbeat_ms: i64,
    /// The wait after a heartbeat that has failed.
    pub retry_ms: i64,
    /// The time after which an answer is no longer waited for.
    pub timeout_ms: i64,
    /// The time for which an answered heartbeat is a licence, from when it began.
    pub licence_ms: i64,
    /// Number of a node's answered heartbeats without one of another node before it takes over from it. The first begins
    /// a `heartbeat_ms` after the answer that showed that node's last one, each other as much after the beginning of the one
    /// before; so the licence has to be shorter than all of them.
    pub missed: u32,
    /// Number of heartbeats without an answer after which a node reports that (see
    /// [`Member::unanswered`](tidings_store::lease::Member::unanswered)).
    pub unanswered_after: u32,
    /// Number of heartbeats after which a new node is granted shards.
    pub settled_after: i64,
    /// The time for which a node acquires and opens nothing after it could not open the store.
    pub backoff_ms: i64,
    /// Number of the holder's answered heartbeats for which a node is granted nothing after it gave a share back
    /// without a request.
    pub spared: u32,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            heartbeat_ms: 1_000,
            retry_ms: 250,
            timeout_ms: 2_000,
            licence_ms: 3_000,
            missed: 4,
            unanswered_after: 6,
            settled_after: 5,
            backoff_ms: 5_000,
            spared: 60,
        }
    }
}
