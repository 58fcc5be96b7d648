//! The threads that do the jobs of an engine's shards: the loop's own and one for each further processor.
//!
//! They are started for each step that is large enough, and have ended when it has: that costs some ten microseconds
//! a thread, and nothing while nothing is done.

use std::num::NonZero;
use std::sync::LazyLock;
use std::thread::{self, available_parallelism};

use tidings_core::engine::{ShardJob, Workers};

/// The number of processors, as it is at the first step: asking takes longer than starting a thread.
static PROCESSORS: LazyLock<usize> =
    LazyLock::new(|| available_parallelism().map_or(1, NonZero::get));

/// A thread for each processor, as far as there are jobs.
#[derive(Clone, Copy, Debug)]
pub struct Threads;

impl Workers for Threads {
    fn run(&self, mut jobs: Vec<ShardJob<'_>>) {
        let each = jobs.len().div_ceil(*PROCESSORS).max(1);
        let all = |jobs: Vec<ShardJob<'_>>| jobs.into_iter().for_each(|job| job());
        thread::scope(|scope| {
            while jobs.len() > each {
                let of_thread = jobs.split_off(jobs.len() - each);
                scope.spawn(move || all(of_thread));
            }
            all(jobs);
        });
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn each_job_is_done_once_by_no_more_threads_than_processors() {
        for count in [0, 1, 2, 9, 100] {
            let done = Mutex::new(Vec::new());
            let jobs = (0..count).map(|job| {
                let done = &done;
                let name = || format!("{:?}", thread::current().id());
                Box::new(move || done.lock().unwrap().push((job, name()))) as ShardJob<'_>
            });
            Threads.run(jobs.collect());
            let mut done = done.into_inner().unwrap();
            done.sort_unstable();
            let threads: BTreeSet<&String> = done.iter().map(|(_, thread)| thread).collect();
            assert!(threads.len() <= *PROCESSORS);
            let jobs: Vec<i32> = done.iter().map(|(job, _)| *job).collect();
            assert_eq!(jobs, (0..count).collect::<Vec<_>>());
        }
    }
}
