//! Values that grow with many commands, cut into parts so that no row exceeds the store's limit.
//!
//! The first row stands under the value's own key and says how many parts follow; these stand in a table
//! of their own, so that whoever visits the rows of a table meets each value once.

use std::borrow::Cow;

use super::stored::{ReadView, Unreadable};
use crate::journal::table::{Partition, REST, Table, Write};
use crate::sets::codec::{Reader, put_u32};

/// Maximum number of bytes of a part.
pub const PART_BYTES: usize = 512 << 10;

/// The key of a further part of the value under `key`.
fn part_key(key: &[u8], part: u32) -> Vec<u8> {
    let (owner, rest) = key.split_at(REST - 1);
    let mut of_part = owner.to_vec();
    of_part.push(Table::Parts as u8);
    of_part.extend_from_slice(rest);
    of_part.extend_from_slice(&part.to_be_bytes());
    of_part
}

/// The rows of a value. If it was longer before, unused parts stay behind.
///
/// # Examples
/// ```
/// use tidings_core::journal::parts::{PART_BYTES, rows};
/// use tidings_core::table::{Key, Owner, Partition, Table};
///
/// let key = Key::of(Owner::Intake, Table::Meta).done();
/// let value = vec![0; PART_BYTES + 1];
/// let rows = rows(Partition::Base, key.clone(), &value);
/// assert_eq!(rows.len(), 2);
/// // Whoever visits the table meets the value once: the second part is in another one.
/// assert_eq!(rows.iter().filter(|row| row.key.starts_with(&key)).count(), 1);
/// ```
#[must_use]
pub fn rows(partition: Partition, key: Vec<u8>, value: &[u8]) -> Vec<Write> {
    let (first, rest) = value.split_at(value.len().min(PART_BYTES));
    let more = rest.chunks(PART_BYTES);
    let mut row = Vec::with_capacity(first.len() + 1);
    put_u32(&mut row, u32::try_from(more.len()).unwrap_or(u32::MAX));
    row.extend_from_slice(first);
    let mut rows: Vec<Write> = (0..)
        .zip(more)
        .map(|(part, bytes)| Write {
            partition,
            key: part_key(&key, part),
            value: Some(bytes.to_vec()),
        })
        .collect();
    rows.push(Write { partition, key, value: Some(row) });
    rows
}

/// The keys of the further parts of a value of so many bytes.
#[must_use]
pub fn keys_after(key: &[u8], bytes: usize) -> Vec<Vec<u8>> {
    let more = bytes.div_ceil(PART_BYTES).saturating_sub(1);
    let more = u32::try_from(more).unwrap_or(u32::MAX);
    (0..more).map(|part| part_key(key, part)).collect()
}

/// The keys of the further parts of a value whose first row is `row`.
///
/// # Errors
/// [`Unreadable`] where the row makes no sense.
pub fn more_keys(key: &[u8], row: &[u8]) -> Result<Vec<Vec<u8>>, Unreadable> {
    let more = Reader::new(row, "a value in parts").u32()?;
    Ok((0..more).map(|part| part_key(key, part)).collect())
}

/// Joins the value whose first row is `row`; `get` reads the others.
///
/// # Errors
/// Those of `get`, and [`Unreadable`] where a part is missing.
pub fn whole<'r>(
    key: &[u8],
    row: &'r [u8],
    get: impl Fn(&[u8]) -> Result<Option<Vec<u8>>, Unreadable>,
) -> Result<Cow<'r, [u8]>, Unreadable> {
    let mut reader = Reader::new(row, "a value in parts");
    let more = reader.u32()?;
    let mut value = Cow::Borrowed(reader.rest());
    for part in 0..more {
        let bytes = get(&part_key(key, part))?
            .ok_or_else(|| Unreadable("a part of a value is missing".to_owned()))?;
        value.to_mut().extend_from_slice(&bytes);
    }
    Ok(value)
}

/// Reads the value under a key.
///
/// # Errors
/// [`Unreadable`] where the store can't be read or a part is missing.
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
        for len in [0, 1, PART_BYTES, PART_BYTES + 1, 3 * PART_BYTES] {
            let value: Vec<u8> = (0..=255).cycle().take(len).collect();
            let rows: BTreeMap<Vec<u8>, Vec<u8>> = rows(Partition::Base, key.clone(), &value)
                .into_iter()
                .map(|row| (row.key, row.value.unwrap()))
                .collect();
            assert!(rows.values().all(|row| row.len() <= PART_BYTES + 5));
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
