//! The gate of a channel: whether a message may leave now, and by which provider.
//!
//! A message that may not leave stays in the queue, in its order, and no more of it is built than the queue has room for. So a
//! provider that is away for a day costs few attempts and little memory. A gate reads no clock and waits for nothing.

use std::sync::Arc;

use tidings_core::Instant;
use tidings_core::rules::Rate;

use super::breaker::{Breaker, BreakerChange, Health};
use super::destinations::Destinations;
use super::pace::Paces;

/// The gate of a channel.
#[derive(Clone, Debug)]
pub(crate) struct ChannelGate {
    /// The providers, in the order in which they are asked.
    providers: Vec<ProviderState>,
    paces: Paces,
}

/// The breakers of a provider: one for all messages, and one for each destination.
#[derive(Clone, Debug, Default)]
struct ProviderState {
    breaker: Breaker,
    /// The reason of the last failure.
    why: String,
    destinations: Destinations,
}

/// The permission to call a provider, with the destinations for which it may be called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CallPermit {
    pub(crate) provider: usize,
    /// The message's destinations that are available.
    pub(crate) destinations: Vec<Arc<str>>,
}

/// A provider, or one of its destinations, that is left alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AvoidedProvider<'a> {
    pub(crate) provider: usize,
    /// `None` = all.
    pub(crate) destination: Option<&'a Arc<str>>,
    pub(crate) until: Instant,
    pub(crate) why: &'a str,
}

/// The earliest of the instants at which to ask again, unless one of the answers is yes. Without answers, yes.
fn any(answers: impl Iterator<Item = Result<(), Instant>>) -> Result<(), Instant> {
    let mut first: Option<Instant> = None;
    for answer in answers {
        match answer {
            Ok(()) => return Ok(()),
            Err(until) => first = Some(first.map_or(until, |first| first.min(until))),
        }
    }
    first.map_or(Ok(()), Err)
}

impl ChannelGate {
    /// A gate of this many providers with these rates.
    pub(crate) fn new(providers: usize, rate: Option<Rate>, per_domain: Option<Rate>) -> Self {
        Self {
            providers: vec![ProviderState::default(); providers],
            paces: Paces::new(rate, per_domain),
        }
    }

    /// The same gate without notes of a clock that is put back: everything counts as available.
    pub(crate) fn anew(&self) -> Self {
        Self {
            providers: vec![ProviderState::default(); self.providers.len()],
            paces: self.paces.anew(),
        }
    }

    /// Returns true if a message to anybody may leave.
    ///
    /// # Errors
    /// The instant from which to ask again.
    pub(crate) fn is_open(&self, now: Instant) -> Result<(), Instant> {
        self.paces.is_ready(now)?;
        let providers = self.providers.iter();
        any(providers.map(|provider| provider.breaker.is_open_to(now)))
    }

    /// Returns true if a message to a destination may leave, as far as the destination is concerned: the pace to it
    /// allows it, and a provider that is not away hands messages over there.
    ///
    /// # Errors
    /// The instant from which to ask again.
    pub(crate) fn is_open_for(&self, destination: &str, now: Instant) -> Result<(), Instant> {
        self.paces.is_ready_for(destination, now)?;
        let open = |provider: &&ProviderState| provider.breaker.is_open_to(now).is_ok();
        let providers = self.providers.iter().filter(open);
        any(providers.map(|provider| provider.destinations.is_open_to(destination, now)))
    }

    /// Returns true if a destination has answered of late, as far as is known.
    pub(crate) fn has_answered(&self, destination: &str) -> bool {
        let mut providers = self.providers.iter();
        providers.any(|provider| provider.destinations.has_answered(destination))
    }

    /// Returns true if a provider leaves a destination alone, or waits for the answer to a probe.
    pub(crate) fn is_left_alone(&self, destination: &str) -> bool {
        let mut providers = self.providers.iter();
        providers.any(|provider| provider.destinations.is_left_alone(destination))
    }

    /// The reason why a message to these destinations is held: all providers are unavailable, or each of its
    /// destinations is at the available ones.
    pub(crate) fn holds<'g>(
        &'g self,
        destinations: &'g [Arc<str>],
        now: Instant,
    ) -> Option<AvoidedProvider<'g>> {
        let mut open = Vec::new();
        let mut first: Option<AvoidedProvider<'g>> = None;
        let earlier = |first: &mut Option<AvoidedProvider<'g>>, other: AvoidedProvider<'g>| {
            if first.as_ref().is_none_or(|first| other.until < first.until) {
                *first = Some(other);
            }
        };
        for (at, provider) in self.providers.iter().enumerate() {
            match provider.breaker.away_until().filter(|until| *until > now) {
                Some(until) => {
                    let why = &provider.why;
                    earlier(
                        &mut first,
                        AvoidedProvider { provider: at, destination: None, until, why },
                    );
                }
                None => open.push((at, provider)),
            }
        }
        if open.is_empty() {
            return first;
        }
        let mut first = None;
        for name in destinations {
            for (at, provider) in &open {
                // One open destination is enough for the message to leave.
                let (until, why) = provider.destinations.away_until(name, now)?;
                let destination = Some(name);
                earlier(&mut first, AvoidedProvider { provider: *at, destination, until, why });
            }
        }
        first
    }

    /// Counts a message that leaves the queue.
    pub(crate) fn pass(&mut self, destinations: &[Arc<str>], now: Instant) {
        self.paces.take(destinations.first().map(|first| &**first), now);
    }

    /// The next provider, from a number on, that may be called for at least one of the destinations. [`ChannelGate::note`]
    /// gets its answers.
    pub(crate) fn leave(
        &mut self,
        from: usize,
        destinations: &[Arc<str>],
        now: Instant,
    ) -> Option<CallPermit> {
        let providers = self.providers.iter_mut().enumerate().skip(from);
        for (at, provider) in providers {
            if provider.breaker.is_open_to(now).is_err() {
                continue;
            }
            // Destinations come first: a message that none of them takes must not become the probe of the
            // provider.
            let open = |to: &&Arc<str>| provider.destinations.admit(to, now);
            let open: Vec<_> = destinations.iter().filter(open).cloned().collect();
            if (destinations.is_empty() || !open.is_empty()) && provider.breaker.admit(now) {
                return Some(CallPermit { provider: at, destinations: open });
            }
        }
        None
    }

    /// Notes the health of a provider, with the reason of a failure.
    pub(crate) fn note(
        &mut self,
        provider: usize,
        health: Health,
        why: &str,
        now: Instant,
    ) -> Option<BreakerChange> {
        let provider = self.providers.get_mut(provider)?;
        if matches!(health, Health::Away { .. }) {
            why.clone_into(&mut provider.why);
        }
        provider.breaker.record(health, now)
    }

    /// Notes the health of a destination of a provider, with the reason of a failure.
    pub(crate) fn note_destination(
        &mut self,
        provider: usize,
        destination: &Arc<str>,
        health: Health,
        why: &str,
        now: Instant,
    ) -> Option<BreakerChange> {
        let provider = self.providers.get_mut(provider)?;
        provider.destinations.note(destination, health, why, now)
    }

    /// The providers and destinations that are left alone at an instant.
    pub(crate) fn left_alone(&self, now: Instant) -> impl Iterator<Item = AvoidedProvider<'_>> {
        self.providers.iter().enumerate().flat_map(move |(at, provider)| {
            let whole = provider.breaker.away_until().filter(|until| *until > now).map(|until| {
                AvoidedProvider { provider: at, destination: None, until, why: &provider.why }
            });
            let destinations = provider.destinations.away(now).map(move |(name, until, why)| {
                AvoidedProvider { provider: at, destination: Some(name), until, why }
            });
            whole.into_iter().chain(destinations)
        })
    }
}
