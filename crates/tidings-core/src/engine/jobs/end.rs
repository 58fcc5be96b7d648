//! The ends of jobs. The node with the intake notes them, with a line of the log of changes, once all shards, wherever they
//! are, have come to their messages.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use super::job::JobCounts;
use super::rows::counts_of_day;
use super::slice::OpenJobs;
use crate::engine::change_log::note::NotedChange;
use crate::engine::intake::state::Intake;
use crate::engine::rows::draft::Draft;
use crate::engine::state::{Engine, Step};
use crate::journal::stored::{ReadView, Unreadable};
use crate::model::changes::{ChangeSubject, OF_INTAKE, Origin, SubjectKind};
use crate::model::messages::jobs::JobNo;
use crate::model::time::{Day, Instant};

/// The action of the line that tells the end of a job.
const ENDED: &str = "job.ended";

/// Jobs that are at their end, of which nothing notes it yet.
#[derive(Clone, Debug, Default)]
pub struct JobEnds(Vec<(JobNo, JobCounts)>);

impl OpenJobs<'_> {
    /// The instant from which on a job may be at its end; `None` = none is without a note of that.
    #[must_use]
    pub fn first_unended(self) -> Option<Instant> {
        let engine = self.engine();
        let unended = engine.intake.unended_jobs.iter().filter(|_| engine.holds_intake);
        unended.filter_map(|no| Some(engine.intake.jobs.get(no)?.begins)).min()
    }

    /// The jobs that are at their end.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub fn at_end(self, view: &dyn ReadView) -> Result<JobEnds, Unreadable> {
        let intake = &self.engine().intake;
        let mut counted: BTreeMap<Day, BTreeMap<JobNo, JobCounts>> = BTreeMap::new();
        let mut ends = JobEnds::default();
        for no in &intake.unended_jobs {
            let Some(job) = intake.jobs.get(no) else {
                continue;
            };
            let of_day = match counted.entry(job.at.day()) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(unknown) => unknown.insert(counts_of_day(view, job.at.day())?),
            };
            let counts = of_day.remove(no).unwrap_or_default();
            if counts.acted_on() >= job.of {
                ends.0.push((*no, counts));
            }
        }
        Ok(ends)
    }
}

impl JobEnds {
    /// Returns true if there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Notes them.
    ///
    /// # Errors
    /// [`Unreadable`]; the engine is poisoned then: drop it and open another.
    pub fn note(
        &self,
        engine: &mut Engine,
        view: &dyn ReadView,
        now: Instant,
    ) -> Result<Step, Unreadable> {
        engine.in_step(Draft::new(view), now, |run| {
            for (no, counts) in &self.0 {
                let at = counts.last.unwrap_or(now);
                let Intake { jobs, unended_jobs, .. } = &mut run.engine.intake;
                let Some(job) = jobs.get_mut(no).filter(|_| unended_jobs.remove(no)) else {
                    continue;
                };
                job.end(&mut run.draft, *no, at);
                let Some(origin) = job.origin.clone() else {
                    continue;
                };
                let origin = Origin { action: Some(ENDED.into()), request: None, ..origin };
                let subject = ChangeSubject::new(SubjectKind::Job, no.to_string());
                let change = NotedChange::shown("done", 0_u64, counts.done);
                run.log(&Arc::new(origin), OF_INTAKE, subject, None, change)?;
            }
            Ok(())
        })
    }
}
