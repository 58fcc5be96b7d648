//! Reads of accepted events, as a day has them: from their row, or from a copy of it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::engine::rows::draft::Draft;
use crate::engine::rows::event_row::{EVENTS_PER_ROW, EventRow, line_at, row_key};
use crate::journal::record::EventAt;
use crate::journal::stored::{ReadView, Unreadable, from_json, to_json};
use crate::journal::table::{Key, Owner, Partition, REST, Table, u32_at};
use crate::model::time::Day;

/// The key of the copy of an event's row on a later day. Whoever writes it writes the same.
fn copy_key(at: EventAt) -> Vec<u8> {
    Key::of(Owner::Shared, Table::CopiedEvents).day(at.day).u32(at.ordinal).done()
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
    read_line(draft, day, at, |line| from_json("an event", line))
}

/// Reads the line of an event's row.
pub(crate) fn read_line<T>(
    draft: &Draft<'_>,
    day: Day,
    at: EventAt,
    read: impl Fn(&[u8]) -> Result<T, Unreadable>,
) -> Result<T, Unreadable> {
    if at.day != day {
        let copy = draft.get(Partition::Day(day), &copy_key(at))?;
        return read(&copy.ok_or_else(|| missing(day, at.ordinal))?);
    }
    let ordinal = at.ordinal;
    if let Some(line) = draft.fresh_event(day, ordinal) {
        return read(line);
    }
    let first = ordinal - ordinal % EVENTS_PER_ROW;
    let (from, until) = (row_key(first), row_key(ordinal.saturating_add(1)));
    let mut found = None;
    let visit = &mut |key: &[u8], lines: &[u8]| {
        let at = u32_at(key, REST).and_then(|first| ordinal.checked_sub(first));
        match at.and_then(|at| line_at(lines, at)) {
            Some(line) => {
                found = Some(read(line));
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

/// Reads the `data` of events as a day has them, with the bytes of their rows; each row is read once.
///
/// # Errors
/// [`Unreadable`], also where one is not there.
pub(crate) fn read_data(
    view: &dyn ReadView,
    day: Day,
    events: &BTreeSet<EventAt>,
    mut take: impl FnMut(EventAt, Data, usize),
) -> Result<(), Unreadable> {
    for at in events.iter().filter(|at| at.day != day) {
        let copy = view
            .get(Partition::Day(day), &copy_key(*at))?
            .ok_or_else(|| missing(day, at.ordinal))?;
        let row: DataRow = from_json("an event", &copy)?;
        take(*at, row.event.data, copy.len());
    }
    let mut wanted = events.iter().filter(|at| at.day == day).map(|at| at.ordinal).peekable();
    while let Some(first) = wanted.peek().map(|ordinal| ordinal - ordinal % EVENTS_PER_ROW) {
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
                    Ok(row) => {
                        found.insert(*ordinal, (row.event.data, line.len()));
                    }
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
            let (data, bytes) = found.remove(&ordinal).ok_or_else(|| missing(day, ordinal))?;
            take(EventAt { day, ordinal }, data, bytes);
        }
    }
    Ok(())
}

fn missing(day: Day, ordinal: u32) -> Unreadable {
    Unreadable(format!("event {ordinal} of {day} is missing"))
}
