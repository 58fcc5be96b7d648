//! The fold of pauses and of withdrawn messages.

use roaring::RoaringBitmap;

use super::{Bucket, Terms, counting_lanes};
use crate::channel::ChannelNo;
use crate::compiled::CompiledRules;
use crate::journal::record::LaneNo;
use crate::time::Instant;

impl Bucket {
    /// Ends built messages that have no entries left, as if they had been empty.
    pub(super) fn withdraw(&mut self, closing: u64, who: &RoaringBitmap, compiled: &CompiledRules) {
        let Some(open) = self.closings.get_mut(&closing) else {
            return;
        };
        open.end(who);
        let at = open.at;
        for no in counting_lanes(open.lane, compiled) {
            if let Some(lane) = self.lanes.get_mut(&no) {
                lane.told_nothing(at, who);
            }
        }
        self.settle_closing(closing);
    }

    pub(super) fn pause(
        &mut self,
        at: Instant,
        channels: Vec<ChannelNo>,
        emptied: &[LaneNo],
        compiled: &CompiledRules,
    ) {
        self.paused = channels;
        let terms = Terms::of(&self.roster, compiled.version(self.rules));
        for (no, lane) in &mut self.lanes {
            let paused = self.paused.contains(&compiled.names.lane(*no).channel);
            match (lane.is_paused(), paused) {
                (false, true) => lane.pause(),
                (true, false) => lane.resume(at, terms),
                _ => {}
            }
        }
        for no in emptied {
            if let Some(lane) = self.lanes.get_mut(no) {
                lane.empty();
            }
        }
    }

    /// Tells whether a lane keeps what is paused.
    pub(crate) fn keeps_paused(&self, lane: LaneNo) -> bool {
        self.lanes
            .get(&lane)
            .is_some_and(|lane| lane.keeps_paused())
    }
}
