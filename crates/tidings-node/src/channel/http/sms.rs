//! The text of a text message: in the default alphabet of GSM where it can be, and bounded in parts.
//!
//! A part has 160 characters of that alphabet (3GPP TS 23.038, section 6.2.1), of which a few count twice, or 70 units
//! of UTF-16 as soon as one character is not in it. Of a text of several parts each has a little less room.

pub(crate) mod twilio;

use tidings_mail::ShortMessage;
use unicode_segmentation::UnicodeSegmentation as _;

use super::note::Note;

/// The most parts of a text.
const PARTS_MAX: usize = 3;

/// The characters that take one septet.
const BASIC: &str = "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà";
/// The characters of the extension, which take two.
const EXTENSION: &str = "\u{c}^{}\\[~]|€";

/// The septets of a text; `None` = a character is not in the alphabet.
fn septets(text: &str) -> Option<usize> {
    let of = |c| match (BASIC.contains(c), EXTENSION.contains(c)) {
        (true, _) => Some(1),
        (_, true) => Some(2),
        _ => None,
    };
    text.chars().map(of).sum()
}

/// Returns true if all of a text is in the default alphabet of GSM.
pub(crate) fn is_gsm(text: &str) -> bool {
    septets(text).is_some()
}

/// Number of parts of a text.
pub(crate) fn parts(text: &str) -> usize {
    let (length, one, several) = match septets(text) {
        Some(septets) => (septets, 160, 153),
        None => (text.encode_utf16().count(), 70, 67),
    };
    if length <= one { 1 } else { length.div_ceil(several) }
}

/// The text with tidings' own signs replaced by those of the alphabet: the mark between titles, that of a cut, the
/// spaces and the minus of numbers and dates, and invisible marks of direction.
fn plain(text: &str) -> String {
    let is_direction = |c: char| matches!(c, '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}');
    let text: String = text.chars().filter(|c| !is_direction(*c)).collect();
    text.replace(" · ", ", ")
        .replace('·', "-")
        .replace('…', "...")
        .replace(['\u{a0}', '\u{202f}'], " ")
        .replace('\u{2212}', "-")
}

/// The text of a note: words, and the whole link. The words are cut to a maximum number of parts.
pub(crate) fn text_of(note: &Note) -> String {
    let words = note.words();
    let link = note.url.as_ref().map(|url| format!("\n{url}"));
    let link = link.filter(|link| parts(link) < PARTS_MAX).unwrap_or_default();
    let in_alphabet = plain(&words);
    let is_plain = septets(&in_alphabet).is_some() && septets(&link).is_some();
    let (words, end) = if is_plain { (in_alphabet, "...") } else { (words, "…") };
    let whole = format!("{words}{link}");
    if parts(&whole) <= PARTS_MAX {
        return whole;
    }
    let cut_at = |index: usize| format!("{}{end}{link}", words[..index].trim_end());
    let ends: Vec<usize> = words.grapheme_indices(true).map(|(at, _)| at).collect();
    let fits = ends.partition_point(|at| parts(&cut_at(*at)) <= PARTS_MAX);
    cut_at(ends.get(fits.saturating_sub(1)).copied().unwrap_or(0))
}

/// The text of a text message as a provider gets it, with its number of parts.
#[must_use]
pub fn sms(short: ShortMessage) -> (String, usize) {
    let ShortMessage { title, text, url, .. } = short;
    let text = text_of(&Note { title, text, url });
    let parts = parts(&text);
    (text, parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(title: &str, text: &str, url: Option<&str>) -> Note {
        Note { title: title.to_owned(), text: text.to_owned(), url: url.map(str::to_owned) }
    }

    #[test]
    fn field_12_parts_are_counted_by_the_alphabet() {
        for (text, expected) in [
            ("a".repeat(160), 1),
            ("a".repeat(161), 2),
            ("a".repeat(306), 2),
            ("a".repeat(307), 3),
            // Two septets each.
            ("€".repeat(80), 1),
            ("€".repeat(81), 2),
            ("я".repeat(70), 1),
            ("я".repeat(71), 2),
            ("я".repeat(134), 2),
            ("я".repeat(135), 3),
            // Two units each.
            ("🎨".repeat(35), 1),
            ("🎨".repeat(36), 2),
        ] {
            assert_eq!(parts(&text), expected, "{text}");
        }
    }

    #[test]
    fn field_12_own_signs_do_not_take_a_plain_text_out_of_the_alphabet() {
        let titles = "Lists · Notes on a wall · Budget for 2027, and 2 more";
        let url = Some("https://art.example/more/Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6");
        let text = text_of(&note("5 comments", titles, url));
        assert!(text.starts_with("5 comments\nLists, Notes on a wall, Budget"), "{text}");
        assert_eq!(parts(&text), 1, "{text}");
        // Nor do the spaces and signs of CLDR's dates and amounts.
        let dated =
            text_of(&note("Due at 9:00\u{202f}AM: \u{2212}1\u{202f}234,50\u{a0}€", "", None));
        assert_eq!(dated, "Due at 9:00 AM: -1 234,50 €");
        // What the host wrote in another script stays as it is.
        let other = text_of(&note("Работа", "Списки · Заметки", None));
        assert_eq!(other, "Работа\nСписки · Заметки");
    }

    #[test]
    fn field_12_a_text_has_few_parts_in_any_script_and_its_link_whole() {
        let url = "https://art.example/x";
        for letter in ["a", "é", "ł", "€", "я", "漢", "🎨", "[", "a\u{301}", "·", "…"] {
            for length in 0..500 {
                let text = text_of(&note("T", &letter.repeat(length), Some(url)));
                assert!(parts(&text) <= PARTS_MAX, "{letter} {length}");
                assert!(text.ends_with(&format!("\n{url}")), "{text}");
                assert!(length < 400 || parts(&text) == PARTS_MAX, "room is left: {text}");
            }
        }
    }
}
