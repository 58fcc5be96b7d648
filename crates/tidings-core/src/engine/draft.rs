//! One step's writes, read back before the store has them.

use std::collections::BTreeMap;

use super::cancel::Sending;
use crate::journal::at_rest::{Shelf, Unreadable};
use crate::table::{Partition, Write};

/// What a step wants to write, over what is stored.
pub(crate) struct Draft<'a> {
    pub(crate) shelf: &'a dyn Shelf,
    /// Whoever sends messages meanwhile.
    pub(crate) sending: &'a dyn Sending,
    writes: BTreeMap<(Partition, Vec<u8>), Option<Vec<u8>>>,
}

impl<'a> Draft<'a> {
    pub(crate) fn new(shelf: &'a dyn Shelf) -> Self {
        Self {
            shelf,
            sending: &(),
            writes: BTreeMap::new(),
        }
    }

    /// The same beside somebody who sends.
    pub(crate) fn beside(mut self, sending: &'a dyn Sending) -> Self {
        self.sending = sending;
        self
    }

    pub(crate) fn put(&mut self, partition: Partition, key: Vec<u8>, value: Vec<u8>) {
        self.writes.insert((partition, key), Some(value));
    }

    pub(crate) fn delete(&mut self, partition: Partition, key: Vec<u8>) {
        self.writes.insert((partition, key), None);
    }

    pub(crate) fn extend(&mut self, writes: Vec<Write>) {
        for Write {
            partition,
            key,
            value,
        } in writes
        {
            self.writes.insert((partition, key), value);
        }
    }

    pub(crate) fn get(
        &self,
        partition: Partition,
        key: &[u8],
    ) -> Result<Option<Vec<u8>>, Unreadable> {
        match self.writes.get(&(partition, key.to_vec())) {
            Some(value) => Ok(value.clone()),
            None => self.shelf.get(partition, key),
        }
    }

    /// The keys with this prefix that the step has written and the values; stored ones are not seen.
    pub(crate) fn written(
        &self,
        partition: Partition,
        prefix: &[u8],
    ) -> impl Iterator<Item = (&[u8], Option<&[u8]>)> {
        let prefix = prefix.to_vec();
        self.writes
            .range((partition, prefix.clone())..)
            .take_while(move |((at, key), _)| *at == partition && key.starts_with(&prefix))
            .map(|((_, key), value)| (key.as_slice(), value.as_deref()))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.writes.is_empty()
    }

    /// Drops what was written into a partition that goes away.
    pub(crate) fn forget(&mut self, partition: Partition) {
        self.writes.retain(|(at, _), _| *at != partition);
    }

    pub(crate) fn done(self) -> Vec<Write> {
        let writes = self.writes.into_iter();
        writes
            .map(|((partition, key), value)| Write {
                partition,
                key,
                value,
            })
            .collect()
    }
}
