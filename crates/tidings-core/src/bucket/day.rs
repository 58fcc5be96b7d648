//! The days of a bucket: their arrivals, in the tail and at rest, until the days are deleted.

use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

use super::Bucket;
use super::facets::row_bytes;
use crate::journal::stored::{Segment, StoredArrival};
use crate::postings::block_bytes_max;
use crate::shared::Tree;
use crate::time::{Day, Instant};

/// The state of a day in a bucket.
#[derive(Clone, Debug)]
pub(crate) struct BucketDay {
    /// The first seq of the day.
    pub(crate) first: u64,
    /// Arrivals that have their sets in memory, by seq.
    pub(crate) tail: Tree<u64, Arc<StoredArrival>>,
    /// Number of notifications in the tail.
    pub(crate) tail_notifications: u64,
    /// Arrivals at rest, by seq; all of them before the tail.
    pub(crate) segments: Vec<SegmentAt>,
}

impl BucketDay {
    pub(crate) fn new(first: u64) -> Self {
        Self {
            first,
            tail: Tree::new(),
            tail_notifications: 0,
            segments: Vec::new(),
        }
    }
}

/// A segment and, once it was read, its content.
#[derive(Clone, Debug)]
pub(crate) struct SegmentAt {
    pub(crate) first: u64,
    pub(crate) last: u64,
    /// Its size.
    pub(crate) weight: Weight,
    /// The level: 0 for a segment built from a tail, one more than the highest of its parts for a merged one.
    pub(crate) level: u8,
    /// The first and the last place in the intake of its events.
    pub(crate) places: (u64, u64),
    /// The least `t` of its arrivals.
    pub(crate) earliest: Instant,
    /// Shared by clones, so that whoever reads it does so for all.
    pub(crate) loaded: Arc<OnceLock<Arc<Segment>>>,
}

/// The size of a segment: it bounds its rows, and the cost of reading or writing all of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Weight {
    pub(crate) arrivals: u32,
    /// Number of variants of its arrivals.
    pub(crate) ordinals: u32,
    /// An upper bound on the bytes of its arrivals in rows, without their sets.
    pub(crate) bytes: u64,
}

impl Weight {
    pub(super) fn of(kept: &StoredArrival) -> Self {
        let variants = kept.arrival.variants.len();
        Self {
            arrivals: 1,
            ordinals: u32::try_from(variants).unwrap_or(u32::MAX),
            bytes: row_bytes(&kept.arrival),
        }
    }

    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            arrivals: self.arrivals.saturating_add(other.arrivals),
            ordinals: self.ordinals.saturating_add(other.ordinals),
            bytes: self.bytes.saturating_add(other.bytes),
        }
    }

    /// Tells whether a segment of this size is allowed.
    pub(super) fn fits(self) -> bool {
        self.arrivals <= RUN_ARRIVALS_MAX
            && self.bytes <= RUN_BYTES_MAX
            && block_bytes_max(self.arrivals, self.ordinals) <= BLOCK_BYTES_MAX
    }
}

/// The most arrivals of a segment: messages of many are made of all of them, decoded.
const RUN_ARRIVALS_MAX: u32 = 16_384;

/// The most bytes of a segment's arrivals: they are decoded together, and written in one commit.
const RUN_BYTES_MAX: u64 = 4 << 20;

/// The most bytes of a block of a segment's postings, which is one row.
const BLOCK_BYTES_MAX: u64 = 512 << 10;

/// A segment as the list of a day's segments has it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SegmentRow {
    first: u64,
    last: u64,
    weight: Weight,
    level: u8,
    places: (u64, u64),
    earliest: Instant,
}

/// The stored list of a day's segments.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SegmentList {
    /// The first seq of the day.
    pub(super) first: u64,
    pub(super) segments: Vec<SegmentRow>,
}

impl SegmentAt {
    pub(super) fn row(&self) -> SegmentRow {
        SegmentRow {
            first: self.first,
            last: self.last,
            weight: self.weight,
            level: self.level,
            places: self.places,
            earliest: self.earliest,
        }
    }

    pub(super) fn of_row(row: SegmentRow) -> Self {
        let SegmentRow {
            first,
            last,
            weight,
            level,
            places,
            earliest,
        } = row;
        Self {
            first,
            last,
            weight,
            level,
            places,
            earliest,
            loaded: Arc::default(),
        }
    }

    /// The id of the segment, unique in its day.
    pub(crate) fn id(&self) -> u64 {
        self.first << 8 | u64::from(self.level)
    }
}

impl Bucket {
    /// The day of an arrival's entries; `None` if it is deleted.
    pub(crate) fn day_of(&self, seq: u64) -> Option<Day> {
        self.days
            .iter()
            .rev()
            .find(|(_, day)| day.first <= seq)
            .map(|(day, _)| *day)
    }

    /// Forgets a day. The caller deletes its data in the store.
    pub(crate) fn forget(&mut self, day: Day) {
        self.days.remove(&day);
        if self.chore.as_ref().is_some_and(|chore| chore.is_about(day)) {
            *self.chore = None;
        }
    }

    /// Drops the state that concerns only days before `before`, which are deleted.
    pub(crate) fn forget_before(&mut self, before: Day) {
        let (marks_from, first) = (self.marks_from(before), self.first_seq());
        let stale = &mut self.dirty.stale_marks;
        let old = self
            .marks
            .iter()
            .filter(|(_, marks)| marks.has_before(marks_from));
        let old: Vec<u32> = old.map(|(number, _)| *number).collect();
        for number in old {
            let marks = self.marks.get_mut(&number);
            let left = marks.is_some_and(|marks| {
                marks.forget_before(marks_from, |mark| {
                    stale.insert((number, mark));
                })
            });
            if !left {
                self.marks.remove(&number);
            }
        }
        self.ended.forget_before(first);
        self.dirty.ended.retain(|(seq, _)| *seq >= first);
    }

    /// Marks that were made before this instant concern nothing any more when the days before `before`
    /// are forgotten. Those of the last of these days may cover what is moved on from it, and what was
    /// moved before kept its `t`.
    fn marks_from(&self, before: Day) -> Instant {
        let held = self.days.values().flat_map(|day| {
            let segments = day.segments.iter().map(|segment| segment.earliest);
            segments.chain(day.tail.values().map(|kept| kept.arrival.t))
        });
        held.fold(Day(before.0.saturating_sub(1)).start(), Instant::min)
    }

    /// The first seq of the days that are kept.
    pub(crate) fn first_seq(&self) -> u64 {
        self.days
            .first_key_value()
            .map_or(self.next_seq, |(_, day)| day.first)
    }
}
