//! Shards in parallel: the work of a step is one job for each shard, on threads that the caller lends.
//!
//! Shards share nothing that they change. Each writes into a draft of its own on top of the step's, and their answers
//! and writes are joined in their order, so the result does not depend on the schedule.

use std::fmt::Debug;

/// A job of a shard.
pub type ShardJob<'a> = Box<dyn FnOnce() + Send + 'a>;

/// Threads that do the jobs of shards beside each other.
pub trait Workers: Debug + Send + Sync {
    /// Does all jobs, in any order, and returns once they are done.
    fn run(&self, jobs: Vec<ShardJob<'_>>);
}

/// One after the other, in the caller's thread.
#[derive(Debug)]
pub(super) struct SequentialWorkers;

impl Workers for SequentialWorkers {
    fn run(&self, jobs: Vec<ShardJob<'_>>) {
        jobs.into_iter().for_each(|job| job());
    }
}
