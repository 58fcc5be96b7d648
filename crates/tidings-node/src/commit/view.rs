//! Read access to the store for the core.

use std::ops::ControlFlow;
use std::sync::Arc;

use tidings_core::journal::{ReadView, Unreadable};
use tidings_store::{Partition, Snapshot, Store, Visit};

use crate::commit::{Writes, long_values};
use crate::error::Error;
use crate::telemetry::vitals::Vitals;

/// A snapshot for the core. Drop it before the next commit.
pub struct StoreView {
    snapshot: Box<dyn Snapshot>,
    /// The writes on top of it, in order.
    ahead: Vec<Writes>,
    /// The measurements of failing reads.
    vitals: Arc<Vitals>,
}

impl StoreView {
    /// A view of the committed data.
    ///
    /// # Errors
    /// [`Error::Store`] where the store is closed or broken.
    pub fn of(store: &dyn Store) -> Result<Self, Error> {
        Self::ahead_of(store, Vec::new())
    }

    /// A view of the data after these writes, some of which may be committed already.
    pub(crate) fn ahead_of(store: &dyn Store, ahead: Vec<Writes>) -> Result<Self, Error> {
        let snapshot = store.snapshot()?;
        Ok(Self { snapshot, ahead, vitals: Arc::default() })
    }

    /// Sets the measurements of failing reads.
    pub(crate) fn measured(self, vitals: &Arc<Vitals>) -> Self {
        let vitals = Arc::clone(vitals);
        Self { vitals, ..self }
    }

    /// Visits the rows after these writes.
    fn scan_after(
        &self,
        writes: &[Writes],
        partition: Partition,
        from: &[u8],
        until: Option<&[u8]>,
        visit: &mut Visit<'_>,
    ) -> Result<(), tidings_store::Error> {
        let Some((newest, before)) = writes.split_last() else {
            return self.snapshot.scan(partition, from, until, visit);
        };
        newest.merge(partition, from, until, visit, |visit| {
            self.scan_after(before, partition, from, until, visit)
        })
    }

    /// Joins a value that was cut into rows.
    fn whole(
        &self,
        partition: Partition,
        key: &[u8],
        value: Option<Vec<u8>>,
    ) -> Result<Option<Vec<u8>>, Unreadable> {
        let join = |value| long_values::joined(key, value, |key| self.row(partition, key));
        value.map(join).transpose()
    }

    /// Reads a row as it is stored.
    fn row(&self, partition: Partition, key: &[u8]) -> Result<Option<Vec<u8>>, Unreadable> {
        let mut newest_first = self.ahead.iter().rev();
        if let Some(value) = newest_first.find_map(|writes| writes.get(partition, key)) {
            return Ok(value.map(<[u8]>::to_vec));
        }
        self.recorded(partition, key, self.snapshot.get(partition, key))
    }

    /// Records whether a read that began at a key failed.
    fn recorded<T>(
        &self,
        partition: Partition,
        from: &[u8],
        read: Result<T, tidings_store::Error>,
    ) -> Result<T, Unreadable> {
        match read {
            Ok(found) => {
                self.vitals.reads.succeeded(partition, from);
                Ok(found)
            }
            Err(fault) => {
                self.vitals.reads.failed(partition, from, &fault);
                Err(Unreadable(fault.to_string()))
            }
        }
    }
}

impl ReadView for StoreView {
    fn get(&self, partition: Partition, key: &[u8]) -> Result<Option<Vec<u8>>, Unreadable> {
        let row = self.row(partition, key)?;
        self.whole(partition, key, row)
    }

    fn get_many(
        &self,
        partition: Partition,
        keys: &[Vec<u8>],
    ) -> Result<Vec<Option<Vec<u8>>>, Unreadable> {
        let stored: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
        let read = self.snapshot.get_many(partition, &stored);
        let mut values = self.recorded(partition, &[], read)?;
        for (key, value) in keys.iter().zip(&mut values) {
            let mut newest_first = self.ahead.iter().rev();
            if let Some(ahead) = newest_first.find_map(|writes| writes.get(partition, key)) {
                *value = ahead.map(<[u8]>::to_vec);
            }
            *value = self.whole(partition, key, value.take())?;
        }
        Ok(values)
    }

    fn is_remote(&self) -> bool {
        self.snapshot.is_remote()
    }

    fn scan(
        &self,
        partition: Partition,
        from: &[u8],
        until: Option<&[u8]>,
        visit: &mut dyn FnMut(&[u8], &[u8]) -> ControlFlow<()>,
    ) -> Result<(), Unreadable> {
        let mut failed = None;
        let scanned = self.scan_after(&self.ahead, partition, from, until, &mut |key, value| {
            if long_values::pieces_of(value).is_none() {
                return visit(key, value);
            }
            match self.whole(partition, key, Some(value.to_vec())) {
                Ok(whole) => visit(key, whole.as_deref().unwrap_or_default()),
                Err(fault) => {
                    failed = Some(fault);
                    ControlFlow::Break(())
                }
            }
        });
        self.recorded(partition, from, scanned)?;
        failed.map_or(Ok(()), Err)
    }
}
