//! Marks of inbox items: seen and read, which one mark covers for many items, and changes that are kept by item.

use std::collections::BTreeSet;

use super::rows::RowId;
use super::walk::{EntryTimes, InboxEntry, InboxWalk, WalkFilter, WantedFacts};
use crate::engine::figures::counting::CountKey;
use crate::engine::figures::measure::Slot;
use crate::engine::intake::state::Intake;
use crate::engine::replies::refused::{Refused, StepError};
use crate::engine::replies::reply::Reply;
use crate::engine::rows::draft::Draft;
use crate::engine::shard::state::Shard;
use crate::journal::record::{About, CoveredEntries, Record};
use crate::journal::stored::Unreadable;
use crate::model::channel::INBOX_NO;
use crate::model::command::{ItemChange, MarkKind, Marked, TypeFilter};
use crate::model::id::Id;
use crate::model::item::{ItemState, Shelf, StoredItem};
use crate::model::number::{EventNo, RecipientAt, RecipientNo, TypeNo};
use crate::model::tenant::{TenantNo, View};
use crate::model::time::Instant;

/// The most items of a record.
const ITEMS_MAX: usize = 4_096;

/// The items that a mark is about, as an inbox knows them.
enum MarkSubject {
    /// Those of events, wherever they are.
    Events(BTreeSet<EventNo>),
    /// Those of a row, wherever it is.
    Row(RowId),
    /// Those about an object, by the hash of its id.
    Object(u64),
    /// Those with a position up to an instant; `None` = of all types.
    UpTo(Instant, Option<BTreeSet<TypeNo>>),
}

impl MarkSubject {
    /// The entries that a walk needs to visit.
    fn only(&self) -> WalkFilter<'_> {
        match self {
            Self::Events(places) => WalkFilter { places: Some(places), ..WalkFilter::default() },
            Self::Row(row) => WalkFilter { group: Some(row.group), ..WalkFilter::default() },
            Self::Object(hash) => WalkFilter { object: Some(*hash), ..WalkFilter::default() },
            Self::UpTo(..) => WalkFilter::default(),
        }
    }
}

/// A change of an item.
#[derive(Clone, Copy)]
enum MarkChange {
    Raise(ItemState),
    Item(ItemChange),
}

/// Marks and changes of inbox items of a recipient, of what a view shows.
pub(crate) struct ItemMarks<'a, 'd> {
    shard: &'a mut Shard,
    intake: &'a Intake,
    draft: &'a mut Draft<'d>,
    recipient: RecipientAt,
    view: View<TenantNo>,
}

impl<'a, 'd> ItemMarks<'a, 'd> {
    /// # Errors
    /// [`Refused`] if the tenant of the view or the recipient is unknown.
    pub(crate) fn of(
        shard: &'a mut Shard,
        intake: &'a Intake,
        draft: &'a mut Draft<'d>,
        recipient: &Id,
        view: &View,
    ) -> Result<Self, Refused> {
        let view = intake.tenants.view(view)?;
        let recipient = shard.find(recipient)?;
        Ok(Self { shard, intake, draft, recipient, view })
    }

    /// Marks items as seen or read.
    pub(crate) fn mark(&mut self, what: &Marked, kind: MarkKind) -> Result<Reply, StepError> {
        let covered = match what {
            Marked::UpTo(instant) => vec![CoveredEntries::UpTo(*instant)],
            // A mark covers what has entered by now: about what nothing names there is nothing.
            Marked::Object(object) if self.intake.objects.knows(self.draft, object)? => {
                vec![CoveredEntries::Object(object.clone())]
            }
            Marked::Object(_) => Vec::new(),
            Marked::Event(event) => {
                let places = self.shard.copies_in(self.draft).places_of(self.intake, event)?;
                places.into_iter().map(CoveredEntries::Event).collect()
            }
            Marked::Row(_) | Marked::UpToOf(..) => {
                return self.change_named(what, MarkChange::Raise(ItemState::of(kind)));
            }
        };
        let mut firsts = FirstStateChanges::new();
        for what in covered {
            let subject = match &what {
                CoveredEntries::UpTo(up_to) => {
                    MarkSubject::UpTo((*up_to).min(self.shard.now), None)
                }
                CoveredEntries::Object(object) => MarkSubject::Object(About::object_hash(object)),
                CoveredEntries::Event(place) => MarkSubject::Events(BTreeSet::from([*place])),
            };
            let changed = self.changed(&subject, MarkChange::Raise(ItemState::of(kind)));
            // Precedes the record: afterwards nothing tells which entries it has changed.
            let shows = changed.tenants(&mut firsts)?;
            let record = Record::Mark {
                at: self.shard.now,
                before: self.intake.next_place,
                number: self.recipient.number,
                what,
                kind,
                view: self.view,
                shows,
            };
            self.shard.write(self.draft, self.recipient.bucket, record);
        }
        self.count_firsts(firsts);
        Ok(Reply::Done)
    }

    /// Counts items that are seen, and read, for the first time.
    fn count_firsts(&mut self, firsts: FirstStateChanges) {
        let (now, figures) = (self.shard.now, &mut self.shard.figures);
        for (of, before, state) in firsts {
            if before < ItemState::Seen {
                figures.add(of, Slot::SEEN, 1);
                figures.add(of, Slot::time_to_seen(now.0 - of.at.0), 1);
            }
            if state == ItemState::Read {
                figures.add(of, Slot::READ, 1);
            }
        }
    }

    /// Changes items beyond seen and read.
    pub(crate) fn change(&mut self, what: &Marked, change: ItemChange) -> Result<Reply, StepError> {
        self.change_named(what, MarkChange::Item(change))
    }

    fn change_named(&mut self, what: &Marked, change: MarkChange) -> Result<Reply, StepError> {
        let (shard, intake) = (&*self.shard, self.intake);
        let subject = match what {
            Marked::UpTo(up_to) => MarkSubject::UpTo((*up_to).min(shard.now), None),
            Marked::UpToOf(up_to, filter) => {
                MarkSubject::UpTo((*up_to).min(shard.now), Some(self.types_of(filter)))
            }
            Marked::Object(object) => MarkSubject::Object(About::object_hash(object)),
            Marked::Event(event) => {
                MarkSubject::Events(shard.copies_in(self.draft).places_of(intake, event)?)
            }
            Marked::Row(key) => match RowId::parse(key, &shard.compiled.names) {
                Ok(row) => MarkSubject::Row(row),
                Err(_) => return Ok(Reply::Done),
            },
        };
        let mut firsts = FirstStateChanges::new();
        let items = self.changed(&subject, change).items(&mut firsts)?;
        self.count_firsts(firsts);
        let RecipientAt { bucket, number } = self.recipient;
        for record in item_records(self.shard.now, number, &items) {
            self.shard.write(self.draft, bucket, record);
        }
        Ok(Reply::Done)
    }

    /// The types that a mark takes.
    fn types_of(&self, filter: &TypeFilter) -> BTreeSet<TypeNo> {
        let names = &self.shard.compiled.names;
        match filter {
            TypeFilter::Type(name) => names.type_no(name).into_iter().collect(),
            TypeFilter::Category(category) => {
                let types = self.shard.rules().into_iter().flat_map(|rules| &rules.types);
                let types = types.filter(|(_, of_type)| of_type.category == *category);
                types.filter_map(|(name, _)| names.type_no(name)).collect()
            }
        }
    }

    /// The items that a change is about, as the view shows the inbox.
    fn changed<'s>(&'s self, subject: &'s MarkSubject, change: MarkChange) -> ItemsChange<'s> {
        let RecipientAt { bucket, number } = self.recipient;
        let bucket = &self.shard.buckets[bucket];
        let walk = InboxWalk::new(self.intake, self.draft.view, bucket, number, self.view);
        ItemsChange { walk: walk.after(subject.only()), subject, change }
    }
}

/// The records of items of a recipient that change.
pub(crate) fn item_records(
    at: Instant,
    number: RecipientNo,
    items: &[(EventNo, StoredItem)],
) -> impl Iterator<Item = Record> {
    items.chunks(ITEMS_MAX).map(move |items| Record::Items { at, number, items: items.to_vec() })
}

/// Items that are seen or read for the first time: each with the highest state before, and the one after.
type FirstStateChanges = Vec<(CountKey, ItemState, ItemState)>;

/// A change of the items of a subject.
struct ItemsChange<'a> {
    walk: InboxWalk<'a>,
    subject: &'a MarkSubject,
    change: MarkChange,
}

impl ItemsChange<'_> {
    /// The items of a subject as they are after a change, those that it changes.
    fn items(
        &self,
        firsts: &mut FirstStateChanges,
    ) -> Result<Vec<(EventNo, StoredItem)>, Unreadable> {
        let mut changed = Vec::new();
        self.each_named(|entry, times| {
            if let Some((item, arrived)) = self.item(entry, times)? {
                self.count(firsts, entry, &item, arrived);
                changed.push((entry.place, item));
            }
            Ok(())
        })?;
        Ok(changed)
    }

    /// The tenants of the items that a mark changes, `None` for entries without one.
    fn tenants(&self, firsts: &mut FirstStateChanges) -> Result<Vec<Option<TenantNo>>, Unreadable> {
        let mut tenants = Vec::new();
        self.each_named(|entry, times| {
            if let Some((item, arrived)) = self.item(entry, times)? {
                self.count(firsts, entry, &item, arrived);
                if !tenants.contains(&entry.tenant) {
                    tenants.push(entry.tenant);
                }
            }
            Ok(())
        })?;
        Ok(tenants)
    }

    /// Visits the entries of a subject that a change may change.
    fn each_named(
        &self,
        mut visit: impl FnMut(&InboxEntry, &mut EntryTimes<'_>) -> Result<(), Unreadable>,
    ) -> Result<(), Unreadable> {
        let Self { ref walk, subject, change } = *self;
        // A row holds what it shows; other marks reach what a withdrawn object hides, too.
        let wanted = match subject {
            MarkSubject::Row(_) => WantedFacts::Identity,
            _ => WantedFacts::Withdrawn,
        };
        let mut times = EntryTimes::new(walk);
        for of in walk.days() {
            let is_done = match (subject, change) {
                (MarkSubject::Row(row), _) => row.day != of.day,
                (_, MarkChange::Raise(to)) => walk.least(of.day) >= to,
                _ => false,
            };
            if is_done {
                continue;
            }
            let mut found: Vec<InboxEntry> = Vec::new();
            walk.each(of, wanted, |entry| {
                let is_named = match subject {
                    MarkSubject::Events(places) => places.contains(&entry.place),
                    MarkSubject::Row(row) => row.has(&entry),
                    MarkSubject::Object(hash) => {
                        entry.object == *hash && is_reached(&entry, change)
                    }
                    MarkSubject::UpTo(_, types) => {
                        let is_of =
                            types.as_ref().is_none_or(|types| types.contains(&entry.group.0));
                        is_of && is_reached(&entry, change)
                    }
                };
                if is_named && walk.shows(&entry) {
                    found.push(entry);
                }
            })?;
            found.iter().try_for_each(|entry| visit(entry, &mut times))?;
        }
        Ok(())
    }

    /// The state of its own that an entry has.
    fn old(&self, entry: &InboxEntry) -> Option<&StoredItem> {
        self.walk.marks.and_then(|marks| marks.items.get(entry.place))
    }

    /// The highest state that an entry ever had.
    fn highest(&self, entry: &InboxEntry) -> ItemState {
        self.old(entry).map_or(entry.state, |item| item.highest.max(entry.state))
    }

    /// Counts what a change makes seen and read for the first time.
    fn count(
        &self,
        firsts: &mut FirstStateChanges,
        entry: &InboxEntry,
        item: &StoredItem,
        at: Instant,
    ) {
        let before = self.highest(entry);
        if item.state > before {
            let (type_no, tenant) = (entry.group.0, entry.tenant);
            let of = CountKey { at, type_no, tenant, channel: Some(INBOX_NO) };
            firsts.push((of, before, item.state));
        }
    }

    /// The item of an entry after a change, and the instant of its arrival; `None` = it stays as it is.
    fn item(
        &self,
        entry: &InboxEntry,
        times: &mut EntryTimes<'_>,
    ) -> Result<Option<(StoredItem, Instant)>, Unreadable> {
        let Self { subject, change, .. } = *self;
        let Some((state, shelf)) = after(entry, change) else {
            return Ok(None);
        };
        let (t, arrived) = times.of(entry)?;
        let newest_at = entry.back.unwrap_or(t);
        if let MarkSubject::UpTo(up_to, _) = subject
            && newest_at > *up_to
        {
            return Ok(None);
        }
        let old = self.old(entry);
        let is_shelved = shelf != Shelf::Active;
        let item = StoredItem {
            day: entry.day,
            t,
            object: entry.object,
            tenant: entry.tenant,
            state,
            shelf,
            back: old.and_then(|item| item.back),
            was_shelved: is_shelved || old.is_some_and(|item| item.was_shelved),
            highest: self.highest(entry).max(state),
        };
        Ok(Some((item, arrived)))
    }
}

/// Returns true if a change that names neither event nor row concerns an entry: it is about what is in the inbox, or
/// about what it brings back.
fn is_reached(entry: &InboxEntry, change: MarkChange) -> bool {
    match change {
        MarkChange::Item(ItemChange::Unarchive) => entry.shelf == Shelf::Archived,
        MarkChange::Item(ItemChange::Unsnooze) => matches!(entry.shelf, Shelf::Snoozed(_)),
        _ => entry.shelf == Shelf::Active,
    }
}

/// The state and place of an entry after a change; `None` = it stays as it is.
fn after(entry: &InboxEntry, change: MarkChange) -> Option<(ItemState, Shelf)> {
    let InboxEntry { state, shelf, .. } = *entry;
    let new = match change {
        MarkChange::Raise(to) => (state.max(to), shelf),
        MarkChange::Item(ItemChange::Unread) => (state.min(ItemState::Seen), shelf),
        MarkChange::Item(ItemChange::Archive) => (state, Shelf::Archived),
        MarkChange::Item(ItemChange::Snooze(until)) => (state, Shelf::Snoozed(until)),
        MarkChange::Item(ItemChange::Delete) => (state, Shelf::Deleted),
        MarkChange::Item(ItemChange::Unarchive) if shelf == Shelf::Archived => {
            (state, Shelf::Active)
        }
        MarkChange::Item(ItemChange::Unsnooze) if matches!(shelf, Shelf::Snoozed(_)) => {
            (state, Shelf::Active)
        }
        MarkChange::Item(ItemChange::Unarchive | ItemChange::Unsnooze) => return None,
    };
    (new != (state, shelf)).then_some(new)
}
