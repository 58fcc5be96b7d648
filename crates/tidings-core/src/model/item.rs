//! Inbox items with a state of their own, which marks alone don't describe.

use serde::{Deserialize, Serialize};

use crate::model::command::MarkKind;
use crate::model::number::Seq;
use crate::model::tenant::TenantNo;
use crate::model::time::{Day, Instant};

/// The state of an inbox item: unseen, seen or read.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum ItemState {
    /// Not seen.
    #[default]
    New,
    /// Seen, and not read.
    Seen,
    /// Read.
    Read,
}

impl ItemState {
    /// The state of what a mark covers.
    #[must_use]
    pub fn of(kind: MarkKind) -> Self {
        match kind {
            MarkKind::Seen => Self::Seen,
            MarkKind::Read => Self::Read,
        }
    }
}

/// The place of an inbox item.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum Shelf {
    /// In the inbox.
    #[default]
    Active,
    /// Archived, until it is unarchived.
    Archived,
    /// Snoozed: it comes back at this instant.
    Snoozed(Instant),
    /// Deleted for good.
    Deleted,
}

/// The return of an item from a snooze.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Return {
    /// The end of the snooze.
    pub at: Instant,
    /// The seq of the record: the item's position in the order of the inbox.
    pub seq: Seq,
}

/// The state of an item that has one of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "ItemRow", into = "ItemRow")]
pub struct StoredItem {
    /// The day that has its entry.
    pub day: Day,
    /// The time when it entered the inbox.
    pub t: Instant,
    /// The hash of its object's id.
    pub object: u64,
    /// The tenant of its event; `None` = of none.
    pub tenant: Option<TenantNo>,
    /// Unseen, seen or read.
    pub state: ItemState,
    /// Its place.
    pub shelf: Shelf,
    /// The newest return from a snooze.
    pub back: Option<Return>,
    /// True if it was ever archived, snoozed or deleted: then it counts as seen on other channels.
    pub was_shelved: bool,
    /// The highest state that it ever had: it is counted as seen, and as read, once.
    pub highest: ItemState,
}

/// An item as it is stored.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct ItemRow {
    day: Day,
    t: Instant,
    object: u64,
    tenant: Option<TenantNo>,
    state: ItemState,
    shelf: Shelf,
    back: Option<Return>,
    /// Bit 0: it was ever shelved. Bits 1 and 2: the highest state that it ever had; earlier versions wrote 0.
    past: u8,
}

impl From<StoredItem> for ItemRow {
    fn from(item: StoredItem) -> Self {
        let StoredItem { day, t, object, tenant, state, shelf, back, was_shelved, highest } = item;
        let past = u8::from(was_shelved) | (highest as u8) << 1;
        Self { day, t, object, tenant, state, shelf, back, past }
    }
}

impl From<ItemRow> for StoredItem {
    fn from(row: ItemRow) -> Self {
        let ItemRow { day, t, object, tenant, state, shelf, back, past } = row;
        let highest = match past >> 1 {
            0 => ItemState::New,
            1 => ItemState::Seen,
            _ => ItemState::Read,
        };
        let (was_shelved, highest) = (past & 1 == 1, highest.max(state));
        Self { day, t, object, tenant, state, shelf, back, was_shelved, highest }
    }
}

impl StoredItem {
    /// The day in which an inbox lists it.
    #[must_use]
    pub(crate) fn listed_on(&self) -> Day {
        self.back.map_or(self.day, |back| back.at.day())
    }

    /// Returns true if other channels take it for one in this state.
    #[must_use]
    pub(crate) fn counts_as(&self, state: ItemState) -> bool {
        self.state >= state || self.was_shelved && state == ItemState::Seen
    }

    /// The instant of its position in the inbox.
    #[must_use]
    pub fn newest_at(&self) -> Instant {
        self.back.map_or(self.t, |back| back.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::stored::{decode, encode};

    #[test]
    fn an_item_comes_back_and_one_of_an_earlier_version_is_read() {
        let item = StoredItem {
            day: Day(3),
            t: Instant(7),
            object: 9,
            tenant: None,
            state: ItemState::New,
            shelf: Shelf::Active,
            back: None,
            was_shelved: true,
            highest: ItemState::Read,
        };
        assert_eq!(decode::<StoredItem>("an item", &encode(&item)).unwrap(), item);
        let mut earlier = encode(&StoredItem { state: ItemState::Seen, ..item });
        // There `true` was the last byte.
        *earlier.last_mut().unwrap() = 1;
        let read = decode::<StoredItem>("an item", &earlier).unwrap();
        assert_eq!((read.was_shelved, read.highest), (true, ItemState::Seen));
    }
}
