//! The seen and read marks of recipients.
//!
//! A mark covers what had entered its lane by then, never what enters later: entries with `t` at or
//! before the mark's instant, of events that were published before it. Moves keep both, so a moved
//! entry stays covered.
//!
//! Marks are kept by what they cover, the newest of each: neither a new mark nor a look at an entry
//! costs more where there are many.

use std::collections::BTreeMap;

use super::covering::{ComparedEntry, MarkedFields, NewestMarks, TenantMarks, work};
use super::inbox_item_states::InboxItemStates;
use super::newest::NewestSeqs;
use crate::journal::record::{About, CoveredEntries};
use crate::journal::stored::{Unreadable, decode, encode};
use crate::model::command::MarkKind;
use crate::model::id::Id;
use crate::model::item::{ItemState, Shelf, StoredItem};
use crate::model::number::{EventNo, Seq};
use crate::model::tenant::{TenantNo, View};
use crate::model::time::{Day, Instant};
use crate::sets::shared::Tree;

/// All marks of one recipient.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Marks {
    /// Marks up to an instant, by the version of the rules that defines the types with an inbox.
    up_to: BTreeMap<u32, TenantMarks>,
    objects: Tree<Id, TenantMarks>,
    /// Marks on objects, by the hash of the id, for inboxes, which know only that.
    hashes: Tree<u64, TenantMarks>,
    /// By the event's place.
    events: Tree<EventNo, TenantMarks>,
    /// Items with a state of their own, which marks do not change otherwise.
    pub(crate) items: InboxItemStates,
    /// The seqs of the newest records that changed the inbox by marks or items.
    pub(crate) changed: NewestSeqs,
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
    /// The seqs of the newest changes.
    Changed,
}

/// A mark as it is made.
#[derive(Clone, Copy)]
pub(crate) struct NewMark {
    /// The instant.
    pub(crate) at: Instant,
    /// It covers events published before this place.
    pub(crate) before: EventNo,
    pub(crate) kind: MarkKind,
    /// The entries that it reaches.
    pub(crate) view: View<TenantNo>,
    /// The version of the rules.
    pub(crate) rules: u32,
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

impl Marks {
    /// Adds a mark and returns the rows that changed.
    pub(crate) fn add(&mut self, made: NewMark, what: CoveredEntries) -> Vec<MarkAt> {
        work::count();
        let NewMark { at, before, kind, view, rules } = made;
        let reach = match what {
            // A mark covers what has entered by now, whatever later instant it names.
            CoveredEntries::UpTo(up_to) => up_to.min(at),
            CoveredEntries::Object(_) | CoveredEntries::Event(_) => at,
        };
        let newest = NewestMarks::one(kind, at, before, reach);
        let state = ItemState::of(kind);
        let is_reached = |item: &StoredItem| view.shows(item.tenant);
        let is_active = |item: &StoredItem| item.shelf == Shelf::Active && is_reached(item);
        let (at, raised) = match what {
            CoveredEntries::UpTo(_) => {
                self.up_to.entry(rules).or_default().add(view, newest);
                let covers = |item: &StoredItem| is_active(item) && item.newest_at() <= reach;
                (MarkAt::UpTo(rules), self.items.raise(state, |_, item| covers(item)))
            }
            CoveredEntries::Object(object) => {
                let hash = About::object_hash(&object);
                self.hashes.or_default(hash).add(view, newest);
                self.objects.or_default(object.clone()).add(view, newest);
                let covers = |item: &StoredItem| is_active(item) && item.object == hash;
                (MarkAt::Object(object), self.items.raise(state, |_, item| covers(item)))
            }
            CoveredEntries::Event(event) => {
                self.events.or_default(event).add(view, newest);
                let is_there = self.items.get(event).is_some_and(is_reached);
                let raised = is_there.then(|| self.items.raise_one(state, event));
                (MarkAt::Event(event), raised.unwrap_or_default())
            }
        };
        raised.into_iter().map(MarkAt::Item).chain([at]).collect()
    }

    /// Adds a stored row.
    pub(in crate::bucket) fn put(
        &mut self,
        mark_key: MarkAt,
        row: &[u8],
    ) -> Result<(), Unreadable> {
        let newest = || decode::<TenantMarks>("a recipient's mark", row);
        match mark_key {
            MarkAt::UpTo(rules) => self.up_to.entry(rules).or_default().add_all(newest()?),
            MarkAt::Object(object) => {
                let newest = newest()?;
                self.hashes.or_default(About::object_hash(&object)).add_all(newest.clone());
                self.objects.or_default(object).add_all(newest);
            }
            MarkAt::Event(place) => self.events.or_default(place).add_all(newest()?),
            MarkAt::Item(place) => self.items.put(place, decode("an inbox item", row)?),
            MarkAt::Changed => self.changed = decode("the newest changes of an inbox", row)?,
        }
        Ok(())
    }

    /// Encodes the row of a key, if there is one.
    pub(in crate::bucket) fn row(&self, mark_key: &MarkAt) -> Option<Vec<u8>> {
        match mark_key {
            MarkAt::UpTo(rules) => self.up_to.get(rules).map(encode),
            MarkAt::Object(object) => self.objects.get(object).map(encode),
            MarkAt::Event(place) => self.events.get(place).map(encode),
            MarkAt::Item(place) => self.items.get(*place).map(encode),
            MarkAt::Changed => {
                let has_changed = self.changed.of_all() > Seq::default();
                has_changed.then(|| encode(&self.changed))
            }
        }
    }

    /// Returns true if one of them was made before an instant, if an item is of a day before `day`, or if nothing is left
    /// but the newest changes.
    pub(crate) fn has_before(&self, instant: Instant, day: Day) -> bool {
        let mut all = self.up_to.values().chain(self.objects.values()).chain(self.events.values());
        all.any(|newest| newest.has_before(instant))
            || self.items.iter().any(|(_, item)| item.day < day)
            || self.is_empty()
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
    pub(crate) fn cover(&self, entry: ComparedEntry<'_>, kind: MarkKind) -> bool {
        let place = entry.place;
        if self.items.get(place).is_some_and(|item| item.counts_as(ItemState::of(kind))) {
            return true;
        }
        let cover =
            |marks: Option<&TenantMarks>| marks.is_some_and(|marks| marks.cover(kind, entry));
        let up_to = || {
            let mut of_type = self.up_to.iter().filter(|(rules, _)| (entry.has_inbox)(**rules));
            of_type.any(|(_, marks)| marks.cover(kind, entry))
        };
        cover(self.objects.get(entry.object)) || cover(self.events.get(&place)) || up_to()
    }

    /// The instant of the earliest mark of this kind (or a stronger one) that is kept and covers the entry. Earlier ones
    /// may have covered it: of each thing the newest mark is kept.
    pub(crate) fn covered_at(&self, entry: ComparedEntry<'_>, kind: MarkKind) -> Option<Instant> {
        let up_to = self.up_to.iter().filter(|(rules, _)| (entry.has_inbox)(**rules));
        let about = [self.objects.get(entry.object), self.events.get(&entry.place)];
        let all = about.into_iter().flatten().chain(up_to.map(|(_, marks)| marks));
        all.filter_map(|marks| marks.covered_at(kind, entry)).min()
    }

    /// Drops marks that were made before this instant and items of days before `day`: what they covered is
    /// forgotten. The newest changes are kept until they are at or before `forgotten_to`, so that no revision falls.
    /// `dropped` receives the keys of which nothing is left. Returns true if anything is left.
    pub(crate) fn forget_before(
        &mut self,
        (instant, day): (Instant, Day),
        forgotten_to: Seq,
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
        let is_left = !self.is_empty() || self.changed.of_all() > forgotten_to;
        if !is_left {
            dropped(MarkAt::Changed);
        }
        is_left
    }

    fn is_empty(&self) -> bool {
        self.up_to.is_empty()
            && self.objects.is_empty()
            && self.events.is_empty()
            && self.items.is_empty()
    }
}

/// Drops the marks of a tree that were made before an instant; `dropped` hears of keys of which none is left.
fn forget_in<K: Ord + Clone>(
    marks: &mut Tree<K, TenantMarks>,
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

/// The marks of one reader, for comparison with many entries of their inbox. Those entries have an inbox,
/// whatever the rules said when a mark was made.
#[derive(Debug, Default)]
pub(crate) struct ReaderMarks<'a> {
    marks: Option<&'a Marks>,
}

impl<'a> ReaderMarks<'a> {
    pub(crate) fn of(marks: Option<&'a Marks>) -> Self {
        Self { marks }
    }

    /// Returns true if there are no marks.
    pub(crate) fn is_empty(&self) -> bool {
        self.marks.is_none()
    }

    /// The least state of a view's entries of a day: a mark that was made when the day was over, and reaches
    /// to its end, covers everything that arrived on it.
    pub(crate) fn of_day(&self, day: Day, view: View<TenantNo>) -> ItemState {
        let of = |whose: Option<Option<TenantNo>>| {
            let marks = self.marks.iter().flat_map(|marks| marks.up_to.values());
            marks.map(|marks| marks.of_day(day, whose)).max().unwrap_or_default()
        };
        match view {
            View::All => of(None),
            View::Of(tenant) => of(Some(None)).min(of(Some(Some(tenant)))),
            View::Only(tenant) => of(Some(Some(tenant))),
        }
    }

    /// The state of an entry that is at least `least`.
    ///
    /// # Errors
    /// Those of asking for its `t`.
    pub(crate) fn of_entry<E>(
        &self,
        least: ItemState,
        mut entry: MarkedFields<impl FnMut() -> Result<Instant, E>>,
    ) -> Result<ItemState, E> {
        let mut state = least;
        let Some(marks) = self.marks else {
            return Ok(state);
        };
        let about = [marks.hashes.get(&entry.object), marks.events.get(&entry.place)];
        for marks in marks.up_to.values().chain(about.into_iter().flatten()) {
            state = marks.raised(state, &mut entry)?;
        }
        Ok(state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A mark on entries of all.
    fn made(at: i64, before: u64, kind: MarkKind) -> NewMark {
        let (at, before) = (Instant(at), EventNo(before));
        NewMark { at, before, kind, view: View::All, rules: 1 }
    }

    #[test]
    fn a_mark_of_a_view_covers_entries_of_its_tenant_and_of_none() {
        let tenant = |number| TenantNo::of_raw(number).unwrap();
        let (object, acme, other) = (Id::new("o").unwrap(), tenant(1), tenant(2));
        let what = [
            CoveredEntries::UpTo(Instant(99)),
            CoveredEntries::Object(object.clone()),
            CoveredEntries::Event(EventNo(4)),
        ];
        for what in what {
            let mut marks = Marks::default();
            let of = NewMark { view: View::Of(acme), ..made(10, 5, MarkKind::Seen) };
            let rows = marks.add(of, what.clone());
            let only = NewMark { view: View::Only(acme), ..made(10, 5, MarkKind::Read) };
            marks.add(only, what.clone());
            let mut again = Marks::default();
            again.put(rows[0].clone(), &marks.row(&rows[0]).unwrap()).unwrap();
            for marks in [&marks, &again] {
                let of = |tenant| {
                    let t = || Ok::<_, ()>(Instant(10));
                    let bounds = (Instant(10), Instant(10));
                    let hash = About::object_hash(&object);
                    let marking =
                        MarkedFields { place: EventNo(4), tenant, object: hash, bounds, t };
                    ReaderMarks::of(Some(marks)).of_entry(ItemState::New, marking).unwrap()
                };
                let states = [of(None), of(Some(acme)), of(Some(other))];
                assert_eq!(states, [ItemState::Seen, ItemState::Read, ItemState::New], "{what:?}");
            }
        }
    }

    #[test]
    fn a_mark_covers_what_had_entered() {
        let object = Id::new("o").unwrap();
        let mut marks = Marks::default();
        marks.add(made(10, 5, MarkKind::Seen), CoveredEntries::UpTo(Instant(99)));
        let (yes, no) = (|_| true, |_| false);
        let entry = |t, place, has_inbox: bool| ComparedEntry {
            t: Instant(t),
            place: EventNo(place),
            tenant: None,
            object: &object,
            has_inbox: if has_inbox { &yes } else { &no },
        };
        assert!(marks.cover(entry(10, 4, true), MarkKind::Seen));
        assert!(!marks.cover(entry(10, 4, true), MarkKind::Read), "seeing is not reading");
        assert!(!marks.cover(entry(11, 4, true), MarkKind::Seen), "scheduled for later");
        assert!(!marks.cover(entry(10, 5, true), MarkKind::Seen), "published after the mark");
        assert!(!marks.cover(entry(10, 4, false), MarkKind::Seen), "never was in an inbox");
        marks.add(made(12, 7, MarkKind::Read), CoveredEntries::UpTo(Instant(100)));
        assert_eq!(marks.all().count(), 2, "the mark, and the seq of the newest change");
        assert!(marks.cover(entry(12, 6, true), MarkKind::Seen), "reading is seeing");
        marks.add(made(12, 7, MarkKind::Seen), CoveredEntries::Object(object.clone()));
        assert!(marks.cover(entry(12, 6, false), MarkKind::Seen));
    }

    #[test]
    fn of_marks_up_to_an_instant_the_furthest_counts() {
        let object = Id::new("o").unwrap();
        let mut marks = Marks::default();
        let mut up_to = |at, to| {
            let what = CoveredEntries::UpTo(Instant(to));
            marks.add(made(at, at.cast_unsigned(), MarkKind::Seen), what);
        };
        up_to(10, 8);
        up_to(20, 5);
        let covers = |marks: &Marks, t, place| {
            let entry = ComparedEntry {
                t: Instant(t),
                place: EventNo(place),
                tenant: None,
                object: &object,
                has_inbox: &|_| true,
            };
            marks.cover(entry, MarkKind::Seen)
        };
        assert!(covers(&marks, 8, 9), "the second takes nothing of the first away");
        assert!(!covers(&marks, 9, 9));
        let what = CoveredEntries::UpTo(Instant(25));
        marks.add(made(30, 30, MarkKind::Seen), what);
        assert!(covers(&marks, 25, 29) && !covers(&marks, 26, 29));
        assert_eq!(marks.all().count(), 2, "the mark, and the seq of the newest change");
    }

    /// The cost of n marks of a kind and as many looks.
    fn cost(count: u64, what: impl Fn(u64) -> CoveredEntries) -> u64 {
        let mut marks = Marks::default();
        work::take();
        let at = |n: u64| Instant(n.cast_signed());
        for n in 0..count {
            marks.add(made(at(n).0, count, MarkKind::Seen), what(n));
        }
        let reading = ReaderMarks::of(Some(&marks));
        for n in 0..count {
            let object = Id::new(&format!("o{n}")).unwrap();
            let entry = ComparedEntry {
                t: at(n),
                place: EventNo(n),
                tenant: None,
                object: &object,
                has_inbox: &|_| true,
            };
            marks.cover(entry, MarkKind::Seen);
            let marking = MarkedFields {
                place: EventNo(n),
                tenant: None,
                object: About::object_hash(&object),
                bounds: (at(n), at(n)),
                t: || Ok::<_, ()>(at(n)),
            };
            reading.of_entry(ItemState::New, marking).unwrap();
        }
        marks.forget_before((at(count), Day(0)), Seq::default(), |_| {});
        work::take()
    }

    #[test]
    fn p12_a_hundred_thousand_marks_cost_each_the_same() {
        let object = |n: u64| CoveredEntries::Object(Id::new(&format!("o{n}")).unwrap());
        for count in [1_000, 100_000] {
            for spent in [
                cost(count, object),
                cost(count, |n| CoveredEntries::Event(EventNo(n))),
                cost(count, |n| CoveredEntries::UpTo(Instant(n.cast_signed()))),
                cost(count, |n| CoveredEntries::UpTo(Instant((count - n).cast_signed()))),
            ] {
                assert!(spent <= 8 * count, "{spent} looks for {count} marks");
            }
        }
    }
}
