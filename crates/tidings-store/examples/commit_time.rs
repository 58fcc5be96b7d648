//! Measures durable commits on this machine: `cargo run --release -p tidings-store --example
//! commit_time -- DIRECTORY` with an empty directory on the disk in question.

use std::time::{Duration, Instant};

use tidings_core::Day;
use tidings_store::{
    Commit, Expected, FjallStore, MemoryStore, Options, Partition, Store, StoreId, Write,
};

/// The store of a test, made where there is none.
const NEW_STORE: Expected = Expected::OrNew(StoreId([0; 16]));

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let path = std::env::args().nth(1).ok_or("name an empty directory")?;
    let store = FjallStore::open(path, NEW_STORE, Options::default())?;
    for (rows, bytes) in [(1, 100), (400, 56), (50, 1_000), (1, 50_000), (1, 1_000_000)] {
        measure(&store, &format!("fjall, {rows} rows of {bytes} bytes"), 1_000, rows, bytes)?;
    }
    println!("{} MiB on disk", store.disk_bytes()? >> 20);
    let memory = MemoryStore::new();
    measure(&memory, "memory, 1 row of 100 bytes", 300_000, 1, 100)?;
    measure(&memory, "memory, 10 rows of 100 bytes", 100_000, 10, 100)?;
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "a measurement")]
fn now() -> Instant {
    Instant::now()
}

fn measure(
    store: &dyn Store,
    name: &str,
    commits: u32,
    rows: u32,
    bytes: usize,
) -> Result<(), Failure> {
    let mut times = Vec::new();
    for number in 0..commits {
        let writes = (0..rows).map(|row| Write {
            partition: if row % 10 == 0 { Partition::Base } else { Partition::Day(Day(1)) },
            key: [number.to_be_bytes(), row.to_be_bytes()].concat(),
            value: Some(noise(number * 1_000 + row, bytes)),
        });
        let commit = Commit::from(writes.collect::<Vec<_>>());
        let start = now();
        store.commit(commit)?;
        times.push(start.elapsed());
    }
    times.sort_unstable();
    let quantile = |shard: usize| times[(times.len() - 1) * shard / 1_000];
    let whole: Duration = times.iter().sum();
    println!(
        "{name}: p50 {:?}, p99 {:?}, worst {:?}, {:.0} commits/s",
        quantile(500),
        quantile(990),
        quantile(1_000),
        f64::from(commits) / whole.as_secs_f64()
    );
    Ok(())
}

/// Bytes that do not compress.
fn noise(seed: u32, length: usize) -> Vec<u8> {
    let mut state = u64::from(seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    (0..length)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.to_le_bytes()[3]
        })
        .collect()
}
