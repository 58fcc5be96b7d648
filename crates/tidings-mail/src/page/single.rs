//! The parts of a mail about one item that items among others don't have: a headline, who did it, the whole text, what
//! the reader can do.

use serde::Serialize;
use tidings_core::Object;
use unicode_segmentation::UnicodeSegmentation as _;

use crate::link;
use crate::words::direction::END;

/// The details that a mail gives of its only item.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub(crate) struct SingleItemDetails {
    /// The sentence as text, else the title.
    pub(crate) headline: String,
    /// The title, unless the headline or a text that a person wrote is in its place.
    pub(crate) object: Option<String>,
    /// The text that a person wrote, whole.
    pub(crate) paragraphs: Vec<String>,
    /// The label of the button.
    pub(crate) action: String,
    /// The text under all of it, in stretches of which some are links.
    pub(crate) notice: Vec<LinkedText>,
    /// The beginning of the item's `about`, before the time.
    #[serde(skip)]
    pub(crate) circumstances: Vec<String>,
}

impl SingleItemDetails {
    /// The notice without its links.
    pub(crate) fn notice_as_text(&self) -> String {
        self.notice.iter().map(|part| part.text.as_str()).collect()
    }
}

/// A picture of a person, or the letters that stand for one.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub(crate) struct PersonPicture {
    pub(crate) src: Option<String>,
    pub(crate) initials: String,
}

impl PersonPicture {
    /// The room of a face, left blank, so that the rows of a block stand below each other.
    pub(crate) fn blank() -> Self {
        Self { src: None, initials: String::new() }
    }

    /// The face of an actor; `None` if neither picture nor name can be shown.
    pub(crate) fn of(actor: &Object, base: Option<&str>) -> Option<Self> {
        let src = actor.image.as_deref().and_then(|image| link::page(image, base));
        let src = src.and_then(|src| link::picture(&src));
        let initials = initials(actor.title.as_ref()?.first());
        (src.is_some() || !initials.is_empty()).then_some(Self { src, initials })
    }
}

/// The first letters of the first and the last word of a name; one of a name in a script without capitals.
fn initials(name: &str) -> String {
    let letters = |word: &str| {
        let first = word.graphemes(true).find(|letter| letter.chars().all(char::is_alphanumeric));
        first.map(str::to_uppercase)
    };
    let mut words = name.split_whitespace().filter_map(letters);
    let first = words.next().unwrap_or_default();
    let has_case = first.to_lowercase() != first;
    let last = words.next_back().filter(|_| has_case).unwrap_or_default();
    first + &last
}

/// A stretch of a text that may lead somewhere.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub(crate) struct LinkedText {
    pub(crate) text: String,
    pub(crate) url: Option<String>,
}

/// A text with its `https` addresses as links. They need no space before them, as Japanese has none.
pub(crate) fn linked(text: &str) -> Vec<LinkedText> {
    const SCHEME: &str = "https://";
    let mut stretches = Vec::new();
    let mut plain = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(SCHEME) {
        let (before, from) = rest.split_at(at);
        plain.push_str(before);
        // An address that runs the other way than the text is isolated.
        let end = from.find(|c: char| c.is_whitespace() || c == END).unwrap_or(from.len());
        let address =
            from[..end].trim_end_matches(['.', ',', ';', ')', '!', '?', '\u{3002}', '\u{ff09}']);
        let url = (!before.ends_with(|c: char| c.is_ascii_alphanumeric()))
            .then(|| link::web(address))
            .flatten();
        let taken = if url.is_some() { address.len() } else { SCHEME.len() };
        if url.is_some() {
            if !plain.is_empty() {
                stretches.push(LinkedText { text: std::mem::take(&mut plain), url: None });
            }
            stretches.push(LinkedText { text: address.to_owned(), url });
        } else {
            plain.push_str(SCHEME);
        }
        rest = &from[taken..];
    }
    plain.push_str(rest);
    if !plain.is_empty() {
        stretches.push(LinkedText { text: plain, url: None });
    }
    stretches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn initials_are_of_the_first_and_the_last_name() {
        for (name, letters) in [
            ("Ben Okafor", "BO"),
            ("Ana María de la Cruz", "AC"),
            ("madonna", "M"),
            ("«Élodie» Brun", "ÉB"),
            ("山田 太郎", "山"),
            ("דנה כהן", "ד"),
            ("42", "4"),
            ("…", ""),
            ("", ""),
        ] {
            assert_eq!(initials(name), letters, "{name}");
        }
    }

    #[test]
    fn addresses_in_a_text_are_links() {
        let shown = |text: &str| {
            let each = linked(text).into_iter();
            each.map(|one| if one.url.is_some() { format!("<{}>", one.text) } else { one.text })
                .collect::<String>()
        };
        assert_eq!(
            shown("Not you? https://example.org/secure."),
            "Not you? <https://example.org/secure>."
        );
        assert_eq!(shown("https://a.example b"), "<https://a.example> b");
        assert_eq!(
            shown("\u{5dc}\u{5d0}? \u{2068}https://a.example/s?t=1\u{2069}"),
            "\u{5dc}\u{5d0}? \u{2068}<https://a.example/s?t=1>\u{2069}"
        );
        assert_eq!(
            shown("\u{3053}\u{3061}\u{3089}\u{ff1a}https://a.example/s\u{3002}"),
            "\u{3053}\u{3061}\u{3089}\u{ff1a}<https://a.example/s>\u{3002}"
        );
        assert_eq!(
            shown("xhttps://a.example (https://b.example)"),
            "xhttps://a.example (<https://b.example>)"
        );
        assert_eq!(shown("write to us"), "write to us");
        assert_eq!(
            shown("javascript:alert(1) http://a.example"),
            "javascript:alert(1) http://a.example"
        );
    }
}
