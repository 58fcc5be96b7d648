//! Breakers: what takes nothing, a provider or one of its destinations, is left alone, and asked once in a while whether it
//! does again.
//!
//! A breaker reads no clock: each call brings the time.

use tidings_core::Instant;

/// Number of failures in a row after which a provider is left alone.
const FAILURES_MAX: u32 = 5;
/// The first wait before a probe in milliseconds; each later one is twice as long.
const WAIT_MS: i64 = 10_000;
/// The longest wait between two probes in milliseconds, but where the provider itself asks for more.
const WAIT_MS_MAX: i64 = 300_000;
/// The time in milliseconds after which a probe without an answer counts for nothing. No channel takes as long.
const PROBE_MS_MAX: i64 = 600_000;

/// The health of a provider, by what it answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Health {
    /// It answered about the message, well or not.
    Well,
    /// It refuses everything, or can't be reached.
    Away {
        /// The minimum wait that it requested, in milliseconds.
        after_ms: Option<i64>,
    },
    /// Nothing was learnt.
    Untold,
}

/// A change of a breaker that operators want to know of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BreakerChange {
    /// The provider is left alone until then.
    Opened(Instant),
    /// The provider takes messages again.
    Closed,
}

/// The breaker of a provider.
#[derive(Clone, Debug)]
pub(crate) struct Breaker(BreakerState);

#[derive(Clone, Debug)]
enum BreakerState {
    /// Messages pass.
    Closed { failures: u32 },
    /// None passes until then.
    Open { until: Instant, wait_ms: i64 },
    /// One message has passed as a probe (half-open).
    Probing { since: Instant, wait_ms: i64 },
}

impl Default for Breaker {
    fn default() -> Self {
        Self(BreakerState::Closed { failures: 0 })
    }
}

impl Breaker {
    /// Returns true if a message may pass now.
    ///
    /// # Errors
    /// The instant from which to ask again.
    pub(crate) fn is_open_to(&self, now: Instant) -> Result<(), Instant> {
        let until = match self.0 {
            BreakerState::Closed { .. } => return Ok(()),
            BreakerState::Open { until, .. } => until,
            BreakerState::Probing { since, .. } => since.plus_ms(PROBE_MS_MAX),
        };
        if until <= now { Ok(()) } else { Err(until) }
    }

    /// Lets a message pass, if one may; of those that come while one is a probe none does.
    pub(crate) fn admit(&mut self, now: Instant) -> bool {
        if self.is_open_to(now).is_err() {
            return false;
        }
        if let BreakerState::Open { wait_ms, .. } | BreakerState::Probing { wait_ms, .. } = self.0 {
            self.0 = BreakerState::Probing { since: now, wait_ms };
        }
        true
    }

    /// Records the outcome of a message that passed.
    pub(crate) fn record(&mut self, health: Health, now: Instant) -> Option<BreakerChange> {
        match (&mut self.0, health) {
            (BreakerState::Closed { failures }, Health::Well) => {
                *failures = 0;
                None
            }
            (BreakerState::Open { .. } | BreakerState::Probing { .. }, Health::Well) => {
                *self = Self::default();
                Some(BreakerChange::Closed)
            }
            (BreakerState::Closed { failures }, Health::Away { after_ms }) => {
                *failures += 1;
                if *failures < FAILURES_MAX && after_ms.is_none() {
                    return None;
                }
                Some(self.open(WAIT_MS, after_ms.unwrap_or(WAIT_MS), now))
            }
            (BreakerState::Probing { wait_ms, .. }, Health::Away { after_ms }) => {
                let wait_ms = (*wait_ms * 2).min(WAIT_MS_MAX);
                Some(self.open(wait_ms, after_ms.unwrap_or(0).max(wait_ms), now))
            }
            // The probe has told nothing: the next message is one, without a further wait.
            (BreakerState::Probing { wait_ms, .. }, Health::Untold) => {
                let wait_ms = *wait_ms;
                self.0 = BreakerState::Open { until: now, wait_ms };
                None
            }
            // Answers to messages that passed before it opened: they must not lengthen the wait.
            (BreakerState::Open { .. }, Health::Away { .. } | Health::Untold)
            | (BreakerState::Closed { .. }, Health::Untold) => None,
        }
    }

    /// The instant from which it is asked again; `None` = it takes messages.
    pub(crate) fn away_until(&self) -> Option<Instant> {
        match self.0 {
            BreakerState::Closed { .. } => None,
            BreakerState::Open { until, .. } => Some(until),
            BreakerState::Probing { since, .. } => Some(since.plus_ms(PROBE_MS_MAX)),
        }
    }

    fn open(&mut self, wait_ms: i64, first_ms: i64, now: Instant) -> BreakerChange {
        let until = now.plus_ms(first_ms);
        self.0 = BreakerState::Open { until, wait_ms };
        BreakerChange::Opened(until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AWAY: Health = Health::Away { after_ms: None };

    fn opened() -> (Breaker, Instant) {
        let mut breaker = Breaker::default();
        for _ in 1..FAILURES_MAX {
            assert!(breaker.admit(Instant(0)));
            assert_eq!(breaker.record(AWAY, Instant(0)), None);
        }
        let until = Instant(WAIT_MS);
        assert_eq!(breaker.record(AWAY, Instant(0)), Some(BreakerChange::Opened(until)));
        (breaker, until)
    }

    #[test]
    fn failures_in_a_row_open_it_and_one_probe_at_a_time_closes_it() {
        let (mut breaker, until) = opened();
        assert!(!breaker.admit(until.plus_ms(-1)));
        assert_eq!(breaker.record(AWAY, Instant(5)), None, "of before");
        assert!(breaker.admit(until));
        assert!(!breaker.admit(until), "a second probe");
        assert_eq!(breaker.record(Health::Well, until), Some(BreakerChange::Closed));
        assert!(breaker.admit(until) && breaker.admit(until));
    }

    #[test]
    fn an_answer_between_failures_keeps_it_closed() {
        let mut breaker = Breaker::default();
        for _ in 0..3 * FAILURES_MAX {
            assert!(breaker.admit(Instant(0)));
            assert_eq!(breaker.record(AWAY, Instant(0)), None);
            assert_eq!(breaker.record(Health::Well, Instant(0)), None);
        }
    }

    #[test]
    fn t23_in_three_hours_there_are_few_probes() {
        let (mut breaker, _) = opened();
        let hours_ms = 3 * 3_600_000;
        let mut probes = 0;
        for second in 0..hours_ms / 1_000 {
            let now = Instant(second * 1_000);
            if breaker.admit(now) {
                probes += 1;
                breaker.record(AWAY, now);
            }
        }
        assert!((30..50).contains(&probes), "{probes}");
    }

    #[test]
    fn a_wait_that_the_provider_asks_for_is_kept_from_its_first_answer_on() {
        let mut breaker = Breaker::default();
        let after_ms = Some(WAIT_MS_MAX + 1);
        let until = Instant(WAIT_MS_MAX + 1);
        let change = breaker.record(Health::Away { after_ms }, Instant(0));
        assert_eq!(change, Some(BreakerChange::Opened(until)));
        assert_eq!(breaker.is_open_to(Instant(WAIT_MS_MAX)), Err(until));
        assert_eq!(breaker.is_open_to(until), Ok(()));
    }

    #[test]
    fn a_probe_of_which_nothing_was_learnt_is_followed_by_another() {
        let (mut breaker, until) = opened();
        assert!(breaker.admit(until));
        assert_eq!(breaker.record(Health::Untold, until), None);
        assert!(breaker.admit(until));
        assert!(!breaker.admit(until.plus_ms(PROBE_MS_MAX - 1)));
        assert!(breaker.admit(until.plus_ms(PROBE_MS_MAX)), "lost");
    }
}
