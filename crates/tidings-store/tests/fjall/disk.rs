//! The disk that a store takes: days give theirs back, and journals do not pile up.

use tempfile::tempdir;
use tidings_core::Day;
use tidings_store::{Error, FjallStore, Options, Partition, Store};

use crate::{commit, get, noise, on, open, put};

const MIB: usize = 1 << 20;

/// Writes so many MiB to a day.
fn fill(store: &FjallStore, day: i32, mib: usize) {
    for number in 0..mib {
        let seed = u64::from(day.unsigned_abs()) * 1_000 + number as u64;
        let row = put(on(day), &(number as u64).to_be_bytes(), &noise(seed, MIB));
        let count = put(Partition::Base, b"count", &seed.to_be_bytes());
        store.commit(commit([row, count])).unwrap();
    }
}

fn disk_mib(store: &FjallStore) -> u64 {
    store.disk_bytes().unwrap() / MIB as u64
}

#[test]
fn a_forgotten_day_gives_its_disk_back() {
    let directory = tempdir().unwrap();
    let store = open(directory.path()).unwrap();
    fill(&store, 1, 90);
    fill(&store, 2, 2);
    drop(store);
    let store = open(directory.path()).unwrap();
    let before = disk_mib(&store);
    assert!(before >= 90, "{before} MiB hold 92");
    assert!(store.day_bytes().unwrap().iter().any(|(day, bytes)| *day == Day(1) && *bytes > 0));
    let view = store.snapshot().unwrap();
    store.forget(Day(1)).unwrap();
    assert!(view.get(on(1), &0_u64.to_be_bytes()).unwrap().is_some());
    drop(view);
    assert_eq!(
        store.day_bytes().unwrap().iter().map(|(day, _)| day).collect::<Vec<_>>(),
        [&Day(2)]
    );
    // Background work ends with the store at the latest, and lets go of the last handles.
    drop(store);
    let store = open(directory.path()).unwrap();
    let after = disk_mib(&store);
    assert!(after + 60 < before, "{before} MiB before, {after} after");
    assert!(get(&store, on(2), &1_u64.to_be_bytes()).is_some());
}

#[cfg(target_os = "linux")]
#[test]
fn a_forgotten_day_whose_files_were_read_is_not_kept_open() {
    let directory = tempdir().unwrap();
    let store = open(directory.path()).unwrap();
    fill(&store, 1, 20);
    store.compact(Day(1)).unwrap();
    assert!(get(&store, on(1), &3_u64.to_be_bytes()).is_some());
    store.forget(Day(1)).unwrap();
    assert_eq!(deleted_and_open(directory.path()), 0);
}

/// Number of files of a directory that are deleted, and kept open by this process.
#[cfg(target_os = "linux")]
fn deleted_and_open(directory: &std::path::Path) -> usize {
    let links = std::fs::read_dir("/proc/self/fd").unwrap();
    let open = links.filter_map(|link| std::fs::read_link(link.unwrap().path()).ok());
    let is_kept = |path: &std::path::PathBuf| {
        path.starts_with(directory) && path.to_string_lossy().ends_with("(deleted)")
    };
    open.filter(is_kept).count()
}

/// In either order the deletion waits for no compaction, and whoever ends last takes the files
/// away.
#[cfg(target_os = "linux")]
#[test]
fn a_day_that_is_forgotten_while_it_is_compacted_is_gone_with_its_files() {
    let directory = tempdir().unwrap();
    let store = open(directory.path()).unwrap();
    for day in 1..6 {
        fill(&store, day, 12);
        std::thread::scope(|scope| {
            let compacted = scope.spawn(|| store.compact(Day(day)));
            store.forget(Day(day)).unwrap();
            let compacted = compacted.join().unwrap();
            assert!(matches!(compacted, Ok(()) | Err(Error::Unavailable(_))), "{compacted:?}");
        });
        assert_eq!(store.days().unwrap(), []);
        assert_eq!(deleted_and_open(directory.path()), 0, "day {day}");
    }
    store.commit(commit([put(on(9), b"a", b"1")])).unwrap();
}

#[test]
fn journals_do_not_grow_with_the_number_of_days() {
    let directory = tempdir().unwrap();
    let store = open(directory.path()).unwrap();
    // No day fills its memtable, so the engine by itself would keep all of it in one journal.
    for day in 0..80 {
        fill(&store, day, 5);
        if day >= 3 {
            store.forget(Day(day - 3)).unwrap();
        }
    }
    drop(store);
    let store = FjallStore::open(directory.path(), crate::NEW_STORE, Options::default()).unwrap();
    let held = disk_mib(&store);
    assert!(held < 250, "{held} MiB for 3 days of 5 MiB each, of 400 MiB written");
    assert_eq!(store.days().unwrap(), [Day(77), Day(78), Day(79)]);
    assert_eq!(get(&store, on(79), &4_u64.to_be_bytes()), Some(noise(79_004, MIB)));
}
