//! The clock of the election, which nobody can set: a licence must end by itself.

/// Milliseconds of a clock that never steps back, and goes on while the machine sleeps. Its zero is arbitrary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Monotonic(pub i64);

impl Monotonic {
    pub(crate) fn plus(self, ms: i64) -> Self {
        Self(self.0.saturating_add(ms))
    }

    /// The time since the machine started, sleep included: a clock that can't be set.
    #[must_use]
    pub(crate) fn now() -> Self {
        #[cfg(target_os = "linux")]
        {
            use rustix::time::{ClockId, clock_gettime};
            let time = clock_gettime(ClockId::Boottime);
            Self(time.tv_sec * 1_000 + time.tv_nsec / 1_000_000)
        }
        #[cfg(not(target_os = "linux"))]
        {
            use std::sync::LazyLock;
            use std::time::Instant as Reading;
            #[expect(
                clippy::disallowed_methods,
                reason = "this is the one place that reads the clock"
            )]
            static START: LazyLock<Reading> = LazyLock::new(Reading::now);
            Self(i64::try_from(START.elapsed().as_millis()).unwrap_or(i64::MAX))
        }
    }
}
