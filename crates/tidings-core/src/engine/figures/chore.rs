//! Maintenance: the rows of a deleted day become one compact row, and old ones are deleted.
//!
//! All of it is done in slices. Since rows add up, a slice may end anywhere.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use super::counting::{FigureCounter, each_row, first_with_hours};
use super::counts::{SlotCounts, each, reader};
use super::key::{FigureKey, FigureSource, FigureSubject, TABLES, day_key, day_of};
use crate::codec::{ByteReader, FORM, put_u64};
use crate::engine::rows::draft::Draft;
use crate::journal::chunks;
use crate::journal::stored::{ReadView, Unreadable};
use crate::journal::table::{Partition, Table, Write};
use crate::model::channel::ChannelNo;
use crate::model::number::TypeNo;
use crate::model::time::{Day, Instant};
use crate::rules::Rules;

/// Number of rows that a slice takes.
const SLICE_ROWS: usize = 1_024;

/// The byte of what belongs to no channel, in a compact row.
const NO_CHANNEL: u64 = u8::MAX as u64;

/// The days and bounds that decide what there is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FiguresChoreBounds {
    pub(crate) today: Day,
    /// The first day that the store keeps.
    pub(crate) kept_from: Option<Day>,
    /// The first day whose figures are kept.
    pub(crate) figures_from: Day,
    /// The first day whose figures by tenant are kept.
    pub(crate) tenants_from: Day,
}

impl FiguresChoreBounds {
    /// As of an instant, by the rules in force.
    pub(crate) fn at(now: Instant, kept_from: Option<Day>, rules: Option<&Rules>) -> Self {
        let first = |keep_ms: i64| now.plus_ms(-keep_ms).day();
        let never = Day(i32::MIN);
        Self {
            today: now.day(),
            kept_from,
            figures_from: rules.map_or(never, |rules| first(rules.figures.keep_ms)),
            tenants_from: rules
                .map_or(never, |rules| first(rules.figures.tenants_ms.min(rules.figures.keep_ms))),
        }
    }
}

impl FigureCounter {
    /// Returns true if [`FigureCounter::chore`] may have work.
    pub(crate) fn has_chore(&self, as_of: FiguresChoreBounds) -> bool {
        *self.rested != Some(as_of)
    }

    /// Runs one slice and returns its writes; `None` = nothing is left to do.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub(crate) fn chore(
        &mut self,
        view: &dyn ReadView,
        as_of: FiguresChoreBounds,
    ) -> Result<Option<Vec<Write>>, Unreadable> {
        if !self.has_chore(as_of) {
            return Ok(None);
        }
        for source in self.sources.clone() {
            let mut draft = Draft::new(view);
            let done = delete_old(&mut draft, source, as_of)?
                || fold_day(&mut draft, source, as_of.kept_from)?;
            if done {
                let writes = draft.done();
                // They are read again when they change.
                self.known.rows.clear();
                return Ok(Some(writes));
            }
        }
        *self.rested = Some(as_of);
        Ok(None)
    }
}

/// Deletes rows that are not kept any more; returns whether there were any.
fn delete_old(
    draft: &mut Draft<'_>,
    source: FigureSource,
    as_of: FiguresChoreBounds,
) -> Result<bool, Unreadable> {
    let mut old: Vec<(Table, Vec<u8>)> = Vec::new();
    for table in TABLES {
        let first = match table {
            Table::HourFigures => as_of.figures_from.max(first_with_hours(as_of.today)),
            Table::TenantFigures => as_of.tenants_from,
            _ => as_of.figures_from,
        };
        let (from, until) = (source.table(table).done(), source.table(table).day(first).done());
        draft.view.scan(Partition::Base, &from, Some(&until), &mut |key, _| {
            old.push((table, key.to_vec()));
            if old.len() < SLICE_ROWS { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        if old.len() >= SLICE_ROWS {
            break;
        }
    }
    let is_any = !old.is_empty();
    for (table, key) in old {
        match table {
            Table::DayFigures => draft.delete_chunked(Partition::Base, key)?,
            _ => draft.delete(Partition::Base, key),
        }
    }
    Ok(is_any)
}

/// Adds rows of a deleted day to its compact one; returns whether there were any.
fn fold_day(
    draft: &mut Draft<'_>,
    source: FigureSource,
    kept_from: Option<Day>,
) -> Result<bool, Unreadable> {
    let Some(kept_from) = kept_from else {
        return Ok(false);
    };
    let mut rows: Vec<(FigureKey, SlotCounts)> = Vec::new();
    each_row(draft.view, source, Table::Figures, Day(i32::MIN)..kept_from, |key, row| {
        let is_other = rows.first().is_some_and(|(first, _)| first.day != key.day);
        if is_other || rows.len() >= SLICE_ROWS {
            return Ok(ControlFlow::Break(()));
        }
        rows.push((key, SlotCounts::of_row(row)?));
        Ok(ControlFlow::Continue(()))
    })?;
    let Some((FigureKey { day, .. }, _)) = rows.first() else {
        return Ok(false);
    };
    let key = day_key(source, *day);
    let mut cells = DayCells::default();
    if let Some(row) = draft.get_chunked(Partition::Base, &key)? {
        each_cell(&row, |cell, reader| {
            let counts = cells.0.entry(cell).or_default();
            each(reader, |slot, count| counts.add(slot, count))
        })?;
        draft.delete_chunked(Partition::Base, key.clone())?;
    }
    for (of, counts) in &rows {
        if let FigureSubject::Type(type_no) = of.of {
            cells.0.entry(DayCell { type_no, channel: of.channel }).or_default().add_all(counts);
        }
        draft.delete(Partition::Base, of.key());
    }
    draft.put_chunked(Partition::Base, key, &cells.row());
    Ok(true)
}

/// A type and a channel of a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct DayCell {
    pub(super) type_no: TypeNo,
    pub(super) channel: Option<ChannelNo>,
}

/// The counts of a deleted day.
#[derive(Default)]
struct DayCells(BTreeMap<DayCell, SlotCounts>);

impl DayCells {
    /// The compact row: type, channel and counts of each cell, in order.
    fn row(&self) -> Vec<u8> {
        let mut row = vec![FORM];
        put_u64(&mut row, self.0.len() as u64);
        for (DayCell { type_no, channel }, counts) in &self.0 {
            put_u64(&mut row, u64::from(type_no.0));
            put_u64(&mut row, channel.map_or(NO_CHANNEL, |channel| u64::from(channel.0)));
            counts.put(&mut row);
        }
        row
    }
}

/// Visits the cells of a compact row; the visitor reads the counts of each by [`each`].
///
/// # Errors
/// The visitor's, and [`Unreadable`] where the row makes no sense.
pub(super) fn each_cell(
    row: &[u8],
    mut take: impl FnMut(DayCell, &mut ByteReader<'_>) -> Result<(), Unreadable>,
) -> Result<(), Unreadable> {
    let mut reader = reader(row)?;
    for _ in 0..reader.count()? {
        let (type_no, channel) = (TypeNo(reader.u32()?), reader.u64()?);
        let channel = match channel {
            NO_CHANNEL => None,
            channel => Some(ChannelNo(u8::try_from(channel).map_err(|_| reader.corrupt())?)),
        };
        take(DayCell { type_no, channel }, &mut reader)?;
    }
    reader.end()?;
    Ok(())
}

/// The compact rows of a source of some days, in their order.
///
/// # Errors
/// [`Unreadable`] where the store can't be read.
pub(super) fn day_rows(
    view: &dyn ReadView,
    source: FigureSource,
    days: std::ops::Range<Day>,
) -> Result<Vec<(Day, Vec<u8>)>, Unreadable> {
    let mut rows: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
    if days.start >= days.end {
        return Ok(Vec::new());
    }
    let (from, until) = (day_key(source, days.start), day_key(source, days.end));
    view.scan(Partition::Base, &from, Some(&until), &mut |key, row| {
        rows.push((key.to_vec(), row.to_vec()));
        ControlFlow::Continue(())
    })?;
    let whole = rows.into_iter().map(|(key, row)| {
        let day = day_of(source, &key).ok_or_else(|| Unreadable("a day is odd".to_owned()))?;
        let row = chunks::whole(&key, &row, |key| view.get(Partition::Base, key))?.into_owned();
        Ok((day, row))
    });
    whole.collect()
}
