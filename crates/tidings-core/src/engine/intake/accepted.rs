//! Reads of accepted events, as a day has them: from their row, or from a copy of it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::Arc;

use serde::Deserialize;

use crate::content::batch::EventData;
use crate::engine::intake::state::EventContent;
use crate::engine::rows::draft::Draft;
use crate::engine::rows::event_row::{EVENTS_PER_ROW, EventRow, line_at, row_key};
use crate::journal::record::EventAt;
use crate::journal::stored::{ReadView, Unreadable, from_json, to_json};
use crate::journal::table::{Key, Owner, Partition, REST, Table, u32_at};
use crate::model::event::host_text::HostText;
use crate::model::event::trace::Trace;
use crate::model::time::Day;

/// The key of the copy of an event's row on a later day. Whoever writes it writes the same.
fn copy_key(address: EventAt) -> Vec<u8> {
    Key::of(Owner::Shared, Table::CopiedEvents).day(address.day).u32(address.ordinal).done()
}

/// Copies an event's row to a later day, to which entries of it move.
pub(crate) fn copy(draft: &mut Draft<'_>, day: Day, address: EventAt, row: &EventRow) {
    draft.put(Partition::Day(day), copy_key(address), to_json(row));
}

/// Reads an event's row as a day has it.
///
/// # Errors
/// [`Unreadable`], also where it is not there.
pub(crate) fn read(draft: &Draft<'_>, day: Day, address: EventAt) -> Result<EventRow, Unreadable> {
    read_line(draft, day, address, |line| from_json("an event", line))
}

/// Reads the line of an event's row.
pub(crate) fn read_line<T>(
    draft: &Draft<'_>,
    day: Day,
    address: EventAt,
    read: impl Fn(&[u8]) -> Result<T, Unreadable>,
) -> Result<T, Unreadable> {
    if address.day != day {
        let copy = draft.get(Partition::Day(day), &copy_key(address))?;
        return read(&copy.ok_or_else(|| missing(day, address.ordinal))?);
    }
    let ordinal = address.ordinal;
    if let Some(line) = draft.fresh_event(day, ordinal) {
        return read(line);
    }
    let first = ordinal - ordinal % EVENTS_PER_ROW;
    let (from, until) = (row_key(first), row_key(ordinal.saturating_add(1)));
    let mut found = None;
    let visit = &mut |key: &[u8], lines: &[u8]| {
        let index = u32_at(key, REST).and_then(|first| ordinal.checked_sub(first));
        match index.and_then(|index| line_at(lines, index)) {
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

/// The content of a stored event; an audience of thousands is skipped unread.
#[derive(Deserialize)]
struct ContentRow {
    event: StoredContent,
}

#[derive(Deserialize)]
struct StoredContent {
    #[serde(default)]
    data: Option<EventData>,
    #[serde(default)]
    body: Option<HostText>,
    #[serde(default)]
    trace: Option<Trace>,
}

impl From<ContentRow> for EventContent {
    fn from(ContentRow { event }: ContentRow) -> Self {
        Self { data: event.data.map(Arc::new), body: event.body, trace: event.trace }
    }
}

/// Reads the contents of events as a day has them, with the bytes of their rows; each row is read once.
///
/// # Errors
/// [`Unreadable`], also where one is not there.
pub(crate) fn read_contents(
    view: &dyn ReadView,
    day: Day,
    events: &BTreeSet<EventAt>,
    mut take: impl FnMut(EventAt, EventContent, usize),
) -> Result<(), Unreadable> {
    for at in events.iter().filter(|at| at.day != day) {
        let copy = view
            .get(Partition::Day(day), &copy_key(*at))?
            .ok_or_else(|| missing(day, at.ordinal))?;
        let row: ContentRow = from_json("an event", &copy)?;
        take(*at, row.into(), copy.len());
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
                match from_json::<ContentRow>("an event", line) {
                    Ok(row) => {
                        found.insert(*ordinal, (EventContent::from(row), line.len()));
                    }
                    Err(unreadable) => fault = Some(unreadable),
                }
            }
            ControlFlow::Continue(())
        };
        // One read for the wanted events of a block: each is a round trip where the store is remote.
        view.scan(Partition::Day(day), &from, Some(&until), visit)?;
        if let Some(fault) = fault {
            return Err(fault);
        }
        for ordinal in block {
            let (content, bytes) = found.remove(&ordinal).ok_or_else(|| missing(day, ordinal))?;
            take(EventAt { day, ordinal }, content, bytes);
        }
    }
    Ok(())
}

fn missing(day: Day, ordinal: u32) -> Unreadable {
    Unreadable(format!("event {ordinal} of {day} is missing"))
}
