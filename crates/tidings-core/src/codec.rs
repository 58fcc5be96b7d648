//! Reading and writing what is stored: variable-length integers and counted bytes.
//!
//! Bytes from a disk may be anything, so reading is total: every fault is a [`Corrupt`],
//! and nothing is allocated for a declared length before that many bytes are there.

use serde::Serialize;

/// The form of stored values: their first byte, but for further parts of a long value and values of no bytes. It rises when the layout of any of them changes, so that a value
/// of another version is refused and not misread.
pub const FORM: u8 = 8;

/// Appends an encoded value.
pub(crate) fn encode_onto<T: Serialize>(bytes: &mut Vec<u8>, value: &T) {
    *bytes = postcard::to_extend(value, std::mem::take(bytes))
        .expect("the core's own types can be written");
}

/// Stored bytes that can't be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("corrupt {0}")]
pub struct Corrupt(
    /// Name of the value that was being read.
    pub &'static str,
);

/// A reader from the front of a byte slice.
///
/// # Examples
/// ```
/// use tidings_core::codec::{ByteReader, put_bytes, put_u64};
///
/// let mut stored = Vec::new();
/// put_u64(&mut stored, 300);
/// put_bytes(&mut stored, b"ada");
///
/// let mut reader = ByteReader::new(&stored, "greeting");
/// assert_eq!(reader.u64()?, 300);
/// assert_eq!(reader.bytes()?, b"ada");
/// assert_eq!(reader.byte().unwrap_err().to_string(), "corrupt greeting");
/// # Ok::<(), tidings_core::codec::Corrupt>(())
/// ```
#[derive(Clone, Debug)]
pub struct ByteReader<'a> {
    rest: &'a [u8],
    what: &'static str,
}

impl<'a> ByteReader<'a> {
    /// Begins to read; `what` names the value in errors.
    #[must_use]
    pub fn new(bytes: &'a [u8], what: &'static str) -> Self {
        Self { rest: bytes, what }
    }

    /// The error of this reader, for faults that the caller finds.
    #[must_use]
    pub fn corrupt(&self) -> Corrupt {
        Corrupt(self.what)
    }

    /// The bytes not read yet.
    #[must_use]
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Returns true if all is read.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Reads one byte.
    ///
    /// # Errors
    /// [`Corrupt`] at the end.
    #[inline]
    pub fn byte(&mut self) -> Result<u8, Corrupt> {
        let (first, rest) = self.rest.split_first().ok_or(Corrupt(self.what))?;
        self.rest = rest;
        Ok(*first)
    }

    /// Reads some bytes.
    ///
    /// # Errors
    /// [`Corrupt`] where there are fewer.
    pub fn take(&mut self, len: usize) -> Result<&'a [u8], Corrupt> {
        let (taken, rest) = self.rest.split_at_checked(len).ok_or(Corrupt(self.what))?;
        self.rest = rest;
        Ok(taken)
    }

    /// Reads what [`put_u64`] wrote.
    ///
    /// # Errors
    /// [`Corrupt`] at the end, or where the number is larger than 64 bits.
    #[inline]
    pub fn u64(&mut self) -> Result<u64, Corrupt> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if bits << shift >> shift != bits {
                return Err(self.corrupt());
            }
            value |= bits << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(self.corrupt())
    }

    /// Reads what [`put_u32`] wrote.
    ///
    /// # Errors
    /// [`Corrupt`] at the end, or where the number is larger than 32 bits.
    #[inline]
    pub fn u32(&mut self) -> Result<u32, Corrupt> {
        match self.rest.first() {
            Some(&byte) if byte < 0x80 => {
                self.rest = &self.rest[1..];
                Ok(u32::from(byte))
            }
            _ => u32::try_from(self.u64()?).map_err(|_| self.corrupt()),
        }
    }

    /// Reads a signed number, as [`put_i64`] wrote it.
    ///
    /// # Errors
    /// As [`ByteReader::u64`].
    pub fn i64(&mut self) -> Result<i64, Corrupt> {
        let folded = self.u64()?;
        Ok((folded >> 1).cast_signed() ^ -(folded & 1).cast_signed())
    }

    /// Reads a number of bytes and then the bytes, as [`put_bytes`] wrote them.
    ///
    /// # Errors
    /// [`Corrupt`] where there are fewer bytes than declared.
    pub fn bytes(&mut self) -> Result<&'a [u8], Corrupt> {
        let len = usize::try_from(self.u64()?).map_err(|_| self.corrupt())?;
        self.take(len)
    }

    /// Reads the number of following items, each of which has at least one byte.
    ///
    /// # Errors
    /// [`Corrupt`] where fewer bytes are left than things declared: the count may be allocated.
    ///
    /// # Examples
    /// ```
    /// use tidings_core::codec::ByteReader;
    ///
    /// // Three items of a byte or more each.
    /// assert_eq!(ByteReader::new(&[3, 10, 11, 12], "list").count(), Ok(3));
    /// // A damaged count never makes anybody allocate for it.
    /// assert!(ByteReader::new(&[200, 1, 10, 11, 12], "list").count().is_err());
    /// ```
    pub fn count(&mut self) -> Result<usize, Corrupt> {
        match usize::try_from(self.u64()?) {
            Ok(count) if count <= self.rest.len() => Ok(count),
            _ => Err(self.corrupt()),
        }
    }

    /// Ends reading; fails if bytes are left.
    ///
    /// # Errors
    /// [`Corrupt`] where something is left.
    ///
    /// # Examples
    /// ```
    /// use tidings_core::codec::ByteReader;
    ///
    /// let mut reader = ByteReader::new(&[5, 6], "number");
    /// assert_eq!(reader.u64(), Ok(5));
    /// assert!(reader.end().is_err());
    /// ```
    pub fn end(self) -> Result<(), Corrupt> {
        if self.rest.is_empty() { Ok(()) } else { Err(self.corrupt()) }
    }
}

/// Writes a number in 1 to 10 bytes, seven bits each, the lowest first.
#[inline]
pub fn put_u64(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Writes a number in 1 to 5 bytes.
#[inline]
pub fn put_u32(out: &mut Vec<u8>, value: u32) {
    put_u64(out, u64::from(value));
}

/// Writes a signed number so that small ones of either sign are short.
///
/// # Examples
/// ```
/// use tidings_core::codec::put_i64;
///
/// let bytes = |value| {
///     let mut out = Vec::new();
///     put_i64(&mut out, value);
///     out
/// };
/// assert_eq!(bytes(0), [0]);
/// assert_eq!(bytes(-1), [1]);
/// assert_eq!(bytes(1), [2]);
/// assert_eq!(bytes(i64::MIN).len(), 10);
/// ```
pub fn put_i64(out: &mut Vec<u8>, value: i64) {
    put_u64(out, ((value << 1) ^ (value >> 63)).cast_unsigned());
}

/// Writes bytes after their length.
pub fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_u64(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Number of bytes that [`put_u32`] writes: 1 to 5.
#[inline]
#[must_use]
pub(crate) fn u32_len(value: u32) -> u32 {
    (32 - (value | 1).leading_zeros()).div_ceil(7)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_come_back(a: u64, b: i64, c: u32, shift in 0_u32..64) {
            let (a, b, c) = (a >> shift, b >> shift, c >> (shift / 2));
            let mut out = Vec::new();
            put_u64(&mut out, a);
            put_i64(&mut out, b);
            let before = out.len();
            put_u32(&mut out, c);
            prop_assert_eq!(out.len() - before, u32_len(c) as usize);
            put_bytes(&mut out, b"tail");
            let mut reader = ByteReader::new(&out, "test");
            prop_assert_eq!(reader.u64(), Ok(a));
            prop_assert_eq!(reader.i64(), Ok(b));
            prop_assert_eq!(reader.u32(), Ok(c));
            prop_assert_eq!(reader.bytes(), Ok(&b"tail"[..]));
            prop_assert_eq!(reader.end(), Ok(()));
        }
    }

    #[test]
    fn faults_are_told() {
        let fault = Corrupt("test");
        let read = |bytes: &'static [u8]| ByteReader::new(bytes, "test");
        assert_eq!(read(&[]).u64(), Err(fault));
        assert_eq!(read(&[0x80]).u64(), Err(fault));
        assert_eq!(read(&[0xff; 11]).u64(), Err(fault));
        assert_eq!(read(&[255, 255, 255, 255, 255, 255, 255, 255, 255, 2]).u64(), Err(fault));
        assert_eq!(read(&[255, 255, 255, 255, 255, 255, 255, 255, 255, 1]).u64(), Ok(u64::MAX));
        assert_eq!(read(&[255, 255, 255, 255, 31]).u32(), Err(fault));
        assert_eq!(read(&[5, 1]).bytes(), Err(fault));
        assert_eq!(read(&[2, 1]).count(), Err(fault));
        assert_eq!(read(&[1]).end(), Err(fault));
        assert_eq!(fault.to_string(), "corrupt test");
    }
}
