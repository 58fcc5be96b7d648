//! Import of a stream as a store.

use std::io::Read;

use tidings_core::Day;
use tidings_store::{FjallStore, Options, Partition, Store, StoreId, StorePlace, Write, database};

use super::block::{BlockKind, BlockReader};
use super::{BackupError, BackupSize};

/// Creates a store of a new identity from a backup, in a directory that is absent or empty, or in a database without one:
/// it lacks what was acknowledged since, so a server that had the original must not go on with it. `finish` changes the restored data before that is a store. If the backup is incomplete or damaged, it does not become one.
///
/// # Errors
/// [`BackupError`], and those of `finish`.
pub fn restore(
    input: impl Read,
    place: &StorePlace,
    id: StoreId,
    finish: impl FnOnce(&dyn Store) -> Result<(), BackupError>,
) -> Result<BackupSize, BackupError> {
    // Reads the head before anything is touched, so that a file named by mistake is refused here.
    let reader = BlockReader::new(input)?;
    let mut contents = BackupSize::default();
    let fill = |store: &dyn Store| {
        contents = each(reader, &mut |writes| store.commit(writes.into()))?;
        finish(store)
    };
    match place {
        StorePlace::Directory(path) => FjallStore::restore(path, id, Options::default(), fill)?,
        StorePlace::Database(url) => database::restore(url, id, fill)?,
    }
    Ok(contents)
}

/// Reads a backup to its end and checks that it is complete and undamaged.
///
/// # Errors
/// [`BackupError`].
pub fn check(input: impl Read) -> Result<BackupSize, BackupError> {
    each(BlockReader::new(input)?, &mut |_| Ok(()))
}

/// Hands over what a backup holds, a block at a time.
fn each<R: Read>(
    mut reader: BlockReader<R>,
    take: &mut dyn FnMut(Vec<Write>) -> Result<(), tidings_store::Error>,
) -> Result<BackupSize, BackupError> {
    let mut contents = BackupSize::default();
    let mut raw = Vec::new();
    let mut partition = None;
    loop {
        match reader.block(&mut raw)? {
            BlockKind::Partition => {
                let named = named(&raw).ok_or_else(|| reader.odd())?;
                contents.days += u64::from(named != Partition::Base);
                partition = Some(named);
            }
            BlockKind::Rows => {
                let partition = partition.ok_or_else(|| reader.odd())?;
                let writes = rows(&raw, partition).ok_or_else(|| reader.odd())?;
                contents.rows += writes.len() as u64;
                take(writes)?;
            }
            // Blocks are committed before the end is checked: only the caller makes them a store, once this
            // has returned.
            BlockKind::End if raw.get(..8) == Some(&contents.rows.to_be_bytes()[..]) => {
                return Ok(contents);
            }
            BlockKind::End => return Err(reader.odd()),
        }
    }
}

fn named(raw: &[u8]) -> Option<Partition> {
    if raw.is_empty() {
        return Some(Partition::Base);
    }
    let day = i32::from_be_bytes(raw.try_into().ok()?);
    Some(Partition::Day(Day(day)))
}

fn rows(mut raw: &[u8], partition: Partition) -> Option<Vec<Write>> {
    let mut writes = Vec::new();
    while !raw.is_empty() {
        let key = part(&mut raw)?.to_vec();
        let value = Some(part(&mut raw)?.to_vec());
        writes.push(Write { partition, key, value });
    }
    Some(writes)
}

fn part<'r>(raw: &mut &'r [u8]) -> Option<&'r [u8]> {
    let (length, rest) = raw.split_at_checked(4)?;
    let length = u32::from_be_bytes(length.try_into().ok()?);
    let (part, rest) = rest.split_at_checked(usize::try_from(length).ok()?)?;
    *raw = rest;
    Some(part)
}
