//! Shards beside each other: what a step does in every shard is one job a shard, for threads that the caller lends.
//!
//! Shards share nothing that they change. Each writes into a draft of its own on top of the step's, and what they
//! answer and write is put together in their order, so the result is the same whoever does the jobs, and when.

use std::fmt::Debug;

/// A job of a shard.
pub type Job<'a> = Box<dyn FnOnce() + Send + 'a>;

/// Threads that do the jobs of shards beside each other.
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
