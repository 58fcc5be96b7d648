//! The deletion of days that waits for their due messages.

use tidings_core::{Day, Instant};

/// Days to be deleted once their due messages have been sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct LateForget {
    pub(super) before: Day,
    /// The clock's time when they first had to wait.
    pub(super) since: Option<Instant>,
    /// True if they wait for the clock to be believed.
    pub(super) for_clock: bool,
}
