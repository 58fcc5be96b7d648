//! The rows of jobs: how they are written and read.

use std::collections::{BTreeMap, BTreeSet};

use super::job::{JobBuckets, JobCounts, JobPlace, JobRest, JobRow, JobWithBuckets, ShardJobs};
use crate::engine::intake::state::Intake;
use crate::engine::rows::draft::Draft;
use crate::engine::shards::Shards;
use crate::journal::stored::{ReadView, Unreadable, decode, each, encode, from_json, to_json};
use crate::journal::table::{Key, Owner, Partition, REST, Table, u64_at};
use crate::model::id::BucketNo;
use crate::model::messages::jobs::{JobNo, MessageSet, MessagesOfClosing, NewJob};
use crate::model::time::{Day, Instant};
use crate::sets::shared::{Shared, Tree};

/// The time from a job's making to its beginning.
const BEGINS_AFTER_MS: i64 = 10_000;

/// The most messages of a row.
pub(super) const CHUNK_MESSAGES: u64 = 512;

/// The parts of the intake's keys.
const HEAD: u8 = 0;
const CHUNK: u8 = 1;
const BUCKETS: u8 = 2;

fn intake_key(part: u8, no: JobNo) -> Key {
    Key::of(Owner::Intake, Table::Jobs).bytes(&[part]).u64(no.0)
}

fn chunk_key(no: JobNo, bucket: BucketNo, chunk: u32) -> Vec<u8> {
    intake_key(CHUNK, no).u16(bucket.0).u32(chunk).done()
}

fn place_key(no: JobNo, bucket: BucketNo) -> Vec<u8> {
    Key::of(Owner::Bucket(bucket), Table::Jobs).u64(no.0).done()
}

fn counts_key(no: JobNo, shard: u16) -> Vec<u8> {
    Key::of(Owner::Shard, Table::Jobs).u16(shard).u64(no.0).done()
}

fn odd() -> Unreadable {
    Unreadable("the key of a job is odd".to_owned())
}

/// The counts of all shards for the jobs of a day, also those of a former division of the buckets.
pub(super) fn counts_of_day(
    view: &dyn ReadView,
    day: Day,
) -> Result<BTreeMap<JobNo, JobCounts>, Unreadable> {
    let mut counts: BTreeMap<JobNo, JobCounts> = BTreeMap::new();
    let prefix = Key::of(Owner::Shard, Table::Jobs).done();
    each(view, Partition::Day(day), &prefix, |key, value| {
        let no = JobNo(u64_at(key, REST + 2).ok_or_else(odd)?);
        counts.entry(no).or_default().add(&decode("the counts of a job", value)?);
        Ok(())
    })?;
    Ok(counts)
}

impl JobRow {
    fn partition(&self) -> Partition {
        Partition::Day(self.at.day())
    }

    /// Reads the number of rows of its messages.
    pub(crate) fn buckets(&self, view: &dyn ReadView, no: JobNo) -> Result<JobBuckets, Unreadable> {
        let bytes = view.get(self.partition(), &intake_key(BUCKETS, no).done())?;
        let bytes = bytes.ok_or_else(|| Unreadable(format!("the buckets of job {no} are missing")));
        decode("the buckets of a job", &bytes?)
    }

    /// Reads a row of the messages of a bucket.
    pub(crate) fn chunk(
        &self,
        view: &dyn ReadView,
        no: JobNo,
        bucket: BucketNo,
        chunk: u32,
    ) -> Result<Vec<MessagesOfClosing>, Unreadable> {
        let bytes = view.get(self.partition(), &chunk_key(no, bucket, chunk))?;
        let bytes = bytes.ok_or_else(|| Unreadable(format!("a row of job {no} is missing")))?;
        decode("messages of a job", &bytes)
    }

    /// Writes how far a bucket has come.
    pub(super) fn put_place(
        &self,
        draft: &mut Draft<'_>,
        no: JobNo,
        bucket: BucketNo,
        place: JobPlace,
    ) {
        draft.put(self.partition(), place_key(no, bucket), encode(&place));
    }

    /// Writes what a shard has counted.
    pub(super) fn put_counts(
        &self,
        draft: &mut Draft<'_>,
        no: JobNo,
        shard: u16,
        counts: &JobCounts,
    ) {
        draft.put(self.partition(), counts_key(no, shard), encode(counts));
    }

    /// Makes a job and returns its number.
    pub(super) fn make(
        new: &NewJob,
        intake: &mut Intake,
        draft: &mut Draft<'_>,
    ) -> (JobNo, JobWithBuckets) {
        let (at, day) = (intake.now, intake.keep_today(draft));
        let last = intake.jobs.last().map_or(0, |(no, _)| no.0);
        let no = JobNo(at.0.max(0).cast_unsigned().max(last + 1));
        let (mut of, mut buckets) = (0, JobBuckets::default());
        let MessageSet(messages) = &new.messages;
        for (bucket, messages) in messages {
            let mut rows = 0;
            for chunk in chunks(messages) {
                of += chunk.iter().map(|of| of.recipients.len()).sum::<u64>();
                draft.put(Partition::Day(day), chunk_key(no, *bucket, rows), encode(&chunk));
                rows += 1;
            }
            buckets.0.insert(*bucket, rows);
        }
        let job = Self {
            act: new.act,
            filter: new.filter.clone(),
            origin: new.origin.clone(),
            at,
            begins: if new.at_once { at } else { at.plus_ms(BEGINS_AFTER_MS) },
            of,
            stopped: None,
            ended: None,
        };
        draft.put(Partition::Day(day), intake_key(BUCKETS, no).done(), encode(&buckets));
        job.put(draft, no);
        intake.jobs.insert(no, Shared::new(job.clone()));
        intake.unended_jobs.insert(no);
        (no, JobWithBuckets { job, buckets })
    }

    /// Stops the job; false = it had ended before.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub(super) fn stop(
        &mut self,
        draft: &mut Draft<'_>,
        no: JobNo,
        at: Instant,
    ) -> Result<bool, Unreadable> {
        let counts = counts_of_day(draft.view, self.at.day())?;
        let acted_on = counts.get(&no).map_or(0, JobCounts::acted_on);
        if self.stopped.is_some() || acted_on >= self.of {
            return Ok(false);
        }
        self.stopped = Some(at);
        self.end(draft, no, at);
        Ok(true)
    }

    /// Notes the end of the job.
    pub(super) fn end(&mut self, draft: &mut Draft<'_>, no: JobNo, at: Instant) {
        self.ended = Some(at);
        self.put(draft, no);
    }

    fn put(&self, draft: &mut Draft<'_>, no: JobNo) {
        draft.put(self.partition(), intake_key(HEAD, no).done(), to_json(self));
    }
}

/// The jobs of a store, and how far its shards have come.
pub(in crate::engine) struct StoredJobs {
    pub(in crate::engine) jobs: Tree<JobNo, Shared<JobRow>>,
    counted: BTreeMap<JobNo, JobCounts>,
}

impl StoredJobs {
    /// Reads the jobs of days, those before `forgotten_before` left out.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub(in crate::engine) fn read(
        view: &dyn ReadView,
        days: &[Day],
        forgotten_before: Option<Day>,
    ) -> Result<Self, Unreadable> {
        let is_kept = |day: &Day| forgotten_before.is_none_or(|before| *day >= before);
        let jobs = read_jobs(view, days.iter().copied().filter(is_kept))?;
        let days: BTreeSet<Day> = jobs.values().map(|job| job.at.day()).collect();
        let mut counted = BTreeMap::new();
        for day in days {
            counted.extend(counts_of_day(view, day)?);
        }
        Ok(Self { jobs, counted })
    }

    /// The jobs of which nothing notes the end yet.
    pub(in crate::engine) fn unended(&self) -> impl Iterator<Item = JobNo> {
        self.jobs.iter().filter(|(_, job)| job.ended.is_none()).map(|(no, _)| *no)
    }

    /// Opens the jobs with messages that shards have not come to.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub(in crate::engine) fn open(
        &self,
        view: &dyn ReadView,
        shards: &mut Shards,
    ) -> Result<(), Unreadable> {
        for (no, job) in &self.jobs {
            let acted_on = self.counted.get(no).map_or(0, JobCounts::acted_on);
            if job.stopped.is_none() && acted_on < job.of {
                let buckets = job.buckets(view, *no)?;
                for shard in shards.iter_mut() {
                    let held = shard.buckets.numbers();
                    shard.jobs.open(view, (*no, job), &buckets, (shard.no, &held))?;
                }
            }
        }
        Ok(())
    }
}

/// Reads the jobs of the days that are kept.
fn read_jobs(
    view: &dyn ReadView,
    days: impl Iterator<Item = Day>,
) -> Result<Tree<JobNo, Shared<JobRow>>, Unreadable> {
    let prefix = Key::of(Owner::Intake, Table::Jobs).bytes(&[HEAD]).done();
    let mut jobs = Tree::new();
    for day in days {
        each(view, Partition::Day(day), &prefix, |key, value| {
            let no = JobNo(u64_at(key, REST + 1).ok_or_else(odd)?);
            jobs.insert(no, Shared::new(from_json("a job", value)?));
            Ok(())
        })?;
    }
    Ok(jobs)
}

/// Messages in rows, none of which has more than [`CHUNK_MESSAGES`].
fn chunks(messages: &[MessagesOfClosing]) -> Vec<Vec<MessagesOfClosing>> {
    let (mut chunks, mut chunk, mut room) = (Vec::new(), Vec::new(), CHUNK_MESSAGES);
    for of in messages {
        let numbers: Vec<u32> = of.recipients.iter().collect();
        let mut rest = &numbers[..];
        while !rest.is_empty() {
            let (part, later) = rest.split_at(rest.len().min(usize::try_from(room).unwrap_or(1)));
            let recipients = part.iter().copied().collect();
            chunk.push(MessagesOfClosing { recipients, ..of.clone() });
            room -= part.len() as u64;
            if room == 0 {
                chunks.push(std::mem::take(&mut chunk));
                room = CHUNK_MESSAGES;
            }
            rest = later;
        }
    }
    if !chunk.is_empty() {
        chunks.push(chunk);
    }
    chunks
}

impl ShardJobs {
    /// Takes in what is left of a job in the shard's buckets, by what was written.
    pub(crate) fn open(
        &mut self,
        view: &dyn ReadView,
        (no, job): (JobNo, &JobRow),
        buckets: &JobBuckets,
        (shard, held): (u16, &[BucketNo]),
    ) -> Result<(), Unreadable> {
        for bucket in held {
            let Some(&chunks) = buckets.0.get(bucket) else {
                continue;
            };
            let row = view.get(job.partition(), &place_key(no, *bucket))?;
            let place = row.map(|row| decode("the place of a job", &row)).transpose()?;
            let rest = JobRest { place: place.unwrap_or_default(), chunks };
            if rest.place.chunk < chunks {
                self.rest.insert((no, *bucket), rest);
            }
        }
        if self.rest_of(no).next().is_some() {
            let row = view.get(job.partition(), &counts_key(no, shard))?;
            let counts = row.map(|row| decode("the counts of a job", &row)).transpose()?;
            self.counts.insert(no, Shared::new(counts.unwrap_or_default()));
        }
        Ok(())
    }
}
