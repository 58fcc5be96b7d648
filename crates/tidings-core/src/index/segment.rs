//! The rows of a segment, and the ways of reading them.
//!
//! Messages of many recipients need all its arrivals, which are decoded once and kept. A reader of one event finds it
//! by the facets and decodes its row alone: decoding a segment of thousands would take milliseconds, in every bucket.

use std::collections::BTreeSet;
use std::sync::Arc;

use roaring::RoaringBitmap;

use super::day::SegmentAt;
use super::facets::{self, Facets, facets_key, facets_prefix};
use super::state::Index;
use crate::index::postings::{BLOCK_RECIPIENTS, PostingBlock};
use crate::journal::stored::{ReadView, Segment, StoredArrival, Unreadable, decode, each, encode};
use crate::journal::table::{Key, Owner, Partition, Table};
use crate::model::id::BucketNo;
use crate::model::number::{EventNo, Seq};
use crate::model::time::Day;

/// The key of a segment's postings for a block of recipients.
pub(super) fn posting_key(bucket: BucketNo, block: u32, segment: u64) -> Vec<u8> {
    Key::of(Owner::Bucket(bucket), Table::Postings).u32(block).u64(segment).done()
}

/// The key prefix of a segment's arrivals.
fn arrivals_key(bucket: BucketNo, segment: u64) -> Key {
    Key::of(Owner::Bucket(bucket), Table::Segments).u64(segment)
}

/// The key of a row of a segment's arrivals, by its first arrival.
fn row_key(bucket: BucketNo, segment: u64, first: usize) -> Vec<u8> {
    let first = u32::try_from(first).unwrap_or(u32::MAX);
    arrivals_key(bucket, segment).u32(first).done()
}

/// All rows of a segment except its postings.
pub(super) fn rows(
    bucket: BucketNo,
    segment: u64,
    arrivals: &[Arc<StoredArrival>],
) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut rows: Vec<_> = facets::row_ranges(arrivals)
        .into_iter()
        .map(|row| (row_key(bucket, segment, row.start), encode(&&arrivals[row])))
        .collect();
    rows.extend(facets::rows(bucket, segment, arrivals));
    rows
}

/// The keys of these rows.
pub(super) fn keys(
    bucket: BucketNo,
    segment: u64,
    arrivals: &[Arc<StoredArrival>],
) -> Vec<Vec<u8>> {
    let mut keys: Vec<_> = facets::row_ranges(arrivals)
        .into_iter()
        .map(|row| row_key(bucket, segment, row.start))
        .collect();
    keys.extend(facets::keys(bucket, segment, arrivals));
    keys
}

impl Index {
    /// The content of a segment, read once.
    pub(crate) fn segment(
        &self,
        view: &dyn ReadView,
        day: Day,
        stored: &SegmentAt,
    ) -> Result<Arc<Segment>, Unreadable> {
        let segment = self.segment_once(view, day, stored)?;
        Ok(Arc::clone(stored.loaded.get_or_init(|| segment)))
    }

    /// [`Index::segment`] without keeping the content, for a reader of all segments.
    pub(crate) fn segment_once(
        &self,
        view: &dyn ReadView,
        day: Day,
        stored: &SegmentAt,
    ) -> Result<Arc<Segment>, Unreadable> {
        if let Some(segment) = stored.loaded.get() {
            return Ok(Arc::clone(segment));
        }
        let mut arrivals: Vec<Arc<StoredArrival>> = Vec::new();
        let prefix = arrivals_key(self.bucket, stored.id()).done();
        each(view, Partition::Day(day), &prefix, |_, chunk| {
            let chunk: Vec<Arc<StoredArrival>> = decode("a segment", chunk)?;
            arrivals.extend(chunk);
            Ok(())
        })?;
        if arrivals.len() != stored.weight.arrivals as usize {
            return Err(self.is_missing(stored));
        }
        Ok(Arc::new(Segment::new(arrivals)))
    }

    /// A chunk of a segment's facets.
    pub(crate) fn facets(
        &self,
        view: &dyn ReadView,
        day: Day,
        stored: &SegmentAt,
        chunk: u32,
    ) -> Result<Vec<u8>, Unreadable> {
        let row = view.get(Partition::Day(day), &facets_key(self.bucket, stored.id(), chunk))?;
        row.ok_or_else(|| self.is_missing(stored))
    }

    /// Visits all facets of a segment, chunk by chunk.
    fn each_facets(
        &self,
        view: &dyn ReadView,
        day: Day,
        stored: &SegmentAt,
        take: &mut dyn FnMut(&Facets<'_>),
    ) -> Result<(), Unreadable> {
        let prefix = facets_prefix(self.bucket, stored.id()).done();
        let (mut ordinals, mut arrivals) = (0, 0);
        each(view, Partition::Day(day), &prefix, |_, chunk| {
            let facets = Facets::parse(chunk)?;
            if facets.ordinals().start != ordinals {
                return Err(self.is_missing(stored));
            }
            (ordinals, arrivals) = (facets.ordinals().end, facets.arrivals_end());
            take(&facets);
            Ok(())
        })?;
        if arrivals == stored.weight.arrivals as usize {
            Ok(())
        } else {
            Err(self.is_missing(stored))
        }
    }

    /// One arrival of a segment.
    fn arrival_at_rest(
        &self,
        view: &dyn ReadView,
        day: Day,
        stored: &SegmentAt,
        arrival: usize,
    ) -> Result<Arc<StoredArrival>, Unreadable> {
        let (first, mut row) = facets::row_of(arrival, |first| {
            let row = view
                .get(Partition::Day(day), &row_key(self.bucket, stored.id(), first))?
                .ok_or_else(|| self.is_missing(stored))?;
            let row: Vec<Arc<StoredArrival>> = decode("a segment", &row)?;
            let arrivals = row.len();
            Ok::<_, Unreadable>((row, arrivals))
        })?;
        Ok(row.swap_remove(arrival - first))
    }

    /// The arrival with a seq; `None` = its day is deleted, or there is none.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub(crate) fn arrival(
        &self,
        view: &dyn ReadView,
        seq: Seq,
    ) -> Result<Option<Arc<StoredArrival>>, Unreadable> {
        let mut newest_first = self.days.iter().rev();
        let Some((day, held)) = newest_first.find(|(_, held)| held.first <= seq) else {
            return Ok(None);
        };
        if let Some(kept) = held.tail.get(&seq) {
            return Ok(Some(Arc::clone(kept)));
        }
        let mut segments = held.segments.iter();
        let Some(at) = segments.find(|at| (at.first..=at.last).contains(&seq)) else {
            return Ok(None);
        };
        if let Some(segment) = at.loaded.get() {
            let found = segment.arrivals.binary_search_by_key(&seq, |kept| kept.seq);
            return Ok(found.ok().map(|found| Arc::clone(&segment.arrivals[found])));
        }
        let mut found = None;
        self.each_facets(view, *day, at, &mut |facets| {
            found = found.or_else(|| facets.arrival_with(seq));
        })?;
        found.map(|arrival| self.arrival_at_rest(view, *day, at, arrival)).transpose()
    }

    /// The error for missing rows of a segment.
    pub(crate) fn is_missing(&self, stored: &SegmentAt) -> Unreadable {
        Unreadable(format!(
            "rows of segment {} of bucket {} are missing",
            stored.first, self.bucket
        ))
    }

    /// The arrivals of an event on its own day and on the days to which it was moved.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub(crate) fn arrivals_of(
        &self,
        view: &dyn ReadView,
        place: EventNo,
        days: &BTreeSet<Day>,
    ) -> Result<Vec<Arc<StoredArrival>>, Unreadable> {
        let mut arrivals = Vec::new();
        let held = days.iter().filter_map(|day| self.days.get_key_value(day));
        for (day, held) in held {
            for at in &held.segments {
                if !at.places.contains(&place) {
                    continue;
                }
                // Where one chunk ends within an arrival, the next one has it too.
                let mut found = BTreeSet::new();
                self.each_facets(view, *day, at, &mut |facets| {
                    found.extend(facets.arrivals_of(place));
                })?;
                for arrival in found {
                    arrivals.push(self.arrival_at_rest(view, *day, at, arrival)?);
                }
            }
            let of = held.tail.values().filter(|kept| kept.arrival.place == place);
            arrivals.extend(of.cloned());
        }
        Ok(arrivals)
    }

    /// The sets of an arrival's variants, in order, among these recipients.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub(crate) fn sets_of(
        &self,
        view: &dyn ReadView,
        kept: &StoredArrival,
        everyone: &RoaringBitmap,
    ) -> Result<Vec<RoaringBitmap>, Unreadable> {
        let variants = &kept.arrival.variants;
        let day = kept.arrival.at.day();
        let mut segments = self.days.get(&day).map(|held| &held.segments).into_iter().flatten();
        let Some(at) = segments.find(|segment| (segment.first..=segment.last).contains(&kept.seq))
        else {
            // It is in the tail, where arrivals have their sets with them.
            return Ok(variants.iter().map(|variant| variant.recipients.0.clone()).collect());
        };
        let mut first = None;
        self.each_facets(view, day, at, &mut |facets| {
            first = first.or_else(|| facets.first_ordinal(kept.seq));
        })?;
        let first = first.ok_or_else(|| self.is_missing(at))?;
        let mut sets = vec![RoaringBitmap::new(); variants.len()];
        self.each_posting(view, day, at, everyone, &mut |number, ordinal| {
            let variant = ordinal.checked_sub(first).map(|variant| variant as usize);
            if let Some(set) = variant.and_then(|variant| sets.get_mut(variant)) {
                set.insert(number);
            }
        })?;
        Ok(sets)
    }

    /// Visits the postings of some recipients: the number of each, and which variant of the segment.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub(super) fn each_posting(
        &self,
        view: &dyn ReadView,
        day: Day,
        stored: &SegmentAt,
        recipients: &RoaringBitmap,
        take: &mut dyn FnMut(u32, u32),
    ) -> Result<(), Unreadable> {
        let mut number_next = recipients.min();
        while let Some(first) = number_next {
            let block = first / BLOCK_RECIPIENTS;
            let base = block * BLOCK_RECIPIENTS;
            let last = base + (BLOCK_RECIPIENTS - 1);
            let key = posting_key(self.bucket, block, stored.id());
            if let Some(bytes) = view.get(Partition::Day(day), &key)? {
                PostingBlock::parse(&bytes)?.each(
                    |slot| recipients.contains(base + u32::from(slot)),
                    |slot, ordinal| take(base + u32::from(slot), ordinal),
                )?;
            }
            number_next = last.checked_add(1).and_then(|next| recipients.range(next..).next());
        }
        Ok(())
    }

    /// Adds the ordinals of one recipient's entries in a segment, ascending.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub(crate) fn row_of(
        &self,
        view: &dyn ReadView,
        day: Day,
        stored: &SegmentAt,
        number: u32,
        ordinals: &mut Vec<u32>,
    ) -> Result<(), Unreadable> {
        let block = number / BLOCK_RECIPIENTS;
        let key = posting_key(self.bucket, block, stored.id());
        if let Some(bytes) = view.get(Partition::Day(day), &key)? {
            let slot = u8::try_from(number % BLOCK_RECIPIENTS).expect("a slot is within its block");
            PostingBlock::parse(&bytes)?.row(slot, &mut |ordinal| ordinals.push(ordinal))?;
        }
        Ok(())
    }
}
