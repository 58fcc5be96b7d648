//! The clock, real or virtual, which is passed to everything that needs the time.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tidings_core::Instant;

use crate::election::Monotonic;

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
        Some(monotonic())
    }
}

/// The time since the machine started, sleep included: a clock that can't be set.
#[must_use]
pub(crate) fn monotonic() -> Monotonic {
    #[cfg(target_os = "linux")]
    {
        use rustix::time::{ClockId, clock_gettime};
        let time = clock_gettime(ClockId::Boottime);
        Monotonic(time.tv_sec * 1_000 + time.tv_nsec / 1_000_000)
    }
    #[cfg(not(target_os = "linux"))]
    {
        use std::sync::LazyLock;
        use std::time::Instant as Reading;
        #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the clock")]
        static START: LazyLock<Reading> = LazyLock::new(Reading::now);
        Monotonic(i64::try_from(START.elapsed().as_millis()).unwrap_or(i64::MAX))
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
        Some(monotonic()).filter(|_| self.0 == 0)
    }
}

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
