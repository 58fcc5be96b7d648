//! Why a recipient is told, said so that they recognise their own doing in it.
//!
//! Reasons are the contract's: `everyone`, `named`, `near` and `topic:TOPIC`.

use tidings_core::batch::Line;

use crate::wording;

const TOPIC: &str = "topic:";

/// The sentence at the foot of a mail; `None` where no line has a reason that is known here.
pub(crate) fn sentence(lines: &[&Line]) -> Option<String> {
    let topics = topics_of(lines);
    let mut clauses = Vec::new();
    if !topics.is_empty() {
        clauses.push(format!("you follow {}", wording::listed(&topics)));
    }
    for (reason, one, all, some) in [
        (
            "near",
            "it is near you",
            "they are near you",
            "some are near you",
        ),
        (
            "named",
            "it was sent to you",
            "they were sent to you",
            "some were sent to you",
        ),
        (
            "everyone",
            "it is for everyone",
            "they are for everyone",
            "some are for everyone",
        ),
    ] {
        let count = lines
            .iter()
            .filter(|line| line.reasons.iter().any(|r| r == reason))
            .count();
        match (count, lines.len()) {
            (0, _) => {}
            (_, 1) => clauses.push(one.to_owned()),
            (count, len) if count == len => clauses.push(all.to_owned()),
            _ => clauses.push(some.to_owned()),
        }
    }
    let last = clauses.pop()?;
    let this = if lines.len() == 1 { "this" } else { "these" };
    if clauses.is_empty() {
        return Some(format!("You hear of {this} because {last}."));
    }
    Some(format!(
        "You hear of {this} because {}, and {last}.",
        clauses.join(", ")
    ))
}

/// What is to be said of one line where lines differ: the ways that `said` does not imply already.
pub(crate) fn notes(line: &Line, said: &[&str]) -> Vec<String> {
    let mut notes = Vec::new();
    let topics: Vec<String> = topics_of(&[line])
        .into_iter()
        .filter(|topic| !said.contains(&topic.as_str()))
        .collect();
    if !topics.is_empty() {
        notes.push(format!("you follow {}", wording::listed(&topics)));
    }
    for (reason, note) in [
        ("near", "near you"),
        ("named", "sent to you"),
        ("everyone", "for everyone"),
    ] {
        if line.reasons.iter().any(|r| r == reason) {
            notes.push(note.to_owned());
        }
    }
    notes
}

/// The followed topics' names, each once, in the order of the lines.
fn topics_of(lines: &[&Line]) -> Vec<String> {
    let mut seen = std::collections::BTreeSet::new();
    let mut names = Vec::new();
    for topic in lines
        .iter()
        .flat_map(|line| &line.reasons)
        .filter_map(|r| r.strip_prefix(TOPIC))
    {
        let name = wording::display_name(topic);
        if !name.is_empty() && seen.insert(name.clone()) {
            names.push(name);
        }
    }
    names
}
