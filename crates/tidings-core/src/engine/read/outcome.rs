//! The state of one event: its entries by channel, outcome and reason.
//!
//! The cost is bounded by the event's own audience and, once it is at rest, by its segments, whose postings have the
//! recipients. Facts in the engine's memory are gathered between two steps, as sets ([`Reader::trace`]); facts in the
//! rows of personal messages are read afterwards from a snapshot of that moment ([`EventTrace::report`]). The table of ends
//! finds the records that ended entries or answered messages.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use roaring::RoaringBitmap;

use crate::bucket::{Bucket, FrozenRecipients};
use crate::engine::read::messages::of_lane::{EntryMessage, LaneEntries};
use crate::engine::read::reader::Reader;
use crate::engine::rows::draft::Draft;
use crate::engine::rows::ends::{ClosingEndings, EndSubject, ended_by, ends};
use crate::engine::rows::event_row::EventRow;
use crate::engine::rows::ledger::LedgerRow;
use crate::engine::rows::left_out::left_out;
use crate::engine::rows::named::scheduled_key;
use crate::engine::shard::messages::stored_ends;
use crate::engine::shard::state::Shard;
use crate::journal::record::{Origin, Record};
use crate::journal::stored::{ReadView, StoredArrival, Unreadable};
use crate::journal::table::{Owner, Partition, Table};
use crate::model::batch_key::LaneKey;
use crate::model::channel::ChannelNo;
use crate::model::event::Event;
use crate::model::id::{BucketNo, Id};
use crate::model::number::{ClosingId, EventNo, Seq};
use crate::model::reason::{Outcome, Reason};
use crate::model::time::{Day, Instant};
use crate::rules::Admission;

/// A report on an event.
#[derive(Clone, Debug, PartialEq)]
pub struct EventReport {
    /// The event.
    pub event: Event,
    /// The time of acceptance.
    pub arrived: Instant,
    /// The time at which it enters its lanes, if that is still to come.
    pub scheduled: Option<Instant>,
    /// Number of recipients with at least one entry when it was accepted.
    pub notifications: u64,
    /// Its entries by channel.
    pub channels: BTreeMap<&'static str, EntryStateCounts>,
    /// Number of recipients left out by the admission of its type, by reason.
    pub suppressed: BTreeMap<Admission, u64>,
}

/// Counts of entries by their state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EntryStateCounts {
    /// Number of entries.
    pub entries: u64,
    /// Number of entries that wait or are being sent.
    pub pending: u64,
    /// Number of ended entries, by outcome.
    pub ended: BTreeMap<Outcome, u64>,
    /// Number of undelivered entries, by reason.
    pub reasons: BTreeMap<Reason, u64>,
}

/// The trace of an event: what memory holds of it, and where to read the rest.
#[derive(Debug)]
pub struct EventTrace {
    report: EventReport,
    made: Vec<BuiltEntries>,
    /// The days from the event's first one on.
    days: Vec<Day>,
}

/// Entries of an arrival in a lane that are in built messages.
#[derive(Debug)]
struct BuiltEntries {
    bucket: BucketNo,
    seq: Seq,
    lane: LaneKey,
    channel: ChannelNo,
    recipients: RoaringBitmap,
    /// Recipients whose messages are being sent, by closing.
    sending: BTreeMap<Seq, RoaringBitmap>,
}

/// An event that is kept, and where its entries may be.
pub(crate) struct KnownEvent {
    pub(crate) row: EventRow,
    /// The instants at which it is still to enter lanes.
    pub(crate) instants: BTreeSet<Instant>,
    /// The days on which it arrived or entered lanes.
    pub(crate) days: BTreeSet<Day>,
    /// The days that may have records about it.
    pub(crate) journal_days: Vec<Day>,
}

impl Reader<'_> {
    /// Finds an event, as long as the day of its arrival is kept.
    pub(crate) fn known_event(
        &self,
        draft: &Draft<'_>,
        event: &Id,
    ) -> Result<Option<KnownEvent>, Unreadable> {
        let engine = self.engine;
        let mut located = engine.intake.located_event(draft, event)?;
        for shard in engine.shards.iter() {
            located.extend(shard.copies_in(draft).copies_of(event, Table::EnteredIds)?);
        }
        // An id may come again once the day of its arrival is forgotten: the newest is meant.
        let newest = located.iter().map(|(_, located)| located.place).max();
        let Some(place) = newest else {
            return Ok(None);
        };
        located.retain(|(_, located)| located.place == place);
        let waits = located.iter().find_map(|(_, located)| {
            let t = located.scheduled?;
            engine.intake.scheduled.contains_key(&(t, place)).then_some(t)
        });
        let Some(row) = engine.intake.row_of(draft, &located, waits)? else {
            return Ok(None);
        };
        let mut instants = BTreeSet::new();
        for (_, located) in &located {
            instants.extend(engine.intake.waits_for(draft, *located)?);
        }
        let days: BTreeSet<Day> = located.iter().filter_map(|(day, _)| *day).collect();
        let first = days.first().copied().unwrap_or(row.arrived.day());
        Ok(Some(KnownEvent {
            row,
            instants,
            days,
            journal_days: engine.shards.journal_days().range(first..).copied().collect(),
        }))
    }

    /// Collects the trace of an event, as long as the day of its arrival is kept; `None` if it is
    /// unknown.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub fn trace(&self, event: &Id) -> Result<Option<EventTrace>, Unreadable> {
        let Reader { engine, view } = *self;
        let Some(known) = self.known_event(&Draft::new(view), event)? else {
            return Ok(None);
        };
        let KnownEvent { row, instants, days, journal_days } = known;
        let place = row.place;
        let is_awaited = |t: &&Instant| {
            let mut buckets = engine.shards.buckets();
            buckets.any(|bucket| bucket.scheduled.contains_key(&(**t, place)))
        };
        let next = instants.iter().find(is_awaited);
        let mut trace = EventTrace {
            report: EventReport {
                event: row.event,
                arrived: row.arrived,
                scheduled: next.or(instants.first()).copied(),
                notifications: 0,
                channels: BTreeMap::new(),
                suppressed: BTreeMap::new(),
            },
            made: Vec::new(),
            days: journal_days,
        };
        for (shard, bucket) in engine.shards.with_buckets() {
            let arrived = trace.report.arrived.day();
            for left_out in left_out(view, bucket.no, arrived, place)? {
                let sum = trace.report.suppressed.entry(left_out.why).or_default();
                *sum += left_out.recipients;
            }
            let mut everyone = RoaringBitmap::new();
            for t in &instants {
                trace.wait(view, bucket, *t, place, &mut everyone)?;
            }
            // Another event may have taken the place of this one on any day before its `t`.
            let since = trace.days.clone().into_iter();
            for record in ends(view, bucket.no, EndSubject::Event(place), since)? {
                if let Record::Dropped { items, .. } | Record::NeverEntered { items, .. } = record {
                    for (channel, reason, recipients) in items {
                        let fate = trace.fate(channel);
                        fate.entries += recipients.len();
                        fate.end(reason.outcome(), Some(reason), recipients.len());
                        everyone |= recipients.0;
                    }
                }
            }
            for kept in bucket.index.arrivals_of(view, place, &days)? {
                self.trace_arrival(shard, bucket, &kept, &mut trace, &mut everyone)?;
            }
            trace.report.notifications += everyone.len();
        }
        Ok(Some(trace))
    }

    fn trace_arrival(
        &self,
        shard: &Shard,
        bucket: &Bucket,
        kept: &StoredArrival,
        trace: &mut EventTrace,
        everyone: &mut RoaringBitmap,
    ) -> Result<(), Unreadable> {
        let Reader { engine, view } = *self;
        let sets = bucket.sets_of(view, kept)?;
        let ended = stored_ends(shard, view, bucket, kept)?;
        for (variant, recipients) in kept.arrival.variants.iter().zip(sets) {
            *everyone |= &recipients;
            for lane in &variant.lanes {
                let name = engine.intake.compiled.names.lane(*lane);
                let channel = name.channel;
                let mut rest = recipients.clone();
                let fate = trace.fate(channel);
                if kept.arrival.origin != Origin::Moved {
                    fate.entries += recipients.len();
                }
                for record in &ended {
                    fate.end_by(record, kept.seq, channel, &mut rest);
                }
                let names = &engine.intake.compiled.names;
                let address = names.address(*lane, &kept.arrival.keys, kept.arrival.tenant);
                let pending = bucket.pending(kept.seq, &address, channel, &rest);
                fate.pending += pending.len();
                rest -= pending;
                if name.is_inbox() {
                    fate.end(Outcome::Delivered, None, rest.len());
                } else if !rest.is_empty() {
                    let closings = bucket.closings.from(&kept.seq);
                    let of_lane = closings.filter(|(_, open)| open.lane == address);
                    trace.made.push(BuiltEntries {
                        bucket: bucket.no,
                        seq: kept.seq,
                        channel,
                        recipients: rest,
                        sending: of_lane.map(|(seq, open)| (*seq, open.sending.clone())).collect(),
                        lane: address,
                    });
                }
            }
        }
        Ok(())
    }
}

impl EntryStateCounts {
    fn end(&mut self, outcome: Outcome, reason: Option<Reason>, count: u64) {
        let mut row = LedgerRow {
            ended: std::mem::take(&mut self.ended),
            reasons: std::mem::take(&mut self.reasons),
            ..LedgerRow::default()
        };
        row.end(outcome, reason, count);
        (self.ended, self.reasons) = (row.ended, row.reasons);
    }

    /// Removes from `rest` the entries of an arrival that a record ends.
    fn end_by(&mut self, record: &Record, seq: Seq, channel: ChannelNo, rest: &mut RoaringBitmap) {
        for (why, recipients) in ended_by(record, seq, channel) {
            let subset = &*rest & recipients;
            *rest -= &subset;
            // What goes on in another lane is counted there.
            if let Some(reason) = why {
                self.end(reason.outcome(), Some(reason), subset.len());
            }
        }
    }
}

impl EventTrace {
    fn fate(&mut self, channel: ChannelNo) -> &mut EntryStateCounts {
        let name = channel.name();
        self.report.channels.entry(name).or_default()
    }

    /// Counts scheduled entries as pending.
    fn wait(
        &mut self,
        view: &dyn ReadView,
        bucket: &Bucket,
        t: Instant,
        place: EventNo,
        everyone: &mut RoaringBitmap,
    ) -> Result<(), Unreadable> {
        let key = scheduled_key(Owner::Bucket(bucket.no), t, place);
        let Some(bytes) = view.get(Partition::Base, &key)? else {
            return Ok(());
        };
        let frozen = FrozenRecipients::read(view, &key, &bytes)?;
        *everyone |= frozen.everyone();
        for subset in frozen.subsets {
            for channel in subset.channels {
                let fate = self.fate(channel);
                fate.entries += subset.recipients.len();
                fate.pending += subset.recipients.len();
            }
        }
        Ok(())
    }

    /// Reads the outcomes of the event's messages, from a snapshot of the moment at which it was traced.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub fn report(mut self, view: &dyn ReadView) -> Result<EventReport, Unreadable> {
        let mut answered: BTreeMap<ClosingId, ClosingEndings> = BTreeMap::new();
        let mut days = self.days.clone();
        for made in std::mem::take(&mut self.made) {
            let entries = LaneEntries { bucket: made.bucket, seq: made.seq, lane: &made.lane };
            let messages = entries.messages(view, &days, &made.recipients)?;
            // Most messages of an event are due on one day, so the next ones are looked for there first.
            let day_of_last = messages.last().map(|message| message.row.at.day());
            if let Some(found) = days.iter().position(|day| Some(*day) == day_of_last) {
                days[..=found].rotate_right(1);
            }
            for EntryMessage { number, closing, row } in messages {
                let (_, ended) = row.seqs(closing);
                let ended = ended.into_iter().find(|(seq, _)| *seq == made.seq);
                if let Some((_, reason)) = ended {
                    self.fate(made.channel).end(reason.outcome(), Some(reason), 1);
                    continue;
                }
                let on_its_way = made.sending.get(&closing);
                if on_its_way.is_some_and(|recipients| recipients.contains(number.0)) {
                    self.fate(made.channel).pending += 1;
                    continue;
                }
                let id = ClosingId { bucket: made.bucket, seq: closing };
                let endings = match answered.entry(id) {
                    Entry::Occupied(known) => known.into_mut(),
                    Entry::Vacant(new) => {
                        new.insert(ClosingEndings::read(view, id, self.days.iter().copied())?)
                    }
                };
                let (_, ending) = endings.get(number).ok_or_else(|| {
                    Unreadable(format!("a message of closing {closing} has no outcome"))
                })?;
                self.fate(made.channel).end(ending.outcome(), ending.reason(), 1);
            }
        }
        Ok(self.report)
    }
}
