//! A clock that was put back (decision 072).
//!
//! The instants of steps never go back, and days are written in their order. The clock may go back. It decides which
//! lanes are due and which events enter; records still have the instant of their step.

use super::rows::draft::Draft;
use super::state::{Engine, Step};
use crate::engine::step::StepRun;
use crate::journal::stored::{ReadView, Unreadable};
use crate::model::time::{Instant, MINUTE_MS};

impl Engine {
    /// Returns true if a clock that shows this was put back: it is more than a minute behind the newest step. One from before
    /// the first step was not, but was never set since the machine started.
    #[must_use]
    pub fn is_put_back(&self, clock: Instant) -> bool {
        let is_set = self.intake.began.is_some_and(|began| clock >= began);
        is_set && self.now().0.saturating_sub(clock.0) > MINUTE_MS
    }

    /// Takes over a clock that was put back: what it had put later while it was ahead waits from now, as long as it always
    /// would. Does nothing unless [`Engine::is_put_back`]; a smaller step is waited for.
    ///
    /// # Errors
    /// [`Unreadable`]; the engine is poisoned then: drop it and open another.
    pub fn put_back(&mut self, view: &dyn ReadView, clock: Instant) -> Result<Step, Unreadable> {
        if !self.is_put_back(clock) {
            return Ok(Step::default());
        }
        self.in_step(Draft::new(view), clock, |run| {
            // Records the clock of before first: a bucket without a record since then knows an earlier one, though its lanes
            // were asked by the newer, and the fold would put its deadlines back by too little.
            run.write_clocks();
            run.set_clocks(clock);
            run.write_clocks();
            for shard in run.engine.shards.iter_mut() {
                // It is an instant of the clock of before: commands would wait until the new clock has come
                // past it.
                shard.last_output_at = None;
            }
            Ok(())
        })
    }
}

impl StepRun<'_, '_> {
    fn write_clocks(&mut self) {
        for shard in self.engine.shards.iter_mut() {
            for bucket in &*shard.buckets.numbers() {
                shard.write_clock(&mut self.draft, *bucket);
            }
        }
    }
}
