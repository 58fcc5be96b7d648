//! Jobs that are made and stopped.

use serde_json::Value;

use super::job::JobRow;
use crate::engine::acts::act::Act;
use crate::engine::change_log::note::NotedChange;
use crate::engine::intake::state::Intake;
use crate::engine::replies::refused::{Refused, StepError};
use crate::engine::rows::draft::Draft;
use crate::model::changes::ChangedField;
use crate::model::messages::jobs::{JobNo, NewJob};

/// Makes a job.
pub(crate) fn begin(intake: &mut Intake, draft: &mut Draft<'_>, new: &NewJob) -> Act {
    let (no, job) = JobRow::make(new, intake, draft);
    let of = job.job.of;
    draft.noted.note(|| {
        let verb = ChangedField::shown("verb", Value::Null, new.act.word().into());
        let of = ChangedField::shown("of", Value::Null, of.into());
        NotedChange::of(verb.into_iter().chain(of))
    });
    Act::Job { no, job: Box::new(job) }
}

/// Stops a job; `None` = it had ended, and stays as it is.
///
/// # Errors
/// [`StepError`] where there is none of this number, or the store can't be read.
pub(crate) fn stop(
    intake: &mut Intake,
    draft: &mut Draft<'_>,
    no: JobNo,
) -> Result<Option<Act>, StepError> {
    let at = intake.now;
    let job = intake.jobs.get_mut(&no).ok_or(Refused::UnknownJob(no))?;
    if !job.stop(draft, no, at)? {
        return Ok(None);
    }
    intake.unended_jobs.remove(&no);
    draft.noted.note(|| NotedChange::with_result("stopped"));
    Ok(Some(Act::StopJob { no, at }))
}
