//! The log as a server sends it: frames of the replication protocol with messages of `pgoutput`, version 1.

use std::fmt;

/// A frame that is not as the protocol has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Malformed(pub(super) &'static str);

impl fmt::Display for Malformed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "the log of the database can't be read: {}", self.0)
    }
}

/// The content of a frame. Times are by the clock of the server, in microseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Told {
    /// All up to here was told.
    Alive {
        /// The place up to which the log was read.
        end: u64,
        /// The server waits for a confirmation.
        asks: bool,
    },
    /// A transaction that was committed begins.
    Begin {
        /// The place of its commit, which is its identity.
        commit: u64,
        /// Its number, of which the server sends the lower half.
        xid: u32,
        /// Time since its commit.
        age_us: i64,
    },
    /// The transaction ends.
    Commit {
        /// The place after it.
        end: u64,
    },
    /// A row of the outbox was inserted or changed so that it waits.
    Row {
        /// Its id.
        id: i64,
        /// Bytes of its columns.
        bytes: usize,
    },
    /// A message that is in no table.
    Message {
        /// Its place.
        place: u64,
        /// Its content.
        payload: String,
    },
    /// Nothing for us.
    Nothing,
}

/// The prefix of messages that are for us.
const PREFIX: &[u8] = b"tidings";

/// The places of the columns of the outbox.
#[derive(Clone, Copy, Debug)]
struct Columns {
    id: usize,
    taken_at: usize,
    refused: usize,
}

/// A reader of frames, which remembers the columns of one table.
#[derive(Debug)]
pub(super) struct Decoder {
    table: u32,
    columns: Option<Columns>,
}

impl Decoder {
    /// A decoder of the rows of a table, by its number in the database.
    pub(super) fn of(table: u32) -> Self {
        Self { table, columns: None }
    }

    /// Reads a frame.
    pub(super) fn read(&mut self, frame: &[u8]) -> Result<Told, Malformed> {
        let mut bytes = Bytes(frame);
        match bytes.byte()? {
            b'k' => {
                let end = bytes.u64()?;
                bytes.u64()?;
                Ok(Told::Alive { end, asks: bytes.byte()? != 0 })
            }
            b'w' => {
                bytes.take(16)?;
                let sent_us = bytes.u64()?.cast_signed();
                self.change(bytes, sent_us)
            }
            _ => Err(Malformed("a frame of an unknown kind")),
        }
    }

    fn change(&mut self, mut bytes: Bytes<'_>, sent_us: i64) -> Result<Told, Malformed> {
        Ok(match bytes.byte()? {
            b'B' => {
                let commit = bytes.u64()?;
                let at_us = bytes.u64()?.cast_signed();
                Told::Begin {
                    commit,
                    xid: bytes.u32()?,
                    age_us: sent_us.saturating_sub(at_us).max(0),
                }
            }
            b'C' => {
                bytes.take(1 + 8)?;
                Told::Commit { end: bytes.u64()? }
            }
            b'M' => message(bytes)?,
            b'R' => {
                self.relation(bytes)?;
                Told::Nothing
            }
            b'I' | b'U' => self.row(bytes)?,
            _ => Told::Nothing,
        })
    }

    fn relation(&mut self, mut bytes: Bytes<'_>) -> Result<(), Malformed> {
        if bytes.u32()? != self.table {
            return Ok(());
        }
        bytes.text()?;
        bytes.text()?;
        bytes.byte()?;
        let (mut id, mut taken_at, mut refused) = (None, None, None);
        for place in 0..usize::from(bytes.u16()?) {
            bytes.byte()?;
            match bytes.text()? {
                b"id" => id = Some(place),
                b"taken_at" => taken_at = Some(place),
                b"refused" => refused = Some(place),
                _ => {}
            }
            bytes.take(8)?;
        }
        let (Some(id), Some(taken_at), Some(refused)) = (id, taken_at, refused) else {
            return Err(Malformed("the publication leaves out `id`, `taken_at` or `refused`"));
        };
        self.columns = Some(Columns { id, taken_at, refused });
        Ok(())
    }

    fn row(&self, mut bytes: Bytes<'_>) -> Result<Told, Malformed> {
        if bytes.u32()? != self.table {
            return Ok(Told::Nothing);
        }
        let columns = self.columns.ok_or(Malformed("a row of a table that was not described"))?;
        let mut kind = bytes.byte()?;
        if matches!(kind, b'K' | b'O') {
            // The row as it was before.
            bytes.columns(|_, _| ())?;
            kind = bytes.byte()?;
        }
        if kind != b'N' {
            return Err(Malformed("a row without its new columns"));
        }
        let (mut id, mut waits) = (None, true);
        let length = bytes.columns(|place, column| {
            if place == columns.id {
                id = column.text();
            } else if place == columns.taken_at || place == columns.refused {
                waits &= matches!(column, Column::Null);
            }
        })?;
        if !waits {
            return Ok(Told::Nothing);
        }
        let id = id.and_then(|id| std::str::from_utf8(id).ok()?.parse().ok());
        Ok(Told::Row { id: id.ok_or(Malformed("a row without a number"))?, bytes: length })
    }
}

fn message(mut bytes: Bytes<'_>) -> Result<Told, Malformed> {
    let is_transactional = bytes.byte()? & 1 != 0;
    let place = bytes.u64()?;
    let prefix = bytes.text()?;
    let length = bytes.u32()?;
    let payload = bytes.take(usize::try_from(length).unwrap_or(usize::MAX))?;
    // One that is of no transaction stays where its sender rolls back.
    if !is_transactional || prefix != PREFIX {
        return Ok(Told::Nothing);
    }
    Ok(Told::Message { place, payload: String::from_utf8_lossy(payload).into_owned() })
}

/// A column of a row.
#[derive(Clone, Copy, Debug)]
enum Column<'f> {
    Null,
    /// It is large, and stays as it was.
    Unchanged,
    Text(&'f [u8]),
}

impl<'f> Column<'f> {
    fn text(self) -> Option<&'f [u8]> {
        match self {
            Self::Text(text) => Some(text),
            Self::Null | Self::Unchanged => None,
        }
    }
}

/// The rest of a frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bytes<'f>(pub(super) &'f [u8]);

impl<'f> Bytes<'f> {
    pub(super) fn take(&mut self, length: usize) -> Result<&'f [u8], Malformed> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(Malformed("a frame is short"))?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let taken = self.take(N)?;
        taken.try_into().map_err(|_| Malformed("a frame is short"))
    }

    pub(super) fn byte(&mut self) -> Result<u8, Malformed> {
        Ok(self.array::<1>()?[0])
    }

    pub(super) fn u16(&mut self) -> Result<u16, Malformed> {
        Ok(u16::from_be_bytes(self.array()?))
    }

    pub(super) fn u32(&mut self) -> Result<u32, Malformed> {
        Ok(u32::from_be_bytes(self.array()?))
    }

    fn u64(&mut self) -> Result<u64, Malformed> {
        Ok(u64::from_be_bytes(self.array()?))
    }

    /// A text with a character 0 at its end.
    pub(super) fn text(&mut self) -> Result<&'f [u8], Malformed> {
        let end = self.0.iter().position(|byte| *byte == 0);
        let text = self.take(end.ok_or(Malformed("a text has no end"))?)?;
        self.take(1)?;
        Ok(text)
    }

    /// Goes over the columns of a row, and returns their bytes.
    fn columns(&mut self, mut each: impl FnMut(usize, Column<'f>)) -> Result<usize, Malformed> {
        let mut bytes = 0_usize;
        for place in 0..usize::from(self.u16()?) {
            let column = match self.byte()? {
                b'n' => Column::Null,
                b'u' => {
                    bytes += UNCHANGED_BYTES;
                    Column::Unchanged
                }
                b't' | b'b' => {
                    let length = usize::try_from(self.u32()?).unwrap_or(usize::MAX);
                    let text = self.take(length)?;
                    bytes += length;
                    Column::Text(text)
                }
                _ => return Err(Malformed("a column of an unknown kind")),
            };
            each(place, column);
        }
        Ok(bytes)
    }
}

/// Bytes that a large column counts that the log leaves out.
const UNCHANGED_BYTES: usize = 64 << 10;

#[cfg(test)]
mod tests;
