//! The state that readers see: that of one moment between two commits.

use std::collections::BTreeMap;
use std::sync::Arc;

use fjall::Keyspace;
use tidings_core::Day;

pub(super) type Days = BTreeMap<Day, Keyspace>;

/// The days and the rows of that moment.
pub(super) struct PublishedView {
    pub(super) view: fjall::Snapshot,
    pub(super) days: Arc<Days>,
}
