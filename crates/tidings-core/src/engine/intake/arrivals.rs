//! The writer of the list of accepted events and of its index.
//!
//! Each step writes the events that it accepts. The hashes of their values gather in memory until enough are indexed
//! together, or their day is over; after a restart they are read again, at the next event.

use std::ops::ControlFlow;

use crate::engine::rows::arrived::{
    ARRIVED_PER_ROW, ArrivedEvent, ArrivedRow, INDEXED_TOGETHER, IndexedRange, ValueHash,
    arrived_key, each_arrived, index_rows, indexed_ranges, ranges_key,
};
use crate::engine::rows::draft::Draft;
use crate::engine::rows::event_row::EventRow;
use crate::journal::stored::{Unreadable, encode};
use crate::journal::table::Partition;
use crate::model::number::EventNo;
use crate::model::time::{Day, Instant};

/// The accepted events that are not written or not indexed yet.
#[derive(Debug, Default)]
pub(crate) struct Arrivals {
    /// The events of the step.
    fresh: Option<ArrivedRow>,
    /// The day of the events that are not indexed.
    day: Day,
    /// The place of the first of them.
    first: EventNo,
    /// The hashes of their values.
    hashes: Vec<Vec<ValueHash>>,
    /// The ranges of the day that are indexed.
    ranges: Vec<IndexedRange>,
}

impl Arrivals {
    /// Adds an event that arrives today.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub(crate) fn add(&mut self, draft: &mut Draft<'_>, row: &EventRow) -> Result<(), Unreadable> {
        let (day, place) = (row.arrived.day(), row.place);
        if self.next() != place {
            self.read_again(draft, day, place)?;
        }
        if self.day != day {
            self.index(draft);
            *self = Self { fresh: self.fresh.take(), day, first: place, ..Self::default() };
        }
        let event = ArrivedEvent::of(&row.event, row.tenant);
        self.hashes.push(event.hashes().collect());
        match &mut self.fresh {
            Some(fresh) if fresh.events.len() < ARRIVED_PER_ROW => fresh.events.push(event),
            _ => {
                self.write(draft);
                let at: Instant = row.arrived;
                self.fresh = Some(ArrivedRow { first: place, at, events: vec![event] });
            }
        }
        if self.hashes.len() >= INDEXED_TOGETHER {
            self.index(draft);
        }
        Ok(())
    }

    /// Writes the events of the step that are not written yet.
    pub(crate) fn write(&mut self, draft: &mut Draft<'_>) {
        if let Some(row) = self.fresh.take() {
            draft.put(Partition::Day(row.at.day()), arrived_key(row.first), row.bytes());
        }
    }

    /// Forgets a day that is deleted.
    pub(crate) fn forget(&mut self, day: Day) {
        if self.day == day {
            *self = Self::default();
        }
    }

    /// The place of the first event of a day that is gathered here, to be indexed; `None` = none is.
    pub(super) fn gathered_from(&self, day: Day) -> Option<EventNo> {
        (self.day == day && !self.hashes.is_empty()).then_some(self.first)
    }

    /// Takes over the ranges of a day that are indexed, if events of that day are gathered here.
    pub(super) fn know_ranges(&mut self, day: Day, ranges: Vec<IndexedRange>) {
        if self.day == day {
            self.ranges = ranges;
        }
    }

    /// The place after the last that is known.
    fn next(&self) -> EventNo {
        EventNo(self.first.0.saturating_add(self.hashes.len() as u64))
    }

    /// Indexes what is not indexed.
    fn index(&mut self, draft: &mut Draft<'_>) {
        let Ok(count @ 1..) = u32::try_from(self.hashes.len()) else {
            return;
        };
        let partition = Partition::Day(self.day);
        for (key, row) in index_rows(self.first, &self.hashes) {
            draft.put(partition, key, row);
        }
        let range = IndexedRange { first: self.first, count };
        self.ranges.push(range);
        draft.put(partition, ranges_key(), encode(&self.ranges));
        self.first = range.end();
        self.hashes.clear();
    }

    /// Reads what the newest day that is stored has not indexed, up to a place.
    fn read_again(
        &mut self,
        draft: &Draft<'_>,
        today: Day,
        place: EventNo,
    ) -> Result<(), Unreadable> {
        *self = Self { day: today, first: place, ..Self::default() };
        self.ranges = indexed_ranges(draft.view, today)?;
        let end = self.ranges.last().map_or(EventNo(0), |range| range.end());
        let mut rows: Vec<ArrivedRow> = Vec::new();
        each_arrived(draft.view, today, EventNo(place.0.saturating_sub(1)), |row| {
            let is_indexed = row.end() <= end;
            // A gap: events of a version before this list.
            let is_next = rows.last().map_or(place, |row| row.first) == row.end();
            if is_indexed || !is_next {
                return Ok(ControlFlow::Break(()));
            }
            rows.push(row);
            Ok(ControlFlow::Continue(()))
        })?;
        for row in rows.iter().rev() {
            let skipped = usize::try_from(end.0.saturating_sub(row.first.0)).unwrap_or(0);
            self.hashes.extend(row.events.iter().skip(skipped).map(|of| of.hashes().collect()));
        }
        self.first = EventNo(place.0.saturating_sub(self.hashes.len() as u64));
        Ok(())
    }
}
