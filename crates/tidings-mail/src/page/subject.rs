//! The subject of mails, built from their content.

use std::sync::Arc;

use email_encoding::headers::{rfc2047, writer::EmailWriter};
use tidings_core::content::{Batch, Group, Line};
use tidings_core::model::Pivot;
use tidings_core::rules::capitalised;
use tidings_core::{Id, Object};

use crate::page::design::Design;
use crate::page::lines;
use crate::words::Words;
use crate::words::locale::Language;
use crate::words::sentence::Sentence;
use crate::words::{names, text, wording};

/// The longest subject, in characters.
const SUBJECT_CHARS_MAX: usize = 150;
/// Number of characters of a subject that most lists of mails show.
const SHOWN_CHARS: usize = 70;
/// The longest names in characters, tried in turn until the subject is shown whole.
const NAME_CHARS: [usize; 3] = [40, 28, 18];
/// The longest list of types, in characters.
const TYPES_CHARS_MAX: usize = 40;
/// Number of types that are counted by their titles.
const TITLES_SHOWN: usize = 3;

/// The subject of a batch: the configured one of its type or its only group, else actors and counts: "Andy Warhol, Eva
/// Hesse and 3 more: 12 new works, 2 shows near you".
pub(crate) fn text(batch: &Batch, design: &Design, language: &Language) -> String {
    let mut shortest = String::new();
    for name_chars in NAME_CHARS {
        let subject = with_names_of(name_chars, batch, design, language);
        if subject.chars().count() <= SHOWN_CHARS {
            return subject;
        }
        shortest = subject;
    }
    text::cut(&shortest, SUBJECT_CHARS_MAX)
}

/// The subject with names of this many characters at most.
fn with_names_of(name_chars: usize, batch: &Batch, design: &Design, language: &Language) -> String {
    let counted =
        of_one_kind(batch, design, language, name_chars).or_else(|| match &batch.groups[..] {
            [group] => lines::short_sentence(group, design, language, name_chars),
            _ => None,
        });
    counted.unwrap_or_else(|| match is_one_line(batch) {
        Some(line) => of_line(line, batch, design, language, name_chars),
        None => of_many(batch, design, language, name_chars),
    })
}

/// The counts of a batch: "12 new works, 2 shows near you"; `None` where no type has a title.
pub(crate) fn counts(batch: &Batch, design: &Design, language: &Language) -> Option<String> {
    // What is counted by name is shown, at least in part.
    let most = TITLES_SHOWN.min(design.quota(batch).show);
    let lines = batch.groups.iter().flat_map(|group| &group.lines);
    let (mut phrases, rest) = lines::counts(lines, design, language, most);
    if phrases.is_empty() {
        return None;
    }
    let words = &*language.words;
    if rest > 0 {
        phrases.push(words.counted(&words.new, rest));
    }
    Some(phrases.join(&words.comma))
}

/// The configured subject, where all lines are of the one type that has it.
fn of_one_kind(
    batch: &Batch,
    design: &Design,
    language: &Language,
    name_chars: usize,
) -> Option<String> {
    let event_type = &batch.groups.first()?.event_type;
    if batch.types().any(|other| other != event_type) {
        return None;
    }
    let subject = design.subject(event_type, language)?;
    let lines: Vec<&Line> = batch.groups.iter().flat_map(|group| &group.lines).collect();
    let mut actors = Vec::new();
    for actor in batch.groups.iter().flat_map(|group| &group.actors) {
        if !actors.contains(actor) {
            actors.push(actor.clone());
        }
    }
    let said = lines::said_shortly(&lines, &actors, subject, design.tenant(), name_chars);
    subject.text(&said, language)
}

/// The only line of a batch.
fn is_one_line(batch: &Batch) -> Option<&Line> {
    let mut lines = batch.groups.iter().flat_map(|group| &group.lines);
    lines.next().filter(|_| lines.next().is_none())
}

/// "Ben Okafor · Review requested · Retry uploads"; without an actor "Artwork published: Marilyn", "5 new: Notes on a wall".
fn of_line(
    line: &Line,
    batch: &Batch,
    design: &Design,
    language: &Language,
    name_chars: usize,
) -> String {
    let words = &*language.words;
    let types = wording::types_in_words(&line.types);
    let name =
        lines::own_title(line, words).or_else(|| names::name_of(line.target.as_ref()?, words));
    let actors = lines::actors_shortly([line], &line.actors, words, name_chars)
        .filter(|_| line.entries == 1);
    let Some(name) = name else {
        let what = lines::untitled(line, design, language);
        return actors.into_iter().chain([what]).collect::<Vec<_>>().join(" · ");
    };
    let name = text::cut(&name, name_chars);
    let what = text::cut(&types, TYPES_CHARS_MAX);
    let happened = match line.entries {
        1 => {
            let title = match &line.types[..] {
                [event_type] => design.title(event_type, language, 1),
                _ => None,
            };
            words.isolated(capitalised(&title.unwrap_or(what)))
        }
        _ => counts(batch, design, language)
            .unwrap_or_else(|| words.counted(&words.new, line.entries)),
    };
    match actors {
        Some(actors) if actors != name => [actors, happened, name].join(" · "),
        _ => format!("{happened}{}{name}", words.colon),
    }
}

/// "Andy Warhol, Eva Hesse and 3 more: 12 new works".
fn of_many(batch: &Batch, design: &Design, language: &Language, name_chars: usize) -> String {
    let words = &*language.words;
    let mut types: Vec<Id> = Vec::new();
    for event_type in batch.types() {
        if !types.contains(event_type) {
            types.push(event_type.clone());
        }
    }
    let in_words = wording::types_in_words(&types);
    let mut names: Vec<String> = Vec::new();
    let mut are_people = true;
    let people: Vec<_> =
        batch.groups.iter().map(|group| people_of(group, design, language)).collect();
    let any_people = people.iter().any(Option::is_some);
    for (group, people) in batch.groups.iter().zip(people) {
        // An invoice, which nobody did, is not counted among people.
        if any_people && group.actors.is_empty() {
            continue;
        }
        are_people &= people.is_some();
        for name in people.unwrap_or_else(|| names_of(group, words)) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    let counts = counts(batch, design, language);
    let names = names_in_words(&names, are_people, words, name_chars);
    match (names, counts) {
        (Some(names), Some(counts)) => format!("{names}{}{counts}", words.colon),
        (Some(names), None) => {
            format!("{names}{}{}", words.colon, words.counted(&words.new, batch.entries))
        }
        (None, Some(counts)) => counts,
        (None, None) => words.untitled(&in_words, batch.entries),
    }
}

/// The names of a group's actors, where its sentence begins with them.
fn people_of(group: &Group, design: &Design, language: &Language) -> Option<Vec<String>> {
    let sentence = design.sentence(&group.event_type, language);
    let are_first = sentence.is_some_and(Sentence::begins_with_actor)
        && group.lines.iter().all(|line| !line.lacks_actor);
    let name = |actor: &Arc<Object>| names::name_of(actor, &language.words);
    let named = || group.actors.iter().filter_map(name).collect::<Vec<_>>();
    are_first.then(named).filter(|named| !named.is_empty())
}

/// The names of what else a group is about: what its lines share, else the titles of its lines.
fn names_of(group: &Group, words: &Words) -> Vec<String> {
    let key = group.key.as_ref().filter(|_| group.pivot != Pivot::Object);
    if let Some(name) = key.and_then(|key| names::name_of(key, words)) {
        return vec![name];
    }
    let name = |line: &Line| {
        lines::own_title(line, words).or_else(|| names::name_of(line.target.as_ref()?, words))
    };
    group.lines.iter().filter_map(name).collect()
}

/// "A", "A and B", "A, B and 3 more", and of people "A, B and 3 others": many languages count them in other words.
fn names_in_words(
    names: &[String],
    are_people: bool,
    words: &Words,
    name_chars: usize,
) -> Option<String> {
    let cut = |name: &String| text::cut(name, name_chars);
    let is_last_try = name_chars <= NAME_CHARS[NAME_CHARS.len() - 1];
    Some(match names {
        [] => return None,
        [a] => cut(a),
        [a, rest @ ..] if is_last_try && are_people => words.listed_people(&[cut(a)], rest.len()),
        [a, rest @ ..] if is_last_try => words.listed(&[cut(a)], rest.len()),
        [a, b] => words.listed(&[cut(a), cut(b)], 0),
        [a, b, rest @ ..] if are_people => words.listed_people(&[cut(a), cut(b)], rest.len()),
        [a, b, rest @ ..] => {
            let more = words.counted(&words.more, rest.len());
            format!("{}{}{} {more}", cut(a), words.comma, cut(b))
        }
    })
}

/// The subject as a sequence of RFC 2047 encoded words, folded.
///
/// Only for texts that themselves look encoded: taken as they are, a reader would decode them.
pub(crate) fn encode_all(subject: &str) -> String {
    let mut out = String::new();
    let mut writer = EmailWriter::new(&mut out, "Subject: ".len(), 0, false);
    rfc2047::encode(subject, &mut writer).expect("writing to a string does not fail");
    drop(writer);
    out
}
