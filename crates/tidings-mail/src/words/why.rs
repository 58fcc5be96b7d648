//! The sentence that explains to a recipient why they get a mail.
//!
//! Reasons are the contract's: `everyone`, `named`, `near` and `topic:TOPIC`.

use std::collections::BTreeSet;

use tidings_core::content::Line;
use tidings_core::rules::capitalised;

use crate::words::names::Topics;
use crate::words::{self, ReasonWording, Words};

const TOPIC: &str = "topic:";

/// The words at the foot of a mail; `None` where no line has a reason that is known here.
///
/// The cause is true of all lines; a cause of some lines has a sentence of its own.
pub(crate) fn explanation(lines: &[&Line], topics: &Topics, words: &Words) -> Option<String> {
    let mut causes = Vec::new();
    let mut asides = Vec::new();
    let is_one = lines.len() == 1;
    let is_followed = |line: &&Line| line.reasons.iter().any(|r| r.starts_with(TOPIC));
    let followed = FollowedTopics::of(lines, topics);
    if lines.iter().all(is_followed) {
        causes.extend(followed.clause(&words.follow, words));
    } else {
        asides.extend(followed.clause(&words.follow_some, words));
    }
    for (reason, cause) in known(words) {
        let count = lines.iter().filter(|line| line.reasons.iter().any(|r| r == reason)).count();
        match (count, lines.len()) {
            (0, _) => {}
            (_, 1) => causes.push(cause.one.clone()),
            (count, len) if count == len => causes.push(cause.all.clone()),
            _ => asides.push(cause.some.clone()),
        }
    }
    let because = if is_one { &words.because_of_one } else { &words.because_of_many };
    let cause = words.clauses(&causes).map(|causes| words::fill(because, "{causes}", &causes));
    let aside =
        words.clauses(&asides).map(|asides| format!("{}{}", capitalised(&asides), words.full_stop));
    let sentences: Vec<String> = cause.into_iter().chain(aside).collect();
    (!sentences.is_empty()).then(|| sentences.join(&words.between_sentences))
}

/// The reasons worth showing: that a recipient was named is not.
fn known(words: &Words) -> [(&'static str, &ReasonWording); 2] {
    [("near", &words.near), ("everyone", &words.everyone)]
}

/// Notes on one line if lines differ: its reasons, without those that `said` implies already.
pub(crate) fn notes(line: &Line, topics: &Topics, said: &[&str], words: &Words) -> Vec<String> {
    let mut notes = Vec::new();
    let mut followed = FollowedTopics::of(&[line], topics);
    if followed.names.iter().any(|name| said.contains(&name.as_str())) {
        followed.unnamed = 0;
    }
    followed.names.retain(|name| !said.contains(&name.as_str()));
    notes.extend(followed.clause(&words.follow_note, words));
    for (reason, cause) in known(words) {
        if line.reasons.iter().any(|r| r == reason) {
            notes.push(cause.note.clone());
        }
    }
    notes
}

/// The followed topics of some lines.
struct FollowedTopics {
    /// The names that are known, each once, in the order of the lines.
    names: Vec<String>,
    /// Number of topics without a name.
    unnamed: usize,
}

impl FollowedTopics {
    fn of(lines: &[&Line], topics: &Topics) -> Self {
        let mut seen = BTreeSet::new();
        let mut followed = Self { names: Vec::new(), unnamed: 0 };
        for topic in lines
            .iter()
            .flat_map(|line| line.reasons.iter())
            .filter_map(|reason| reason.strip_prefix(TOPIC))
        {
            let name = topics.name(topic);
            if !seen.insert(name.unwrap_or(topic)) {
                continue;
            }
            match name {
                Some(name) => followed.names.push(name.to_owned()),
                None => followed.unnamed += 1,
            }
        }
        followed
    }

    /// "you follow A and B" by a phrase; `None` where no name is known, which leaves nothing to say.
    fn clause(&self, phrase: &str, words: &Words) -> Option<String> {
        if self.names.is_empty() {
            return None;
        }
        let names = words.listed(&self.names, self.unnamed);
        Some(words::fill(phrase, "{names}", &names))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tidings_core::{Id, Instant, Object};

    use super::*;
    use crate::words::books;

    fn line(reasons: &[&str]) -> Line {
        Line {
            object: Arc::new(Object::bare(Id::new("o").unwrap())),
            types: Vec::new(),
            actors: Vec::new(),
            lacks_actor: false,
            target: None,
            reasons: reasons.iter().map(|reason| (*reason).to_owned()).collect(),
            t: Instant(0),
            data: None,
            entries: 1,
            order: 0,
            body: None,
        }
    }

    /// Topics `a` and `b` are called A and B; no other has a name.
    fn topics() -> Topics {
        let topics = ["a", "b"].map(|topic| {
            Arc::new(Object {
                title: Some(topic.to_uppercase().into()),
                ..Object::bare(Id::new(topic).unwrap())
            })
        });
        Topics::of(&topics, &books::english())
    }

    #[test]
    fn causes_come_before_what_is_true_of_some() {
        for (lines, words) in [
            (vec![line(&[])], None),
            (vec![line(&["unheard of"])], None),
            (
                vec![line(&["everyone"])],
                Some("You are receiving this because it was sent to everyone."),
            ),
            (vec![line(&["named"])], None),
            (
                vec![line(&["named", "near", "topic:a"])],
                Some("You are receiving this because you follow A, and it is near you."),
            ),
            (
                vec![line(&["near"]), line(&["near"])],
                Some("You are receiving these because they are near you."),
            ),
            (
                vec![
                    line(&["near", "topic:b"]),
                    line(&["topic:a", "topic:b", "topic:c"]),
                    line(&["named"]),
                ],
                Some("Some are there because you follow B, A and 1 other, and some are near you."),
            ),
            (
                vec![line(&["topic:a", "near"]), line(&["topic:b"])],
                Some("You are receiving these because you follow A and B. Some are near you."),
            ),
            (vec![line(&["near"]), line(&["named"])], Some("Some are near you.")),
        ] {
            let lines: Vec<&Line> = lines.iter().collect();
            assert_eq!(explanation(&lines, &topics(), &books::english()).as_deref(), words);
        }
    }

    #[test]
    fn f20_a_topic_without_a_name_is_left_out() {
        for (lines, words) in [
            (vec![line(&["topic:repo/5512"])], None),
            (vec![line(&["topic:repo/1"]), line(&["topic:repo/2"])], None),
            (
                vec![line(&["near", "topic:repo/5512"])],
                Some("You are receiving this because it is near you."),
            ),
        ] {
            let lines: Vec<&Line> = lines.iter().collect();
            assert_eq!(explanation(&lines, &topics(), &books::english()).as_deref(), words);
        }
    }

    #[test]
    fn a_lines_notes_leave_out_what_stands_there_already() {
        let line = line(&["near", "topic:a", "topic:b"]);
        let notes = notes(&line, &topics(), &["A"], &books::english());
        assert_eq!(notes, ["you follow B", "near you"]);
    }
}
