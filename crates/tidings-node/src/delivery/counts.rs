//! Counts by key. A key that counts nothing takes no memory.

use std::collections::BTreeMap;

/// Counts by key.
#[derive(Debug)]
pub(crate) struct KeyCounts<K>(BTreeMap<K, usize>);

impl<K> Default for KeyCounts<K> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<K: Ord> KeyCounts<K> {
    /// Counts one more of a key.
    pub(crate) fn add(&mut self, key: K) {
        *self.0.entry(key).or_default() += 1;
    }

    /// Counts one less of a key.
    pub(crate) fn take(&mut self, key: &K) {
        if let Some(count) = self.0.get_mut(key) {
            *count -= 1;
            if *count == 0 {
                self.0.remove(key);
            }
        }
    }

    /// The count of a key.
    pub(crate) fn of(&self, key: &K) -> usize {
        self.0.get(key).copied().unwrap_or_default()
    }
}
