//! Inbox items with a state of their own: archived, snoozed, deleted, back from a snooze, or marked one by one.
//!
//! Marks only add, and one of them covers many items. What is taken out of an inbox, comes back or is marked as
//! unread is kept by item instead, from the first such change on; later marks change it there.

use crate::model::item::{ItemState, Return, Shelf, StoredItem};
use crate::model::number::{EventNo, Seq};
use crate::model::time::{Day, Instant};
use crate::sets::shared::Tree;

/// The items of one inbox that have a state of their own, by the event's place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct InboxItemStates(Tree<EventNo, StoredItem>);

impl InboxItemStates {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn get(&self, place: EventNo) -> Option<&StoredItem> {
        self.0.get(&place)
    }

    pub(crate) fn put(&mut self, place: EventNo, item: StoredItem) {
        self.0.insert(place, item);
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (EventNo, &StoredItem)> {
        self.0.iter().map(|(place, item)| (*place, item))
    }

    /// The items whose snooze ends at or before an instant, as they come back, the first of them under a seq.
    pub(crate) fn returning(&self, until: Instant, seq: Seq) -> Vec<(EventNo, StoredItem)> {
        let ends = |item: &StoredItem| match item.shelf {
            Shelf::Snoozed(at) if at <= until => Some(at),
            _ => None,
        };
        let back = self.iter().filter_map(|(place, item)| Some((place, item, ends(item)?)));
        let each = back.zip(seq.and_on());
        each.map(|((place, item, at), seq)| {
            let back = Some(Return { at, seq });
            (place, StoredItem { state: ItemState::New, shelf: Shelf::Active, back, ..*item })
        })
        .collect()
    }

    /// Raises the state of active items, or of all, that a mark covers; returns those that changed.
    pub(crate) fn raise(
        &mut self,
        to: ItemState,
        covers: impl Fn(EventNo, &StoredItem) -> bool,
    ) -> Vec<EventNo> {
        let changed: Vec<EventNo> = self
            .iter()
            .filter(|(place, item)| item.state < to && covers(*place, item))
            .map(|(place, _)| place)
            .collect();
        for place in &changed {
            if let Some(item) = self.0.get_mut(place) {
                item.state = to;
                item.highest = item.highest.max(to);
            }
        }
        changed
    }

    /// Raises the state of one item, if it has one of its own and is not deleted.
    pub(crate) fn raise_one(&mut self, to: ItemState, place: EventNo) -> Vec<EventNo> {
        let lower = |item: &&mut StoredItem| item.state < to && item.shelf != Shelf::Deleted;
        match self.0.get_mut(&place).filter(lower) {
            Some(item) => {
                item.state = to;
                item.highest = item.highest.max(to);
                vec![place]
            }
            None => Vec::new(),
        }
    }

    /// Drops the items of days before `before`; `dropped` receives their places.
    pub(crate) fn forget_before(&mut self, before: Day, mut dropped: impl FnMut(EventNo)) {
        let old: Vec<EventNo> =
            self.iter().filter(|(_, item)| item.day < before).map(|(place, _)| place).collect();
        for place in old {
            self.0.remove(&place);
            dropped(place);
        }
    }
}
