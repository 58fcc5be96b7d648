//! The look: it finds the entries of some recipients in the tail in memory, then in segments and their postings.
//!
//! The cost of a look never grows with events that don't concern those who are looked for.

use std::collections::BTreeMap;
use std::sync::Arc;

use roaring::RoaringBitmap;

use super::day::{DayIndex, SegmentAt};
use super::state::Index;
use crate::journal::record::Variant;
use crate::journal::stored::{ReadView, StoredArrival, Unreadable};
use crate::model::number::Seq;
use crate::model::time::Day;

/// The entries found.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// The arrivals with entries, by seq.
    pub(crate) sources: Vec<FoundArrival>,
    /// The entries; see [`Found::sort`].
    pub(crate) entries: Vec<FoundEntry>,
}

/// An arrival with the variant that matches.
#[derive(Clone, Debug)]
pub(crate) struct FoundArrival {
    pub(crate) kept: Arc<StoredArrival>,
    pub(crate) variant: u32,
}

/// An entry: its recipient's number, and the index of its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FoundEntry {
    pub(crate) number: u32,
    pub(crate) source: u32,
}

impl Found {
    /// Puts the entries in the order of (number, seq).
    pub(crate) fn sort(&mut self) {
        self.entries.sort_unstable();
    }

    /// Iterates over the entries of each recipient; they must be sorted.
    pub(crate) fn by_recipient(&self) -> impl Iterator<Item = &[FoundEntry]> {
        self.entries.chunk_by(|a, b| a.number == b.number)
    }

    /// The arrival and variant that an entry comes from.
    pub(crate) fn source(&self, ordinal: u32) -> (&StoredArrival, &Variant) {
        let FoundArrival { kept, variant } = &self.sources[ordinal as usize];
        (kept, &kept.arrival.variants[*variant as usize])
    }

    /// The recipients of the entries, by source.
    pub(crate) fn by_source(&self) -> BTreeMap<u32, RoaringBitmap> {
        let mut sets: BTreeMap<u32, RoaringBitmap> = BTreeMap::new();
        for FoundEntry { number, source } in &self.entries {
            sets.entry(*source).or_default().insert(*number);
        }
        sets
    }

    fn add(&mut self, kept: &Arc<StoredArrival>, variant: u32) -> u32 {
        let kept = Arc::clone(kept);
        self.sources.push(FoundArrival { kept, variant });
        u32::try_from(self.sources.len() - 1).expect("fewer sources than 2^32 in one look")
    }
}

/// The filter of a search.
pub(crate) struct SearchFilter<'a> {
    /// The least seq.
    pub(crate) from: Seq,
    /// The greatest seq.
    pub(crate) to: Seq,
    /// The recipients.
    pub(crate) recipients: &'a RoaringBitmap,
    /// The filter on arrivals and variants.
    pub(crate) takes: &'a dyn Fn(&StoredArrival, &Variant) -> bool,
    /// The filter on entries (number, arrival), after that on variants.
    pub(crate) has: &'a dyn Fn(u32, &StoredArrival) -> bool,
}

/// The most recipients for whom variants are looked at as they are met, and not before.
const FEW: u64 = 4;

/// A variant of a segment, as a look has met it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Met {
    Unknown,
    /// The filter leaves it out.
    LeftOut,
    /// The filter takes it.
    Taken,
    /// It has entries, under this number of [`Found::sources`].
    Source(u32),
}

impl Index {
    /// Finds entries of recipients.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub(crate) fn look(
        &self,
        view: &dyn ReadView,
        look: &SearchFilter<'_>,
    ) -> Result<Found, Unreadable> {
        let mut found = Found::default();
        for (day, held) in &self.days {
            for segment in &held.segments {
                if segment.last >= look.from && segment.first <= look.to {
                    self.collect_segment(view, *day, segment, look, &mut found)?;
                }
            }
            collect_tail(held, look, &mut found);
        }
        Ok(found)
    }

    fn collect_segment(
        &self,
        view: &dyn ReadView,
        day: Day,
        stored: &SegmentAt,
        look: &SearchFilter<'_>,
        found: &mut Found,
    ) -> Result<(), Unreadable> {
        let segment = self.segment(view, day, stored)?;
        let takes = |ordinal: u32| {
            segment.variant(ordinal).is_some_and(|(_, _, kept, variant)| {
                (look.from..=look.to).contains(&kept.seq) && (look.takes)(kept, variant)
            })
        };
        let first_source = found.sources.len();
        let mut met = vec![Met::Unknown; segment.variants.len()];
        // Few recipients meet few of the variants; for many, postings need not be read where no variant is taken.
        if look.recipients.len() > FEW {
            for (ordinal, met) in (0..).zip(&mut met) {
                *met = if takes(ordinal) { Met::Taken } else { Met::LeftOut };
            }
            if !met.contains(&Met::Taken) {
                return Ok(());
            }
        }
        self.each_posting(view, day, stored, look.recipients, &mut |number, ordinal| {
            let Some(met) = met.get_mut(ordinal as usize) else { return };
            if *met == Met::Unknown {
                *met = if takes(ordinal) { Met::Taken } else { Met::LeftOut };
            }
            if *met == Met::LeftOut {
                return;
            }
            let Some((_, variant, kept, _)) = segment.variant(ordinal) else { return };
            if !(look.has)(number, kept) {
                return;
            }
            let source = match *met {
                Met::Source(source) => source,
                _ => found.add(kept, variant),
            };
            *met = Met::Source(source);
            found.entries.push(FoundEntry { number, source });
        })?;
        // Sources were numbered as recipients met them; the order of the segment is the order of seqs.
        order_sources(found, first_source);
        Ok(())
    }
}

fn collect_tail(day: &DayIndex, look: &SearchFilter<'_>, found: &mut Found) {
    for kept in
        day.tail.from(&look.from).map(|(_, kept)| kept).take_while(|kept| kept.seq <= look.to)
    {
        for (at, variant) in (0..).zip(&kept.arrival.variants) {
            if variant.recipients.is_disjoint(look.recipients) || !(look.takes)(kept, variant) {
                continue;
            }
            let mut source = None;
            for number in &variant.recipients.0 & look.recipients {
                if (look.has)(number, kept) {
                    let source = *source.get_or_insert_with(|| found.add(kept, at));
                    found.entries.push(FoundEntry { number, source });
                }
            }
        }
    }
}

/// Numbers the sources from `offset` on by (seq, variant), so that the order of entries by source is
/// the order in which they arrived.
fn order_sources(found: &mut Found, offset: usize) {
    let mut order: Vec<usize> = (offset..found.sources.len()).collect();
    order.sort_by_key(|at| {
        let FoundArrival { kept, variant } = &found.sources[*at];
        (kept.seq, *variant)
    });
    let mut new_number = vec![0; order.len()];
    for (new, old) in (offset..).zip(&order) {
        new_number[*old - offset] = u32::try_from(new).unwrap_or(u32::MAX);
    }
    let sorted: Vec<_> = order.iter().map(|at| found.sources[*at].clone()).collect();
    found.sources.truncate(offset);
    found.sources.extend(sorted);
    for FoundEntry { source, .. } in found.entries.iter_mut().rev() {
        let Some(old) = (*source as usize).checked_sub(offset) else { break };
        *source = new_number[old];
    }
}
