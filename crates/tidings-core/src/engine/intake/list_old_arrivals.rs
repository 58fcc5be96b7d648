//! The events of days before lists: a store of an earlier version gets the rows of the list and of its index once.
//!
//! First a slice lists some events of a day, by id; then slices index what is listed, newest first. A row of the day
//! remembers how far that is, so a restart goes on where it was.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use super::old_arrivals::{OldDay, progress_key};
use super::state::Intake;
use crate::engine::rows::arrived::{
    ArrivedEvent, ArrivedRow, INDEXED_TOGETHER, IndexedRange, ValueHash, arrived_key, arrived_row,
    each_arrived, index_rows, indexed_ranges, ranges_key,
};
use crate::engine::rows::draft::Draft;
use crate::engine::rows::event_row::EventRow;
use crate::engine::rows::named::EventLocation;
use crate::journal::stored::{ReadView, Unreadable, decode, encode};
use crate::journal::table::{Key, Owner, Partition, REST, Table, Write, after_prefix};
use crate::model::id::Id;
use crate::model::number::EventNo;
use crate::model::time::Day;

/// The most events that a slice lists.
const LISTED_MAX: usize = 512;

/// A slice of the chore: it lists or indexes some events of an old day.
pub(crate) struct OldArrivalsSlice<'a, 'd> {
    intake: &'a mut Intake,
    draft: Draft<'d>,
    day: Day,
}

impl<'a, 'd> OldArrivalsSlice<'a, 'd> {
    /// Runs a slice and returns its writes; `None` = all are indexed.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub(crate) fn run(
        intake: &'a mut Intake,
        view: &'d dyn ReadView,
    ) -> Result<Option<Vec<Write>>, Unreadable> {
        let Some((day, progress)) = intake.old_arrivals.0.pop_last() else {
            return Ok(None);
        };
        let mut slice = Self { intake, draft: Draft::new(view), day };
        let next = match progress {
            OldDay::Listing(from) => slice.list(&from)?,
            OldDay::Indexing | OldDay::Done => slice.index()?,
        };
        slice.draft.put(Partition::Day(day), progress_key(), encode(&next));
        if next != OldDay::Done {
            slice.intake.old_arrivals.0.insert(day, next);
        }
        Ok(Some(slice.draft.done()))
    }

    /// Lists events from the key of an id on.
    fn list(&mut self, from: &[u8]) -> Result<OldDay, Unreadable> {
        let (view, day) = (self.draft.view, self.day);
        let partition = Partition::Day(day);
        let until = after_prefix(&Key::of(Owner::Intake, Table::Ids).done());
        let (mut found, mut last) = (Vec::new(), None);
        view.scan(partition, from, until.as_deref(), &mut |key, value| {
            if found.len() == LISTED_MAX {
                last = Some(key.to_vec());
                return ControlFlow::Break(());
            }
            found.push((key.to_vec(), value.to_vec()));
            ControlFlow::Continue(())
        })?;
        for (key, value) in found {
            let odd = || Unreadable("the key of an event's id is odd".to_owned());
            let id = std::str::from_utf8(&key[REST..]).ok().and_then(|id| Id::new(id).ok());
            let id = id.ok_or_else(odd)?;
            let EventLocation { place, .. } = decode("an event's place", &value)?;
            let is_listed =
                arrived_row(view, day, place)?.is_some_and(|row| row.get(place).is_some());
            if !is_listed && let Some(row) = self.row_at(&id, place)? {
                let event = ArrivedEvent::of(&row.event, row.tenant);
                let row = ArrivedRow { first: place, at: row.arrived, events: vec![event] };
                self.draft.put(partition, arrived_key(place), row.bytes());
            }
        }
        Ok(last.map_or(OldDay::Indexing, OldDay::Listing))
    }

    /// The row of the event with an id at a place; `None` = the id is another event's by now.
    fn row_at(&self, id: &Id, place: EventNo) -> Result<Option<EventRow>, Unreadable> {
        let intake = &*self.intake;
        let mut located = intake.located_event(&self.draft, id)?;
        located.retain(|(_, located)| located.place == place);
        let waits = located.iter().find_map(|(_, located)| {
            let t = located.scheduled?;
            intake.scheduled.contains_key(&(t, place)).then_some(t)
        });
        intake.row_of(&self.draft, &located, waits)
    }

    /// Indexes the newest events that are listed and not indexed.
    fn index(&mut self) -> Result<OldDay, Unreadable> {
        let (view, day) = (self.draft.view, self.day);
        let partition = Partition::Day(day);
        let mut ranges = indexed_ranges(view, day)?;
        // What arrived since the start is indexed by those who gather it.
        let mut until = self.intake.arrivals.gathered_from(day).unwrap_or(EventNo(u64::MAX));
        for at in (0..=ranges.len()).rev() {
            let from = at.checked_sub(1).map_or(EventNo(0), |before| ranges[before].end());
            if let Some(Unindexed { first, hashes }) = newest_between(view, day, from, until)? {
                let count = u32::try_from(hashes.len()).unwrap_or(u32::MAX);
                for (key, row) in index_rows(first, &hashes) {
                    self.draft.put(partition, key, row);
                }
                ranges.insert(at, IndexedRange { first, count });
                self.draft.put(partition, ranges_key(), encode(&ranges));
                self.intake.arrivals.know_ranges(day, ranges);
                return Ok(OldDay::Indexing);
            }
            until = at.checked_sub(1).map_or(EventNo(0), |before| ranges[before].first);
        }
        Ok(OldDay::Done)
    }
}

/// Listed events that are to be indexed together.
struct Unindexed {
    /// The place of the first.
    first: EventNo,
    /// The hashes of their values, place by place; those of places without an event are empty.
    hashes: Vec<Vec<ValueHash>>,
}

/// The newest listed events between two places.
fn newest_between(
    view: &dyn ReadView,
    day: Day,
    from: EventNo,
    until: EventNo,
) -> Result<Option<Unindexed>, Unreadable> {
    let mut found: BTreeMap<u64, Vec<ValueHash>> = BTreeMap::new();
    let Some(last) = until.0.checked_sub(1).filter(|last| *last >= from.0) else {
        return Ok(None);
    };
    each_arrived(view, day, EventNo(last), |row| {
        for place in (row.first.0..row.end().0).rev() {
            let newest = found.last_key_value().map_or(place, |(newest, _)| *newest);
            let is_near = newest.saturating_sub(place) < INDEXED_TOGETHER as u64;
            if place < from.0 || !is_near {
                return Ok(ControlFlow::Break(()));
            }
            if place <= last
                && let Some(event) = row.get(EventNo(place))
            {
                found.insert(place, event.hashes().collect());
            }
        }
        Ok(ControlFlow::Continue(()))
    })?;
    let bounds = found.first_key_value().zip(found.last_key_value());
    let Some((first, last)) = bounds.map(|((first, _), (last, _))| (*first, *last)) else {
        return Ok(None);
    };
    let hashes = (first..=last).map(|place| found.remove(&place).unwrap_or_default());
    Ok(Some(Unindexed { first: EventNo(first), hashes: hashes.collect() }))
}
