//! The default engine: a directory on a local disk, written with fjall (a log-structured store in
//! plain Rust).
//!
//! One keyspace for rows that outlive days, one for each day, and one that counts commits ([`journal`] has the reason).
//! A commit is one batch, answered after it is synced. Any failure of a write leaves the store broken until it is
//! opened again: the engine's state in memory can't be trusted then, but the disk can.

mod directory;
mod engine;
mod fault;
mod journal;
mod manifest;
mod memtable_flusher;
mod options;
mod published;
mod view;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

pub use self::directory::FORMAT;
pub use self::options::Options;

use self::directory::LockedDirectory;
use self::engine::{DiskRoom, FjallEngine};
use self::memtable_flusher::MemtableFlusher;
use self::view::FjallView;
use crate::{Commit, Error, Expected, Snapshot, Store, StoreId};
use tidings_core::Day;

/// The assumed size of an ordinary commit when room is checked in advance.
const ORDINARY_COMMIT_BYTES: u64 = 16 << 20;

/// A store in a directory, open in one process at a time.
///
/// Dropping it closes it: its threads have ended and the directory can be opened again, unless a
/// snapshot is still held. That keeps the directory locked until it goes.
pub struct FjallStore {
    // First, so that the thread lets go of the engine before it is closed.
    memtable_flusher: MemtableFlusher,
    engine: Arc<FjallEngine>,
    /// Held by the writer.
    writes: Mutex<()>,
    patience: Duration,
}

impl FjallStore {
    /// Returns true if a directory contains a store, open or not, of any format.
    #[must_use]
    pub fn is_in(path: &Path) -> bool {
        directory::is_store(path)
    }

    /// Opens the expected store in a directory. Only with [`Expected::OrNew`], one is made if the directory is absent
    /// or empty (its parent must exist). After a crash this reads up to some 200 MB of journal.
    ///
    /// # Errors
    /// [`Error::Missing`] if it is not there; [`Error::Locked`] if it is open already, here or in another process; [`Error::Format`] if
    /// something else is in the directory, or another format of tidings; [`Error::Corrupt`] if what
    /// is there is damaged, or its newest commits are gone; [`Error::Unusable`] if the system does not
    /// let us.
    pub fn open(
        path: impl AsRef<Path>,
        expected: Expected,
        options: Options,
    ) -> Result<Self, Error> {
        Self::over(FjallEngine::open(path.as_ref(), expected, &options)?, options)
    }

    /// The identity of the store.
    #[must_use]
    pub fn id(&self) -> StoreId {
        self.engine.id()
    }

    /// Returns true if the store was created when it was opened.
    #[must_use]
    pub fn is_new(&self) -> bool {
        self.engine.is_new()
    }

    fn over(engine: FjallEngine, options: Options) -> Result<Self, Error> {
        let engine = Arc::new(engine);
        Ok(Self {
            memtable_flusher: MemtableFlusher::start(Arc::clone(&engine), options)?,
            engine,
            writes: Mutex::default(),
            patience: options.patience,
        })
    }

    /// Creates a store of this identity from the writes of `fill`, in a directory that is absent or empty. Until all of it
    /// is on the disk the directory is not a store and can't be opened; the next attempt removes what an
    /// interrupted one left.
    ///
    /// # Errors
    /// Those of `fill`; [`Error::Unusable`] if something is in the directory, [`Error::Locked`] if
    /// another process is at it.
    pub fn restore<E: From<Error>>(
        path: impl AsRef<Path>,
        id: StoreId,
        options: Options,
        fill: impl FnOnce(&dyn Store) -> Result<(), E>,
    ) -> Result<(), E> {
        let directory = Arc::new(LockedDirectory::for_restore(path.as_ref(), id)?);
        let filled = FjallEngine::open_unfinished(&directory, &options)
            .and_then(|engine| Self::over(engine, options))
            .map_err(E::from)
            .and_then(|store| {
                fill(&store)?;
                // Its commits are no states that any store was in: a journal of them that is cut short
                // would be taken for one.
                Ok(store.engine.write_all_down()?)
            });
        match filled {
            Ok(()) => Ok(directory.finish_restored()?),
            Err(fault) => {
                directory.abandon();
                Err(fault)
            }
        }
    }

    /// Size of the directory on disk, in bytes.
    ///
    /// # Errors
    /// [`Error::Unavailable`] if it can't be read.
    pub fn disk_bytes(&self) -> Result<u64, Error> {
        self.engine.disk_bytes()
    }

    /// [`FjallStore::disk_bytes`] for a directory that another process or another part of this one may
    /// have open.
    ///
    /// # Errors
    /// [`Error::Unavailable`] if it can't be read.
    pub fn disk_bytes_of(path: impl AsRef<Path>) -> Result<u64, Error> {
        directory::disk_bytes(path.as_ref())
    }

    /// Bytes of each day's tables, by day, without data that is only in the journal.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    pub fn day_bytes(&self) -> Result<Vec<(Day, u64)>, Error> {
        self.engine.day_bytes()
    }

    /// Runs a write, after those before it; every error except a refusal breaks the store, and so does a panic.
    fn write(&self, job: impl FnOnce(&FjallEngine) -> Result<(), Error>) -> Result<(), Error> {
        let _alone = self.writes.lock().unwrap_or_else(PoisonError::into_inner);
        self.engine.ensure_whole()?;
        let answer = catch_unwind(AssertUnwindSafe(|| job(&self.engine)));
        let broken = "the engine broke down while it wrote";
        let answer = answer.unwrap_or_else(|_| Err(Error::Unavailable(broken.to_owned())));
        self.engine.break_after(&answer);
        if self.engine.has_due_memtables() {
            self.memtable_flusher.wake();
        }
        answer
    }
}

impl Store for FjallStore {
    fn snapshot(&self) -> Result<Box<dyn Snapshot>, Error> {
        Ok(Box::new(FjallView::of(&self.engine)?))
    }

    fn commit(&self, commit: Commit) -> Result<(), Error> {
        crate::limits::validate_writes(&commit.writes)?;
        self.write(|engine| engine.commit(&commit, DiskRoom::Ordinary))
    }

    fn commit_to_free(&self, commit: Commit) -> Result<(), Error> {
        crate::limits::validate_writes(&commit.writes)?;
        self.write(|engine| engine.commit(&commit, DiskRoom::Reserved))
    }

    fn patience(&self) -> Option<Duration> {
        Some(self.patience)
    }

    fn days(&self) -> Result<Vec<Day>, Error> {
        self.engine.days()
    }

    fn forget(&self, day: Day) -> Result<(), Error> {
        self.write(|engine| engine.forget(day))
    }

    fn ensure_room(&self) -> Result<(), Error> {
        self.engine.ensure_whole()?;
        self.engine.ensure_room(ORDINARY_COMMIT_BYTES)
    }

    fn compact(&self, day: Day) -> Result<(), Error> {
        self.engine.compact(day)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn o5_a_panic_of_the_engine_is_an_error_and_breaks_the_store() {
        let place = tempfile::tempdir().unwrap();
        let expected = Expected::OrNew(StoreId([1; 16]));
        let store = FjallStore::open(place.path().join("data"), expected, Options::default());
        let store = store.unwrap();
        let full = store.write(|_| Err(Error::Full(String::new())));
        assert!(matches!(full, Err(Error::Full(_))));
        assert!(store.commit(Commit::default()).is_ok());
        let broken = store.write(|_| panic!("on purpose"));
        assert!(matches!(broken, Err(Error::Unavailable(_))));
        let after = store.commit(Commit::default());
        assert!(matches!(after, Err(Error::Unavailable(_))));
    }
}
