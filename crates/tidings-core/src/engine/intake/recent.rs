//! A cache of values that were read from the store.
//!
//! The messages of a digest are planned some hundred recipients at a time, and each slice reads the same events and
//! objects. The cache is derived and bounded: losing it costs a read.

use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};

use quick_cache::Weighter;
use quick_cache::unsync::{Cache, DefaultLifecycle};
use rustc_hash::FxBuildHasher;

/// Maximum number of stored bytes of a cache.
const BYTES_MAX: u64 = 8 << 20;

/// Maximum number of stored bytes of a value in a cache.
const VALUE_BYTES_MAX: usize = 64 << 10;

/// The memory of a value besides its stored bytes, roughly.
const VALUE_OVERHEAD: usize = 200;

/// The number of values for which a cache has room before it grows.
const VALUES_EXPECTED: usize = 1_024;

/// A cache of values, which its owner removes before they change.
///
/// A clone begins empty: its owner is another one, which may be at another instant.
#[derive(Debug)]
pub(crate) struct Recent<K, V>(Mutex<CachedValues<K, V>>);

type CachedValues<K, V> = Cache<K, SizedValue<V>, StoredBytes, FxBuildHasher>;

/// A value, and the number of bytes that it takes in the store.
#[derive(Clone, Debug)]
struct SizedValue<V> {
    value: V,
    bytes: usize,
}

#[derive(Clone, Debug)]
struct StoredBytes;

impl<K, V> Weighter<K, SizedValue<V>> for StoredBytes {
    fn weight(&self, _key: &K, stored: &SizedValue<V>) -> u64 {
        (stored.bytes + VALUE_OVERHEAD) as u64
    }
}

impl<K: Eq + Hash, V> Default for Recent<K, V> {
    fn default() -> Self {
        Self(Mutex::new(Cache::with(
            VALUES_EXPECTED,
            BYTES_MAX,
            StoredBytes,
            FxBuildHasher,
            DefaultLifecycle::default(),
        )))
    }
}

impl<K: Eq + Hash, V> Clone for Recent<K, V> {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl<K: Eq + Hash, V: Clone> Recent<K, V> {
    /// A value, if it is in the cache.
    pub(crate) fn get(&self, key: &K) -> Option<V> {
        self.values().get(key).map(|stored| stored.value.clone())
    }

    /// Caches a value by its number of bytes in the store, unless it is large.
    pub(crate) fn keep(&self, key: K, value: V, bytes: usize) {
        if bytes <= VALUE_BYTES_MAX {
            self.values().insert(key, SizedValue { value, bytes });
        }
    }

    /// Removes a value that is about to change.
    pub(crate) fn remove(&mut self, key: &K) {
        self.values().remove(key);
    }

    fn values(&self) -> MutexGuard<'_, CachedValues<K, V>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cache_is_bounded_and_a_clone_of_it_empty() {
        let mut recent = Recent::default();
        recent.keep(1, "one", 10);
        recent.keep(2, "two", VALUE_BYTES_MAX + 1);
        assert_eq!((recent.get(&1), recent.get(&2)), (Some("one"), None));
        assert_eq!(recent.clone().get(&1), None);
        recent.remove(&1);
        assert_eq!(recent.get(&1), None);
        for key in 3..1_000 {
            recent.keep(key, "more", VALUE_BYTES_MAX);
        }
        assert!(recent.values().weight() <= BYTES_MAX);
        assert_eq!(recent.get(&999), Some("more"));
    }

    #[test]
    fn a_pass_over_a_little_more_than_fits_is_hit() {
        let recent = Recent::default();
        let values = 2 * BYTES_MAX as usize / (1_024 + VALUE_OVERHEAD);
        let mut hits = 0;
        for _ in 0..4 {
            for key in 0..values {
                match recent.get(&key) {
                    Some(()) => hits += 1,
                    None => recent.keep(key, (), 1_024),
                }
            }
        }
        assert!(hits > values / 2, "{hits} of {values}");
    }
}
