//! How long things take: the one place where the demo reads a clock, and only to show it.

use std::time::Instant;

/// Measures from its start.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts now.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "what is measured is shown and decides nothing")]
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// Milliseconds since the start.
    #[must_use]
    pub fn ms(self) -> f64 {
        self.0.elapsed().as_secs_f64() * 1000.0
    }

    /// Seconds since the start.
    #[must_use]
    pub fn seconds(self) -> f64 {
        self.0.elapsed().as_secs_f64()
    }
}
