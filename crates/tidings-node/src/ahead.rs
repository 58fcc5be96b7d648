//! The commit in progress: while it is being written, the next step is decided.
//!
//! A step decides on what is stored and on what the commit before it is about to store. Should that
//! commit fail, whatever was decided on it is thrown away with the engine, so at most one is under
//! way, and nothing of the next is given to the store before it has ended well. Who asked for it hears
//! after it is durable, as ever.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, Sender, bounded, never};
use tidings_core::table::Write;
use tidings_store::{Commit, Partition, Store, Visit};

use crate::Error;
use crate::event_loop::By;
use crate::handle::RuntimeError;
use crate::once::Work;
use crate::vitals::{Stopwatch, Vitals, timed};

type Ended = Result<(), tidings_store::Error>;

/// The writes of a commit in progress, as they will be read.
#[derive(Debug)]
pub(crate) struct Writes(Vec<Write>);

impl Writes {
    fn new(mut writes: Vec<Write>) -> Self {
        // The last of each key counts; sorting keeps the order of equal ones.
        writes.reverse();
        writes.sort_by(|a, b| place(a).cmp(&place(b)));
        writes.dedup_by(|a, b| place(a) == place(b));
        Self(writes)
    }

    /// The new value of a key; `None` = unchanged, `Some(None)` = deleted.
    pub(crate) fn get(&self, partition: Partition, key: &[u8]) -> Option<Option<&[u8]>> {
        let at = self
            .0
            .binary_search_by(|write| place(write).cmp(&(partition, key)));
        at.ok().map(|at| self.0[at].value.as_deref())
    }

    /// Visits the rows after the commit; `scan` visits those before it, `from <= key < until`.
    pub(crate) fn merge<E>(
        &self,
        partition: Partition,
        (from, until): (&[u8], Option<&[u8]>),
        visit: &mut Visit<'_>,
        scan: impl FnOnce(&mut Visit<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let first = self
            .0
            .partition_point(|write| place(write) < (partition, from));
        let is_within = |write: &&Write| {
            write.partition == partition && until.is_none_or(|until| write.key.as_slice() < until)
        };
        let mut fresh = self.0[first..].iter().take_while(is_within).peekable();
        let mut flow = ControlFlow::Continue(());
        let tell = |write: &Write, visit: &mut Visit<'_>| {
            let value = write.value.as_deref();
            value.map_or(ControlFlow::Continue(()), |value| visit(&write.key, value))
        };
        scan(&mut |key, value| {
            while let Some(write) = fresh.next_if(|write| write.key.as_slice() < key) {
                flow = tell(write, visit);
                if flow.is_break() {
                    return flow;
                }
            }
            flow = match fresh.next_if(|write| write.key == key) {
                Some(write) => tell(write, visit),
                None => visit(key, value),
            };
            flow
        })?;
        while let (ControlFlow::Continue(()), Some(write)) = (flow, fresh.next()) {
            flow = tell(write, visit);
        }
        Ok(())
    }
}

fn place(write: &Write) -> (Partition, &[u8]) {
    (write.partition, &write.key)
}

/// A writer of commits, one at a time: in a thread of its own, or when the driver says so.
pub(crate) struct Ahead {
    store: Arc<dyn Store>,
    vitals: Arc<Vitals>,
    under_way: Option<UnderWay>,
    /// The writing thread, started with the first commit.
    writer: Option<(Sender<Job>, JoinHandle<()>)>,
    by: By,
    /// The commit in progress, if the driver is to write it.
    by_hand: Option<Job>,
}

struct UnderWay {
    writes: Arc<Writes>,
    ended: Receiver<Ended>,
    /// The answer of the thread, if it came already.
    heard: Option<Ended>,
    /// The requests of the commit. The lock is never taken: it only makes a node shareable with threads
    /// that read it.
    work: Mutex<Vec<Work>>,
    /// Time since its step began.
    took: Stopwatch,
}

struct Job {
    commit: Commit,
    vitals: Arc<Vitals>,
    end: Sender<Ended>,
}

impl Ahead {
    pub(crate) fn new(store: &Arc<dyn Store>) -> Self {
        Self {
            store: Arc::clone(store),
            vitals: Arc::default(),
            under_way: None,
            writer: None,
            by: By::Threads,
            by_hand: None,
        }
    }

    /// Sets the measurements.
    pub(crate) fn measure(&mut self, vitals: &Arc<Vitals>) {
        self.vitals = Arc::clone(vitals);
    }

    /// Sets who writes.
    pub(crate) fn write_by(&mut self, by: By) {
        self.by = by;
    }

    /// Writes the commit in progress by hand. Whether there was one.
    pub(crate) fn write(&mut self) -> bool {
        let job = self.by_hand.take();
        let Some(job) = job else { return false };
        let ended = timed(&job.vitals.commits, || self.store.commit(job.commit));
        self.hear(ended);
        true
    }

    /// Loses the commit in progress, as a crash does.
    pub(crate) fn lose(&mut self) {
        self.by_hand = None;
    }

    /// The writes in progress.
    pub(crate) fn writes(&self) -> Option<Arc<Writes>> {
        let under_way = self.under_way.as_ref()?;
        Some(Arc::clone(&under_way.writes))
    }

    /// A receiver of the result of the commit in progress, to be passed to [`Ahead::hear`].
    pub(crate) fn ended(&self) -> Receiver<Ended> {
        match &self.under_way {
            Some(under_way) if under_way.heard.is_none() => under_way.ended.clone(),
            _ => never(),
        }
    }

    /// Records the result of the commit in progress.
    pub(crate) fn hear(&mut self, ended: Ended) {
        if let Some(under_way) = &mut self.under_way {
            under_way.heard = Some(ended);
        }
    }

    /// Tells whether a commit is in progress.
    pub(crate) fn is_writing(&self) -> bool {
        let under_way = self.under_way.as_ref();
        under_way.is_some_and(|under_way| under_way.heard.is_none())
    }

    /// Begins to write a commit; `work` is answered when it is durable. The previous one must have ended.
    pub(crate) fn start(
        &mut self,
        commit: Commit,
        work: Vec<Work>,
        took: Stopwatch,
    ) -> Result<(), Error> {
        debug_assert!(self.under_way.is_none(), "one commit at a time");
        let (end, ended) = bounded(1);
        let writes = Arc::new(Writes::new(commit.writes.clone()));
        let job = Job {
            commit,
            vitals: Arc::clone(&self.vitals),
            end,
        };
        self.under_way = Some(UnderWay {
            writes,
            ended,
            heard: None,
            work: Mutex::new(work),
            took,
        });
        if self.by == By::Hand {
            self.by_hand = Some(job);
            return Ok(());
        }
        let writer = match &mut self.writer {
            Some(writer) => writer,
            none => none.insert(start_writer(&self.store)?),
        };
        // A writer that is gone has dropped its end of the job, which says so.
        drop(writer.0.send(job));
        Ok(())
    }

    /// Waits for the commit in progress, and answers its requests.
    ///
    /// # Errors
    /// [`Error::Store`] where it failed; what was decided since is lost then.
    pub(crate) fn finish(&mut self) -> Result<(), Error> {
        self.write();
        let Some(under_way) = self.under_way.take() else {
            return Ok(());
        };
        let heard = under_way.heard;
        let ended = heard.unwrap_or_else(|| under_way.ended.recv().unwrap_or_else(|_| Err(gone())));
        let ended = ended.map_err(Error::from);
        self.vitals.steps.add(under_way.took);
        let work = under_way.work.into_inner();
        for work in work.unwrap_or_else(PoisonError::into_inner) {
            match &ended {
                Ok(()) => work.tell(),
                Err(fault) => work.fail(RuntimeError::of_commit(fault)),
            }
        }
        ended
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        if let Err(fault) = self.finish() {
            tracing::error!(error = %fault, "the last commit failed");
        }
        if let Some((jobs, writer)) = self.writer.take() {
            drop(jobs);
            if writer.join().is_err() {
                tracing::error!("the thread that writes ahead broke down");
            }
        }
    }
}

/// The error if the writing thread has not answered.
pub(crate) fn gone() -> tidings_store::Error {
    tidings_store::Error::Unavailable("the thread that writes is gone".to_owned())
}

fn start_writer(store: &Arc<dyn Store>) -> Result<(Sender<Job>, JoinHandle<()>), Error> {
    let store = Arc::clone(store);
    let (jobs, to_do) = bounded::<Job>(1);
    let write = move || {
        for job in to_do {
            let ended = timed(&job.vitals.commits, || store.commit(job.commit));
            drop(job.end.send(ended));
        }
    };
    let thread = std::thread::Builder::new().name("tidings-ahead".to_owned());
    let thread = thread
        .spawn(write)
        .map_err(|fault| tidings_store::Error::Unusable(fault.to_string()))?;
    Ok((jobs, thread))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    type Rows = BTreeMap<Vec<u8>, Vec<u8>>;

    fn write(key: &[u8], value: Option<&[u8]>) -> Write {
        Write {
            partition: Partition::Base,
            key: key.to_vec(),
            value: value.map(<[u8]>::to_vec),
        }
    }

    fn scanned(
        writes: &Writes,
        before: &Rows,
        (from, until): (&[u8], Option<&[u8]>),
        most: usize,
    ) -> Vec<(Vec<u8>, Vec<u8>)> {
        let mut found = Vec::new();
        let visit = &mut |key: &[u8], value: &[u8]| {
            found.push((key.to_vec(), value.to_vec()));
            match found.len() < most {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            }
        };
        let scan = |visit: &mut Visit<'_>| {
            let rows = before.iter().filter(|(key, _)| {
                key.as_slice() >= from && until.is_none_or(|until| key.as_slice() < until)
            });
            for (key, value) in rows {
                if visit(key, value).is_break() {
                    break;
                }
            }
            Ok::<(), ()>(())
        };
        writes
            .merge(Partition::Base, (from, until), visit, scan)
            .unwrap();
        found
    }

    proptest! {
        #[test]
        fn reads_are_those_of_a_store_that_has_the_commit(
            before in prop::collection::btree_map(
                prop::collection::vec(0..4_u8, 0..3), prop::collection::vec(0..9_u8, 0..2), 0..12),
            changes in prop::collection::vec(
                (prop::collection::vec(0..4_u8, 0..3),
                 prop::option::of(prop::collection::vec(0..9_u8, 0..2))), 0..12),
            from in prop::collection::vec(0..4_u8, 0..3),
            until in prop::option::of(prop::collection::vec(0..4_u8, 0..3)),
            most in 1..8_usize,
        ) {
            let mut after = before.clone();
            for (key, value) in &changes {
                match value {
                    Some(value) => drop(after.insert(key.clone(), value.clone())),
                    None => drop(after.remove(key)),
                }
            }
            let all = changes.iter().map(|(key, value)| write(key, value.as_deref()));
            // Another partition's rows stay out of it.
            let elsewhere = Write {
                partition: Partition::Day(tidings_core::time::Day(1)),
                ..write(&[1], Some(&[1]))
            };
            let writes = Writes::new(all.chain([elsewhere]).collect());
            for key in before.keys().chain(after.keys()).chain([&from]) {
                let read = writes.get(Partition::Base, key);
                let read = read.unwrap_or_else(|| before.get(key).map(Vec::as_slice));
                prop_assert_eq!(read, after.get(key).map(Vec::as_slice));
            }
            let until = until.as_deref();
            let expected = after.iter().filter(|(key, _)| {
                **key >= from && until.is_none_or(|until| key.as_slice() < until)
            });
            let expected: Vec<_> = expected.take(most)
                .map(|(key, value)| (key.clone(), value.clone())).collect();
            prop_assert_eq!(scanned(&writes, &before, (&from, until), most), expected);
        }
    }
}
