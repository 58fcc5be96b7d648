//! Views of readers: the rows of one moment between two commits.

use std::ops::Bound;
use std::sync::Arc;

use fjall::{Keyspace, Readable};

use super::engine::FjallEngine;
use super::fault::{guarded, in_use};
use super::published::PublishedView;
use crate::{Error, KEY_BYTES_MAX, Partition, Snapshot, Visit};
use tidings_core::Day;

/// A view, which keeps the store open.
pub(super) struct FjallView {
    published: Arc<PublishedView>,
    // Last: the database and the lock outlive what is read.
    engine: Arc<FjallEngine>,
}

impl FjallView {
    /// The view of the newest state.
    pub(super) fn of(engine: &Arc<FjallEngine>) -> Result<Self, Error> {
        engine.ensure_whole()?;
        Ok(Self { published: engine.published(), engine: Arc::clone(engine) })
    }

    fn keyspace(&self, partition: Partition) -> Option<&Keyspace> {
        match partition {
            Partition::Base => Some(&self.engine.base),
            Partition::Day(day) => self.published.days.get(&day),
        }
    }
}

/// Adds the place to an error: the day, and the directory of its files.
fn placed(partition: Partition, keyspace: &Keyspace, fault: Error) -> Error {
    let Error::Corrupt(what) = fault else {
        return fault;
    };
    let place = match partition {
        Partition::Base => "what outlives days".to_owned(),
        Partition::Day(day) => format!("the day {day}"),
    };
    Error::Corrupt(format!("{place}, in {}: {what}", keyspace.path().display()))
}

/// The lower bound of a scan; the engine panics over bounds that no key can have.
fn lower(from: &[u8]) -> Bound<&[u8]> {
    match from.get(..KEY_BYTES_MAX) {
        Some(longest) if from.len() > KEY_BYTES_MAX => Bound::Excluded(longest),
        _ => Bound::Included(from),
    }
}

/// The upper bound of a scan.
fn upper(until: &[u8]) -> Bound<&[u8]> {
    match until.get(..KEY_BYTES_MAX) {
        Some(longest) if until.len() > KEY_BYTES_MAX => Bound::Included(longest),
        _ => Bound::Excluded(until),
    }
}

impl Snapshot for FjallView {
    fn get(&self, partition: Partition, key: &[u8]) -> Result<Option<Vec<u8>>, Error> {
        let Some(keyspace) = self.keyspace(partition) else {
            return Ok(None);
        };
        if key.len() > KEY_BYTES_MAX {
            return Ok(None);
        }
        let found = guarded(|| self.published.view.get(keyspace, key))
            .and_then(|found| found.map_err(|fault| in_use(&fault)))
            .map_err(|fault| placed(partition, keyspace, fault))?;
        Ok(found.map(|value| value.to_vec()))
    }

    fn scan(
        &self,
        partition: Partition,
        from: &[u8],
        until: Option<&[u8]>,
        visit: &mut Visit<'_>,
    ) -> Result<(), Error> {
        let Some(keyspace) = self.keyspace(partition) else {
            return Ok(());
        };
        if until.is_some_and(|until| until <= from) {
            return Ok(());
        }
        let bounds = (lower(from), until.map_or(Bound::Unbounded, upper));
        let placed = |fault| placed(partition, keyspace, fault);
        let mut rows =
            guarded(|| self.published.view.range::<&[u8], _>(keyspace, bounds)).map_err(placed)?;
        loop {
            let row = guarded(|| rows.next().map(fjall::Guard::into_inner)).map_err(placed)?;
            let Some(row) = row else { return Ok(()) };
            let (key, value) = row.map_err(|fault| placed(in_use(&fault)))?;
            if visit(&key, &value).is_break() {
                return Ok(());
            }
        }
    }

    fn days(&self) -> Result<Vec<Day>, Error> {
        Ok(self.published.days.keys().copied().collect())
    }
}
