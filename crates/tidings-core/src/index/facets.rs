//! Facets: the columns of a segment's arrivals that an inbox needs, without their sets.
//!
//! A segment's arrivals are decoded whole to build mails of thousands. An inbox needs a few entries of one reader, so
//! it reads *facets* (by which entries are counted, grouped and compared with marks) and, for the shown ones,
//! *details*. Both are derived from the arrivals and written with the segment, in chunks: what concerns others is read
//! only as far as it lies beside.

use std::ops::Range;
use std::sync::Arc;

use crate::codec::{ByteReader, Corrupt, FORM, put_u32};
use crate::journal::record::{Arrival, EventAt, Variant};
use crate::journal::stored::StoredArrival;
use crate::journal::table::{Key, Owner, Table};
use crate::model::id::BucketNo;
use crate::model::number::{EventNo, LaneNo, Seq, TypeNo};
use crate::model::tenant::TenantNo;
use crate::model::time::{Day, Instant};
use crate::sets::packed::{PackedColumn, PackedTexts, put_column, put_texts};

/// The most arrivals that share a row: of details, and of the segment itself. No row reaches over a multiple
/// of it, so that a reader finds the row of an arrival.
const ROW_ARRIVALS: usize = 128;

/// The number of bytes at which a row is full.
const ROW_BYTES: u64 = 256 << 10;

/// Number of ordinals in a chunk of facets: a reader of many entries reads few rows, and one of a single
/// entry some 20 kB, however large the segment.
const CHUNK_ORDINALS: u32 = 1024;

/// Number of arrivals that share one pair of time bounds.
const NEIGHBOURS: usize = 128;

/// The columns that a chunk of facets has only where it needs them, as bits: groups that are not objects, tenants.
const HAS_GROUPS: u8 = 1;
const HAS_TENANTS: u8 = 2;

const FACETS: &str = "facets of a segment";
const DETAILS: &str = "details of a segment";

/// The key prefix of a segment's facets.
pub(super) fn facets_prefix(bucket: BucketNo, segment: u64) -> Key {
    Key::of(Owner::Bucket(bucket), Table::Facets).u64(segment)
}

/// The chunk of a segment's facets that contains an ordinal.
pub(crate) fn facets_chunk(ordinal: u32) -> u32 {
    ordinal / CHUNK_ORDINALS
}

/// The key of a chunk of a segment's facets.
pub(super) fn facets_key(bucket: BucketNo, segment: u64, chunk: u32) -> Vec<u8> {
    facets_prefix(bucket, segment).u32(chunk).done()
}

/// The key of a row of details, by its first arrival.
pub(crate) fn details_key(bucket: BucketNo, segment: u64, first: usize) -> Vec<u8> {
    let first = u32::try_from(first).unwrap_or(u32::MAX);
    Key::of(Owner::Bucket(bucket), Table::Details).u64(segment).u32(first).done()
}

/// An upper bound on the bytes of an arrival in a row, without its sets.
pub(super) fn row_bytes(arrival: &Arrival) -> u64 {
    let words = arrival.reasons.iter().map(|word| word.len() + 5);
    let variants = arrival.variants.iter().map(|variant| {
        let elsewhere = variant.elsewhere.iter().map(|of| 2 + of.reasons.len());
        let numbers = variant.lanes.len() + variant.reasons.len();
        16 + 3 * (numbers + elsewhere.sum::<usize>())
    });
    (104 + words.sum::<usize>() + variants.sum::<usize>()) as u64
}

/// Splits arrivals into rows: neighbours share one until it is full.
pub(super) fn row_ranges(arrivals: &[Arc<StoredArrival>]) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    let mut bytes = 0;
    for (at, kept) in arrivals.iter().enumerate() {
        let more = row_bytes(&kept.arrival);
        bytes += more;
        match ranges.last_mut() {
            Some(row) if !at.is_multiple_of(ROW_ARRIVALS) && bytes <= ROW_BYTES => row.end = at + 1,
            _ => {
                ranges.push(at..at + 1);
                bytes = more;
            }
        }
    }
    ranges
}

/// The row that holds an arrival, of those of [`row_ranges`]: `read` gets the first arrival of a row, and returns the
/// row and its number of arrivals.
pub(crate) fn row_of<T, E>(
    arrival: usize,
    mut read: impl FnMut(usize) -> Result<(T, usize), E>,
) -> Result<(usize, T), E> {
    let mut first = arrival - arrival % ROW_ARRIVALS;
    loop {
        let (row, arrivals) = read(first)?;
        if arrival - first < arrivals {
            return Ok((first, row));
        }
        first += arrivals.max(1);
    }
}

/// The rows of a segment that inboxes read.
pub(crate) fn rows(
    bucket: BucketNo,
    segment: u64,
    arrivals: &[Arc<StoredArrival>],
) -> Vec<(Vec<u8>, Vec<u8>)> {
    let ranges = row_ranges(arrivals);
    let arrivals: Vec<&StoredArrival> = arrivals.iter().map(|kept| &**kept).collect();
    let variants = arrivals
        .iter()
        .enumerate()
        .flat_map(|(at, kept)| kept.arrival.variants.iter().map(move |variant| (at, variant)));
    let variants: Vec<(usize, &Variant)> = variants.collect();
    let mut rows: Vec<_> = (0..)
        .zip(variants.chunks(CHUNK_ORDINALS as usize))
        .map(|(chunk, variants)| {
            let key = facets_key(bucket, segment, chunk);
            (key, encode_facets(chunk * CHUNK_ORDINALS, variants, &arrivals))
        })
        .collect();
    let mut ordinal = 0;
    for range in ranges {
        let key = details_key(bucket, segment, range.start);
        let row = &arrivals[range];
        rows.push((key, encode_details(row, ordinal)));
        let variants = row.iter().map(|kept| kept.arrival.variants.len() as u64);
        ordinal += variants.sum::<u64>();
    }
    rows
}

/// The keys of these rows.
pub(crate) fn keys(
    bucket: BucketNo,
    segment: u64,
    arrivals: &[Arc<StoredArrival>],
) -> Vec<Vec<u8>> {
    let variants = arrivals.iter().map(|kept| kept.arrival.variants.len());
    let ordinals = u32::try_from(variants.sum::<usize>()).unwrap_or(u32::MAX);
    let chunks = 0..ordinals.div_ceil(CHUNK_ORDINALS);
    let details = row_ranges(arrivals).into_iter();
    chunks
        .map(|chunk| facets_key(bucket, segment, chunk))
        .chain(details.map(|row| details_key(bucket, segment, row.start)))
        .collect()
}

/// A chunk of facets for these variants, each with its arrival's index in the segment.
fn encode_facets(
    first_ordinal: u32,
    variants: &[(usize, &Variant)],
    arrivals: &[&StoredArrival],
) -> Vec<u8> {
    let (Some(&(first, _)), Some(&(last, _))) = (variants.first(), variants.last()) else {
        return Vec::new();
    };
    let arrivals = &arrivals[first..=last];
    let mut lane_sets = indexmap::IndexSet::<&[LaneNo], rustc_hash::FxBuildHasher>::default();
    let (mut sets, mut back) = (Vec::new(), Vec::new());
    for (at, variant) in variants {
        back.push((first + sets.len() - at) as u64);
        sets.push(lane_sets.insert_full(&variant.lanes).0 as u64);
    }
    let mut out = vec![FORM];
    put_u32(&mut out, first_ordinal);
    for count in [first, arrivals.len(), sets.len(), lane_sets.len()] {
        put_u32(&mut out, u32::try_from(count).unwrap_or(u32::MAX));
    }
    for lanes in lane_sets {
        put_u32(&mut out, u32::try_from(lanes.len()).unwrap_or(u32::MAX));
        for lane in lanes {
            put_u32(&mut out, u32::from(lane.0));
        }
    }
    put_column(&mut out, sets.into_iter());
    put_column(&mut out, back.into_iter());
    let each = || arrivals.iter().map(|kept| (kept.seq, &kept.arrival));
    put_column(&mut out, each().map(|(seq, _)| seq.0));
    put_column(&mut out, each().map(|(_, arrival)| arrival.place.0));
    put_column(&mut out, each().map(|(_, arrival)| u64::from(arrival.type_no.0)));
    put_column(&mut out, each().map(|(_, arrival)| arrival.about.object));
    let has_groups = each().any(|(_, arrival)| arrival.about.pivot.is_some());
    let has_tenants = each().any(|(_, arrival)| arrival.tenant.is_some());
    out.push(u8::from(has_groups) * HAS_GROUPS + u8::from(has_tenants) * HAS_TENANTS);
    if has_groups {
        put_column(&mut out, each().map(|(_, arrival)| arrival.about.group()));
    }
    if has_tenants {
        put_column(&mut out, each().map(|(_, arrival)| u64::from(TenantNo::raw(arrival.tenant))));
    }
    let times = |neighbours: &[&StoredArrival]| {
        let times = neighbours.iter().map(|kept| kept.arrival.t);
        let first = times.clone().min().unwrap_or_default();
        (ordered(first), ordered(times.max().unwrap_or_default()))
    };
    let bounds: Vec<(u64, u64)> = arrivals.chunks(NEIGHBOURS).map(times).collect();
    put_column(&mut out, bounds.iter().map(|(first, _)| *first));
    put_column(&mut out, bounds.iter().map(|(_, last)| *last));
    out
}

fn encode_details(arrivals: &[&StoredArrival], first_ordinal: u64) -> Vec<u8> {
    let mut words = indexmap::IndexSet::<&str, rustc_hash::FxBuildHasher>::default();
    let (mut ends, mut numbers) = (vec![0], Vec::new());
    for kept in arrivals {
        for variant in &kept.arrival.variants {
            for reason in &variant.reasons {
                if let Some(word) = kept.arrival.reasons.get(usize::from(*reason)) {
                    numbers.push(words.insert_full(word).0 as u64);
                }
            }
            ends.push(numbers.len() as u64);
        }
    }
    let mut out = vec![FORM];
    for count in [arrivals.len(), ends.len() - 1, numbers.len(), words.len()] {
        put_u32(&mut out, u32::try_from(count).unwrap_or(u32::MAX));
    }
    crate::codec::put_u64(&mut out, first_ordinal);
    let each = || arrivals.iter().map(|kept| &kept.arrival);
    put_column(&mut out, each().map(|arrival| ordered(arrival.t)));
    put_column(&mut out, each().map(|arrival| u64::from(arrival.event.ordinal)));
    let days_before = |arrival: &Arrival| arrival.at.day().0.wrapping_sub(arrival.event.day.0);
    let days_before = each().map(|arrival| u64::from(days_before(arrival).cast_unsigned()));
    put_column(&mut out, days_before);
    put_column(&mut out, ends.into_iter());
    put_column(&mut out, numbers.into_iter());
    put_texts(&mut out, words.into_iter());
    // The arrivals of moved entries are later than their `t`; elsewhere the column takes two bytes.
    put_column(
        &mut out,
        each().map(|arrival| arrival.at.0.wrapping_sub(arrival.t.0).cast_unsigned()),
    );
    out
}

/// The first of `len` indexes for which the predicate is false; it is true for all before.
fn partition_point(len: usize, holds: impl Fn(usize) -> bool) -> usize {
    let (mut from, mut to) = (0, len);
    while from < to {
        let middle = from + (to - from) / 2;
        if holds(middle) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    from
}

/// An instant as a number whose order is that of instants.
fn ordered(instant: Instant) -> u64 {
    instant.0.cast_unsigned() ^ (1 << 63)
}

fn instant(ordered: u64) -> Instant {
    Instant((ordered ^ (1 << 63)).cast_signed())
}

/// A chunk of a segment's facets as stored. Arrivals and ordinals are counted from the segment's first.
#[derive(Debug)]
pub(crate) struct Facets<'a> {
    first_ordinal: usize,
    first_arrival: usize,
    lane_sets: Vec<Vec<LaneNo>>,
    /// By ordinal: its set of lanes.
    sets: PackedColumn<'a>,
    /// By ordinal: by how much more it is above the first one than its arrival.
    back: PackedColumn<'a>,
    // By arrival.
    seqs: PackedColumn<'a>,
    places: PackedColumn<'a>,
    types: PackedColumn<'a>,
    objects: PackedColumn<'a>,
    groups: PackedColumn<'a>,
    /// `None` = all are of no tenant.
    tenants: Option<PackedColumn<'a>>,
    // By neighbours.
    first_t: PackedColumn<'a>,
    last_t: PackedColumn<'a>,
}

impl<'a> Facets<'a> {
    /// # Errors
    /// [`Corrupt`] where the bytes are something else.
    pub(crate) fn parse(bytes: &'a [u8]) -> Result<Self, Corrupt> {
        let mut reader = ByteReader::new(bytes, FACETS);
        let reader = &mut reader;
        if reader.byte()? != FORM {
            return Err(reader.corrupt());
        }
        let (first_ordinal, first_arrival) = (reader.u32()? as usize, reader.u32()? as usize);
        let (arrivals, ordinals) = (reader.u32()? as usize, reader.u32()? as usize);
        let lane_sets = (0..reader.count()?).map(|_| {
            (0..reader.count()?)
                .map(|_| u16::try_from(reader.u32()?).map_err(|_| reader.corrupt()))
                .map(|no| no.map(LaneNo))
                .collect::<Result<Vec<_>, _>>()
        });
        let lane_sets = lane_sets.collect::<Result<Vec<_>, _>>()?;
        let (sets, back) =
            (PackedColumn::read(reader, ordinals)?, PackedColumn::read(reader, ordinals)?);
        let seqs = PackedColumn::read(reader, arrivals)?;
        let places = PackedColumn::read(reader, arrivals)?;
        let types = PackedColumn::read(reader, arrivals)?;
        let objects = PackedColumn::read(reader, arrivals)?;
        let columns = reader.byte()?;
        if columns & !(HAS_GROUPS | HAS_TENANTS) != 0 {
            return Err(reader.corrupt());
        }
        let mut has = |column| match columns & column {
            0 => Ok(None),
            _ => PackedColumn::read(reader, arrivals).map(Some),
        };
        let (groups, tenants) = (has(HAS_GROUPS)?, has(HAS_TENANTS)?);
        let groups = groups.unwrap_or(objects);
        let neighbours = arrivals.div_ceil(NEIGHBOURS);
        Ok(Self {
            first_ordinal,
            first_arrival,
            lane_sets,
            sets,
            back,
            seqs,
            places,
            types,
            objects,
            groups,
            tenants,
            first_t: PackedColumn::read(reader, neighbours)?,
            last_t: PackedColumn::read(reader, neighbours)?,
        })
    }

    /// The range of its ordinals.
    pub(crate) fn ordinals(&self) -> Range<usize> {
        self.first_ordinal..self.first_ordinal + self.sets.len()
    }

    /// The index after its last arrival.
    pub(crate) fn arrivals_end(&self) -> usize {
        self.first_arrival + self.seqs.len()
    }

    /// Returns true if each set of lanes in the chunk is wanted; to be passed to [`Facets::arrivals`].
    pub(crate) fn lane_sets(&self, wanted: impl Fn(&[LaneNo]) -> bool) -> Vec<bool> {
        self.lane_sets.iter().map(|lanes| wanted(lanes)).collect()
    }

    /// Filters ordinals by wanted lanes; returns each with its arrival.
    pub(crate) fn arrivals(
        &self,
        ordinals: &[u32],
        wanted: &[bool],
    ) -> Result<Vec<(u32, usize)>, Corrupt> {
        let mut found = Vec::with_capacity(ordinals.len());
        for ordinal in ordinals {
            if let Some(arrival) = self.arrival(*ordinal, wanted)? {
                found.push((*ordinal, arrival));
            }
        }
        Ok(found)
    }

    /// Keeps those whose object is wanted, by the hash of its id.
    pub(crate) fn retain_objects(
        &self,
        found: &mut Vec<(u32, usize)>,
        wanted: impl Fn(u64) -> bool,
    ) -> Result<(), Corrupt> {
        let mut outcome = Ok(());
        found.retain(|(_, arrival)| match self.object(*arrival) {
            Ok(object) => wanted(object),
            Err(corrupt) => {
                outcome = Err(corrupt);
                false
            }
        });
        outcome
    }

    /// The arrival of an ordinal, if its lanes are wanted.
    fn arrival(&self, ordinal: u32, wanted: &[bool]) -> Result<Option<usize>, Corrupt> {
        let corrupt = Corrupt(FACETS);
        let at = (ordinal as usize).checked_sub(self.first_ordinal).ok_or(corrupt)?;
        let set = self.sets.get(at).and_then(|set| usize::try_from(set).ok());
        match set.and_then(|set| wanted.get(set)) {
            Some(true) => {}
            Some(false) => return Ok(None),
            None => return Err(corrupt),
        }
        let within = self.within(at).ok_or(corrupt)?;
        Ok(Some(self.first_arrival + within))
    }

    /// The index in the chunk of an ordinal's arrival.
    fn within(&self, index: usize) -> Option<usize> {
        index.checked_sub(usize::try_from(self.back.get(index)?).ok()?)
    }

    fn of_arrival(&self, column: PackedColumn<'_>, arrival: usize) -> Result<u64, Corrupt> {
        let at = arrival.checked_sub(self.first_arrival);
        at.and_then(|at| column.get(at)).ok_or(Corrupt(FACETS))
    }

    pub(crate) fn seq(&self, arrival: usize) -> Result<Seq, Corrupt> {
        self.of_arrival(self.seqs, arrival).map(Seq)
    }

    pub(crate) fn place(&self, arrival: usize) -> Result<EventNo, Corrupt> {
        self.of_arrival(self.places, arrival).map(EventNo)
    }

    /// The arrivals of the event at a place.
    pub(crate) fn arrivals_of(&self, place: EventNo) -> impl Iterator<Item = usize> {
        (0..self.places.len())
            .filter(move |at| self.places.get(*at) == Some(place.0))
            .map(|at| self.first_arrival + at)
    }

    /// The arrival with a seq, if the chunk has it.
    pub(crate) fn arrival_with(&self, seq: Seq) -> Option<usize> {
        let within = partition_point(self.seqs.len(), |at| self.seqs.get(at) < Some(seq.0));
        (self.seqs.get(within) == Some(seq.0)).then_some(self.first_arrival + within)
    }

    /// The ordinal of the first variant that the chunk has of the arrival with a seq.
    pub(crate) fn first_ordinal(&self, seq: Seq) -> Option<u32> {
        let within = partition_point(self.seqs.len(), |at| self.seqs.get(at) < Some(seq.0));
        if self.seqs.get(within) != Some(seq.0) {
            return None;
        }
        let first = partition_point(self.back.len(), |at| self.within(at) < Some(within));
        u32::try_from(self.first_ordinal + first).ok()
    }

    /// The hash of its object's id.
    pub(crate) fn object(&self, arrival: usize) -> Result<u64, Corrupt> {
        self.of_arrival(self.objects, arrival)
    }

    /// Its type, and the hash that identifies its group within the type.
    pub(crate) fn group(&self, arrival: usize) -> Result<(TypeNo, u64), Corrupt> {
        let number =
            u32::try_from(self.of_arrival(self.types, arrival)?).map_err(|_| Corrupt(FACETS))?;
        Ok((TypeNo(number), self.of_arrival(self.groups, arrival)?))
    }

    /// Its event's tenant; `None` = of none.
    pub(crate) fn tenant(&self, arrival: usize) -> Result<Option<TenantNo>, Corrupt> {
        let Some(tenants) = self.tenants else { return Ok(None) };
        let number = u32::try_from(self.of_arrival(tenants, arrival)?);
        number.map(TenantNo::of_raw).map_err(|_| Corrupt(FACETS))
    }

    /// Returns true if some of its arrivals are of a tenant.
    pub(crate) fn has_tenants(&self) -> bool {
        self.tenants.is_some()
    }

    /// Bounds of its `t` and of its neighbours'.
    pub(crate) fn bounds(&self, arrival: usize) -> Result<(Instant, Instant), Corrupt> {
        let corrupt = Corrupt(FACETS);
        let within = arrival.checked_sub(self.first_arrival).ok_or(corrupt)?;
        let at = within / NEIGHBOURS;
        let (first, last) = self.first_t.get(at).zip(self.last_t.get(at)).ok_or(corrupt)?;
        Ok((instant(first), instant(last)))
    }
}

/// A row of a segment's details as stored.
#[derive(Debug)]
pub(crate) struct Details<'a> {
    /// The index of its first arrival.
    first: usize,
    first_ordinal: u64,
    // By arrival.
    times: PackedColumn<'a>,
    ordinals: PackedColumn<'a>,
    /// By how many days its event's row is older.
    days_before: PackedColumn<'a>,
    /// By variant: the end of its reasons, with a leading 0.
    ends: PackedColumn<'a>,
    numbers: PackedColumn<'a>,
    words: PackedTexts<'a>,
    /// By arrival, by how much it is later than its `t`; `None` = an earlier version wrote the row.
    later: Option<PackedColumn<'a>>,
}

impl<'a> Details<'a> {
    /// # Errors
    /// [`Corrupt`] where the bytes are something else.
    pub(crate) fn parse(first: usize, bytes: &'a [u8]) -> Result<Self, Corrupt> {
        let mut reader = ByteReader::new(bytes, DETAILS);
        let reader = &mut reader;
        if reader.byte()? != FORM {
            return Err(reader.corrupt());
        }
        let mut count = || Ok::<_, Corrupt>(reader.u32()? as usize);
        let (arrivals, variants, numbers, words) = (count()?, count()?, count()?, count()?);
        Ok(Self {
            first,
            first_ordinal: reader.u64()?,
            times: PackedColumn::read(reader, arrivals)?,
            ordinals: PackedColumn::read(reader, arrivals)?,
            days_before: PackedColumn::read(reader, arrivals)?,
            ends: PackedColumn::read(reader, variants.checked_add(1).ok_or(Corrupt(DETAILS))?)?,
            numbers: PackedColumn::read(reader, numbers)?,
            words: PackedTexts::read(reader, words, DETAILS)?,
            later: if reader.is_empty() {
                None
            } else {
                Some(PackedColumn::read(reader, arrivals)?)
            },
        })
    }

    /// Number of arrivals in the row.
    pub(crate) fn arrivals(&self) -> usize {
        self.times.len()
    }

    fn of_arrival(&self, column: PackedColumn<'_>, arrival: usize) -> Result<u64, Corrupt> {
        let at = arrival.checked_sub(self.first);
        at.and_then(|at| column.get(at)).ok_or(Corrupt(DETAILS))
    }

    /// The time at which an arrival's entries entered.
    pub(crate) fn t(&self, arrival: usize) -> Result<Instant, Corrupt> {
        self.of_arrival(self.times, arrival).map(instant)
    }

    /// The instant of the arrival: later than its `t` if its entries were moved.
    pub(crate) fn at(&self, arrival: usize) -> Result<Instant, Corrupt> {
        let t = self.t(arrival)?;
        let later = self.later.map(|later| self.of_arrival(later, arrival)).transpose()?;
        Ok(t.plus_ms(later.unwrap_or(0).cast_signed()))
    }

    /// The address of the event's row, in a segment of a day.
    pub(crate) fn event(&self, arrival: usize, day: Day) -> Result<EventAt, Corrupt> {
        let number = |column| {
            let number = self.of_arrival(column, arrival)?;
            u32::try_from(number).map_err(|_| Corrupt(DETAILS))
        };
        let before = number(self.days_before)?.cast_signed();
        Ok(EventAt { day: Day(day.0.wrapping_sub(before)), ordinal: number(self.ordinals)? })
    }

    /// The words of an ordinal's reasons, sorted by bytes.
    pub(crate) fn reasons(&self, ordinal: u32) -> Result<Vec<String>, Corrupt> {
        let corrupt = Corrupt(DETAILS);
        let at = u64::from(ordinal).checked_sub(self.first_ordinal);
        let at = at.and_then(|at| usize::try_from(at).ok()).ok_or(corrupt)?;
        let (from, to) = self.ends.get(at).zip(self.ends.get(at + 1)).ok_or(corrupt)?;
        let number = |index: u64| self.numbers.get(usize::try_from(index).ok()?);
        let words = (from..to).map(|index| {
            let word = number(index).and_then(|word| usize::try_from(word).ok());
            Ok(self.words.get(word.ok_or(corrupt)?)?.to_owned())
        });
        words.collect()
    }
}

#[cfg(test)]
mod tests;
