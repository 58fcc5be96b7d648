//! Writes while the engine's background work has more to do than it can.

use std::time::Duration;

use tempfile::tempdir;
use tidings_store::{FjallStore, Options, Store};

use super::{commit, get, noise, on, put};

/// Small commits that come while full memtables wait for the engine's one background thread: with each
/// of them the engine asked that thread once more, and once a thousand requests were waiting, it stood
/// still for ever.
#[test]
fn small_commits_go_on_while_full_memtables_wait() {
    const DAYS: u32 = 4;
    const ROWS: u32 = 62_000;
    let dir = tempdir().unwrap();
    let options = Options { patience: Duration::from_secs(20), ..Options::default() };
    let store = FjallStore::open(dir.path().join("store"), crate::NEW_STORE, options).unwrap();
    let value = noise(7, 256);
    let partition = |number: u32| on((number % DAYS).cast_signed());
    let days = (0..DAYS).map(|day| put(partition(day), b"small", b""));
    store.commit(commit(days)).unwrap();
    for round in 0..40 {
        let full = (0..ROWS)
            .map(|row| (round * ROWS + row).to_be_bytes())
            .map(|key| put(partition(round), &key, &value));
        store.commit(commit(full)).unwrap();
        for number in 0..400_u32 {
            let rows = (0..DAYS).map(|day| put(partition(day), b"small", &number.to_be_bytes()));
            store.commit(commit(rows)).unwrap();
        }
    }
    for day in 0..DAYS {
        let last = 399_u32.to_be_bytes().to_vec();
        assert_eq!(get(&store, partition(day), b"small"), Some(last));
    }
}
