//! Timers: the only place where the demo reads a clock, and only for display.

use std::time::Instant;

/// Measures from its start.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts now.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "what is measured is shown and decides nothing")]
    pub(super) fn start() -> Self {
        Self(Instant::now())
    }

    /// Milliseconds since the start.
    #[must_use]
    pub(super) fn ms(self) -> f64 {
        self.0.elapsed().as_secs_f64() * 1000.0
    }

    /// Seconds since the start.
    #[must_use]
    pub(super) fn seconds(self) -> f64 {
        self.0.elapsed().as_secs_f64()
    }
}
