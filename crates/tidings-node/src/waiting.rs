//! Messages that wait for a retry.
//!
//! They are found by when they are to go, and by their names: a cancel that reaches a hundred thousand
//! of them, while a mail server is away, asks for each. What an operator has paused is set aside, so
//! that it costs the others nothing.

use std::collections::{BTreeMap, BTreeSet};

use tidings_core::Instant;
use tidings_core::engine::LetterName;

use crate::parcel::Parcel;

/// The messages.
#[derive(Default)]
pub(crate) struct Waiting {
    parcels: BTreeMap<LetterName, (Instant, Parcel)>,
    /// The messages by the time of their retry.
    due: BTreeSet<(Instant, LetterName)>,
}

impl Waiting {
    /// Adds a message, to be retried at an instant or, if it is held, some time after its release.
    pub(crate) fn insert(&mut self, at: Instant, parcel: Parcel, is_held: bool) {
        let letter = parcel.letter();
        self.take_back(&letter);
        if !is_held {
            self.due.insert((at, letter));
        }
        self.parcels.insert(letter, (at, parcel));
    }

    /// Removes a message and returns it with the instant of its retry.
    pub(crate) fn take_back(&mut self, letter: &LetterName) -> Option<(Instant, Parcel)> {
        let (at, parcel) = self.parcels.remove(letter)?;
        self.due.remove(&(at, *letter));
        Some((at, parcel))
    }

    /// Removes and returns the messages whose retry is due, by time.
    pub(crate) fn take_due(&mut self, now: Instant) -> Vec<Parcel> {
        let mut taken = Vec::new();
        while let Some((at, letter)) = self.due.first().copied()
            && at <= now
        {
            self.due.pop_first();
            taken.extend(self.parcels.remove(&letter).map(|(_, parcel)| parcel));
        }
        taken
    }

    /// The time of the next retry.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.due.first().map(|(at, _)| *at)
    }

    /// Sets what is held from now on.
    pub(crate) fn hold(&mut self, is_held: impl Fn(&Parcel) -> bool) {
        let free = self
            .parcels
            .iter()
            .filter(|(_, (_, parcel))| !is_held(parcel));
        self.due = free.map(|(letter, (at, _))| (*at, *letter)).collect();
    }

    /// Number of messages, held or not.
    pub(crate) fn len(&self) -> usize {
        self.parcels.len()
    }

    /// All messages, each with the instant of its retry.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Instant, &Parcel)> {
        self.parcels.values().map(|(at, parcel)| (*at, parcel))
    }

    /// The keys of the messages.
    pub(crate) fn letters(&self) -> impl Iterator<Item = LetterName> {
        self.parcels.keys().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channel::sample::batch;

    fn parcel(number: u32) -> Parcel {
        Parcel::sample(number, batch(&format!("b{number}"), "A title"))
    }

    fn numbers(parcels: &[Parcel]) -> Vec<u32> {
        parcels.iter().map(|parcel| parcel.number).collect()
    }

    #[test]
    fn what_waits_goes_by_its_time_is_found_by_its_name_and_can_be_held() {
        let mut waiting = Waiting::default();
        for (number, at) in [(1, 30), (2, 10), (3, 20), (4, 20)] {
            waiting.insert(Instant(at), parcel(number), number == 4);
        }
        assert_eq!((waiting.len(), waiting.next()), (4, Some(Instant(10))));
        let (at, taken) = waiting
            .take_back(&((tidings_core::BucketNo(0), 1), 2))
            .unwrap();
        assert_eq!((at, taken.number), (Instant(10), 2));
        assert!(
            waiting
                .take_back(&((tidings_core::BucketNo(0), 1), 2))
                .is_none()
        );
        assert!(waiting.take_due(Instant(19)).is_empty());
        assert_eq!(numbers(&waiting.take_due(Instant(20))), [3]);

        // The other way round: all but the fourth are held.
        waiting.hold(|parcel| parcel.number != 4);
        assert_eq!((waiting.len(), waiting.next()), (2, Some(Instant(20))));
        assert_eq!(numbers(&waiting.take_due(Instant(90))), [4]);
        assert_eq!(waiting.next(), None);
        assert_eq!(
            waiting.letters().collect::<Vec<_>>(),
            [((tidings_core::BucketNo(0), 1), 1)]
        );
        waiting.hold(|_| false);
        assert_eq!(numbers(&waiting.take_due(Instant(30))), [1]);
        assert_eq!(waiting.len(), 0);
    }
}
