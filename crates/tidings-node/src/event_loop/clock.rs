//! The clock of a loop: it is read once a turn, and may be wrong.

use std::sync::Arc;

use tidings_core::Instant;

use super::clock_watch::ClockWatch;
use crate::clock::Clock;
use crate::telemetry::vitals::Vitals;

/// The clock of a loop, with its last reading.
pub(super) struct LoopClock {
    pub(super) source: Arc<dyn Clock>,
    /// The last reading.
    seen: Instant,
    watch: ClockWatch,
    /// The instant up to which days are forgotten, by that reading.
    pub(super) forgets_until: Instant,
}

impl LoopClock {
    /// The clock of a loop that begins at an instant.
    pub(super) fn new(source: Arc<dyn Clock>, seen: Instant) -> Self {
        let watch = ClockWatch::default();
        Self { source, seen, watch, forgets_until: Instant::MAX }
    }

    /// The current instant.
    pub(super) fn now(&self) -> Instant {
        self.source.now()
    }

    /// Reads the clock, and decides how far days are forgotten by it. `newest_step` is the newest instant that is stored.
    pub(super) fn read(&mut self, newest_step: Option<Instant>) -> Instant {
        let now = self.now();
        let monotonic = self.source.monotonic();
        self.forgets_until = self.watch.read(newest_step.unwrap_or(now), now, monotonic);
        now
    }

    /// [`LoopClock::read`], which counts a step back.
    pub(super) fn read_turn(&mut self, newest_step: Option<Instant>, vitals: &Vitals) -> Instant {
        let now = self.read(newest_step);
        if now < self.seen {
            vitals.stepped_back();
            tracing::warn!(from = %self.seen, to = %now, "the clock stepped back");
        }
        self.seen = now;
        now
    }
}
