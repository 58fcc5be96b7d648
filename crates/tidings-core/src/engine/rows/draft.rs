//! The draft of a step: its writes, which can be read back before the store has them.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::concerned::TouchedByDryRun;
use super::event_row::{EventRow, FreshEvents};
use crate::engine::acts::act::Act;
use crate::engine::acts::applied::LocalResult;
use crate::engine::change_log::note::ChangeNotes;
use crate::engine::reach::Reach;
use crate::journal::chunks;
use crate::journal::record::Record;
use crate::journal::row::{JournalRowWriter, journal_key};
use crate::journal::stored::{ReadView, Unreadable};
use crate::journal::table::{Partition, Write};
use crate::model::id::BucketNo;
use crate::model::number::Seq;
use crate::model::occurrence::{Occurrence, OccurrenceOwner};
use crate::model::time::Day;

/// Without senders nothing is within reach.
static NOTHING: Reach = Reach::new();

/// A step's writes on top of the store.
pub(crate) struct Draft<'a> {
    pub(crate) view: &'a dyn ReadView,
    /// The messages that the senders keep back.
    pub(crate) reach: &'a Reach,
    /// The draft of the step, if this is the draft of a shard.
    step: Option<&'a Draft<'a>>,
    writes: DraftRows,
    /// Rows of *base* as they are stored, which were read together.
    read: FxHashMap<Vec<u8>, Option<Vec<u8>>>,
    /// The newest row of each bucket's journal.
    journals: NewestJournalRows,
    pub(crate) events: FreshEvents,
    /// The acts of the step, if other nodes need them.
    log: Option<Vec<Act>>,
    /// The commands of the step whose answers wait for shards on other nodes.
    open: Vec<LocalResult>,
    /// The occurrences of the step for hooks.
    occurred: StepOccurrences,
    /// The people, entries and messages that it touches.
    pub(crate) concerned: TouchedByDryRun,
    /// The changes of the command that runs.
    pub(crate) noted: ChangeNotes,
    /// True if nothing is kept that is written: another node writes it.
    discards: bool,
}

/// Rows by key; `None` = deleted.
type DraftRows = BTreeMap<(Partition, Vec<u8>), Option<Vec<u8>>>;

/// The occurrences of a step, by owner.
pub(crate) type StepOccurrences = BTreeMap<OccurrenceOwner, Vec<Occurrence>>;

/// The newest rows of journals.
pub(crate) type NewestJournalRows = FxHashMap<BucketNo, JournalRowWriter>;

/// Writes that a shard has drafted, with the newest rows of its journals.
pub(crate) struct DraftedWrites {
    writes: DraftRows,
    journals: NewestJournalRows,
    occurred: StepOccurrences,
    concerned: TouchedByDryRun,
    noted: ChangeNotes,
}

impl<'a> Draft<'a> {
    pub(crate) fn new(view: &'a dyn ReadView) -> Self {
        Self {
            view,
            reach: &NOTHING,
            step: None,
            writes: BTreeMap::new(),
            read: FxHashMap::default(),
            journals: FxHashMap::default(),
            events: FreshEvents::default(),
            log: None,
            open: Vec::new(),
            occurred: StepOccurrences::new(),
            concerned: TouchedByDryRun::default(),
            noted: ChangeNotes::Off,
            discards: false,
        }
    }

    /// A draft that keeps nothing of what is written.
    pub(crate) fn discarding(view: &'a dyn ReadView) -> Self {
        Self { discards: true, ..Self::new(view) }
    }

    /// A draft that keeps the acts of the step, if other nodes need them.
    pub(crate) fn logging(mut self, is_logged: bool) -> Self {
        self.log = is_logged.then(Vec::new);
        self
    }

    /// Keeps an act, if other nodes need it; returns its number among those of the step.
    pub(crate) fn log(&mut self, act: impl FnOnce() -> Act) -> usize {
        let Some(log) = &mut self.log else { return 0 };
        log.push(act());
        log.len() - 1
    }

    /// Notes a command whose answer waits for shards on other nodes.
    pub(crate) fn leave_open(&mut self, open: LocalResult) {
        self.open.push(open);
    }

    /// Takes the commands whose answers wait for shards on other nodes.
    pub(crate) fn take_open(&mut self) -> Vec<LocalResult> {
        std::mem::take(&mut self.open)
    }

    /// Returns true if other nodes need the acts of the step.
    pub(crate) fn is_logged(&self) -> bool {
        self.log.is_some()
    }

    /// The act of the newest command whose answer waits for shards on other nodes.
    pub(crate) fn open_act(&self) -> Option<&Act> {
        self.log.as_ref()?.get(self.open.last()?.act)
    }

    /// Takes the acts of the step.
    pub(crate) fn take_log(&mut self) -> Vec<Act> {
        self.log.replace(Vec::new()).unwrap_or_default()
    }

    /// Adds an occurrence for hooks.
    pub(crate) fn occur(&mut self, owner: OccurrenceOwner, occurrence: Occurrence) {
        if !self.discards {
            self.occurred.entry(owner).or_default().push(occurrence);
        }
    }

    /// Takes what occurred in the step.
    pub(crate) fn take_occurred(&mut self) -> StepOccurrences {
        std::mem::take(&mut self.occurred)
    }

    /// A draft with messages that the senders keep back.
    pub(crate) fn with(mut self, reach: &'a Reach) -> Self {
        self.reach = reach;
        self
    }

    /// A shard's draft on top of this one, with the newest rows of its journals.
    pub(crate) fn of_shard(&self, journals: NewestJournalRows) -> Draft<'_> {
        let (concerned, noted) = (self.concerned.of_shard(), self.noted.emptied());
        let draft = Draft::new(self.view).with(self.reach);
        Draft { step: Some(self), journals, concerned, noted, ..draft }
    }

    /// Takes the newest rows of these buckets' journals out, for [`Draft::of_shard`].
    pub(crate) fn take_journals(&mut self, buckets: &[BucketNo]) -> NewestJournalRows {
        buckets.iter().filter_map(|no| self.journals.remove_entry(no)).collect()
    }

    /// Ends a shard's draft.
    pub(crate) fn drafted(self) -> DraftedWrites {
        let Self { writes, journals, occurred, concerned, noted, .. } = self;
        DraftedWrites { writes, journals, occurred, concerned, noted }
    }

    /// Adds what a shard has drafted.
    pub(crate) fn add(&mut self, drafted: DraftedWrites) {
        self.writes.extend(drafted.writes);
        self.journals.extend(drafted.journals);
        self.noted.add(drafted.noted);
        // Each owner is of one shard.
        for (owner, mut all) in drafted.occurred {
            self.occurred.entry(owner).or_default().append(&mut all);
        }
        self.concerned.add(drafted.concerned);
    }

    /// Returns true if the step writes a key.
    pub(crate) fn writes(&self, partition: Partition, key: &[u8]) -> bool {
        let is_written = |key: &[u8]| self.writes.contains_key(&(partition, key.to_vec()));
        let writes = !self.writes.is_empty() && is_written(key);
        writes || self.step.is_some_and(|step| step.writes(partition, key))
    }

    /// The line of an event that the step has accepted.
    pub(crate) fn fresh_event(&self, day: Day, ordinal: u32) -> Option<&[u8]> {
        let line = self.events.line(day, ordinal);
        line.or_else(|| self.step?.fresh_event(day, ordinal))
    }

    /// Adds the event with the next ordinal of a day.
    pub(crate) fn add_event(&mut self, day: Day, ordinal: u32, row: &EventRow) {
        if !self.discards {
            self.events.add(day, ordinal, row);
        }
    }

    pub(crate) fn put(&mut self, partition: Partition, key: Vec<u8>, value: Vec<u8>) {
        if !self.discards {
            self.writes.insert((partition, key), Some(value));
        }
    }

    /// Writes a value that may need several rows.
    pub(crate) fn put_chunked(&mut self, partition: Partition, key: Vec<u8>, value: &[u8]) {
        self.extend(chunks::rows(partition, key, value));
    }

    /// Reads a value that may need several rows.
    pub(crate) fn get_chunked(
        &self,
        partition: Partition,
        key: &[u8],
    ) -> Result<Option<Vec<u8>>, Unreadable> {
        let Some(row) = self.get(partition, key)? else {
            return Ok(None);
        };
        let value = chunks::whole(key, &row, |key| self.get(partition, key))?;
        Ok(Some(value.into_owned()))
    }

    /// Deletes a value that may need several rows.
    pub(crate) fn delete_chunked(
        &mut self,
        partition: Partition,
        key: Vec<u8>,
    ) -> Result<(), Unreadable> {
        if let Some(row) = self.get(partition, &key)? {
            for more in chunks::more_keys(&key, &row)? {
                self.delete(partition, more);
            }
        }
        self.delete(partition, key);
        Ok(())
    }

    pub(crate) fn delete(&mut self, partition: Partition, key: Vec<u8>) {
        if !self.discards {
            self.writes.insert((partition, key), None);
        }
    }

    /// Appends a record to a bucket's journal and returns the seq of its row.
    pub(crate) fn record(&mut self, bucket: BucketNo, day: Day, seq: Seq, record: &Record) -> Seq {
        match self.journals.get_mut(&bucket) {
            Some(row) if row.takes(day, seq, record) => {
                row.add(record);
                row.first
            }
            _ => {
                let row = JournalRowWriter::new(day, seq, record);
                if let Some(full) = self.journals.insert(bucket, row) {
                    self.put_row(bucket, full);
                }
                seq
            }
        }
    }

    /// Closes a bucket's newest row: a checkpoint has the place from which rows are read again, and a row across it
    /// would be missed.
    pub(crate) fn end_row(&mut self, bucket: BucketNo) {
        if let Some(row) = self.journals.remove(&bucket) {
            self.put_row(bucket, row);
        }
    }

    fn put_row(&mut self, bucket: BucketNo, row: JournalRowWriter) {
        let key = journal_key(bucket, row.first);
        self.put(Partition::Day(row.day), key, row.bytes);
    }

    pub(crate) fn extend(&mut self, writes: impl IntoIterator<Item = Write>) {
        for Write { partition, key, value } in writes {
            match value {
                Some(value) => self.put(partition, key, value),
                None => self.delete(partition, key),
            }
        }
    }

    pub(crate) fn get(
        &self,
        partition: Partition,
        key: &[u8],
    ) -> Result<Option<Vec<u8>>, Unreadable> {
        match self.writes.get(&(partition, key.to_vec())) {
            Some(value) => Ok(value.clone()),
            None => match self.read.get(key).filter(|_| partition == Partition::Base) {
                Some(value) => Ok(value.clone()),
                None => match self.step {
                    Some(step) => step.get(partition, key),
                    None => self.view.get(partition, key),
                },
            },
        }
    }

    /// Keeps rows of *base* that were read, which the step is going to ask for.
    pub(crate) fn keep(&mut self, keys: &[Vec<u8>], values: Vec<Option<Vec<u8>>>) {
        self.read.extend(keys.iter().cloned().zip(values));
    }

    /// The keys with this prefix that the step has written, with their values; stored ones are not
    /// included. Of a key that comes twice the last value counts.
    pub(crate) fn written<'p>(
        &'p self,
        partition: Partition,
        prefix: &'p [u8],
    ) -> impl Iterator<Item = (&'p [u8], Option<&'p [u8]>)> {
        self.step.map(|step| &step.writes).into_iter().chain([&self.writes]).flat_map(
            move |writes| {
                writes
                    .range((partition, prefix.to_vec())..)
                    .take_while(move |((at, key), _)| *at == partition && key.starts_with(prefix))
                    .map(|((_, key), value)| (key.as_slice(), value.as_deref()))
            },
        )
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.writes.is_empty() && self.journals.is_empty() && self.events.is_empty()
    }

    /// Drops the writes into a day that is being deleted.
    pub(crate) fn forget(&mut self, day: Day) {
        let partition = Partition::Day(day);
        self.writes.retain(|(at, _), _| *at != partition);
        self.journals.retain(|_, row| row.day != day);
        self.events.forget(day);
    }

    pub(crate) fn done(mut self) -> Vec<Write> {
        for (bucket, row) in std::mem::take(&mut self.journals) {
            self.put_row(bucket, row);
        }
        for (day, key, lines) in std::mem::take(&mut self.events).rows() {
            self.put(Partition::Day(day), key, lines);
        }
        self.writes
            .into_iter()
            .map(|((partition, key), value)| Write { partition, key, value })
            .collect()
    }
}
