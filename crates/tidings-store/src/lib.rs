//! The store of tidings: one small trait over ordered keys, and its engines.
//!
//! Snapshot reads, one atomic durable commit, drop a day: nothing else. The
//! conformance suite [`conformance`] is the contract; every engine must pass all of it.
//!
//! | engine | for |
//! |---|---|
//! | [`FjallStore`] | one machine: a directory on its disk |
//! | `PostgresStore` ([`database`]) | several machines: a PostgreSQL database that they share |
//! | [`MemoryStore`] | simulation and tests |
//! | [`FaultStore`] | the memory engine with faults and crashes that a script decides |

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

pub mod conformance;
pub mod database;
mod fault;
mod fjall;
mod identity;
pub mod lease;
mod limits;
mod memory;
mod place;
#[cfg(feature = "postgres")]
mod postgres;

pub use self::fault::{CrashAt, CrashMoment, FaultStore, Faults, InjectedFault, NoFaults, Script};
pub use self::fjall::{FORMAT, FjallStore, Options};
pub use self::limits::{KEY_BYTES_MAX, VALUE_BYTES_MAX};
pub use self::memory::MemoryStore;
pub use self::place::StorePlace;
#[cfg(feature = "postgres")]
pub use self::postgres::{PostgresLeases, PostgresStore};

pub use self::identity::{Expected, StoreId};

use tidings_core::Day;
pub use tidings_core::journal::{Partition, Write};

/// A set of writes that is applied as a whole or not at all. Of two writes of one key the later counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Commit {
    /// The writes, which readers ahead of the store may share.
    pub writes: Arc<Vec<Write>>,
}

impl From<Vec<Write>> for Commit {
    fn from(writes: Vec<Write>) -> Self {
        Self { writes: Arc::new(writes) }
    }
}

/// A visitor of a scan: it sees each key and value in the order of the bytes; `Break` ends the scan
/// early.
pub type Visit<'a> = dyn FnMut(&[u8], &[u8]) -> ControlFlow<()> + 'a;

/// A consistent view of everything that was committed when it was taken. It still sees a day that is
/// deleted later, and holds that day's disk space and the store's lock until it is dropped: keep none for
/// long.
pub trait Snapshot: Send + Sync {
    /// Reads one key; an absent partition is empty.
    ///
    /// # Errors
    /// [`Error::Unavailable`] or [`Error::Corrupt`].
    fn get(&self, partition: Partition, key: &[u8]) -> Result<Option<Vec<u8>>, Error>;

    /// Reads several keys of a partition, in their order, with the results of [`Snapshot::get`] for each.
    ///
    /// # Errors
    /// As [`Snapshot::get`].
    fn get_many(
        &self,
        partition: Partition,
        keys: &[&[u8]],
    ) -> Result<Vec<Option<Vec<u8>>>, Error> {
        keys.iter().map(|key| self.get(partition, key)).collect()
    }

    /// Returns true if each call is a round trip over a network, so that several keys should be read by one.
    fn is_remote(&self) -> bool {
        false
    }

    /// Visits every key `from <= key < until` in order; `until = None` = to the end. An empty `from` is
    /// the beginning; if `until <= from` there is nothing to visit.
    ///
    /// # Errors
    /// [`Error::Unavailable`] or [`Error::Corrupt`].
    fn scan(
        &self,
        partition: Partition,
        from: &[u8],
        until: Option<&[u8]>,
        visit: &mut Visit<'_>,
    ) -> Result<(), Error>;

    /// The days that had a partition, in order.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    fn days(&self) -> Result<Vec<Day>, Error>;
}

/// An ordered, durable, partitioned key-value store with one writer.
///
/// If shares of it are granted ([`lease::Leases::grant`]), each writer has a store of its own over the same
/// partitions, and writes keys that no other writes. A snapshot is then consistent in the rows of its own writer. Other
/// writers' rows, and days that they begin or forget, are read-committed: a snapshot sees at least the commits before it
/// was taken.
pub trait Store: Send + Sync {
    /// Takes a view of what is committed now.
    ///
    /// # Errors
    /// [`Error::Unavailable`] where the engine is closed or broken.
    fn snapshot(&self) -> Result<Box<dyn Snapshot>, Error>;

    /// Writes all or nothing, and returns after it is durable. The first value written to a partition
    /// creates it (a delete does not). It lasts until the day is deleted, even if all its keys are.
    ///
    /// # Errors
    /// [`Error::Full`] and [`Error::Invalid`] changed nothing; after
    /// [`Error::Unavailable`] the outcome is unknown: throw the engine away, open it again and read.
    /// After [`Error::Hung`] the same, in another process.
    fn commit(&self, commit: Commit) -> Result<(), Error>;

    /// [`Store::commit`] for writes that lead to free space, such as the deletion of a day: it may use
    /// the reserved space.
    ///
    /// # Errors
    /// As [`Store::commit`].
    fn commit_to_free(&self, commit: Commit) -> Result<(), Error> {
        self.commit(commit)
    }

    /// The days that have a partition, in order.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    fn days(&self) -> Result<Vec<Day>, Error>;

    /// The time after which a write counts as hung ([`Error::Hung`]), for its caller; `None` = the engine gives up by
    /// itself. Default none.
    fn patience(&self) -> Option<Duration> {
        None
    }

    /// Deletes a day durably, whatever it holds; an absent day is not an error. It is always allowed,
    /// also if a commit is refused as [`Error::Full`].
    ///
    /// # Errors
    /// [`Error::Unavailable`] and [`Error::Hung`]: it may or may not have happened.
    fn forget(&self, day: Day) -> Result<(), Error>;

    /// Checks that an ordinary commit has room. Called before a decision, it avoids undoing what [`Store::commit`]
    /// would refuse. An engine that doesn't know returns `Ok`.
    ///
    /// # Errors
    /// [`Error::Full`] if there is none, [`Error::Unavailable`] if that can't be found out.
    fn ensure_room(&self) -> Result<(), Error> {
        Ok(())
    }

    /// The length of the longest value that it takes, in bytes. Default [`VALUE_BYTES_MAX`].
    fn value_bytes_max(&self) -> usize {
        VALUE_BYTES_MAX
    }

    /// Checks that an engine could store these writes, apart from space: called for writes that may be left
    /// out of a commit which [`Store::commit`] would refuse as a whole.
    ///
    /// # Errors
    /// [`Error::Invalid`] as [`Store::commit`].
    fn ensure_fits(&self, writes: &[Write]) -> Result<(), Error> {
        limits::validate_writes(writes)
    }

    /// Compacts a day that is over: flushes it out of the journal, and drops overwritten and deleted values.
    /// It changes nothing that can be read, may take long, and is to be called from a thread of its own,
    /// while others read and write. The default does nothing, for an engine without anything to compact.
    ///
    /// # Errors
    /// [`Error::Unavailable`]; the store goes on as it was.
    fn compact(&self, _day: Day) -> Result<(), Error> {
        Ok(())
    }
}

/// An error of a store. Its kind decides what the caller should do.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// A key is empty or longer than [`KEY_BYTES_MAX`], or a value longer than [`VALUE_BYTES_MAX`];
    /// nothing was written. It is a mistake of the caller: a retry is useless.
    #[error("the commit can't be stored: {0}")]
    Invalid(String),
    /// The disk is full; nothing was written. Refuse writes until there is room.
    #[error("the disk has no room left: {0}")]
    Full(String),
    /// The engine failed; a commit may or may not have happened. Open the store again.
    #[error("the store failed: {0}")]
    Unavailable(String),
    /// A write has not returned for this many seconds; it may still happen. The engine can't be dropped
    /// or opened again before the process ends.
    #[error("a write has not come back for {0} s: the process must be started again")]
    Hung(u64),
    /// Somebody else has taken the store over since it was opened, and writes it now. Nothing was written,
    /// and nothing can be read any more through this holder.
    #[error("the store was taken over by another holder")]
    Fenced,
    /// Another process holds the directory.
    #[error("the store is locked by another process: {0}")]
    Locked(String),
    /// The expected store is not there: there is none, or another one. Nothing was created or changed. It may come
    /// back, such as a volume that is mounted again.
    #[error("the store is not there: {0}")]
    Missing(String),
    /// The directory can't be used: read-only, not a directory, no permission.
    #[error("the store can't be used: {0}")]
    Unusable(String),
    /// The directory is not a tidings store of this format.
    #[error("the store has another format: {0}")]
    Format(String),
    /// The store can't be read.
    #[error("the store is damaged: {0}")]
    Corrupt(String),
}
