//! The books of words, by the tags of their languages.

use crate::words::{Words, de, en, fr, he, ja};

/// The books.
static BOOKS: [&Words; 5] = [&en::WORDS, &de::WORDS, &fr::WORDS, &he::WORDS, &ja::WORDS];

/// The book that stands in for every other language, among texts of one direction or the other.
pub(crate) fn english(is_right_to_left: bool) -> &'static Words {
    if is_right_to_left { &en::AMONG_RIGHT_TO_LEFT } else { &en::WORDS }
}

/// The words under the first of some tags that has any.
pub(crate) fn of(tags: &[String]) -> Option<&'static Words> {
    let book = |tag: &String| BOOKS.into_iter().find(|words| words.tag.eq_ignore_ascii_case(tag));
    tags.iter().find_map(book)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_book_has_the_forms_of_its_language() {
        for words in BOOKS {
            for forms in [words.others, words.other_people] {
                assert!(words.plurals.fit(forms.len()), "{}", words.tag);
            }
        }
    }
}
