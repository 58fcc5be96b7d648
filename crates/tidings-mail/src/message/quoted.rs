//! The quoted-printable form of bodies (RFC 2045, section 6.7).
//!
//! A mail's bodies are most of its bytes, and nearly all of them stand for themselves: they are copied in runs, which
//! makes a mail in half the time of an encoder that looks at each byte.

/// The most bytes of an encoded line, without its end.
const LINE_BYTES_MAX: usize = 76;

/// Encodes a text. Its lines may end in LF or CRLF, those of the encoded text end in CRLF.
pub(crate) fn encode(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + text.len() / 8);
    for (at, line) in text.split('\n').enumerate() {
        if at > 0 {
            out.extend_from_slice(b"\r\n");
        }
        encode_line(line.strip_suffix('\r').unwrap_or(line).as_bytes(), &mut out);
    }
    out
}

/// By byte, whether it stands for itself; white space only does within a line.
const IS_PLAIN: [bool; 256] = {
    let mut plain = [false; 256];
    let mut byte = b' ';
    while byte <= b'~' {
        plain[byte as usize] = byte != b'=';
        byte += 1;
    }
    plain[b'\t' as usize] = true;
    plain
};

fn encode_line(line: &[u8], out: &mut Vec<u8>) {
    let (line, end) = match line {
        [line @ .., end @ (b' ' | b'\t')] => (line, Some(*end)),
        line => (line, None),
    };
    let mut column = 0;
    let mut rest = line;
    while !rest.is_empty() {
        let plain = rest.iter().take_while(|byte| IS_PLAIN[usize::from(**byte)]).count();
        let (mut run, after) = rest.split_at(plain);
        // The last run of a line needs no room for a break behind it.
        let room = LINE_BYTES_MAX - usize::from(!after.is_empty() || end.is_some());
        while column + run.len() > room {
            let (fits, more) = run.split_at(LINE_BYTES_MAX - 1 - column);
            out.extend_from_slice(fits);
            out.extend_from_slice(b"=\r\n");
            (run, column) = (more, 0);
        }
        out.extend_from_slice(run);
        column += run.len();
        rest = after;
        if let [byte, after @ ..] = rest {
            escape(*byte, &mut column, out);
            rest = after;
        }
    }
    if let Some(end) = end {
        escape(end, &mut column, out);
    }
}

/// Writes a byte as `=` and two digits, on the next line where there is no room.
fn escape(byte: u8, column: &mut usize, out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    if *column + 3 > LINE_BYTES_MAX - 1 {
        out.extend_from_slice(b"=\r\n");
        *column = 0;
    }
    let digits = [byte >> 4, byte & 15].map(|digit| DIGITS[usize::from(digit)]);
    out.extend_from_slice(&[b'=', digits[0], digits[1]]);
    *column += 3;
}

#[cfg(test)]
mod tests {
    use mail_parser::decoders::quoted_printable::quoted_printable_decode;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lines_are_short_and_end_in_no_space() {
        assert_eq!(encode("a=b\nc \r\n\té"), b"a=3Db\r\nc=20\r\n\t=C3=A9");
        let full = "x".repeat(76);
        assert_eq!(encode(&full), full.as_bytes());
        let broken = format!("{}=\r\nxx", "x".repeat(75));
        assert_eq!(encode(&"x".repeat(77)), broken.as_bytes());
        let space = format!("{}=\r\nx=20", "x".repeat(75));
        assert_eq!(encode(&format!("{full} ")), space.as_bytes());
        assert_eq!(encode(""), b"");
        assert_eq!(encode("\n"), b"\r\n");
    }

    proptest! {
        #[test]
        fn a_decoder_gets_the_text_back(text in "([ -~]{0,90}|[ \\t=é日x]{0,40}|\\n|\\r\\n){0,8}") {
            let encoded = encode(&text);
            prop_assert!(encoded.is_ascii());
            for line in encoded.split(|byte| *byte == b'\n') {
                let line = line.strip_suffix(b"\r").unwrap_or(line);
                prop_assert!(line.len() <= LINE_BYTES_MAX);
                prop_assert!(!line.ends_with(b" ") && !line.ends_with(b"\t"));
            }
            let decoded = quoted_printable_decode(&encoded).unwrap();
            let lines = |text: &str| text.replace("\r\n", "\n");
            prop_assert_eq!(lines(&String::from_utf8(decoded).unwrap()), lines(&text));
        }
    }
}
