//! Chores of a bucket between steps. They keep starts and reads short, however much has happened.
//!
//! Checkpoints bound what a start replays, indexing and merging bound what a look reads. All
//! of them take longer than a step may wait, so they go to the store slice by slice, with steps in
//! between. Whatever is written before the last slice is not referred to by anything; the last one
//! makes it count, in one commit. A crash on the way leaves what was before, and rows that the next
//! try writes over.

use super::options::Options;
use super::work::{Checkpoint, Chore};
use crate::bucket::Bucket;
use crate::index::{DayIndex, Slice};
use crate::journal::stored::{ReadView, Unreadable};
use crate::journal::table::Write;
use crate::model::time::Day;
use crate::sets::shared::Shared;

/// The number of notifications at which a tail is indexed at the latest: they are in memory.
const TAIL_NOTIFICATIONS_MAX: u64 = 1 << 20;

impl Bucket {
    /// Returns true if there may be a chore to do, or one is in progress.
    pub(crate) fn has_chore(&self, today: Day, options: &Options) -> bool {
        self.chore.is_some()
            || wants_checkpoint(self, today, options)
            || options.index_after.is_some() && self.rested != Some((self.checkpointed, today))
    }

    /// Does one slice of the next chore; returns no writes if there is nothing to do.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub(crate) fn chore_slice(
        &mut self,
        view: &dyn ReadView,
        today: Day,
        options: &Options,
    ) -> Result<Vec<Write>, Unreadable> {
        let mut slice = Slice::new(options.slice_bytes);
        let chore = match self.chore.take() {
            None if wants_checkpoint(self, today, options) => {
                Some(Chore::Checkpoint(Checkpoint::begin(self)))
            }
            None => begin_rest(self, view, today, options)?,
            chore => chore,
        };
        *self.chore = match chore {
            None => {
                self.rested = Some((self.checkpointed, today));
                self.index.unload_before(today);
                None
            }
            Some(Chore::Checkpoint(work)) => {
                work.write_slice(self, &mut slice).map(Chore::Checkpoint)
            }
            Some(Chore::Build(work)) => self.index.build(work, &mut slice).map(Chore::Build),
            Some(Chore::Merge(work)) => {
                let numbers = self.roster.next_number();
                let rest = self.index.merge(view, work, numbers.0, &mut slice)?;
                rest.map(Chore::Merge)
            }
        };
        if self.chore.is_none() {
            self.index.unload_most(today);
        }
        Ok(slice.writes)
    }

    /// Writes a whole checkpoint at once.
    pub(crate) fn checkpoint_at_once(&mut self) -> Vec<Write> {
        let mut slice = Slice::new(usize::MAX);
        match self.chore.take() {
            Some(Chore::Checkpoint(work)) => {
                let rest = work.write_slice(self, &mut slice);
                debug_assert!(rest.is_none(), "the slice has room for everything");
            }
            chore => *self.chore = chore,
        }
        let work = Checkpoint::begin(self);
        let rest = work.write_slice(self, &mut slice);
        debug_assert!(rest.is_none(), "the slice has room for everything");
        slice.writes
    }

    /// The day of the oldest record that a start replays; `None` = there is none.
    pub(crate) fn replays_from(&self) -> Option<Day> {
        let under_way = match &*self.chore {
            Some(Chore::Checkpoint(work)) => work.since,
            _ => None,
        };
        under_way.into_iter().chain(self.dirty.since).min()
    }

    /// Returns true if all chores of a day that is over are done.
    pub(crate) fn is_at_rest(&self, day: Day) -> bool {
        self.rested.is_some_and(|(_, today)| today > day)
            && self.index.days.get(&day).is_none_or(|day| day.tail.is_empty())
            && !self.chore.as_ref().is_some_and(|chore| chore.is_about(day))
    }
}

fn wants_checkpoint(bucket: &Bucket, today: Day, options: &Options) -> bool {
    let wants_index = |(day, held): (&Day, &Shared<DayIndex>)| {
        // The sets of an indexed arrival are gone, so it can't be replayed: a checkpoint has to cover it first.
        let newest = if *day < today {
            held.tail.last().map(|(_, kept)| kept)
        } else {
            let many = held.tail_notifications >= TAIL_NOTIFICATIONS_MAX;
            held.tail.first().filter(|_| many).map(|(_, kept)| kept)
        };
        newest.is_some_and(|kept| kept.seq >= bucket.checkpointed)
    };
    bucket.dirty.records > options.checkpoint_after
        || options.index_after.is_some() && bucket.index.days.iter().any(wants_index)
}

/// Begins to index or merge what there is to index or merge.
fn begin_rest(
    bucket: &mut Bucket,
    view: &dyn ReadView,
    today: Day,
    options: &Options,
) -> Result<Option<Chore>, Unreadable> {
    let Some(index_after) = options.index_after else {
        return Ok(None);
    };
    // Stays in the tail: what a checkpoint does not cover, since it is replayed, and what inboxes are yet to get,
    // since delivery looks there.
    let below = bucket.checkpointed.min(bucket.delivered_to.next());
    let days: Vec<Day> = bucket.index.days.range(..=today).map(|(day, _)| *day).collect();
    for day in days {
        let least = if day < today { 1 } else { index_after };
        if let Some(building) = bucket.index.begin_build(day, least, below) {
            return Ok(Some(Chore::Build(building)));
        }
        if let Some(merging) = bucket.index.begin_merge(view, day, day < today)? {
            return Ok(Some(Chore::Merge(merging)));
        }
    }
    Ok(None)
}
