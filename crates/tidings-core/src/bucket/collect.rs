//! Finds the entries of some recipients: the tail in memory, then segments and their postings.
//!
//! What a look costs never grows with events that don't concern those who are looked for.

use std::sync::Arc;

use roaring::RoaringBitmap;

use super::{Bucket, BucketDay, SegmentAt};
use crate::batch_key::LaneKey;
use crate::channel::{ChannelNo, INBOX_NO};
use crate::journal::record::Variant;
use crate::journal::stored::{ReadView, StoredArrival, Unreadable};
use crate::names::Names;
use crate::number::{LaneNo, TypeNo};
use crate::time::Day;

/// The entries found.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// Arrivals with the variant that matches, by seq.
    pub(crate) sources: Vec<(Arc<StoredArrival>, u32)>,
    /// (number, index of the source); see [`Found::sort`].
    pub(crate) entries: Vec<(u32, u32)>,
}

impl Found {
    /// Puts the entries in the order of (number, seq).
    pub(crate) fn sort(&mut self) {
        self.entries.sort_unstable();
    }

    /// Iterates over the entries of each recipient; they must be sorted.
    pub(crate) fn by_recipient(&self) -> impl Iterator<Item = &[(u32, u32)]> {
        self.entries.chunk_by(|a, b| a.0 == b.0)
    }

    /// The arrival and variant that an entry comes from.
    pub(crate) fn source(&self, at: u32) -> (&StoredArrival, &Variant) {
        let (kept, variant) = &self.sources[at as usize];
        (kept, &kept.arrival.variants[*variant as usize])
    }

    fn add(&mut self, kept: &Arc<StoredArrival>, variant: u32) -> u32 {
        self.sources.push((Arc::clone(kept), variant));
        u32::try_from(self.sources.len() - 1).expect("fewer sources than 2^32 in one look")
    }
}

/// The filter of a search.
pub(crate) struct Look<'a> {
    /// The least seq.
    pub(crate) from: u64,
    /// The greatest seq.
    pub(crate) to: u64,
    /// The recipients.
    pub(crate) who: &'a RoaringBitmap,
    /// The filter on arrivals and variants.
    pub(crate) takes: &'a dyn Fn(&StoredArrival, &Variant) -> bool,
    /// The filter on entries (number, arrival), after that on variants.
    pub(crate) has: &'a dyn Fn(u32, &StoredArrival) -> bool,
}

impl Bucket {
    /// The recipients whose entry of an arrival still waits in a lane.
    pub(crate) fn pending(
        &self,
        seq: u64,
        at: &LaneKey,
        channel: ChannelNo,
        who: &RoaringBitmap,
    ) -> RoaringBitmap {
        let mut waiting = if channel == INBOX_NO && !self.keeps_paused(at.lane) {
            if seq > self.told_to {
                who.clone()
            } else {
                RoaringBitmap::new()
            }
        } else {
            let mut waiting = RoaringBitmap::new();
            if let Some(lane) = self.lanes.get(at) {
                let open = (who & lane.open()).into_iter();
                waiting.extend(open.filter(|number| lane.since(*number).is_some_and(|s| s <= seq)));
            }
            for (closing, open) in self.closings.from(&seq) {
                if open.lane == *at && *closing > seq {
                    let unmade = open.unmade.iter().filter(|(_, since)| **since <= seq);
                    let unmade = unmade.map(|(number, _)| *number);
                    waiting.extend(unmade.filter(|number| who.contains(*number)));
                }
            }
            waiting
        };
        if let Some(ended) = self.ended.of(seq, channel) {
            waiting -= ended;
        }
        waiting
    }

    /// Finds entries of recipients.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub(crate) fn collect(
        &self,
        view: &dyn ReadView,
        look: &Look<'_>,
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

    /// The entries that wait in the lanes of a number, whatever their key, of some recipients or of all.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub(crate) fn waiting_in(
        &self,
        view: &dyn ReadView,
        names: &Names,
        lane_no: LaneNo,
        who: Option<&RoaringBitmap>,
    ) -> Result<Found, Unreadable> {
        self.waiting_of(view, (names, lane_no), who, None)
    }

    /// [`Bucket::waiting_in`] for one type or all.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub(crate) fn waiting_of(
        &self,
        view: &dyn ReadView,
        (names, lane_no): (&Names, LaneNo),
        who: Option<&RoaringBitmap>,
        kind: Option<TypeNo>,
    ) -> Result<Found, Unreadable> {
        let to = self.next_seq - 1;
        let channel = names.lane(lane_no).channel;
        let takes = |kept: &StoredArrival, variant: &Variant| {
            variant.lanes.contains(&lane_no) && kind.is_none_or(|kind| kind == kept.arrival.kind)
        };
        if channel == INBOX_NO && !self.keeps_paused(lane_no) {
            let all = who.unwrap_or(&self.roster.everyone);
            let has =
                |number: u32, kept: &StoredArrival| !self.ended.has(kept.seq, channel, number);
            let from = self.told_to + 1;
            return self.collect(
                view,
                &Look {
                    from,
                    to,
                    who: all,
                    takes: &takes,
                    has: &has,
                },
            );
        }
        let who = who.unwrap_or(&self.roster.everyone);
        let (mut open, mut from) = (RoaringBitmap::new(), None);
        self.lanes.each_of(lane_no, who, |lane, of_lane| {
            let since = of_lane.iter().filter_map(|number| lane.since(number));
            from = since.chain(from).min();
            open |= of_lane;
        });
        let Some(from) = from else {
            return Ok(Found::default());
        };
        let plain = self.lanes.plain().get(&lane_no).map(|lane| &**lane);
        let has = |number: u32, kept: &StoredArrival| {
            let key = names.key(lane_no, &kept.arrival.keys);
            let lane = match key.is_empty() {
                true => plain,
                false => self.lanes.get(&names.address(lane_no, &kept.arrival.keys)),
            };
            lane.and_then(|lane| lane.since(number))
                .is_some_and(|since| since <= kept.seq)
                && !self.ended.has(kept.seq, channel, number)
        };
        self.collect(
            view,
            &Look {
                from,
                to,
                who: &open,
                takes: &takes,
                has: &has,
            },
        )
    }

    /// The entries of a type in a closing that are not in a built message yet.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub(crate) fn unmade_of(
        &self,
        view: &dyn ReadView,
        names: &Names,
        closing: u64,
        kind: TypeNo,
    ) -> Result<Found, Unreadable> {
        let Some(open) = self.closings.get(&closing) else {
            return Ok(Found::default());
        };
        let Some(from) = open.unmade.values().min().copied() else {
            return Ok(Found::default());
        };
        let channel = names.lane(open.lane.lane).channel;
        let who = open.unmade.keys().copied().collect();
        let takes = |kept: &StoredArrival, variant: &Variant| {
            kept.arrival.kind == kind && open.lane.has(names, &kept.arrival, variant)
        };
        let has = |number: u32, kept: &StoredArrival| {
            let since = open.unmade.get(&number);
            since.is_some_and(|since| *since <= kept.seq)
                && !self.ended.has(kept.seq, channel, number)
        };
        self.collect(
            view,
            &Look {
                from,
                to: closing,
                who: &who,
                takes: &takes,
                has: &has,
            },
        )
    }

    /// All numbers ever given to a recipient.
    pub(crate) fn all_numbers(&self) -> RoaringBitmap {
        let mut who = RoaringBitmap::new();
        who.insert_range(0..self.roster.next_number());
        who
    }

    fn collect_segment(
        &self,
        view: &dyn ReadView,
        day: Day,
        at: &SegmentAt,
        look: &Look<'_>,
        found: &mut Found,
    ) -> Result<(), Unreadable> {
        let segment = self.segment(view, day, at)?;
        let taken: Vec<bool> = segment
            .variants
            .iter()
            .enumerate()
            .map(|(ordinal, _)| {
                let ordinal = u32::try_from(ordinal).unwrap_or(u32::MAX);
                segment
                    .variant(ordinal)
                    .is_some_and(|(_, _, kept, variant)| {
                        (look.from..=look.to).contains(&kept.seq) && (look.takes)(kept, variant)
                    })
            })
            .collect();
        if !taken.contains(&true) {
            return Ok(());
        }
        let mut sources: Vec<Option<u32>> = vec![None; taken.len()];
        self.each_posting(view, (day, at), look.who, &mut |number, ordinal| {
            if taken.get(ordinal as usize) != Some(&true) {
                return;
            }
            let Some((_, variant, kept, _)) = segment.variant(ordinal) else {
                return;
            };
            if (look.has)(number, kept) {
                let source =
                    *sources[ordinal as usize].get_or_insert_with(|| found.add(kept, variant));
                found.entries.push((number, source));
            }
        })?;
        // Sources were numbered as recipients met them; the order of the segment is the order of seqs.
        let offset = sources.iter().flatten().min().copied();
        if let Some(offset) = offset {
            order_sources(found, offset);
        }
        Ok(())
    }
}

fn collect_tail(day: &BucketDay, look: &Look<'_>, found: &mut Found) {
    let tail = day.tail.from(&look.from).map(|(_, kept)| kept);
    for kept in tail.take_while(|kept| kept.seq <= look.to) {
        for (at, variant) in (0..).zip(&kept.arrival.variants) {
            if variant.who.is_disjoint(look.who) || !(look.takes)(kept, variant) {
                continue;
            }
            let mut source = None;
            for number in &variant.who.0 & look.who {
                if (look.has)(number, kept) {
                    let source = *source.get_or_insert_with(|| found.add(kept, at));
                    found.entries.push((number, source));
                }
            }
        }
    }
}

/// Numbers the sources from `offset` on by (seq, variant), so that the order of entries by source is
/// the order in which they arrived.
fn order_sources(found: &mut Found, offset: u32) {
    let offset_at = offset as usize;
    let mut order: Vec<usize> = (offset_at..found.sources.len()).collect();
    order.sort_by_key(|at| {
        let (kept, variant) = &found.sources[*at];
        (kept.seq, *variant)
    });
    let mut new_number = vec![0; order.len()];
    for (new, old) in (offset..).zip(&order) {
        new_number[*old - offset_at] = new;
    }
    let sorted: Vec<_> = order.iter().map(|at| found.sources[*at].clone()).collect();
    found.sources.truncate(offset_at);
    found.sources.extend(sorted);
    for (_, source) in found.entries.iter_mut().rev() {
        if *source >= offset {
            *source = new_number[(*source - offset) as usize];
        } else {
            break;
        }
    }
}
