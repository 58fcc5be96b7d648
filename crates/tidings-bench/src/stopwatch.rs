//! Timers: the only place of the benchmarks that reads a clock.

use std::time::{Duration, Instant};

/// Measures from when it was started.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    #[expect(clippy::disallowed_methods, reason = "measuring time is what a benchmark is for")]
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    /// Since it was started.
    pub(crate) fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}

/// A time in milliseconds.
pub(crate) fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
