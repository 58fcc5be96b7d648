//! The versions of the store that snapshots still see.
//!
//! The database has the newest version only. Each commit brings back the values that it replaced, and they
//! are kept for as long as a snapshot from before is: what a snapshot reads from the database is put back to
//! what it was. So no snapshot needs a transaction of the database, and none keeps it from tidying up.
//!
//! They are those of one writer. What others have replaced, begun or forgotten is not put back.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::Error;
use tidings_core::Day;

/// A table of the database: that of the base, or one of a day, which has a new one if it begins anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TableNo(pub(super) i64);

impl TableNo {
    pub(super) const BASE: Self = Self(0);
}

/// The days with their tables.
pub(super) type Days = Arc<BTreeMap<Day, TableNo>>;

/// The earlier values of keys.
pub(super) type EarlierValues = BTreeMap<(TableNo, Vec<u8>), Option<Vec<u8>>>;

/// The versions.
pub(super) struct Versions {
    state: Mutex<VersionsState>,
    recorded: Condvar,
}

struct VersionsState {
    /// The newest commit whose earlier values are known.
    newest: i64,
    /// The days, as far as this writer knows: another may have begun some, or forgotten them.
    days: Days,
    /// The first versions of tables that this writer has begun, of which a snapshot from before may be alive.
    begun: BTreeMap<TableNo, i64>,
    /// By the version that snapshots see: their number, and what was replaced since, up to the next of these.
    held: BTreeMap<i64, PinnedVersion>,
    /// Snapshots of earlier versions can't be read: what replaced values brought back was lost.
    lost_before: i64,
    /// Tables of forgotten days, with the last version that has them.
    forgotten: Vec<(i64, TableNo)>,
    /// Set once the store can't be used any more.
    ended: Option<Error>,
}

#[derive(Default)]
struct PinnedVersion {
    snapshots: usize,
    before: EarlierValues,
}

/// A version that is kept for a snapshot.
pub(super) struct VersionPin {
    versions: Arc<Versions>,
    pub(super) version: i64,
    pub(super) days: Days,
}

impl Drop for VersionPin {
    fn drop(&mut self) {
        self.versions.release(self.version);
    }
}

impl VersionPin {
    /// Returns true if this writer has begun a table after the version.
    pub(super) fn is_before(&self, table: TableNo) -> bool {
        let state = self.versions.lock();
        let first = state.begun.get(&table);
        first.is_some_and(|first| *first > self.version)
    }

    /// The days of the version: those that the database lists, but for what this writer has begun and forgotten since.
    pub(super) fn days_of(&self, listed: &Days) -> Vec<Day> {
        let state = self.versions.lock();
        let is_begun = |table: &TableNo| state.begun.get(table) > Some(&self.version);
        let is_forgotten = |table: &TableNo| {
            let mut since = state.forgotten.iter();
            since.any(|(last, forgotten)| forgotten == table && *last >= self.version)
        };
        let listed = listed.iter().filter(|(_, table)| !is_begun(table));
        let kept = self.days.iter().filter(|(_, table)| is_forgotten(table));
        let days: BTreeSet<Day> = listed.chain(kept).map(|(day, _)| *day).collect();
        days.into_iter().collect()
    }
}

impl Versions {
    pub(super) fn new(newest: i64, days: Days) -> Self {
        Self {
            state: Mutex::new(VersionsState {
                newest,
                days,
                begun: BTreeMap::new(),
                held: BTreeMap::new(),
                lost_before: i64::MIN,
                forgotten: Vec::new(),
                ended: None,
            }),
            recorded: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, VersionsState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps the newest version.
    pub(super) fn pin(self: &Arc<Self>) -> Result<VersionPin, Error> {
        let mut state = self.lock();
        state.usable()?;
        let version = state.newest;
        state.held.entry(version).or_default().snapshots += 1;
        Ok(VersionPin { versions: Arc::clone(self), version, days: Arc::clone(&state.days) })
    }

    /// The newest version and its days.
    pub(super) fn newest(&self) -> Result<(i64, Days), Error> {
        let state = self.lock();
        state.usable()?;
        Ok((state.newest, Arc::clone(&state.days)))
    }

    /// Records a commit with the tables that it has begun, and with the values that it replaced; `None` if they were
    /// lost.
    pub(super) fn record(
        &self,
        days: Days,
        begun: impl IntoIterator<Item = TableNo>,
        before: Option<EarlierValues>,
    ) {
        let mut state = self.lock();
        match before {
            Some(before) => state.keep(before),
            None => state.lost_before = state.newest + 1,
        }
        state.newest += 1;
        let newest = state.newest;
        let oldest = state.held.keys().next().copied().unwrap_or(newest);
        state.begun.retain(|_, first| *first > oldest);
        let begun = begun.into_iter().map(|table| (table, newest));
        state.begun.extend(begun);
        state.days = days;
        self.recorded.notify_all();
    }

    /// Learns the days that the database lists with a version; returns the tables that are listed no more. Where this
    /// writer has written since, nothing is learned.
    pub(super) fn learn(&self, version: i64, days: &Days) -> Result<Vec<TableNo>, Error> {
        let mut state = self.wait_for(version)?;
        if state.newest != version {
            return Ok(Vec::new());
        }
        let gone = state.days.iter().filter(|(day, _)| {
            // One that begins anew has another table.
            days.get(day) != state.days.get(day)
        });
        let gone = gone.map(|(_, table)| *table).collect();
        state.days = Arc::clone(days);
        Ok(gone)
    }

    /// Waits until the version of an answer is recorded: a commit is read before its own answer is here.
    fn wait_for(&self, read: i64) -> Result<MutexGuard<'_, VersionsState>, Error> {
        let mut state = self.lock();
        if read > state.newest + 1 {
            // This writer has one commit under way at most, so these are of a process that has opened the same share again.
            state.ended.get_or_insert(Error::Fenced);
        }
        while state.ended.is_none() && state.newest < read {
            let waited = self.recorded.wait(state);
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
        state.usable()?;
        Ok(state)
    }

    /// Records that a day was forgotten.
    pub(super) fn forget(&self, days: Days, table: TableNo) {
        let mut state = self.lock();
        let last = state.newest;
        state.forgotten.push((last, table));
        state.newest += 1;
        state.days = days;
        self.recorded.notify_all();
    }

    /// Takes the tables of forgotten days that no snapshot sees any more.
    pub(super) fn take_forgotten(&self) -> Vec<TableNo> {
        let mut state = self.lock();
        let oldest = state.held.keys().next().copied().unwrap_or(i64::MAX);
        let unseen = |(last, _): &mut (i64, TableNo)| *last < oldest;
        let unseen = state.forgotten.extract_if(.., unseen);
        unseen.map(|(_, table)| table).collect()
    }

    /// Ends the use of the store for this reason; the first one stays.
    pub(super) fn end(&self, reason: Error) {
        self.lock().ended.get_or_insert(reason);
        self.recorded.notify_all();
    }

    /// The values that keys of a range had in a version, of those that were replaced since. `read` is the
    /// version of which the rest was read.
    pub(super) fn before(
        &self,
        version: i64,
        read: i64,
        table: TableNo,
        from: &[u8],
        until: Bound<&[u8]>,
    ) -> Result<BTreeMap<Vec<u8>, Option<Vec<u8>>>, Error> {
        let state = self.wait_for(read)?;
        if version < state.lost_before {
            let why = "the connection broke, and with it what was there before the last commit";
            return Err(Error::Unavailable(why.to_owned()));
        }
        let mut found = BTreeMap::new();
        let from = Bound::Included((table, from.to_vec()));
        let until = match until {
            Bound::Included(key) => Bound::Included((table, key.to_vec())),
            Bound::Excluded(key) => Bound::Excluded((table, key.to_vec())),
            Bound::Unbounded => Bound::Excluded((TableNo(table.0 + 1), Vec::new())),
        };
        for held in state.held.range(version..).map(|(_, held)| held) {
            for ((_, key), value) in held.before.range((from.clone(), until.clone())) {
                // The value that was replaced first is the one that the version had.
                found.entry(key.clone()).or_insert_with(|| value.clone());
            }
        }
        Ok(found)
    }

    fn release(&self, version: i64) {
        let mut state = self.lock();
        let Some(held) = state.held.get_mut(&version) else {
            return;
        };
        held.snapshots -= 1;
        if held.snapshots > 0 {
            return;
        }
        let Some(gone) = state.held.remove(&version) else {
            return;
        };
        // Snapshots of earlier versions need what was replaced since theirs.
        if let Some((_, earlier)) = state.held.range_mut(..version).next_back() {
            for (place, value) in gone.before {
                earlier.before.entry(place).or_insert(value);
            }
        }
    }
}

impl VersionsState {
    fn usable(&self) -> Result<(), Error> {
        self.ended.clone().map_or(Ok(()), Err)
    }

    fn keep(&mut self, before: EarlierValues) {
        if let Some((_, held)) = self.held.iter_mut().next_back() {
            for (place, value) in before {
                held.before.entry(place).or_insert(value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replaced(key: u8, value: Option<u8>) -> Option<EarlierValues> {
        let place = (TableNo::BASE, vec![key]);
        Some(EarlierValues::from([(place, value.map(|value| vec![value]))]))
    }

    fn had(versions: &Versions, pin: &VersionPin, key: u8) -> Option<Option<u8>> {
        let key = [key];
        let (table, from, until) = (TableNo::BASE, key.as_slice(), Bound::Included(key.as_slice()));
        let found = versions.before(pin.version, pin.version, table, from, until).unwrap();
        found.into_values().next().map(|value| value.map(|value| value[0]))
    }

    #[test]
    fn each_snapshot_sees_the_values_of_its_version() {
        let versions = Arc::new(Versions::new(7, Days::default()));
        let days = Days::default();
        let first = versions.pin().unwrap();
        versions.record(Arc::clone(&days), [], replaced(1, Some(10)));
        let second = versions.pin().unwrap();
        let third = versions.pin().unwrap();
        versions.record(Arc::clone(&days), [], replaced(1, Some(11)));
        versions.record(Arc::clone(&days), [], replaced(2, None));
        let fourth = versions.pin().unwrap();
        versions.record(Arc::clone(&days), [], replaced(2, Some(20)));
        let all = |versions: &Versions| {
            let pins = [&first, &second, &third, &fourth];
            pins.map(|pin| [1, 2].map(|key| had(versions, pin, key)))
        };
        let expected = [
            [Some(Some(10)), Some(None)],
            [Some(Some(11)), Some(None)],
            [Some(Some(11)), Some(None)],
            [None, Some(Some(20))],
        ];
        assert_eq!(all(&versions), expected);
        // What a snapshot that goes has kept is still needed by those before it.
        drop(second);
        drop(third);
        assert_eq!(had(&versions, &first, 1), Some(Some(10)));
        assert_eq!(had(&versions, &first, 2), Some(None));
        drop(first);
        assert_eq!(had(&versions, &fourth, 1), None);
        drop(fourth);
        assert!(versions.lock().held.is_empty());
    }

    #[test]
    fn a_table_of_a_forgotten_day_stays_while_a_snapshot_sees_it() {
        let days = BTreeMap::from([(Day(1), TableNo(4))]);
        let versions = Arc::new(Versions::new(0, Arc::new(days)));
        let before = versions.pin().unwrap();
        versions.forget(Days::default(), TableNo(4));
        let after = versions.pin().unwrap();
        assert_eq!(versions.take_forgotten(), []);
        assert_eq!((before.days.len(), after.days.len()), (1, 0));
        drop(before);
        assert_eq!(versions.take_forgotten(), [TableNo(4)]);
        assert_eq!(versions.take_forgotten(), []);
    }

    #[test]
    fn snapshots_from_before_a_lost_answer_are_refused() {
        let versions = Arc::new(Versions::new(0, Days::default()));
        let before = versions.pin().unwrap();
        versions.record(Days::default(), [], None);
        let after = versions.pin().unwrap();
        let (table, from, until) = (TableNo::BASE, [].as_slice(), Bound::Unbounded);
        assert!(matches!(
            versions.before(before.version, 1, table, from, until),
            Err(Error::Unavailable(_))
        ));
        assert!(versions.before(after.version, 1, table, from, until).is_ok());
        versions.end(Error::Fenced);
        versions.end(Error::Unavailable("later".to_owned()));
        assert!(matches!(
            versions.before(after.version, 9, table, from, until),
            Err(Error::Fenced)
        ));
        assert!(matches!(versions.pin().err(), Some(Error::Fenced)));
    }

    #[test]
    fn days_of_others_are_learned_and_own_ones_put_back() {
        let days = |days: &[(i32, i64)]| -> Days {
            let days = days.iter().map(|(day, table)| (Day(*day), TableNo(*table)));
            Arc::new(days.collect())
        };
        let versions = Arc::new(Versions::new(7, days(&[(1, 1), (2, 2)])));
        let before = versions.pin().unwrap();
        // Another has begun 3, has begun 1 anew, and has forgotten 2.
        let listed = days(&[(1, 4), (3, 3)]);
        let gone = versions.learn(7, &listed).unwrap();
        assert_eq!(gone, [TableNo(1), TableNo(2)]);
        assert_eq!(versions.pin().unwrap().days, listed);
        assert_eq!(before.days_of(&listed), [Day(1), Day(3)]);
        let listed = days(&[(1, 4), (3, 3), (5, 5)]);
        versions.record(Arc::clone(&listed), [TableNo(5)], replaced(1, None));
        assert!(before.is_before(TableNo(5)) && !before.is_before(TableNo(3)));
        assert_eq!(before.days_of(&listed), [Day(1), Day(3)]);
        let between = versions.pin().unwrap();
        assert_eq!(between.days_of(&listed), [Day(1), Day(3), Day(5)]);
        // A list from before the last commit teaches nothing.
        assert_eq!(versions.learn(7, &Days::default()).unwrap(), []);
        assert_eq!(versions.pin().unwrap().days, listed);
        versions.forget(days(&[(1, 4), (3, 3)]), TableNo(5));
        let listed = days(&[(1, 4)]);
        assert_eq!(between.days_of(&listed), [Day(1), Day(5)]);
        assert_eq!(versions.pin().unwrap().days_of(&listed), [Day(1)]);
    }

    #[test]
    fn who_reads_what_somebody_else_has_committed_is_fenced() {
        let versions = Arc::new(Versions::new(7, Days::default()));
        let pin = versions.pin().unwrap();
        let (table, from, until) = (TableNo::BASE, [].as_slice(), Bound::Unbounded);
        assert!(versions.before(pin.version, 7, table, from, until).is_ok());
        let read = versions.before(pin.version, 9, table, from, until);
        assert!(matches!(read, Err(Error::Fenced)));
    }

    #[test]
    fn a_list_of_days_waits_for_the_commit_that_it_shows() {
        let versions = Arc::new(Versions::new(7, Days::default()));
        let before = versions.pin().unwrap();
        let listed: Days = Arc::new(BTreeMap::from([(Day(1), TableNo(1))]));
        std::thread::scope(|scope| {
            let learning = scope.spawn(|| {
                versions.learn(8, &listed).unwrap();
                before.is_before(TableNo(1))
            });
            versions.record(Arc::clone(&listed), [TableNo(1)], replaced(1, None));
            assert!(learning.join().unwrap());
        });
    }
}
