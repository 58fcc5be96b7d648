//! The state that outlives a failure of the store.

use std::collections::BTreeSet;

use tidings_core::model::{BucketNo, ClosingId};

use super::settings::OpenStore;

/// The recovery from failures of the store.
#[derive(Default)]
pub(crate) struct Recovery {
    /// Opens the store again; `None` = a failed store stays closed.
    pub(super) open: Option<OpenStore>,
    /// True if a failed store stays closed for now: opening folds everything stored, which must not happen
    /// for each request.
    pub(crate) rests: bool,
    /// True if a write hangs and holds the store.
    pub(super) hangs: bool,
    /// Buckets whose chores' writes the store refused.
    pub(super) set_aside: BTreeSet<BucketNo>,
    /// Closings of which an earlier process may have sent messages; `None` before the first opening.
    pub(super) earlier_closings: Option<BTreeSet<ClosingId>>,
}
