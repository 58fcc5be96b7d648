//! Paces: how fast messages may leave, over a channel and to a domain of its recipients.
//!
//! A pace spaces messages evenly, so that no stretch of time has more of them than its rate, within the milliseconds of
//! the clock. It reads no clock: each call passes the time.

use std::collections::BTreeMap;

use tidings_core::Instant;
use tidings_core::rules::Rate;

/// The time in microseconds by which messages may be early: threads wake in milliseconds.
const EARLY_US: i64 = 10_000;
/// Number of domains from which on those that rest are forgotten.
const DOMAINS_MAX: usize = 1_024;

/// The pace of messages at a rate.
#[derive(Clone, Debug)]
struct SendPace {
    /// The instant of the next message in microseconds.
    next_us: i64,
}

/// The paces of a channel.
#[derive(Clone, Debug, Default)]
pub(crate) struct Paces {
    rate: Option<Rate>,
    per_domain: Option<Rate>,
    all: Option<SendPace>,
    domains: BTreeMap<Box<str>, SendPace>,
}

impl SendPace {
    fn new() -> Self {
        Self { next_us: i64::MIN }
    }

    fn is_ready(&self, now: Instant) -> Result<(), Instant> {
        let at_us = self.next_us.saturating_sub(EARLY_US);
        if at_us <= us(now) {
            Ok(())
        } else {
            Err(Instant(at_us.saturating_add(999).div_euclid(1_000)))
        }
    }

    fn take(&mut self, rate: Rate, now: Instant) {
        self.next_us = self.next_us.max(us(now)) + rate.interval_us();
    }
}

fn us(now: Instant) -> i64 {
    now.0.saturating_mul(1_000)
}

impl Paces {
    /// The paces of a channel with these rates; `None` = as fast as it can.
    pub(crate) fn new(rate: Option<Rate>, per_domain: Option<Rate>) -> Self {
        Self { rate, per_domain, ..Self::default() }
    }

    /// The same rates, at which nothing has left yet.
    pub(crate) fn anew(&self) -> Self {
        Self::new(self.rate, self.per_domain)
    }

    /// Returns true if a message to anybody may leave.
    ///
    /// # Errors
    /// The instant from which to ask again.
    pub(crate) fn is_ready(&self, now: Instant) -> Result<(), Instant> {
        self.all.as_ref().map_or(Ok(()), |pace| pace.is_ready(now))
    }

    /// Returns true if a message to a domain may leave, as far as the domain is concerned.
    ///
    /// # Errors
    /// The instant from which to ask again.
    pub(crate) fn is_ready_for(&self, domain: &str, now: Instant) -> Result<(), Instant> {
        let pace = self.domains.get(domain);
        pace.map_or(Ok(()), |pace| pace.is_ready(now))
    }

    /// Counts a message that leaves.
    pub(crate) fn take(&mut self, domain: Option<&str>, now: Instant) {
        if let Some(rate) = self.rate {
            self.all.get_or_insert_with(SendPace::new).take(rate, now);
        }
        if let (Some(rate), Some(domain)) = (self.per_domain, domain) {
            if self.domains.len() >= DOMAINS_MAX {
                self.domains.retain(|_, pace| pace.next_us > us(now));
            }
            let pace = self.domains.entry(domain.into()).or_insert_with(SendPace::new);
            pace.take(rate, now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Number of messages that leave within a number of milliseconds, with a call in each.
    fn sent_within(paces: &mut Paces, domain: Option<&str>, ms: i64) -> i64 {
        let mut sent = 0;
        for at in 0..ms {
            let now = Instant(1_700_000_000_000 + at);
            let is_ready = |paces: &Paces| {
                paces.is_ready(now).is_ok()
                    && domain.is_none_or(|domain| paces.is_ready_for(domain, now).is_ok())
            };
            while is_ready(paces) {
                paces.take(domain, now);
                sent += 1;
            }
        }
        sent
    }

    #[test]
    fn no_more_leave_than_the_rate_says_and_no_fewer() {
        for (rate, ms, expected) in [
            ("50/s", 10_000, 500..=502),
            ("1000/s", 2_000, 2_000..=2_012),
            ("30/m", 60_000, 30..=31),
            ("1/s", 500, 1..=1),
        ] {
            let rate = Rate::parse(rate).unwrap();
            let mut paces = Paces::new(Some(rate), None);
            let sent = sent_within(&mut paces, None, ms);
            assert!(expected.contains(&sent), "{rate:?}: {sent}");
        }
        let mut free = Paces::new(None, None);
        for _ in 0..1_000 {
            assert_eq!(free.is_ready(Instant(0)), Ok(()));
            free.take(Some("a.example"), Instant(0));
        }
    }

    #[test]
    fn a_domain_has_a_pace_of_its_own() {
        let mut paces = Paces::new(None, Rate::parse("2/s"));
        assert_eq!(sent_within(&mut paces, Some("a.example"), 900), 2);
        assert_eq!(sent_within(&mut paces, Some("b.example"), 900), 2);
        let now = Instant(1_700_000_000_900);
        let next = paces.is_ready_for("a.example", now).unwrap_err();
        assert_eq!(paces.is_ready_for("a.example", next), Ok(()));
        assert!(paces.is_ready_for("a.example", next.plus_ms(-1)).is_err());
    }

    #[test]
    fn domains_that_rest_are_forgotten() {
        let mut paces = Paces::new(None, Rate::parse("1/s"));
        for number in 0..10 * DOMAINS_MAX as i64 {
            paces.take(Some(&format!("d{number}.example")), Instant(number * 10));
        }
        assert!(paces.domains.len() <= DOMAINS_MAX);
    }
}
