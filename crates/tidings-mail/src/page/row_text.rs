//! The text of an inbox row or item: a sentence, or the titles of its type and object.

use std::collections::BTreeSet;

use tidings_core::batch::Group;
use tidings_core::{HostText, Id};

use super::design::Design;
use super::lines::{entries, group_sentence, kinds, types_of};
use crate::words::format::Reader;
use crate::words::names;
use crate::words::text;
use crate::words::told::Tags;

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
    /// The text of an inbox row: the sentence of its type, if it is true of all its items; else the title of the type
    /// with that of the object, where there is one. It is in the first of the reader's locales that has the words.
    #[must_use]
    pub fn row_text(&self, groups: &[Group], locales: &[&str], zone: &str) -> RowText {
        let types: BTreeSet<Id> = groups.iter().flat_map(types_of).collect();
        let language = self.language_of(locales, &types.iter().collect::<Vec<_>>());
        let reader = Reader::new(locales.first().unwrap_or(&""), zone);
        let language = language.for_reader(reader);
        let tags = Tags::of([&language], &self.usual);
        let groups = &*tags.groups(groups);
        let sentence = match groups {
            [group] => group_sentence(group, self, &language),
            _ => None,
        };
        let text = sentence.unwrap_or_else(|| {
            let count = groups.iter().map(|group| entries(&group.lines)).sum::<usize>();
            let types: Vec<Id> = types.into_iter().collect();
            let title = match types.as_slice() {
                [event_type] => self.title(event_type, &language, count),
                _ => None,
            };
            let mut objects = groups.iter().flat_map(|group| &group.lines).map(|line| &line.object);
            let object = objects.next().filter(|_| objects.next().is_none());
            let name = object.and_then(|object| names::name_of(object, &language.words));
            match (title, name) {
                (Some(title), Some(name)) => {
                    format!("{title}{}{name}", language.words.colon)
                }
                (Some(text), None) | (None, Some(text)) => text,
                (None, None) => kinds(&types, self, &language),
            }
        });
        RowText { text: text::clean_around(&text), lang: language.tag(), tags }
    }
}
