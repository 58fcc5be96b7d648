//! The watch over the machine's clock: a clock that is set wrong for a moment must not empty all inboxes.
//!
//! A day that is forgotten does not come back. So a clock that is more than a day ahead of what was known of the time is
//! believed, as far as days are forgotten, once it has shown that time for an hour.

use tidings_core::Instant;
use tidings_core::model::{DAY_MS, HOUR_MS};

use crate::clock::monotonic::Monotonic;

/// The most by which two readings may differ from the time that has passed between them, in milliseconds, and be of the
/// same setting of the clock.
const DRIFT_MS: i64 = 60_000;

/// The state of the machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ClockWatch {
    /// The newest reading that is believed.
    believed: Option<ClockReading>,
    /// The first reading of a setting that is too far ahead of it.
    ahead: Option<ClockReading>,
}

/// The instant that the clock showed, by a clock that can't be set.
#[derive(Clone, Copy, Debug)]
struct ClockReading {
    shown: Instant,
    at: Monotonic,
}

impl ClockReading {
    /// The instant that the clock has to show now.
    fn now(self, at: Monotonic) -> Instant {
        self.shown.plus_ms(at.0.saturating_sub(self.at.0))
    }
}

impl ClockWatch {
    /// Takes over a reading; returns the instant up to which days are forgotten. `newest_step` is the newest instant that
    /// is stored, the first time that it is asked; `at` is `None` for a clock that may jump.
    pub(super) fn read(
        &mut self,
        newest_step: Instant,
        shown: Instant,
        at: Option<Monotonic>,
    ) -> Instant {
        let Some(at) = at else {
            return Instant::MAX;
        };
        // After a start the newest stored instant is all that is known of the time: a clock far ahead of it
        // gets no belief either.
        let first = if newest_step == Instant::MIN { shown } else { newest_step };
        let believed = *self.believed.get_or_insert(ClockReading { shown: first, at });
        let expected = believed.now(at);
        if shown > expected.plus_ms(DAY_MS) {
            let is_same = |ahead: &ClockReading| (ahead.now(at).0 - shown.0).abs() <= DRIFT_MS;
            // Another setting begins its hour anew: only one that stays the same is likely to be right.
            let ahead = self.ahead.filter(is_same).unwrap_or(ClockReading { shown, at });
            self.ahead = Some(ahead);
            if at.0.saturating_sub(ahead.at.0) < HOUR_MS {
                return expected;
            }
        }
        *self = Self { believed: Some(ClockReading { shown, at }), ahead: None };
        Instant::MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = DAY_MS;

    fn read(watch: &mut ClockWatch, shown: i64, at: i64) -> Instant {
        watch.read(Instant(0), Instant(shown), Some(Monotonic(at)))
    }

    #[test]
    fn c13_a_clock_far_ahead_is_believed_after_an_hour() {
        let mut watch = ClockWatch::default();
        assert_eq!(read(&mut watch, 1_000, 0), Instant::MAX);
        assert_eq!(read(&mut watch, DAY, 1_000), Instant::MAX, "less than a day");
        let jumped = 400 * DAY;
        assert_eq!(read(&mut watch, jumped, 2_000), Instant(DAY + 1_000));
        assert_eq!(
            read(&mut watch, jumped + HOUR_MS - 1, 2_000 + HOUR_MS - 1).0,
            DAY + HOUR_MS + 999
        );
        assert_eq!(read(&mut watch, jumped + HOUR_MS, 2_000 + HOUR_MS), Instant::MAX);
        assert_eq!(read(&mut watch, jumped + 2 * HOUR_MS, 2_000 + 2 * HOUR_MS), Instant::MAX);
    }

    #[test]
    fn c13_a_clock_that_was_put_right_or_jumps_again_has_no_hour_yet() {
        let mut watch = ClockWatch::default();
        read(&mut watch, 0, 0);
        assert_ne!(read(&mut watch, 400 * DAY, 1_000), Instant::MAX);
        assert_eq!(read(&mut watch, 2_500, 2_500), Instant::MAX, "put right");
        assert_ne!(read(&mut watch, 400 * DAY, 10_000), Instant::MAX);
        let later = 10_000 + HOUR_MS - 1;
        assert_ne!(read(&mut watch, 300 * DAY, later), Instant::MAX, "another setting");
        assert_ne!(read(&mut watch, 300 * DAY + 1, later + 1), Instant::MAX);
        assert_eq!(read(&mut watch, 300 * DAY + HOUR_MS, later + HOUR_MS), Instant::MAX);
    }

    #[test]
    fn c13_a_server_that_did_not_run_for_days_waits_an_hour_and_a_new_store_does_not() {
        let mut new = ClockWatch::default();
        let now = Instant(20_000 * DAY);
        assert_eq!(new.read(Instant::MIN, now, Some(Monotonic(5))), Instant::MAX);
        let mut old = ClockWatch::default();
        let stored = now.plus_ms(-3 * DAY);
        assert_eq!(old.read(stored, now, Some(Monotonic(5))), stored);
        // A virtual clock jumps by right.
        assert_eq!(old.read(stored, now, None), Instant::MAX);
    }
}
