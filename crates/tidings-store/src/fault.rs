//! The memory engine with faults, which a simulation injects write by write.
//!
//! Nothing here is random: who drives it hands in the decisions ([`Faults`]), so a run can be
//! repeated from its seed. It fails as the engines on disk do: after a failed write the store answers
//! [`Error::Unavailable`] until it is opened again ([`FaultStore::restart`]), and then holds exactly
//! what was durable.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::{Commit, Error, MemoryStore, Partition, Snapshot, Store, Visit, Write, limits};
use tidings_core::Day;

/// The fate of one write (a commit, or the deletion of a day).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InjectedFault {
    /// It succeeds.
    #[default]
    None,
    /// It fails with [`Error::Unavailable`] and has not happened.
    FailedLost,
    /// It fails with [`Error::Unavailable`] and has happened nevertheless.
    FailedKept,
    /// A commit is refused with [`Error::Full`]; the store stays in use. A day is deleted nevertheless,
    /// as on a full disk.
    Full,
    /// The process dies before the write is durable: it has not happened.
    CrashBefore,
    /// The process dies after the write is durable and before anyone hears of it.
    CrashAfter,
}

/// A source of faults: decides what happens to each write. A closure `FnMut(u64) -> Fault` is one.
pub trait Faults: Send {
    /// Decides the fate of the write with this number; writes are counted from 1, over all restarts.
    fn next(&mut self, write: u64) -> InjectedFault;
}

impl<F: FnMut(u64) -> InjectedFault + Send> Faults for F {
    fn next(&mut self, write: u64) -> InjectedFault {
        self(write)
    }
}

/// A source without faults.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFaults;

impl Faults for NoFaults {
    fn next(&mut self, _write: u64) -> InjectedFault {
        InjectedFault::None
    }
}

/// A list of faults, one per write, in order. When they are used up nothing fails any more.
#[derive(Clone, Debug, Default)]
pub struct Script(VecDeque<InjectedFault>);

impl Script {
    /// The faults of the first writes.
    pub fn new(faults: impl IntoIterator<Item = InjectedFault>) -> Self {
        Self(faults.into_iter().collect())
    }
}

impl Faults for Script {
    fn next(&mut self, _write: u64) -> InjectedFault {
        self.0.pop_front().unwrap_or_default()
    }
}

/// The moment of a crash, before or after a write is durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CrashMoment {
    /// The write is lost.
    Before,
    /// The write is kept, but not answered.
    After,
}

/// A source of one crash, at the write with this number (from 1): with both moments of every number, a
/// test crashes between any two writes.
#[derive(Clone, Copy, Debug)]
pub struct CrashAt {
    /// The number of the write.
    pub write: u64,
    /// Before or after the write.
    pub moment: CrashMoment,
}

impl Faults for CrashAt {
    fn next(&mut self, write: u64) -> InjectedFault {
        match self.moment {
            _ if write != self.write => InjectedFault::None,
            CrashMoment::Before => InjectedFault::CrashBefore,
            CrashMoment::After => InjectedFault::CrashAfter,
        }
    }
}

/// A store in memory that fails by a script. See the module's text.
pub struct FaultStore {
    durable: MemoryStore,
    /// Maximum length of a value.
    value_bytes_max: usize,
    state: Mutex<FaultState>,
    // Counts the lives of the store: odd while it is up. A snapshot belongs to one life.
    life: Arc<AtomicU64>,
}

struct FaultState {
    faults: Box<dyn Faults>,
    writes: u64,
    crashed: bool,
}

impl FaultStore {
    /// Creates an empty store.
    #[must_use]
    pub fn new(faults: impl Faults + 'static) -> Self {
        Self {
            durable: MemoryStore::new(),
            value_bytes_max: crate::VALUE_BYTES_MAX,
            state: Mutex::new(FaultState { faults: Box::new(faults), writes: 0, crashed: false }),
            life: Arc::new(AtomicU64::new(1)),
        }
    }

    /// Sets another bound on values: a commit with a longer one is refused as [`Error::Invalid`].
    #[must_use]
    pub fn with_values_up_to(mut self, bytes: usize) -> Self {
        self.value_bytes_max = bytes;
        self
    }

    /// Opens the store again, with exactly the durable writes. Older snapshots stay unreadable. It also
    /// stops a running store (a process that ends cleanly).
    pub fn restart(&self) {
        let mut state = self.state();
        state.crashed = false;
        self.stop();
        self.life.fetch_add(1, Ordering::SeqCst);
    }

    /// Returns true if the simulated process is dead: everything in its memory is lost, and only
    /// [`FaultStore::restart`] continues. (After a failed write the process lives.)
    #[must_use]
    pub fn crashed(&self) -> bool {
        self.state().crashed
    }

    /// Number of writes tried so far; the next has this number plus one. Calls that find the store down,
    /// and commits that are refused for what they ask, are counted too.
    #[must_use]
    pub fn writes(&self) -> u64 {
        self.state().writes
    }

    /// A snapshot of the durable writes, whatever the state of the store, for the auditor of a
    /// simulation.
    ///
    /// # Errors
    /// None so far.
    pub fn durable(&self) -> Result<Box<dyn Snapshot>, Error> {
        self.durable.snapshot()
    }

    fn state(&self) -> MutexGuard<'_, FaultState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stop(&self) {
        if is_up(self.life.load(Ordering::SeqCst)) {
            self.life.fetch_add(1, Ordering::SeqCst);
        }
    }

    fn ensure_up(&self) -> Result<u64, Error> {
        let life = self.life.load(Ordering::SeqCst);
        if is_up(life) { Ok(life) } else { Err(down()) }
    }

    fn write(
        &self,
        full: Option<Error>,
        apply: impl FnOnce() -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut state = self.state();
        state.writes += 1;
        let number = state.writes;
        self.ensure_up()?;
        let fault = state.faults.next(number);
        match (fault, full) {
            (InjectedFault::Full, Some(refusal)) => return Err(refusal),
            (InjectedFault::None | InjectedFault::Full, _) => return apply(),
            (InjectedFault::FailedLost | InjectedFault::CrashBefore, _) => {}
            (InjectedFault::FailedKept | InjectedFault::CrashAfter, _) => {
                // Nobody hears of it, not even of a conflict.
                let _unheard = apply();
            }
        }
        state.crashed = matches!(fault, InjectedFault::CrashBefore | InjectedFault::CrashAfter);
        self.stop();
        Err(down())
    }
}

fn is_up(life: u64) -> bool {
    life % 2 == 1
}

fn down() -> Error {
    Error::Unavailable("a fault of the simulation; restart the store".to_owned())
}

impl Store for FaultStore {
    fn snapshot(&self) -> Result<Box<dyn Snapshot>, Error> {
        let taken_in = self.ensure_up()?;
        let view = self.durable.snapshot()?;
        Ok(Box::new(FaultyView { view, taken_in, life: Arc::clone(&self.life) }))
    }

    fn commit(&self, commit: Commit) -> Result<(), Error> {
        let full = Error::Full("a fault of the simulation".to_owned());
        self.write(Some(full), || {
            self.ensure_fits(&commit.writes)?;
            self.durable.commit(commit)
        })
    }

    fn value_bytes_max(&self) -> usize {
        self.value_bytes_max
    }

    fn ensure_fits(&self, writes: &[Write]) -> Result<(), Error> {
        limits::validate_writes(writes)?;
        limits::validate_values(writes, self.value_bytes_max)
    }

    fn days(&self) -> Result<Vec<Day>, Error> {
        self.ensure_up()?;
        self.durable.days()
    }

    fn forget(&self, day: Day) -> Result<(), Error> {
        self.write(None, || self.durable.forget(day))
    }
}

struct FaultyView {
    view: Box<dyn Snapshot>,
    taken_in: u64,
    life: Arc<AtomicU64>,
}

impl FaultyView {
    fn ensure_alive(&self) -> Result<(), Error> {
        if self.life.load(Ordering::SeqCst) == self.taken_in { Ok(()) } else { Err(down()) }
    }
}

impl Snapshot for FaultyView {
    fn get(&self, partition: Partition, key: &[u8]) -> Result<Option<Vec<u8>>, Error> {
        self.ensure_alive()?;
        self.view.get(partition, key)
    }

    /// Says so, which makes the simulation read as from a database.
    fn is_remote(&self) -> bool {
        true
    }

    fn scan(
        &self,
        partition: Partition,
        from: &[u8],
        until: Option<&[u8]>,
        visit: &mut Visit<'_>,
    ) -> Result<(), Error> {
        self.ensure_alive()?;
        self.view.scan(partition, from, until, visit)
    }

    fn days(&self) -> Result<Vec<Day>, Error> {
        self.ensure_alive()?;
        self.view.days()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Write;

    fn put(key: &str) -> Commit {
        on(Partition::Base, key)
    }

    fn on(partition: Partition, key: &str) -> Commit {
        let (key, value) = (key.as_bytes().to_vec(), Some(b"v".to_vec()));
        Commit::from(vec![Write { partition, key, value }])
    }

    fn has(store: &FaultStore, key: &str) -> bool {
        store.snapshot().unwrap().get(Partition::Base, key.as_bytes()).unwrap().is_some()
    }

    #[test]
    fn a_failed_write_closes_the_store_and_is_kept_or_lost_as_told() {
        for (fault, kept, crashed) in [
            (InjectedFault::FailedLost, false, false),
            (InjectedFault::FailedKept, true, false),
            (InjectedFault::CrashBefore, false, true),
            (InjectedFault::CrashAfter, true, true),
        ] {
            let store = FaultStore::new(Script::new([InjectedFault::None, fault]));
            store.commit(put("a")).unwrap();
            let earlier = store.snapshot().unwrap();
            assert!(matches!(store.commit(put("b")), Err(Error::Unavailable(_))), "{fault:?}");
            assert_eq!(store.crashed(), crashed, "{fault:?}");
            assert!(matches!(store.commit(put("c")), Err(Error::Unavailable(_))), "{fault:?}");
            assert!(matches!(store.forget(Day(1)), Err(Error::Unavailable(_))), "{fault:?}");
            assert!(matches!(store.days(), Err(Error::Unavailable(_))), "{fault:?}");
            assert!(store.snapshot().is_err(), "{fault:?}");
            assert!(earlier.get(Partition::Base, b"a").is_err(), "{fault:?}");
            store.restart();
            assert!(earlier.get(Partition::Base, b"a").is_err(), "{fault:?}");
            assert!(!store.crashed(), "{fault:?}");
            assert!(has(&store, "a"), "{fault:?}");
            assert_eq!(has(&store, "b"), kept, "{fault:?}");
            assert!(!has(&store, "c"), "{fault:?}");
            store.commit(put("d")).unwrap();
            assert!(has(&store, "d"), "{fault:?}");
        }
    }

    #[test]
    fn a_full_disk_refuses_commits_and_still_forgets() {
        let store =
            FaultStore::new(
                |write: u64| if write > 1 { InjectedFault::Full } else { InjectedFault::None },
            );
        let day = Day(7);
        store.commit(on(Partition::Day(day), "a")).unwrap();
        assert!(matches!(store.commit(put("b")), Err(Error::Full(_))));
        assert!(!has(&store, "b"));
        store.forget(day).unwrap();
        assert_eq!(store.days().unwrap(), []);
    }

    #[test]
    fn a_crash_can_fall_between_any_two_writes() {
        for crash in 1..=4_u64 {
            for moment in [CrashMoment::Before, CrashMoment::After] {
                let store = FaultStore::new(CrashAt { write: crash, moment });
                let mut acknowledged = 0;
                while store.commit(put(&format!("k{acknowledged}"))).is_ok() {
                    acknowledged += 1;
                }
                assert_eq!(acknowledged, crash - 1);
                store.restart();
                let kept = (0..4).filter(|number| has(&store, &format!("k{number}"))).count();
                let expected = acknowledged + u64::from(moment == CrashMoment::After);
                assert_eq!(kept as u64, expected, "{crash} {moment:?}");
            }
        }
    }
}
