//! The deletion of days: what concerns only them goes with them.

use crate::bucket::Bucket;
use crate::model::channel::ChannelNo;
use crate::model::number::Seq;
use crate::model::time::{Day, Instant};
use crate::rules::compiled::CompiledRules;
use crate::sets::shared::Tree;

impl Bucket {
    /// Forgets a day. The caller deletes its data in the store.
    pub(crate) fn forget(&mut self, day: Day) {
        self.index.forget(day);
        self.forgotten_to = self.index.first_seq(self.next_seq).before();
        self.hidden.forget_to(self.forgotten_to);
        if self.chore.as_ref().is_some_and(|chore| chore.is_about(day)) {
            *self.chore = None;
        }
    }

    /// Drops the state that concerns only days before `before`, which are deleted.
    pub(crate) fn forget_before(&mut self, before: Day) {
        let (marks_from, first) = (self.marks_from(before), self.index.first_seq(self.next_seq));
        let forgotten_to = self.forgotten_to;
        let stale = &mut self.dirty.stale_marks;
        let old: Vec<u32> = self
            .marks
            .iter()
            .filter(|(_, marks)| marks.has_before(marks_from, before))
            .map(|(number, _)| *number)
            .collect();
        for number in old {
            let marks = self.marks.get_mut(&number);
            let left = marks.is_some_and(|marks| {
                marks.forget_before((marks_from, before), forgotten_to, |mark| {
                    stale.insert((number, mark));
                })
            });
            if !left {
                self.marks.remove(&number);
            }
        }
        self.ended.forget_before(first);
        self.lanes.forget_before(first);
        self.dirty.ended.retain(|(seq, _)| *seq >= first);
    }

    /// Marks that were made before this instant concern nothing any more when the days before `before`
    /// are forgotten. Those of the last of these days may cover what is moved on from it, and what was
    /// moved before kept its `t`.
    fn marks_from(&self, before: Day) -> Instant {
        let last = Day(before.0.saturating_sub(1)).start();
        self.index.earliest().map_or(last, |held| held.min(last))
    }

    /// Drops entries that ended in lanes that no longer need them. Looks only when as many came as were
    /// left the last time, so that it costs each entry the same.
    pub(crate) fn forget_ended(&mut self, compiled: &CompiledRules) {
        if !self.ended.are_many() {
            return;
        }
        let unmade = self.closings.values().filter(|open| !open.unmade.is_empty());
        let unmade: Vec<(ChannelNo, &Tree<u32, Seq>)> = unmade
            .map(|open| (compiled.names.lane(open.lane.lane).channel, &open.unmade))
            .collect();
        let is_needed = |seq: Seq, channel: ChannelNo, number: u32| {
            let of_lanes = self.lanes.open_of(number);
            let of_lanes =
                of_lanes.filter(|(at, _)| compiled.names.lane(at.lane).channel == channel);
            let of_closings = unmade.iter().filter(|(of, _)| *of == channel);
            of_lanes
                .filter_map(|(_, lane)| lane.since(number))
                .chain(of_closings.filter_map(|(_, unmade)| unmade.get(&number).copied()))
                .any(|since| since <= seq)
        };
        let stale = &mut self.dirty.ended;
        self.ended.retain(is_needed, |seq, channel| {
            stale.insert((seq, channel));
        });
    }
}
