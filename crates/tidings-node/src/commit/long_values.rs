//! Values that are longer than a row of the store: written as several rows, and joined when they are read.
//!
//! A command that would make a value too long is refused ([`tidings_core::model::TooLarge`]), and what grows with many
//! commands is cut by the core. This is for what neither of them foresees: such a value must not make the store fail for
//! everybody.

use tidings_core::journal::{REST, Table, Unreadable, Write};
/// The first bytes of the row that stands for a long value. No other value begins so, since no text has them and no
/// stored form does.
const MARK: [u8; 8] = *b"\xff\xfe\xfflong\xff";

/// The bytes of that row: the mark, and the number of pieces.
const HEAD_BYTES: usize = MARK.len() + 4;

/// The writes with every value that is longer than `most` as several rows. Rows of pieces that are not needed any more
/// stay: such values are rare.
pub(crate) fn cut(writes: Vec<Write>, most: usize) -> Vec<Write> {
    let is_long = |write: &Write| write.value.as_ref().is_some_and(|value| value.len() > most);
    if most <= HEAD_BYTES || !writes.iter().any(is_long) {
        return writes;
    }
    let mut rows = Vec::with_capacity(writes.len() + 1);
    for write in writes {
        match write.value {
            Some(value) if value.len() > most => {
                let pieces = value.chunks(most);
                let count = u32::try_from(pieces.len()).unwrap_or(u32::MAX);
                rows.extend((0..).zip(pieces).map(|(number, piece)| Write {
                    partition: write.partition,
                    key: piece_key(&write.key, number),
                    value: Some(piece.to_vec()),
                }));
                // Stands under the value's own key, so that a scan of its table meets it once.
                let head = [&MARK[..], &count.to_be_bytes()].concat();
                rows.push(Write { value: Some(head), ..write });
            }
            value => rows.push(Write { value, ..write }),
        }
    }
    rows
}

/// Joins a value that was cut; any other is returned as it is. `get` reads a row of the same partition.
///
/// # Errors
/// Those of `get`, and [`Unreadable`] where a piece is missing.
pub(crate) fn joined(
    key: &[u8],
    value: Vec<u8>,
    get: impl Fn(&[u8]) -> Result<Option<Vec<u8>>, Unreadable>,
) -> Result<Vec<u8>, Unreadable> {
    let Some(count) = pieces_of(&value) else {
        return Ok(value);
    };
    let mut whole = Vec::new();
    for number in 0..count {
        let piece = get(&piece_key(key, number))?;
        let missing = || Unreadable("a piece of a long value is missing".to_owned());
        whole.extend(piece.ok_or_else(missing)?);
    }
    Ok(whole)
}

/// The number of pieces of a value that was cut; `None` = it is whole.
pub(crate) fn pieces_of(value: &[u8]) -> Option<u32> {
    let count = value.strip_prefix(&MARK).filter(|_| value.len() == HEAD_BYTES)?;
    Some(u32::from_be_bytes(*count.first_chunk()?))
}

fn piece_key(key: &[u8], number: u32) -> Vec<u8> {
    let (owner, rest) = key.split_at(key.len().min(REST - 1));
    [owner, &[Table::Pieces as u8], rest, &number.to_be_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use tidings_core::journal::{Key, Owner, Partition};
    use tidings_core::model::BucketNo;

    use super::*;

    #[test]
    fn a_value_of_any_length_is_read_as_it_was_written() {
        let key = Key::of(Owner::Bucket(BucketNo(3)), Table::Meta).u64(7).done();
        for len in [0, 99, 100, 101, 1000] {
            let value: Vec<u8> = (0..=255).cycle().take(len).collect();
            let partition = Partition::Base;
            let write = Write { partition, key: key.clone(), value: Some(value.clone()) };
            let rows = cut(vec![write], 100).into_iter();
            let rows: BTreeMap<_, _> = rows.map(|row| (row.key, row.value.unwrap())).collect();
            assert!(rows.values().all(|row| row.len() <= 100));
            assert_eq!(rows.len() > 1, len > 100);
            // Whoever visits the rows of a table meets the value once.
            assert_eq!(rows.keys().filter(|of| of[..REST] == key[..REST]).count(), 1);
            let get = |key: &[u8]| Ok(rows.get(key).cloned());
            assert_eq!(joined(&key, rows[&key].clone(), get).unwrap(), value);
            let lost = joined(&key, rows[&key].clone(), |_| Ok(None));
            assert_eq!(lost.is_err(), len > 100);
        }
    }

    #[test]
    fn deletions_and_short_values_are_left_alone() {
        let partition = Partition::Base;
        let delete = Write { partition, key: vec![0, 0, 1], value: None };
        let put = Write { partition, key: vec![0, 0, 2], value: Some(vec![1; 100]) };
        assert_eq!(cut(vec![delete.clone(), put.clone()], 100), [delete, put]);
    }
}
