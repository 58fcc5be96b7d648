//! A store wrapper that measures commits: their size and duration.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tidings_core::Day;
use tidings_core::journal::Table;
use tidings_store::{Commit, Error, Snapshot, Store};

use super::stopwatch::Stopwatch;

/// Size and time of the commits since it was last taken.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Passed {
    /// Bytes of keys and values.
    pub(crate) bytes: u64,
    /// Of these, bytes of personal batches.
    pub(crate) message_bytes: u64,
    /// Number of personal batches.
    pub(crate) messages: u64,
    /// Time in commits.
    pub(crate) committing: Duration,
}

/// A store with a gauge on it.
pub(crate) struct Gauge<S: ?Sized> {
    inner: Arc<S>,
    passed: Mutex<Passed>,
}

impl<S: Store + ?Sized> Gauge<S> {
    pub(crate) fn on(inner: Arc<S>) -> Self {
        Self { inner, passed: Mutex::default() }
    }

    /// Takes the size and time of the commits since the last call.
    pub(crate) fn take(&self) -> Passed {
        std::mem::take(&mut self.passed.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<S: Store + ?Sized> Store for Gauge<S> {
    fn snapshot(&self) -> Result<Box<dyn Snapshot>, Error> {
        self.inner.snapshot()
    }

    fn commit(&self, commit: Commit) -> Result<(), Error> {
        let mut weighed = Passed::default();
        for write in &*commit.writes {
            let bytes = (write.key.len() + write.value.as_ref().map_or(0, Vec::len)) as u64;
            weighed.bytes += bytes;
            // A key begins with its owner in two bytes and its table in the third.
            if write.key.get(2) == Some(&(Table::Messages as u8)) {
                weighed.message_bytes += bytes;
                weighed.messages += 1;
            }
        }
        let watch = Stopwatch::start();
        let answer = self.inner.commit(commit);
        let took = watch.elapsed();
        let mut passed = self.passed.lock().unwrap_or_else(PoisonError::into_inner);
        passed.bytes += weighed.bytes;
        passed.message_bytes += weighed.message_bytes;
        passed.messages += weighed.messages;
        passed.committing += took;
        answer
    }

    fn days(&self) -> Result<Vec<Day>, Error> {
        self.inner.days()
    }

    fn forget(&self, day: Day) -> Result<(), Error> {
        self.inner.forget(day)
    }

    fn ensure_room(&self) -> Result<(), Error> {
        self.inner.ensure_room()
    }

    fn compact(&self, day: Day) -> Result<(), Error> {
        self.inner.compact(day)
    }
}
