//! The windows of a lane whose clock was put back: what it had put later waits from now.

use roaring::RoaringBitmap;

use super::super::wheel::slot_of;
use crate::bucket::lanes::lane::{Columns, DeadlineTerms, Lane};
use crate::model::time::Instant;

impl Lane {
    /// Returns true if a recipient waits in a lane without fields for a second after that of this instant.
    pub(crate) fn has_slot_after(&self, to: Instant) -> bool {
        let is_later = |(slot, _): (i64, &RoaringBitmap)| slot > slot_of(to.0);
        let mut slots = self.wheel.slots().chain(self.parked.slots());
        matches!(self.columns, Columns::Since(_)) && slots.any(is_later)
    }

    /// Takes those who wait in a lane without fields for a second after this instant's out of the wheel.
    pub(crate) fn take_slots_after(&mut self, to: Instant) -> RoaringBitmap {
        let late = self.late.recipients().clone();
        self.ask_again(&late, to);
        let open = self.open.clone();
        let later = self.wheel.remove_after(to.0, &open) | self.parked.remove_after(to.0, &open);
        self.next = None;
        later
    }

    /// Lets recipients wait in a lane without fields as if their windows had opened at this instant; flushed and full
    /// ones are due then. `terms` has the rules under which they were opened.
    pub(crate) fn wait_from(
        &mut self,
        to: Instant,
        recipients: &RoaringBitmap,
        terms: DeadlineTerms<'_>,
    ) {
        let is_full = |number: &u32| {
            let window = self.counts.get(*number);
            self.since(*number) == Some(window.since) && window.is_full()
        };
        let full: RoaringBitmap = recipients.iter().filter(is_full).collect();
        let now = full | (recipients & &self.flushed);
        let rest = recipients - &now;
        self.wheel.insert_all(to.0, &now);
        self.counted -= &rest;
        self.set_deadlines(&rest, to, terms);
        self.next = None;
    }

    /// Puts windows and last messages after this instant back to it, and checks postponed windows again; returns the
    /// recipients with a change.
    pub(crate) fn put_back(&mut self, to: Instant) -> RoaringBitmap {
        let mut changed = self.put_back_last(to);
        let late = self.late.recipients().clone();
        self.ask_again(&late, to);
        if let Columns::Windows(windows) = &mut self.columns {
            for number in &self.open {
                let mut window = windows.get(number);
                let last = self.last.get(number).at;
                if window.put_back(&self.kind, to, last) {
                    *windows.at(number) = window;
                    self.wheel.insert(window.due(), number);
                    changed.insert(number);
                }
            }
        }
        if !self.counts.is_empty() {
            for number in &self.open {
                let mut window = self.counts.get(number);
                if window.put_back(&self.kind, to, None) {
                    *self.counts.at(number) = window;
                    changed.insert(number);
                }
            }
        }
        self.next = None;
        changed
    }
}
