//! The threads that do the jobs of an engine's parts: the loop's own does the first, and each other job has one.
//!
//! They are started for each step that is large enough, and have ended when it has: that costs some ten microseconds
//! a thread, and nothing while nothing is done.

use std::thread;

use tidings_core::engine::{Job, Workers};

/// A thread for each job of a step.
#[derive(Clone, Copy, Debug)]
pub struct Threads;

impl Workers for Threads {
    fn run(&self, jobs: Vec<Job<'_>>) {
        let mut jobs = jobs.into_iter();
        let first = jobs.next();
        thread::scope(|scope| {
            for job in jobs {
                scope.spawn(job);
            }
            first.into_iter().for_each(|job| job());
        });
    }
}
