//! Facts of lines that a page and its subject tell alike.

use std::sync::Arc;

use tidings_core::batch::{Group, Line};
use tidings_core::{Id, Object};

use crate::design::Design;
use crate::sentence::Said;
use crate::words::Words;
use crate::{names, text};

/// The title of a line's object; `None` where it has none that can be shown.
pub(crate) fn own_title(line: &Line) -> Option<String> {
    let title = line.object.title.as_deref().map(text::clean);
    title.filter(|title| !title.is_empty())
}

/// The notifications of some lines.
pub(crate) fn entries<'l>(lines: impl IntoIterator<Item = &'l Line>) -> usize {
    lines.into_iter().map(|line| line.entries).sum()
}

/// The types that a group's lines tell, each once.
pub(crate) fn types_of(group: &Group) -> Vec<Id> {
    let mut types: Vec<Id> = Vec::new();
    for event_type in group.lines.iter().flat_map(|line| &line.types) {
        if !types.contains(event_type) {
            types.push(event_type.clone());
        }
    }
    types
}

/// The values that some lines put into the places of a sentence.
pub(crate) fn said<'l>(lines: &[&'l Line], actors: &[Arc<Object>], words: &Words) -> Said<'l> {
    let listed = |names: Vec<Option<String>>| {
        let count = names.len();
        let mut known: Vec<String> = Vec::new();
        let mut same = 0;
        for name in names.into_iter().flatten() {
            match known.contains(&name) {
                true => same += 1,
                false => known.push(name),
            }
        }
        let unnamed = count - same - known.len();
        (!known.is_empty()).then(|| words.listed(&known, unnamed))
    };
    let titles = lines.iter().map(|line| own_title(line)).collect();
    let targets = lines.iter().filter_map(|line| line.target.as_ref());
    let mut distinct: Vec<&Arc<Object>> = Vec::new();
    for target in targets {
        if !distinct.contains(&target) {
            distinct.push(target);
        }
    }
    Said {
        actor: names::named(actors, words),
        object: listed(titles),
        target: listed(
            distinct
                .into_iter()
                .map(|one| names::name_of(one))
                .collect(),
        ),
        count: entries(lines.iter().copied()),
        data: lines.first().and_then(|line| line.data.as_deref()),
    }
}

/// The sentence of a group: "A, B and 3 others commented on X".
pub(crate) fn group_sentence(
    group: &Group,
    design: &Design,
    locale: &str,
    words: &Words,
) -> Option<String> {
    if types_of(group).len() > 1 {
        return None;
    }
    let sentence = design.sentence(&group.event_type, locale)?;
    let lines: Vec<&Line> = group.lines.iter().collect();
    sentence.text(&said(&lines, &group.actors, words), words)
}
