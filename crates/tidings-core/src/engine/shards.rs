//! The shards of an engine: each holds a range of the buckets, and their answers add up.
//!
//! The work of a step is one job for each shard, on threads that the caller lends.

use std::collections::BTreeSet;
use std::ops::{Deref, DerefMut};

use super::acts::act::Act;
use super::intake::objects;
use super::intake::state::Intake;
use super::rows::draft::Draft;
use super::rows::ledger::{Account, LedgerRow};
use super::shard::state::{Shard, range_of};
use super::workers::{SequentialWorkers, ShardJob, Workers};
use crate::bucket::Bucket;
use crate::journal::stored::Unreadable;
use crate::journal::table::Partition;
use crate::model::command::Command;
use crate::model::id::{BucketNo, Id};
use crate::model::time::{Day, Instant};

/// Number of commands from which on threads gain more than they cost.
const MANY: usize = 64;

/// The most rows that one read asks the store for.
const READ_AHEAD_MAX: usize = 1024;

/// The shards of an engine; at least one.
#[derive(Debug)]
pub(super) struct Shards {
    all: Vec<Shard>,
    /// The index of the shard whose chores are done now.
    pub(super) busy: usize,
    pub(super) workers: Box<dyn Workers>,
}

impl Deref for Shards {
    type Target = [Shard];

    fn deref(&self) -> &[Shard] {
        &self.all
    }
}

impl DerefMut for Shards {
    fn deref_mut(&mut self) -> &mut [Shard] {
        &mut self.all
    }
}

impl Shards {
    /// Shards whose jobs are done one after the other.
    pub(super) fn new(all: Vec<Shard>) -> Self {
        Self { all, busy: 0, workers: Box::new(SequentialWorkers) }
    }

    /// The index of a bucket's shard.
    pub(super) fn index_of(&self, bucket: BucketNo) -> usize {
        let has = |shard: &Shard| shard.buckets.get(bucket).is_some();
        self.all.iter().position(has).unwrap_or(0)
    }

    pub(super) fn with(&mut self, bucket: BucketNo) -> &mut Shard {
        let no = self.index_of(bucket);
        &mut self.all[no]
    }

    pub(super) fn bucket(&self, no: BucketNo) -> &Bucket {
        &self.all[self.index_of(no)].buckets[no]
    }

    pub(super) fn held_bucket(&self, no: BucketNo) -> Option<&Bucket> {
        self.all.iter().find_map(|shard| shard.buckets.get(no))
    }

    /// All buckets, by number.
    pub(super) fn buckets(&self) -> impl Iterator<Item = &Bucket> {
        self.all.iter().flat_map(|shard| shard.buckets.iter())
    }

    /// All buckets, each with its shard.
    pub(super) fn with_buckets(&self) -> impl Iterator<Item = (&Shard, &Bucket)> {
        self.all.iter().flat_map(|shard| shard.buckets.iter().map(move |bucket| (shard, bucket)))
    }

    /// The days that may hold a record of a bucket.
    pub(super) fn days_of(&self, bucket: BucketNo) -> &BTreeSet<Day> {
        &self.all[self.index_of(bucket)].journal_days
    }

    /// The days that may hold a record of some bucket.
    pub(super) fn journal_days(&self) -> BTreeSet<Day> {
        self.all.iter().flat_map(|shard| &shard.journal_days).copied().collect()
    }

    pub(super) fn ledger_rows(&self) -> impl Iterator<Item = (&Account, &LedgerRow)> {
        self.all
            .iter()
            .flat_map(|shard| shard.ledger.rows())
            .map(|(account, row)| (account, &**row))
    }

    /// Number of entries that events got when they were applied.
    pub(super) fn entries_created(&self) -> u64 {
        self.all.iter().map(|shard| shard.entries_created).sum()
    }

    /// Returns true if commands are work enough for threads.
    pub(super) fn are_large(&self, commands: &[Command]) -> bool {
        let is_to_all = |command: &Command| match command {
            Command::Publish(event) => event.to.everyone && event.tenant.is_none(),
            _ => false,
        };
        self.all.len() > 1 && (commands.len() >= MANY || commands.iter().any(is_to_all))
    }

    /// Returns true if acts are work enough for threads.
    pub(super) fn are_many_acts<'a>(&self, acts: impl ExactSizeIterator<Item = &'a Act>) -> bool {
        let is_to_all = |act: &Act| match act {
            Act::Publish { row, .. } | Act::Enter { row, .. } => {
                row.event.to.everyone && row.tenant.is_none()
            }
            Act::Rules { .. } => true,
            _ => false,
        };
        let are_many = acts.len() >= MANY;
        self.all.len() > 1 && (are_many || acts.into_iter().any(is_to_all))
    }

    /// Returns true if lanes of several shards are due.
    pub(super) fn are_several_due(&mut self, now: Instant) -> bool {
        let are_several = self.all.len() > 1;
        let due = self.all.iter_mut().filter_map(Shard::next_due);
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
        let reads = if draft.view.is_remote() {
            // Each is a round trip.
            1
        } else {
            self.all.len()
        };
        let at_once = keys.len().div_ceil(reads).clamp(1, READ_AHEAD_MAX);
        let chunks: Vec<_> = keys.chunks(at_once).collect();
        let mut read: Vec<_> = chunks.iter().map(|_| None).collect();
        let view = draft.view;
        let jobs = chunks.iter().zip(&mut read).map(|(keys, read)| {
            Box::new(move || *read = Some(view.get_many(Partition::Base, keys))) as ShardJob<'_>
        });
        self.workers.run(jobs.collect());
        for (keys, read) in chunks.into_iter().zip(read.into_iter().flatten()) {
            draft.keep(keys, read?);
        }
        Ok(())
    }

    /// Runs a job in every shard and returns the results, in the order of the shards.
    ///
    /// # Errors
    /// [`Unreadable`] of the first shard that has one.
    pub(super) fn each<T: Send>(
        &mut self,
        intake: &Intake,
        draft: &mut Draft<'_>,
        is_large: bool,
        work: impl Fn(&Intake, &mut Shard, &mut Draft<'_>) -> Result<T, Unreadable> + Sync,
    ) -> Result<Vec<T>, Unreadable> {
        if !is_large || self.all.len() == 1 {
            return self.all.iter_mut().map(|shard| work(intake, shard, draft)).collect();
        }
        let journals: Vec<_> =
            self.all.iter().map(|shard| draft.take_journals(&shard.buckets.numbers())).collect();
        let mut done: Vec<_> = self.all.iter().map(|_| None).collect();
        let (step, intake, work) = (&*draft, intake, &work);
        let jobs =
            self.all.iter_mut().zip(journals).zip(&mut done).map(|((shard, journals), done)| {
                Box::new(move || {
                    let mut draft = step.of_shard(journals);
                    let result = work(intake, shard, &mut draft);
                    *done = Some(result.map(|result| (result, draft.drafted())));
                }) as ShardJob<'_>
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

/// The number of the shard that has a recipient, by the numbers of buckets and shards of the store.
#[must_use]
pub fn shard_of(recipient: &Id, buckets: u16, shards: u16) -> u16 {
    shard_with(BucketNo::of(recipient.as_str(), buckets), buckets, shards)
}

/// The number of the shard that has a bucket, by the numbers of buckets and shards of the store.
#[must_use]
pub fn shard_with(bucket: BucketNo, buckets: u16, shards: u16) -> u16 {
    let has = |shard: &u16| range_of(*shard, shards, buckets).contains(&bucket.0);
    (0..shards).find(has).unwrap_or(0)
}
