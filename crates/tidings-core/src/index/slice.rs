//! One slice of a chore: what goes to the store between two steps.

use crate::journal::chunks;
use crate::journal::table::{Partition, Write};

/// One slice of a chore: the writes of one commit.
#[derive(Debug)]
pub(crate) struct Slice {
    pub(crate) writes: Vec<Write>,
    /// Number of bytes that may still be read or written.
    room: usize,
}

impl Slice {
    pub(crate) fn new(room: usize) -> Self {
        Self { writes: Vec::new(), room }
    }

    pub(crate) fn put(&mut self, partition: Partition, key: Vec<u8>, value: Option<Vec<u8>>) {
        self.spend(key.len() + value.as_ref().map_or(0, Vec::len));
        self.writes.push(Write { partition, key, value });
    }

    /// Writes a value that may need several rows.
    pub(crate) fn put_chunked(&mut self, partition: Partition, key: Vec<u8>, value: &[u8]) {
        for row in chunks::rows(partition, key, value) {
            self.put(row.partition, row.key, row.value);
        }
    }

    /// Counts work without writes against the slice.
    pub(crate) fn spend(&mut self, bytes: usize) {
        self.room = self.room.saturating_sub(bytes);
    }

    pub(crate) fn is_full(&self) -> bool {
        self.room == 0
    }
}
