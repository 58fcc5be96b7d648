//! Rows of accepted events: several events share a row.
//!
//! Events of one step that follow each other share a row, as lines of JSON: for a store that merges
//! sorted tables, rows cost more than bytes. No row reaches over a multiple of [`EVENTS_PER_ROW`], so
//! that a reader finds the row of an ordinal without knowing which events came together.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{ControlFlow, RangeInclusive};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::draft::Draft;
use super::intake::{from_json, to_json};
use crate::batch_key::BatchKeys;
use crate::event::Event;
use crate::journal::record::EventAt;
use crate::journal::stored::{ReadView, Unreadable};
use crate::table::{Key, Owner, Partition, REST, Table, u32_at};
use crate::time::{Day, Instant};

/// The most events of a row.
const EVENTS_PER_ROW: u32 = 16;

/// The number of bytes at which a row is full.
const ROW_BYTES: usize = 64 << 10;

/// An event as it is stored.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct EventRow {
    pub(crate) place: u64,
    /// The time of acceptance.
    pub(crate) arrived: Instant,
    /// Its batch keys, asked once.
    #[serde(default, skip_serializing_if = "BatchKeys::is_empty")]
    pub(crate) keys: BatchKeys,
    pub(crate) event: Event,
}

/// The rows that a step writes.
#[derive(Debug, Default)]
pub(crate) struct FreshEvents(Vec<Fresh>);

#[derive(Debug)]
struct Fresh {
    day: Day,
    ordinals: RangeInclusive<u32>,
    lines: Vec<u8>,
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
            _ => self.0.push(Fresh {
                day,
                ordinals: ordinal..=ordinal,
                lines: line,
            }),
        }
    }

    fn line(&self, day: Day, ordinal: u32) -> Option<&[u8]> {
        let holds = |row: &&Fresh| row.day == day && row.ordinals.contains(&ordinal);
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
        let rows = self.0.into_iter();
        rows.map(|row| (row.day, row_key(*row.ordinals.start()), row.lines))
    }
}

impl Fresh {
    fn takes(&self, day: Day, ordinal: u32) -> bool {
        self.day == day
            && self.ordinals.end() + 1 == ordinal
            && !ordinal.is_multiple_of(EVENTS_PER_ROW)
            && self.lines.len() < ROW_BYTES
    }
}

fn row_key(first: u32) -> Vec<u8> {
    Key::of(Owner::Intake, Table::Events).u32(first).done()
}

/// The line of an event in a row. (JSON has line breaks only between tokens, and the core writes none.)
fn line_at(lines: &[u8], at: u32) -> Option<&[u8]> {
    lines.split(|byte| *byte == b'\n').nth(at as usize)
}

/// The key of the copy of an event's row on a later day. Whoever writes it writes the same.
fn copy_key(at: EventAt) -> Vec<u8> {
    Key::of(Owner::Shared, Table::CopiedEvents)
        .day(at.day)
        .u32(at.ordinal)
        .done()
}

/// Copies an event's row to a later day, to which entries of it move.
pub(crate) fn copy(draft: &mut Draft<'_>, day: Day, at: EventAt, row: &EventRow) {
    draft.put(Partition::Day(day), copy_key(at), to_json(row));
}

/// Reads an event's row as a day has it.
///
/// # Errors
/// [`Unreadable`], also where it is not there.
pub(crate) fn read(draft: &Draft<'_>, day: Day, at: EventAt) -> Result<EventRow, Unreadable> {
    if at.day != day {
        let copy = draft.get(Partition::Day(day), &copy_key(at))?;
        let copy = copy.ok_or_else(|| missing(day, at.ordinal))?;
        return from_json("an event", &copy);
    }
    let ordinal = at.ordinal;
    if let Some(line) = draft.events.line(day, ordinal) {
        return from_json("an event", line);
    }
    let first = ordinal - ordinal % EVENTS_PER_ROW;
    let (from, until) = (row_key(first), row_key(ordinal.saturating_add(1)));
    let mut found = None;
    let visit = &mut |key: &[u8], lines: &[u8]| {
        let at = u32_at(key, REST).and_then(|first| ordinal.checked_sub(first));
        match at.and_then(|at| line_at(lines, at)) {
            Some(line) => {
                found = Some(from_json("an event", line));
                ControlFlow::Break(())
            }
            None => ControlFlow::Continue(()),
        }
    };
    let partition = Partition::Day(day);
    draft.view.scan(partition, &from, Some(&until), visit)?;
    found.unwrap_or_else(|| Err(missing(day, ordinal)))
}

/// The `data` of an event.
pub(crate) type Data = Option<Map<String, Value>>;

/// The `data` of a stored event; an audience of thousands is skipped unread.
#[derive(Deserialize)]
struct DataRow {
    event: DataOf,
}

#[derive(Deserialize)]
struct DataOf {
    #[serde(default)]
    data: Data,
}

/// Reads the `data` of events as a day has them; each row is read once.
///
/// # Errors
/// [`Unreadable`], also where one is not there.
pub(crate) fn read_data(
    view: &dyn ReadView,
    day: Day,
    events: &BTreeSet<EventAt>,
    mut take: impl FnMut(EventAt, Data),
) -> Result<(), Unreadable> {
    for at in events.iter().filter(|at| at.day != day) {
        let copy = view.get(Partition::Day(day), &copy_key(*at))?;
        let copy = copy.ok_or_else(|| missing(day, at.ordinal))?;
        let row: DataRow = from_json("an event", &copy)?;
        take(*at, row.event.data);
    }
    let of_day = events.iter().filter(|at| at.day == day);
    let mut wanted = of_day.map(|at| at.ordinal).peekable();
    while let Some(first) = wanted
        .peek()
        .map(|ordinal| ordinal - ordinal % EVENTS_PER_ROW)
    {
        let mut block = Vec::new();
        while let Some(ordinal) = wanted.next_if(|ordinal| ordinal - first < EVENTS_PER_ROW) {
            block.push(ordinal);
        }
        let last = block.last().copied().unwrap_or(first);
        let (from, until) = (row_key(first), row_key(last.saturating_add(1)));
        let mut found = BTreeMap::new();
        let mut fault = None;
        let visit = &mut |key: &[u8], lines: &[u8]| {
            let begins = u32_at(key, REST).unwrap_or(u32::MAX);
            for ordinal in block.iter().filter(|ordinal| **ordinal >= begins) {
                let Some(line) = line_at(lines, ordinal - begins) else {
                    break;
                };
                match from_json::<DataRow>("an event", line) {
                    Ok(row) => drop(found.insert(*ordinal, row.event.data)),
                    Err(unreadable) => fault = Some(unreadable),
                }
            }
            ControlFlow::Continue(())
        };
        view.scan(Partition::Day(day), &from, Some(&until), visit)?;
        if let Some(fault) = fault {
            return Err(fault);
        }
        for ordinal in block {
            let data = found
                .remove(&ordinal)
                .ok_or_else(|| missing(day, ordinal))?;
            take(EventAt { day, ordinal }, data);
        }
    }
    Ok(())
}

fn missing(day: Day, ordinal: u32) -> Unreadable {
    Unreadable(format!("event {ordinal} of {day} is missing"))
}
