//! The index of a bucket: its arrivals by day, in tails and in segments.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::day::{DayIndex, SegmentAt, SegmentList, segment_list_key};
use crate::journal::stored::{ReadView, StoredArrival, Unreadable, decode};
use crate::journal::table::Partition;
use crate::model::id::BucketNo;
use crate::model::number::Seq;
use crate::model::time::{Day, Instant};
use crate::sets::shared::Shared;

/// The most arrivals at rest of the current day that a bucket keeps in memory.
const LOADED_ARRIVALS_MAX: u32 = 4096;

/// The arrivals of a bucket, by day. Clones share what was loaded.
#[derive(Clone, Debug)]
pub(crate) struct Index {
    pub(super) bucket: BucketNo,
    pub(crate) days: BTreeMap<Day, Shared<DayIndex>>,
}

impl Index {
    pub(crate) fn new(bucket: BucketNo) -> Self {
        Self { bucket, days: BTreeMap::new() }
    }

    /// Reads the segments of a day; its tail comes from the journal.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub(crate) fn read_day(&mut self, view: &dyn ReadView, day: Day) -> Result<(), Unreadable> {
        let Some(bytes) = view.get(Partition::Day(day), &segment_list_key(self.bucket))? else {
            return Ok(());
        };
        let list: SegmentList = decode("the list of a day's segments", &bytes)?;
        let mut held = DayIndex::new(list.first);
        held.segments = list.segments;
        self.days.insert(day, Shared::new(held));
        Ok(())
    }

    /// Adds an arrival to the tail of its day.
    pub(crate) fn add(&mut self, kept: StoredArrival) {
        let day = kept.arrival.at.day();
        let day = self.days.entry(day);
        let day = &mut **day.or_insert_with(|| Shared::new(DayIndex::new(kept.seq)));
        day.tail_notifications += kept.notifications();
        day.tail.insert(kept.seq, Arc::new(kept));
    }

    /// The day of an arrival's entries; `None` if it is deleted.
    pub(crate) fn day_of(&self, seq: Seq) -> Option<Day> {
        let mut newest_first = self.days.iter().rev();
        let found = newest_first.find(|(_, day)| day.first <= seq);
        found.map(|(day, _)| *day)
    }

    /// The first seq of the days that are kept, or this one if there are none.
    pub(crate) fn first_seq(&self, next: Seq) -> Seq {
        let first = self.days.first_key_value();
        first.map_or(next, |(_, day)| day.first)
    }

    /// The least `t` of the arrivals.
    pub(crate) fn earliest(&self) -> Option<Instant> {
        let held = self.days.values().flat_map(|day| {
            day.segments
                .iter()
                .map(|segment| segment.earliest)
                .chain(day.tail.values().map(|kept| kept.arrival.t))
        });
        held.min()
    }

    /// Drops a day. The caller deletes its data in the store.
    pub(crate) fn forget(&mut self, day: Day) {
        self.days.remove(&day);
    }

    /// Drops the loaded content of older days, so that memory doesn't grow with reads.
    pub(crate) fn unload_before(&mut self, today: Day) {
        let is_loaded = |segment: &SegmentAt| segment.loaded.get().is_some();
        for (_, held) in self.days.range_mut(..today) {
            if held.segments.iter().any(is_loaded) {
                held.segments.iter_mut().for_each(|segment| segment.loaded = Arc::default());
            }
        }
    }

    /// Drops all but the newest arrivals of a day, so that memory doesn't grow with events. Entries that
    /// are due soon are among the newest.
    pub(crate) fn unload_most(&mut self, day: Day) {
        let segments = self.days.get_mut(&day).map(|held| &mut held.segments);
        let mut newest = 0_u32;
        for segment in segments.into_iter().flatten().rev() {
            newest = newest.saturating_add(segment.weight.arrivals);
            if newest > LOADED_ARRIVALS_MAX {
                segment.loaded = Arc::default();
            }
        }
    }
}
