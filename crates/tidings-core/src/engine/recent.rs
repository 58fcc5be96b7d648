//! Values that were read from the store a moment ago.
//!
//! The messages of a digest are planned some hundred recipients at a time, and each time the same events and objects
//! are asked for. A cache is derived and bounded: losing it costs a read.

use std::hash::Hash;
use std::sync::{Mutex, PoisonError};

use rustc_hash::FxHashMap;

/// The number of stored bytes at which a cache begins anew.
const BYTES_KEPT: usize = 8 << 20;

/// The most stored bytes of a value in a cache.
const VALUE_BYTES_MAX: usize = 64 << 10;

/// The memory of a value besides its stored bytes, roughly.
const VALUE_OVERHEAD: usize = 200;

/// A cache of values, which its owner removes before they change.
///
/// A clone begins empty: its owner is another one, which may be at another instant.
#[derive(Debug)]
pub(crate) struct Recent<K, V>(Mutex<Kept<K, V>>);

#[derive(Debug)]
struct Kept<K, V> {
    values: FxHashMap<K, V>,
    bytes: usize,
}

impl<K, V> Default for Recent<K, V> {
    fn default() -> Self {
        Self(Mutex::new(Kept {
            values: FxHashMap::default(),
            bytes: 0,
        }))
    }
}

impl<K, V> Clone for Recent<K, V> {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl<K: Eq + Hash, V: Clone> Recent<K, V> {
    /// A value, if it is in the cache.
    pub(crate) fn get(&self, key: &K) -> Option<V> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.values.get(key).cloned()
    }

    /// Caches a value that takes so many bytes in the store, unless it is large.
    pub(crate) fn keep(&self, key: K, value: V, bytes: usize) {
        if bytes > VALUE_BYTES_MAX {
            return;
        }
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.bytes >= BYTES_KEPT {
            kept.values.clear();
            kept.bytes = 0;
        }
        kept.bytes += bytes + VALUE_OVERHEAD;
        kept.values.insert(key, value);
    }

    /// Removes a value that is about to change.
    pub(crate) fn remove(&mut self, key: &K) {
        let kept = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        kept.values.remove(key);
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
        let kept = recent.0.into_inner().unwrap();
        assert!(kept.bytes <= BYTES_KEPT + VALUE_BYTES_MAX + VALUE_OVERHEAD);
        assert_eq!(kept.values.get(&999), Some(&"more"));
    }
}
