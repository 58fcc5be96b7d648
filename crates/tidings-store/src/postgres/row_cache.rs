//! Rows that were read a moment ago: a page of an inbox reads some rows of each of its days, each a round trip away.
//!
//! Only rows are kept that no other writer changes: all where there is one writer, else those of buckets, which are read
//! here by their writer. What that writes is removed before. Losing a row costs a read.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tidings_core::journal::is_of_bucket;

use super::versions::TableNo;

/// The number of bytes at which rows that were not read since the last time are dropped.
const BYTES_KEPT: usize = 32 << 20;

/// The most bytes of a row in the cache.
const ROW_BYTES_MAX: usize = 64 << 10;

/// The memory of a row besides its key and value, roughly.
const ROW_OVERHEAD: usize = 100;

/// The cache.
pub(super) struct RowCache {
    state: Mutex<RowCacheState>,
    /// Set once others write beside this writer, or may have.
    shared: Arc<AtomicBool>,
}

#[derive(Default)]
struct RowCacheState {
    newer: CachedRows,
    /// Rows that were not read since the last time.
    older: CachedRows,
    /// The newest version of which all that was written is known.
    version: i64,
    /// The hashes of the keys that are being written, or were before the version.
    writing: HashSet<u64>,
    hasher: RandomState,
}

#[derive(Default)]
struct CachedRows {
    tables: BTreeMap<TableNo, HashMap<Vec<u8>, Arc<[u8]>>>,
    bytes: usize,
}

impl CachedRows {
    fn get(&self, table: TableNo, key: &[u8]) -> Option<&Arc<[u8]>> {
        self.tables.get(&table)?.get(key)
    }

    fn put(&mut self, table: TableNo, key: &[u8], value: Arc<[u8]>) {
        let bytes = key.len() + value.len() + ROW_OVERHEAD;
        let rows = self.tables.entry(table).or_default();
        if rows.insert(key.to_vec(), value).is_none() {
            self.bytes += bytes;
        }
    }

    fn remove(&mut self, table: TableNo, key: &[u8]) {
        if let Some(rows) = self.tables.get_mut(&table)
            && let Some(value) = rows.remove(key)
        {
            self.bytes -= key.len() + value.len() + ROW_OVERHEAD;
        }
    }
}

impl RowCache {
    /// An empty cache of the rows of a store, of which a version is the newest.
    pub(super) fn new(version: i64, shared: Arc<AtomicBool>) -> Self {
        let state = RowCacheState { version, ..RowCacheState::default() };
        Self { state: Mutex::new(state), shared }
    }

    fn lock(&self) -> MutexGuard<'_, RowCacheState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_own(&self, key: &[u8]) -> bool {
        !self.shared.load(Ordering::Acquire) || is_of_bucket(key)
    }

    /// The newest value of a row, if it is in the cache.
    pub(super) fn get(&self, table: TableNo, key: &[u8]) -> Option<Arc<[u8]>> {
        if !self.is_own(key) {
            return None;
        }
        let mut state = self.lock();
        if let Some(value) = state.newer.get(table, key) {
            return Some(Arc::clone(value));
        }
        let value = Arc::clone(state.older.get(table, key)?);
        state.put(table, key, Arc::clone(&value));
        Some(value)
    }

    /// Keeps the value that a row had in a version, unless it may have changed since.
    pub(super) fn keep(&self, version: i64, table: TableNo, key: &[u8], value: &[u8]) {
        if !self.is_own(key) || value.len() > ROW_BYTES_MAX {
            return;
        }
        let mut state = self.lock();
        let hash = state.hasher.hash_one(key);
        if version >= state.version && !state.writing.contains(&hash) {
            state.put(table, key, value.into());
        }
    }

    /// Removes rows that are about to be written.
    pub(super) fn begin<'k>(&self, keys: impl Iterator<Item = (TableNo, &'k [u8])>) {
        let mut state = self.lock();
        for (table, key) in keys {
            state.newer.remove(table, key);
            state.older.remove(table, key);
            let hash = state.hasher.hash_one(key);
            state.writing.insert(hash);
        }
    }

    /// Notes that all that was begun is written, as of a version.
    pub(super) fn end(&self, version: i64) {
        let mut state = self.lock();
        state.version = version;
        state.writing.clear();
    }
}

impl RowCacheState {
    fn put(&mut self, table: TableNo, key: &[u8], value: Arc<[u8]>) {
        if self.newer.bytes >= BYTES_KEPT {
            self.older = std::mem::take(&mut self.newer);
        }
        self.newer.put(table, key, value);
    }
}

#[cfg(test)]
mod tests {
    use tidings_core::journal::{Key, Owner, Table};
    use tidings_core::model::BucketNo;

    use super::*;

    const DAY: TableNo = TableNo(3);

    fn key(number: u32) -> Vec<u8> {
        let key = Key::of(Owner::Bucket(BucketNo(7)), Table::Postings);
        key.u32(number).done()
    }

    fn has(cache: &RowCache, number: u32) -> Option<Vec<u8>> {
        cache.get(DAY, &key(number)).map(|value| value.to_vec())
    }

    #[test]
    fn a_row_is_kept_until_it_is_written() {
        let cache = RowCache::new(0, Arc::default());
        cache.keep(0, DAY, &key(1), b"one");
        cache.keep(0, DAY, &key(2), b"two");
        assert_eq!(has(&cache, 1).unwrap(), b"one");
        assert!(cache.get(TableNo(4), &key(1)).is_none());
        cache.begin([(DAY, &*key(1))].into_iter());
        assert_eq!((has(&cache, 1), has(&cache, 2).is_some()), (None, true));
        // Read before it was written, or in doubt.
        cache.keep(0, DAY, &key(1), b"one");
        cache.keep(1, DAY, &key(1), b"new");
        assert_eq!(has(&cache, 1), None);
        // What is not being written may be kept meanwhile.
        cache.keep(0, DAY, &key(3), b"three");
        cache.end(1);
        cache.keep(0, DAY, &key(1), b"one");
        assert_eq!((has(&cache, 1), has(&cache, 3).is_some()), (None, true));
        cache.keep(1, DAY, &key(1), b"new");
        assert_eq!(has(&cache, 1).unwrap(), b"new");
    }

    #[test]
    fn rows_that_others_may_write_are_not_kept() {
        let cache = RowCache::new(0, Arc::default());
        let of_intake = Key::of(Owner::Intake, Table::Ids).done();
        cache.keep(0, DAY, &of_intake, b"x");
        cache.keep(0, DAY, &key(1), b"y");
        assert!(cache.get(DAY, &of_intake).is_some());
        cache.shared.store(true, Ordering::Release);
        assert!(cache.get(DAY, &of_intake).is_none());
        assert!(cache.get(DAY, &key(1)).is_some());
        cache.keep(0, DAY, &of_intake, b"x");
        cache.shared.store(false, Ordering::Release);
        cache.begin([(DAY, &*of_intake)].into_iter());
        cache.end(1);
        assert!(cache.get(DAY, &of_intake).is_none());
    }

    #[test]
    fn the_cache_is_bounded_and_keeps_what_is_asked_for() {
        let cache = RowCache::new(0, Arc::default());
        let value = vec![0; ROW_BYTES_MAX];
        cache.keep(0, DAY, &key(0), &value[1..]);
        for number in 1..2_000 {
            cache.keep(0, DAY, &key(number), &value);
            assert!(has(&cache, 0).is_some());
            let state = cache.lock();
            let bytes = state.newer.bytes + state.older.bytes;
            assert!(bytes <= 2 * (BYTES_KEPT + ROW_BYTES_MAX + 2 * ROW_OVERHEAD));
        }
        assert_eq!(has(&cache, 1), None);
        cache.keep(0, DAY, &key(5_000), &vec![0; ROW_BYTES_MAX + 1]);
        assert_eq!(has(&cache, 5_000), None);
    }
}
