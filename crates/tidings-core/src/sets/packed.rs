//! Columns of numbers and texts with random access: any value is read without the others.
//!
//! A look into an inbox wants a few fields of a dozen out of a thousand arrivals. Gaps as
//! variable-length integers are shorter by a byte or two, but have to be read from the beginning.
//! Here every number of a column takes as many bytes as the largest needs above the least.

use crate::codec::{ByteReader, Corrupt, put_u64};

/// Appends a column: the least value, how many bytes each takes above it, the values.
///
/// # Examples
/// ```
/// use tidings_core::sets::put_column;
///
/// let bytes = |values: &[u64]| {
///     let mut out = Vec::new();
///     put_column(&mut out, values.iter().copied());
///     out.len()
/// };
/// // A thousand equal values take no more than one; near ones take a byte each.
/// assert_eq!(bytes(&[1_000; 1_000]), 3);
/// assert_eq!(bytes(&[1_000, 1_001, 1_255]), 3 + 3);
/// ```
pub fn put_column(out: &mut Vec<u8>, values: impl Iterator<Item = u64> + Clone) {
    let least = values.clone().min().unwrap_or(0);
    let most = values.clone().max().unwrap_or(0);
    let width = width_of(most - least);
    put_u64(out, least);
    out.push(width);
    for value in values {
        let bytes = (value - least).to_le_bytes();
        out.extend_from_slice(&bytes[..usize::from(width)]);
    }
}

/// Appends texts: where each ends, then all of them.
pub fn put_texts<'a>(out: &mut Vec<u8>, texts: impl Iterator<Item = &'a str> + Clone) {
    let mut end = 0;
    let ends: Vec<u64> = std::iter::once(0)
        .chain(texts.clone().map(|text| {
            end += text.len() as u64;
            end
        }))
        .collect();
    put_column(out, ends.iter().copied());
    for text in texts {
        out.extend_from_slice(text.as_bytes());
    }
}

/// The smallest width of 0, 1, 2, 4 and 8 bytes that holds a number; 0 bytes hold only 0.
fn width_of(most: u64) -> u8 {
    match most {
        0 => 0,
        1..=0xff => 1,
        0x100..=0xffff => 2,
        0x1_0000..=0xffff_ffff => 4,
        _ => 8,
    }
}

/// A column as stored; reading allocates nothing.
#[derive(Clone, Copy, Debug)]
pub struct PackedColumn<'a> {
    least: u64,
    width: usize,
    len: usize,
    values: &'a [u8],
}

impl<'a> PackedColumn<'a> {
    /// Reads what [`put_column`] wrote of `len` values.
    ///
    /// # Errors
    /// [`Corrupt`] where the bytes are something else.
    pub fn read(reader: &mut ByteReader<'a>, len: usize) -> Result<Self, Corrupt> {
        let least = reader.u64()?;
        let width = match reader.byte()? {
            width @ (0 | 1 | 2 | 4 | 8) => usize::from(width),
            _ => return Err(reader.corrupt()),
        };
        let bytes = len.checked_mul(width).ok_or_else(|| reader.corrupt())?;
        let values = reader.take(bytes)?;
        Ok(Self { least, width, len, values })
    }

    /// Number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns true if there are no values.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The value at an index.
    ///
    /// # Examples
    /// ```
    /// use tidings_core::codec::ByteReader;
    /// use tidings_core::sets::{PackedColumn, put_column};
    ///
    /// let mut bytes = Vec::new();
    /// put_column(&mut bytes, [70_000, 5, 6].into_iter());
    /// let column = PackedColumn::read(&mut ByteReader::new(&bytes, "column"), 3)?;
    /// assert_eq!(column.get(2), Some(6));
    /// assert_eq!(column.get(3), None);
    /// # Ok::<(), tidings_core::codec::Corrupt>(())
    /// ```
    #[inline]
    #[must_use]
    pub fn get(&self, index: usize) -> Option<u64> {
        if index >= self.len {
            return None;
        }
        let above = match self.width {
            0 => 0,
            1 => u64::from(*self.values.get(index)?),
            2 => u64::from(u16::from_le_bytes(*self.chunk(index)?)),
            4 => u64::from(u32::from_le_bytes(*self.chunk(index)?)),
            _ => u64::from_le_bytes(*self.chunk(index)?),
        };
        Some(self.least.wrapping_add(above))
    }

    #[inline]
    fn chunk<const N: usize>(&self, index: usize) -> Option<&'a [u8; N]> {
        self.values.get(index * N..)?.first_chunk()
    }
}

/// A stored column of texts, of which any is read without the others.
#[derive(Clone, Copy, Debug)]
pub struct PackedTexts<'a> {
    /// The start of each, and the end of the last.
    bounds: PackedColumn<'a>,
    text: &'a [u8],
    what: &'static str,
}

impl<'a> PackedTexts<'a> {
    /// Reads what [`put_texts`] wrote of `len` texts; `what` names them in errors.
    ///
    /// # Errors
    /// [`Corrupt`] where the bytes are something else. What is wrong inside shows when it is read.
    pub fn read(
        reader: &mut ByteReader<'a>,
        len: usize,
        what: &'static str,
    ) -> Result<Self, Corrupt> {
        let bounds = PackedColumn::read(reader, len.checked_add(1).ok_or(Corrupt(what))?)?;
        let end = bounds.get(len).and_then(|end| usize::try_from(end).ok());
        let text = reader.take(end.ok_or(Corrupt(what))?)?;
        Ok(Self { bounds, text, what })
    }

    /// The text at an index.
    ///
    /// # Errors
    /// [`Corrupt`] where there is none, or it is no text.
    ///
    /// # Examples
    /// ```
    /// use tidings_core::codec::ByteReader;
    /// use tidings_core::sets::{PackedTexts, put_texts};
    ///
    /// let mut bytes = Vec::new();
    /// put_texts(&mut bytes, ["ada", "", "grace"].into_iter());
    /// let texts = PackedTexts::read(&mut ByteReader::new(&bytes, "names"), 3, "names")?;
    /// assert_eq!(texts.get(1)?, "");
    /// assert_eq!(texts.get(2)?, "grace");
    /// assert!(texts.get(3).is_err());
    /// # Ok::<(), tidings_core::codec::Corrupt>(())
    /// ```
    pub fn get(&self, index: usize) -> Result<&'a str, Corrupt> {
        let bound = |index| usize::try_from(self.bounds.get(index)?).ok();
        let bytes =
            bound(index).zip(bound(index + 1)).and_then(|(from, to)| self.text.get(from..to));
        let text = bytes.and_then(|bytes| std::str::from_utf8(bytes).ok());
        text.ok_or(Corrupt(self.what))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_value_comes_back_from_any_place(
            values in prop::collection::vec(any::<u64>(), 0..40),
            shift in 0_u32..64,
            texts in prop::collection::vec("[a-zé]{0,9}", 0..9),
        ) {
            let values: Vec<u64> = values.into_iter().map(|value| value >> shift).collect();
            let mut out = Vec::new();
            put_column(&mut out, values.iter().copied());
            put_texts(&mut out, texts.iter().map(String::as_str));
            let mut reader = ByteReader::new(&out, "column");
            let column = PackedColumn::read(&mut reader, values.len()).unwrap();
            let read = PackedTexts::read(&mut reader, texts.len(), "texts").unwrap();
            reader.end().unwrap();
            prop_assert_eq!(column.len(), values.len());
            prop_assert_eq!(column.get(values.len()), None);
            for (at, value) in values.iter().enumerate() {
                prop_assert_eq!(column.get(at), Some(*value));
            }
            for (at, text) in texts.iter().enumerate() {
                prop_assert_eq!(read.get(at).unwrap(), text);
            }
            prop_assert!(read.get(texts.len()).is_err());
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes: Vec<u8>, len in 0_usize..9) {
            let mut reader = ByteReader::new(&bytes, "column");
            if let Ok(column) = PackedColumn::read(&mut reader, len) {
                prop_assert!((0..len).all(|at| column.get(at).is_some()));
            }
            let mut reader = ByteReader::new(&bytes, "texts");
            if let Ok(texts) = PackedTexts::read(&mut reader, len, "texts") {
                for at in 0..len {
                    let _ = texts.get(at);
                }
            }
        }
    }

    #[test]
    fn equal_values_take_no_room() {
        let mut out = Vec::new();
        put_column(&mut out, std::iter::repeat_n(7, 1000));
        assert_eq!(out.len(), 2);
    }
}
