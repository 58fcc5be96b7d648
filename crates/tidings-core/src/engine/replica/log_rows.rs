//! Rows of acts for other nodes, which lagging nodes read from the store.
//!
//! They are deleted once every shard has applied them. That reads nothing: the rows that belong to the acts of a number
//! are remembered from their writing or reading.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use crate::engine::acts::act::Act;
use crate::engine::acts::log_entry::{LogEntry, LogNo, StoredEntry, log_key};
use crate::engine::rows::named::scheduled_key;
use crate::journal::chunks;
use crate::journal::stored::{ReadView, Unreadable};
use crate::journal::table::{Key, Owner, Partition, REST, Table, after_prefix, u64_at};
use crate::model::number::EventNo;
use crate::model::time::Instant;

/// The number of bytes of acts after which no more are read at once.
const READ_BYTES: usize = 8 << 20;

/// Reads the stored acts after a number, in order, up to a number of entries and about 8 MiB.
///
/// # Errors
/// [`Unreadable`] where the store can't be read or makes no sense.
pub fn read_log(
    view: &dyn ReadView,
    after: LogNo,
    most: usize,
) -> Result<Vec<Arc<LogEntry>>, Unreadable> {
    let mut logged = Vec::new();
    let (mut no, mut read) = (LogNo(after.0 + 1), 0);
    while logged.len() < most && read < READ_BYTES {
        let Some(bytes) = chunks::get(view, Partition::Base, &log_key(no))? else {
            break;
        };
        read += bytes.len();
        logged.push(Arc::new(StoredEntry::new(no, bytes).read()?));
        no.0 += 1;
    }
    Ok(logged)
}

/// The rows of stored acts, which go once every shard has applied them.
#[derive(Clone, Debug)]
pub(crate) struct LogRows {
    /// The number of the first acts that are stored.
    first: LogNo,
    /// The number of those that come next.
    next: LogNo,
    /// By number, the rows that go with the first one: of long acts, and of scheduled events that acts have taken.
    more: BTreeMap<LogNo, Vec<Vec<u8>>>,
}

impl Default for LogRows {
    fn default() -> Self {
        Self::after(LogNo::default())
    }
}

impl LogRows {
    /// No rows, with a number as that of the newest acts.
    fn after(logged: LogNo) -> Self {
        let next = LogNo(logged.0 + 1);
        Self { first: next, next, more: BTreeMap::new() }
    }

    /// Reads the rows up to the number of the newest acts; also returns the scheduled events that acts have taken and
    /// whose rows are still there.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read or makes no sense.
    pub(crate) fn recover(
        view: &dyn ReadView,
        logged: LogNo,
    ) -> Result<(Self, Vec<(Instant, EventNo)>), Unreadable> {
        let first = first_logged(view)?.map_or(logged, |first| LogNo(first.0 - 1));
        let mut rows = Self::after(first);
        let mut taken = Vec::new();
        for logged in read_log(view, first, usize::MAX)? {
            rows.add(&logged);
            taken.extend(logged.acts.iter().flat_map(Act::takes_scheduled));
        }
        Ok((rows, taken))
    }

    /// Adds the rows of new acts.
    pub(crate) fn add(&mut self, logged: &LogEntry) {
        let mut more = chunks::keys_after(&log_key(logged.no()), logged.stored().bytes().len());
        let taken = logged.acts.iter().flat_map(Act::takes_scheduled);
        more.extend(taken.map(|(t, place)| scheduled_key(Owner::Intake, t, place)));
        if !more.is_empty() {
            self.more.insert(logged.no(), more);
        }
        self.next = LogNo(logged.no().0 + 1);
    }

    /// Number of the acts that are stored, of those up to one.
    pub(crate) fn count_until(&self, until: LogNo) -> u64 {
        let next = self.next.0.min(until.0 + 1);
        next.saturating_sub(self.first.0)
    }

    /// Takes the keys of the rows of the acts up to a number.
    pub(crate) fn take_until(&mut self, until: LogNo) -> impl Iterator<Item = Vec<u8>> {
        let next = self.next.min(LogNo(until.0 + 1));
        let first = self.first.0..next.0;
        self.first = self.first.max(next);
        let later = self.more.split_off(&next);
        let more = std::mem::replace(&mut self.more, later);
        first.map(|no| log_key(LogNo(no))).chain(more.into_values().flatten())
    }
}

/// Reads the number of the first stored acts.
fn first_logged(view: &dyn ReadView) -> Result<Option<LogNo>, Unreadable> {
    let from = Key::of(Owner::Intake, Table::Acts).done();
    let until = after_prefix(&from);
    let mut first = None;
    view.scan(Partition::Base, &from, until.as_deref(), &mut |key, _| {
        first = u64_at(key, REST).map(LogNo);
        ControlFlow::Break(())
    })?;
    Ok(first)
}
