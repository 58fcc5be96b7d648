//! Check of the engine's journals before the engine reads them, to refuse what it would silently cut off.
//!
//! The engine takes the first unreadable bytes of a journal for the torn end of a crash, drops all that follows, and
//! goes on: damage in the middle would lose acknowledged commits silently. This module distinguishes the two: commits
//! are numbered without a gap, and behind a torn end there is never another whole batch, because a commit is on disk
//! before the next begins.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::Xxh3;

use crate::Error;

/// The engine's number of the keyspace that counts commits, which is created first.
pub(super) const COMMITS_KEYSPACE: u64 = 1;

/// The key of the last commit's number in the keyspace that counts commits.
pub(super) const LAST: &[u8] = b"last";

/// The largest gap between the engine's sequence numbers of two commits: it uses a few for each keyspace
/// that it creates or deletes, and the checksum does not cover them.
const SEQUENCE_GAP_MAX: u64 = 1 << 20;

const START: u8 = 1;
const ITEM: u8 = 2;
const END: u8 = 3;
const TRAILER: &[u8] = b"FJL\x03";

/// Checks all journals, and cuts off the torn end that a crash may have left: the engine would refuse one
/// that still looks like a commit.
///
/// Answers the number of the last commit that they hold; `None` if they hold none, as after all of
/// it went to the tables.
///
/// # Errors
/// [`Error::Corrupt`] if a commit is missing or damaged that others follow; nothing was cut then.
pub(super) fn recover(engine: &Path) -> Result<Option<u64>, Error> {
    let mut last: Option<u64> = None;
    let mut sequence: Option<u64> = None;
    let mut torn = Vec::new();
    for (_, path) in journals(engine)? {
        let bytes = read(&path).map_err(|fault| corrupt(&path, &fault.to_string()))?;
        let mut at = 0;
        while let Some(batch) = batch(&bytes, at) {
            if let Some(number) = batch.number {
                if last.is_some_and(|last| last.checked_add(1) != Some(number)) {
                    let what = format!("commits before number {number} are missing");
                    return Err(corrupt(&path, &what));
                }
                last = Some(number);
            }
            let step = sequence.map(|before| batch.sequence.checked_sub(before));
            if step.is_some_and(|step| step.is_none_or(|step| step > SEQUENCE_GAP_MAX)) {
                return Err(corrupt(&path, &format!("byte {at} begins a commit out of order")));
            }
            sequence = Some(batch.sequence);
            at = batch.end;
        }
        if (at + 1..bytes.len()).any(|start| batch_begins(&bytes, start)) {
            return Err(corrupt(&path, &format!("byte {at} and what follows can't be read")));
        }
        if at < bytes.len() {
            torn.push((path, at as u64));
        }
    }
    for (path, length) in torn {
        cut(&path, length)
            .map_err(|fault| Error::Unusable(format!("{}: {fault}", path.display())))?;
    }
    Ok(last)
}

fn cut(path: &Path, length: u64) -> std::io::Result<()> {
    let file = File::options().write(true).open(path)?;
    file.set_len(length)?;
    file.sync_all()
}

/// Reads the content of a journal. The file is allocated 64 MiB long, so most of it may be zeros.
fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    static ZEROS: [u8; 1 << 16] = [0; 1 << 16];
    let mut file = File::open(path)?;
    let mut bytes = Vec::new();
    let mut zeros = 0;
    let mut buffer = vec![0; ZEROS.len()];
    loop {
        let length = file.read(&mut buffer)?;
        if length == 0 {
            return Ok(bytes);
        }
        let buffer = &buffer[..length];
        if buffer == &ZEROS[..length] {
            zeros += length;
        } else {
            bytes.resize(bytes.len() + zeros, 0);
            bytes.extend_from_slice(buffer);
            zeros = 0;
        }
    }
}

fn journals(engine: &Path) -> Result<Vec<(u64, PathBuf)>, Error> {
    let unreadable = |fault: std::io::Error| corrupt(engine, &fault.to_string());
    let mut journals = Vec::new();
    for entry in fs::read_dir(engine).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("jnl")) {
            let number = path.file_stem().and_then(|stem| stem.to_str()?.parse().ok());
            match number {
                Some(number) if path.is_file() => journals.push((number, path)),
                _ => return Err(corrupt(&path, "it is not a journal")),
            }
        }
    }
    if journals.is_empty() {
        return Err(corrupt(engine, "it has no journal"));
    }
    journals.sort_unstable();
    Ok(journals)
}

struct JournalBatch {
    /// The offset of the next batch.
    end: usize,
    /// The number of the commit.
    number: Option<u64>,
    /// The engine's own number; it decides which of two values of a key is the later.
    sequence: u64,
}

/// Reads a whole batch with the right checksum that begins here.
fn batch(bytes: &[u8], start: usize) -> Option<JournalBatch> {
    let mut cursor = JournalCursor { bytes, position: start };
    if cursor.byte()? != START {
        return None;
    }
    let items = u32::from_le_bytes(cursor.array()?);
    let sequence = u64::from_le_bytes(cursor.array()?);
    let mut number = None;
    let items_start = cursor.position;
    for _ in 0..items {
        number = item(&mut cursor)?.or(number);
    }
    let items_bytes = &bytes[items_start..cursor.position];
    if cursor.byte()? != END {
        return None;
    }
    let sum = u64::from_le_bytes(cursor.array()?);
    if cursor.take(TRAILER.len())? != TRAILER {
        return None;
    }
    let mut hasher = Xxh3::new();
    hasher.update(items_bytes);
    (hasher.digest() == sum).then_some(JournalBatch { end: cursor.position, number, sequence })
}

fn batch_begins(bytes: &[u8], start: usize) -> bool {
    bytes[start] == START && batch(bytes, start).is_some()
}

/// Skips one item; returns its value if it is the number of the commit.
fn item(cursor: &mut JournalCursor<'_>) -> Option<Option<u64>> {
    if cursor.byte()? != ITEM {
        return None;
    }
    let _kind = cursor.byte()?;
    let _compression = cursor.byte()?;
    let keyspace = u64::from_le_bytes(cursor.array()?);
    let key_length = u16::from_le_bytes(cursor.array()?);
    let _length: [u8; 4] = cursor.array()?;
    let length_on_disk = u32::from_le_bytes(cursor.array()?);
    let key = cursor.take(usize::from(key_length))?;
    let value = cursor.take(usize::try_from(length_on_disk).ok()?)?;
    if keyspace != COMMITS_KEYSPACE || key != LAST {
        return Some(None);
    }
    Some(Some(u64::from_be_bytes(value.try_into().ok()?)))
}

struct JournalCursor<'a> {
    bytes: &'a [u8],
    position: usize,
}

impl<'a> JournalCursor<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let taken = self.bytes.get(self.position..self.position.checked_add(length)?)?;
        self.position += length;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    fn byte(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| byte)
    }
}

fn corrupt(path: &Path, what: &str) -> Error {
    Error::Corrupt(format!("{}: {what}; restore it from a backup", path.display()))
}

#[cfg(test)]
mod tests;
