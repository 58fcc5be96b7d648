//! Maintenance of an engine between steps.

use std::collections::BTreeSet;

use super::shard::state::Shard;
use super::state::Engine;
use super::workers::Workers;
use crate::journal::stored::{ReadView, Unreadable};
use crate::journal::table::Write;
use crate::model::id::BucketNo;
use crate::model::time::Day;

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
        for _ in 0..self.shards.len() {
            let busy = self.shards.busy;
            if let Some(writes) = self.shards[busy].chore(view)? {
                return Ok(Some(writes));
            }
            self.shards.busy = (self.shards.busy + 1) % self.shards.len();
        }
        Ok(None)
    }

    /// Returns true if [`Engine::chore`] may have work.
    #[must_use]
    pub fn has_chores(&self) -> bool {
        self.shards.iter().any(Shard::has_chores)
    }

    /// The bucket of the last writes from [`Engine::chore`].
    #[must_use]
    pub fn chores_of(&self) -> BucketNo {
        self.shards[self.shards.busy].chores_of()
    }

    /// Stops the chores of a bucket whose writes the store refused.
    pub fn disable_maintenance(&mut self, bucket: BucketNo) {
        self.shards.with(bucket).disable_maintenance(bucket);
    }

    /// Returns true if chores are so far behind that they should get more of a step's time.
    #[must_use]
    pub fn is_behind(&self) -> bool {
        self.shards.iter().any(Shard::is_behind)
    }

    /// The days that came to rest since the last call: they are over, and only outcomes of their messages
    /// will still be written to them.
    pub fn take_rested(&mut self) -> Vec<Day> {
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
