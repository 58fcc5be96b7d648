//! The part of a stream that is read and not taken yet, cut into lines.

/// A buffer of bytes that are not a whole line yet.
#[derive(Debug, Default)]
pub(super) struct Buffer {
    bytes: Vec<u8>,
    /// The start of the bytes not taken yet.
    start: usize,
    /// The position up to which there is no line end.
    looked: usize,
    number: u64,
}

impl Buffer {
    pub(super) fn unread(&self) -> usize {
        self.bytes.len() - self.start
    }

    pub(super) fn push(&mut self, data: &[u8]) {
        self.bytes.drain(..self.start);
        self.looked -= self.start;
        self.start = 0;
        self.bytes.extend_from_slice(data);
    }

    /// The next line that is not blank, with its number; at the end the rest is one too.
    pub(super) fn line(&mut self, at_end: bool) -> Option<(u64, &[u8])> {
        loop {
            let rest = &self.bytes[self.looked..];
            let (end, next) = match rest.iter().position(|byte| *byte == b'\n') {
                Some(at) => (self.looked + at, self.looked + at + 1),
                None if at_end && self.unread() > 0 => (self.bytes.len(), self.bytes.len()),
                None => {
                    self.looked = self.bytes.len();
                    return None;
                }
            };
            let from = self.start;
            self.start = next;
            self.looked = next;
            self.number += 1;
            if !self.bytes[from..end].trim_ascii().is_empty() {
                let line = &self.bytes[from..end];
                // Some programs begin a stream with a byte order mark; it is no part of the line.
                let mark = b"\xef\xbb\xbf";
                let line = match self.number {
                    1 => line.strip_prefix(mark).unwrap_or(line),
                    _ => line,
                };
                return Some((self.number, line));
            }
        }
    }

    /// Discards the rest; returns the number of its first line.
    pub(super) fn stop(&mut self) -> u64 {
        let number = self.number + 1;
        *self = Self { number, ..Self::default() };
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(pieces: &[&str]) -> Vec<(u64, String)> {
        let mut buffer = Buffer::default();
        let mut lines = Vec::new();
        for piece in pieces {
            buffer.push(piece.as_bytes());
            while let Some((number, line)) = buffer.line(false) {
                lines.push((number, String::from_utf8_lossy(line).into_owned()));
            }
        }
        while let Some((number, line)) = buffer.line(true) {
            lines.push((number, String::from_utf8_lossy(line).into_owned()));
        }
        lines
    }

    #[test]
    fn lines_are_the_same_however_the_pieces_are_cut() {
        let text = "\u{feff}one\n\n  \ntwo\r\nthree";
        let expected = [(1, "one"), (4, "two\r"), (5, "three")];
        let expected: Vec<_> = expected.map(|(n, t)| (n, t.to_owned())).to_vec();
        assert_eq!(lines(&[text]), expected);
        for cut in (0..text.len()).filter(|cut| text.is_char_boundary(*cut)) {
            let (a, b) = text.split_at(cut);
            assert_eq!(lines(&[a, b]), expected, "{cut}");
        }
        assert_eq!(lines(&["", "\n \n"]), []);
    }
}
