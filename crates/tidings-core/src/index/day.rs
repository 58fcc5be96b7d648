//! A day of the index: its arrivals, in the tail and in segments, until the day is deleted.

use std::ops::RangeInclusive;
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

use super::facets::row_bytes;
use crate::index::postings::block_bytes_max;
use crate::journal::stored::{Segment, StoredArrival};
use crate::journal::table::{Key, Owner, Table};
use crate::model::id::BucketNo;
use crate::model::number::{EventNo, Seq};
use crate::model::time::Instant;
use crate::sets::shared::Tree;

/// The arrivals of a day in a bucket.
#[derive(Clone, Debug)]
pub(crate) struct DayIndex {
    /// The first seq of the day.
    pub(crate) first: Seq,
    /// Arrivals that have their sets in memory, by seq.
    pub(crate) tail: Tree<Seq, Arc<StoredArrival>>,
    /// Number of notifications in the tail.
    pub(crate) tail_notifications: u64,
    /// Arrivals at rest, by seq; all of them before the tail.
    pub(crate) segments: Vec<SegmentAt>,
}

impl DayIndex {
    pub(crate) fn new(first: Seq) -> Self {
        Self { first, tail: Tree::new(), tail_notifications: 0, segments: Vec::new() }
    }
}

/// A segment and, once it was read, its content.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SegmentAt {
    pub(crate) first: Seq,
    pub(crate) last: Seq,
    /// Its size.
    pub(crate) weight: SegmentSize,
    /// The level: 0 for a segment built from a tail, one more than the highest of its parts for a merged one.
    pub(crate) level: u8,
    /// The first and the last place in the intake of its events.
    pub(crate) places: RangeInclusive<EventNo>,
    /// The least `t` of its arrivals.
    pub(crate) earliest: Instant,
    /// Shared by clones, so that one read serves all.
    #[serde(skip)]
    pub(crate) loaded: Arc<OnceLock<Arc<Segment>>>,
}

/// The size of a segment: it bounds its rows, and the cost of reading or writing all of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SegmentSize {
    pub(crate) arrivals: u32,
    /// Number of variants of its arrivals.
    pub(crate) ordinals: u32,
    /// An upper bound on the bytes of its arrivals in rows, without their sets.
    pub(crate) bytes: u64,
}

impl SegmentSize {
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

    /// Returns true if a segment of this size is allowed.
    pub(super) fn fits(self) -> bool {
        self.arrivals <= RUN_ARRIVALS_MAX
            && self.bytes <= RUN_BYTES_MAX
            && block_bytes_max(self.arrivals, self.ordinals) <= BLOCK_BYTES_MAX
    }
}

/// Maximum number of arrivals of a segment: messages of many recipients decode all of them.
const RUN_ARRIVALS_MAX: u32 = 16_384;

/// The most bytes of a segment's arrivals: they are decoded together, and written in one commit.
const RUN_BYTES_MAX: u64 = 4 << 20;

/// The most bytes of a block of a segment's postings, which is one row.
const BLOCK_BYTES_MAX: u64 = 512 << 10;

/// The stored list of a day's segments.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SegmentList {
    /// The first seq of the day.
    pub(super) first: Seq,
    pub(super) segments: Vec<SegmentAt>,
}

impl SegmentAt {
    /// The id of the segment, unique in its day.
    pub(crate) fn id(&self) -> u64 {
        self.first.0 << 8 | u64::from(self.level)
    }
}

impl DayIndex {
    /// The list of its segments, to be stored.
    pub(super) fn segment_list(&self) -> SegmentList {
        SegmentList { first: self.first, segments: self.segments.clone() }
    }
}

/// The sum of the sizes of arrivals.
pub(super) fn weight(kept: &[Arc<StoredArrival>]) -> SegmentSize {
    kept.iter().map(|kept| SegmentSize::of(kept)).fold(SegmentSize::default(), SegmentSize::plus)
}

/// The first and the last place of arrivals' events.
pub(super) fn places(arrivals: &[Arc<StoredArrival>]) -> RangeInclusive<EventNo> {
    let places = arrivals.iter().map(|kept| kept.arrival.place);
    let first = places.clone().min().unwrap_or_default();
    first..=places.max().unwrap_or_default()
}

/// The least `t` of arrivals.
pub(super) fn earliest(arrivals: &[Arc<StoredArrival>]) -> Instant {
    arrivals.iter().map(|kept| kept.arrival.t).min().unwrap_or_default()
}

/// The key of the list of a day's segments.
pub(super) fn segment_list_key(bucket: BucketNo) -> Vec<u8> {
    Key::of(Owner::Bucket(bucket), Table::SegmentList).done()
}
