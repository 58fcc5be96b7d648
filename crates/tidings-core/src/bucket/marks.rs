//! What a recipient has seen and read.
//!
//! A mark covers what had entered its lane by then, never what enters later: entries with `t` at or
//! before the mark's instant, of events that were published before it. Moves keep both, so a moved
//! entry stays covered.

use serde::{Deserialize, Serialize};

use crate::command::{MarkKind, Marked};
use crate::id::Id;
use crate::time::Instant;

/// All marks of one recipient.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Marks(Vec<Mark>);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Mark {
    at: Instant,
    before: u64,
    what: Marked,
    kind: MarkKind,
    /// The version of the rules that says which types have an inbox.
    rules: u32,
}

/// The entry that a mark is held against.
#[derive(Clone, Copy)]
pub(crate) struct Looked<'a> {
    /// When it entered its first lane.
    pub(crate) t: Instant,
    /// Its event's place in the intake.
    pub(crate) place: u64,
    /// Its event.
    pub(crate) event: &'a Id,
    /// Its object.
    pub(crate) object: &'a Id,
    /// Whether its type has an inbox under a version of the rules.
    pub(crate) has_inbox: &'a dyn Fn(u32) -> bool,
}

impl Marks {
    /// Adds a mark; one that it makes needless goes away.
    pub(crate) fn add(
        &mut self,
        (at, before): (Instant, u64),
        what: Marked,
        kind: MarkKind,
        rules: u32,
    ) {
        let new = Mark {
            at,
            before,
            what,
            kind,
            rules,
        };
        self.0.retain(|old| !new.covers(old));
        self.0.push(new);
    }

    /// Whether a mark of this kind (or a stronger one) covers the entry.
    pub(crate) fn cover(&self, entry: Looked<'_>, kind: MarkKind) -> bool {
        self.0.iter().any(|mark| {
            mark.kind >= kind
                && entry.place < mark.before
                && entry.t <= mark.at
                && match &mark.what {
                    Marked::UpTo(up_to) => entry.t <= *up_to && (entry.has_inbox)(mark.rules),
                    Marked::Object(object) => object == entry.object,
                    Marked::Event(event) => event == entry.event,
                }
        })
    }

    /// Drops marks on objects and events that were made before this instant: what they covered is
    /// forgotten. Says whether any is left.
    pub(crate) fn forget_before(&mut self, instant: Instant) -> bool {
        self.0.retain(|mark| mark.at >= instant);
        !self.0.is_empty()
    }
}

impl Mark {
    /// Whether everything that `old` covers is covered by this one as well.
    fn covers(&self, old: &Self) -> bool {
        self.kind >= old.kind
            && self.at >= old.at
            && self.before >= old.before
            && match (&self.what, &old.what) {
                (Marked::UpTo(new), Marked::UpTo(old_to)) => {
                    new >= old_to && self.rules == old.rules
                }
                (new, old) => new == old,
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_covers_what_had_entered() {
        let (event, object) = (Id::new("e").unwrap(), Id::new("o").unwrap());
        let mut marks = Marks::default();
        marks.add(
            (Instant(10), 5),
            Marked::UpTo(Instant(99)),
            MarkKind::Seen,
            1,
        );
        let (yes, no) = (|_| true, |_| false);
        let entry = |t, place, has_inbox: bool| Looked {
            t: Instant(t),
            place,
            event: &event,
            object: &object,
            has_inbox: if has_inbox { &yes } else { &no },
        };
        assert!(marks.cover(entry(10, 4, true), MarkKind::Seen));
        assert!(
            !marks.cover(entry(10, 4, true), MarkKind::Read),
            "seeing is not reading"
        );
        assert!(
            !marks.cover(entry(11, 4, true), MarkKind::Seen),
            "scheduled for later"
        );
        assert!(
            !marks.cover(entry(10, 5, true), MarkKind::Seen),
            "published after the mark"
        );
        assert!(
            !marks.cover(entry(10, 4, false), MarkKind::Seen),
            "never was in an inbox"
        );
        marks.add(
            (Instant(12), 7),
            Marked::UpTo(Instant(100)),
            MarkKind::Read,
            1,
        );
        assert_eq!(marks.0.len(), 1);
        assert!(
            marks.cover(entry(12, 6, true), MarkKind::Seen),
            "reading is seeing"
        );
        marks.add(
            (Instant(12), 7),
            Marked::Object(object.clone()),
            MarkKind::Seen,
            1,
        );
        assert!(marks.cover(entry(12, 6, false), MarkKind::Seen));
    }
}
