//! The clock, real or virtual, which is passed to everything that needs the time.

pub(super) mod monotonic;
pub(super) mod system;
pub(super) mod virtual_clock;

use tidings_core::Instant;

use crate::clock::monotonic::Monotonic;

/// A source of the time that decisions use.
pub trait Clock: Send + Sync {
    /// The current instant. It may step back; callers must cope.
    fn now(&self) -> Instant;

    /// Waits less than a millisecond until an instant is over, if it is the current one.
    fn pass(&self, instant: Instant);

    /// The time by a clock that can't be set, to check one that may be set wrong; `None` = it may jump. Default none.
    fn monotonic(&self) -> Option<Monotonic> {
        None
    }
}
