//! Merging: segments of a day become one, with its postings.
//!
//! They are merged by sixteens as they pile up, and once more when the day ends, so that what a reader has
//! to look into grows with the logarithm of what happened.

use std::ops::Range;
use std::sync::Arc;

use super::day::{DayIndex, SegmentAt, SegmentSize, earliest, places, segment_list_key, weight};
use super::segment::{self, posting_key};
use super::slice::Slice;
use super::state::Index;
use crate::index::postings::{self, BLOCK_RECIPIENTS};
use crate::journal::stored::{ReadView, Segment, StoredArrival, Unreadable, encode};
use crate::journal::table::Partition;
use crate::model::time::Day;

/// The number of neighbouring segments of a level that are merged on the current day.
const MERGED_SEGMENTS: usize = 16;

/// Segments that are being merged.
#[derive(Debug)]
pub(crate) struct SegmentMerge {
    pub(crate) day: Day,
    /// The segments.
    segments: Range<usize>,
    /// The id of each, and the mapping of its ordinals.
    parts: Vec<(u64, Range<u32>)>,
    arrivals: Vec<Arc<StoredArrival>>,
    into: SegmentAt,
    /// The next block.
    block: u32,
    /// Keys of the postings that become obsolete.
    obsolete: Vec<Vec<u8>>,
}

impl DayIndex {
    /// The next segments to merge.
    fn mergeable(&self, is_over: bool) -> Option<Range<usize>> {
        let most = |from: usize| {
            let mut weight = SegmentSize::default();
            let fits = |segment: &&SegmentAt| {
                weight = weight.plus(segment.weight);
                weight.fits()
            };
            from..from + self.segments[from..].iter().take_while(fits).count()
        };
        if is_over {
            let starts = 0..self.segments.len();
            return starts.map(most).find(|segments| segments.len() > 1);
        }
        let mut starts = 0..=self.segments.len().checked_sub(MERGED_SEGMENTS)?;
        starts.find_map(|from| {
            let segments = from..from + MERGED_SEGMENTS;
            let level = self.segments[from].level;
            let is_even =
                self.segments[segments.clone()].iter().all(|segment| segment.level == level);
            (is_even && most(from).end >= segments.end).then_some(segments)
        })
    }
}

impl Index {
    /// Begins to merge segments of a day, if some should be merged.
    pub(crate) fn begin_merge(
        &self,
        view: &dyn ReadView,
        day: Day,
        is_over: bool,
    ) -> Result<Option<SegmentMerge>, Unreadable> {
        let Some(held) = self.days.get(&day) else {
            return Ok(None);
        };
        let Some(segments) = held.mergeable(is_over) else {
            return Ok(None);
        };
        let members = &held.segments[segments.clone()];
        let (Some(first), Some(last)) = (members.first(), members.last()) else {
            return Ok(None);
        };
        let mut arrivals = Vec::new();
        let mut parts = Vec::new();
        let mut ordinals = 0;
        for at in members {
            let segment = self.segment(view, day, at)?;
            let first = ordinals;
            ordinals += count(segment.variants.len());
            parts.push((at.id(), first..ordinals));
            arrivals.extend(segment.arrivals.iter().cloned());
        }
        let level = members.iter().map(|segment| segment.level).max().unwrap_or(0);
        let into = SegmentAt {
            first: first.first,
            last: last.last,
            weight: weight(&arrivals),
            level: level.saturating_add(1),
            places: places(&arrivals),
            earliest: earliest(&arrivals),
            loaded: Arc::default(),
        };
        Ok(Some(SegmentMerge {
            day,
            segments,
            parts,
            arrivals,
            into,
            block: 0,
            obsolete: Vec::new(),
        }))
    }

    /// Writes a slice of the merged postings; the last slice replaces the parts by the new segment.
    /// Recipients have numbers below `numbers`.
    pub(crate) fn merge(
        &mut self,
        view: &dyn ReadView,
        mut work: SegmentMerge,
        numbers: u32,
        slice: &mut Slice,
    ) -> Result<Option<SegmentMerge>, Unreadable> {
        let partition = Partition::Day(work.day);
        let blocks = numbers.div_ceil(BLOCK_RECIPIENTS);
        while work.block < blocks {
            let mut found = Vec::new();
            for (id, ordinals) in &work.parts {
                let key = posting_key(self.bucket, work.block, *id);
                if let Some(bytes) = view.get(partition, &key)? {
                    slice.spend(bytes.len());
                    found.push((bytes, ordinals.start));
                    work.obsolete.push(key);
                }
            }
            if !found.is_empty() {
                let found: Vec<(&[u8], u32)> = found.iter().map(|(b, at)| (&b[..], *at)).collect();
                let key = posting_key(self.bucket, work.block, work.into.id());
                slice.put(partition, key, Some(postings::merge_blocks(&found)?));
            }
            work.block += 1;
            if slice.is_full() {
                return Ok(Some(work));
            }
        }
        let Some(held) = self.days.get_mut(&work.day) else {
            return Ok(None);
        };
        // Comes with the last slice: until the list names the new segment, readers need the old postings.
        for key in work.obsolete {
            slice.put(partition, key, None);
        }
        let mut rest = &work.arrivals[..];
        for ((id, _), part) in work.parts.iter().zip(&held.segments[work.segments.clone()]) {
            let (arrivals, others) = rest.split_at(rest.len().min(part.weight.arrivals as usize));
            rest = others;
            for key in segment::keys(self.bucket, *id, arrivals) {
                slice.put(partition, key, None);
            }
        }
        for (key, row) in segment::rows(self.bucket, work.into.id(), &work.arrivals) {
            slice.put(partition, key, Some(row));
        }
        let _ = work.into.loaded.set(Arc::new(Segment::new(work.arrivals)));
        held.segments.splice(work.segments, [work.into]);
        let list = encode(&held.segment_list());
        slice.put(partition, segment_list_key(self.bucket), Some(list));
        Ok(None)
    }
}

fn count(things: usize) -> u32 {
    u32::try_from(things).expect("a segment has fewer arrivals and variants than 2^32")
}
