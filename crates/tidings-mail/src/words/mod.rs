//! tidings' own words, in one book for each language: phrases, plurals and lists; and formats of values, by CLDR.
//!
//! A mail speaks one language. One for which there is no book is spoken only where it is the default locale, with
//! English words around what the host wrote.

pub(super) mod book;
pub(super) mod books;
pub(super) mod direction;
pub(super) mod format;
pub(super) mod locale;
pub(super) mod localised;
pub(super) mod names;
pub(super) mod plural;
pub(super) mod sentence;
pub(super) mod tag;
pub(super) mod text;
pub(super) mod why;
pub(super) mod wording;

use icu_locale_core::Locale;
use serde::Deserialize;
use tidings_core::rules::capitalised;

use crate::words::plural::{PluralPhrase, Plurals};

/// The words of a language. Names in braces are replaced.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Words {
    /// The language (BCP 47).
    #[serde(skip)]
    pub(crate) tag: String,
    #[serde(skip)]
    pub(crate) is_right_to_left: bool,
    /// True if a noun has a capital wherever it stands.
    pub(crate) keeps_capitals: bool,
    /// The rules by which the form of a word goes with a count.
    #[serde(skip)]
    pub(crate) plurals: Plurals,
    /// The locale whose digits and groups its numbers have.
    #[serde(skip, default = "no_locale")]
    pub(crate) numbers: Locale,
    pub(crate) zone: String,
    /// Between the names of a list, and before the last one.
    pub(crate) comma: String,
    pub(crate) and: String,
    /// Before the last one where it begins in the script of the language, if that has one of its own.
    pub(crate) and_before_own: String,
    /// Before the number of the others, where that is another one.
    pub(crate) and_others: Option<String>,
    /// Between clauses, and before the last one.
    pub(crate) clause_comma: String,
    pub(crate) clause_and: String,
    /// Between what a subject begins with and what it names.
    pub(crate) colon: String,
    pub(crate) full_stop: String,
    pub(crate) between_sentences: String,
    /// "1 other", "{n} others", of things.
    pub(crate) others: PluralPhrase,
    /// The same of people.
    pub(crate) other_people: PluralPhrase,
    pub(crate) count_of: PluralPhrase,
    pub(crate) new: PluralPhrase,
    pub(crate) new_for_you: PluralPhrase,
    pub(crate) new_of_kind: PluralPhrase,
    pub(crate) new_untitled: String,
    pub(crate) more: PluralPhrase,
    /// The button of a mail with one item, and that of a type that is required.
    pub(crate) take_a_look: String,
    pub(crate) details: String,
    pub(crate) sent: String,
    pub(crate) because_of_one: String,
    pub(crate) because_of_many: String,
    /// The followed topic: as a clause on all items, beside an item, and on some.
    pub(crate) follow: String,
    pub(crate) follow_note: String,
    pub(crate) follow_some: String,
    pub(crate) near: ReasonWording,
    pub(crate) everyone: ReasonWording,
    /// The words of the link that unsubscribes.
    pub(crate) unsubscribe: String,
    pub(crate) site: SiteWords,
}

/// The placeholder for the locale until the tag of the book is set.
fn no_locale() -> Locale {
    Locale::UNKNOWN
}

/// The words of the pages to which mails lead.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SiteWords {
    pub(crate) title: String,
    pub(crate) lead: String,
    pub(crate) in_message: String,
    pub(crate) types: String,
    pub(crate) categories: String,
    /// The heading of the days and times of digests.
    pub(crate) times: String,
    pub(crate) day: String,
    pub(crate) time: String,
    /// Beside the day or time that is the default.
    pub(crate) standard: String,
    pub(crate) save: String,
    pub(crate) everything: String,
    pub(crate) all_mail: String,
    pub(crate) all: String,
    pub(crate) required: String,
    pub(crate) stop: String,
    pub(crate) turn_on: String,
    /// "{often} instead".
    pub(crate) instead: String,
    pub(crate) off: String,
    pub(crate) at_once: String,
    pub(crate) hourly: String,
    pub(crate) hours: PluralPhrase,
    pub(crate) daily: String,
    pub(crate) weekdays: String,
    pub(crate) weekly: String,
    pub(crate) monthly: String,
    pub(crate) saved: String,
    /// "No more e-mail about “{name}”."
    pub(crate) no_more: String,
    pub(crate) undo: String,
    /// "{n} more", without the mail's "and".
    pub(crate) rest: PluralPhrase,
    pub(crate) rest_of: String,
    pub(crate) partly: String,
    pub(crate) next: String,
    pub(crate) previous: String,
    pub(crate) no_link: String,
    pub(crate) no_link_why: String,
    pub(crate) forgotten: String,
    pub(crate) forgotten_why: String,
    pub(crate) busy: String,
    pub(crate) busy_why: String,
}

/// A reason in words: as a clause on one item, on all, on some, and as a note beside an item.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReasonWording {
    pub(crate) one: String,
    pub(crate) all: String,
    pub(crate) some: String,
    pub(crate) note: String,
}

/// A phrase with a name in braces replaced.
pub(crate) fn fill(phrase: &str, name: &str, value: &str) -> String {
    phrase.replace(name, value)
}

impl Words {
    /// `ltr` or `rtl`.
    pub(crate) fn direction(&self) -> &'static str {
        if self.is_right_to_left { "rtl" } else { "ltr" }
    }

    /// A value that stands among words of this language, isolated if it runs the other way.
    pub(crate) fn isolated(&self, value: String) -> String {
        direction::isolated(value, self.is_right_to_left)
    }

    /// A count with its thousands set apart: "10,000".
    pub(crate) fn number(&self, count: usize) -> String {
        format::count(count, &self.numbers)
    }

    /// A phrase about a count.
    pub(crate) fn counted(&self, phrase: &PluralPhrase, count: usize) -> String {
        fill(self.plurals.form(phrase.forms(), count), "{n}", &self.number(count))
    }

    /// "A", "A and B", "A, B and C", "A, B and 3 others"; of the others some may have no name.
    pub(crate) fn listed(&self, names: &[String], unnamed: usize) -> String {
        self.listed_with(&self.others, names, unnamed)
    }

    /// The same of people.
    pub(crate) fn listed_people(&self, names: &[String], unnamed: usize) -> String {
        self.listed_with(&self.other_people, names, unnamed)
    }

    fn listed_with(&self, others: &PluralPhrase, names: &[String], unnamed: usize) -> String {
        let others = |count: usize| self.counted(others, count);
        let and_others = |count: usize| {
            let others = others(count);
            let and = self.and_others.as_deref().unwrap_or_else(|| self.and_before(&others));
            format!("{and}{others}")
        };
        let comma = &self.comma;
        let and = |last: &str| format!("{}{last}", self.and_before(last));
        match (names, unnamed) {
            ([], 0) => String::new(),
            ([], _) => others(unnamed),
            ([a], 0) => a.clone(),
            ([a, b], 0) => format!("{a}{}", and(b)),
            ([a, b, c], 0) => format!("{a}{comma}{b}{}", and(c)),
            ([a], _) => format!("{a}{}", and_others(unnamed)),
            ([a, b, rest @ ..], _) => {
                format!("{a}{comma}{b}{}", and_others(rest.len() + unnamed))
            }
        }
    }

    /// The word before the last name of a list.
    fn and_before(&self, last: &str) -> &str {
        let is_own = self.is_right_to_left && last.starts_with(direction::runs_left);
        if is_own { &self.and_before_own } else { &self.and }
    }

    /// "a", "a, and b", "a, b, and c": clauses that may hold lists themselves.
    pub(crate) fn clauses(&self, clauses: &[String]) -> Option<String> {
        let (last, others) = clauses.split_last()?;
        if others.is_empty() {
            return Some(last.clone());
        }
        let others = others.join(&self.clause_comma);
        Some(format!("{others}{}{last}", self.clause_and))
    }

    /// "5 new works".
    pub(crate) fn count_of(&self, title: &str, count: usize) -> String {
        let phrase = self.counted(&self.count_of, count);
        let title = self.isolated(self.in_a_phrase(title));
        fill(&phrase, "{what}", &title)
    }

    /// A title as it stands within a phrase: "New works" are "new works", unless the language writes nouns
    /// with a capital.
    pub(crate) fn in_a_phrase(&self, title: &str) -> String {
        let mut chars = title.chars();
        let (first, second) = (chars.next(), chars.next());
        match (first, second) {
            (Some(first), Some(second)) if !self.keeps_capitals && !second.is_uppercase() => {
                let rest = title.chars().skip(1);
                match first {
                    // Turkish has an i with a dot and one without, small and large.
                    'İ' => std::iter::once('i').chain(rest).collect(),
                    'I' if self.tag == "tr" => std::iter::once('ı').chain(rest).collect(),
                    _ => first.to_lowercase().chain(rest).collect(),
                }
            }
            _ => title.to_owned(),
        }
    }

    /// Names what happened: "Comment", or "3 new: comment, share" where there are several.
    pub(crate) fn happened(&self, types: &str, entries: usize) -> String {
        match entries {
            0 | 1 => self.isolated(capitalised(types)),
            _ => {
                let types = self.isolated(types.to_owned());
                fill(&self.counted(&self.new_of_kind, entries), "{what}", &types)
            }
        }
    }

    /// The same, to stand for a title: "New comment".
    pub(crate) fn untitled(&self, types: &str, entries: usize) -> String {
        match entries {
            0 | 1 => {
                let types = self.isolated(types.to_owned());
                fill(&self.new_untitled, "{what}", &types)
            }
            _ => self.happened(types, entries),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(locale: &str) -> std::sync::Arc<Words> {
        crate::words::locale::Language::of(locale).words
    }

    #[test]
    fn lists_name_two_and_count_the_rest() {
        let names: Vec<String> = ["A", "B", "C", "D", "E"].map(str::to_owned).to_vec();
        for (named, unnamed, list) in [
            (1, 0, "A"),
            (2, 0, "A and B"),
            (3, 0, "A, B and C"),
            (5, 0, "A, B and 3 others"),
            (1, 1, "A and 1 other"),
            (1, 2, "A and 2 others"),
            (2, 1, "A, B and 1 other"),
            (3, 1_000, "A, B and 1,001 others"),
        ] {
            assert_eq!(of("en").listed(&names[..named], unnamed), list);
        }
        assert_eq!(of("de").listed(&names, 0), "A, B und 3 weitere");
        assert_eq!(of("he").listed(&names[..1], 2), "A ועוד שניים");
        assert_eq!(of("he").listed(&names[..2], 0), "A ו־B");
        assert_eq!(of("he").listed(&["א", "ב"].map(str::to_owned), 0), "א וב");
        assert_eq!(of("ja").listed(&names, 0), "A、B、ほか3件");
        assert_eq!(of("ja").listed_people(&names, 0), "A、B、ほか3名");
    }

    #[test]
    fn numbers_are_grouped_as_the_language_does() {
        assert_eq!(
            [0, 999, 1_000, 1_234_567].map(|n| of("en").number(n)),
            ["0", "999", "1,000", "1,234,567"]
        );
        assert_eq!(of("de-CH").number(4_936), "4.936");
        assert_eq!(of("fr").number(4_936), "4\u{202f}936");
        assert_eq!([4_936, 14_936].map(|n| of("es").number(n)), ["4936", "14.936"]);
        assert_eq!(
            [999, 4_936, 99_999, 1_234_567, 123_456_789].map(|n| of("hi").number(n)),
            ["999", "4,936", "99,999", "12,34,567", "12,34,56,789"]
        );
    }

    #[test]
    fn an_unknown_language_is_english() {
        assert_eq!(
            ["en-GB", "DE", "xx", "", "ja-JP"].map(|locale| of(locale).tag.clone()),
            ["en", "de", "en", "en", "ja"]
        );
    }

    #[test]
    fn what_happened_is_told_by_the_names_of_types() {
        let english = of("en");
        assert_eq!(english.happened("artwork published", 1), "Artwork published");
        assert_eq!(
            english.happened("comment, artwork published", 3),
            "3 new: comment, artwork published"
        );
        assert_eq!(english.untitled("artwork published", 1), "New artwork published");
        assert_eq!(english.untitled("comment, share", 2), "2 new: comment, share");
    }
}
