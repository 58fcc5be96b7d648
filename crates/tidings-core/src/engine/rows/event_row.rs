//! Rows of accepted events: several events share a row.
//!
//! Consecutive events of one step share a row, as lines of JSON: for a store that merges sorted tables, rows cost more
//! than bytes. No row crosses a multiple of [`EVENTS_PER_ROW`], so that a reader finds the row of an ordinal without
//! knowing the steps.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use crate::journal::stored::to_json;
use crate::journal::table::{Key, Owner, Table};
use crate::model::batch_key::BatchKeys;
use crate::model::channel::ChannelNo;
use crate::model::event::Event;
use crate::model::number::EventNo;
use crate::model::tenant::TenantNo;
use crate::model::time::{Day, Instant};
use crate::rules::calendar::anywhere;

/// The most events of a row.
pub(crate) const EVENTS_PER_ROW: u32 = 16;

/// The number of bytes at which a row is full.
const ROW_BYTES: usize = 64 << 10;

/// An event as it is stored.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct EventRow {
    pub(crate) place: EventNo,
    /// The instant of acceptance, whose day has it.
    pub(crate) arrived: Instant,
    /// The clock's time then, where it had been put back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) clock: Option<Instant>,
    /// Its batch keys, evaluated once.
    #[serde(default, skip_serializing_if = "BatchKeys::is_empty")]
    pub(crate) keys: BatchKeys,
    /// The delays of its entries by `after`, for the channels that have one, decided once.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) after_ms: BTreeMap<ChannelNo, i64>,
    /// The number of its tenant, given when it was accepted; `None` = of none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tenant: Option<TenantNo>,
    pub(crate) event: Event,
}

/// The row of a scheduled event under an instant at which it enters lanes.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum ScheduledRow {
    /// The event, under the last of its instants.
    Event(Box<EventRow>),
    /// The last of its instants.
    Until(Instant),
}

/// The rows that a step writes.
#[derive(Debug, Default)]
pub(crate) struct FreshEvents(Vec<FreshDayRows>);

#[derive(Debug)]
struct FreshDayRows {
    day: Day,
    ordinals: RangeInclusive<u32>,
    lines: Vec<u8>,
}

impl EventRow {
    /// The time of acceptance by the clock.
    pub(crate) fn came_at(&self) -> Instant {
        self.clock.unwrap_or(self.arrived)
    }

    /// The instants at which its event enters lanes: ascending, none before its arrival. There are several where
    /// recipients' clocks differ, or where channels come later.
    pub(crate) fn enters(&self) -> BTreeSet<Instant> {
        let first = self.enters_first();
        self.after_ms
            .values()
            .flat_map(|ms| first.iter().map(|t| t.plus_ms(*ms)))
            .chain(first.iter().copied())
            .collect()
    }

    /// The instants of the channels without a delay: one, unless recipients' clocks differ.
    pub(crate) fn enters_first(&self) -> BTreeSet<Instant> {
        let instants = match (self.event.deliver_local, self.event.delay_ms) {
            (Some(time), _) => anywhere(time),
            (None, Some(delay_ms)) => BTreeSet::from([self.came_at().plus_ms(delay_ms)]),
            (None, None) => BTreeSet::from([self.event.deliver_at.unwrap_or(self.came_at())]),
        };
        instants.into_iter().map(|t| t.max(self.came_at())).collect()
    }

    /// The time by which its entries on a channel come later.
    pub(crate) fn after_ms(&self, channel: ChannelNo) -> i64 {
        self.after_ms.get(&channel).copied().unwrap_or(0)
    }
}

impl FreshEvents {
    /// Adds the event with the next ordinal of a day.
    pub(crate) fn add(&mut self, day: Day, ordinal: u32, row: &EventRow) {
        let line = to_json(row);
        match self.0.last_mut() {
            Some(last) if last.takes(day, ordinal) => {
                last.ordinals = *last.ordinals.start()..=ordinal;
                last.lines.push(b'\n');
                last.lines.extend_from_slice(&line);
            }
            _ => self.0.push(FreshDayRows { day, ordinals: ordinal..=ordinal, lines: line }),
        }
    }

    pub(crate) fn line(&self, day: Day, ordinal: u32) -> Option<&[u8]> {
        let holds = |row: &&FreshDayRows| row.day == day && row.ordinals.contains(&ordinal);
        let row = self.0.iter().rev().find(holds)?;
        line_at(&row.lines, ordinal - row.ordinals.start())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn forget(&mut self, day: Day) {
        self.0.retain(|row| row.day != day);
    }

    /// The rows, each with its day and its key.
    pub(crate) fn rows(self) -> impl Iterator<Item = (Day, Vec<u8>, Vec<u8>)> {
        self.0.into_iter().map(|row| (row.day, row_key(*row.ordinals.start()), row.lines))
    }
}

impl FreshDayRows {
    fn takes(&self, day: Day, ordinal: u32) -> bool {
        self.day == day
            && self.ordinals.end() + 1 == ordinal
            && !ordinal.is_multiple_of(EVENTS_PER_ROW)
            && self.lines.len() < ROW_BYTES
    }
}

pub(crate) fn row_key(first: u32) -> Vec<u8> {
    Key::of(Owner::Intake, Table::Events).u32(first).done()
}

/// The line of an event in a row. (JSON has line breaks only between tokens, and the core writes none.)
pub(crate) fn line_at(lines: &[u8], ordinal: u32) -> Option<&[u8]> {
    lines.split(|byte| *byte == b'\n').nth(ordinal as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::channel::EMAIL_NO;
    use crate::model::event::{Audience, Object};
    use crate::model::id::Id;

    #[test]
    fn channels_come_later_than_what_is_not_before_the_arrival() {
        let id = |text| Id::new(text).unwrap();
        let mut event = Event::new(id("e"), id("told"), Object::bare(id("o")), Audience::default());
        event.deliver_at = Some(Instant(5));
        let row = EventRow {
            place: EventNo(1),
            arrived: Instant(10),
            clock: None,
            keys: BatchKeys::default(),
            tenant: None,
            after_ms: [(EMAIL_NO, 30)].into(),
            event,
        };
        assert_eq!(row.enters_first(), [Instant(10)].into());
        assert_eq!(row.enters(), [Instant(10), Instant(40)].into());
    }
}
