//! Commits: their numbers, their writes as they will be read, and what follows them.

pub(super) mod day_compactor;
pub(super) mod durable;
pub(super) mod executor;
pub(super) mod idempotency;
pub(super) mod long_values;
pub(super) mod pipeline;
pub(super) mod view;
pub(super) mod work;
pub(super) mod workers;

use std::ops::ControlFlow;
use std::sync::Arc;

use tidings_core::Day;
use tidings_core::journal::Write;
use tidings_store::{Partition, Visit};

use crate::error::RuntimeError;

/// The number of a commit: how many were gathered before it, since the node was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CommitNo(pub(crate) u64);

impl CommitNo {
    /// The number of no commit: later than all.
    pub(crate) const NEVER: Self = Self(u64::MAX);
}

/// A callback with the result of a commit, in the thread that decides.
pub(crate) type WhenDurable = Box<dyn FnOnce(Result<(), RuntimeError>) + Send>;

/// The addition of one step to a commit.
#[derive(Debug, Default)]
pub(crate) struct DecidedStep {
    pub(crate) writes: Vec<Write>,
    /// Days to delete once the writes are durable.
    pub(crate) forgotten: Vec<Day>,
    /// True if it leads to free space: it may use the space that is reserved for that.
    pub(crate) frees: bool,
}

/// The writes of steps as they will be read: in the order of their keys, one of each.
#[derive(Clone, Debug)]
pub(crate) struct Writes(pub(crate) Arc<Vec<Write>>);

impl Writes {
    pub(crate) fn new(mut writes: Vec<Write>) -> Self {
        // The sort is stable, and quick where the writes are in order or are two lists that are.
        writes.sort_by(|a, b| a.place().cmp(&b.place()));
        writes.dedup_by(|later, before| {
            let is_same = later.place() == before.place();
            if is_same {
                std::mem::swap(later, before);
            }
            is_same
        });
        Self(Arc::new(writes))
    }

    /// These writes and those after them.
    pub(crate) fn followed_by(self, after: Self) -> Self {
        let mut writes = Arc::unwrap_or_clone(self.0);
        writes.extend(Arc::unwrap_or_clone(after.0));
        Self::new(writes)
    }

    /// The new value of a key; `None` = unchanged, `Some(None)` = deleted.
    pub(crate) fn get(&self, partition: Partition, key: &[u8]) -> Option<Option<&[u8]>> {
        let at = self.0.binary_search_by(|write| write.place().cmp(&(partition, key)));
        at.ok().map(|at| self.0[at].value.as_deref())
    }

    /// Visits the rows after the commit; `scan` visits those before it, `from <= key < until`.
    pub(crate) fn merge<E>(
        &self,
        partition: Partition,
        from: &[u8],
        until: Option<&[u8]>,
        visit: &mut Visit<'_>,
        scan: impl FnOnce(&mut Visit<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let first = self.0.partition_point(|write| write.place() < (partition, from));
        let is_within = |write: &&Write| {
            write.partition == partition && until.is_none_or(|until| write.key.as_slice() < until)
        };
        let mut fresh = self.0[first..].iter().take_while(is_within).peekable();
        if fresh.peek().is_none() {
            return scan(visit);
        }
        let mut flow = ControlFlow::Continue(());
        let visit_write = |write: &Write, visit: &mut Visit<'_>| {
            let value = write.value.as_deref();
            value.map_or(ControlFlow::Continue(()), |value| visit(&write.key, value))
        };
        scan(&mut |key, value| {
            while let Some(write) = fresh.next_if(|write| write.key.as_slice() < key) {
                flow = visit_write(write, visit);
                if flow.is_break() {
                    return flow;
                }
            }
            flow = match fresh.next_if(|write| write.key == key) {
                Some(write) => visit_write(write, visit),
                None => visit(key, value),
            };
            flow
        })?;
        while let (ControlFlow::Continue(()), Some(write)) = (flow, fresh.next()) {
            flow = visit_write(write, visit);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
