//! Compaction of days that are over and at rest, in a thread of its own, one by one.
//!
//! Compaction rewrites a day without its overwritten and deleted rows. It changes nothing that can be read, so nothing
//! waits for it, and a day that could not be compacted only takes more disk.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Instant;

use crossbeam_channel::{Receiver, bounded, select};
use tidings_core::Day;
use tidings_store::Store;

use crate::commit::executor::Executor;

/// The queue of days to compact, and the day in progress.
pub(crate) struct DayCompactor {
    days: BTreeSet<Day>,
    at_work: Option<DayInProgress>,
    by: Executor,
}

/// A day that is being compacted.
struct DayInProgress {
    thread: JoinHandle<()>,
    /// Signals the end of the work.
    done: Receiver<Infallible>,
}

impl DayCompactor {
    pub(crate) fn new(by: Executor) -> Self {
        Self { days: BTreeSet::new(), at_work: None, by }
    }

    /// Adds days to compact.
    pub(crate) fn add(&mut self, days: Vec<Day>) {
        self.days.extend(days);
    }

    /// Begins the next day once the previous one is done.
    pub(crate) fn go_on(&mut self, store: &Arc<dyn Store>) {
        if self.days.is_empty()
            || self.at_work.as_ref().is_some_and(|work| !work.thread.is_finished())
        {
            return;
        }
        self.wait();
        let Some(day) = self.days.pop_first() else {
            return;
        };
        if self.by == Executor::Hand {
            return compact(&**store, day);
        }
        let store = Arc::clone(store);
        let (works, done) = bounded::<Infallible>(0);
        let work = move || {
            compact(&*store, day);
            drop(store);
            drop(works);
        };
        let thread = std::thread::Builder::new().name("tidings-compactor".to_owned());
        match thread.spawn(work) {
            Ok(thread) => self.at_work = Some(DayInProgress { thread, done }),
            Err(fault) => tracing::warn!(%day, error = %fault, "no thread to compact the day with"),
        }
    }

    /// Waits until the day in progress is done: it holds the store.
    pub(crate) fn wait(&mut self) {
        if let Some(work) = self.at_work.take()
            && work.thread.join().is_err()
        {
            tracing::warn!("compacting a day broke down");
        }
    }

    /// [`DayCompactor::wait`] until `last`. A day whose compaction is interrupted stays as it is.
    pub(crate) fn wait_until(&mut self, last: &Receiver<Instant>) {
        if let Some(work) = &self.at_work {
            select! {
                recv(work.done) -> _ => self.wait(),
                recv(last) -> _ => {}
            }
        }
    }
}

fn compact(store: &dyn Store, day: Day) {
    if let Err(fault) = store.compact(day) {
        tracing::warn!(%day, error = %fault, "the day could not be compacted");
    }
}
