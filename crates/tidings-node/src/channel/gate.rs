//! The gate of a channel: whether a message may leave now, and by which provider.
//!
//! What may not leave stays in the queue, in its order, and no more of it is built than the queue has room for. So a
//! provider that is away for a day costs few attempts and little memory. A gate reads no clock and waits for nothing.

use tidings_core::Instant;
use tidings_core::rules::Rate;

use super::breaker::{Breaker, Change, Health};
use super::pace::Paces;

/// The gate of a channel.
#[derive(Clone, Debug)]
pub(crate) struct Gate {
    /// The breakers of the providers, in the order in which they are asked.
    breakers: Vec<Breaker>,
    paces: Paces,
}

impl Gate {
    /// A gate of so many providers with these rates.
    pub(crate) fn new(providers: usize, rate: Option<Rate>, per_domain: Option<Rate>) -> Self {
        Self {
            breakers: vec![Breaker::default(); providers],
            paces: Paces::new(rate, per_domain),
        }
    }

    /// Tells whether a message to anybody may leave.
    ///
    /// # Errors
    /// The instant from which to ask again.
    pub(crate) fn is_open(&self, now: Instant) -> Result<(), Instant> {
        self.paces.is_ready(now)?;
        let mut first: Option<Instant> = None;
        for breaker in &self.breakers {
            match breaker.is_open_to(now) {
                Ok(()) => return Ok(()),
                Err(until) => first = Some(first.map_or(until, |first| first.min(until))),
            }
        }
        first.map_or(Ok(()), Err)
    }

    /// Tells whether a message to a domain may leave, as far as the domain is concerned.
    ///
    /// # Errors
    /// The instant from which to ask again.
    pub(crate) fn is_open_for(&self, domain: Option<&str>, now: Instant) -> Result<(), Instant> {
        domain.map_or(Ok(()), |domain| self.paces.is_ready_for(domain, now))
    }

    /// Counts a message that leaves the queue, once both questions had yes for an answer.
    pub(crate) fn pass(&mut self, domain: Option<&str>, now: Instant) {
        self.paces.take(domain, now);
    }

    /// The next provider that may be asked, from a number on; it is asked then, and [`Gate::hear`] is told the answer.
    pub(crate) fn next_provider(&mut self, from: usize, now: Instant) -> Option<usize> {
        (from..self.breakers.len()).find(|at| self.breakers[*at].admit(now))
    }

    /// Hears what a provider answered.
    pub(crate) fn hear(&mut self, provider: usize, health: Health, now: Instant) -> Option<Change> {
        self.breakers.get_mut(provider)?.hear(health, now)
    }
}
