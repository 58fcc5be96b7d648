//! JSON that is not written one value a line: an array, and objects over several lines.

use std::io::{self, BufRead, Cursor, Read as _};

use super::lines::LINE_BYTES_MAX;

/// Makes lines of a stream that is an array or has its first object over several lines; any other stream stays as it is.
/// An object has the number of the line on which it begins, or a later one where several begin on one line.
///
/// # Errors
/// The stream's, and one if such a stream has more than [`LINE_BYTES_MAX`] bytes.
pub fn by_line(mut stream: Box<dyn BufRead>) -> io::Result<Box<dyn BufRead>> {
    let mut read = Vec::new();
    let spans = loop {
        let before = read.len();
        let mut line = stream.by_ref().take(LINE_BYTES_MAX);
        let length = line.read_until(b'\n', &mut read)?;
        let first = without_mark(&read[before..]).trim_ascii();
        if length == 0 || !first.is_empty() {
            break spans_lines(first);
        }
    };
    if !spans {
        return Ok(Box::new(Cursor::new(read).chain(stream)));
    }
    stream.take(LINE_BYTES_MAX).read_to_end(&mut read)?;
    if read.len() as u64 >= LINE_BYTES_MAX {
        let mend = "JSON over several lines may have 64 MiB; write one object a line";
        return Err(io::Error::other(mend));
    }
    Ok(Box::new(Cursor::new(lines_of(without_mark(&read)))))
}

/// A text without a byte order mark at its beginning.
fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text)
}

/// Tells by a first line whether its value goes on in the next. One that is cut off anywhere else is a faulty line.
fn spans_lines(first: &[u8]) -> bool {
    let is_open = matches!(first.last(), Some(b'{' | b'[' | b','));
    first.starts_with(b"[") || (first.starts_with(b"{") && is_open)
}

/// The values of a text, or the items of the array that it is, one a line. What is no JSON stays none.
fn lines_of(text: &[u8]) -> Vec<u8> {
    let mut lines = Vec::with_capacity(text.len());
    let mut is_array = text.trim_ascii_start().starts_with(b"[");
    let (mut line, mut written) = (1_u64, 1_u64);
    let (mut is_begun, mut is_quoted, mut is_escaped) = (false, false, false);
    let mut depth = 0_usize;
    for &byte in text {
        if !is_begun {
            match byte {
                b'\n' => line += 1,
                b' ' | b'\t' | b'\r' | b',' | b']' => {}
                b'[' if is_array => is_array = false,
                _ => is_begun = true,
            }
            if !is_begun {
                continue;
            }
            while written < line {
                lines.push(b'\n');
                written += 1;
            }
        }
        let is_end = match byte {
            _ if is_escaped => {
                is_escaped = false;
                false
            }
            b'\\' if is_quoted => {
                is_escaped = true;
                false
            }
            b'"' => {
                is_quoted = !is_quoted;
                false
            }
            _ if is_quoted => false,
            b'{' | b'[' => {
                depth += 1;
                false
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                depth == 0
            }
            b',' | b'\n' => depth == 0,
            _ => false,
        };
        lines.push(match byte {
            // Within a string it is a fault, which must not be mended here.
            b'\n' if is_quoted => b'\r',
            b'\n' => b' ',
            byte => byte,
        });
        line += u64::from(byte == b'\n');
        if is_end {
            lines.push(b'\n');
            written += 1;
            is_begun = false;
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &'static str) -> String {
        let mut lines = String::new();
        let mut stream = by_line(Box::new(text.as_bytes())).unwrap();
        stream.read_to_string(&mut lines).unwrap();
        lines
    }

    #[test]
    fn s4_arrays_and_objects_over_lines_become_lines() {
        for (text, expected) in [
            ("{\"a\":1}\n{\"b\":\n", "{\"a\":1}\n{\"b\":\n"),
            ("\n{\"a\": \"cut off\n{}", "\n{\"a\": \"cut off\n{}"),
            ("[{\"a\":1},{\"b\":2}]\n", "{\"a\":1}\n{\"b\":2}\n"),
            (
                "\u{feff}[\n  {\"a\": \"[{\\\"\"},\n  {\"b\": [2]}\n]",
                "\n{\"a\": \"[{\\\"\"}\n{\"b\": [2]}\n",
            ),
            ("{\n\"a\":\n1}\n\n{\"b\":2}", "{ \"a\": 1}\n\n\n\n{\"b\":2}\n"),
            ("[]", ""),
            ("[1, x]", "1,\nx]\n"),
            ("[{\"a\": \"x\ny\"}]", "{\"a\": \"x\ry\"}\n"),
            ("[{\"a\": 1", "{\"a\": 1"),
        ] {
            assert_eq!(lines(text), expected, "{text}");
        }
    }

    #[test]
    fn s4_an_array_without_end_does_not_fill_the_memory() {
        let endless = Cursor::new("[\n").chain(io::BufReader::new(io::repeat(b' ')));
        let fault = by_line(Box::new(endless)).map(drop).unwrap_err();
        assert!(fault.to_string().contains("one object a line"), "{fault}");
    }
}
