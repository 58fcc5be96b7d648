//! Indexing: arrivals of the tail become postings, and segments are merged.
//!
//! A tail is indexed once it holds enough, or whatever it holds once its day is over. Segments are
//! merged by sixteens as they pile up, and once more when the day ends, so that what a reader has
//! to look into grows with the logarithm of what happened. What goes to rest is covered by a
//! checkpoint, so that nothing has to be replayed whose sets are gone.

use std::ops::Range;
use std::sync::Arc;

use roaring::RoaringBitmap;

use super::day::{SegmentList, Weight};
use super::segment::{self, posting_key};
use super::slice::Slice;
use super::{Bucket, BucketDay, SegmentAt};
use crate::id::BucketNo;
use crate::journal::row::journal_key;
use crate::journal::stored::{ReadView, Segment, StoredArrival, Unreadable, encode};
use crate::postings::{self, BLOCK_RECIPIENTS};
use crate::set::Set;
use crate::table::{Key, Owner, Partition, Table};
use crate::time::{Day, Instant};

/// The number of neighbouring segments of a level that are merged on the current day.
const MERGE_RUNS: usize = 16;

/// The most arrivals at rest of the current day that a bucket keeps in memory.
const LOADED_ARRIVALS_MAX: u32 = 4096;

/// A tail that is being indexed.
#[derive(Debug)]
pub(crate) struct Indexing {
    pub(crate) day: Day,
    kept: Vec<Arc<StoredArrival>>,
    /// The number of the recipient at which to continue.
    next: Option<u32>,
}

/// Segments that are being merged.
#[derive(Debug)]
pub(crate) struct Merging {
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

/// The key of the list of a day's segments.
pub(super) fn segment_list_key(bucket: BucketNo) -> Vec<u8> {
    Key::of(Owner::Bucket(bucket), Table::SegmentList).done()
}

impl BucketDay {
    fn segment_list(&self) -> SegmentList {
        SegmentList {
            first: self.first,
            segments: self.segments.iter().map(SegmentAt::row).collect(),
        }
    }

    /// The next segments to merge.
    fn mergeable(&self, is_over: bool) -> Option<Range<usize>> {
        let most = |from: usize| {
            let mut weight = Weight::default();
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
        let mut starts = 0..=self.segments.len().checked_sub(MERGE_RUNS)?;
        starts.find_map(|from| {
            let segments = from..from + MERGE_RUNS;
            let level = self.segments[from].level;
            let is_even = self.segments[segments.clone()]
                .iter()
                .all(|segment| segment.level == level);
            (is_even && most(from).end >= segments.end).then_some(segments)
        })
    }
}

impl Bucket {
    /// Begins to index a day's tail, as far as a checkpoint covers it and inboxes got it, if that part
    /// holds at least this many notifications.
    pub(super) fn begin_index(&self, day: Day, least: u64) -> Option<Indexing> {
        let held = self.days.get(&day)?;
        if held.tail_notifications < least {
            return None;
        }
        // What the inboxes are yet to be told is looked for in the tail.
        let is_ready =
            |kept: &Arc<StoredArrival>| kept.seq < self.checkpointed && kept.seq <= self.told_to;
        let tail: Vec<_> = held.tail.values().cloned().collect();
        let kept = whole_rows(&tail, tail.partition_point(is_ready));
        let notifications: u64 = kept.iter().map(|kept| kept.notifications()).sum();
        (!kept.is_empty() && notifications >= least).then(|| Indexing {
            day,
            kept: one_run(kept).to_vec(),
            next: Some(0),
        })
    }

    /// Writes a slice of the postings; the last slice replaces the arrivals by the segment.
    pub(super) fn index_slice(
        &mut self,
        mut work: Indexing,
        slice: &mut Slice,
    ) -> Option<Indexing> {
        let (first, last) = (work.kept.first()?.seq, work.kept.last()?.seq);
        let segment = SegmentAt {
            first,
            last,
            weight: weight(&work.kept),
            level: 0,
            places: places(&work.kept),
            earliest: earliest(&work.kept),
            loaded: Arc::default(),
        };
        let partition = Partition::Day(work.day);
        let variants = work.kept.iter().flat_map(|kept| &kept.arrival.variants);
        let sets: Vec<&RoaringBitmap> = variants.map(|variant| &variant.who.0).collect();
        while let Some(from) = work.next {
            let stripe = postings::build_stripe(&sets, from);
            work.next = stripe.as_ref().and_then(|stripe| stripe.next);
            for (block, bytes) in stripe.into_iter().flat_map(|stripe| stripe.blocks) {
                let key = posting_key(self.no, block, segment.id());
                slice.put(partition, key, Some(bytes));
            }
            if slice.is_full() {
                return Some(work);
            }
        }
        let held = self.days.get_mut(&work.day)?;
        let rest: Vec<Arc<StoredArrival>> =
            work.kept.iter().map(|kept| without_sets(kept)).collect();
        let mut gone = None;
        for kept in &work.kept {
            held.tail.remove(&kept.seq);
            held.tail_notifications -= kept.notifications();
            if gone.replace(kept.row) != Some(kept.row) {
                slice.put(partition, journal_key(self.no, kept.row), None);
            }
        }
        for (key, row) in segment::rows(self.no, segment.id(), &rest) {
            slice.put(partition, key, Some(row));
        }
        drop(segment.loaded.set(Arc::new(Segment::new(rest))));
        held.segments.push(segment);
        let list = encode(&held.segment_list());
        slice.put(partition, segment_list_key(self.no), Some(list));
        None
    }

    /// Begins to merge segments of a day, if some should be merged.
    pub(super) fn begin_merge(
        &self,
        view: &dyn ReadView,
        day: Day,
        is_over: bool,
    ) -> Result<Option<Merging>, Unreadable> {
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
        let level = members
            .iter()
            .map(|segment| segment.level)
            .max()
            .unwrap_or(0);
        let into = SegmentAt {
            first: first.first,
            last: last.last,
            weight: weight(&arrivals),
            level: level.saturating_add(1),
            places: places(&arrivals),
            earliest: earliest(&arrivals),
            loaded: Arc::default(),
        };
        Ok(Some(Merging {
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
    pub(super) fn merge_slice(
        &mut self,
        view: &dyn ReadView,
        mut work: Merging,
        slice: &mut Slice,
    ) -> Result<Option<Merging>, Unreadable> {
        let partition = Partition::Day(work.day);
        let blocks = self.roster.next_number().div_ceil(BLOCK_RECIPIENTS);
        while work.block < blocks {
            let mut found = Vec::new();
            for (id, ordinals) in &work.parts {
                let key = posting_key(self.no, work.block, *id);
                if let Some(bytes) = view.get(partition, &key)? {
                    slice.spend(bytes.len());
                    found.push((bytes, ordinals.start));
                    work.obsolete.push(key);
                }
            }
            if !found.is_empty() {
                let found: Vec<(&[u8], u32)> = found.iter().map(|(b, at)| (&b[..], *at)).collect();
                let key = posting_key(self.no, work.block, work.into.id());
                slice.put(partition, key, Some(postings::merge(&found)?));
            }
            work.block += 1;
            if slice.is_full() {
                return Ok(Some(work));
            }
        }
        let Some(held) = self.days.get_mut(&work.day) else {
            return Ok(None);
        };
        for key in work.obsolete {
            slice.put(partition, key, None);
        }
        let mut rest = &work.arrivals[..];
        for ((id, _), part) in work.parts.iter().zip(&held.segments[work.segments.clone()]) {
            let (arrivals, others) = rest.split_at(rest.len().min(part.weight.arrivals as usize));
            rest = others;
            for key in segment::keys(self.no, *id, arrivals) {
                slice.put(partition, key, None);
            }
        }
        for (key, row) in segment::rows(self.no, work.into.id(), &work.arrivals) {
            slice.put(partition, key, Some(row));
        }
        drop(work.into.loaded.set(Arc::new(Segment::new(work.arrivals))));
        held.segments.splice(work.segments, [work.into]);
        let list = encode(&held.segment_list());
        slice.put(partition, segment_list_key(self.no), Some(list));
        Ok(None)
    }

    /// Drops the loaded content of older days, so that memory doesn't grow with reads.
    pub(super) fn unload_before(&mut self, today: Day) {
        let is_loaded = |segment: &SegmentAt| segment.loaded.get().is_some();
        for (_, held) in self.days.range_mut(..today) {
            if held.segments.iter().any(is_loaded) {
                let segments = held.segments.iter_mut();
                segments.for_each(|segment| segment.loaded = Arc::default());
            }
        }
    }

    /// Drops all but the newest arrivals of a day, so that memory doesn't grow with events. Entries that
    /// are due soon are among the newest.
    pub(super) fn unload_most(&mut self, day: Day) {
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

/// At most this many arrivals of a tail, fewer if a row of the journal would be cut.
fn whole_rows(tail: &[Arc<StoredArrival>], mut count: usize) -> &[Arc<StoredArrival>] {
    while let [.., last, next] = &tail[..tail.len().min(count + 1)]
        && count < tail.len()
        && last.row == next.row
    {
        count -= 1;
    }
    &tail[..count]
}

/// As many of these arrivals as one segment may hold: whole rows of the journal, at least one.
fn one_run(kept: &[Arc<StoredArrival>]) -> &[Arc<StoredArrival>] {
    let (mut taken, mut sum) = (0, Weight::default());
    for row in kept.chunk_by(|one, next| one.row == next.row) {
        sum = sum.plus(weight(row));
        if taken > 0 && !sum.fits() {
            break;
        }
        taken += row.len();
    }
    &kept[..taken]
}

fn weight(kept: &[Arc<StoredArrival>]) -> Weight {
    let each = kept.iter().map(|kept| Weight::of(kept));
    each.fold(Weight::default(), Weight::plus)
}

/// The first and the last place of arrivals' events.
fn places(arrivals: &[Arc<StoredArrival>]) -> (u64, u64) {
    let places = arrivals.iter().map(|kept| kept.arrival.place);
    let first = places.clone().min().unwrap_or_default();
    (first, places.max().unwrap_or_default())
}

fn earliest(arrivals: &[Arc<StoredArrival>]) -> Instant {
    let times = arrivals.iter().map(|kept| kept.arrival.t);
    times.min().unwrap_or_default()
}

fn without_sets(kept: &StoredArrival) -> Arc<StoredArrival> {
    let mut rest = StoredArrival {
        row: 0,
        ..kept.clone()
    };
    for variant in &mut rest.arrival.variants {
        variant.who = Set::default();
    }
    Arc::new(rest)
}

fn count(things: usize) -> u32 {
    u32::try_from(things).expect("a segment has fewer arrivals and variants than 2^32")
}
