//! The time that recipients take of a thread that serves everybody: who has taken much waits before taking more.
//!
//! Places and turns bound the number of requests of a caller, and not what one costs. A mark of an inbox with very many
//! items takes the only writer for tens of milliseconds, for which others wait.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::shares::CallerId;

/// The time that a recipient may take at once.
const BURST: Duration = Duration::from_millis(100);

/// The least time that something counts for: that of its commit, or of waking others.
const LEAST: Duration = Duration::from_micros(250);

/// The wait from which on a request is refused, and does not join those that wait.
const WAIT_MAX: Duration = Duration::from_secs(5);

/// Number of recipients from which on those are dropped who have taken nothing that still counts.
const SWEEP_FROM: usize = 4_096;

/// The time that each recipient has taken of a thread, as far as it still counts (GCRA).
#[derive(Debug)]
pub struct TimeShares {
    /// A recipient may have the thread for one part of this many.
    one_in: u32,
    /// The instants at which all that a caller has taken is free again.
    free_at: HashMap<CallerId, Instant>,
    sweep_from: usize,
}

impl TimeShares {
    /// Shares of a thread that a recipient may have for one part of this many of the time.
    #[must_use]
    pub fn one_in(one_in: u32) -> Self {
        Self { one_in, free_at: HashMap::new(), sweep_from: SWEEP_FROM }
    }

    /// Counts what something for a caller took. Nothing is counted of callers who may speak for many.
    pub fn take(&mut self, caller: &CallerId, took: Duration, now: Instant) {
        if !matches!(caller, CallerId::Recipient(_)) {
            return;
        }
        if self.free_at.len() >= self.sweep_from {
            self.free_at.retain(|_, free_at| *free_at > now);
            self.sweep_from = (self.free_at.len() * 2).max(SWEEP_FROM);
        }
        let free_at = self.free_at.entry(caller.clone()).or_insert(now);
        *free_at = (*free_at).max(now) + took.max(LEAST) * self.one_in;
    }

    /// The time after which a caller may have the thread again; zero = now.
    #[must_use]
    pub fn wait(&self, caller: &CallerId, now: Instant) -> Duration {
        let free_at = self.free_at.get(caller).copied().unwrap_or(now);
        free_at.saturating_duration_since(now).saturating_sub(BURST * self.one_in)
    }

    /// Returns true if a caller has taken so much that another request would wait for too long.
    pub(crate) fn is_over(&self, caller: &CallerId, now: Instant) -> bool {
        self.wait(caller, now) > WAIT_MAX
    }
}

#[cfg(test)]
mod tests {
    use tidings_core::Id;

    use super::*;
    use crate::telemetry::vitals::reading;

    #[test]
    fn who_took_much_waits_and_others_do_not() {
        let recipient = |id: &str| CallerId::Recipient(Id::new(id).unwrap());
        let (ana, ben, key) = (recipient("ana"), recipient("ben"), CallerId::Key("k".into()));
        let (mut shares, begin) = (TimeShares::one_in(128), reading());
        let ms = Duration::from_millis;
        // 100 ms at once are hers.
        shares.take(&ana, ms(60), begin);
        shares.take(&ana, ms(40), begin);
        assert_eq!(shares.wait(&ana, begin), Duration::ZERO);
        shares.take(&ana, ms(10), begin);
        assert_eq!(shares.wait(&ana, begin), ms(1_280));
        assert_eq!(shares.wait(&ana, begin + ms(1_279)), ms(1));
        let later = begin + ms(1_280);
        assert_eq!(shares.wait(&ana, later), Duration::ZERO);
        // A request counts for something, however quick it was.
        shares.take(&ana, Duration::ZERO, later);
        assert_eq!(shares.wait(&ana, later), ms(32));
        shares.take(&ana, ms(400), later);
        assert!(shares.is_over(&ana, later));
        assert_eq!(shares.wait(&ben, later), Duration::ZERO);
        // A key often is the only one.
        shares.take(&key, ms(10_000), later);
        assert_eq!(shares.wait(&key, later), Duration::ZERO);
    }

    #[test]
    fn what_is_free_again_is_forgotten() {
        let (mut shares, begin) = (TimeShares::one_in(128), reading());
        for number in 0..SWEEP_FROM {
            let recipient = CallerId::Recipient(Id::new(&format!("r{number}")).unwrap());
            shares.take(&recipient, Duration::ZERO, begin);
        }
        let later = CallerId::Recipient(Id::new("later").unwrap());
        shares.take(&later, Duration::ZERO, begin + Duration::from_secs(1));
        assert_eq!(shares.free_at.len(), 1);
    }
}
