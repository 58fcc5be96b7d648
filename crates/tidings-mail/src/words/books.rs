//! The books of words, by the tags of their languages. They are data: a file of `locales` for each language.

use std::sync::LazyLock;

use crate::words::Words;
use crate::words::plural::Plurals;
use crate::words::tag::is_right_to_left;

/// The books: the tags and the texts of their files.
const BOOKS: [(&str, &str); 5] = [
    ("en", include_str!("../../locales/en.toml")),
    ("de", include_str!("../../locales/de.toml")),
    ("fr", include_str!("../../locales/fr.toml")),
    ("he", include_str!("../../locales/he.toml")),
    ("ja", include_str!("../../locales/ja.toml")),
];

static WORDS: LazyLock<Vec<Words>> = LazyLock::new(|| BOOKS.map(own).into());
/// English among texts that run from right to left.
static AMONG_RIGHT_TO_LEFT: LazyLock<Words> =
    LazyLock::new(|| Words { is_right_to_left: true, ..own(BOOKS[0]) });

#[expect(clippy::expect_used, reason = "the books are a part of the binary, and a test reads each")]
fn own((tag, text): (&str, &str)) -> Words {
    read(tag, text).expect("a book of this binary")
}

/// Reads a book.
///
/// # Errors
/// The text is no TOML, lacks a phrase, or has one too many.
fn read(tag: &str, text: &str) -> Result<Words, toml::de::Error> {
    let words: Words = toml::from_str(text)?;
    Ok(Words {
        tag: tag.to_owned(),
        is_right_to_left: is_right_to_left(tag),
        plurals: Plurals::of(tag),
        ..words
    })
}

/// The book that stands in for every other language, among texts of one direction or the other.
pub(crate) fn english(is_right_to_left: bool) -> &'static Words {
    if is_right_to_left { &AMONG_RIGHT_TO_LEFT } else { &WORDS[0] }
}

/// The words under the first of some tags that has any.
pub(crate) fn of(tags: &[String]) -> Option<&'static Words> {
    let book = |tag: &String| WORDS.iter().find(|words| words.tag.eq_ignore_ascii_case(tag));
    tags.iter().find_map(book)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_book_has_the_forms_of_its_language() {
        for words in WORDS.iter() {
            for forms in [&words.others, &words.other_people] {
                assert!(words.plurals.fit(forms.len()), "{}", words.tag);
            }
        }
    }

    #[test]
    fn a_book_with_a_phrase_too_few_or_too_many_is_refused() {
        let (tag, text) = BOOKS[0];
        let lacks = text.replacen("colon = ", "# colon = ", 1);
        assert!(read(tag, &lacks).is_err());
        assert!(read(tag, &format!("column = ''\n{text}")).is_err());
    }
}
