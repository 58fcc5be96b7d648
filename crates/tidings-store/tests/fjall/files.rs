//! The engine's private files, byte for byte: the store checks them before the engine reads them
//! (`src/fjall/journal.rs`, `src/fjall/manifest.rs`), so that another form would pass for damage.

use std::fs;

use tempfile::tempdir;
use tidings_store::{Partition, Store as _};

use crate::{commit, on, open, put};

/// The lists of a keyspace's tables, read while there are none: a memtable that is flushed changes them.
const LISTS: [&str; 2] = ["keyspaces/1/current", "keyspaces/1/v0"];

/// A line each: the file's name, and its bytes up to the zeros at its end.
const EXPECTED: &str = include_str!("files.txt");

/// The files change with the engine's version. Then read how they changed, adapt what parses them, raise
/// the store's format where old files can't be read, and replace `files.txt`.
#[test]
fn the_engines_files_are_those_that_are_parsed() {
    let dir = tempdir().unwrap();
    let line = |file: &str| {
        let mut bytes = fs::read(dir.path().join("engine").join(file)).unwrap();
        while bytes.pop_if(|byte| *byte == 0).is_some() {}
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{file} {hex}\n")
    };
    let store = open(dir.path()).unwrap();
    let lists: String = LISTS.into_iter().map(line).collect();
    let rows = [put(Partition::Base, b"key", b"value"), put(on(1), b"key", b"")];
    store.commit(commit(rows)).unwrap();
    store.commit(commit([put(on(1), b"key", b"newer")])).unwrap();
    drop(store);
    let found = line("version") + &line("0.jnl") + &lists;
    assert!(found == EXPECTED, "the engine's files are\n{found}");
}
