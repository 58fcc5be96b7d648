//! The stored image of a lane: a head, and a row for each changed page of its columns.
//!
//! Pages go to the store one by one while the lane goes on, each under the generation that the head
//! of the last checkpoint does not name. The new head, written last, names them.

use roaring::RoaringBitmap;
use serde::{Deserialize, Serialize};

use super::super::wheel::start_of;
use crate::bucket::lanes::lane::{Columns, Lane};
use crate::bucket::people::column::{NumberedColumn, PAGE};
use crate::journal::stored::{Unreadable, decode, encode};
use crate::model::channel::ChannelNo;
use crate::model::number::Seq;
use crate::rules::deadline::Window;
use crate::rules::lane_kind::LaneKind;
use crate::sets::set::Set;

/// The part of a lane that a checkpoint stores besides the pages of its columns.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct LaneHead {
    open: Set,
    /// The recipients due by second, for lanes without windows.
    slots: Vec<(i64, Set)>,
    /// The pages of each column whose current row is the odd generation.
    odd: [Set; 3],
    /// The recipients whose window was flushed.
    flushed: Set,
    /// The recipients whose window was counted.
    counted: Set,
    /// The recipients with an urgent entry, by the seq of its arrival.
    urgent: Vec<(Seq, Set)>,
}

/// A column of a lane. Its number is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LaneColumn {
    /// The windows, or where they begin.
    Windows = 0,
    /// The last messages.
    Last = 1,
    /// The windows whose entries are counted.
    Counts = 2,
}

/// A row of a page: a bitmap of the slots with a value, and the values.
type ImagePage<T> = (Set, Vec<T>);

impl Lane {
    /// The pages that changed since the last call: a clone that is made now has their rows, and the head that names
    /// them.
    pub(crate) fn take_dirty(&mut self) -> Vec<(LaneColumn, u32)> {
        let open = &self.open;
        let waits = |page: u32| open.range_cardinality(page * PAGE..=page * PAGE + (PAGE - 1)) > 0;
        let windows = match &mut self.columns {
            Columns::Since(since) => since.column_mut().map(|column| column.take_dirty(waits)),
            Columns::Windows(windows) => {
                windows.column_mut().map(|column| column.take_dirty(waits))
            }
        };
        // Where nothing is left, the row before must not go on saying what it said.
        let last = self.last.column_mut().map(|column| column.take_dirty(|_| true));
        let counts = self.counts.column_mut().map(|column| column.take_dirty(waits));
        let each = [
            (LaneColumn::Windows, windows),
            (LaneColumn::Last, last),
            (LaneColumn::Counts, counts),
        ];
        each.into_iter()
            .flat_map(|(part, pages)| pages.into_iter().flatten().map(move |page| (part, page)))
            .collect()
    }

    /// The row of a page, and its generation.
    pub(crate) fn page_row(&self, part: LaneColumn, page: u32) -> Option<(u8, Vec<u8>)> {
        let is_open = |number: u32| self.open.contains(number);
        Some(match (part, &self.columns) {
            (LaneColumn::Last, _) => row(self.last.column()?, page, |_, last| last.at.is_some()),
            (LaneColumn::Counts, _) => {
                row(self.counts.column()?, page, |number, _| is_open(number))
            }
            (LaneColumn::Windows, Columns::Since(since)) => {
                row(since.column()?, page, |number, _| is_open(number))
            }
            (LaneColumn::Windows, Columns::Windows(windows)) => {
                row(windows.column()?, page, |number, _| is_open(number))
            }
        })
    }

    /// The head that names the newest rows of all pages.
    pub(crate) fn head(&self) -> LaneHead {
        let (odd, slots) = match &self.columns {
            Columns::Since(since) => {
                let slots = self
                    .wheel
                    .slots()
                    .chain(self.parked.slots())
                    .map(|(slot, recipients)| (slot, Set(recipients.clone())));
                (since.column().map(NumberedColumn::odd), slots.collect())
            }
            Columns::Windows(windows) => (windows.column().map(NumberedColumn::odd), Vec::new()),
        };
        let odd_last = self.last.column().map(NumberedColumn::odd);
        let odd_counts = self.counts.column().map(NumberedColumn::odd);
        let urgent = self.urgent.iter().map(|(seq, recipients)| (seq, Set(recipients.clone())));
        LaneHead {
            open: Set(self.open.clone()),
            slots,
            odd: [odd, odd_last, odd_counts].map(|odd| odd.cloned().unwrap_or_default().into()),
            flushed: Set(self.flushed.clone()),
            counted: Set(self.counted.clone()),
            urgent: urgent.collect(),
        }
    }

    /// Restores a lane from its head; its pages follow.
    pub(crate) fn restore(kind: LaneKind, channel: ChannelNo, head: &LaneHead) -> Self {
        let mut lane = Self::new(kind, channel);
        lane.open = head.open.0.clone();
        lane.flushed = head.flushed.0.clone();
        lane.counted = head.counted.0.clone();
        for (seq, recipients) in &head.urgent {
            lane.urgent.note(*seq, recipients);
        }
        if let Columns::Since(_) = lane.columns {
            for (slot, recipients) in &head.slots {
                lane.wheel.insert_all(start_of(*slot), recipients);
            }
        }
        lane
    }

    /// Restores a page from its row, if the head names that row.
    ///
    /// # Errors
    /// [`Unreadable`] where it makes no sense.
    pub(crate) fn restore_page(
        &mut self,
        head: &LaneHead,
        part: u8,
        page: u32,
        generation: u8,
        bytes: &[u8],
    ) -> Result<(), Unreadable> {
        let odd = head
            .odd
            .get(usize::from(part))
            .ok_or_else(|| Unreadable("a lane has an unknown column".to_owned()))?;
        if odd.contains(page) != (generation == 1) {
            return Ok(());
        }
        if part == LaneColumn::Last as u8 {
            return put_back(self.last.column_mut(), page, bytes, |_, _| true);
        }
        let Self { columns, open, wheel, counts, .. } = self;
        if part == LaneColumn::Counts as u8 {
            let column = counts.column_mut();
            return put_back(column, page, bytes, |number, _| open.contains(number));
        }
        match columns {
            Columns::Since(since) => {
                let column = since.column_mut();
                put_back(column, page, bytes, |number, _| open.contains(number))
            }
            Columns::Windows(windows) => {
                let (mut due, mut recipients) = (i64::MAX, RoaringBitmap::new());
                let column = windows.column_mut();
                let done = put_back(column, page, bytes, |number, window: &Window| {
                    let is_open = open.contains(number);
                    if is_open {
                        // Neighbours are due together more often than not.
                        if window.due() != due {
                            wheel.insert_all(due, &recipients);
                            recipients.clear();
                            due = window.due();
                        }
                        recipients.insert(number);
                    }
                    is_open
                });
                wheel.insert_all(due, &recipients);
                done
            }
        }
    }

    /// Ends the restoration: all pages were read.
    pub(crate) fn restored(&mut self, head: LaneHead) {
        let [odd, odd_last, odd_counts] = head.odd;
        if let Some(counts) = self.counts.column_mut() {
            counts.restored(odd_counts.0);
        }
        match &mut self.columns {
            Columns::Since(since) => {
                if let Some(since) = since.column_mut() {
                    since.restored(odd.0);
                }
            }
            Columns::Windows(windows) => {
                if let Some(windows) = windows.column_mut() {
                    windows.restored(odd.0);
                }
            }
        }
        if let Some(last) = self.last.column_mut() {
            last.restored(odd_last.0);
        }
    }
}

/// The row of a page with its useful values, and its generation.
fn row<T: Copy + Default + Serialize>(
    column: &NumberedColumn<T>,
    page: u32,
    is_of_use: impl Fn(u32, &T) -> bool,
) -> (u8, Vec<u8>) {
    let values = column.page(page);
    let (numbers, values): (Vec<u32>, Vec<T>) =
        values.filter(|(number, value)| is_of_use(*number, value)).unzip();
    let slots: Set = numbers.iter().map(|number| number % PAGE).collect();
    let generation = u8::from(column.odd().contains(page));
    (generation, encode(&(slots, values)))
}

/// Restores the wanted values of a row.
fn put_back<T: Copy + Default + for<'a> Deserialize<'a>>(
    column: Option<&mut NumberedColumn<T>>,
    page: u32,
    bytes: &[u8],
    mut wants: impl FnMut(u32, &T) -> bool,
) -> Result<(), Unreadable> {
    let (slots, values): ImagePage<T> = decode("a page of a lane", bytes)?;
    let odd = || Unreadable("a page of a lane makes no sense".to_owned());
    let column = column.ok_or_else(odd)?;
    let first = page.checked_mul(PAGE).ok_or_else(odd)?;
    if slots.len() != values.len() as u64 || slots.max().is_some_and(|slot| slot >= PAGE) {
        return Err(odd());
    }
    for (slot, value) in slots.iter().zip(values) {
        if wants(first + slot, &value) {
            *column.at(first + slot) = value;
        }
    }
    Ok(())
}
