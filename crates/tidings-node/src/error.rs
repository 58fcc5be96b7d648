//! Errors: of a node, and of requests that were not answered.

use tidings_core::journal::Unreadable;
use tidings_core::model::BucketNo;

/// The message where `[tenants] on` went back to false too early.
pub const TENANTS_THERE: &str =
    "the store has tenants: set `on = true` under `[tenants]`, or delete them before it is false";

/// A fatal error of a node, which is poisoned then: drop it, and open the store again.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The store refused or failed.
    #[error(transparent)]
    Store(#[from] tidings_store::Error),
    /// A stored value can't be read or decoded.
    #[error("what is stored makes no sense: {0}")]
    Unreadable(#[from] Unreadable),
    /// The store refuses the writes of a bucket's chore. Earlier decisions are durable.
    #[error("what a chore of bucket {bucket} writes is refused: {fault}")]
    Chore {
        /// The bucket.
        bucket: BucketNo,
        /// The store's error.
        fault: tidings_store::Error,
    },
    /// The walk through the store and the ledger differ.
    #[error("the books don't balance: {0}")]
    Disagreement(String),
    /// The configuration has no tenants, and the store has.
    #[error("{TENANTS_THERE}")]
    TenantsThere,
}

/// The reason why a request was not answered.
#[derive(Debug, thiserror::Error)]
pub enum RuntimeError {
    /// The queue is full; nothing was done. Retry in a moment.
    #[error("too many requests in progress; retry in a moment")]
    Busy,
    /// The caller has taken its share of the queue; nothing was done. Retry in a moment.
    #[error(
        "this caller has as many requests in progress as one caller may have; retry in a moment"
    )]
    OverShare,
    /// The store failed during the write: the change may or may not have been made. Retry with the
    /// same event id.
    #[error("the store failed: {0}; the change may or may not have been made")]
    Unknown(String),
    /// The disk is full; nothing was done.
    #[error("the store has no room left: {0}")]
    Full(String),
    /// The store can't be opened now; nothing was done.
    #[error("the store is unavailable: {0}")]
    Unavailable(String),
    /// The runtime has stopped; nothing was done.
    #[error("the node is stopping")]
    Stopped,
}

impl RuntimeError {
    /// The error for requests that were being decided or written at a failure.
    pub(crate) fn of_commit(fault: &Error) -> Self {
        use tidings_store::Error as Kind;
        match fault {
            Error::Store(full @ Kind::Full(_)) => Self::Full(full.to_string()),
            Error::Store(Kind::Invalid(_)) | Error::Chore { .. } => {
                Self::Unavailable(fault.to_string())
            }
            _ => Self::Unknown(fault.to_string()),
        }
    }
}

/// The error while there is no store.
pub(crate) fn unavailable() -> RuntimeError {
    RuntimeError::Unavailable("it failed and is being opened again".to_owned())
}
