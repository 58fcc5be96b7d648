//! The deletion of days: what concerns only them goes with them.

use crate::bucket::Bucket;
use crate::model::time::{Day, Instant};

impl Bucket {
    /// Forgets a day. The caller deletes its data in the store.
    pub(crate) fn forget(&mut self, day: Day) {
        self.index.forget(day);
        if self.chore.as_ref().is_some_and(|chore| chore.is_about(day)) {
            *self.chore = None;
        }
    }

    /// Drops the state that concerns only days before `before`, which are deleted.
    pub(crate) fn forget_before(&mut self, before: Day) {
        let (marks_from, first) = (self.marks_from(before), self.index.first_seq(self.next_seq));
        let stale = &mut self.dirty.stale_marks;
        let old = self
            .marks
            .iter()
            .filter(|(_, marks)| marks.has_before(marks_from));
        let old: Vec<u32> = old.map(|(number, _)| *number).collect();
        for number in old {
            let marks = self.marks.get_mut(&number);
            let left = marks.is_some_and(|marks| {
                marks.forget_before(marks_from, |mark| {
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
}
