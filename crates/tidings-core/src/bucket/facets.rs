//! What an inbox must know of a run's arrivals, by column and without their sets.
//!
//! A run's arrivals are decoded whole where mails of thousands are made of them. An inbox asks for a
//! few entries of one reader, so it reads *facets* (what entries are counted, grouped and held
//! against marks by) and, of those that are shown, *details* in chunks. Both are derived from the
//! arrivals and written with the run.

use std::sync::Arc;

use crate::codec::{Corrupt, Reader, put_u32};
use crate::journal::at_rest::Kept;
use crate::journal::record::{LaneNo, TypeNo};
use crate::packed::{Column, Texts, put_column, put_texts};
use crate::table::{Key, Owner, Table};
use crate::time::Instant;

/// How many arrivals share a chunk: of details, and of the run itself.
pub(super) const CHUNK_ARRIVALS: usize = 128;

/// The first byte of a row: which layout follows.
const FORM: u8 = 1;

const FACETS: &str = "facets of a run";
const DETAILS: &str = "details of a run";

/// The key of a run's facets.
pub(crate) fn facets_key(bucket: u16, run: u64) -> Vec<u8> {
    Key::of(Owner::Bucket(bucket), Table::Facets)
        .u64(run)
        .done()
}

/// The key of the details of the arrivals around one of a run's.
pub(crate) fn details_key(bucket: u16, run: u64, arrival: usize) -> Vec<u8> {
    let chunk = u32::try_from(arrival / CHUNK_ARRIVALS).unwrap_or(u32::MAX);
    Key::of(Owner::Bucket(bucket), Table::Details)
        .u64(run)
        .u32(chunk)
        .done()
}

/// The rows that let inboxes read a run.
pub(crate) fn rows(bucket: u16, run: u64, arrivals: &[Arc<Kept>]) -> Vec<(Vec<u8>, Vec<u8>)> {
    let arrivals: Vec<&Kept> = arrivals.iter().map(|kept| &**kept).collect();
    let mut rows = vec![(facets_key(bucket, run), encode_facets(&arrivals))];
    let mut ordinal = 0;
    for (at, chunk) in arrivals.chunks(CHUNK_ARRIVALS).enumerate() {
        let key = details_key(bucket, run, at * CHUNK_ARRIVALS);
        rows.push((key, encode_details(chunk, ordinal)));
        ordinal += variants(chunk);
    }
    rows
}

/// The keys of these rows, of a run of so many arrivals.
pub(crate) fn keys(bucket: u16, run: u64, arrivals: usize) -> Vec<Vec<u8>> {
    let chunks = (0..arrivals).step_by(CHUNK_ARRIVALS);
    let details = chunks.map(|arrival| details_key(bucket, run, arrival));
    std::iter::once(facets_key(bucket, run))
        .chain(details)
        .collect()
}

fn variants(arrivals: &[&Kept]) -> u64 {
    let counts = arrivals.iter().map(|kept| kept.arrival.variants.len());
    counts.sum::<usize>() as u64
}

fn encode_facets(arrivals: &[&Kept]) -> Vec<u8> {
    let mut lane_sets = indexmap::IndexSet::<&[LaneNo], rustc_hash::FxBuildHasher>::default();
    let (mut sets, mut back) = (Vec::new(), Vec::new());
    for (at, kept) in arrivals.iter().enumerate() {
        for variant in &kept.arrival.variants {
            back.push((sets.len() - at) as u64);
            sets.push(lane_sets.insert_full(&variant.lanes).0 as u64);
        }
    }
    let mut out = vec![FORM];
    put_u32(&mut out, u32::try_from(arrivals.len()).unwrap_or(u32::MAX));
    put_u32(&mut out, u32::try_from(sets.len()).unwrap_or(u32::MAX));
    put_u32(&mut out, u32::try_from(lane_sets.len()).unwrap_or(u32::MAX));
    for lanes in lane_sets {
        put_u32(&mut out, u32::try_from(lanes.len()).unwrap_or(u32::MAX));
        for lane in lanes {
            put_u32(&mut out, u32::from(*lane));
        }
    }
    put_column(&mut out, sets.into_iter());
    put_column(&mut out, back.into_iter());
    let each = || arrivals.iter().map(|kept| (kept.seq, &kept.arrival));
    put_column(&mut out, each().map(|(seq, _)| seq));
    put_column(&mut out, each().map(|(_, arrival)| arrival.place));
    put_column(&mut out, each().map(|(_, arrival)| u64::from(arrival.kind)));
    put_column(&mut out, each().map(|(_, arrival)| arrival.about.object));
    let by_object = each().all(|(_, arrival)| arrival.about.pivot.is_none());
    out.push(u8::from(!by_object));
    if !by_object {
        put_column(&mut out, each().map(|(_, arrival)| arrival.about.group()));
    }
    let times = |chunk: &[&Kept]| {
        let times = chunk.iter().map(|kept| kept.arrival.t);
        let first = times.clone().min().unwrap_or_default();
        (ordered(first), ordered(times.max().unwrap_or_default()))
    };
    let bounds: Vec<(u64, u64)> = arrivals.chunks(CHUNK_ARRIVALS).map(times).collect();
    put_column(&mut out, bounds.iter().map(|(first, _)| *first));
    put_column(&mut out, bounds.iter().map(|(_, last)| *last));
    out
}

fn encode_details(arrivals: &[&Kept], first_ordinal: u64) -> Vec<u8> {
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
    put_column(&mut out, each().map(|arrival| u64::from(arrival.ordinal)));
    put_column(&mut out, ends.into_iter());
    put_column(&mut out, numbers.into_iter());
    put_texts(&mut out, words.into_iter());
    out
}

/// The first place of so many for which this does not hold; it holds for all before it.
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

/// A run's facets as they lie in the store.
#[derive(Debug)]
pub(crate) struct Facets<'a> {
    lane_sets: Vec<Vec<LaneNo>>,
    /// By ordinal: which lanes.
    sets: Column<'a>,
    /// By ordinal: by how much it is higher than its arrival's place in the run.
    back: Column<'a>,
    // By arrival.
    seqs: Column<'a>,
    places: Column<'a>,
    kinds: Column<'a>,
    objects: Column<'a>,
    groups: Column<'a>,
    // By chunk.
    first_t: Column<'a>,
    last_t: Column<'a>,
}

impl<'a> Facets<'a> {
    /// # Errors
    /// [`Corrupt`] where the bytes are something else.
    pub(crate) fn parse(bytes: &'a [u8]) -> Result<Self, Corrupt> {
        let mut reader = Reader::new(bytes, FACETS);
        let reader = &mut reader;
        if reader.byte()? != FORM {
            return Err(reader.corrupt());
        }
        let (arrivals, ordinals) = (reader.u32()? as usize, reader.u32()? as usize);
        let lane_sets = (0..reader.count()?).map(|_| {
            let lanes = (0..reader.count()?)
                .map(|_| LaneNo::try_from(reader.u32()?).map_err(|_| reader.corrupt()));
            lanes.collect::<Result<Vec<_>, _>>()
        });
        let lane_sets = lane_sets.collect::<Result<Vec<_>, _>>()?;
        let (sets, back) = (
            Column::read(reader, ordinals)?,
            Column::read(reader, ordinals)?,
        );
        let seqs = Column::read(reader, arrivals)?;
        let places = Column::read(reader, arrivals)?;
        let kinds = Column::read(reader, arrivals)?;
        let objects = Column::read(reader, arrivals)?;
        let groups = match reader.byte()? {
            0 => objects,
            _ => Column::read(reader, arrivals)?,
        };
        let chunks = arrivals.div_ceil(CHUNK_ARRIVALS);
        Ok(Self {
            lane_sets,
            sets,
            back,
            seqs,
            places,
            kinds,
            objects,
            groups,
            first_t: Column::read(reader, chunks)?,
            last_t: Column::read(reader, chunks)?,
        })
    }

    /// For each set of lanes that the run has, whether it is wanted; to be handed to
    /// [`Facets::arrival`].
    pub(crate) fn lane_sets(&self, wanted: impl Fn(&[LaneNo]) -> bool) -> Vec<bool> {
        self.lane_sets.iter().map(|lanes| wanted(lanes)).collect()
    }

    /// Which arrival of the run an ordinal belongs to, if its lanes are wanted.
    pub(crate) fn arrival(&self, ordinal: u32, wanted: &[bool]) -> Result<Option<usize>, Corrupt> {
        let at = ordinal as usize;
        let set = self.sets.get(at).and_then(|set| usize::try_from(set).ok());
        match set.and_then(|set| wanted.get(set)) {
            Some(true) => {}
            Some(false) => return Ok(None),
            None => return Err(Corrupt(FACETS)),
        }
        let back = self
            .back
            .get(at)
            .and_then(|back| usize::try_from(back).ok());
        let arrival = back.and_then(|back| at.checked_sub(back));
        arrival.map(Some).ok_or(Corrupt(FACETS))
    }

    pub(crate) fn seq(&self, arrival: usize) -> Result<u64, Corrupt> {
        self.seqs.get(arrival).ok_or(Corrupt(FACETS))
    }

    pub(crate) fn place(&self, arrival: usize) -> Result<u64, Corrupt> {
        self.places.get(arrival).ok_or(Corrupt(FACETS))
    }

    /// The arrivals of the event at a place.
    pub(crate) fn arrivals_of(&self, place: u64) -> impl Iterator<Item = usize> {
        (0..self.places.len()).filter(move |at| self.places.get(*at) == Some(place))
    }

    /// The ordinal of the first variant of the arrival with a seq.
    pub(crate) fn first_ordinal(&self, seq: u64) -> Result<u32, Corrupt> {
        let arrival = partition_point(self.seqs.len(), |at| self.seqs.get(at) < Some(seq));
        if self.seqs.get(arrival) != Some(seq) {
            return Err(Corrupt(FACETS));
        }
        let is_before = |at: usize| {
            let back = self
                .back
                .get(at)
                .and_then(|back| usize::try_from(back).ok());
            back.and_then(|back| at.checked_sub(back)) < Some(arrival)
        };
        let first = partition_point(self.back.len(), is_before);
        u32::try_from(first).map_err(|_| Corrupt(FACETS))
    }

    /// The hash of its object's id.
    pub(crate) fn object(&self, arrival: usize) -> Result<u64, Corrupt> {
        self.objects.get(arrival).ok_or(Corrupt(FACETS))
    }

    /// Its type, and what tells its group from others of the type.
    pub(crate) fn group(&self, arrival: usize) -> Result<(TypeNo, u64), Corrupt> {
        let kind = self.kinds.get(arrival);
        let kind = kind.and_then(|kind| TypeNo::try_from(kind).ok());
        kind.zip(self.groups.get(arrival)).ok_or(Corrupt(FACETS))
    }

    /// Its `t` and those of its neighbours lie within these.
    pub(crate) fn bounds(&self, arrival: usize) -> Result<(Instant, Instant), Corrupt> {
        let chunk = arrival / CHUNK_ARRIVALS;
        let bounds = self.first_t.get(chunk).zip(self.last_t.get(chunk));
        let (first, last) = bounds.ok_or(Corrupt(FACETS))?;
        Ok((instant(first), instant(last)))
    }
}

/// A chunk of a run's details as they lie in the store.
#[derive(Debug)]
pub(crate) struct Details<'a> {
    first_ordinal: u64,
    // By arrival.
    times: Column<'a>,
    ordinals: Column<'a>,
    /// By variant, where its reasons end; before them 0.
    ends: Column<'a>,
    numbers: Column<'a>,
    words: Texts<'a>,
}

impl<'a> Details<'a> {
    /// # Errors
    /// [`Corrupt`] where the bytes are something else.
    pub(crate) fn parse(bytes: &'a [u8]) -> Result<Self, Corrupt> {
        let mut reader = Reader::new(bytes, DETAILS);
        let reader = &mut reader;
        if reader.byte()? != FORM {
            return Err(reader.corrupt());
        }
        let mut count = || Ok::<_, Corrupt>(reader.u32()? as usize);
        let (arrivals, variants, numbers, words) = (count()?, count()?, count()?, count()?);
        Ok(Self {
            first_ordinal: reader.u64()?,
            times: Column::read(reader, arrivals)?,
            ordinals: Column::read(reader, arrivals)?,
            ends: Column::read(reader, variants + 1)?,
            numbers: Column::read(reader, numbers)?,
            words: Texts::read(reader, words, DETAILS)?,
        })
    }

    /// When the entries of an arrival of the run entered.
    pub(crate) fn t(&self, arrival: usize) -> Result<Instant, Corrupt> {
        let t = self.times.get(arrival % CHUNK_ARRIVALS);
        t.map(instant).ok_or(Corrupt(DETAILS))
    }

    /// The event's row in the day.
    pub(crate) fn event(&self, arrival: usize) -> Result<u32, Corrupt> {
        let ordinal = self.ordinals.get(arrival % CHUNK_ARRIVALS);
        let ordinal = ordinal.and_then(|ordinal| u32::try_from(ordinal).ok());
        ordinal.ok_or(Corrupt(DETAILS))
    }

    /// The words of an ordinal's reasons, sorted by bytes.
    pub(crate) fn reasons(&self, ordinal: u32) -> Result<Vec<String>, Corrupt> {
        let corrupt = Corrupt(DETAILS);
        let at = u64::from(ordinal).checked_sub(self.first_ordinal);
        let at = at.and_then(|at| usize::try_from(at).ok()).ok_or(corrupt)?;
        let bounds = self.ends.get(at).zip(self.ends.get(at + 1));
        let (from, to) = bounds.ok_or(corrupt)?;
        let number = |at: u64| self.numbers.get(usize::try_from(at).ok()?);
        let words = (from..to).map(|at| {
            let word = number(at).and_then(|word| usize::try_from(word).ok());
            Ok(self.words.get(word.ok_or(corrupt)?)?.to_owned())
        });
        words.collect()
    }
}
