//! The engine's private files, byte for byte: the store checks them before the engine reads them
//! (`src/fjall/journal.rs`, `src/fjall/manifest.rs`), so that another form would pass for damage.

use std::fmt::Write as _;
use std::fs;

use tempfile::tempdir;
use tidings_store::{Partition, Store as _};

use crate::damage::files;
use crate::{commit, on, open, put};

/// A line each: the file's name, and its bytes up to the zeros at its end.
const EXPECTED: &str = include_str!("files.txt");

/// The files change with the engine's version. Then read how they changed, adapt what parses them, raise
/// the store's format where old files can't be read, and replace `files.txt`.
#[test]
fn the_engines_files_are_those_that_are_parsed() {
    let dir = tempdir().unwrap();
    let store = open(dir.path()).unwrap();
    let rows = [
        put(Partition::Base, b"key", b"value"),
        put(on(1), b"key", b""),
    ];
    store.commit(commit(rows)).unwrap();
    store
        .commit(commit([put(on(1), b"key", b"newer")]))
        .unwrap();
    drop(store);
    let mut found = String::new();
    for path in files(dir.path()) {
        let name = path.file_name().unwrap().to_str().unwrap();
        let is_parsed = ["current", "version"].contains(&name)
            || name.ends_with(".jnl")
            || name
                .strip_prefix('v')
                .is_some_and(|rest| rest.parse::<u64>().is_ok());
        if is_parsed {
            let bytes = fs::read(&path).unwrap();
            let length = bytes.len() - bytes.iter().rev().take_while(|byte| **byte == 0).count();
            write!(
                found,
                "{} ",
                path.strip_prefix(dir.path()).unwrap().display()
            )
            .unwrap();
            for byte in &bytes[..length] {
                write!(found, "{byte:02x}").unwrap();
            }
            found.push('\n');
        }
    }
    assert!(found == EXPECTED, "the engine's files are\n{found}");
}
