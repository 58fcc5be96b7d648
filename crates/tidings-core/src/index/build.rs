//! Building: arrivals of the tail become a segment with its postings.
//!
//! A tail is indexed once it holds enough, or whatever it holds once its day is over. What goes to rest is
//! covered by a checkpoint, so that nothing has to be replayed whose sets are gone.

use std::sync::Arc;

use roaring::RoaringBitmap;

use super::day::{SegmentAt, SegmentSize, earliest, places, segment_list_key, weight};
use super::segment::{self, posting_key};
use super::slice::Slice;
use super::state::Index;
use crate::index::postings;
use crate::journal::row::journal_key;
use crate::journal::stored::{Segment, StoredArrival, encode};
use crate::journal::table::Partition;
use crate::model::number::Seq;
use crate::model::time::Day;
use crate::sets::set::Set;

/// A tail that is being indexed.
#[derive(Debug)]
pub(crate) struct TailIndexing {
    pub(crate) day: Day,
    kept: Vec<Arc<StoredArrival>>,
    /// The number of the recipient at which to continue.
    next: Option<u32>,
}

impl Index {
    /// Begins to index a day's tail below a seq, if that part holds at least this many notifications.
    pub(crate) fn begin_build(&self, day: Day, least: u64, below: Seq) -> Option<TailIndexing> {
        let held = self.days.get(&day)?;
        if held.tail_notifications < least {
            return None;
        }
        let is_ready = |kept: &Arc<StoredArrival>| kept.seq < below;
        let tail: Vec<_> = held.tail.values().cloned().collect();
        let kept = whole_rows(&tail, tail.partition_point(is_ready));
        let notifications: u64 = kept.iter().map(|kept| kept.notifications()).sum();
        (!kept.is_empty() && notifications >= least).then(|| TailIndexing {
            day,
            kept: one_segment(kept).to_vec(),
            next: Some(0),
        })
    }

    /// Writes a slice of the postings; the last slice replaces the arrivals by the segment.
    pub(crate) fn build(
        &mut self,
        mut work: TailIndexing,
        slice: &mut Slice,
    ) -> Option<TailIndexing> {
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
        let sets: Vec<&RoaringBitmap> = work
            .kept
            .iter()
            .flat_map(|kept| &kept.arrival.variants)
            .map(|variant| &variant.recipients.0)
            .collect();
        while let Some(from) = work.next {
            let stripe = postings::build_stripe(&sets, from);
            work.next = stripe.as_ref().and_then(|stripe| stripe.next);
            for (block, bytes) in stripe.into_iter().flat_map(|stripe| stripe.blocks) {
                let key = posting_key(self.bucket, block, segment.id());
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
            // Leaves the tail with the last slice, in the commit that names the segment: an arrival is in
            // one of the two.
            held.tail.remove(&kept.seq);
            held.tail_notifications -= kept.notifications();
            if gone.replace(kept.row) != Some(kept.row) {
                slice.put(partition, journal_key(self.bucket, kept.row), None);
            }
        }
        for (key, row) in segment::rows(self.bucket, segment.id(), &rest) {
            slice.put(partition, key, Some(row));
        }
        let _ = segment.loaded.set(Arc::new(Segment::new(rest)));
        held.segments.push(segment);
        let list = encode(&held.segment_list());
        slice.put(partition, segment_list_key(self.bucket), Some(list));
        None
    }
}

/// At most this many arrivals of a tail, fewer if a row of the journal would be cut.
fn whole_rows(tail: &[Arc<StoredArrival>], mut count: usize) -> &[Arc<StoredArrival>] {
    while let [.., last, next] = &tail[..tail.len().min(count + 1)]
        && count < tail.len()
        && last.row == next.row
    {
        // A segment takes whole rows of the journal, which are deleted with it: what is left of a cut row
        // would be lost.
        count -= 1;
    }
    &tail[..count]
}

/// As many of these arrivals as one segment may hold: whole rows of the journal, at least one.
fn one_segment(kept: &[Arc<StoredArrival>]) -> &[Arc<StoredArrival>] {
    let (mut taken, mut sum) = (0, SegmentSize::default());
    for row in kept.chunk_by(|one, next| one.row == next.row) {
        sum = sum.plus(weight(row));
        if taken > 0 && !sum.fits() {
            break;
        }
        taken += row.len();
    }
    &kept[..taken]
}

fn without_sets(kept: &StoredArrival) -> Arc<StoredArrival> {
    let mut rest = StoredArrival { row: Seq::default(), ..kept.clone() };
    for variant in &mut rest.arrival.variants {
        variant.recipients = Set::default();
    }
    Arc::new(rest)
}
