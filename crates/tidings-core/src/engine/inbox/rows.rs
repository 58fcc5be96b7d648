//! The rows of an inbox: groups of its entries, and their keys.
//!
//! A row has the entries of one UTC day with the same type, tenant (or none) and pivot (the object, or the `group` of
//! the type). Read entries are in rows of their own, and so are archived or snoozed ones. All views have the same rows,
//! each those of its tenants.

use std::fmt;

use rustc_hash::FxHashMap;

use super::walk::InboxEntry;
use crate::model::item::{ItemState, Shelf};
use crate::model::number::{EventNo, Seq, TypeNo};
use crate::model::tenant::TenantNo;
use crate::model::time::{Day, Instant};
use crate::rules::names::NumberedNames;

/// The most items of a row that a page lists, the newest ones; the row's count is exact.
pub const ITEMS_LISTED: usize = 25;

/// The kind of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum RowKind {
    /// In the inbox, and not read.
    New,
    /// In the inbox, and read.
    Read,
    Archived,
    Snoozed,
}

impl RowKind {
    const ALL: [(Self, &'static str); 4] = [
        (Self::New, "new"),
        (Self::Read, "read"),
        (Self::Archived, "archived"),
        (Self::Snoozed, "snoozed"),
    ];

    pub(crate) fn of(entry: &InboxEntry) -> Self {
        match (entry.shelf, entry.state) {
            (Shelf::Archived, _) => Self::Archived,
            (Shelf::Snoozed(_), _) => Self::Snoozed,
            (Shelf::Active | Shelf::Deleted, ItemState::Read) => Self::Read,
            (Shelf::Active | Shelf::Deleted, ItemState::New | ItemState::Seen) => Self::New,
        }
    }

    pub(crate) fn is_active(self) -> bool {
        matches!(self, Self::New | Self::Read)
    }

    fn word(self) -> &'static str {
        Self::ALL.iter().find(|(kind, _)| *kind == self).map_or("", |(_, word)| word)
    }
}

/// The identity of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RowId {
    /// Its type, and the hash that identifies its group within the type: [`group_in`].
    pub(crate) group: (TypeNo, u64),
    /// The day that lists it.
    pub(crate) day: Day,
    pub(crate) kind: RowKind,
    /// The event's place, of a row that is one item.
    pub(crate) alone: Option<EventNo>,
}

/// A text that is no key of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RowKeyError;

/// The hash of a group within its type, as one of a tenant has it: it is another group than one of the same pivot that
/// is of another tenant, or of none.
pub(super) fn group_in(group: u64, tenant: Option<TenantNo>) -> u64 {
    let Some(tenant) = tenant else { return group };
    xxhash_rust::xxh3::xxh3_64_with_seed(&group.to_le_bytes(), TenantNo::raw(Some(tenant)).into())
}

impl RowId {
    /// The identity of the row that has an entry.
    pub(crate) fn of(entry: &InboxEntry, day: Day, is_grouped: bool) -> Self {
        let alone = (!is_grouped).then_some(entry.place);
        Self { group: entry.group, day, kind: RowKind::of(entry), alone }
    }

    /// The key of the row: its type, its group, its day and its kind.
    pub(crate) fn key(&self, names: &NumberedNames) -> String {
        InboxRowKey { row: *self, name: names.type_name(self.group.0) }.to_string()
    }

    /// Reads a key.
    pub(crate) fn parse(key: &str, names: &NumberedNames) -> Result<Self, RowKeyError> {
        let mut parts = key.rsplitn(4, ':');
        let mut part = || parts.next().ok_or(RowKeyError);
        let (kind, day, group, name) = (part()?, part()?, part()?, part()?);
        let (kind, _) = RowKind::ALL.iter().find(|(_, word)| *word == kind).ok_or(RowKeyError)?;
        let hex = |text: &str| u64::from_str_radix(text, 16).map_err(|_| RowKeyError);
        let (group, alone) = match group.split_once('.') {
            Some((group, place)) => (hex(group)?, Some(EventNo(hex(place)?))),
            None => (hex(group)?, None),
        };
        let row = Self {
            group: (names.type_no(name).ok_or(RowKeyError)?, group),
            day: Day::parse(day).map_err(|_| RowKeyError)?,
            kind: *kind,
            alone,
        };
        if row.key(names) == key { Ok(row) } else { Err(RowKeyError) }
    }

    /// Returns true if it has an entry that its day lists.
    pub(crate) fn has(&self, entry: &InboxEntry) -> bool {
        let is_one = self.alone.is_none_or(|place| place == entry.place);
        is_one && self.group == entry.group && self.kind == RowKind::of(entry)
    }
}

struct InboxRowKey<'a> {
    row: RowId,
    name: &'a str,
}

impl fmt::Display for InboxRowKey<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RowId { group: (_, group), day, kind, alone } = self.row;
        write!(f, "{}:{group:016x}", self.name)?;
        if let Some(place) = alone {
            write!(f, ".{:x}", place.0)?;
        }
        write!(f, ":{day}:{}", kind.word())
    }
}

/// A row under construction.
pub(crate) struct RowBuilder {
    pub(crate) id: RowId,
    /// The newest position of its entries: its place in the order.
    pub(crate) order: Seq,
    pub(crate) count: usize,
    /// The lowest state of its entries.
    pub(crate) state: ItemState,
    /// The earliest end of its snoozes.
    pub(crate) snoozed_until: Option<Instant>,
    /// The newest of its entries, newest first.
    pub(crate) listed: Vec<InboxEntry>,
    /// A hash of all its entries and their states.
    pub(crate) fingerprint: u64,
}

/// The rows of the entries that a day lists, newest first.
pub(crate) fn rows_of(entries: &mut [InboxEntry], day: Day, is_grouped: bool) -> Vec<RowBuilder> {
    entries.sort_unstable_by_key(|entry| std::cmp::Reverse((entry.order, entry.place)));
    let mut rows: Vec<RowBuilder> = Vec::new();
    let mut known: FxHashMap<RowId, usize> = FxHashMap::default();
    for entry in entries {
        let id = RowId::of(entry, day, is_grouped);
        let at = *known.entry(id).or_insert_with(|| {
            rows.push(RowBuilder {
                id,
                order: entry.order,
                count: 0,
                state: ItemState::Read,
                snoozed_until: None,
                listed: Vec::new(),
                fingerprint: 0,
            });
            rows.len() - 1
        });
        let row = &mut rows[at];
        row.count += 1;
        row.state = row.state.min(entry.state);
        row.fingerprint = mixed(row.fingerprint, entry);
        if let Shelf::Snoozed(until) = entry.shelf {
            row.snoozed_until = row.snoozed_until.into_iter().chain([until]).min();
        }
        if row.listed.len() < ITEMS_LISTED {
            row.listed.push(*entry);
        }
    }
    rows
}

fn mixed(before: u64, entry: &InboxEntry) -> u64 {
    let mut bytes = [0; 17];
    bytes[..8].copy_from_slice(&before.to_le_bytes());
    bytes[8..16].copy_from_slice(&entry.order.0.to_le_bytes());
    bytes[16] = entry.state as u8;
    xxhash_rust::xxh3::xxh3_64(&bytes)
}
