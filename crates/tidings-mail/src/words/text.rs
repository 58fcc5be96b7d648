//! Sanitising of host text for one line of a mail, and writing of numbers.

use unicode_segmentation::UnicodeSegmentation as _;

use crate::words::direction::{BEGIN, END};

/// Takes out what would break a line or turn the text around it: control characters and line
/// separators become a space, runs of spaces one, and the marks that override the direction of what
/// follows (Unicode Bidirectional Algorithm, explicit formatting) are left out. Marks that only
/// qualify their neighbour stay, since right-to-left titles need them.
pub(crate) fn clean(text: &str) -> String {
    cleaned(text, |_| false)
}

/// The same of a text whose values are clean and isolated already: their isolates stay.
pub(crate) fn clean_around(text: &str) -> String {
    cleaned(text, |c| matches!(c, BEGIN | END))
}

fn cleaned(text: &str, stays: impl Fn(char) -> bool) -> String {
    let is_clean = |byte: &u8| matches!(byte, b'!'..=b'~' | b' ');
    if text.bytes().all(|byte| is_clean(&byte)) && !text.contains("  ") && text.trim() == text {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if stays(c) => out.push(c),
            '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{FEFF}' => {}
            ' ' | '\u{2028}' | '\u{2029}' => push_space(&mut out),
            c if c.is_control() => push_space(&mut out),
            c => out.push(c),
        }
    }
    out.truncate(out.trim_end_matches(' ').len());
    if out.chars().all(|c| matches!(c, ' ' | '\u{AD}' | '\u{200B}'..='\u{200F}' | '\u{2060}')) {
        // Nothing of it can be seen.
        out.clear();
    }
    out
}

fn push_space(out: &mut String) {
    if !out.is_empty() && !out.ends_with(' ') {
        out.push(' ');
    }
}

/// Bytes as hexadecimal digits, in lower case.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Formats a number with a separator between thousands, for pages without a reader's language.
#[must_use]
pub fn grouped(number: u64, separator: &str) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3 * separator.len());
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push_str(separator);
        }
        out.push(digit);
    }
    out
}

/// At most `chars_max` code points of a text, cut between words where one is near, else between characters as people
/// see them, with an ellipsis. Isolates don't count, and one that is cut is closed.
#[must_use]
pub fn cut(text: &str, chars_max: usize) -> String {
    let is_shown = |c: &char| !matches!(*c, BEGIN | END);
    if text.len() <= chars_max || text.chars().filter(is_shown).count() <= chars_max {
        return text.to_owned();
    }
    let mut room = chars_max.saturating_sub(1);
    let fits = |character: &&str| {
        let left = room.checked_sub(character.chars().filter(is_shown).count());
        room = left.unwrap_or(room);
        left.is_some()
    };
    let kept: String = text.graphemes(true).take_while(fits).collect();
    let at_word = kept
        .rfind(' ')
        // A cut far back would lose more than a broken word does.
        .filter(|at| kept[*at..].chars().count() <= chars_max / 3);
    let kept = at_word
        .map_or(kept.as_str(), |at| &kept[..at])
        .trim_end_matches([' ', ',', ';', ':', '.', '-', BEGIN]);
    let open = kept.matches(BEGIN).count().saturating_sub(kept.matches(END).count());
    let closed: String = std::iter::repeat_n(END, open).collect();
    format!("{kept}…{closed}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_become_one_line() {
        for (text, cleaned) in [
            ("a\r\nBcc: b@c", "a Bcc: b@c"),
            ("  two\t\u{2028} words ", "two words"),
            ("a\u{202E}b\u{2066}c", "abc"),
            ("שלום\u{200F}!", "שלום\u{200F}!"),
            ("\u{0}\u{1b}", ""),
            ("\u{200b} \u{202e}\u{200f}", ""),
        ] {
            assert_eq!(clean(text), cleaned, "{text:?}");
        }
    }

    #[test]
    fn long_texts_are_cut_between_words() {
        assert_eq!(cut("short", 5), "short");
        assert_eq!(cut("one two three four", 10), "one two…");
        assert_eq!(cut("abcdefghijkl", 5), "abcd…");
        assert_eq!(cut("ééééé", 4), "ééé…");
        assert_eq!(cut("\u{2068}אבגדה\u{2069}", 5), "\u{2068}אבגדה\u{2069}");
        assert_eq!(cut("\u{2068}אבגדה\u{2069} and more", 4), "\u{2068}אבג…\u{2069}");
        assert_eq!(cut("one \u{2068}אבגדה\u{2069}", 5), "one…");
        // A family, a flag, a letter with a mark.
        assert_eq!(cut("ab👨‍👩‍👧cdefgh", 6), "ab…");
        assert_eq!(cut("ab👨‍👩‍👧cdefgh", 8), "ab👨‍👩‍👧…");
        assert_eq!(cut("a🇫🇷🇩🇪b", 4), "a🇫🇷…");
        assert_eq!(cut("ae\u{301}xyz", 3), "a…");
    }
}
