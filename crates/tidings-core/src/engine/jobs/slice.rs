//! Slices of jobs: some messages of a shard, acted on in one step.

use std::collections::BTreeSet;

use super::job::{JobPlace, JobRest, JobRow};
use crate::engine::intake::state::Intake;
use crate::engine::reach::Reach;
use crate::engine::replies::refused::{Refused, StepError};
use crate::engine::replies::reply::{OperatedMessage, Reply};
use crate::engine::rows::draft::Draft;
use crate::engine::shard::state::Shard;
use crate::engine::state::{Engine, Step};
use crate::journal::stored::{ReadView, Unreadable};
use crate::model::id::BucketNo;
use crate::model::messages::jobs::{JobNo, LeftAsItWas};
use crate::model::messages::{MessageAct, MessageName};
use crate::model::number::{ClosingId, MessageId, RecipientNo};
use crate::model::time::Instant;
use crate::sets::shared::Shared;

/// The time from one slice to the next.
const SLICE_EVERY_MS: i64 = 20;

/// The most messages of a slice of all shards: 1,000 a second.
const SLICE_MESSAGES: usize = 20;

/// The next messages of a job in a bucket.
#[derive(Clone, Debug)]
pub struct JobSlice {
    job: JobNo,
    bucket: BucketNo,
    /// The place at which the slice begins; the next one begins at `to`.
    from: JobPlace,
    to: JobPlace,
    messages: Vec<MessageName>,
}

impl JobSlice {
    /// The messages.
    pub(crate) fn messages(&self) -> impl Iterator<Item = MessageId> {
        self.messages.iter().map(|name| name.id)
    }

    /// Acts on messages of jobs, each once: slices that were taken before change nothing. `reach` has the messages that
    /// the senders keep back: see [`Engine::may_touch`].
    ///
    /// # Errors
    /// [`Unreadable`]; the engine is poisoned then: drop it and open another.
    pub fn act(
        slices: &[Self],
        engine: &mut Engine,
        view: &dyn ReadView,
        reach: &Reach,
        now: Instant,
    ) -> Result<Step, Unreadable> {
        engine.in_step(Draft::new(view).with(reach), now, |run| {
            let Engine { intake, shards, of_shards, .. } = &mut *run.engine;
            for slice in slices {
                let shard = shards.with(slice.bucket);
                slice.act_on(shard, intake, &mut run.draft)?;
                shard.jobs.next_slice = Some(shard.now.plus_ms(slice_every_ms(*of_shards)));
            }
            Ok(())
        })
    }

    /// Acts on its messages, unless that was done before.
    fn act_on(
        &self,
        shard: &mut Shard,
        intake: &Intake,
        draft: &mut Draft<'_>,
    ) -> Result<(), Unreadable> {
        let Self { job: no, bucket, from, to, .. } = *self;
        let (Some(job), Some(rest)) = (intake.jobs.get(&no), shard.jobs.rest.get(&(no, bucket)))
        else {
            return Ok(());
        };
        if rest.place != from || job.stopped.is_some() {
            return Ok(());
        }
        let (chunks, at) = (rest.chunks, shard.now);
        let mut counts = shard.jobs.counts.get(&no).map(|known| (**known).clone());
        let counts = counts.get_or_insert_default();
        let going = shard.going.len();
        for message in &self.messages {
            let answer = match shard.operate(intake, draft, *message, job.act) {
                Ok(reply) => Ok(reply),
                Err(StepError::Refused(refused)) => Err(refused),
                Err(StepError::Unreadable(fault)) => return Err(fault),
            };
            match left(&answer) {
                None => counts.done += 1,
                Some(why) => *counts.left.entry(why).or_default() += 1,
            }
        }
        shard.going[going..].iter_mut().for_each(|going| going.by_job = true);
        counts.began.get_or_insert(at);
        counts.last = Some(at);
        job.put_place(draft, no, bucket, to);
        job.put_counts(draft, no, shard.no, counts);
        shard.days_to_compact.insert(job.at.day());
        shard.jobs.counts.insert(no, Shared::new(std::mem::take(counts)));
        if to.chunk < chunks {
            shard.jobs.rest.insert((no, bucket), JobRest { place: to, chunks });
        } else {
            shard.jobs.rest.remove(&(no, bucket));
        }
        if shard.jobs.rest_of(no).next().is_none() {
            shard.jobs.close(no);
        }
        Ok(())
    }
}

/// The jobs of an engine with messages that its shards have not come to.
#[derive(Clone, Copy)]
pub struct OpenJobs<'e>(&'e Engine);

impl<'e> OpenJobs<'e> {
    /// Those of an engine.
    #[must_use]
    pub fn of(engine: &'e Engine) -> Self {
        Self(engine)
    }

    pub(super) fn engine(self) -> &'e Engine {
        self.0
    }

    /// The instant at which messages of jobs are due.
    #[must_use]
    pub fn next_slice(self) -> Option<Instant> {
        let Self(engine) = self;
        let jobs = engine
            .shards
            .iter()
            .flat_map(|shard| shard.jobs.counts.keys().map(|no| (shard.jobs.next_slice, no)));
        let begins = jobs.filter_map(|(next, no)| {
            let job = engine.intake.jobs.get(no)?;
            Some(next.map_or(job.begins, |next| next.max(job.begins)))
        });
        begins.min()
    }

    /// The messages of jobs that are due now: a slice that a step does in a moment. `sends` = also of jobs that have
    /// messages sent.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub fn slices(
        self,
        view: &dyn ReadView,
        now: Instant,
        sends: bool,
    ) -> Result<Vec<JobSlice>, Unreadable> {
        let Self(engine) = self;
        let most = (SLICE_MESSAGES / usize::from(engine.of_shards.max(1))).max(1);
        let mut slices = Vec::new();
        for shard in engine.shards.iter() {
            if shard.jobs.next_slice.is_some_and(|next| next > now) {
                continue;
            }
            let open = shard.jobs.counts.keys();
            let jobs: Vec<(JobNo, &JobRow)> = open
                .filter_map(|no| Some((*no, &**engine.intake.jobs.get(no)?)))
                .filter(|(_, job)| job.begins <= now)
                .filter(|(_, job)| sends || job.act == MessageAct::Cancel)
                .collect();
            let of_each = (most / jobs.len().max(1)).max(1);
            for job in jobs.into_iter().take(most) {
                Self::add(shard, view, job, of_each, &mut slices)?;
            }
        }
        Ok(slices)
    }

    /// Adds the next messages of a job in a shard.
    fn add(
        shard: &Shard,
        view: &dyn ReadView,
        (no, job): (JobNo, &JobRow),
        mut most: usize,
        slices: &mut Vec<JobSlice>,
    ) -> Result<(), Unreadable> {
        for (bucket, JobRest { place: from, .. }) in shard.jobs.rest_of(no) {
            if most == 0 {
                return Ok(());
            }
            let mut all = Vec::new();
            for of in job.chunk(view, no, bucket, from.chunk)? {
                let closing = ClosingId { bucket, seq: of.closing };
                let name = |number| MessageName {
                    due: of.due.day(),
                    id: closing.message(RecipientNo(number)),
                };
                all.extend(of.recipients.iter().map(name));
            }
            let rest = all.get(from.message as usize..).unwrap_or_default();
            let messages = rest[..rest.len().min(most)].to_vec();
            most -= messages.len();
            let to = if messages.len() == rest.len() {
                JobPlace { chunk: from.chunk + 1, message: 0 }
            } else {
                let taken = u32::try_from(messages.len()).unwrap_or(u32::MAX);
                JobPlace { message: from.message + taken, ..from }
            };
            slices.push(JobSlice { job: no, bucket, from, to, messages });
        }
        Ok(())
    }
}

/// The time from one slice to the next: longer where there are more shards than a slice has messages.
fn slice_every_ms(shards: u16) -> i64 {
    let times = usize::from(shards).div_ceil(SLICE_MESSAGES).max(1);
    SLICE_EVERY_MS * i64::try_from(times).unwrap_or(1)
}

/// The reason why the answer to a change of a message left it as it was.
fn left(answer: &Result<Reply, Refused>) -> Option<LeftAsItWas> {
    match answer {
        Ok(Reply::Operated(OperatedMessage::TooLate)) => Some(LeftAsItWas::TooLate),
        Ok(Reply::Operated(OperatedMessage::NothingLeft)) => Some(LeftAsItWas::NothingLeft),
        Ok(_) => None,
        Err(Refused::UnknownMessage(_)) => Some(LeftAsItWas::MessageNotFound),
        Err(_) => Some(LeftAsItWas::MessageState),
    }
}

/// The messages that slices may change or end.
pub(crate) fn touched_by(slices: &[JobSlice]) -> BTreeSet<MessageId> {
    slices.iter().flat_map(JobSlice::messages).collect()
}
