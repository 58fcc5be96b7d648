//! The parking of open occurrences that fail, so that they hold up no newer ones.

use tidings_core::Instant;
use tidings_core::journal::{ReadView, Unreadable};
use tidings_core::model::{OccurrenceOwner, OccurrencePlace, SECOND_MS};

use super::{Hook, OPEN_MAX, StoredOccurrences};
use crate::hooks::progress::HookProgress;

/// The number of open occurrences from which on no parked ones are opened.
const UNPARK_MAX: usize = OPEN_MAX + 256;
/// Maximum number of parked occurrences.
const PARKED_MAX: u64 = 100_000;
/// The number of open occurrences that are parked to see whether the host takes newer ones, and the time between two such
/// looks.
const PROBES: (usize, i64) = (16, 60 * SECOND_MS);

impl Hook {
    /// The instant at which some failing occurrences make room for newer ones: all open ones wait for another attempt,
    /// and it is open whether the host refuses them or is down.
    pub(super) fn next_probe(&self, durable: &StoredOccurrences) -> Option<Instant> {
        let has_more = |(owner, progress): (&OccurrenceOwner, &HookProgress)| {
            durable.get(owner).is_some_and(|until| progress.next < *until)
        };
        let is_full = self.open.len() >= OPEN_MAX && self.parked_count() < PARKED_MAX;
        let waits = self.under_way.is_empty() && self.refused.is_empty() && !self.is_off();
        (is_full && waits && self.owners.iter().any(has_more)).then_some(self.probe_at)
    }

    /// Returns true if an occurrence can be parked.
    pub(super) fn can_park(&self) -> bool {
        !self.refused.is_empty() && self.parked_count() < PARKED_MAX
    }

    pub(super) fn parked_count(&self) -> u64 {
        self.parked.values().map(|parked| parked.count).sum()
    }

    /// The next attempt of a parked occurrence, if there is room for it.
    pub(super) fn next_parked(&self) -> Option<Instant> {
        let has_room = self.open.len() < UNPARK_MAX || !self.refused.is_empty();
        let has_room = has_room && !self.is_off();
        self.parked.values().filter(|_| has_room).filter_map(|parked| parked.next).min()
    }

    /// Parks some of what fails, if that is all that is open.
    pub(super) fn probe(&mut self, durable: &StoredOccurrences, now: Instant) {
        let waits = self.ready.is_empty() && self.due.first().is_none_or(|(at, _)| *at > now);
        if waits && self.next_probe(durable).is_some_and(|at| at <= now) {
            let (probes, every_ms) = PROBES;
            self.probe_at = now.plus_ms(every_ms);
            let surplus = self.open.len().saturating_sub(OPEN_MAX);
            let longest = self.due.iter().rev().take(probes + surplus);
            // A few make room for newer ones. If the host takes those, what goes on failing counts as
            // refused; if not, it is down.
            self.park_all(longest.copied().collect(), now);
        }
    }

    /// Parks refused occurrences if the open set is full, those with the longest wait first.
    pub(super) fn park(&mut self, now: Instant) {
        if self.open.len() < OPEN_MAX {
            return;
        }
        let longest = self.due.iter().rev().filter(|(_, place)| self.refused.contains(place));
        self.park_all(longest.take(OPEN_MAX / 2).copied().collect(), now);
    }

    fn park_all(&mut self, places: Vec<(Instant, OccurrencePlace)>, now: Instant) {
        for (at, place) in places {
            let Some(open) = self.open.remove(&place) else {
                continue;
            };
            self.due.remove(&(at, place));
            self.recipients.remove(&place);
            self.lines.remove(place);
            self.refused.remove(&place);
            self.failed_at.remove(&place);
            let parked = self.parked.entry(place.owner).or_default();
            parked.add(&self.name, self.state.since, (place, open), now);
            self.touch(place.owner);
        }
        self.is_urgent = true;
    }

    /// Opens parked occurrences that are due.
    pub(super) fn unpark(&mut self, view: &dyn ReadView, now: Instant) -> Result<(), Unreadable> {
        if self.next_parked().is_none_or(|at| at > now) {
            return Ok(());
        }
        // Occurrences that are due later make room for them.
        self.park(now);
        let owners: Vec<OccurrenceOwner> = self.parked.keys().copied().collect();
        for owner in owners {
            let room = UNPARK_MAX.saturating_sub(self.open.len());
            let parked = self.parked.get_mut(&owner).filter(|_| room > 0);
            let Some(parked) = parked.filter(|parked| parked.next.is_some_and(|at| at <= now))
            else {
                continue;
            };
            for (place, open) in parked.take_due(view, (owner, &self.name), room, now)? {
                // A replay may have opened it meanwhile, and its newer state counts.
                self.open.entry(place).or_insert_with(|| {
                    self.due.insert((open.next, place));
                    open
                });
            }
            self.touch(owner);
            self.is_urgent = true;
        }
        Ok(())
    }
}
