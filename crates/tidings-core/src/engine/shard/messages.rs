//! The built messages of a shard that are not handed over yet, as a draft shows them.

use std::collections::{BTreeMap, BTreeSet};

use roaring::RoaringBitmap;

use super::state::Shard;
use crate::bucket::{Bucket, Closing};
use crate::engine::message::message_row::{MessageRow, message_key};
use crate::engine::reach::KeptBackState;
use crate::engine::rows::draft::Draft;
use crate::engine::rows::ends::{EndSubject, ended_by, ends};
use crate::engine::shard::mute::silenced;
use crate::index::{Found, FoundEntry, SearchFilter};
use crate::journal::record::Record;
use crate::journal::stored::{ReadView, StoredArrival, Unreadable, decode};
use crate::journal::table::Partition;
use crate::model::batch_key::LaneKey;
use crate::model::channel::ChannelNo;
use crate::model::id::BucketNo;
use crate::model::number::{ClosingId, EventNo, MessageId, RecipientNo, Seq};
use crate::model::tenant::TenantNo;
use crate::model::time::Day;
use crate::rules::compiled::RulesVersion;

/// Entries of an arrival in a bucket, by what a cancel can do with them.
#[derive(Default)]
pub(super) struct ArrivalEntryStates {
    /// Entries that wait.
    pub(super) waiting: BTreeMap<(Seq, ChannelNo), RoaringBitmap>,
    /// Entries in messages that are kept back.
    pub(super) kept_back: Vec<(Seq, ChannelNo, MessageId)>,
    /// Number of entries out of reach.
    pub(super) gone: u64,
    /// The entries among these that inboxes show, by seq.
    pub(super) shown: BTreeMap<Seq, RoaringBitmap>,
    /// The tenant of the event.
    pub(super) tenant: Option<TenantNo>,
}

/// Messages of a shard, read through a draft.
#[derive(Clone, Copy)]
pub(crate) struct Messages<'a> {
    shard: &'a Shard,
    draft: &'a Draft<'a>,
}

impl Shard {
    /// Its messages.
    pub(crate) fn messages<'a>(&'a self, draft: &'a Draft<'a>) -> Messages<'a> {
        Messages { shard: self, draft }
    }
}

impl Messages<'_> {
    /// The entries of an event in a bucket, by what a cancel can do with them.
    pub(super) fn reach(
        &self,
        bucket_no: BucketNo,
        place: EventNo,
        days: &BTreeSet<Day>,
    ) -> Result<ArrivalEntryStates, Unreadable> {
        let bucket = &self.shard.buckets[bucket_no];
        let mut reach = ArrivalEntryStates::default();
        for kept in bucket.index.arrivals_of(self.draft.view, place, days)? {
            reach.tenant = kept.arrival.tenant;
            let found = bucket.sets_of(self.draft.view, &kept)?;
            let mut stored = None;
            for (variant, recipients) in kept.arrival.variants.iter().zip(found) {
                for lane in &variant.lanes {
                    let name = self.shard.compiled.names.lane(*lane);
                    let mut rest = recipients.clone();
                    if let Some(ended) = bucket.ended.of(kept.seq, name.channel) {
                        rest -= ended;
                    }
                    let address = self.shard.compiled.names.address(
                        *lane,
                        &kept.arrival.keys,
                        kept.arrival.tenant,
                    );
                    let waiting = bucket.pending(kept.seq, &address, name.channel, &rest);
                    if !waiting.is_empty() {
                        rest -= &waiting;
                        let entries = (kept.seq, name.channel);
                        *reach.waiting.entry(entries).or_default() |= waiting;
                    }
                    if !rest.is_empty() {
                        let stored = match &mut stored {
                            Some(stored) => stored,
                            none => none.insert(stored_ends(
                                self.shard,
                                self.draft.view,
                                bucket,
                                &kept,
                            )?),
                        };
                        for record in &*stored {
                            for (_, ended) in ended_by(record, kept.seq, name.channel) {
                                rest -= ended;
                            }
                        }
                    }
                    if !name.is_inbox() {
                        for message in self.messages_with(bucket_no, &address, kept.seq, &rest)? {
                            if self.draft.reach.get(&message) == Some(&KeptBackState::KeptBack) {
                                rest.remove(message.number.0);
                                reach.kept_back.push((kept.seq, name.channel, message));
                            }
                        }
                    }
                    reach.gone += rest.len();
                    if name.is_inbox() && !rest.is_empty() {
                        *reach.shown.entry(kept.seq).or_default() |= rest;
                    }
                }
            }
        }
        Ok(reach)
    }

    /// The messages of a lane with an arrival for some of these recipients, without an outcome.
    pub(crate) fn messages_with(
        &self,
        bucket_no: BucketNo,
        lane: &LaneKey,
        seq: Seq,
        recipients: &RoaringBitmap,
    ) -> Result<Vec<MessageId>, Unreadable> {
        let bucket = &self.shard.buckets[bucket_no];
        let mut messages = Vec::new();
        for (closing, open) in bucket.closings.from(&seq) {
            if open.lane != *lane {
                continue;
            }
            for number in &open.sending & recipients {
                let message = bucket.closing_id(*closing).message(RecipientNo(number));
                let row = self.message_row(message, open.at.day())?;
                if row.is_some_and(|(_, row)| row.entries(*closing).contains(&seq)) {
                    messages.push(message);
                }
            }
        }
        Ok(messages)
    }

    /// The entries that `never` and mutes exclude under a version of the rules in messages without an outcome.
    pub(crate) fn unwanted(
        &self,
        bucket_no: BucketNo,
        whose: Option<(u32, ChannelNo)>,
        tenant: Option<TenantNo>,
        version: &RulesVersion,
    ) -> Result<Vec<(Seq, ChannelNo, MessageId)>, Unreadable> {
        let bucket = &self.shard.buckets[bucket_no];
        let closings = bucket.closings.iter();
        let closings = closings.filter(|(_, open)| tenant.is_none() || tenant == open.lane.tenant);
        let messages = closings.flat_map(|(closing, open)| {
            let channel = self.shard.compiled.names.lane(open.lane.lane).channel;
            let numbers: Vec<u32> = match whose {
                None => open.sending.iter().collect(),
                Some((number, on)) if on == channel && open.sending.contains(number) => {
                    vec![number]
                }
                Some(_) => Vec::new(),
            };
            numbers.into_iter().map(move |number| (closing, open, channel, number))
        });
        let mut unwanted = Vec::new();
        for (closing, open, channel, number) in messages {
            let message = bucket.closing_id(*closing).message(RecipientNo(number));
            let seqs = self.unwanted_in(message, channel, open, version)?;
            unwanted.extend(seqs.into_iter().map(|seq| (seq, channel, message)));
        }
        Ok(unwanted)
    }

    /// The entries of a message that `never` and mutes exclude under a version of the rules.
    pub(crate) fn unwanted_in(
        &self,
        message: MessageId,
        channel: ChannelNo,
        open: &Closing,
        version: &RulesVersion,
    ) -> Result<Vec<Seq>, Unreadable> {
        let bucket = &self.shard.buckets[message.closing.bucket];
        let recipients = RoaringBitmap::from_iter([message.number.0]);
        let found = self.entries_made(message, open)?;
        let mut unwanted = Vec::new();
        for FoundEntry { source, .. } in &found.entries {
            let (kept, variant) = found.source(*source);
            let Some(of_type) = version.of_type(kept.arrival.type_no) else {
                continue;
            };
            let (tenant, paused) = (kept.arrival.tenant, &self.shard.paused);
            let mut lanes =
                bucket.preferences.lanes(channel, of_type, tenant, paused, recipients.clone());
            let silenced =
                silenced(self.draft, bucket, of_type, kept, variant, channel, &recipients)?;
            if lanes.any(|(lane, _)| lane.is_none()) || !silenced.is_empty() {
                unwanted.push(kept.seq);
            }
        }
        Ok(unwanted)
    }

    /// The entries of a message without an outcome.
    pub(crate) fn entries_made(
        &self,
        message: MessageId,
        open: &Closing,
    ) -> Result<Found, Unreadable> {
        let MessageId { closing, number } = message;
        let row = self.message_row(message, open.at.day())?;
        let seqs = row.map_or_else(Vec::new, |(_, row)| row.entries(closing.seq));
        let seqs = BTreeSet::from_iter(seqs);
        let (Some(from), Some(to)) = (seqs.first(), seqs.last()) else {
            return Ok(Found::default());
        };
        let look = SearchFilter {
            from: *from,
            to: *to,
            recipients: &[number.0].into(),
            takes: &|kept, variant| {
                open.lane.has(&self.shard.compiled.names, &kept.arrival, variant)
            },
            has: &|_, kept| seqs.contains(&kept.seq),
        };
        self.shard.buckets[closing.bucket].index.look(self.draft.view, &look)
    }

    /// The messages to a recipient without an outcome, of a channel or of all.
    pub(crate) fn messages_to(
        &self,
        bucket: BucketNo,
        number: RecipientNo,
        channel: Option<ChannelNo>,
    ) -> Vec<MessageId> {
        let bucket = &self.shard.buckets[bucket];
        let theirs = bucket.closings.iter().filter(|(_, open)| {
            let on = self.shard.compiled.names.lane(open.lane.lane).channel;
            open.sending.contains(number.0) && channel.is_none_or(|channel| channel == on)
        });
        theirs.map(|(closing, _)| bucket.closing_id(*closing).message(number)).collect()
    }

    /// The messages without an outcome that have entries of the days before this one, with all of their
    /// entries.
    pub(crate) fn messages_before(
        &self,
        before: Day,
    ) -> Result<BTreeMap<MessageId, Vec<Seq>>, Unreadable> {
        let mut messages = BTreeMap::new();
        for bucket in self.shard.buckets.iter() {
            let is_forgotten = |seq: Seq| bucket.index.day_of(seq).is_none_or(|day| day < before);
            let open = bucket.closings.iter();
            for (closing, open) in open.filter(|(_, open)| is_forgotten(open.from)) {
                for number in &open.sending {
                    let message = bucket.closing_id(*closing).message(RecipientNo(number));
                    let seqs = self.seqs_of(message)?;
                    if seqs.iter().any(|seq| is_forgotten(*seq)) {
                        messages.insert(message, seqs);
                    }
                }
            }
        }
        Ok(messages)
    }

    /// The seqs of a built message.
    pub(crate) fn seqs_of(&self, message: MessageId) -> Result<Vec<Seq>, Unreadable> {
        let ClosingId { bucket, seq } = message.closing;
        let open = &self.shard.buckets[bucket].closings;
        let from = open.get(&seq).map(|open| open.at.day());
        let row = self.message_row(message, from.unwrap_or(self.shard.now.day()))?;
        Ok(row.map_or_else(Vec::new, |(_, row)| row.entries(seq)))
    }

    /// The row of a message, and the day on which it was built, not before `from`.
    pub(crate) fn message_row(
        &self,
        message: MessageId,
        from: Day,
    ) -> Result<Option<(Day, MessageRow)>, Unreadable> {
        let key = message_key(message);
        for day in self.shard.journal_days.range(from..) {
            if let Some(bytes) = self.draft.get_chunked(Partition::Day(*day), &key)? {
                return Ok(Some((*day, decode("a message", &bytes)?)));
            }
        }
        Ok(None)
    }
}

/// The stored records that end entries of an arrival individually; memory keeps only those that lanes
/// still need.
pub(crate) fn stored_ends(
    shard: &Shard,
    view: &dyn ReadView,
    bucket: &Bucket,
    kept: &StoredArrival,
) -> Result<Vec<Record>, Unreadable> {
    let days = shard.journal_days.range(kept.arrival.at.day()..).copied();
    ends(view, bucket.no, EndSubject::Arrival(kept.seq), days)
}
