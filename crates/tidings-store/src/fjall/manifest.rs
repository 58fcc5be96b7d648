//! Check of each keyspace's list of tables before the engine reads it. The engine writes a checksum of
//! the list and never verifies it, and deletes tables that a damaged list leaves out as leftovers.

use std::fs;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_128;

use crate::Error;

/// The file in a keyspace's directory with the number of its newest list, and the list's checksum.
const CURRENT: &str = "current";
/// The length of that file: a little-endian number of 8 bytes, a checksum of 16, and the kind of the
/// checksum.
const CURRENT_BYTES: usize = 25;

/// Checks the lists of all keyspaces.
///
/// # Errors
/// [`Error::Corrupt`] if one is missing or damaged, or if there is anything but keyspaces: over that
/// the engine would panic.
pub(super) fn verify(engine: &Path) -> Result<(), Error> {
    if !engine.join("version").is_file() {
        return Err(corrupt(&engine.join("version"), "it is missing"));
    }
    let keyspaces = engine.join("keyspaces");
    let unreadable = |fault: std::io::Error| corrupt(&keyspaces, &fault.to_string());
    for entry in fs::read_dir(&keyspaces).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if name.parse::<u64>().is_err() {
            return Err(corrupt(&path, "it does not belong there"));
        }
        // Without it, it is being made or deleted; whether it may be is found out later.
        if path.join(CURRENT).is_file() {
            verify_list(&path)?;
        }
    }
    Ok(())
}

fn verify_list(keyspace: &Path) -> Result<(), Error> {
    let path = keyspace.join(CURRENT);
    let current = read(&path)?;
    let current: [u8; CURRENT_BYTES] =
        current.try_into().map_err(|_| corrupt(&path, "it has another length"))?;
    let number = u64::from_le_bytes(shard(&current, 0));
    let sum = u128::from_le_bytes(shard(&current, 8));
    let list = keyspace.join(format!("v{number}"));
    if xxh3_128(&read(&list)?) != sum {
        return Err(corrupt(&list, "its checksum is wrong"));
    }
    Ok(())
}

fn shard<const N: usize>(bytes: &[u8; CURRENT_BYTES], from: usize) -> [u8; N] {
    std::array::from_fn(|index| bytes[from + index])
}

fn read(path: &PathBuf) -> Result<Vec<u8>, Error> {
    fs::read(path).map_err(|fault| corrupt(path, &fault.to_string()))
}

fn corrupt(path: &Path, what: &str) -> Error {
    Error::Corrupt(format!("{}: {what}; restore it from a backup", path.display()))
}
