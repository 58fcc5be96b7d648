//! The engine: opening, committing, deleting days and reading, on fjall's keyspaces.
//!
//! Writes come one after the other; reads from any thread. Readers get the view that was taken after the
//! last commit ([`PublishedView`]), never one of their own making: the
//! engine's background work moves its mark of what is visible while a batch is half applied, and a
//! snapshot that is taken just then would see the half.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};
use std::time::Duration;

use fjall::compaction::Leveled;
use fjall::config::PartitioningPolicy;
use fjall::{
    AbstractTree, Database, Keyspace, KeyspaceCreateOptions, OwnedWriteBatch, PersistMode,
};

use super::directory::{self, LockedDirectory};
use super::fault::{at_open, guarded, in_use};
use super::options::Options;
use super::published::{Days, PublishedView};
use super::{journal, manifest};

mod newest;

use crate::{Commit, Error, Expected, Partition, StoreId, Write};
use tidings_core::Day;

/// Bytes of a keyspace's memtable. The journal is sealed only when a memtable is full, so small ones keep
/// a restart short.
const MEMTABLE_BYTES: u64 = 16 << 20;

/// The size at which the engine flushes a memtable by itself; we do so long before. The engine asks its
/// background thread again with each commit until that gets to it, and the thread sends requests to
/// itself: once it is a thousand requests behind, it waits for ever for room in its own queue.
const ENGINE_MEMTABLE_BYTES: u64 = 4 * MEMTABLE_BYTES;

/// Bytes of sealed journals above which the engine flushes the memtables with the oldest data.
const JOURNALS_BYTES: u64 = 128 << 20;

/// Target size of a table on disk. New tables are merged with all of the first level, which has four of
/// them; small ones keep that short, and most tables of append-only data (events, ids) move down from
/// there unchanged.
const TABLE_BYTES: u64 = 16 << 20;

/// Bytes of commits after which all memtables are flushed, as at the beginning of a day. Otherwise those
/// of idle days would hold the journal for ever: many keyspaces can fill it without any of them filling
/// its memtable.
const EMPTY_AFTER_BYTES: u64 = 128 << 20;

/// The interval of checking whether a memtable is flushed that a day's compaction waits for.
const WRITTEN_DOWN_LOOK: Duration = Duration::from_millis(10);

const COMMITS: &str = "commits";
const BASE: &str = "base";
const DAY_PREFIX: &str = "day.";

/// The disk space that a commit may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DiskRoom {
    /// The space that is not reserved.
    Ordinary,
    /// All space.
    Reserved,
}

/// The state of an open store. The order of the fields is the order in which they close: handles, then
/// the database, then the lock.
pub(super) struct FjallEngine {
    published: RwLock<Arc<PublishedView>>,
    commits: Keyspace,
    pub(super) base: Keyspace,
    database: Database,
    last_commit: AtomicU64,
    /// The commit that the directory names as durable; `None` if none is to be named, as in an unfinished
    /// restore.
    noted_commit: Option<AtomicU64>,
    bytes_since_emptied: AtomicU64,
    /// The days that are being compacted: their memtables are not flushed meanwhile (see [`FjallEngine::compact`]).
    compacting: Mutex<BTreeSet<Day>>,
    broken: OnceLock<Error>,
    floor_bytes: u64,
    directory: Arc<LockedDirectory>,
    is_new: bool,
}

impl FjallEngine {
    /// See [`super::FjallStore::open`].
    pub(super) fn open(path: &Path, expected: Expected, options: &Options) -> Result<Self, Error> {
        let (directory, state) = LockedDirectory::open(path, expected)?;
        let is_new = state == directory::EngineFiles::Missing;
        if is_new {
            make(&directory.engine_new(), options)?;
            directory.finish_engine()?;
        }
        let (place, noted) = (directory.engine(), directory.newest());
        let mut engine = Self::open_at(&place, Arc::new(directory), options)?;
        engine.compare_with(noted, options.accept_loss)?;
        engine.is_new = is_new;
        Ok(engine)
    }

    /// Creates an engine in an empty directory, where it is invisible before [`LockedDirectory::finish_restored`].
    pub(super) fn open_unfinished(
        directory: &Arc<LockedDirectory>,
        options: &Options,
    ) -> Result<Self, Error> {
        make(&directory.engine_new(), options)?;
        Self::open_at(&directory.engine_new(), Arc::clone(directory), options)
    }

    fn open_at(
        place: &Path,
        directory: Arc<LockedDirectory>,
        options: &Options,
    ) -> Result<Self, Error> {
        manifest::verify(place)?;
        // Precedes the engine, which would cut off a damaged end of the journal without a word.
        let journaled = journal::recover(place)?;
        let database = guarded(|| database(place, options))??;
        let damaged = |what: &str| {
            Error::Corrupt(format!("{}: {what}; restore it from a backup", place.display()))
        };
        let existing = |name: &str| -> Result<Keyspace, Error> {
            if !database.keyspace_exists(name) {
                return Err(damaged(&format!("the keyspace `{name}` is missing")));
            }
            guarded(|| database.keyspace(name, KeyspaceCreateOptions::default))?
                .map_err(|fault| at_open(place, &fault))
        };
        let commits = existing(COMMITS)?;
        let base = existing(BASE)?;
        let days = recover_days(&database, &commits, &existing)?;
        let last = read_last(&commits)?.ok_or_else(|| damaged("its journal is missing"))?;
        if journaled.is_some_and(|number| number != last) {
            return Err(damaged("its tables and its journal don't belong together"));
        }
        // Every commit writes here, so nothing can be newer than this.
        let newest = commits.tree.get_highest_seqno();
        if days.values().chain([&base]).any(|keyspace| keyspace.tree.get_highest_seqno() > newest) {
            return Err(damaged("the end of its journal is missing"));
        }
        let published = PublishedView { view: database.snapshot(), days: Arc::new(days) };
        Ok(Self {
            published: RwLock::new(Arc::new(published)),
            commits,
            base,
            database,
            last_commit: AtomicU64::new(last),
            noted_commit: None,
            // What a restart finds in the journals counts as if just written.
            bytes_since_emptied: AtomicU64::new(EMPTY_AFTER_BYTES / 2),
            compacting: Mutex::default(),
            broken: OnceLock::new(),
            floor_bytes: options.floor_bytes,
            directory,
            is_new: false,
        })
    }

    /// # Errors
    /// [`Error::Unavailable`] once the store is broken.
    pub(super) fn ensure_whole(&self) -> Result<(), Error> {
        match self.broken.get() {
            None => Ok(()),
            Some(why) => Err(Error::Unavailable(format!(
                "it failed before ({why}) and must be opened again"
            ))),
        }
    }

    /// Marks the store as broken after a failed write. A refusal changed nothing and breaks nothing.
    pub(super) fn break_after(&self, answer: &Result<(), Error>) {
        match answer {
            Ok(()) | Err(Error::Full(_) | Error::Invalid(_)) => {}
            Err(fault) => {
                self.broken.get_or_init(|| fault.clone());
            }
        }
    }

    pub(super) fn id(&self) -> StoreId {
        self.directory.id()
    }

    /// Returns true if it was created by this opening.
    pub(super) fn is_new(&self) -> bool {
        self.is_new
    }

    pub(super) fn disk_bytes(&self) -> Result<u64, Error> {
        self.directory.disk_bytes()
    }

    pub(super) fn day_bytes(&self) -> Result<Vec<(Day, u64)>, Error> {
        self.ensure_whole()?;
        let size = |(day, keyspace): (&Day, &Keyspace)| (*day, keyspace.disk_space());
        Ok(self.published().days.iter().map(size).collect())
    }

    pub(super) fn compact(&self, day: Day) -> Result<(), Error> {
        self.ensure_whole()?;
        let Some(keyspace) = self.published().days.get(&day).cloned() else {
            return Ok(());
        };
        // The old tables stay until the new ones are whole.
        self.ensure_room(keyspace.disk_space())?;
        self.compacting().insert(day);
        let done = self.compact_keyspace(&keyspace);
        self.compacting().remove(&day);
        if !self.published().days.contains_key(&day) {
            // It was forgotten meanwhile, which did not wait for this.
            release_disk(&keyspace)?;
        }
        done
    }

    fn compact_keyspace(&self, keyspace: &Keyspace) -> Result<(), Error> {
        self.write_down(keyspace)?;
        // Whenever the engine's one thread has written a memtable down it looks at the keyspace's
        // tables, and would wait there until the day is compacted, with all other memtables behind it.
        // Once it has written down another one, it has been there.
        self.write_down(&self.base)?;
        guarded(|| keyspace.major_compact())?.map_err(|fault| in_use(&fault))
    }

    /// Flushes a memtable and waits for it, but not for ever, as the engine would if its thread is dead.
    fn write_down(&self, keyspace: &Keyspace) -> Result<(), Error> {
        guarded(|| keyspace.rotate_memtable())?.map_err(|fault| in_use(&fault))?;
        let (_nobody, never) = std::sync::mpsc::channel::<()>();
        while keyspace.tree.sealed_memtable_count() > 0 {
            self.ensure_whole()?;
            let _later = never.recv_timeout(WRITTEN_DOWN_LOOK);
        }
        Ok(())
    }

    /// Flushes all memtables, the counter of commits last: it must not be older than the data it counts.
    pub(super) fn write_all_down(&self) -> Result<(), Error> {
        let published = self.published();
        published
            .days
            .values()
            .chain([&self.base, &self.commits])
            .try_for_each(|keyspace| self.write_down(keyspace))
    }

    pub(super) fn days(&self) -> Result<Vec<Day>, Error> {
        self.ensure_whole()?;
        Ok(self.published().days.keys().copied().collect())
    }

    pub(super) fn published(&self) -> Arc<PublishedView> {
        Arc::clone(&self.published.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Publishes the current state to readers; only between two batches.
    fn publish(&self, days: Arc<Days>) {
        let published = Arc::new(PublishedView { view: self.database.snapshot(), days });
        *self.published.write().unwrap_or_else(PoisonError::into_inner) = published;
    }

    /// Writes a commit; there is no other writer meanwhile.
    pub(super) fn commit(&self, commit: &Commit, room: DiskRoom) -> Result<(), Error> {
        let bytes = commit_bytes(commit);
        if room == DiskRoom::Ordinary {
            self.ensure_room(bytes)?;
        }
        let writes = last_of_each_key(&commit.writes);
        if writes.is_empty() {
            return Ok(());
        }
        let known = Arc::clone(&self.published().days);
        let mut days = Arc::clone(&known);
        // Keyspaces are made before the batch that names them: after a crash in between nobody knows them.
        self.make_days(&mut days, &writes)?;
        let has_new = days.len() > known.len();
        let mut batch = self.batch();
        for day in days.keys().filter(|day| !known.contains_key(day)) {
            batch.insert(&self.commits, day_name(*day), []);
        }
        add_rows(&mut batch, &self.base, &days, &writes);
        if batch.is_empty() {
            return Ok(());
        }
        self.write(batch)?;
        self.publish(days);
        // The other days are idle from now on, as a rule.
        let counted = if has_new { EMPTY_AFTER_BYTES } else { bytes };
        self.bytes_since_emptied.fetch_add(counted, Ordering::Relaxed);
        Ok(())
    }

    /// Drops a day; there is no other writer meanwhile.
    pub(super) fn forget(&self, day: Day) -> Result<(), Error> {
        let mut days = Arc::clone(&self.published().days);
        let Some(keyspace) = Arc::make_mut(&mut days).remove(&day) else {
            return Ok(());
        };
        let mut batch = self.batch();
        // Is durable before the day's files go: a crash in between leaves files of a day that is not
        // listed.
        batch.remove(&self.commits, day_name(day));
        self.write(batch)?;
        self.publish(days);
        // The engine's cache of open files would keep those of the day, and with them its disk: only
        // tables that go by themselves are taken out of it.
        // Where the day is being compacted it would wait for that, with all writes: then that does it.
        if !self.compacting().contains(&day) {
            release_disk(&keyspace)?;
        }
        self.database.delete_keyspace(keyspace).map_err(|fault| in_use(&fault))?;
        // A sealed journal keeps the handles of all keyspaces that it has rows of, and thereby the
        // day's disk: get rid of the journal.
        if self.database.journal_count() > 1 {
            self.empty_all_memtables();
        }
        Ok(())
    }

    pub(super) fn ensure_room(&self, bytes: u64) -> Result<(), Error> {
        self.directory.ensure_in_place()?;
        let free = self.directory.free_bytes()?;
        if free < self.floor_bytes.saturating_add(bytes) {
            return Err(Error::Full(format!(
                "{free} bytes are free, {} are kept for forgetting and compaction; make room, or \
                 forget old days",
                self.floor_bytes
            )));
        }
        Ok(())
    }

    fn make_days(&self, days: &mut Arc<Days>, writes: &[&Write]) -> Result<(), Error> {
        for write in writes.iter().filter(|write| write.value.is_some()) {
            let Partition::Day(day) = write.partition else {
                continue;
            };
            if days.contains_key(&day) {
                continue;
            }
            let keyspace = self
                .database
                .keyspace(&day_name(day), day_options)
                .map_err(|fault| in_use(&fault))?;
            // The engine syncs what is in the keyspace's directory, not that it is there.
            keyspace
                .path()
                .parent()
                .map_or(Ok(()), directory::sync_directory)
                .map_err(|fault| Error::Unavailable(fault.to_string()))?;
            Arc::make_mut(days).insert(day, keyspace);
        }
        Ok(())
    }

    fn batch(&self) -> OwnedWriteBatch {
        self.database.batch().durability(Some(PersistMode::SyncAll))
    }

    /// Writes a batch as the next commit.
    fn write(&self, mut batch: OwnedWriteBatch) -> Result<(), Error> {
        self.directory.ensure_in_place()?;
        let number = self.last_commit.load(Ordering::Relaxed) + 1;
        batch.insert(&self.commits, journal::LAST, number.to_be_bytes());
        batch.commit().map_err(|fault| in_use(&fault))?;
        self.last_commit.store(number, Ordering::Release);
        Ok(())
    }

    /// Returns true if there are memtables to flush.
    pub(super) fn has_due_memtables(&self) -> bool {
        let published = self.published();
        let mut all = published.days.values().chain([&self.base]);
        self.bytes_since_emptied.load(Ordering::Relaxed) >= EMPTY_AFTER_BYTES || all.any(is_full)
    }

    /// Flushes the memtables that are full, and periodically all of them.
    pub(super) fn empty_due_memtables(&self) {
        let written = self.bytes_since_emptied.load(Ordering::Relaxed);
        if written >= EMPTY_AFTER_BYTES {
            self.bytes_since_emptied.fetch_sub(written, Ordering::Relaxed);
            return self.empty_all_memtables();
        }
        let published = self.published();
        let all = published.days.values().chain([&self.base]);
        self.empty_memtables(all.filter(|keyspace| is_full(keyspace)));
    }

    fn compacting(&self) -> MutexGuard<'_, BTreeSet<Day>> {
        self.compacting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn empty_all_memtables(&self) {
        // The counter of commits goes last: it must not be older than what it vouches for. While a day
        // is being compacted, which keeps its rows in the journal, it stays there too.
        let published = self.published();
        let compacting = self.compacting().clone();
        let days = published
            .days
            .iter()
            .filter(|(day, _)| !compacting.contains(day))
            .map(|(_, keyspace)| keyspace);
        self.empty_memtables(days.chain([&self.base]));
        if compacting.is_empty() {
            self.empty_memtables([&self.commits].into_iter());
        }
    }

    fn empty_memtables<'a>(&self, keyspaces: impl Iterator<Item = &'a Keyspace>) {
        for keyspace in keyspaces {
            let emptied = guarded(|| keyspace.rotate_memtable())
                .and_then(|done| done.map(drop).map_err(|fault| in_use(&fault)));
            // The commit is durable already; the next call fails.
            self.break_after(&emptied);
        }
    }
}

/// Releases all tables of a deleted day.
fn release_disk(keyspace: &Keyspace) -> Result<(), Error> {
    let dropped = keyspace.tree.drop_range::<&[u8], _>(..);
    dropped.map_err(|fault| in_use(&fault.into()))
}

fn is_full(keyspace: &Keyspace) -> bool {
    keyspace.tree.active_memtable().size() >= MEMTABLE_BYTES
}

/// Keeps the last write of each key. All rows of a batch have one sequence number in the engine: of two
/// with one key, either might be found.
fn last_of_each_key(writes: &[Write]) -> Vec<&Write> {
    let mut last: Vec<&Write> = writes.iter().collect();
    // Stable, and quick where they are in order, as those of a node are.
    last.sort_by(|a, b| a.place().cmp(&b.place()));
    last.dedup_by(|later, before| {
        let is_same = later.place() == before.place();
        if is_same {
            *before = later;
        }
        is_same
    });
    last
}

fn add_rows(batch: &mut OwnedWriteBatch, base: &Keyspace, days: &Days, writes: &[&Write]) {
    for write in writes {
        let keyspace = match write.partition {
            Partition::Base => Some(base),
            Partition::Day(day) => days.get(&day),
        };
        let key = write.key.as_slice();
        match (keyspace, &write.value) {
            // Nothing is there to be deleted.
            (None, _) => {}
            (Some(keyspace), Some(value)) => batch.insert(keyspace, key, value.as_slice()),
            (Some(keyspace), None) => batch.remove(keyspace, key),
        }
    }
}

/// The name of a day's keyspace, and of the row that records the day.
fn day_name(day: Day) -> String {
    format!("{DAY_PREFIX}{}", day.0)
}

/// Opens the committed days, and removes keyspaces that a crash left: those of a commit that never
/// happened, or of a deleted day.
fn recover_days(
    database: &Database,
    commits: &Keyspace,
    existing: &dyn Fn(&str) -> Result<Keyspace, Error>,
) -> Result<Days, Error> {
    let mut days = Days::new();
    // The rows are asked, not the keyspaces that are there: one that lost its beginning is taken
    // away by the engine without a word.
    let mut rows = guarded(|| commits.prefix(DAY_PREFIX))?;
    // Where a row can't be read the engine answers so for ever: nothing is gathered before it is
    // looked at.
    while let Some(key) = guarded(|| rows.next().map(fjall::Guard::key))? {
        let key = key.map_err(|fault| in_use(&fault))?;
        let name = String::from_utf8_lossy(&key);
        let number = name
            .strip_prefix(DAY_PREFIX)
            .and_then(|number| number.parse().ok())
            .ok_or_else(|| Error::Corrupt(format!("`{name}` is no day")))?;
        days.insert(Day(number), existing(&name)?);
    }
    for name in database.list_keyspace_names() {
        let is_kept = days.values().any(|keyspace| *keyspace.name() == name);
        if name.starts_with(DAY_PREFIX) && !is_kept {
            database.delete_keyspace(existing(&name)?).map_err(|fault| in_use(&fault))?;
        }
    }
    Ok(days)
}

fn commit_bytes(commit: &Commit) -> u64 {
    let bytes = |write: &Write| write.key.len() + write.value.as_ref().map_or(0, Vec::len);
    commit.writes.iter().map(|write| bytes(write) as u64).sum()
}

/// The options of a keyspace: partitioned filters and indexes on every level, because whole ones of a
/// large table take longer to read than the row.
fn keyspace_options() -> KeyspaceCreateOptions {
    KeyspaceCreateOptions::default()
        .max_memtable_size(ENGINE_MEMTABLE_BYTES)
        .compaction_strategy(Arc::new(Leveled::default().with_table_target_size(TABLE_BYTES)))
        .filter_block_partitioning_policy(PartitioningPolicy::all(true))
        .index_block_partitioning_policy(PartitioningPolicy::all(true))
}

/// The options of a day's keyspace: nearly every read of a day is for an existing key, so filters on the
/// deepest level would be useless, and cost a third of a cold read.
fn day_options() -> KeyspaceCreateOptions {
    keyspace_options().expect_point_read_hits(true)
}

fn database(place: &Path, options: &Options) -> Result<Database, Error> {
    Database::builder(place)
        .max_journaling_size(JOURNALS_BYTES)
        .cache_size(options.cache_bytes)
        // With several of its own threads the first one hands compactions on to the others, and takes
        // them back at once for as long as those are busy: a core spent on nothing.
        .worker_threads(1)
        .open()
        .map_err(|fault| at_open(place, &fault))
}

fn make(place: &Path, options: &Options) -> Result<(), Error> {
    let failed = |fault: fjall::Error| at_open(place, &fault);
    let database = database(place, options)?;
    // It is the last to be emptied into a table, so it must not fill up before the others.
    let large = || KeyspaceCreateOptions::default().max_memtable_size(JOURNALS_BYTES);
    let commits = database.keyspace(COMMITS, large).map_err(failed)?;
    if commits.id() != journal::COMMITS_KEYSPACE {
        return Err(Error::Corrupt(format!(
            "{}: its first keyspace is not number 1",
            place.display()
        )));
    }
    database.keyspace(BASE, keyspace_options).map_err(failed)?;
    let mut batch = database.batch().durability(Some(PersistMode::SyncAll));
    batch.insert(&commits, journal::LAST, 0_u64.to_be_bytes());
    batch.commit().map_err(failed)?;
    let sync = |path: Option<&Path>| path.map_or(Ok(()), directory::sync_directory);
    sync(commits.path().parent()).map_err(|fault| failed(fault.into()))
}

fn read_last(commits: &Keyspace) -> Result<Option<u64>, Error> {
    let found = guarded(|| commits.get(journal::LAST))?.map_err(|fault| in_use(&fault))?;
    Ok(found.and_then(|value| value.as_ref().try_into().ok()).map(u64::from_be_bytes))
}
