//! The seen and read marks of recipients.
//!
//! A mark covers what had entered its lane by then, never what enters later: entries with `t` at or
//! before the mark's instant, of events that were published before it. Moves keep both, so a moved
//! entry stays covered.
//!
//! Marks are kept by what they cover, the newest of each: neither a new mark nor a look at an entry
//! costs more where there are many.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::items::Items;
use crate::journal::record::{About, Covered};
use crate::journal::stored::{Unreadable, decode, encode};
use crate::model::command::MarkKind;
use crate::model::id::Id;
use crate::model::item::{Item, Shelf, State};
use crate::model::number::{EventNo, Seq};
use crate::model::time::{Day, Instant};
use crate::sets::shared::Tree;

/// All marks of one recipient.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Marks {
    /// Marks up to an instant, by the version of the rules that says which types have an inbox.
    up_to: BTreeMap<u32, Newest>,
    objects: Tree<Id, Newest>,
    /// Marks on objects, by the hash of the id, for inboxes, which know only that.
    hashes: Tree<u64, Newest>,
    /// By the event's place.
    events: Tree<EventNo, Newest>,
    /// Items with a state of their own, which marks do not change otherwise.
    pub(crate) items: Items,
    /// The seq of the newest record that changed the inbox by marks or items; 0 = none did.
    pub(crate) changed: Seq,
}

/// The key of a mark: each mark has a row of its own.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum MarkAt {
    /// A mark up to an instant, under a version of the rules.
    UpTo(u32),
    Object(Id),
    /// A mark on an event, by its place.
    Event(EventNo),
    /// An item with a state of its own, by its event's place.
    Item(EventNo),
    /// The seq of the newest change.
    Changed,
}

/// The newest mark of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Newest {
    seen: Option<Mark>,
    read: Option<Mark>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Mark {
    at: Instant,
    before: EventNo,
    /// The latest `t` that it covers.
    reach: Instant,
}

/// The entry that is compared with a mark.
#[derive(Clone, Copy)]
pub(crate) struct Looked<'a> {
    /// The time when it entered its first lane.
    pub(crate) t: Instant,
    /// Its event's place in the intake.
    pub(crate) place: EventNo,
    /// The object's hash.
    pub(crate) object: &'a Id,
    /// Returns true if its type has an inbox under a version of the rules.
    pub(crate) has_inbox: &'a dyn Fn(u32) -> bool,
}

impl MarkAt {
    /// The part of a row's key after the recipient's number.
    pub(in crate::bucket) fn key(&self) -> Vec<u8> {
        let (kind, rest) = match self {
            Self::UpTo(rules) => (0, rules.to_be_bytes().to_vec()),
            Self::Object(object) => (1, object.as_str().as_bytes().to_vec()),
            Self::Event(place) => (2, place.0.to_be_bytes().to_vec()),
            Self::Item(place) => (3, place.0.to_be_bytes().to_vec()),
            Self::Changed => (4, Vec::new()),
        };
        [vec![kind], rest].concat()
    }

    /// Reads what [`MarkAt::key`] wrote.
    pub(in crate::bucket) fn of_key(key: &[u8]) -> Option<Self> {
        let (kind, rest) = key.split_first()?;
        let place = || Some(EventNo(u64::from_be_bytes(rest.try_into().ok()?)));
        match kind {
            0 => Some(Self::UpTo(u32::from_be_bytes(rest.try_into().ok()?))),
            1 => Some(Self::Object(Id::new(std::str::from_utf8(rest).ok()?).ok()?)),
            2 => Some(Self::Event(place()?)),
            3 => Some(Self::Item(place()?)),
            4 if rest.is_empty() => Some(Self::Changed),
            _ => None,
        }
    }
}

impl Newest {
    fn of(&mut self, kind: MarkKind) -> &mut Option<Mark> {
        match kind {
            MarkKind::Seen => &mut self.seen,
            MarkKind::Read => &mut self.read,
        }
    }

    /// Adds a mark. Of two of a kind the one that reaches further counts, of equal ones the later: where the
    /// earlier reaches further, everything that entered after it has a `t` beyond the later one's reach.
    fn add(&mut self, kind: MarkKind, mark: Mark) {
        let old = self.of(kind);
        if old.is_none_or(|old| old.reach <= mark.reach) {
            *old = Some(mark);
        }
    }

    fn add_all(&mut self, other: Self) {
        for (kind, mark) in [(MarkKind::Seen, other.seen), (MarkKind::Read, other.read)] {
            if let Some(mark) = mark {
                self.add(kind, mark);
            }
        }
    }

    /// Returns true if a mark of this kind (or a stronger one) covers what has this `t` and place.
    fn covers(&self, kind: MarkKind, t: Instant, place: EventNo) -> bool {
        work::count();
        let covers = |mark: Option<Mark>| mark.is_some_and(|m| place < m.before && t <= m.reach);
        covers(self.read) || kind == MarkKind::Seen && covers(self.seen)
    }

    /// Returns true if a mark was made before an instant.
    fn has_before(self, instant: Instant) -> bool {
        self.seen.iter().chain(&self.read).into_iter().any(|mark| mark.at < instant)
    }

    /// Drops marks that were made before an instant. Says whether any is left.
    fn forget_before(&mut self, instant: Instant) -> bool {
        self.seen = self.seen.filter(|mark| mark.at >= instant);
        self.read = self.read.filter(|mark| mark.at >= instant);
        self.seen.is_some() || self.read.is_some()
    }
}

impl Marks {
    /// Adds a mark and returns the rows that changed.
    pub(crate) fn add(
        &mut self,
        made: Instant,
        before: EventNo,
        what: Covered,
        kind: MarkKind,
        rules: u32,
    ) -> Vec<MarkAt> {
        work::count();
        let reach = match what {
            Covered::UpTo(up_to) => up_to.min(made),
            Covered::Object(_) | Covered::Event(_) => made,
        };
        let mut newest = Newest::default();
        newest.add(kind, Mark { at: made, before, reach });
        let state = State::of(kind);
        let is_active = |item: &Item| item.shelf == Shelf::Active;
        let (at, raised) = match what {
            Covered::UpTo(_) => {
                self.up_to.entry(rules).or_default().add_all(newest);
                let covers = |item: &Item| is_active(item) && item.newest_at() <= reach;
                (MarkAt::UpTo(rules), self.items.raise(state, |_, item| covers(item)))
            }
            Covered::Object(object) => {
                let hash = About::object_hash(&object);
                self.put_object(object.clone(), newest);
                let covers = |item: &Item| is_active(item) && item.object == hash;
                (MarkAt::Object(object), self.items.raise(state, |_, item| covers(item)))
            }
            Covered::Event(event) => {
                self.events.or_default(event).add_all(newest);
                (MarkAt::Event(event), self.items.raise_one(state, event))
            }
        };
        raised.into_iter().map(MarkAt::Item).chain([at]).collect()
    }

    fn put_object(&mut self, object: Id, newest: Newest) {
        self.hashes.or_default(About::object_hash(&object)).add_all(newest);
        self.objects.or_default(object).add_all(newest);
    }

    /// Adds a stored row.
    pub(in crate::bucket) fn put(&mut self, at: MarkAt, row: &[u8]) -> Result<(), Unreadable> {
        let newest = || decode::<Newest>("a recipient's mark", row);
        match at {
            MarkAt::UpTo(rules) => self.up_to.entry(rules).or_default().add_all(newest()?),
            MarkAt::Object(object) => self.put_object(object, newest()?),
            MarkAt::Event(place) => self.events.or_default(place).add_all(newest()?),
            MarkAt::Item(place) => self.items.put(place, decode("an inbox item", row)?),
            MarkAt::Changed => self.changed = decode("the newest change of an inbox", row)?,
        }
        Ok(())
    }

    /// Encodes the row of a key, if there is one.
    pub(in crate::bucket) fn row(&self, at: &MarkAt) -> Option<Vec<u8>> {
        match at {
            MarkAt::UpTo(rules) => self.up_to.get(rules).map(encode),
            MarkAt::Object(object) => self.objects.get(object).map(encode),
            MarkAt::Event(place) => self.events.get(place).map(encode),
            MarkAt::Item(place) => self.items.get(*place).map(encode),
            MarkAt::Changed => (self.changed > Seq::default()).then(|| encode(&self.changed)),
        }
    }

    /// Returns true if one of them was made before an instant, or an item is of a day before `day`.
    pub(crate) fn has_before(&self, instant: Instant, day: Day) -> bool {
        let mut all = self.up_to.values().chain(self.objects.values()).chain(self.events.values());
        all.any(|newest| newest.has_before(instant))
            || self.items.iter().any(|(_, item)| item.day < day)
    }

    /// Iterates over the keys of all marks.
    pub(in crate::bucket) fn all(&self) -> impl Iterator<Item = MarkAt> {
        let up_to = self.up_to.keys().map(|rules| MarkAt::UpTo(*rules));
        let objects = self.objects.keys().cloned().map(MarkAt::Object);
        let events = self.events.keys().map(|place| MarkAt::Event(*place));
        let items = self.items.iter().map(|(place, _)| MarkAt::Item(place));
        up_to.chain(objects).chain(events).chain(items).chain([MarkAt::Changed])
    }

    /// Returns true if a mark of this kind (or a stronger one) covers the entry.
    pub(crate) fn cover(&self, entry: Looked<'_>, kind: MarkKind) -> bool {
        let Looked { t, place, .. } = entry;
        if self.items.get(place).is_some_and(|item| item.counts_as(State::of(kind))) {
            return true;
        }
        let covers = |newest: Option<&Newest>| newest.is_some_and(|n| n.covers(kind, t, place));
        let up_to = || {
            let mut of_type = self.up_to.iter().filter(|(rules, _)| (entry.has_inbox)(**rules));
            of_type.any(|(_, newest)| newest.covers(kind, t, place))
        };
        covers(self.objects.get(entry.object)) || covers(self.events.get(&place)) || up_to()
    }

    /// Drops marks that were made before this instant and items of days before `day`: what they covered is
    /// forgotten. `dropped` receives the keys of which nothing is left. Returns true if anything is left.
    pub(crate) fn forget_before(
        &mut self,
        instant: Instant,
        day: Day,
        mut dropped: impl FnMut(MarkAt),
    ) -> bool {
        self.items.forget_before(day, |place| dropped(MarkAt::Item(place)));
        forget_in(&mut self.hashes, instant, |_| {});
        self.up_to.retain(|rules, newest| {
            let left = newest.forget_before(instant);
            if !left {
                dropped(MarkAt::UpTo(*rules));
            }
            left
        });
        forget_in(&mut self.objects, instant, |object| {
            dropped(MarkAt::Object(object));
        });
        forget_in(&mut self.events, instant, |place| {
            dropped(MarkAt::Event(place));
        });
        let is_left = !(self.up_to.is_empty()
            && self.objects.is_empty()
            && self.events.is_empty()
            && self.items.is_empty());
        if !is_left {
            dropped(MarkAt::Changed);
        }
        is_left
    }
}

/// Drops the marks of a tree that were made before an instant; `dropped` hears of keys of which none is left.
fn forget_in<K: Ord + Clone>(
    marks: &mut Tree<K, Newest>,
    instant: Instant,
    mut dropped: impl FnMut(K),
) {
    let old: Vec<K> = marks
        .iter()
        .filter(|(_, newest)| newest.has_before(instant))
        .map(|(key, _)| key.clone())
        .collect();
    for key in old {
        let left = marks.get_mut(&key).is_some_and(|newest| newest.forget_before(instant));
        if !left {
            marks.remove(&key);
            dropped(key);
        }
    }
}

/// Counts examined marks, in tests.
#[cfg(not(test))]
mod work {
    pub(super) fn count() {}
}

#[cfg(test)]
mod work {
    thread_local! {
        static DONE: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
    }

    pub(super) fn count() {
        DONE.with(|done| done.set(done.get() + 1));
    }

    /// The number of marks examined by this thread since the last call.
    pub(super) fn take() -> u64 {
        DONE.with(|done| done.replace(0))
    }
}

/// The marks of one reader, for comparison with many entries of their inbox. Those entries have an inbox,
/// whatever the rules said when a mark was made.
#[derive(Debug, Default)]
pub(crate) struct Reading<'a> {
    marks: Option<&'a Marks>,
}

/// The fields of an inbox entry that marks use.
pub(crate) struct Marking<T> {
    pub(crate) place: EventNo,
    /// The hash of its object's id.
    pub(crate) object: u64,
    /// Bounds of its `t`.
    pub(crate) bounds: (Instant, Instant),
    /// Its exact `t`, if the bounds are not enough.
    pub(crate) t: T,
}

impl<'a> Reading<'a> {
    pub(crate) fn of(marks: Option<&'a Marks>) -> Self {
        Self { marks }
    }

    /// Returns true if there are no marks.
    pub(crate) fn is_empty(&self) -> bool {
        self.marks.is_none()
    }

    /// The least state of all entries of a day: a mark that was made when the day was over, and reaches
    /// to its end, covers everything that arrived on it.
    pub(crate) fn of_day(&self, day: Day) -> State {
        let reaches = |mark: Option<Mark>| mark.is_some_and(|mark| mark.reach.0 >= day.end().0);
        let mut state = State::New;
        for newest in self.marks.iter().flat_map(|marks| marks.up_to.values()) {
            if reaches(newest.read) {
                return State::Read;
            }
            if reaches(newest.seen) {
                state = State::Seen;
            }
        }
        state
    }

    /// The state of an entry that is at least `least`.
    ///
    /// # Errors
    /// Those of asking for its `t`.
    pub(crate) fn of_entry<E>(
        &self,
        least: State,
        mut entry: Marking<impl FnMut() -> Result<Instant, E>>,
    ) -> Result<State, E> {
        let mut state = least;
        let Some(marks) = self.marks else {
            return Ok(state);
        };
        let about = [marks.hashes.get(&entry.object), marks.events.get(&entry.place)];
        for newest in marks.up_to.values().chain(about.into_iter().flatten()) {
            work::count();
            for (mark, kind) in [(newest.read, State::Read), (newest.seen, State::Seen)] {
                let Some(mark) = mark.filter(|mark| kind > state && entry.place < mark.before)
                else {
                    continue;
                };
                let (first, last) = entry.bounds;
                if last <= mark.reach || first <= mark.reach && (entry.t)()? <= mark.reach {
                    state = kind;
                }
            }
        }
        Ok(state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_covers_what_had_entered() {
        let object = Id::new("o").unwrap();
        let mut marks = Marks::default();
        marks.add(Instant(10), EventNo(5), Covered::UpTo(Instant(99)), MarkKind::Seen, 1);
        let (yes, no) = (|_| true, |_| false);
        let entry = |t, place, has_inbox: bool| Looked {
            t: Instant(t),
            place: EventNo(place),
            object: &object,
            has_inbox: if has_inbox { &yes } else { &no },
        };
        assert!(marks.cover(entry(10, 4, true), MarkKind::Seen));
        assert!(!marks.cover(entry(10, 4, true), MarkKind::Read), "seeing is not reading");
        assert!(!marks.cover(entry(11, 4, true), MarkKind::Seen), "scheduled for later");
        assert!(!marks.cover(entry(10, 5, true), MarkKind::Seen), "published after the mark");
        assert!(!marks.cover(entry(10, 4, false), MarkKind::Seen), "never was in an inbox");
        marks.add(Instant(12), EventNo(7), Covered::UpTo(Instant(100)), MarkKind::Read, 1);
        assert_eq!(marks.all().count(), 2, "the mark, and the seq of the newest change");
        assert!(marks.cover(entry(12, 6, true), MarkKind::Seen), "reading is seeing");
        marks.add(Instant(12), EventNo(7), Covered::Object(object.clone()), MarkKind::Seen, 1);
        assert!(marks.cover(entry(12, 6, false), MarkKind::Seen));
    }

    #[test]
    fn of_marks_up_to_an_instant_the_furthest_counts() {
        let object = Id::new("o").unwrap();
        let mut marks = Marks::default();
        let mut up_to = |at, to| {
            let what = Covered::UpTo(Instant(to));
            marks.add(Instant(at), EventNo(at.cast_unsigned()), what, MarkKind::Seen, 1);
        };
        up_to(10, 8);
        up_to(20, 5);
        let covers = |marks: &Marks, t, place| {
            let entry = Looked {
                t: Instant(t),
                place: EventNo(place),
                object: &object,
                has_inbox: &|_| true,
            };
            marks.cover(entry, MarkKind::Seen)
        };
        assert!(covers(&marks, 8, 9), "the second takes nothing of the first away");
        assert!(!covers(&marks, 9, 9));
        let what = Covered::UpTo(Instant(25));
        marks.add(Instant(30), EventNo(30), what, MarkKind::Seen, 1);
        assert!(covers(&marks, 25, 29) && !covers(&marks, 26, 29));
        assert_eq!(marks.all().count(), 2, "the mark, and the seq of the newest change");
    }

    /// The cost of n marks of a kind and as many looks.
    fn cost(count: u64, what: impl Fn(u64) -> Covered) -> u64 {
        let mut marks = Marks::default();
        work::take();
        let at = |n: u64| Instant(n.cast_signed());
        for n in 0..count {
            marks.add(at(n), EventNo(count), what(n), MarkKind::Seen, 1);
        }
        let reading = Reading::of(Some(&marks));
        for n in 0..count {
            let object = Id::new(&format!("o{n}")).unwrap();
            let entry =
                Looked { t: at(n), place: EventNo(n), object: &object, has_inbox: &|_| true };
            marks.cover(entry, MarkKind::Seen);
            let marking = Marking {
                place: EventNo(n),
                object: About::object_hash(&object),
                bounds: (at(n), at(n)),
                t: || Ok::<_, ()>(at(n)),
            };
            reading.of_entry(State::New, marking).unwrap();
        }
        marks.forget_before(at(count), Day(0), |_| {});
        work::take()
    }

    #[test]
    fn p12_a_hundred_thousand_marks_cost_each_the_same() {
        let object = |n: u64| Covered::Object(Id::new(&format!("o{n}")).unwrap());
        for count in [1_000, 100_000] {
            for spent in [
                cost(count, object),
                cost(count, |n| Covered::Event(EventNo(n))),
                cost(count, |n| Covered::UpTo(Instant(n.cast_signed()))),
                cost(count, |n| Covered::UpTo(Instant((count - n).cast_signed()))),
            ] {
                assert!(spent <= 8 * count, "{spent} looks for {count} marks");
            }
        }
    }
}
