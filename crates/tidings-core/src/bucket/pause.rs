//! The fold of pauses, and of messages that are withdrawn or go again.

use roaring::RoaringBitmap;

use super::Bucket;
use super::lanes::lane::Lane;
use super::state::Closing;
use crate::journal::record::Reopened;
use crate::model::batch_key::LaneKey;
use crate::model::channel::ChannelNo;
use crate::model::number::{LaneNo, Seq};
use crate::model::time::Instant;
use crate::rules::compiled::CompiledRules;
use crate::sets::shared::Shared;

impl Bucket {
    /// Ends built messages that have no entries left, as if they had been empty.
    pub(super) fn withdraw(
        &mut self,
        now: Instant,
        closing: Seq,
        recipients: &RoaringBitmap,
        compiled: &CompiledRules,
    ) {
        let Some(open) = self.closings.get_mut(&closing) else {
            return;
        };
        open.end(recipients);
        let (at, lane) = (open.clock, open.lane.clone());
        self.take_back_messages(&lane, at, recipients, compiled);
        self.uncount_for_caps(lane.lane, recipients, at, now, compiled);
        self.settle_closing(closing);
    }

    /// Ends built messages that have their outcome.
    pub(super) fn end_messages(&mut self, closing: Seq, recipients: &RoaringBitmap) {
        if let Some(open) = self.closings.get_mut(&closing) {
            open.end(recipients);
        }
        self.settle_closing(closing);
    }

    /// Puts a built message that had its outcome on its way again.
    pub(super) fn reopen(&mut self, again: Reopened) {
        let Reopened { at, closing, lane, due, from, number, attempts } = again;
        if self.closings.get(&closing).is_none() {
            let clock = due.min(self.by_the_clock(at));
            let open = Closing::new(lane, due, clock, from);
            self.closings.insert(closing, Shared::new(open));
        }
        if let Some(open) = self.closings.get_mut(&closing) {
            open.from = open.from.min(from);
            open.sending.insert(number.0);
            open.tried.insert(number.0, attempts);
        }
    }

    pub(super) fn pause(
        &mut self,
        at: Instant,
        channels: Vec<ChannelNo>,
        emptied: &[LaneNo],
        compiled: &CompiledRules,
    ) {
        self.paused = channels;
        let (lanes, around) = self.lanes_and_around(compiled);
        lanes.pause(at, around);
        for no in emptied {
            lanes.empty(*no, around);
        }
    }

    /// Returns true if a lane keeps what is paused.
    pub(crate) fn keeps_paused(&self, lane: &LaneKey) -> bool {
        self.lanes.get(lane).is_some_and(Lane::keeps_paused)
    }
}
