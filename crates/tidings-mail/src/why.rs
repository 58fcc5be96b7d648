//! Why a recipient is told, said so that they recognise their own doing in it.
//!
//! Reasons are the contract's: `everyone`, `named`, `near` and `topic:TOPIC`.

use tidings_core::batch::Line;

use crate::wording;

const TOPIC: &str = "topic:";

/// The words at the foot of a mail; `None` where no line has a reason that is known here.
///
/// What is true of all lines is the cause; what is true of some is told in a sentence of its own.
pub(crate) fn told(lines: &[&Line]) -> Option<String> {
    let mut causes = Vec::new();
    let mut asides = Vec::new();
    let topics = topics_of(lines);
    if !topics.is_empty() {
        causes.push(format!("you follow {}", wording::listed(&topics)));
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
            (_, 1) => causes.push(one.to_owned()),
            (count, len) if count == len => causes.push(all.to_owned()),
            _ => asides.push(some.to_owned()),
        }
    }
    let this = if lines.len() == 1 { "this" } else { "these" };
    let cause = joined(&causes).map(|causes| format!("You hear of {this} because {causes}."));
    let aside = joined(&asides).map(|asides| format!("{}.", wording::capitalised(&asides)));
    let sentences: Vec<String> = cause.into_iter().chain(aside).collect();
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

/// "a", "a, and b", "a, b, and c": clauses that may hold lists themselves.
fn joined(clauses: &[String]) -> Option<String> {
    let (last, others) = clauses.split_last()?;
    if others.is_empty() {
        return Some(last.clone());
    }
    Some(format!("{}, and {last}", others.join(", ")))
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

#[cfg(test)]
mod tests {
    use tidings_core::{Id, Instant, Object};

    use super::*;

    fn line(reasons: &[&str]) -> Line {
        let id = Id::new("o").unwrap();
        Line {
            object: std::sync::Arc::new(Object {
                id,
                title: None,
                url: None,
                image: None,
                notifiable: None,
            }),
            kinds: Vec::new(),
            actors: Vec::new(),
            target: None,
            reasons: reasons.iter().map(|reason| (*reason).to_owned()).collect(),
            t: Instant(0),
            data: None,
            entries: 1,
        }
    }

    #[test]
    fn causes_come_before_what_is_true_of_some() {
        for (lines, words) in [
            (vec![line(&[])], None),
            (vec![line(&["unheard of"])], None),
            (
                vec![line(&["everyone"])],
                Some("You hear of this because it is for everyone."),
            ),
            (
                vec![line(&["named", "near", "topic:a/b-c"])],
                Some(
                    "You hear of this because you follow B C, it is near you, and it was sent to you.",
                ),
            ),
            (
                vec![line(&["near"]), line(&["near"])],
                Some("You hear of these because they are near you."),
            ),
            (
                vec![
                    line(&["near", "topic:b"]),
                    line(&["topic:a", "topic:b"]),
                    line(&["named"]),
                ],
                Some(
                    "You hear of these because you follow B and A. \
                     Some are near you, and some were sent to you.",
                ),
            ),
            (
                vec![line(&["near"]), line(&["named"])],
                Some("Some are near you, and some were sent to you."),
            ),
        ] {
            let lines: Vec<&Line> = lines.iter().collect();
            assert_eq!(told(&lines).as_deref(), words);
        }
    }

    #[test]
    fn a_lines_notes_leave_out_what_stands_there_already() {
        let line = line(&["near", "topic:artist/ann", "topic:artist/bob"]);
        assert_eq!(notes(&line, &["Ann"]), ["you follow Bob", "near you"]);
    }
}
