//! The right to act outside of the store, where no fence reaches.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use crate::clock::monotonic::Monotonic;

/// The right to send messages, and to answer reads. Clones are the same licence.
#[derive(Clone, Debug)]
pub struct Licence(Arc<AtomicI64>);

impl Default for Licence {
    fn default() -> Self {
        Self(Arc::new(AtomicI64::new(i64::MIN)))
    }
}

impl Licence {
    /// Returns true if the process may send and answer reads at an instant.
    #[must_use]
    pub fn holds(&self, now: Monotonic) -> bool {
        now.0 < self.0.load(Ordering::SeqCst)
    }

    pub(super) fn extend(&self, until: Monotonic) {
        self.0.fetch_max(until.0, Ordering::SeqCst);
    }

    pub(super) fn end(&self) {
        self.0.store(i64::MIN, Ordering::SeqCst);
    }
}
