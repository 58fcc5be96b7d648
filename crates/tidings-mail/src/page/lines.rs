//! Facts of lines that a page and its subject share.

use std::sync::Arc;

use tidings_core::content::{Group, Line, common_data};
use tidings_core::rules::capitalised;
use tidings_core::{Id, Object};

use crate::page::design::Design;
use crate::words::Words;
use crate::words::locale::Language;
use crate::words::sentence::{Sentence, SentenceValues};
use crate::words::{names, text, wording};

/// Number of characters of a title.
const TITLE_CHARS_MAX: usize = 160;

/// The title of a line's object; `None` where it has none that can be shown.
pub(crate) fn own_title(line: &Line, words: &Words) -> Option<String> {
    let title = text::cut(&text::clean(line.object.title.as_ref()?.first()), TITLE_CHARS_MAX);
    (!title.is_empty()).then(|| words.isolated(title))
}

/// The names of some lines' actors; `None` where an entry has none, whose act would be another's.
pub(crate) fn actors<'l>(
    lines: impl IntoIterator<Item = &'l Line>,
    actors: &[Arc<Object>],
    words: &Words,
) -> Option<String> {
    actors_shortly(lines, actors, words, names::NAME_CHARS_MAX)
}

/// The same with names of this many characters at most.
pub(crate) fn actors_shortly<'l>(
    lines: impl IntoIterator<Item = &'l Line>,
    actors: &[Arc<Object>],
    words: &Words,
    name_chars: usize,
) -> Option<String> {
    let is_signed = is_signed(lines);
    names::named_shortly(actors, words, name_chars).filter(|_| is_signed)
}

/// Returns true if each entry of some lines has an actor.
fn is_signed<'l>(lines: impl IntoIterator<Item = &'l Line>) -> bool {
    !lines.into_iter().any(|line| line.lacks_actor)
}

/// The substitute for the title of a line without one: the title of its type, "2 new works", or "New comment".
pub(crate) fn untitled(line: &Line, design: &Design, language: &Language) -> String {
    let words = &*language.words;
    let title = match &line.types[..] {
        [event_type] => design.title(event_type, language, line.entries),
        _ => None,
    };
    match (title, line.entries) {
        (Some(title), 1) => words.isolated(capitalised(&title)),
        (Some(title), count) => words.count_of(&title, count),
        (None, count) => words.untitled(&wording::types_in_words(&line.types), count),
    }
}

/// The counts of some lines by the titles of a maximum number of types: "12 new works", "2 shows near you"; and the
/// number of all others.
pub(crate) fn counts<'l>(
    all: impl IntoIterator<Item = &'l Line>,
    design: &Design,
    language: &Language,
    most: usize,
) -> (Vec<String>, usize) {
    let words = &*language.words;
    let has_title = |event_type: &Id| design.title(event_type, language, 1).is_some();
    let mut types: Vec<(&Id, usize)> = Vec::new();
    let mut rest = 0;
    for line in all {
        let each = match line.types.len() {
            1 => line.entries,
            kinds if kinds == line.entries && line.types.iter().all(has_title) => 1,
            // Nobody knows how many entries are of which of its types.
            _ => {
                rest += line.entries;
                continue;
            }
        };
        for event_type in &line.types {
            match types.iter_mut().find(|(known, _)| *known == event_type) {
                Some((_, count)) => *count += each,
                None => types.push((event_type, each)),
            }
        }
    }
    let mut phrases = Vec::new();
    for (event_type, count) in types {
        match design.title(event_type, language, count) {
            Some(title) if phrases.len() < most => {
                phrases.push(words.count_of(&title, count));
            }
            _ => rest += count,
        }
    }
    (phrases, rest)
}

/// The names of several types in a phrase: their titles if each has one, else their names.
pub(crate) fn kinds(types: &[Id], design: &Design, language: &Language) -> String {
    let words = &*language.words;
    let title = |event_type: &Id| {
        let title = design.plural_title(event_type, language)?;
        Some(words.in_a_phrase(&title))
    };
    let titles = types.iter().map(title).collect::<Option<Vec<_>>>();
    titles.map_or_else(|| wording::types_in_words(types), |titles| titles.join(&words.comma))
}

/// The notifications of some lines.
pub(crate) fn entries<'l>(lines: impl IntoIterator<Item = &'l Line>) -> usize {
    lines.into_iter().map(|line| line.entries).sum()
}

/// The types of a group's lines, each once.
pub(crate) fn types_of(group: &Group) -> Vec<Id> {
    let mut types: Vec<Id> = Vec::new();
    for event_type in group.lines.iter().flat_map(|line| &line.types) {
        if !types.contains(event_type) {
            types.push(event_type.clone());
        }
    }
    types
}

/// The values of a sentence's places for some lines: values that all lines share, and lists of names.
pub(crate) fn said(
    lines: &[&Line],
    by: &[Arc<Object>],
    sentence: &Sentence,
    tenant: Option<&str>,
) -> SentenceValues {
    said_shortly(lines, by, sentence, tenant, usize::MAX)
}

/// The same with names of this many characters at most.
pub(crate) fn said_shortly(
    lines: &[&Line],
    by: &[Arc<Object>],
    sentence: &Sentence,
    tenant: Option<&str>,
    name_chars: usize,
) -> SentenceValues {
    let words = &*sentence.words;
    let cut = |name: String| text::cut(&name, name_chars);
    let listed = |names: Vec<Option<String>>| {
        let count = names.len();
        let mut known: Vec<String> = Vec::new();
        for name in names.into_iter().flatten() {
            if !known.contains(&name) {
                known.push(name);
            }
        }
        // Things of one name are named once, and counted.
        let others = count - known.len();
        (!known.is_empty()).then(|| words.listed(&known, others))
    };
    let mut objects: Vec<&Line> = Vec::new();
    for line in lines {
        if !objects.iter().any(|other| other.object.id == line.object.id) {
            objects.push(line);
        }
    }
    let titles = objects.iter().map(|line| own_title(line, words).map(cut)).collect();
    let mut targets: Vec<&Arc<Object>> = Vec::new();
    for target in lines.iter().filter_map(|line| line.target.as_ref()) {
        if !targets.contains(&target) {
            targets.push(target);
        }
    }
    let have_targets = lines.iter().all(|line| line.target.is_some());
    let targets = targets.into_iter().map(|one| names::name_of(one, words).map(cut));
    let is_signed = is_signed(lines.iter().copied());
    let data = lines.first().and_then(|line| line.data.clone());
    SentenceValues {
        actor: names::named_shortly(by, words, name_chars).filter(|_| is_signed),
        object: listed(titles),
        target: listed(targets.collect()).filter(|_| have_targets),
        tenant: tenant.map(|name| cut(words.isolated(name.to_owned()))),
        count: entries(lines.iter().copied()),
        actors: Some(by.len()).filter(|count| *count > 0 && is_signed),
        data: lines.iter().fold(data, |data, line| common_data(data, line.data.as_ref())),
    }
}

/// The sentence of a group: "A, B and 3 others commented on X"; `None` where it would say something that is not true of
/// all its lines.
pub(crate) fn group_sentence(
    group: &Group,
    design: &Design,
    language: &Language,
) -> Option<String> {
    short_sentence(group, design, language, usize::MAX)
}

/// The same with names of this many characters at most.
pub(crate) fn short_sentence(
    group: &Group,
    design: &Design,
    language: &Language,
    name_chars: usize,
) -> Option<String> {
    if types_of(group).len() > 1 {
        return None;
    }
    let sentence = design.sentence(&group.event_type, language)?;
    let lines: Vec<&Line> = group.lines.iter().collect();
    let said = said_shortly(&lines, &group.actors, sentence, design.tenant(), name_chars);
    sentence.text(&said, language)
}
