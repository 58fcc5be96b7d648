//! The engine of simulation and tests, in memory.
//!
//! It is as strict as the engines on disk: a day without writes is absent, and the same commits are refused.

mod table;

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use self::table::Table;
use crate::{Commit, Error, Partition, Snapshot, Store, Visit, limits};
use tidings_core::Day;

/// An ordered, partitioned store in memory. Clones are the same store: a clone that outlives the
/// original is how a test opens it again.
#[derive(Clone, Debug, Default)]
pub struct MemoryStore {
    partitions: Arc<RwLock<SharedPartitions>>,
}

/// The partitions that a snapshot shares: the first write after a snapshot copies the list, the first
/// write to a table copies that, and only leaf by leaf.
#[derive(Clone, Debug, Default)]
struct SharedPartitions(Arc<BTreeMap<Partition, Table>>);

impl MemoryStore {
    /// Creates an empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn view(&self) -> SharedPartitions {
        self.partitions.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Store for MemoryStore {
    fn snapshot(&self) -> Result<Box<dyn Snapshot>, Error> {
        Ok(Box::new(self.view()))
    }

    fn commit(&self, commit: Commit) -> Result<(), Error> {
        limits::validate_writes(&commit.writes)?;
        let mut partitions = self.partitions.write().unwrap_or_else(PoisonError::into_inner);
        if commit.writes.is_empty() {
            return Ok(());
        }
        let tables = Arc::make_mut(&mut partitions.0);
        for write in &*commit.writes {
            match &write.value {
                Some(value) => {
                    tables.entry(write.partition).or_default().insert(&write.key, value.clone());
                }
                None => {
                    if let Some(table) = tables.get_mut(&write.partition) {
                        table.remove(&write.key);
                    }
                }
            }
        }
        Ok(())
    }

    fn days(&self) -> Result<Vec<Day>, Error> {
        Snapshot::days(&self.view())
    }

    fn forget(&self, day: Day) -> Result<(), Error> {
        let mut partitions = self.partitions.write().unwrap_or_else(PoisonError::into_inner);
        if partitions.0.contains_key(&Partition::Day(day)) {
            Arc::make_mut(&mut partitions.0).remove(&Partition::Day(day));
        }
        Ok(())
    }
}

impl Snapshot for SharedPartitions {
    fn get(&self, partition: Partition, key: &[u8]) -> Result<Option<Vec<u8>>, Error> {
        Ok(self.0.get(&partition).and_then(|table| table.get(key)).map(<[u8]>::to_vec))
    }

    fn scan(
        &self,
        partition: Partition,
        from: &[u8],
        until: Option<&[u8]>,
        visit: &mut Visit<'_>,
    ) -> Result<(), Error> {
        if let Some(table) = self.0.get(&partition) {
            table.scan(from, until, visit);
        }
        Ok(())
    }

    fn days(&self) -> Result<Vec<Day>, Error> {
        let day = |partition: &Partition| match partition {
            Partition::Base => None,
            Partition::Day(day) => Some(*day),
        };
        Ok(self.0.keys().filter_map(day).collect())
    }
}
