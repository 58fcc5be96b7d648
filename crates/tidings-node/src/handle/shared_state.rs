//! The state of a loop that all threads with its handle read.

use std::sync::Arc;

use crate::commit::durable::ReaderState;
use crate::keys::Keys;
use crate::telemetry::vitals::Vitals;

/// The measurements, keys and snapshots of a node. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct SharedState {
    pub(crate) vitals: Arc<Vitals>,
    pub(crate) keys: Arc<Keys>,
    pub(crate) reads: Arc<ReaderState>,
}
