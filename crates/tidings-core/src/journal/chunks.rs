//! Values that grow with many commands, cut into chunks so that no row exceeds the store's limit.
//!
//! The first row has the value's own key and the number of further chunks; these are in a table of their own, so that a
//! scan of the rows of a table meets each value once.

use std::borrow::Cow;

use super::stored::{ReadView, Unreadable};
use crate::codec::{ByteReader, put_u32};
use crate::journal::table::{Partition, REST, Table, Write};

/// Maximum number of bytes of a chunk.
pub const CHUNK_BYTES: usize = 512 << 10;

/// The key of a further chunk of the value under `key`.
fn chunk_key(key: &[u8], chunk: u32) -> Vec<u8> {
    let (owner, rest) = key.split_at(REST - 1);
    let mut of_chunk = owner.to_vec();
    of_chunk.push(Table::Chunks as u8);
    of_chunk.extend_from_slice(rest);
    of_chunk.extend_from_slice(&chunk.to_be_bytes());
    of_chunk
}

/// The rows of a value. If it was longer before, unused chunks stay behind.
///
/// # Examples
/// ```
/// use tidings_core::journal::{Key, Owner, Partition, Table};
/// use tidings_core::journal::chunks::{CHUNK_BYTES, rows};
///
/// let key = Key::of(Owner::Intake, Table::Meta).done();
/// let value = vec![0; CHUNK_BYTES + 1];
/// let rows = rows(Partition::Base, key.clone(), &value);
/// assert_eq!(rows.len(), 2);
/// // Whoever visits the table meets the value once: the second chunk is in another one.
/// assert_eq!(rows.iter().filter(|row| row.key.starts_with(&key)).count(), 1);
/// ```
#[must_use]
pub fn rows(partition: Partition, key: Vec<u8>, value: &[u8]) -> Vec<Write> {
    let (first, rest) = value.split_at(value.len().min(CHUNK_BYTES));
    let more = rest.chunks(CHUNK_BYTES);
    let mut row = Vec::with_capacity(first.len() + 1);
    put_u32(&mut row, u32::try_from(more.len()).unwrap_or(u32::MAX));
    row.extend_from_slice(first);
    let mut rows: Vec<Write> = (0..)
        .zip(more)
        .map(|(chunk, bytes)| Write {
            partition,
            key: chunk_key(&key, chunk),
            value: Some(bytes.to_vec()),
        })
        .collect();
    rows.push(Write { partition, key, value: Some(row) });
    rows
}

/// The keys of the further chunks of a value, by its number of bytes.
#[must_use]
pub(crate) fn keys_after(key: &[u8], bytes: usize) -> Vec<Vec<u8>> {
    let more = bytes.div_ceil(CHUNK_BYTES).saturating_sub(1);
    let more = u32::try_from(more).unwrap_or(u32::MAX);
    (0..more).map(|chunk| chunk_key(key, chunk)).collect()
}

/// The keys of the further chunks of a value whose first row is `row`.
///
/// # Errors
/// [`Unreadable`] where the row makes no sense.
pub fn more_keys(key: &[u8], row: &[u8]) -> Result<Vec<Vec<u8>>, Unreadable> {
    let more = ByteReader::new(row, "a value in parts").u32()?;
    Ok((0..more).map(|chunk| chunk_key(key, chunk)).collect())
}

/// Joins the value whose first row is `row`; `get` reads the others.
///
/// # Errors
/// Those of `get`, and [`Unreadable`] where a chunk is missing.
pub fn whole<'r>(
    key: &[u8],
    row: &'r [u8],
    get: impl Fn(&[u8]) -> Result<Option<Vec<u8>>, Unreadable>,
) -> Result<Cow<'r, [u8]>, Unreadable> {
    let mut reader = ByteReader::new(row, "a value in parts");
    let more = reader.u32()?;
    let mut value = Cow::Borrowed(reader.rest());
    for chunk in 0..more {
        let bytes = get(&chunk_key(key, chunk))?
            .ok_or_else(|| Unreadable("a part of a value is missing".to_owned()))?;
        value.to_mut().extend_from_slice(&bytes);
    }
    Ok(value)
}

/// Reads the value under a key.
///
/// # Errors
/// [`Unreadable`] where the store can't be read or a chunk is missing.
pub fn get(
    view: &dyn ReadView,
    partition: Partition,
    key: &[u8],
) -> Result<Option<Vec<u8>>, Unreadable> {
    let Some(row) = view.get(partition, key)? else {
        return Ok(None);
    };
    let value = whole(key, &row, |key| view.get(partition, key))?;
    Ok(Some(value.into_owned()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::journal::table::{Key, Owner};
    use crate::model::id::BucketNo;

    #[test]
    fn a_value_of_any_length_is_read_as_it_was_written() {
        let key = Key::of(Owner::Bucket(BucketNo(3)), Table::Meta).u64(7).done();
        for len in [0, 1, CHUNK_BYTES, CHUNK_BYTES + 1, 3 * CHUNK_BYTES] {
            let value: Vec<u8> = (0..=255).cycle().take(len).collect();
            let rows: BTreeMap<Vec<u8>, Vec<u8>> = rows(Partition::Base, key.clone(), &value)
                .into_iter()
                .map(|row| (row.key, row.value.unwrap()))
                .collect();
            assert!(rows.values().all(|row| row.len() <= CHUNK_BYTES + 5));
            let first = &rows[&key];
            let of_table = rows.keys().filter(|found| found[..REST] == key[..REST]);
            assert_eq!(of_table.count(), 1);
            assert_eq!(more_keys(&key, first).unwrap().len(), rows.len() - 1);
            let read = whole(&key, first, |key| Ok(rows.get(key).cloned())).unwrap();
            assert_eq!(*read, value[..]);
            if rows.len() > 1 {
                assert!(whole(&key, first, |_| Ok(None)).is_err());
            }
        }
    }
}
