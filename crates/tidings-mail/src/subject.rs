//! The subject: made of content, since that is what people read in a list of mails.

use std::fmt::Write;

use crate::page::{Content, Page};
use crate::text;

/// The longest title that a subject shows whole, in characters.
const TITLE_CHARS_MAX: usize = 150;
/// The longest first title where more follow, in characters: phones show some forty.
const FIRST_TITLE_CHARS_MAX: usize = 60;

/// The subject of a page as text.
pub(crate) fn text(page: &Page) -> String {
    match &page.content {
        Content::Single(line) => text::cut(&line.title, TITLE_CHARS_MAX),
        Content::Many(many) => {
            let first = text::cut(&many.first_title, FIRST_TITLE_CHARS_MAX);
            format!("{} new: {first} and {} more", many.count, many.rest)
        }
    }
}

/// The subject as a sequence of RFC 2047 encoded words, folded.
///
/// Only for texts that themselves look encoded: taken as they are, a reader would decode them.
pub(crate) fn encode_all(subject: &str) -> String {
    // 75 bytes are allowed (RFC 2047, section 2), 12 of them are the frame.
    const PAYLOAD_BYTES_MAX: usize = 60;
    let mut out = String::new();
    let mut word = String::new();
    for c in subject.chars() {
        let mut encoded = String::new();
        let mut bytes = [0; 4];
        for byte in c.encode_utf8(&mut bytes).bytes() {
            if byte.is_ascii_alphanumeric() {
                encoded.push(char::from(byte));
            } else {
                // Writing to a string does not fail.
                let _ = write!(encoded, "={byte:02X}");
            }
        }
        if word.len() + encoded.len() > PAYLOAD_BYTES_MAX {
            push_word(&mut out, &word);
            word.clear();
        }
        word.push_str(&encoded);
    }
    push_word(&mut out, &word);
    out
}

fn push_word(out: &mut String, word: &str) {
    if !out.is_empty() {
        out.push_str("\r\n ");
    }
    let _ = write!(out, "=?utf-8?q?{word}?=");
}
