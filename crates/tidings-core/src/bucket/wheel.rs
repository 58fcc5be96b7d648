//! The timing wheel: bitmaps of recipients by the second in which they may be due.
//!
//! Deadlines move lazily: an event writes a window and nothing else, and the wheel looks again when
//! the earlier second comes. So a number may stand in a slot that is too early, never in one that
//! is too late.

use std::collections::BTreeMap;

use roaring::RoaringBitmap;

use crate::time::{Instant, SECOND_MS};

/// Recipient numbers by the second (since 1970) in which they may be due.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wheel {
    slots: BTreeMap<i64, RoaringBitmap>,
}

/// The slot of a deadline in milliseconds.
pub(crate) fn slot_of(due_ms: i64) -> i64 {
    due_ms.div_euclid(SECOND_MS)
}

impl Wheel {
    pub(crate) fn insert(&mut self, due_ms: i64, number: u32) {
        if due_ms < Instant::MAX.0 {
            self.slots
                .entry(slot_of(due_ms))
                .or_default()
                .insert(number);
        }
    }

    pub(crate) fn insert_all(&mut self, due_ms: i64, who: &RoaringBitmap) {
        if due_ms < Instant::MAX.0 && !who.is_empty() {
            *self.slots.entry(slot_of(due_ms)).or_default() |= who;
        }
    }

    /// Removes the first slot if it is not after `slot`.
    pub(crate) fn pop_until(&mut self, slot: i64) -> Option<(i64, RoaringBitmap)> {
        let entry = self.slots.first_entry()?;
        (*entry.key() <= slot).then(|| entry.remove_entry())
    }

    /// Removes a number from every slot and returns the earliest that held it.
    pub(crate) fn remove(&mut self, number: u32) -> Option<i64> {
        let mut earliest = None;
        self.slots.retain(|slot, who| {
            if who.remove(number) && earliest.is_none() {
                earliest = Some(*slot);
            }
            !who.is_empty()
        });
        earliest
    }

    /// Removes numbers from every slot up to `slot`.
    pub(crate) fn remove_until(&mut self, slot: i64, numbers: &RoaringBitmap) {
        let mut empty = Vec::new();
        for (at, who) in self.slots.range_mut(..=slot) {
            *who -= numbers;
            if who.is_empty() {
                empty.push(*at);
            }
        }
        for at in empty {
            self.slots.remove(&at);
        }
    }

    pub(crate) fn slots(&self) -> impl Iterator<Item = (i64, &RoaringBitmap)> {
        self.slots.iter().map(|(slot, who)| (*slot, who))
    }

    /// Bytes of memory used, roughly.
    pub(crate) fn bytes(&self) -> usize {
        self.slots
            .values()
            .map(|who| 72 + who.serialized_size())
            .sum()
    }
}

/// Windows that one arrival makes due, or due earlier. Most are due at the same time: they go into the
/// wheel together.
pub(crate) struct Sooner<'a> {
    pub(crate) wheel: &'a mut Wheel,
    pub(crate) next: &'a mut Option<Option<i64>>,
    pub(crate) due: i64,
    pub(crate) who: RoaringBitmap,
}

impl Sooner<'_> {
    pub(crate) fn add(&mut self, due: i64, number: u32) {
        if due == i64::MAX {
            return;
        }
        if due != self.due {
            self.done();
            self.due = due;
            note(self.next, due);
        }
        self.who.insert(number);
    }

    pub(crate) fn done(&mut self) {
        self.wheel.insert_all(self.due, &self.who);
        self.who.clear();
    }
}

/// Updates a known earliest deadline with another one.
pub(crate) fn note(next: &mut Option<Option<i64>>, due: i64) {
    if let Some(known) = next {
        *known = Some(known.map_or(due, |known| known.min(due)));
    }
}
