//! Marks of inbox items: seen and read, which one mark covers for many items, and changes that are kept by item.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use super::rows::RowId;
use super::walk::{InboxEntry, InboxWalk, Only, WantedFacts};
use crate::engine::intake::state::Intake;
use crate::engine::rows::draft::Draft;
use crate::engine::rows::reply::{Reply, StepError};
use crate::engine::shard::state::Shard;
use crate::journal::record::{About, Covered, Record};
use crate::journal::stored::Unreadable;
use crate::model::command::{ItemChange, MarkKind, Marked, TypeFilter};
use crate::model::id::{BucketNo, Id};
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

/// Marks items as seen or read.
pub(crate) fn mark(
    shard: &mut Shard,
    intake: &Intake,
    draft: &mut Draft<'_>,
    recipient: &Id,
    what: &Marked,
    kind: MarkKind,
    view: &View,
) -> Result<Reply, StepError> {
    let view = intake.tenants.view(view)?;
    let of = shard.find(recipient)?;
    let covered = match what {
        Marked::UpTo(instant) => vec![Covered::UpTo(*instant)],
        // A mark covers what has entered by now: about what nothing names there is nothing.
        Marked::Object(object) if intake.objects.knows(draft, object)? => {
            vec![Covered::Object(object.clone())]
        }
        Marked::Object(_) => Vec::new(),
        Marked::Event(event) => {
            let places = shard.copies_in(draft).places_of(intake, event)?;
            places.into_iter().map(Covered::Event).collect()
        }
        Marked::Row(_) | Marked::UpToOf(..) => {
            let change = MarkChange::Raise(ItemState::of(kind));
            return change_named(shard, intake, draft, of, (what, view), change);
        }
    };
    for what in covered {
        let subject = match &what {
            Covered::UpTo(up_to) => MarkSubject::UpTo((*up_to).min(shard.now), None),
            Covered::Object(object) => MarkSubject::Object(About::object_hash(object)),
            Covered::Event(place) => MarkSubject::Events(BTreeSet::from([*place])),
        };
        let walk = walk(shard, intake, draft, of, view).after(subject.only());
        let may_have_tenants = !intake.tenants.is_empty();
        // Precedes the record: afterwards nothing tells which entries it has changed.
        let shows = changed_tenants(&walk, &subject, ItemState::of(kind), may_have_tenants)?;
        let record = Record::Mark {
            at: shard.now,
            before: intake.next_place,
            number: of.number,
            what,
            kind,
            view,
            shows,
        };
        shard.write(draft, of.bucket, record);
    }
    Ok(Reply::Done)
}

/// Changes items beyond seen and read.
pub(crate) fn change_items(
    shard: &mut Shard,
    intake: &Intake,
    draft: &mut Draft<'_>,
    recipient: &Id,
    what: &Marked,
    change: ItemChange,
    view: &View,
) -> Result<Reply, StepError> {
    let view = intake.tenants.view(view)?;
    let of = shard.find(recipient)?;
    change_named(shard, intake, draft, of, (what, view), MarkChange::Item(change))
}

fn change_named(
    shard: &mut Shard,
    intake: &Intake,
    draft: &mut Draft<'_>,
    of: RecipientAt,
    (what, view): (&Marked, View<TenantNo>),
    change: MarkChange,
) -> Result<Reply, StepError> {
    let names = &shard.compiled.names;
    let subject = match what {
        Marked::UpTo(up_to) => MarkSubject::UpTo((*up_to).min(shard.now), None),
        Marked::UpToOf(up_to, filter) => {
            MarkSubject::UpTo((*up_to).min(shard.now), Some(types_of(shard, filter)))
        }
        Marked::Object(object) => MarkSubject::Object(About::object_hash(object)),
        Marked::Event(event) => {
            MarkSubject::Events(shard.copies_in(draft).places_of(intake, event)?)
        }
        Marked::Row(key) => match RowId::parse(key, names) {
            Ok(row) => MarkSubject::Row(row),
            Err(_) => return Ok(Reply::Done),
        },
    };
    let walk = walk(shard, intake, draft, of, view).after(subject.only());
    let items = changed_items(&walk, &subject, change)?;
    write_items(shard, draft, of, &items);
    Ok(Reply::Done)
}

fn write_items(
    shard: &mut Shard,
    draft: &mut Draft<'_>,
    of: RecipientAt,
    items: &[(EventNo, StoredItem)],
) {
    let RecipientAt { bucket, number } = of;
    let at = shard.now;
    for items in items.chunks(ITEMS_MAX) {
        let record = Record::Items { at, number, items: items.to_vec() };
        shard.write(draft, bucket, record);
    }
}

/// Brings back the items of a bucket whose snooze ends now.
pub(crate) fn return_snoozed(shard: &mut Shard, draft: &mut Draft<'_>, bucket: BucketNo) -> bool {
    let mut any = false;
    loop {
        let first = shard.buckets[bucket].snoozed.first().map(|(key, ())| *key);
        let Some((until, number)) = first.filter(|(until, _)| *until <= shard.clock) else {
            return any;
        };
        let state = &mut shard.buckets[bucket];
        state.snoozed.remove(&(until, number));
        let marks = state.marks.get(&number);
        // The key may be stale: an item that was changed since returns at another instant, or never.
        let items = marks.map(|marks| marks.items.returning(until, state.next_seq));
        let items = items.unwrap_or_default();
        any |= !items.is_empty();
        let of = RecipientAt { bucket, number: RecipientNo(number) };
        write_items(shard, draft, of, &items);
    }
}

/// The types that a mark takes.
fn types_of(shard: &Shard, filter: &TypeFilter) -> BTreeSet<TypeNo> {
    let names = &shard.compiled.names;
    match filter {
        TypeFilter::Type(name) => names.type_no(name).into_iter().collect(),
        TypeFilter::Category(category) => {
            let types = shard.rules().into_iter().flat_map(|rules| &rules.types);
            let types = types.filter(|(_, of_type)| of_type.category == *category);
            types.filter_map(|(name, _)| names.type_no(name)).collect()
        }
    }
}

/// The walk through what a view shows of an inbox.
fn walk<'a>(
    shard: &'a Shard,
    intake: &'a Intake,
    draft: &'a Draft<'_>,
    of: RecipientAt,
    view: View<TenantNo>,
) -> InboxWalk<'a> {
    InboxWalk::new(intake, draft.view, &shard.buckets[of.bucket], of.number, view)
}

/// The items of a subject as they are after a change, those that it changes.
fn changed_items(
    walk: &InboxWalk<'_>,
    subject: &MarkSubject,
    change: MarkChange,
) -> Result<Vec<(EventNo, StoredItem)>, Unreadable> {
    let mut changed = Vec::new();
    each_named(walk, subject, change, |entry| {
        let item = changed_item(walk, subject, change, entry)?;
        changed.extend(item.map(|item| (entry.place, item)));
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(changed)
}

/// The tenants of the items that a mark changes, `None` for entries without one. One item of each tenant is enough.
fn changed_tenants(
    walk: &InboxWalk<'_>,
    subject: &MarkSubject,
    to: ItemState,
    may_have_tenants: bool,
) -> Result<Vec<Option<TenantNo>>, Unreadable> {
    let most = match walk.of {
        View::All if may_have_tenants => usize::MAX,
        View::Of(_) => 2,
        View::All | View::Only(_) => 1,
    };
    let mut tenants = Vec::new();
    let change = MarkChange::Raise(to);
    each_named(walk, subject, change, |entry| {
        if !tenants.contains(&entry.tenant) && changed_item(walk, subject, change, entry)?.is_some()
        {
            tenants.push(entry.tenant);
        }
        Ok(if tenants.len() < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    })?;
    Ok(tenants)
}

/// Visits the entries of a subject that a change may change, as long as `visit` goes on.
fn each_named(
    walk: &InboxWalk<'_>,
    subject: &MarkSubject,
    change: MarkChange,
    mut visit: impl FnMut(&InboxEntry) -> Result<ControlFlow<()>, Unreadable>,
) -> Result<(), Unreadable> {
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
                MarkSubject::Object(hash) => entry.object == *hash && is_reached(&entry, change),
                MarkSubject::UpTo(_, types) => {
                    let is_of = types.as_ref().is_none_or(|types| types.contains(&entry.group.0));
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
fn changed_item(
    walk: &InboxWalk<'_>,
    subject: &MarkSubject,
    change: MarkChange,
    entry: &InboxEntry,
) -> Result<Option<StoredItem>, Unreadable> {
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
