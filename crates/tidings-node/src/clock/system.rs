//! The clock of the machine.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tidings_core::Instant;

use crate::clock::Clock;
use crate::clock::monotonic::Monotonic;

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the clock")]
    fn now(&self) -> Instant {
        let ms = match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(since) => i64::try_from(since.as_millis()).unwrap_or(i64::MAX),
            Err(before) => -i64::try_from(before.duration().as_millis()).unwrap_or(i64::MAX),
        };
        Instant(ms).clamp(Instant::MIN, Instant::MAX)
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "nothing but the clock can say that a millisecond is over"
    )]
    fn pass(&self, instant: Instant) {
        while self.now() == instant {
            std::thread::sleep(Duration::from_micros(100));
        }
    }

    fn monotonic(&self) -> Option<Monotonic> {
        Some(Monotonic::now())
    }
}

/// The machine's clock, this many milliseconds ahead, for tests of the process.
#[derive(Clone, Copy, Debug)]
pub struct AheadClock(pub i64);

impl Clock for AheadClock {
    fn now(&self) -> Instant {
        SystemClock.now().plus_ms(self.0)
    }

    fn pass(&self, instant: Instant) {
        SystemClock.pass(instant.plus_ms(-self.0));
    }

    /// A test that sets the clock ahead means it.
    fn monotonic(&self) -> Option<Monotonic> {
        Some(Monotonic::now()).filter(|_| self.0 == 0)
    }
}
