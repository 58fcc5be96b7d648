//! Cancelling an event: pending entries end, entries in a message that is not handed over yet are removed
//! from it, and for the rest it is too late (decision 062).

use std::collections::{BTreeMap, BTreeSet};

use roaring::RoaringBitmap;

use super::messages::ArrivalEntryStates;
use super::state::Shard;
use crate::engine::acts::act::Cancel;
use crate::engine::acts::applied::CancelCount;
use crate::engine::message::counted::CountedMessage;
use crate::engine::message::index_writer::MessageIndexWriter;
use crate::engine::message::message_row::message_key;
use crate::engine::message::sent::Sent;
use crate::engine::reach::KeptBackState;
use crate::engine::replies::reply::TakenBackEntries;
use crate::engine::rows::draft::Draft;
use crate::engine::shard::schedule::NotEntered;
use crate::journal::record::{Entries, Record};
use crate::journal::record_size::{pieces, set_bytes};
use crate::journal::stored::{Unreadable, encode};
use crate::journal::table::Partition;
use crate::model::channel::{ChannelNo, INBOX_NO};
use crate::model::id::BucketNo;
use crate::model::messages::MessageState;
use crate::model::number::{ClosingId, EventNo, MessageId, RecipientNo, Seq};
use crate::model::reason::{Ending, Reason};
use crate::model::tenant::TenantNo;
use crate::model::time::{Day, Instant};
use crate::sets::set::Set;

impl Shard {
    /// Cancels events as far as possible.
    pub(crate) fn cancel(
        &mut self,
        draft: &mut Draft<'_>,
        cancel: &Cancel,
    ) -> Result<CancelCount, Unreadable> {
        let mut count = CancelCount::default();
        for (place, event) in self.copies_in(draft).with_copies(cancel)? {
            count.places.insert(place);
            let entries = &mut count.entries;
            for t in event.waits_for {
                entries.cancelled += self.cancel_scheduled(draft, t, place, Reason::Event)?;
            }
            if event.days.is_empty() {
                continue;
            }
            for &bucket in &*self.buckets.numbers() {
                let reach = self.messages(draft).reach(bucket, place, &event.days)?;
                let mut cancelling =
                    CancelInBucket { shard: &mut *self, draft: &mut *draft, bucket };
                cancelling.end(reach, cancel.withdraws, entries)?;
            }
        }
        Ok(count)
    }

    /// Removes entries that `never` now excludes, of one recipient on a channel or of all, and of one tenant or of all,
    /// from messages that are built and not handed over yet.
    pub(crate) fn take_out_unwanted(
        &mut self,
        draft: &mut Draft<'_>,
        bucket: BucketNo,
        whose: Option<(u32, ChannelNo)>,
        tenant: Option<TenantNo>,
    ) -> Result<(), Unreadable> {
        let Some(version) = self.version() else {
            return Ok(());
        };
        let mut unwanted = self.messages(draft).unwanted(bucket, whose, tenant, &version)?;
        unwanted.retain(|(.., message)| draft.reach.get(message) == Some(&KeptBackState::KeptBack));
        self.take_out(draft, bucket, Reason::Preference, unwanted)
    }

    /// Ends the messages to an erased recipient: there are no further attempts.
    pub(crate) fn end_messages_to(
        &mut self,
        draft: &mut Draft<'_>,
        bucket: BucketNo,
        number: RecipientNo,
    ) -> Result<(), Unreadable> {
        for message in self.messages(draft).messages_to(bucket, number, None) {
            let seqs = self.messages(draft).seqs_of(message)?;
            self.end_message(draft, message, seqs, Ending::RecipientGone)?;
        }
        Ok(())
    }

    /// Ends the messages with entries of the days before this one, which can't be delivered any more.
    pub(crate) fn end_messages_before(
        &mut self,
        draft: &mut Draft<'_>,
        before: Day,
    ) -> Result<(), Unreadable> {
        for (message, seqs) in self.messages(draft).messages_before(before)? {
            self.end_message(draft, message, seqs, Ending::Forgotten)?;
        }
        Ok(())
    }

    /// Removes entries from messages that are kept back. A message without entries is withdrawn.
    pub(crate) fn take_out(
        &mut self,
        draft: &mut Draft<'_>,
        bucket: BucketNo,
        why: Reason,
        kept_back: Vec<(Seq, ChannelNo, MessageId)>,
    ) -> Result<(), Unreadable> {
        let mut items: BTreeMap<(Seq, ChannelNo), Set> = BTreeMap::new();
        let mut withdrawn: BTreeMap<Seq, Set> = BTreeMap::new();
        let mut messages: BTreeMap<(MessageId, ChannelNo), BTreeSet<Seq>> = BTreeMap::new();
        for (seq, channel, message) in kept_back {
            messages.entry((message, channel)).or_default().insert(seq);
        }
        for ((message, channel), seqs) in messages {
            let (closing, number) = (message.closing.seq, message.number);
            let made = self.buckets[bucket].closings.get(&closing);
            let from = made.map_or(self.now.day(), |open| open.at.day());
            let Some((day, row)) = self.messages(draft).message_row(message, from)? else {
                continue;
            };
            draft.concerned.message(message, 0);
            let row = row.without(closing, &seqs, why);
            let key = message_key(message);
            draft.put_chunked(Partition::Day(day), key, &encode(&row));
            if row.entries(closing).is_empty() {
                withdrawn.entry(closing).or_default().insert(number.0);
                // Another shard may have counted it, before the buckets were divided anew: the sum is right.
                self.tally.messages = self.tally.messages.wrapping_sub(1);
                let taken = row.taken(closing).into_iter().map(|(seq, _)| seq);
                let at = (row.at, channel);
                let of_bucket = &self.buckets[bucket];
                let counted = CountedMessage::read(of_bucket, draft.view, at, taken)?;
                counted.count(&mut self.figures, MessageState::Cancelled);
            }
            for seq in seqs {
                items.entry((seq, channel)).or_default().insert(number.0);
            }
        }
        let items = items
            .into_iter()
            .map(|((seq, channel), recipients)| Entries { seq, channel, recipients })
            .collect();
        self.cut(draft, bucket, Some(why), items)?;
        for (closing, recipients) in withdrawn {
            // Precedes the record, which takes the messages off the closing.
            if let Some(due) = self.buckets[bucket].closings.get(&closing).map(|open| open.at) {
                let id = ClosingId { bucket, seq: closing };
                MessageIndexWriter::of(self, draft).withdrawn(id, due, why, &recipients)?;
            }
            let record = Record::Withdrawn { at: self.now, closing, recipients };
            self.write(draft, bucket, record);
        }
        Ok(())
    }
}

impl Shard {
    /// Ends the entries of an event that wait for an instant; returns their number.
    pub(super) fn cancel_scheduled(
        &mut self,
        draft: &mut Draft<'_>,
        t: Instant,
        place: EventNo,
        why: Reason,
    ) -> Result<u64, Unreadable> {
        let mut count = 0;
        for (bucket, frozen) in self.take_frozen(draft, t, place)? {
            let mut ended = NotEntered::default();
            for subset in &frozen.subsets {
                ended.end_all(subset, &subset.recipients, why);
            }
            count += ended.entries();
            self.drop_entries(draft, bucket, (place, frozen.event), ended);
        }
        Ok(count)
    }

    /// Ends a message that can be kept back; the outcome is unknown if an earlier attempt may have handed
    /// it over.
    fn end_message(
        &mut self,
        draft: &mut Draft<'_>,
        message: MessageId,
        seqs: Vec<Seq>,
        ending: Ending,
    ) -> Result<(), Unreadable> {
        let ending = match draft.reach.get(&message) {
            Some(KeptBackState::KeptBack) => ending,
            Some(KeptBackState::InDoubt) => Ending::Unknown,
            // Was handed over: its outcome is about to come, and counts.
            None => return Ok(()),
        };
        draft.concerned.message(message, seqs.len());
        let MessageId { closing, number } = message;
        let sent = Sent { number, seqs, ending, resent: 0 };
        self.note(draft, closing, &[sent])
    }
}

/// The cancel of an event that has arrived in a bucket.
struct CancelInBucket<'a, 'd> {
    shard: &'a mut Shard,
    draft: &'a mut Draft<'d>,
    bucket: BucketNo,
}

impl CancelInBucket<'_, '_> {
    /// Ends the entries within reach; a withdrawal hides those that inboxes show, too.
    fn end(
        &mut self,
        reach: ArrivalEntryStates,
        withdraws: bool,
        sum: &mut TakenBackEntries,
    ) -> Result<(), Unreadable> {
        let ArrivalEntryStates { waiting, kept_back, gone, shown, tenant } = reach;
        let items = waiting.into_iter().map(|((seq, channel), recipients)| Entries {
            seq,
            channel,
            recipients: recipients.into(),
        });
        let items: Vec<Entries> = items.collect();
        sum.cancelled += items.iter().map(|entries| entries.recipients.len()).sum::<u64>();
        sum.removed_from_batch += kept_back.len() as u64;
        sum.too_late += gone;
        self.shard.cut(self.draft, self.bucket, Some(Reason::Event), items)?;
        self.shard.take_out(self.draft, self.bucket, Reason::Event, kept_back)?;
        if withdraws && !shown.is_empty() {
            let hidden = shown.values().map(RoaringBitmap::len).sum::<u64>();
            sum.withdrawn += hidden;
            // Inboxes show delivered entries, which count as too late until they are hidden.
            sum.too_late -= hidden;
            self.hide(tenant, shown);
        }
        Ok(())
    }

    /// Takes delivered entries out of inboxes. They stay delivered.
    fn hide(&mut self, tenant: Option<TenantNo>, shown: BTreeMap<Seq, RoaringBitmap>) {
        let entries = |(seq, recipients): (Seq, RoaringBitmap)| Entries {
            seq,
            channel: INBOX_NO,
            recipients: recipients.into(),
        };
        let items = shown.into_iter().map(entries).collect();
        for items in pieces(items, |item| set_bytes(&item.recipients)) {
            let record = Record::Hidden { at: self.shard.now, tenant, items };
            self.shard.write(self.draft, self.bucket, record);
        }
    }
}
