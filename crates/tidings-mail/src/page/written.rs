//! The texts that people wrote, as mails show them: whole, or their first lines.

use crate::words::{Words, text};

/// Number of lines of a body among other items, and of characters of all of them.
const BODY_LINES_MAX: usize = 4;
const BODY_LINES_CHARS_MAX: usize = 240;
/// Number of characters for which another line of a body is worth its place.
const BODY_LINE_CHARS_MIN: usize = 20;

/// The paragraphs of a text that a person wrote.
pub(crate) fn paragraphs(body: &str, words: &Words) -> Vec<String> {
    let lines = body.lines().map(text::clean).filter(|line| !line.is_empty());
    lines.map(|line| words.isolated(line)).collect()
}

/// The first lines of a text that a person wrote, without blank ones.
pub(crate) fn first_lines(body: &str, words: &Words) -> Vec<String> {
    let all: Vec<String> = body.lines().map(text::clean).filter(|line| !line.is_empty()).collect();
    let mut room = BODY_LINES_CHARS_MAX;
    let mut shown = Vec::new();
    for (at, line) in all.iter().enumerate() {
        let left = room.saturating_sub(line.chars().count());
        let is_last = at + 1 == BODY_LINES_MAX || left < BODY_LINE_CHARS_MIN;
        let mut cut = text::cut(line, room);
        if is_last && at + 1 < all.len() && !cut.ends_with('…') {
            cut.push_str(" …");
        }
        shown.push(words.isolated(cut));
        if is_last {
            break;
        }
        room = left;
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::locale::Language;

    fn shown(body: &str) -> Vec<String> {
        first_lines(body, &Language::of("en").words)
    }

    #[test]
    fn f12_lines_stay_apart_and_what_is_left_out_is_marked() {
        assert_eq!(shown("One.\n\n  Two  words.\r\n"), ["One.", "Two words."]);
        assert_eq!(shown("a\nb\nc\nd\ne"), ["a", "b", "c", "d …"]);
        assert_eq!(shown("\n \u{200b}\n"), Vec::<String>::new());
        assert_eq!(shown("one\nשתיים"), ["one", "\u{2068}שתיים\u{2069}"]);
        let long = "word ".repeat(100);
        let lines = shown(&format!("First.\n{long}\nLast."));
        assert_eq!(lines.len(), 2);
        assert!(lines[1].ends_with('…') && lines[1].chars().count() <= 234, "{lines:?}");
        // A few letters of another line are not worth it.
        let nearly = "x".repeat(225);
        assert_eq!(shown(&format!("{nearly}\nLast.")), [format!("{nearly} …")]);
    }
}
