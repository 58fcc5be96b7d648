//! Windows that quiet hours, a cap or a pause hold: they are put off, and asked again.

use roaring::RoaringBitmap;

use super::super::wheel::{slot_of, start_of};
use crate::bucket::lanes::lane::{Columns, DeadlineTerms, Lane};
use crate::model::channel::ChannelNo;
use crate::model::time::Instant;
use crate::rules::deadline::OpenWindow;

impl Lane {
    /// Returns true if anybody has quiet hours on its channel.
    pub(crate) fn may_be_quiet(&self, terms: DeadlineTerms<'_>) -> bool {
        terms.may_be_quiet(self.channel)
    }

    /// Asks windows again that were put off, since what held them has changed.
    pub(crate) fn ask_again(&mut self, recipients: &RoaringBitmap, at: Instant) {
        let postponed = self.late.remove(recipients);
        match &self.columns {
            Columns::Since(_) => {
                for (slot, some) in self.parked.take(&postponed) {
                    self.wheel.insert_all(start_of(slot), &some);
                }
            }
            Columns::Windows(_) => self.wheel.insert_all(at.0, &postponed),
        }
        self.next = None;
    }

    /// Returns true if windows of some of these were put off.
    pub(crate) fn has_late(&self, recipients: &RoaringBitmap) -> bool {
        !self.late.recipients().is_disjoint(recipients)
    }

    /// Puts windows off that a cap has kept when they were due: their deadlines have passed.
    pub(crate) fn put_off(&mut self, at: Instant, again: Instant, recipients: &RoaringBitmap) {
        // Had enough entries when it was due: the cap's delay must not have it counted again.
        self.counted |= recipients;
        self.wheel.remove_until(slot_of(at.0), recipients);
        match &mut self.columns {
            Columns::Since(_) => {
                self.parked.remove_until(slot_of(at.0), recipients);
                self.parked.insert_all(at.0, recipients);
            }
            Columns::Windows(windows) => {
                for number in recipients {
                    // Records that the deadline has passed, so that an entry that joins does not move it.
                    windows.at(number).due_by(at);
                }
            }
        }
        self.late.put(again, recipients);
        self.next = None;
    }

    /// Puts off those of these recipients, whose deadline has come, whose quiet hours hold, and returns the
    /// others. `slot` = the second of their deadline.
    pub(super) fn keep_quiet(
        &mut self,
        slot: i64,
        mut recipients: RoaringBitmap,
        at: Instant,
        terms: DeadlineTerms<'_>,
    ) -> RoaringBitmap {
        if recipients.is_empty() {
            return recipients;
        }
        let heeding = self.deadlines(terms).heeding(&recipients);
        for (end, some) in terms.quiet(&heeding, self.channel, at) {
            self.late.put(end, &some);
            if let Columns::Since(_) = self.columns {
                self.parked.insert_all(start_of(slot), &some);
            }
            recipients -= some;
        }
        recipients
    }

    /// Returns true if it is a lane of a channel.
    pub(crate) fn is_on(&self, channel: ChannelNo) -> bool {
        self.channel == channel
    }

    /// Makes deadlines final that have passed while their windows were held, before what they depend on changes.
    pub(crate) fn settle_passed(
        &mut self,
        recipients: &RoaringBitmap,
        at: Instant,
        terms: DeadlineTerms<'_>,
    ) {
        let held = self.would_hold(&(recipients & &self.open), terms);
        self.fix_passed(&held, at, terms);
    }

    /// Makes the deadlines of these windows final, if they have passed.
    pub(super) fn fix_passed(
        &mut self,
        recipients: &RoaringBitmap,
        at: Instant,
        terms: DeadlineTerms<'_>,
    ) {
        let Columns::Windows(windows) = &self.columns else {
            return;
        };
        let heeding = self.deadlines(terms).heeding(recipients);
        let passed = |number: &u32| {
            let window = windows.get(*number);
            self.deadlines(terms).after_quiet_hours(OpenWindow::Window(&window), *number, &heeding)
                <= at.0
        };
        let passed: Vec<u32> = recipients.iter().filter(passed).collect();
        if let Columns::Windows(windows) = &mut self.columns {
            for number in passed {
                windows.at(number).due_by(at);
            }
        }
    }
}
