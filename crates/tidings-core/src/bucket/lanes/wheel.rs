//! The timing wheel: bitmaps of recipients by the second in which they may be due.
//!
//! Deadlines move lazily: an event writes a window and nothing else, and the wheel looks again when
//! the earlier second comes. So a number may stand in a slot that is too early, never in one that
//! is too late.

use roaring::RoaringBitmap;

use crate::model::time::{Instant, SECOND_MS};
use crate::sets::shared::{Shared, Tree};

/// Recipient numbers by the second (since 1970) in which they may be due.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wheel {
    slots: Tree<i64, Shared<RoaringBitmap>>,
}

/// The slot of a deadline in milliseconds.
pub(crate) fn slot_of(due_ms: i64) -> i64 {
    due_ms.div_euclid(SECOND_MS)
}

/// The first millisecond of a slot; of one that is out of range, as only a damaged row names it, the nearest.
pub(crate) fn start_of(slot: i64) -> i64 {
    slot.saturating_mul(SECOND_MS)
}

impl Wheel {
    pub(crate) fn insert(&mut self, due_ms: i64, number: u32) {
        if due_ms < Instant::MAX.0 {
            self.slots.or_default(slot_of(due_ms)).insert(number);
        }
    }

    pub(crate) fn insert_all(&mut self, due_ms: i64, recipients: &RoaringBitmap) {
        if due_ms < Instant::MAX.0 && !recipients.is_empty() {
            **self.slots.or_default(slot_of(due_ms)) |= recipients;
        }
    }

    /// Removes the first slot if it is not after `slot`.
    pub(crate) fn pop_until(&mut self, slot: i64) -> Option<(i64, RoaringBitmap)> {
        self.slots.first().filter(|(first, _)| **first <= slot)?;
        let (first, recipients) = self.slots.pop_first()?;
        Some((first, recipients.into_inner()))
    }

    /// Removes a number from every slot and returns the earliest that held it.
    pub(crate) fn remove(&mut self, number: u32) -> Option<i64> {
        let slots: Vec<i64> = self
            .slots
            .iter()
            .filter(|(_, recipients)| recipients.contains(number))
            .map(|(slot, _)| *slot)
            .collect();
        for slot in &slots {
            self.change(*slot, |recipients| {
                recipients.remove(number);
            });
        }
        slots.first().copied()
    }

    /// Removes numbers from every slot up to `slot`.
    pub(crate) fn remove_until(&mut self, slot: i64, numbers: &RoaringBitmap) {
        let slots: Vec<i64> = self
            .slots
            .iter()
            .take_while(|(at, _)| **at <= slot)
            .filter(|(_, recipients)| !recipients.is_disjoint(numbers))
            .map(|(slot, _)| *slot)
            .collect();
        for slot in slots {
            self.change(slot, |recipients| *recipients -= numbers);
        }
    }

    /// Changes a slot, and drops it once it is empty.
    fn change(&mut self, slot: i64, change: impl FnOnce(&mut RoaringBitmap)) {
        if let Some(recipients) = self.slots.get_mut(&slot) {
            change(recipients);
            if recipients.is_empty() {
                self.slots.remove(&slot);
            }
        }
    }

    /// Removes numbers from every slot, and returns them by slot.
    pub(crate) fn take(&mut self, numbers: &RoaringBitmap) -> Vec<(i64, RoaringBitmap)> {
        if numbers.is_empty() {
            return Vec::new();
        }
        let taken: Vec<_> = self
            .slots
            .iter()
            .map(|(slot, recipients)| (*slot, &**recipients & numbers))
            .filter(|(_, some)| !some.is_empty())
            .collect();
        for (slot, some) in &taken {
            self.change(*slot, |recipients| *recipients -= some);
        }
        taken
    }

    /// Removes numbers from every slot after that of a deadline, and returns those that it found.
    pub(crate) fn remove_after(&mut self, due_ms: i64, numbers: &RoaringBitmap) -> RoaringBitmap {
        let slots: Vec<i64> = self
            .slots
            .from(&(slot_of(due_ms) + 1))
            .filter(|(_, recipients)| !recipients.is_disjoint(numbers))
            .map(|(slot, _)| *slot)
            .collect();
        let mut found = RoaringBitmap::new();
        for slot in slots {
            self.change(slot, |recipients| {
                found |= &*recipients & numbers;
                *recipients -= numbers;
            });
        }
        found
    }

    pub(crate) fn slots(&self) -> impl Iterator<Item = (i64, &RoaringBitmap)> {
        self.slots.iter().map(|(slot, recipients)| (*slot, &**recipients))
    }

    /// Bytes of memory used, roughly.
    pub(crate) fn bytes(&self) -> usize {
        self.slots.values().map(|recipients| 72 + recipients.serialized_size()).sum()
    }
}

/// Windows that one arrival makes due, or due earlier. Most are due at the same time: they go into the
/// wheel together.
pub(crate) struct EarlierWindows<'a> {
    pub(crate) wheel: &'a mut Wheel,
    pub(crate) next: &'a mut Option<Option<i64>>,
    pub(crate) due: i64,
    pub(crate) recipients: RoaringBitmap,
}

impl EarlierWindows<'_> {
    pub(crate) fn add(&mut self, due: i64, number: u32) {
        if due == i64::MAX {
            return;
        }
        if due != self.due {
            self.done();
            self.due = due;
            note(self.next, due);
        }
        self.recipients.insert(number);
    }

    pub(crate) fn done(&mut self) {
        self.wheel.insert_all(self.due, &self.recipients);
        self.recipients.clear();
    }
}

/// Updates a known earliest deadline with another one.
pub(crate) fn note(next: &mut Option<Option<i64>>, due: i64) {
    if let Some(known) = next {
        *known = Some(known.map_or(due, |known| known.min(due)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_instant_has_a_slot_that_begins_in_range() {
        let mut wheel = Wheel::default();
        for due in [i64::MIN, -1, 0, 1_999, Instant::MAX.0 - 1] {
            wheel.insert(due, 7);
            let (slot, _) = wheel.pop_until(i64::MAX).unwrap();
            assert_eq!((slot, start_of(slot) <= due), (slot_of(due), true));
        }
        assert_eq!(start_of(slot_of(i64::MIN)), i64::MIN);
    }
}
