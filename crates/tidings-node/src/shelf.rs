//! Lends the core what is stored.

use std::ops::ControlFlow;

use tidings_core::journal::at_rest::{Shelf, Unreadable};
use tidings_store::{Partition, Snapshot, Store};

use crate::Error;

/// A snapshot as the core reads it. To be dropped before the next commit.
pub struct StoreShelf(Box<dyn Snapshot>);

impl StoreShelf {
    /// What is committed now.
    ///
    /// # Errors
    /// [`Error::Store`] where the store is closed or broken.
    pub fn of(store: &dyn Store) -> Result<Self, Error> {
        Ok(Self(store.snapshot()?))
    }
}

impl Shelf for StoreShelf {
    fn get(&self, partition: Partition, key: &[u8]) -> Result<Option<Vec<u8>>, Unreadable> {
        self.0
            .get(partition, key)
            .map_err(|fault| Unreadable(fault.to_string()))
    }

    fn scan(
        &self,
        partition: Partition,
        from: &[u8],
        until: Option<&[u8]>,
        visit: &mut dyn FnMut(&[u8], &[u8]) -> ControlFlow<()>,
    ) -> Result<(), Unreadable> {
        self.0
            .scan(partition, from, until, visit)
            .map_err(|fault| Unreadable(fault.to_string()))
    }
}
