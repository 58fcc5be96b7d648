//! The caps of a bucket: whose windows they keep open, and until when.

use std::collections::BTreeMap;

use roaring::RoaringBitmap;

use super::state::Bucket;
use crate::model::batch_key::LaneKey;
use crate::model::number::LaneNo;
use crate::model::time::Instant;
use crate::rules::compiled::CompiledRules;

impl Bucket {
    /// Notes a closing, where caps count it. An erased recipient gets no message.
    pub(super) fn count_for_caps(
        &mut self,
        lane_no: LaneNo,
        recipients: &RoaringBitmap,
        at: Instant,
        compiled: &CompiledRules,
    ) {
        let channel = compiled.names.lane(lane_no).channel;
        let caps = compiled.caps(self.rules, channel);
        if !caps.is_empty() {
            let recipients = recipients & &*self.roster.everyone;
            self.cap_counts.note(channel, &recipients, at, caps);
        }
    }

    /// Folds in at `now` that messages of closings at an instant were empty: they count no longer, and what they kept is
    /// asked again.
    pub(super) fn uncount_for_caps(
        &mut self,
        lane_no: LaneNo,
        recipients: &RoaringBitmap,
        closed_at: Instant,
        now: Instant,
        compiled: &CompiledRules,
    ) {
        let channel = compiled.names.lane(lane_no).channel;
        if compiled.caps(self.rules, channel).is_empty() {
            return;
        }
        let cap_counts = &mut self.cap_counts;
        let freed = recipients
            .iter()
            .filter(|number| cap_counts.take_back(channel, *number, closed_at))
            .collect();
        self.ask_again(now, &freed, compiled);
    }

    /// The recipients among these whose window a cap keeps open.
    pub(crate) fn capped(
        &self,
        lane: &LaneKey,
        recipients: &RoaringBitmap,
        now: Instant,
        compiled: &CompiledRules,
    ) -> RoaringBitmap {
        let channel = compiled.names.lane(lane.lane).channel;
        let caps = compiled.caps(self.rules, channel);
        let terms = self.terms(lane.tenant, compiled);
        let Some(lane) = self.lanes.get(lane).filter(|_| !caps.is_empty()) else {
            return RoaringBitmap::new();
        };
        // Flushed windows and those with an urgent entry pass caps as they pass quiet hours.
        let overdue = recipients - lane.deadlines(terms).passes(recipients);
        let is_full = |number: &u32| self.cap_counts.free_at(channel, *number, now, caps).is_some();
        overdue.iter().filter(is_full).collect()
    }

    /// Folds in that a cap has kept windows open.
    pub(super) fn cap(
        &mut self,
        at: Instant,
        lane: &LaneKey,
        recipients: &RoaringBitmap,
        compiled: &CompiledRules,
    ) {
        let channel = compiled.names.lane(lane.lane).channel;
        let caps = compiled.caps(self.rules, channel);
        let mut again: BTreeMap<Instant, RoaringBitmap> = BTreeMap::new();
        for number in recipients {
            let free = self.cap_counts.free_at(channel, number, at, caps);
            again.entry(free.unwrap_or(at)).or_default().insert(number);
        }
        let (lanes, around) = self.lanes_and_around(compiled);
        lanes.change_known(lane, recipients, around, |lane, _| {
            for (again, recipients) in again {
                lane.put_off(at, again, &recipients);
            }
        });
    }
}
