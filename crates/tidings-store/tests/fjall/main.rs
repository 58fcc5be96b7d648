//! Proofs that only the engine on disk owes: its directory, damage, kills, and the disk it takes.

#![allow(clippy::unwrap_used, reason = "a test stops at the first thing that goes wrong")]

mod busy;
mod damage;
mod directory;
mod disk;
mod files;
mod full;
mod kill;

use std::ops::ControlFlow;
use std::path::Path;

use tidings_core::Day;
use tidings_store::{
    Commit, Error, Expected, FjallStore, Options, Partition, Store, StoreId, Write,
};

/// The store of a test, made where there is none.
const NEW_STORE: Expected = Expected::OrNew(StoreId([0; 16]));

fn open(path: &Path) -> Result<FjallStore, Error> {
    FjallStore::open(path, NEW_STORE, Options::default())
}

fn put(partition: Partition, key: &[u8], value: &[u8]) -> Write {
    Write { partition, key: key.to_vec(), value: Some(value.to_vec()) }
}

fn commit(writes: impl IntoIterator<Item = Write>) -> Commit {
    writes.into_iter().collect::<Vec<_>>().into()
}

fn on(day: i32) -> Partition {
    Partition::Day(Day(day))
}

fn get(store: &dyn Store, partition: Partition, key: &[u8]) -> Option<Vec<u8>> {
    store.snapshot().unwrap().get(partition, key).unwrap()
}

type Rows = Vec<(Vec<u8>, Vec<u8>)>;

fn rows(store: &dyn Store, partition: Partition) -> Result<Rows, Error> {
    let mut rows = Rows::new();
    store.snapshot()?.scan(partition, &[], None, &mut |key, value| {
        rows.push((key.to_vec(), value.to_vec()));
        ControlFlow::Continue(())
    })?;
    Ok(rows)
}

/// Bytes that do not compress, the same for the same seed.
fn noise(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    (0..length)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.to_le_bytes()[3]
        })
        .collect()
}
