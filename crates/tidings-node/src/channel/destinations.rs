//! The destinations to which a provider hands nothing over at present: each has a breaker of its own.
//!
//! A destination is a host that a recipient names, or the domain of a mail address. Only those that failed of late are
//! kept, and the names of those that answered, no more of either than a bound, so that strangers who name many hosts
//! can't fill the memory.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tidings_core::Instant;

use super::breaker::{Breaker, BreakerChange, Health};

/// The most destinations of a provider that are kept.
const DESTINATIONS_MAX: usize = 4_096;

/// The destinations of a provider that failed or answered of late.
#[derive(Clone, Debug, Default)]
pub(crate) struct Destinations {
    failing: BTreeMap<Arc<str>, FailingDestination>,
    /// Destinations that have answered and were available since: the last ones, and as many before those.
    answered: [BTreeSet<Arc<str>>; 2],
}

#[derive(Clone, Debug)]
struct FailingDestination {
    breaker: Breaker,
    /// The instant of the last failure.
    at: Instant,
    /// Its reason.
    why: String,
}

impl Destinations {
    /// Returns true if a message to a destination may pass now.
    ///
    /// # Errors
    /// The instant from which to ask again.
    pub(crate) fn is_open_to(&self, destination: &str, now: Instant) -> Result<(), Instant> {
        let failing = self.failing.get(destination);
        failing.map_or(Ok(()), |failing| failing.breaker.is_open_to(now))
    }

    /// Returns true if a destination has answered, and was not left alone since.
    pub(crate) fn has_answered(&self, destination: &str) -> bool {
        self.answered.iter().any(|some| some.contains(destination))
    }

    /// Returns true if a destination is left alone, or a probe of it has no answer yet.
    pub(crate) fn is_left_alone(&self, destination: &str) -> bool {
        let failing = self.failing.get(destination);
        failing.is_some_and(|failing| failing.breaker.away_until().is_some())
    }

    /// The instant until which a destination is left alone, with the reason.
    pub(crate) fn away_until(&self, destination: &str, now: Instant) -> Option<(Instant, &str)> {
        let failing = self.failing.get(destination)?;
        let until = failing.breaker.away_until().filter(|until| *until > now)?;
        Some((until, failing.why.as_str()))
    }

    /// Lets a message to a destination pass, if one may.
    pub(crate) fn admit(&mut self, destination: &str, now: Instant) -> bool {
        let failing = self.failing.get_mut(destination);
        failing.is_none_or(|failing| failing.breaker.admit(now))
    }

    /// Records the outcome of a message that passed, with the reason of a failure.
    pub(crate) fn note(
        &mut self,
        destination: &Arc<str>,
        health: Health,
        why: &str,
        now: Instant,
    ) -> Option<BreakerChange> {
        match health {
            Health::Well => {
                self.note_answer(destination);
                let mut failing = self.failing.remove(destination)?;
                failing.breaker.record(health, now)
            }
            Health::Untold => {
                let failing = self.failing.get_mut(destination)?;
                failing.breaker.record(health, now)
            }
            Health::Away { .. } => {
                if !self.failing.contains_key(destination) && self.failing.len() >= DESTINATIONS_MAX
                {
                    self.forget_one();
                }
                let failing = self.failing.entry(Arc::clone(destination)).or_insert_with(|| {
                    FailingDestination { breaker: Breaker::default(), at: now, why: String::new() }
                });
                failing.at = now;
                why.clone_into(&mut failing.why);
                let change = failing.breaker.record(health, now);
                if change.is_some() {
                    self.answered.iter_mut().for_each(|some| drop(some.take(destination)));
                }
                change
            }
        }
    }

    /// Keeps the name of a destination that has answered, in place of those that did so long ago.
    fn note_answer(&mut self, destination: &Arc<str>) {
        let [last, before] = &mut self.answered;
        if !last.contains(destination) {
            if last.len() >= DESTINATIONS_MAX {
                *before = std::mem::take(last);
            }
            last.insert(Arc::clone(destination));
        }
    }

    /// Makes room: one that is not away goes first, then the one that failed longest ago.
    fn forget_one(&mut self) {
        let oldest = self
            .failing
            .iter()
            .min_by_key(|(_, failing)| (failing.breaker.away_until().is_some(), failing.at));
        if let Some(name) = oldest.map(|(name, _)| Arc::clone(name)) {
            self.failing.remove(&name);
        }
    }

    /// The destinations that are left alone at an instant, each with the instant of the next probe and the reason.
    pub(crate) fn away(&self, now: Instant) -> impl Iterator<Item = (&Arc<str>, Instant, &str)> {
        self.failing.iter().filter_map(move |(name, failing)| {
            let until = failing.breaker.away_until().filter(|until| *until > now)?;
            Some((name, until, failing.why.as_str()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AWAY: Health = Health::Away { after_ms: None };

    fn name(number: usize) -> Arc<str> {
        format!("h{number}.example").into()
    }

    #[test]
    fn a_destination_that_fails_several_times_in_a_row_is_left_alone_and_no_other_is() {
        let mut all = Destinations::default();
        for time in 0.. {
            assert!(time < 10);
            assert_eq!(all.is_open_to("h1.example", Instant(0)), Ok(()));
            if all.note(&name(1), AWAY, "hangs", Instant(0)).is_some() {
                break;
            }
            // A success of another says nothing about it.
            all.note(&name(2), Health::Well, "", Instant(0));
        }
        let until = all.is_open_to("h1.example", Instant(0)).unwrap_err();
        assert_eq!(all.is_open_to("h2.example", Instant(0)), Ok(()));
        let away: Vec<_> = all.away(Instant(0)).collect();
        assert_eq!(away, [(&name(1), until, "hangs")]);
        assert!(all.admit("h1.example", until) && !all.admit("h1.example", until));
        let change = all.note(&name(1), Health::Well, "", until);
        assert_eq!(change, Some(BreakerChange::Closed));
        assert!(all.failing.is_empty(), "what is well is not kept");
    }

    #[test]
    fn b3_who_has_answered_is_known_until_left_alone_or_forgotten() {
        let mut all = Destinations::default();
        assert!(!all.has_answered("h1.example"));
        all.note(&name(1), Health::Well, "", Instant(0));
        for _ in 1..5 {
            all.note(&name(1), AWAY, "hangs", Instant(0));
            assert!(all.has_answered("h1.example"));
        }
        assert!(all.note(&name(1), AWAY, "hangs", Instant(0)).is_some());
        assert!(!all.has_answered("h1.example"));
        all.note(&name(0), Health::Well, "", Instant(0));
        for number in 1..5 * DESTINATIONS_MAX {
            all.note(&name(number), Health::Well, "", Instant(1));
            if number % 1_000 == 0 {
                all.note(&name(0), Health::Well, "", Instant(1));
            }
        }
        let kept: usize = all.answered.iter().map(BTreeSet::len).sum();
        assert!(kept <= 2 * DESTINATIONS_MAX, "{kept}");
        assert!(all.has_answered("h0.example") && !all.has_answered("h1.example"));
    }

    #[test]
    fn a3_strangers_who_name_many_hosts_fill_no_memory_and_free_none_that_is_away() {
        let mut all = Destinations::default();
        let asked = Health::Away { after_ms: Some(60_000) };
        assert!(all.note(&name(0), asked, "", Instant(0)).is_some());
        for number in 1..3 * DESTINATIONS_MAX {
            all.note(&name(number), AWAY, "", Instant(1));
        }
        assert_eq!(all.failing.len(), DESTINATIONS_MAX);
        assert!(all.is_open_to("h0.example", Instant(2)).is_err());
    }
}
