//! Directions of text: what runs the other way is isolated from the text around it (Unicode Standard Annex #9).
//!
//! A text has the direction of its language. A name that runs the other way would carry the words and the signs
//! beside it along. Values are isolated where they are read, so that lists, subjects and short messages need nothing
//! further. HTML has the characters around `<bdi>`: Gmail and Outlook drop the element and keep the text.

use serde_json::Value;
use unicode_bidi::BidiClass::{AL, EN, L, R};
use unicode_bidi::bidi_class;

/// The beginning of a stretch that has the direction of its own first strong character, and its end. Foreign text has
/// neither ([`crate::words::text::clean`]).
pub(crate) const BEGIN: char = '\u{2068}';
pub(crate) const END: char = '\u{2069}';

/// Returns true if a character is of a script that is written from right to left.
pub(crate) fn runs_left(c: char) -> bool {
    !c.is_ascii() && matches!(bidi_class(c), R | AL)
}

/// A value that stands in a text, isolated if any of its characters runs the other way, or if the groups of a number, such
/// as those of a telephone, would change places.
pub(crate) fn isolated(value: String, is_right_to_left: bool) -> String {
    let runs_other_way = |c: char| {
        if is_right_to_left { bidi_class(c) == L } else { runs_left(c) }
    };
    let is_digit = |c: char| bidi_class(c) == EN;
    let has_groups = is_right_to_left && value.contains(is_digit) && !value.chars().all(is_digit);
    if has_groups || value.contains(runs_other_way) {
        format!("{BEGIN}{value}{END}")
    } else {
        value
    }
}

/// Removes the bidirectional control characters from the texts of a value of `data`.
pub(crate) fn without_direction_controls(value: Value) -> Value {
    let is_control = |c: char| matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    match value {
        Value::String(text) if text.contains(is_control) => text.replace(is_control, "").into(),
        Value::Array(values) => values.into_iter().map(without_direction_controls).collect(),
        Value::Object(members) => members
            .into_iter()
            .map(|(name, value)| (name, without_direction_controls(value)))
            .collect(),
        value => value,
    }
}

/// Text for an element of HTML: escaped by the caller, with isolates as elements. Their characters stay around them:
/// Gmail and others drop the elements.
pub(crate) fn in_elements(escaped: &str) -> String {
    let mut out = String::with_capacity(escaped.len() + 16);
    let mut open = 0_usize;
    for c in escaped.chars() {
        match c {
            BEGIN => {
                open += 1;
                out.push(BEGIN);
                out.push_str("<bdi>");
            }
            END if open > 0 => {
                open -= 1;
                out.push_str("</bdi>");
                out.push(END);
            }
            END => {}
            c => out.push(c),
        }
    }
    out.push_str(&format!("</bdi>{END}").repeat(open));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_runs_the_other_way_is_isolated() {
        for (value, in_english, in_hebrew) in [
            ("Notes (3) on C++", false, true),
            ("סארה", true, false),
            ("سارة", true, false),
            ("C++ של דב", true, true),
            ("2024 (3)!", false, true),
            ("004 512", false, true),
            ("2024", false, false),
            ("(!)", false, false),
            ("٣", false, false),
            ("ほか", false, true),
            ("a\u{200f}", true, true),
            ("", false, false),
        ] {
            for (is_right_to_left, is_isolated) in [(false, in_english), (true, in_hebrew)] {
                let shown = isolated(value.to_owned(), is_right_to_left);
                let expected =
                    if is_isolated { format!("\u{2068}{value}\u{2069}") } else { value.to_owned() };
                assert_eq!(shown, expected, "{value:?}");
            }
        }
    }

    #[test]
    fn isolates_are_elements_and_each_is_closed() {
        for (text, html) in [
            ("a \u{2068}b\u{2069} c", "a \u{2068}<bdi>b</bdi>\u{2069} c"),
            ("\u{2069}a\u{2068}b", "a\u{2068}<bdi>b</bdi>\u{2069}"),
        ] {
            assert_eq!(in_elements(text), html);
        }
    }
}
