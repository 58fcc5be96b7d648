//! The windows of a lane that are due: those that close, are held, or have to be counted.
//!
//! A digest may need a number of entries. Its window is counted once, when it is first due, held or not. So a held
//! window is checked at its deadline too.

use roaring::RoaringBitmap;

use super::super::wheel::{slot_of, start_of};
use crate::bucket::lanes::lane::{Columns, DeadlineTerms, Lane};
use crate::model::time::Instant;
use crate::rules::deadline::OpenWindow;

/// The windows of a lane that are due.
#[derive(Debug, Default)]
pub(crate) struct DueWindows {
    /// The recipients whose window closes.
    pub(crate) closing: RoaringBitmap,
    /// The recipients, held or not, whose window has to be counted before.
    pub(crate) counting: RoaringBitmap,
}

impl DueWindows {
    pub(crate) fn is_empty(&self) -> bool {
        self.closing.is_empty() && self.counting.is_empty()
    }
}

impl Lane {
    /// [`Lane::next_due`] once it was worked out.
    pub(crate) fn known_due(&self) -> Option<Option<i64>> {
        if self.rests() {
            return Some(None);
        }
        let first = self.next?;
        Some(first.into_iter().chain(self.late.next()).min())
    }

    /// The earliest deadline of a window that closes then, or is counted, in milliseconds.
    pub(crate) fn next_due(&mut self, terms: DeadlineTerms<'_>) -> Option<i64> {
        if self.rests() {
            return None;
        }
        let first = match self.next {
            Some(first) => first,
            None => self.first_of_wheel(terms),
        };
        first.into_iter().chain(self.late.next()).min()
    }

    fn first_of_wheel(&mut self, terms: DeadlineTerms<'_>) -> Option<i64> {
        let mut first = None;
        while let Some((slot, recipients)) = self.wheel.pop_until(i64::MAX) {
            let (live, earliest) = self.sift(slot, recipients, terms);
            if !live.is_empty() {
                self.wheel.insert_all(start_of(slot), &live);
                first = Some(earliest);
                break;
            }
        }
        self.next = Some(first);
        first
    }

    /// Removes the recipients whose window is due at or before `at`, without those that are held or quiet.
    pub(crate) fn take_due(&mut self, at: Instant, terms: DeadlineTerms<'_>) -> DueWindows {
        let mut due = DueWindows::default();
        let is_later = |next: Option<i64>| next.is_none_or(|next| next > at.0);
        if self.rests() || (self.next.is_some_and(is_later) && is_later(self.late.next())) {
            return due;
        }
        let again = self.late.take_until(at);
        let mut slots = match &self.columns {
            Columns::Since(_) => self.parked.take(&again),
            Columns::Windows(_) => vec![(slot_of(at.0), again)],
        };
        let mut later = Vec::new();
        // A window whose deadline has moved goes back into the wheel, and may be due all the same.
        while let Some((slot, recipients)) =
            slots.pop().or_else(|| self.wheel.pop_until(slot_of(at.0)))
        {
            let (mut live, _) = self.sift(slot, recipients, terms);
            if let Columns::Windows(windows) = &self.columns {
                let mut passed = RoaringBitmap::new();
                for number in live {
                    match terms.due(OpenWindow::Window(&windows.get(number)), number) {
                        ms if ms <= at.0 => {
                            passed.insert(number);
                        }
                        ms => later.push((ms, number)),
                    }
                }
                live = passed;
            }
            let live = self.keep_quiet(slot, live, at, terms);
            let counting = self.uncounted(&live);
            due.closing |= live - &counting;
            due.counting |= counting;
        }
        // Due later within this second: inserted after the loop, which would otherwise pop them again
        // without end.
        for (ms, number) in later {
            self.wheel.insert(ms, number);
        }
        self.next = None;
        due
    }

    /// Processes a slot of the wheel: parks those that are held, moves recipients who are due later to their
    /// slot, drops those who are not waiting or will be asked again. The rest, and their earliest deadline.
    fn sift(
        &mut self,
        slot: i64,
        mut recipients: RoaringBitmap,
        terms: DeadlineTerms<'_>,
    ) -> (RoaringBitmap, i64) {
        recipients &= &self.open;
        // Windows that were put off are asked at their own instant, whatever deadline an entry that joins
        // gives them.
        recipients -= self.late.recipients();
        let held = self.held(&recipients, terms);
        if !held.is_empty() {
            self.parked.insert_all(start_of(slot), &held);
            recipients -= held;
        }
        let Columns::Windows(windows) = &self.columns else {
            return (recipients, start_of(slot));
        };
        let mut live = RoaringBitmap::new();
        let mut earliest = i64::MAX;
        for number in recipients {
            let due = terms.due(OpenWindow::Window(&windows.get(number)), number);
            if slot_of(due) > slot {
                self.wheel.insert(due, number);
            } else {
                earliest = earliest.min(due);
                live.insert(number);
            }
        }
        (live, earliest)
    }

    /// Sets whether windows are counted.
    pub(crate) fn count_if(&mut self, counts: bool) {
        self.asks_count = counts;
        self.next = None;
    }

    /// Returns true if nothing is due as long as the channel is paused.
    pub(super) fn rests(&self) -> bool {
        self.paused && !self.asks_count
    }

    /// The recipients whose window stays open when its deadline comes, and was counted if it has to be.
    pub(super) fn held(
        &self,
        recipients: &RoaringBitmap,
        terms: DeadlineTerms<'_>,
    ) -> RoaringBitmap {
        let held = self.would_hold(recipients, terms);
        &held - self.uncounted(&held)
    }

    /// The recipients whose window does not close now: the unconfirmed, or all while the channel is paused.
    pub(crate) fn would_hold(
        &self,
        recipients: &RoaringBitmap,
        terms: DeadlineTerms<'_>,
    ) -> RoaringBitmap {
        if self.paused { recipients.clone() } else { recipients & &*terms.roster.unconfirmed }
    }

    /// The recipients whose window is still to be counted. A flushed one never is, nor a full one.
    pub(super) fn uncounted(&self, recipients: &RoaringBitmap) -> RoaringBitmap {
        if !self.asks_count {
            return RoaringBitmap::new();
        }
        recipients - &self.counted - &self.flushed
    }

    /// Notes windows that were counted, hold enough and stay open: they are due as before.
    pub(crate) fn note_enough(&mut self, at: Instant, recipients: &RoaringBitmap) {
        // Is counted once, also while it is held: what ends until its release must not make it miss the
        // slot.
        self.counted |= recipients;
        self.wheel.insert_all(at.0, recipients);
        self.next = None;
    }

    /// Notes windows that were counted and hold too few: they wait for the next slot. `terms` has the rules
    /// under which they were opened.
    pub(crate) fn pass_over(
        &mut self,
        at: Instant,
        recipients: &RoaringBitmap,
        terms: DeadlineTerms<'_>,
    ) {
        self.counted |= recipients;
        self.late.remove(recipients);
        self.wheel.remove_until(slot_of(at.0), recipients);
        self.parked.remove_until(slot_of(at.0), recipients);
        self.next = None;
        self.set_deadlines(recipients, at, terms);
    }
}
