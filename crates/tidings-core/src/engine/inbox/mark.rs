//! Marks of inbox items: seen and read, which one mark covers for many items, and changes that are kept by item.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use super::rows::RowId;
use super::walk::{InboxEntry, InboxWalk, Only, WantedFacts};
use crate::engine::intake::state::Intake;
use crate::engine::rows::draft::Draft;
use crate::engine::rows::reply::{Refused, Reply, StepError};
use crate::engine::shard::state::Shard;
use crate::journal::record::{About, Covered, Record};
use crate::journal::stored::Unreadable;
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
    /// What a walk needs to visit.
    fn only(&self) -> Only<'_> {
        match self {
            Self::Events(places) => Only { places: Some(places), ..Only::default() },
            Self::Row(row) => Only { group: Some(row.group), ..Only::default() },
            Self::Object(hash) => Only { object: Some(*hash), ..Only::default() },
            Self::UpTo(..) => Only::default(),
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
            Marked::UpTo(instant) => vec![Covered::UpTo(*instant)],
            // A mark covers what has entered by now: about what nothing names there is nothing.
            Marked::Object(object) if self.intake.objects.knows(self.draft, object)? => {
                vec![Covered::Object(object.clone())]
            }
            Marked::Object(_) => Vec::new(),
            Marked::Event(event) => {
                let places = self.shard.copies_in(self.draft).places_of(self.intake, event)?;
                places.into_iter().map(Covered::Event).collect()
            }
            Marked::Row(_) | Marked::UpToOf(..) => {
                return self.change_named(what, MarkChange::Raise(ItemState::of(kind)));
            }
        };
        for what in covered {
            let subject = match &what {
                Covered::UpTo(up_to) => MarkSubject::UpTo((*up_to).min(self.shard.now), None),
                Covered::Object(object) => MarkSubject::Object(About::object_hash(object)),
                Covered::Event(place) => MarkSubject::Events(BTreeSet::from([*place])),
            };
            let changed = self.changed(&subject, MarkChange::Raise(ItemState::of(kind)));
            let may_have_tenants = !self.intake.tenants.is_empty();
            // Precedes the record: afterwards nothing tells which entries it has changed.
            let shows = changed.tenants(may_have_tenants)?;
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
        Ok(Reply::Done)
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
        let items = self.changed(&subject, change).items()?;
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

/// A change of the items of a subject.
struct ItemsChange<'a> {
    walk: InboxWalk<'a>,
    subject: &'a MarkSubject,
    change: MarkChange,
}

impl ItemsChange<'_> {
    /// The items of a subject as they are after a change, those that it changes.
    fn items(&self) -> Result<Vec<(EventNo, StoredItem)>, Unreadable> {
        let mut changed = Vec::new();
        self.each_named(|entry| {
            let item = self.item(entry)?;
            changed.extend(item.map(|item| (entry.place, item)));
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(changed)
    }

    /// The tenants of the items that a mark changes, `None` for entries without one. One item of each tenant is enough.
    fn tenants(&self, may_have_tenants: bool) -> Result<Vec<Option<TenantNo>>, Unreadable> {
        let most = match self.walk.of {
            View::All if may_have_tenants => usize::MAX,
            View::Of(_) => 2,
            View::All | View::Only(_) => 1,
        };
        let mut tenants = Vec::new();
        self.each_named(|entry| {
            if !tenants.contains(&entry.tenant) && self.item(entry)?.is_some() {
                tenants.push(entry.tenant);
            }
            Ok(if tenants.len() < most {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            })
        })?;
        Ok(tenants)
    }

    /// Visits the entries of a subject that a change may change, as long as `visit` goes on.
    fn each_named(
        &self,
        mut visit: impl FnMut(&InboxEntry) -> Result<ControlFlow<()>, Unreadable>,
    ) -> Result<(), Unreadable> {
        let Self { ref walk, subject, change } = *self;
        // A row holds what it shows; other marks reach what a withdrawn object hides, too.
        let wanted = match subject {
            MarkSubject::Row(_) => WantedFacts::Identity,
            _ => WantedFacts::Withdrawn,
        };
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
            for entry in &found {
                if visit(entry)?.is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// The item of an entry after a change; `None` = it stays as it is.
    fn item(&self, entry: &InboxEntry) -> Result<Option<StoredItem>, Unreadable> {
        let Self { ref walk, subject, change } = *self;
        let Some((state, shelf)) = after(entry, change) else {
            return Ok(None);
        };
        let t = walk.t(entry)?;
        let newest_at = entry.back.unwrap_or(t);
        if let MarkSubject::UpTo(up_to, _) = subject
            && newest_at > *up_to
        {
            return Ok(None);
        }
        let old = walk.marks.and_then(|marks| marks.items.get(entry.place));
        let is_shelved = shelf != Shelf::Active;
        Ok(Some(StoredItem {
            day: entry.day,
            t,
            object: entry.object,
            tenant: entry.tenant,
            state,
            shelf,
            back: old.and_then(|item| item.back),
            was_shelved: is_shelved || old.is_some_and(|item| item.was_shelved),
        }))
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
