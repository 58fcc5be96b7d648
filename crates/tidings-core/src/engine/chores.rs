//! Maintenance of an engine between steps.

use std::collections::BTreeSet;

use super::part::state::Part;
use super::state::Engine;
use super::workers::Workers;
use crate::journal::stored::{ReadView, Unreadable};
use crate::journal::table::Write;
use crate::model::id::BucketNo;
use crate::model::time::Day;

impl Engine {
    /// Has the jobs of parts done by these threads from now on, where they are large enough.
    pub fn lend(&mut self, workers: Box<dyn Workers>) {
        self.parts.workers = workers;
    }

    /// Runs one bounded slice of maintenance: checkpoint, index build or merge. Returns its writes, to be
    /// committed before anything else; `None` = nothing is left to do.
    ///
    /// # Errors
    /// [`Unreadable`]; the engine is poisoned then: drop it and open another.
    pub fn chore(&mut self, view: &dyn ReadView) -> Result<Option<Vec<Write>>, Unreadable> {
        for _ in 0..self.parts.len() {
            let busy = self.parts.busy;
            if let Some(writes) = self.parts[busy].chore(view)? {
                return Ok(Some(writes));
            }
            self.parts.busy = (self.parts.busy + 1) % self.parts.len();
        }
        Ok(None)
    }

    /// Returns true if [`Engine::chore`] may have work.
    #[must_use]
    pub fn has_chores(&self) -> bool {
        self.parts.iter().any(Part::has_chores)
    }

    /// The bucket of the last writes from [`Engine::chore`].
    #[must_use]
    pub fn chores_of(&self) -> BucketNo {
        self.parts[self.parts.busy].chores_of()
    }

    /// Stops the chores of a bucket whose writes the store refused.
    pub fn disable_maintenance(&mut self, bucket: BucketNo) {
        self.parts.with(bucket).disable_maintenance(bucket);
    }

    /// Returns true if chores are so far behind that they should get more of a step's time.
    #[must_use]
    pub fn is_behind(&self) -> bool {
        self.parts.iter().any(Part::is_behind)
    }

    /// The days that came to rest since the last call: they are over, and only outcomes of their messages
    /// will still be written to them.
    pub fn take_rested(&mut self) -> Vec<Day> {
        let today = self.intake.now.day();
        let over: BTreeSet<Day> = self
            .parts
            .iter()
            .flat_map(|part| part.days_to_compact.range(..today))
            .copied()
            .collect();
        let is_at_rest = |day: &Day| self.parts.buckets().all(|bucket| bucket.is_at_rest(*day));
        let rested: Vec<Day> = over.into_iter().filter(is_at_rest).collect();
        for part in self.parts.iter_mut() {
            part.days_to_compact.retain(|day| !rested.contains(day));
        }
        rested
    }
}
