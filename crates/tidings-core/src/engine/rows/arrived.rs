//! The accepted events in the order of their places, as lists show them, and the index by which lists find few among
//! many.
//!
//! A row has the events of a step. Rows of [`Table::Events`] are found by the day on which an event enters its lanes; a
//! list needs the day of its arrival. The index has parts: the part of a value is a function of its hash, so a look
//! for a value reads one row for each [`INDEXED_TOGETHER`] events.

use std::ops::ControlFlow;

use roaring::RoaringBitmap;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::codec::{ByteReader, FORM, put_i64, put_u64};
use crate::journal::stored::{ReadView, Unreadable, decode, encode};
use crate::journal::table::{Key, Owner, Partition, REST, Table, after_prefix, u64_at};
use crate::model::event::Event;
use crate::model::id::Id;
use crate::model::number::{EventNo, TenantNo};
use crate::model::time::{Day, Instant};

/// The most events of a row.
pub(crate) const ARRIVED_PER_ROW: usize = 256;

/// The number of events that are indexed together.
pub(crate) const INDEXED_TOGETHER: usize = 4_096;

/// Number of parts of the index, a power of 2.
const PARTS: u64 = 64;

/// The bits of a hash that a row of the index has.
const HASH_BITS: u32 = 40;

/// An accepted event, as lists show it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ArrivedEvent {
    pub(crate) id: Id,
    pub(crate) event_type: Id,
    pub(crate) actor: Option<Id>,
    pub(crate) object: Id,
    pub(crate) target: Option<Id>,
    pub(crate) tenant: Option<TenantNo>,
}

/// A field of events that is indexed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IndexedField {
    Type,
    Actor,
    Object,
    Target,
    Tenant,
}

/// The hash of a value of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ValueHash(u64);

/// Events that one step has accepted, or a part of them.
#[derive(Clone, Debug)]
pub(crate) struct ArrivedRow {
    /// The place of the first.
    pub(crate) first: EventNo,
    /// The instant of their arrival.
    pub(crate) at: Instant,
    pub(crate) events: Vec<ArrivedEvent>,
}

/// Events that are indexed together: their first place, and their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct IndexedRange {
    pub(crate) first: EventNo,
    pub(crate) count: u32,
}

impl IndexedRange {
    /// The place after the last.
    pub(crate) fn end(self) -> EventNo {
        EventNo(self.first.0.saturating_add(u64::from(self.count)))
    }
}

impl ArrivedEvent {
    pub(crate) fn of(event: &Event, tenant: Option<TenantNo>) -> Self {
        Self {
            id: event.id.clone(),
            event_type: event.event_type.clone(),
            actor: event.actor.as_ref().map(|actor| actor.id.clone()),
            object: event.object.id.clone(),
            target: event.target.as_ref().map(|target| target.id.clone()),
            tenant,
        }
    }

    /// The hashes of its values.
    pub(crate) fn hashes(&self) -> impl Iterator<Item = ValueHash> {
        let of = |field, value: Option<&Id>| {
            value.map(|value| ValueHash::of(field, value.as_str().as_bytes()))
        };
        [
            of(IndexedField::Type, Some(&self.event_type)),
            of(IndexedField::Actor, self.actor.as_ref()),
            of(IndexedField::Object, Some(&self.object)),
            of(IndexedField::Target, self.target.as_ref()),
            self.tenant.map(ValueHash::of_tenant),
        ]
        .into_iter()
        .flatten()
    }
}

impl ValueHash {
    pub(crate) fn of(field: IndexedField, value: &[u8]) -> Self {
        Self(xxh3_64_with_seed(value, field as u64))
    }

    pub(crate) fn of_tenant(tenant: TenantNo) -> Self {
        Self::of(IndexedField::Tenant, &tenant.0.get().to_le_bytes())
    }

    fn part(self) -> u8 {
        u8::try_from(self.0 % PARTS).unwrap_or_default()
    }

    /// The bits that the rows of its part have.
    fn bits(self) -> u64 {
        self.0 >> (64 - HASH_BITS)
    }
}

impl ArrivedRow {
    /// The place after the last.
    pub(crate) fn end(&self) -> EventNo {
        EventNo(self.first.0.saturating_add(self.events.len() as u64))
    }

    /// The event at a place.
    pub(crate) fn get(&self, place: EventNo) -> Option<&ArrivedEvent> {
        let index = usize::try_from(place.0.checked_sub(self.first.0)?).ok()?;
        self.events.get(index)
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes = vec![FORM];
        put_i64(&mut bytes, self.at.0);
        bytes.extend(encode(&self.events));
        bytes
    }

    fn read(key: &[u8], value: &[u8]) -> Result<Self, Unreadable> {
        let odd = || Unreadable("a row of accepted events is odd".to_owned());
        let first = u64_at(key, REST).ok_or_else(odd)?;
        let mut reader = ByteReader::new(value, "row of accepted events");
        if reader.byte()? != FORM {
            return Err(odd());
        }
        let at = Instant(reader.i64()?);
        let events = decode("accepted events", reader.rest())?;
        Ok(Self { first: EventNo(u64::MAX - first), at, events })
    }
}

/// The key of a row: a scan meets the newest first.
pub(crate) fn arrived_key(first: EventNo) -> Vec<u8> {
    Key::of(Owner::Intake, Table::Arrived).u64(u64::MAX - first.0).done()
}

fn index_key(part: u8, first: EventNo) -> Vec<u8> {
    Key::of(Owner::Intake, Table::ArrivedIndex).bytes(&[part]).u64(u64::MAX - first.0).done()
}

/// The key of the list of a day's indexed ranges: it is above all parts.
pub(crate) fn ranges_key() -> Vec<u8> {
    Key::of(Owner::Intake, Table::ArrivedIndex).bytes(&[u8::MAX]).done()
}

/// Visits the rows of a day that begin at a place or before it, newest first.
pub(crate) fn each_arrived(
    view: &dyn ReadView,
    day: Day,
    from: EventNo,
    mut visit: impl FnMut(ArrivedRow) -> Result<ControlFlow<()>, Unreadable>,
) -> Result<(), Unreadable> {
    let until = after_prefix(&Key::of(Owner::Intake, Table::Arrived).done());
    let mut fault = Ok(());
    let start = arrived_key(from);
    view.scan(Partition::Day(day), &start, until.as_deref(), &mut |key, value| {
        match ArrivedRow::read(key, value).and_then(&mut visit) {
            Ok(goes_on) => goes_on,
            Err(unreadable) => {
                fault = Err(unreadable);
                ControlFlow::Break(())
            }
        }
    })?;
    fault
}

/// The row of a day that begins at a place, or last before it.
pub(crate) fn arrived_row(
    view: &dyn ReadView,
    day: Day,
    place: EventNo,
) -> Result<Option<ArrivedRow>, Unreadable> {
    let mut found = None;
    each_arrived(view, day, place, |row| {
        found = Some(row);
        Ok(ControlFlow::Break(()))
    })?;
    Ok(found)
}

/// The ranges of a day that are indexed, ascending.
pub(crate) fn indexed_ranges(
    view: &dyn ReadView,
    day: Day,
) -> Result<Vec<IndexedRange>, Unreadable> {
    let bytes = view.get(Partition::Day(day), &ranges_key())?;
    bytes.map_or_else(|| Ok(Vec::new()), |bytes| decode("the ranges of indexed events", &bytes))
}

/// The rows of the index of events: for each, the hashes of its values.
pub(crate) fn index_rows(
    first: EventNo,
    events: &[Vec<ValueHash>],
) -> impl Iterator<Item = (Vec<u8>, Vec<u8>)> {
    let mut parts: Vec<Vec<(u64, u32)>> = vec![Vec::new(); usize::try_from(PARTS).unwrap_or(0)];
    for (ordinal, hashes) in (0..).zip(events) {
        for hash in hashes {
            parts[usize::from(hash.part())].push((hash.bits(), ordinal));
        }
    }
    let parts = (0..).zip(parts).filter(|(_, entries)| !entries.is_empty());
    parts.map(move |(part, mut entries)| {
        entries.sort_unstable();
        entries.dedup();
        let mut bytes = vec![FORM];
        let mut before = 0;
        for of_value in entries.chunk_by(|a, b| a.0 == b.0) {
            put_u64(&mut bytes, of_value[0].0 - before);
            before = of_value[0].0;
            put_u64(&mut bytes, of_value.len() as u64);
            let mut last = 0;
            for (_, ordinal) in of_value {
                put_u64(&mut bytes, u64::from(ordinal - last));
                last = *ordinal;
            }
        }
        (index_key(part, first), bytes)
    })
}

/// The ordinals within ranges of the events that may have a value, in the order of the ranges.
pub(crate) fn indexed(
    view: &dyn ReadView,
    day: Day,
    hash: ValueHash,
    ranges: &[IndexedRange],
) -> Result<Vec<RoaringBitmap>, Unreadable> {
    let keys: Vec<Vec<u8>> =
        ranges.iter().map(|range| index_key(hash.part(), range.first)).collect();
    let rows = view.get_many(Partition::Day(day), &keys)?;
    rows.into_iter()
        .map(|row| row.map_or_else(|| Ok(RoaringBitmap::new()), |row| ordinals(&row, hash)))
        .collect()
}

/// The ordinals of a value in a row of the index.
fn ordinals(row: &[u8], hash: ValueHash) -> Result<RoaringBitmap, Unreadable> {
    let mut reader = ByteReader::new(row, "index of events");
    if reader.byte()? != FORM {
        return Err(reader.corrupt().into());
    }
    let mut bits = 0_u64;
    while !reader.is_empty() {
        bits = bits.saturating_add(reader.u64()?);
        let count = reader.count()?;
        let (mut all, mut last) = (RoaringBitmap::new(), 0_u32);
        for _ in 0..count {
            last = last.saturating_add(reader.u32()?);
            if bits == hash.bits() {
                all.insert(last);
            }
        }
        if bits >= hash.bits() {
            return Ok(all);
        }
    }
    Ok(RoaringBitmap::new())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_found_in_the_row_of_its_part_and_no_other() {
        let hash = |field, number: u32| ValueHash::of(field, &number.to_be_bytes());
        let events: Vec<Vec<ValueHash>> = (0..3_000)
            .map(|number| {
                vec![
                    hash(IndexedField::Type, number % 3),
                    hash(IndexedField::Object, number),
                    hash(IndexedField::Actor, number % 100),
                ]
            })
            .collect();
        let rows: Vec<_> = index_rows(EventNo(70), &events).collect();
        let find = |hash: ValueHash| {
            let key = index_key(hash.part(), EventNo(70));
            let row = rows.iter().find(|(of, _)| *of == key);
            row.map_or_else(RoaringBitmap::new, |(_, row)| ordinals(row, hash).unwrap())
        };
        for number in 0..100 {
            let of_actor = find(hash(IndexedField::Actor, number));
            assert!((0..30).all(|at| of_actor.contains(number + 100 * at)));
            assert!(of_actor.len() < 32, "{of_actor:?}");
            assert!(find(hash(IndexedField::Object, number * 29)).contains(number * 29));
        }
        assert_eq!(find(hash(IndexedField::Type, 2)).len(), 1_000);
        assert!(find(hash(IndexedField::Target, 2)).is_empty());
    }
}
