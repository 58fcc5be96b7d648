//! The messages with an entry of one event, found by its arrivals.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use roaring::RoaringBitmap;

use super::sources::InstantMessages;
use crate::bucket::Bucket;
use crate::engine::message::message_row::MessageRow;
use crate::engine::read::reader::Reader;
use crate::engine::rows::draft::Draft;
use crate::journal::stored::{ReadView, StoredArrival, Unreadable, each};
use crate::journal::table::{Key, Owner, Partition, REST, Table, seq_at};
use crate::model::batch_key::LaneKey;
use crate::model::channel::ChannelNo;
use crate::model::id::{BucketNo, Id};
use crate::model::number::{MessageId, RecipientAt, RecipientNo, Seq};
use crate::model::time::{Day, Instant};

/// The most entries of an event whose messages are looked up one by one. Those of more stand in few closings.
const LOOKED_UP_MAX: u64 = 4096;

/// The entries of an event on channels with messages.
#[derive(Debug, Default)]
pub(super) struct EventEntries {
    /// The seqs of its arrivals by bucket.
    pub(super) seqs: BTreeMap<BucketNo, BTreeSet<Seq>>,
    /// Its recipients by bucket.
    pub(super) recipients: BTreeMap<BucketNo, RoaringBitmap>,
    /// The first instant at which its messages may be due.
    pub(super) first: Option<Instant>,
    lanes: Vec<ArrivalLaneEntries>,
    /// The days that may have its messages.
    days: Vec<Day>,
}

/// The entries of an arrival in a lane.
#[derive(Debug)]
struct ArrivalLaneEntries {
    bucket: BucketNo,
    kept: Arc<StoredArrival>,
    lane: LaneKey,
    recipients: RoaringBitmap,
}

impl EventEntries {
    /// The entries of an event, of a channel or of all; `None` = no such event is kept.
    pub(super) fn of(
        Reader { engine, view }: Reader<'_>,
        event: &Id,
        channel: Option<ChannelNo>,
    ) -> Result<Option<Self>, Unreadable> {
        let draft = Draft::new(view);
        let Some(known) = engine.reader(view).known_event(&draft, event)? else {
            return Ok(None);
        };
        let mut entries = Self { days: known.journal_days, ..Self::default() };
        for (shard, bucket) in engine.shards.with_buckets() {
            let names = &shard.compiled.names;
            for kept in bucket.index.arrivals_of(view, known.row.place, &known.days)? {
                let at = kept.arrival.at;
                entries.first = Some(entries.first.map_or(at, |first| first.min(at)));
                entries.seqs.entry(bucket.no).or_default().insert(kept.seq);
                let sets = bucket.sets_of(view, &kept)?;
                for (variant, recipients) in kept.arrival.variants.iter().zip(sets) {
                    for lane in &variant.lanes {
                        let name = names.lane(*lane);
                        if name.is_inbox() || channel.is_some_and(|of| of != name.channel) {
                            continue;
                        }
                        *entries.recipients.entry(bucket.no).or_default() |= &recipients;
                        let (keys, tenant) = (&kept.arrival.keys, kept.arrival.tenant);
                        entries.lanes.push(ArrivalLaneEntries {
                            bucket: bucket.no,
                            lane: names.address(*lane, keys, tenant),
                            kept: Arc::clone(&kept),
                            recipients: recipients.clone(),
                        });
                    }
                }
            }
        }
        Ok(Some(entries))
    }

    /// Returns true if its messages are few enough to look up each.
    pub(super) fn are_few(&self) -> bool {
        self.lanes.iter().map(|of| of.recipients.len()).sum::<u64>() <= LOOKED_UP_MAX
    }

    /// The messages that may have one of the entries, by the instant at which they were due.
    pub(super) fn messages(
        &self,
        Reader { engine, view }: Reader<'_>,
    ) -> Result<BTreeMap<Instant, InstantMessages>, Unreadable> {
        let mut found: BTreeMap<Instant, InstantMessages> = BTreeMap::new();
        for of in &self.lanes {
            let bucket = engine.shards.bucket(of.bucket);
            let unmade = of.add_unmade(bucket, &mut found);
            for number in &of.recipients - unmade {
                let whose = RecipientAt { bucket: of.bucket, number: RecipientNo(number) };
                if let Some((due, id)) = of.built(view, &self.days, whose)? {
                    found.entry(due).or_default().add_one(id);
                }
            }
        }
        Ok(found)
    }
}

impl ArrivalLaneEntries {
    /// Adds messages that are not built, and returns their recipients.
    fn add_unmade(
        &self,
        bucket: &Bucket,
        found: &mut BTreeMap<Instant, InstantMessages>,
    ) -> RoaringBitmap {
        let mut all = RoaringBitmap::new();
        for (seq, open) in bucket.closings.from(&self.kept.seq) {
            if open.lane != self.lane {
                continue;
            }
            let unmade = open.unmade.iter().filter(|(_, since)| **since <= self.kept.seq);
            for (number, _) in unmade.filter(|(number, _)| self.recipients.contains(**number)) {
                let id = bucket.closing_id(*seq).message(RecipientNo(*number));
                found.entry(open.at).or_default().add_one(id);
                all.insert(*number);
            }
        }
        all
    }

    /// The built message that has the entry of a recipient, told or left out, and the instant at which it was due.
    fn built(
        &self,
        view: &dyn ReadView,
        days: &[Day],
        whose: RecipientAt,
    ) -> Result<Option<(Instant, MessageId)>, Unreadable> {
        let prefix = Key::of(Owner::Bucket(whose.bucket), Table::Messages);
        let prefix = prefix.u32(whose.number.0).done();
        let mut found = None;
        for day in days {
            let partition = Partition::Day(*day);
            each(view, partition, &prefix, |key, value| {
                let closing = seq_at(key, REST + 4).unwrap_or_default();
                if found.is_some() || closing < self.kept.seq {
                    return Ok(());
                }
                let row = MessageRow::read(view, partition, key, value)?;
                if row.lane == self.lane && row.has(closing, |seq| seq == self.kept.seq) {
                    let id = crate::model::number::ClosingId { bucket: whose.bucket, seq: closing };
                    found = Some((row.at, id.message(whose.number)));
                }
                Ok(())
            })?;
            if found.is_some() {
                break;
            }
        }
        Ok(found)
    }
}
