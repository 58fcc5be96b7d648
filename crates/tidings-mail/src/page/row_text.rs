//! The text of an inbox row or item: a sentence, or who did what to which object.

use std::collections::BTreeSet;

use tidings_core::Id;
use tidings_core::content::{Group, Line};
use tidings_core::model::HostText;
use tidings_core::rules::capitalised;

use super::design::Design;
use super::lines::{self, entries, group_sentence, kinds, types_of, untitled};
use crate::words::format::ReaderLocale;
use crate::words::locale::Language;
use crate::words::localised::Tags;
use crate::words::names;
use crate::words::text;

/// The separator of the parts of a row without a sentence.
const SEPARATOR: &str = " · ";

/// The text of an inbox row, plain, with the language that it is in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowText {
    /// The text. Parts of the other direction are between U+2068 and U+2069.
    pub text: String,
    /// The tag of its language.
    pub lang: String,
    tags: Tags,
}

impl RowText {
    /// Selects a title or a body in the language of the row.
    #[must_use]
    pub fn localised<'t>(&self, text: &'t HostText) -> &'t str {
        self.tags.find(text)
    }
}

impl Design {
    /// The text of an inbox row: the sentence of its type, if it is true of all its items; else the actors, the title of
    /// the type and that of the object, as far as there are any: "Ben Okafor · Review requested · Retry uploads". It is
    /// in the first of the reader's locales that has the words.
    #[must_use]
    pub fn row_text(&self, groups: &[Group], locales: &[&str], zone: &str) -> RowText {
        let types: BTreeSet<Id> = groups.iter().flat_map(types_of).collect();
        let language = self.language_of(locales, &types.iter().collect::<Vec<_>>());
        let reader = ReaderLocale::new(locales.first().unwrap_or(&""), zone);
        let language = language.for_reader(reader);
        let tags = Tags::of([&language], &self.usual);
        let groups = &*tags.groups(groups);
        let sentence = match groups {
            [group] => group_sentence(group, self, &language),
            _ => None,
        };
        let text = sentence.unwrap_or_else(|| self.without_sentence(groups, &language));
        RowText { text: text::clean_around(&text), lang: language.tag(), tags }
    }

    /// The parts of a row without a sentence; a single event is its type as something new: "New comment".
    fn without_sentence(&self, groups: &[Group], language: &Language) -> String {
        let words = &*language.words;
        let lines: Vec<&Line> = groups.iter().flat_map(|group| &group.lines).collect();
        let actors = match groups {
            [group] => lines::actors(lines.iter().copied(), &group.actors, words),
            _ => None,
        };
        let object = match lines.as_slice() {
            [line] => [Some(&line.object), line.target.as_ref()]
                .into_iter()
                .flatten()
                .find_map(|object| names::name_of(object, words)),
            _ => None,
        };
        if let ([line], None, None) = (lines.as_slice(), &actors, &object) {
            return untitled(line, self, language);
        }
        let types: BTreeSet<Id> = groups.iter().flat_map(types_of).collect();
        let types: Vec<Id> = types.into_iter().collect();
        let title = match types.as_slice() {
            [event_type] => self.title(event_type, language, entries(lines.iter().copied())),
            _ => None,
        };
        let what = capitalised(&title.unwrap_or_else(|| kinds(&types, self, language)));
        [actors, Some(words.isolated(what)), object]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(SEPARATOR)
    }
}
