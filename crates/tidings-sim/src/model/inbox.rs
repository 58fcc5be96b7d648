//! Inboxes, read naively from their delivered entries (contract, sections 4, 9 and 12).

use std::cmp::Reverse;

use tidings_core::model::{Cancelled, ItemChange, MarkKind, Marked, Pivot, TypeFilter, View};
use tidings_core::{Day, Id};

use super::item::{ModelItem, Shelf};
use super::tenant::has;
use super::{Entry, Model, ModelEvent};
use crate::inbox::{Inbox, Row};

/// The greatest number of items that a row lists.
const LISTED: usize = 25;

/// The key of a row: tenant, day, type, the object, actor or target, and the state of its items.
type ModelRowKey = (Option<usize>, Day, Id, String, &'static str);

impl Model {
    /// Delivers an entry to its recipient's inbox.
    pub(super) fn show(&mut self, entry: usize) {
        let Entry { seen, t, day, place, .. } = self.entries[entry];
        let read = self.read.contains(&entry);
        self.entries[entry].first.begin(seen, read);
        let shelf = Shelf::Active;
        let item = ModelItem { seen, read, shelf, newest_at: t, listed: day, order: place };
        self.entries[entry].item = Some(item);
    }

    pub(super) fn places(&mut self) -> usize {
        self.placed += 1;
        self.placed
    }

    /// Brings back what was snoozed until now.
    pub(super) fn end_snoozes(&mut self) {
        loop {
            let ends = |entry: usize| match self.entries[entry].item.as_ref()?.shelf {
                Shelf::Snoozed(until) if until <= self.now => Some((until, entry)),
                _ => None,
            };
            let due = self.snoozed.iter().filter_map(|&entry| ends(entry)).min();
            let Some((until, entry)) = due else {
                return;
            };
            self.snoozed.remove(&entry);
            let item = ModelItem {
                seen: false,
                read: false,
                shelf: Shelf::Active,
                newest_at: until,
                listed: until.day(),
                order: self.places(),
            };
            self.entries[entry].item = Some(item);
        }
    }

    /// Marks items as seen or read.
    pub(super) fn mark_items(
        &mut self,
        person: usize,
        what: &Marked,
        kind: MarkKind,
        view: View<usize>,
    ) {
        for entry in items_of(self, person, what, view, |shelf| shelf == Shelf::Active) {
            self.entries[entry].first.note(kind, self.now);
            let Some(item) = &mut self.entries[entry].item else {
                continue;
            };
            item.seen = true;
            item.read |= kind == MarkKind::Read;
        }
    }

    /// Changes items beyond seen and read.
    pub(super) fn change_items(
        &mut self,
        person: usize,
        what: &Marked,
        change: ItemChange,
        view: View<usize>,
    ) {
        let is_there = |shelf| match change {
            ItemChange::Unarchive => shelf == Shelf::Archived,
            ItemChange::Unsnooze => matches!(shelf, Shelf::Snoozed(_)),
            _ => shelf == Shelf::Active,
        };
        for entry in items_of(self, person, what, view, is_there) {
            let Some(item) = &mut self.entries[entry].item else {
                continue;
            };
            match change {
                ItemChange::Unread => item.read = false,
                ItemChange::Archive => item.shelf = Shelf::Archived,
                ItemChange::Snooze(until) => {
                    item.shelf = Shelf::Snoozed(until);
                    self.snoozed.insert(entry);
                }
                ItemChange::Delete => item.shelf = Shelf::Deleted,
                ItemChange::Unarchive | ItemChange::Unsnooze if is_there(item.shelf) => {
                    item.shelf = Shelf::Active;
                }
                ItemChange::Unarchive | ItemChange::Unsnooze => {}
            }
        }
    }

    /// Removes delivered entries of events from inboxes.
    pub(super) fn take_out(&mut self, what: &Cancelled, of: Option<usize>) {
        for entry in &mut self.entries {
            let published = &self.events[entry.event];
            if published.is_meant(what, of) {
                entry.item = None;
            }
        }
    }

    /// A recipient's inbox: of a tenant's view, or whole.
    #[must_use]
    pub fn inbox(&self, recipient: &Id, tenant: Option<&Id>) -> Option<Inbox> {
        let person = *self.by_id.get(recipient)?;
        let view = match tenant {
            Some(tenant) => View::Of(self.tenants.number(tenant)?),
            None => View::All,
        };
        let mut shown: Vec<(&ModelItem, &ModelEvent)> = self
            .entries
            .iter()
            .filter(|entry| entry.person == person && entry.shown)
            .filter_map(|entry| Some((entry.item.as_ref()?, &self.events[entry.event])))
            .filter(|(item, _)| item.shelf != Shelf::Deleted)
            .filter(|(_, published)| has(view, published.tenant))
            .filter(|(_, published)| {
                let object = self.objects.get(&published.event.object.id);
                object.is_none_or(|object| !object.retracted && !object.not_notifiable)
            })
            .collect();
        shown.sort_by_key(|(item, _)| Reverse(item.order));
        let mut groups: Vec<(ModelRowKey, Vec<(&ModelItem, &ModelEvent)>)> = Vec::new();
        for (item, published) in shown {
            let group = group_of(self, item, published);
            match groups.iter_mut().find(|(known, _)| *known == group) {
                Some((_, items)) => items.push((item, published)),
                None => groups.push((group, vec![(item, published)])),
            }
        }
        let mut inbox = Inbox::default();
        for ((tenant, _, event_type, _, word), items) in groups {
            let unseen = u64::from(word == "new" && items.iter().any(|(item, _)| !item.seen));
            let unread = u64::from(word == "new");
            inbox.unseen += unseen;
            inbox.unread += unread;
            let tenant = self.tenants.id_of(tenant);
            if let (Some(tenant), View::All, 1..) = (&tenant, view, unread) {
                let of = inbox.tenants.entry(tenant.clone()).or_default();
                *of = (of.0 + unseen, of.1 + unread);
            }
            let until = items.iter().filter_map(|(item, _)| match item.shelf {
                Shelf::Snoozed(until) => Some(until),
                _ => None,
            });
            let events = items.iter().map(|(_, published)| published.event.id.clone());
            inbox.rows.push(Row {
                tenant,
                event_type,
                count: items.len(),
                events: events.take(LISTED).collect(),
                seen: items.iter().all(|(item, _)| item.seen),
                read: items.iter().all(|(item, _)| item.read),
                archived: word == "archived",
                snoozed_until: until.min(),
                newest_at: items[0].0.newest_at,
            });
        }
        Some(inbox)
    }
}

/// Contract, section 9, "Marks": covers items of a view, wherever they are or where they can be hit.
fn items_of(
    model: &Model,
    person: usize,
    what: &Marked,
    view: View<usize>,
    is_there: impl Fn(Shelf) -> bool,
) -> Vec<usize> {
    let is_meant = |entry: &Entry, item: &ModelItem| {
        let ModelEvent { event, tenant, .. } = &model.events[entry.event];
        let is_of = |filter: &TypeFilter| match filter {
            TypeFilter::Type(kind) => event.event_type.as_str() == kind,
            // Random worlds name none.
            TypeFilter::Category(_) => false,
        };
        let is_about = match what {
            Marked::Event(id) => event.id == *id,
            Marked::Object(object) => is_there(item.shelf) && event.object.id == *object,
            Marked::UpTo(until) => is_there(item.shelf) && item.newest_at <= *until,
            Marked::UpToOf(until, filter) => {
                is_there(item.shelf) && item.newest_at <= *until && is_of(filter)
            }
            // Only the engine knows keys.
            Marked::Row(_) => false,
        };
        has(view, *tenant) && item.shelf != Shelf::Deleted && is_about
    };
    let entries = model.entries.iter().enumerate();
    entries
        .filter(|(_, entry)| entry.person == person && entry.shown)
        .filter(|(_, entry)| entry.item.as_ref().is_some_and(|item| is_meant(entry, item)))
        .map(|(index, _)| index)
        .collect()
}

fn group_of(model: &Model, item: &ModelItem, published: &ModelEvent) -> ModelRowKey {
    let ModelEvent { event, tenant, .. } = published;
    let rules = model.current().types.get(event.event_type.as_str());
    let (role, object) = match rules.and_then(|rules| rules.group) {
        None | Some(Pivot::Object) => ("object", Some(&event.object)),
        Some(Pivot::Actor) => ("actor", event.actor.as_ref()),
        Some(Pivot::Target) => ("target", event.target.as_ref()),
    };
    let pivot = match object {
        Some(object) => format!("{role} {}", object.id),
        None => format!("event {}", event.id),
    };
    let word = match item.shelf {
        Shelf::Archived => "archived",
        Shelf::Snoozed(_) => "snoozed",
        _ if item.read => "read",
        _ => "new",
    };
    (*tenant, item.listed, event.event_type.clone(), pivot, word)
}
