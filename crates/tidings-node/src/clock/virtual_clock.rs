//! The clock of tests and simulations.

use std::sync::atomic::{AtomicI64, Ordering};

use tidings_core::Instant;

use crate::clock::Clock;

/// A clock that stands still until it is set.
#[derive(Debug, Default)]
pub struct VirtualClock(AtomicI64);

impl VirtualClock {
    /// Sets the clock, forwards or back.
    pub fn set(&self, now: Instant) {
        self.0.store(now.0, Ordering::SeqCst);
    }
}

impl Clock for VirtualClock {
    fn now(&self) -> Instant {
        Instant(self.0.load(Ordering::SeqCst))
    }

    /// Moves the clock to the next instant, since it stands still.
    fn pass(&self, instant: Instant) {
        let next = instant.plus_ms(1).0;
        // Where it is another instant now there is nothing to be waited for.
        let _another = self.0.compare_exchange(instant.0, next, Ordering::SeqCst, Ordering::SeqCst);
    }
}
