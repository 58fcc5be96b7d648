//! What a recipient has seen and read.
//!
//! A mark covers what had entered its lane by then, never what enters later: entries with `t` at or
//! before the mark's instant, of events that were published before it. Moves keep both, so a moved
//! entry stays covered.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::command::MarkKind;
use crate::id::Id;
use crate::journal::record::{About, Covered};
use crate::time::{Day, Instant};

/// All marks of one recipient.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Marks(Vec<Mark>);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Mark {
    at: Instant,
    before: u64,
    what: Covered,
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
        what: Covered,
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
                    Covered::UpTo(up_to) => entry.t <= *up_to && (entry.has_inbox)(mark.rules),
                    Covered::Object(object) => object == entry.object,
                    Covered::Event(place) => *place == entry.place,
                }
        })
    }

    /// Drops marks that were made before this instant: what they covered is forgotten. Says whether any
    /// is left.
    pub(crate) fn forget_before(&mut self, instant: Instant) -> bool {
        self.0.retain(|mark| mark.at >= instant);
        !self.0.is_empty()
    }
}

/// What a recipient made of an entry of their inbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum State {
    New,
    Seen,
    Read,
}

impl From<MarkKind> for State {
    fn from(kind: MarkKind) -> Self {
        match kind {
            MarkKind::Seen => Self::Seen,
            MarkKind::Read => Self::Read,
        }
    }
}

/// The marks of one reader, sorted out to be held against many entries of their inbox. What stands
/// there has an inbox, whatever the rules said when a mark was made.
#[derive(Debug, Default)]
pub(crate) struct Reading<'a> {
    up_to: Vec<&'a Mark>,
    /// By the hash of the object's id.
    objects: FxHashMap<u64, Vec<&'a Mark>>,
    /// By the event's place.
    events: FxHashMap<u64, Vec<&'a Mark>>,
}

/// An entry of an inbox as marks see it.
pub(crate) struct Marking<T> {
    pub(crate) place: u64,
    /// The hash of its object's id.
    pub(crate) object: u64,
    /// Its `t` lies within these.
    pub(crate) bounds: (Instant, Instant),
    /// Its `t`, where the bounds don't tell enough.
    pub(crate) t: T,
}

impl<'a> Reading<'a> {
    pub(crate) fn of(marks: Option<&'a Marks>) -> Self {
        let mut reading = Self::default();
        for mark in marks.into_iter().flat_map(|marks| &marks.0) {
            let list = match &mark.what {
                Covered::UpTo(_) => &mut reading.up_to,
                Covered::Object(id) => {
                    let hash = About::object_hash(id);
                    reading.objects.entry(hash).or_default()
                }
                Covered::Event(place) => reading.events.entry(*place).or_default(),
            };
            list.push(mark);
        }
        reading
    }

    /// Whether there is nothing to be held against anything.
    pub(crate) fn is_empty(&self) -> bool {
        self.up_to.is_empty() && self.objects.is_empty() && self.events.is_empty()
    }

    /// What all entries of a day are at least: a mark that was made when the day was over, and
    /// reaches to its end, covers whatever arrived on it.
    pub(crate) fn of_day(&self, day: Day) -> State {
        let whole = self
            .up_to
            .iter()
            .filter(|mark| mark.reach().0 >= day.end().0);
        let kinds = whole.map(|mark| State::from(mark.kind));
        kinds.max().unwrap_or(State::New)
    }

    /// What an entry is, if it is at least `least`.
    ///
    /// # Errors
    /// Those of asking for its `t`.
    pub(crate) fn of_entry<E>(
        &self,
        least: State,
        mut entry: Marking<impl FnMut() -> Result<Instant, E>>,
    ) -> Result<State, E> {
        let mut state = least;
        let objects = self.objects.get(&entry.object).into_iter().flatten();
        let events = self.events.get(&entry.place).into_iter().flatten();
        for mark in self.up_to.iter().chain(objects).chain(events) {
            if State::from(mark.kind) <= state || entry.place >= mark.before {
                continue;
            }
            let (reach, (first, last)) = (mark.reach(), entry.bounds);
            if last <= reach || first <= reach && (entry.t)()? <= reach {
                state = mark.kind.into();
            }
        }
        Ok(state)
    }
}

impl Mark {
    /// It covers no entry with a later `t`.
    fn reach(&self) -> Instant {
        match self.what {
            Covered::UpTo(up_to) => up_to.min(self.at),
            Covered::Object(_) | Covered::Event(_) => self.at,
        }
    }

    /// Whether everything that `old` covers is covered by this one as well.
    fn covers(&self, old: &Self) -> bool {
        self.kind >= old.kind
            && self.at >= old.at
            && self.before >= old.before
            && match (&self.what, &old.what) {
                (Covered::UpTo(new), Covered::UpTo(old_to)) => {
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
        let object = Id::new("o").unwrap();
        let mut marks = Marks::default();
        marks.add(
            (Instant(10), 5),
            Covered::UpTo(Instant(99)),
            MarkKind::Seen,
            1,
        );
        let (yes, no) = (|_| true, |_| false);
        let entry = |t, place, has_inbox: bool| Looked {
            t: Instant(t),
            place,
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
            Covered::UpTo(Instant(100)),
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
            Covered::Object(object.clone()),
            MarkKind::Seen,
            1,
        );
        assert!(marks.cover(entry(12, 6, false), MarkKind::Seen));
    }
}
