//! Maintenance of an engine between steps.

use std::collections::BTreeSet;

use super::address_index::hash::HashKey;
use super::figures::chore::FiguresChoreBounds;
use super::intake::list_old_arrivals::OldArrivalsSlice;
use super::intake::state::Intake;
use super::message::index_old_messages::OldMessagesSlice;
use super::shard::state::Shard;
use super::state::Engine;
use super::workers::Workers;
use crate::journal::stored::{ReadView, Unreadable};
use crate::journal::table::Write;
use crate::model::id::BucketNo;
use crate::model::time::Day;

/// Number of days of an earlier version with events or messages that lists do not show yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DaysToList(pub usize);

impl DaysToList {
    /// Those of an engine.
    #[must_use]
    pub fn of(engine: &Engine) -> Self {
        let of_shards = engine.shards.iter().map(|shard| shard.old_messages.days()).max();
        Self(engine.intake.old_arrivals.days().max(of_shards.unwrap_or_default()))
    }
}

impl Engine {
    /// Runs the jobs of shards on these threads from now on, if they are large enough.
    pub fn lend(&mut self, workers: Box<dyn Workers>) {
        self.shards.workers = workers;
    }

    /// Runs one bounded slice of maintenance: checkpoint, index build or merge. Returns its writes, to be
    /// committed before anything else; `None` = nothing is left to do.
    ///
    /// # Errors
    /// [`Unreadable`]; the engine is poisoned then: drop it and open another.
    pub fn chore(&mut self, view: &dyn ReadView) -> Result<Option<Vec<Write>>, Unreadable> {
        if self.holds_intake {
            let Intake { now, forgotten_before, .. } = self.intake;
            let as_of = FiguresChoreBounds::at(now, forgotten_before, self.rules());
            if let Some(writes) = self.intake.figures.counter.chore(view, as_of)? {
                return Ok(Some(writes));
            }
            if let Some(writes) = OldArrivalsSlice::run(&mut self.intake, view)? {
                return Ok(Some(writes));
            }
            let Intake { lines, compiled, now, .. } = &mut self.intake;
            let rules = compiled.current().map(|version| &version.rules);
            if let Some(writes) = lines.chore(view, *now, rules)? {
                return Ok(Some(writes));
            }
        }
        for _ in 0..self.shards.len() {
            let busy = self.shards.busy;
            if let Some(mut writes) = self.shards[busy].chore(view)? {
                writes.extend(self.intake.unstored_key.take().map(HashKey::row));
                return Ok(Some(writes));
            }
            if let Some(writes) = OldMessagesSlice::run(&mut self.shards[busy], view)? {
                return Ok(Some(writes));
            }
            self.shards.busy = (self.shards.busy + 1) % self.shards.len();
        }
        Ok(None)
    }

    /// Returns true if [`Engine::chore`] may have work.
    #[must_use]
    pub fn has_chores(&self) -> bool {
        let Intake { now, forgotten_before, figures, old_arrivals, lines, .. } = &self.intake;
        let as_of = FiguresChoreBounds::at(*now, *forgotten_before, self.rules());
        let of_intake = figures.counter.has_chore(as_of)
            || old_arrivals.days() > 0
            || lines.has_chore(*now, self.rules());
        let has_chores = |shard: &Shard| shard.old_messages.days() > 0 || shard.has_chores();
        self.holds_intake && of_intake || self.shards.iter().any(has_chores)
    }

    /// The bucket of the last writes from [`Engine::chore`].
    #[must_use]
    pub fn chores_of(&self) -> BucketNo {
        let shard = &self.shards[self.shards.busy];
        shard.maintenance.bucket(&shard.buckets)
    }

    /// Stops the chores of a bucket whose writes the store refused.
    pub fn disable_maintenance(&mut self, bucket: BucketNo) {
        self.shards.with(bucket).maintenance.disable(bucket);
    }

    /// Returns true if chores are so far behind that they should get more of a step's time.
    #[must_use]
    pub fn is_behind(&self) -> bool {
        self.shards.iter().any(|shard| shard.maintenance.is_behind(&shard.buckets))
    }

    /// The days that came to rest since the last call: they are over, and only outcomes of their messages
    /// will still be written to them.
    pub fn take_days_to_compact(&mut self) -> Vec<Day> {
        let today = self.intake.now.day();
        let over: BTreeSet<Day> = self
            .shards
            .iter()
            .flat_map(|shard| shard.days_to_compact.range(..today))
            .copied()
            .collect();
        let is_at_rest = |day: &Day| self.shards.buckets().all(|bucket| bucket.is_at_rest(*day));
        let rested: Vec<Day> = over.into_iter().filter(is_at_rest).collect();
        for shard in self.shards.iter_mut() {
            shard.days_to_compact.retain(|day| !rested.contains(day));
        }
        rested
    }
}
