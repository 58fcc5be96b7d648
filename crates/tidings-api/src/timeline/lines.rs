//! Splitting of a stream into lines, with at most one in memory.

use std::io::{self, BufRead, Read as _};

/// The longest line that is read, in bytes (64 MiB): an event that names a million recipients fits,
/// and a stream without line ends cannot take all memory.
pub const LINE_BYTES_MAX: u64 = 64 << 20;

/// The lines of a stream.
#[derive(Debug)]
pub struct Lines<R> {
    stream: R,
    number: u64,
    bytes: u64,
    buffer: Vec<u8>,
    line_bytes_max: u64,
}

/// The next item of a stream.
#[derive(Debug, PartialEq, Eq)]
pub enum NextLine<'a> {
    /// A line that is not blank, with its number counted from 1 (blank ones are counted).
    Text(u64, &'a [u8]),
    /// A line of more than [`LINE_BYTES_MAX`] bytes, with its number.
    TooLong(u64),
    /// Nothing more.
    End,
}

impl<R: BufRead> Lines<R> {
    /// Takes a stream apart.
    pub fn new(stream: R) -> Self {
        Self { stream, number: 0, bytes: 0, buffer: Vec::new(), line_bytes_max: LINE_BYTES_MAX }
    }

    /// Bytes of the stream up to the end of the newest line.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The number of the newest line, blank ones counted.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The next line that is not blank. After [`NextLine::TooLong`] the rest of that line follows.
    ///
    /// # Errors
    /// The error of the stream.
    pub fn read_next(&mut self) -> io::Result<NextLine<'_>> {
        loop {
            self.buffer.clear();
            let mut stream = self.stream.by_ref().take(self.line_bytes_max + 1);
            let read = stream.read_until(b'\n', &mut self.buffer)?;
            if read == 0 {
                return Ok(NextLine::End);
            }
            self.bytes += read as u64;
            self.number += 1;
            if self.buffer.last() == Some(&b'\n') {
                self.buffer.pop();
            }
            if self.buffer.len() as u64 > self.line_bytes_max {
                return Ok(NextLine::TooLong(self.number));
            }
            if !self.buffer.trim_ascii().is_empty() {
                break;
            }
        }
        // Some editors begin a file with a byte order mark; it is no part of the first line.
        let line = match self.number {
            1 => self.buffer.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&self.buffer),
            _ => &self.buffer,
        };
        Ok(NextLine::Text(self.number, line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_lines_are_passed_over_and_counted() {
        let mut lines = Lines::new(&b"\xef\xbb\xbf{}\r\n\n \t\r\n{\xff}"[..]);
        assert_eq!(lines.read_next().unwrap(), NextLine::Text(1, b"{}\r"));
        assert_eq!(lines.read_next().unwrap(), NextLine::Text(4, b"{\xff}"));
        assert_eq!((lines.number(), lines.bytes()), (4, 15));
        assert_eq!(lines.read_next().unwrap(), NextLine::End);
        assert_eq!(lines.read_next().unwrap(), NextLine::End);
    }

    #[test]
    fn a_line_without_end_does_not_fill_the_memory() {
        let mut lines = Lines::new(io::BufReader::new(io::repeat(b'x')));
        lines.line_bytes_max = 1000;
        assert_eq!(lines.read_next().unwrap(), NextLine::TooLong(1));
        assert!(lines.buffer.capacity() < 100_000);
        let mut lines = Lines::new(&b"12345\n"[..]);
        lines.line_bytes_max = 5;
        assert_eq!(lines.read_next().unwrap(), NextLine::Text(1, b"12345"));
    }
}
