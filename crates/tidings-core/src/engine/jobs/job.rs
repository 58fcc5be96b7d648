//! Jobs as they are stored, and what memory holds of them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::changes::Origin;
use crate::model::id::BucketNo;
use crate::model::messages::MessageAct;
use crate::model::messages::jobs::{JobNo, LeftAsItWas};
use crate::model::time::{Day, Instant};
use crate::sets::shared::{Shared, Tree};

/// A job, as the intake keeps it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct JobRow {
    pub(crate) act: MessageAct,
    pub(crate) filter: String,
    pub(crate) origin: Option<Origin>,
    pub(crate) at: Instant,
    pub(crate) begins: Instant,
    /// Number of messages.
    pub(crate) of: u64,
    pub(crate) stopped: Option<Instant>,
    /// The instant of its end, once that is noted.
    pub(crate) ended: Option<Instant>,
}

/// The number of rows of a job's messages, by bucket.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct JobBuckets(pub(crate) BTreeMap<BucketNo, u32>);

/// A job that was made.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct JobWithBuckets {
    pub(crate) job: JobRow,
    pub(crate) buckets: JobBuckets,
}

/// The place of a message of a job in its bucket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct JobPlace {
    /// The row.
    pub(crate) chunk: u32,
    /// The place in that row.
    pub(crate) message: u32,
}

/// The part of a job that a bucket has not come to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JobRest {
    pub(crate) place: JobPlace,
    /// Number of rows.
    pub(crate) chunks: u32,
}

/// The results of a job: its messages by what became of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct JobCounts {
    /// Number of messages that were changed.
    pub(crate) done: u64,
    pub(crate) left: BTreeMap<LeftAsItWas, u64>,
    /// The instants of the first and the last slice.
    pub(crate) began: Option<Instant>,
    pub(crate) last: Option<Instant>,
}

/// The jobs of a shard that are not at their end.
#[derive(Clone, Debug, Default)]
pub(crate) struct ShardJobs {
    /// The messages that are left, by job and bucket.
    pub(super) rest: Tree<(JobNo, BucketNo), JobRest>,
    /// The counts of the shard for each of these jobs.
    pub(super) counts: BTreeMap<JobNo, Shared<JobCounts>>,
    /// The instant of the next slice.
    pub(super) next_slice: Option<Instant>,
}

impl JobCounts {
    /// Number of messages that were acted on, or left as they were.
    pub(crate) fn acted_on(&self) -> u64 {
        self.done + self.left.values().sum::<u64>()
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.done += other.done;
        for (why, count) in &other.left {
            *self.left.entry(*why).or_default() += count;
        }
        self.began = [self.began, other.began].into_iter().flatten().min();
        self.last = self.last.max(other.last);
    }
}

impl ShardJobs {
    /// The buckets that have something left of a job.
    pub(super) fn rest_of(&self, no: JobNo) -> impl Iterator<Item = (BucketNo, JobRest)> {
        let rest = self.rest.from(&(no, BucketNo(0)));
        let rest = rest.take_while(move |((of, _), _)| *of == no);
        rest.map(|((_, bucket), rest)| (*bucket, *rest))
    }

    /// Forgets what is left of a job.
    pub(crate) fn close(&mut self, no: JobNo) {
        self.counts.remove(&no);
        self.rest.retain(|(of, _), _| *of != no);
    }

    /// Forgets the jobs of deleted days.
    pub(crate) fn forget(&mut self, before: Day) {
        // The number of a job is not before the instant at which it was made.
        let end = JobNo(before.start().0.max(0).cast_unsigned());
        let deleted: Vec<JobNo> = self.counts.range(..end).map(|(no, _)| *no).collect();
        deleted.into_iter().for_each(|no| self.close(no));
    }
}
