//! The subject of mails, built from their content.

use std::fmt::Write;

use tidings_core::batch::{Batch, Line};
use tidings_core::{Id, rules};

use crate::{names, page, text, wording};

/// The longest subject, in characters.
const SUBJECT_CHARS_MAX: usize = 150;
/// The longest name where more follow, in characters: phones show some forty.
const FIRST_NAME_CHARS_MAX: usize = 60;

/// The longest list of types, in characters.
const KINDS_CHARS_MAX: usize = 40;

/// The subject of a batch: what happened, to which object, and how many more there are.
pub(crate) fn text(batch: &Batch) -> String {
    let lines: Vec<&Line> = batch.groups.iter().flat_map(|group| &group.lines).collect();
    let entries: usize = lines.iter().map(|line| line.entries).sum();
    let mut kinds: Vec<Id> = Vec::new();
    for kind in batch.kinds() {
        if !kinds.contains(kind) {
            kinds.push(kind.clone());
        }
    }
    let Some(name) = lines.iter().find_map(|line| name_of(line)) else {
        return wording::untitled(&kinds, entries);
    };
    let of_name = lines
        .iter()
        .filter(|line| name_of(line).as_ref() == Some(&name));
    let same: usize = of_name.map(|line| line.entries).sum();
    let rest = entries - same;
    let what = text::cut(&wording::kinds_in_words(&kinds), KINDS_CHARS_MAX);
    let lead = match (entries, kinds.len()) {
        (1, _) => rules::capitalised(&what),
        (_, 2..) if rest > 0 => format!("{} new", wording::number(entries)),
        _ => format!("{} new ({what})", wording::number(entries)),
    };
    if rest == 0 {
        let room = SUBJECT_CHARS_MAX - lead.chars().count() - 2;
        return format!("{lead}: {}", text::cut(&name, room));
    }
    let name = text::cut(&name, FIRST_NAME_CHARS_MAX);
    let of_name = match same {
        1 => String::new(),
        _ => format!(" ({})", wording::number(same)),
    };
    let rest = wording::number(rest);
    format!("{lead}: {name}{of_name} and {rest} more")
}

/// The name of a line's object, or else of its target.
fn name_of(line: &Line) -> Option<String> {
    page::own_title(line).or_else(|| names::name_of(line.target.as_ref()?))
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
