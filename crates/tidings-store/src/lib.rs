//! The store of tidings: one small trait over ordered keys, and its engines.
//!
//! Snapshot reads, one atomic durable commit with preconditions, drop a day: nothing else. The
//! conformance suite [`conformance`] is the contract; every engine must pass all of it.
//!
//! | engine | for |
//! |---|---|
//! | [`FjallStore`] | one machine: a directory on its disk |
//! | [`MemoryStore`] | simulation and tests |
//! | [`FaultStore`] | the memory engine with faults and crashes that a script decides |

use std::ops::ControlFlow;

pub mod conformance;
mod fault;
mod fjall;
mod limits;
mod memory;

pub use self::fault::{CrashAt, Fault, FaultStore, Faults, Moment, NoFaults, Script};
pub use self::fjall::{FORMAT, FjallStore, Options};
pub use self::limits::{KEY_BYTES_MAX, VALUE_BYTES_MAX};
pub use self::memory::MemoryStore;

pub use tidings_core::table::{Partition, Write};
use tidings_core::time::Day;

/// What a commit expects of a key before it is applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Precondition {
    /// Where.
    pub partition: Partition,
    /// Which key.
    pub key: Vec<u8>,
    /// The value that must be there; `None` = the key must be absent.
    pub expected: Option<Vec<u8>>,
}

/// A set of writes that happens as a whole or not at all. Of two writes of one key the later holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Commit {
    /// All must hold, else nothing is written and the answer is [`Error::Conflict`].
    pub preconditions: Vec<Precondition>,
    /// What is written.
    pub writes: Vec<Write>,
}

/// Sees each key and value of a scan in the order of the bytes; `Break` ends it early.
pub type Visit<'a> = dyn FnMut(&[u8], &[u8]) -> ControlFlow<()> + 'a;

/// A consistent view of everything that was committed when it was taken. It keeps seeing a day that
/// is forgotten later, and it holds on to that day's disk and to the store's lock until it is
/// dropped: nobody keeps one for long.
pub trait Snapshot: Send + Sync {
    /// Reads one key; a partition that is not there holds nothing.
    ///
    /// # Errors
    /// [`Error::Unavailable`] or [`Error::Corrupt`].
    fn get(&self, partition: Partition, key: &[u8]) -> Result<Option<Vec<u8>>, Error>;

    /// Visits every key `from <= key < until` in order; `until = None` = to the end. An empty `from`
    /// is the beginning; where `until <= from` there is nothing to visit.
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
pub trait Store: Send + Sync {
    /// A view of what is committed now.
    ///
    /// # Errors
    /// [`Error::Unavailable`] where the engine is closed or broken.
    fn snapshot(&self) -> Result<Box<dyn Snapshot>, Error>;

    /// Writes all or nothing, and answers after it is durable. Partitions come into being with the
    /// first value that is written to them (a delete makes none) and last until they are forgotten,
    /// also when all their keys have been deleted.
    ///
    /// # Errors
    /// [`Error::Conflict`], [`Error::Full`] and [`Error::Invalid`] changed nothing; after
    /// [`Error::Unavailable`] the outcome is unknown: throw the engine away, open it again and read.
    /// After [`Error::Hung`] the same, in another process.
    fn commit(&self, commit: Commit) -> Result<(), Error>;

    /// As [`Store::commit`], of what leads to room being freed, such as the forgetting of a day: it may
    /// use the room that is kept back for that.
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

    /// Drops a day, whatever it holds, durably; a day that is not there is no fault. Always allowed,
    /// also where a commit is refused as [`Error::Full`].
    ///
    /// # Errors
    /// [`Error::Unavailable`] and [`Error::Hung`]: it may or may not have happened.
    fn forget(&self, day: Day) -> Result<(), Error>;

    /// Whether an ordinary commit has room. Asked before something is decided, it spares undoing what
    /// [`Store::commit`] would refuse. An engine that can't tell says yes.
    ///
    /// # Errors
    /// [`Error::Full`] if there is none, [`Error::Unavailable`] if that can't be found out.
    fn ensure_room(&self) -> Result<(), Error> {
        Ok(())
    }

    /// Whether an engine could carry these writes, room apart: asked of what may be left out of a commit
    /// where [`Store::commit`] would refuse all of it.
    ///
    /// # Errors
    /// [`Error::Invalid`] as [`Store::commit`].
    fn ensure_fits(&self, writes: &[Write]) -> Result<(), Error> {
        limits::validate_writes(writes)
    }

    /// Brings a day that is over to rest: out of the journal, and without what was overwritten or
    /// deleted in it. Changes nothing that can be read, may take long, and is to be called from a
    /// thread of its own: others read and write meanwhile. Does nothing where an engine has nothing
    /// to pack, which is the default.
    ///
    /// # Errors
    /// [`Error::Unavailable`]; the store goes on as it was.
    fn rest(&self, _day: Day) -> Result<(), Error> {
        Ok(())
    }
}

/// What a caller should do is told by the kind.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// A precondition does not hold; nothing was written. Read again.
    #[error("a precondition does not hold any more")]
    Conflict,
    /// A key is empty or longer than [`KEY_BYTES_MAX`], or a value longer than [`VALUE_BYTES_MAX`];
    /// nothing was written. A mistake of the caller: trying again is no use.
    #[error("the commit can't be stored: {0}")]
    Invalid(String),
    /// No room; nothing was written. Refuse until there is.
    #[error("the disk has no room left: {0}")]
    Full(String),
    /// The engine failed; a commit may or may not have happened. Open again.
    #[error("the store failed: {0}")]
    Unavailable(String),
    /// A write has not come back in so many seconds; it may still happen. The engine can't be got rid
    /// of, nor opened again, before the process ends.
    #[error("a write has not come back for {0} s: the process must be started again")]
    Hung(u64),
    /// Another process holds the directory.
    #[error("the store is locked by another process: {0}")]
    Locked(String),
    /// The directory can't be used: read-only, not a directory, no permission.
    #[error("the store can't be used: {0}")]
    Unusable(String),
    /// What is there is not a tidings store of this format.
    #[error("the store has another format: {0}")]
    Format(String),
    /// What is there can't be read.
    #[error("the store is damaged: {0}")]
    Corrupt(String),
}
