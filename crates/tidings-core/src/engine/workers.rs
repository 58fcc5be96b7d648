//! Parts beside each other: what a step does in every part is one job a part, for threads that the caller lends.
//!
//! Parts share nothing that they change. Each writes into a draft of its own on top of the step's, and what they
//! answer and write is put together in their order, so the result is the same whoever does the jobs, and when.

use std::fmt::Debug;

use super::intake::objects;
use super::intake::state::Intake;
use super::part::state::Part;
use super::replica::act::Act;
use super::rows::draft::Draft;
use super::state::Engine;
use crate::journal::stored::Unreadable;
use crate::journal::table::Partition;
use crate::model::command::Command;

/// A job of a part.
pub type Job<'a> = Box<dyn FnOnce() + Send + 'a>;

/// Threads that do the jobs of parts beside each other.
pub trait Workers: Debug + Send + Sync {
    /// Does all jobs, in any order, and returns once they are done.
    fn run(&self, jobs: Vec<Job<'_>>);
}

/// One after the other, in the caller's thread.
#[derive(Debug)]
pub(super) struct InTurn;

impl Workers for InTurn {
    fn run(&self, jobs: Vec<Job<'_>>) {
        jobs.into_iter().for_each(|job| job());
    }
}

/// Number of commands from which on threads gain more than they cost.
const MANY: usize = 64;

/// The most rows that one read asks the store for.
const READ_AHEAD_MAX: usize = 1024;

impl Engine {
    /// Has the jobs of parts done by these threads from now on, where they are large enough.
    pub fn lend(&mut self, workers: Box<dyn Workers>) {
        self.workers = workers;
    }

    /// Tells whether commands are work enough for threads.
    pub(super) fn are_large(&self, commands: &[Command]) -> bool {
        let is_to_all =
            |command: &Command| matches!(command, Command::Publish(event) if event.to.everyone);
        self.parts.len() > 1 && (commands.len() >= MANY || commands.iter().any(is_to_all))
    }

    /// Tells whether acts are work enough for threads.
    pub(super) fn are_many_acts<'a>(&self, acts: impl ExactSizeIterator<Item = &'a Act>) -> bool {
        let is_to_all = |act: &Act| match act {
            Act::Publish { row, .. } | Act::Enter { row, .. } => row.event.to.everyone,
            Act::Rules { .. } => true,
            _ => false,
        };
        let are_many = acts.len() >= MANY;
        self.parts.len() > 1 && (are_many || acts.into_iter().any(is_to_all))
    }

    /// Tells whether lanes of several parts are due.
    pub(super) fn are_several_due(&mut self) -> bool {
        let are_several = self.parts.len() > 1;
        let now = self.intake.clock;
        let due = self.parts.iter_mut().filter_map(Part::next_due);
        are_several && due.filter(|due| *due <= now).count() > 1
    }

    /// Reads the objects that commands name, where reading them one by one takes longer.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub(super) fn read_ahead(
        &self,
        draft: &mut Draft<'_>,
        commands: &[Command],
    ) -> Result<(), Unreadable> {
        if !draft.view.is_remote() && !self.are_large(commands) {
            return Ok(());
        }
        let keys = objects::named_by(commands);
        let reads = match draft.view.is_remote() {
            // Each is a round trip.
            true => 1,
            false => self.parts.len(),
        };
        let at_once = keys.len().div_ceil(reads).clamp(1, READ_AHEAD_MAX);
        let chunks: Vec<_> = keys.chunks(at_once).collect();
        let mut read: Vec<_> = chunks.iter().map(|_| None).collect();
        let view = draft.view;
        let jobs = chunks.iter().zip(&mut read).map(|(keys, read)| {
            Box::new(move || *read = Some(view.get_many(Partition::Base, keys))) as Job<'_>
        });
        self.workers.run(jobs.collect());
        for (keys, read) in chunks.into_iter().zip(read.into_iter().flatten()) {
            draft.keep(keys, read?);
        }
        Ok(())
    }

    /// Does something in every part and returns what came of it, in the order of the parts.
    ///
    /// # Errors
    /// [`Unreadable`] of the first part that has one.
    pub(super) fn in_parts<T: Send>(
        &mut self,
        draft: &mut Draft<'_>,
        is_large: bool,
        work: impl Fn(&Intake, &mut Part, &mut Draft<'_>) -> Result<T, Unreadable> + Sync,
    ) -> Result<Vec<T>, Unreadable> {
        if !is_large || self.parts.len() == 1 {
            let parts = self.parts.iter_mut();
            return parts.map(|part| work(&self.intake, part, draft)).collect();
        }
        let parts = self.parts.iter();
        let journals = parts.map(|part| draft.take_journals(&part.buckets.numbers()));
        let journals: Vec<_> = journals.collect();
        let mut done: Vec<_> = self.parts.iter().map(|_| None).collect();
        let (step, intake, work) = (&*draft, &self.intake, &work);
        let jobs = self.parts.iter_mut().zip(journals).zip(&mut done);
        let jobs = jobs.map(|((part, journals), done)| {
            Box::new(move || {
                let mut draft = step.of_part(journals);
                let result = work(intake, part, &mut draft);
                *done = Some(result.map(|result| (result, draft.drafted())));
            }) as Job<'_>
        });
        self.workers.run(jobs.collect());
        let mut results = Vec::with_capacity(done.len());
        for done in done {
            let done = done.ok_or_else(|| Unreadable("a part's job was not done".to_owned()))?;
            let (result, drafted) = done?;
            draft.add(drafted);
            results.push(result);
        }
        Ok(results)
    }
}
