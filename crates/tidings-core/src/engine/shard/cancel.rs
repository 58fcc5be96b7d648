//! Cancelling an event: pending entries end, entries in a message that is not handed over yet are removed
//! from it, and for the rest it is too late (decision 062).

use std::collections::{BTreeMap, BTreeSet};

use roaring::RoaringBitmap;

use super::state::Shard;
use crate::engine::message::message_row::message_key;
use crate::engine::rows::act::{Cancel, CancelCount};
use crate::engine::rows::draft::Draft;
use crate::engine::rows::not_entered::NotEntered;
use crate::engine::rows::reach::Reached;
use crate::engine::rows::record_size::{pieces, set_bytes};
use crate::engine::rows::reply::TakenBack;
use crate::engine::rows::sent::Sent;
use crate::journal::record::{Entries, Record};
use crate::journal::stored::{Unreadable, encode};
use crate::journal::table::Partition;
use crate::model::channel::{ChannelNo, INBOX_NO};
use crate::model::id::BucketNo;
use crate::model::number::{EventNo, MessageId, RecipientNo, Seq};
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
                entries.cancelled += cancel_scheduled(self, draft, t, place, Reason::Event)?;
            }
            if event.days.is_empty() {
                continue;
            }
            for &at in &*self.buckets.numbers() {
                let (tenant, shown) = cancel_arrived(self, draft, at, place, &event.days, entries)?;
                if cancel.withdraws && !shown.is_empty() {
                    let hidden = shown.values().map(RoaringBitmap::len).sum::<u64>();
                    entries.withdrawn += hidden;
                    // Inboxes show delivered entries, which count as too late until they are hidden.
                    entries.too_late -= hidden;
                    hide(self, draft, at, tenant, shown);
                }
            }
        }
        Ok(count)
    }

    /// Removes entries that `never` now excludes, of one recipient on a channel or of all, and of one tenant or of all,
    /// from messages that are built and not handed over yet.
    pub(crate) fn take_out_unwanted(
        &mut self,
        draft: &mut Draft<'_>,
        at: BucketNo,
        whose: Option<(u32, ChannelNo)>,
        tenant: Option<TenantNo>,
    ) -> Result<(), Unreadable> {
        let Some(version) = self.version() else {
            return Ok(());
        };
        let mut unwanted = self.messages(draft).unwanted(at, whose, tenant, &version)?;
        unwanted.retain(|(.., message)| draft.reach.get(message) == Some(&Reached::KeptBack));
        self.take_out(draft, at, Reason::Preference, unwanted)
    }

    /// The messages to a recipient without an outcome, of a channel or of all.
    pub(crate) fn messages_to(
        &self,
        at: BucketNo,
        number: RecipientNo,
        channel: Option<ChannelNo>,
    ) -> Vec<MessageId> {
        let bucket = &self.buckets[at];
        let theirs = bucket.closings.iter().filter(|(_, open)| {
            let on = self.compiled.names.lane(open.lane.lane).channel;
            open.sending.contains(number.0) && channel.is_none_or(|channel| channel == on)
        });
        theirs.map(|(closing, _)| bucket.closing_id(*closing).message(number)).collect()
    }

    /// Ends the messages to an erased recipient: there are no further attempts.
    pub(crate) fn end_messages_to(
        &mut self,
        draft: &mut Draft<'_>,
        at: BucketNo,
        number: RecipientNo,
    ) -> Result<(), Unreadable> {
        for message in self.messages_to(at, number, None) {
            let seqs = self.messages(draft).seqs_of(message)?;
            end_message(self, draft, message, seqs, Ending::RecipientGone);
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
            end_message(self, draft, message, seqs, Ending::Forgotten);
        }
        Ok(())
    }

    /// Removes entries from messages that are kept back. A message without entries is withdrawn.
    pub(crate) fn take_out(
        &mut self,
        draft: &mut Draft<'_>,
        at: BucketNo,
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
            let made = self.buckets[at].closings.get(&closing);
            let from = made.map_or(self.now.day(), |open| open.at.day());
            let Some((day, row)) = self.messages(draft).message_row(message, from)? else {
                continue;
            };
            let row = row.without(closing, &seqs, why);
            let key = message_key(message);
            draft.put_chunked(Partition::Day(day), key, &encode(&row));
            if row.entries(closing).is_empty() {
                withdrawn.entry(closing).or_default().insert(number.0);
                self.tally.messages -= 1;
            }
            for seq in seqs {
                items.entry((seq, channel)).or_default().insert(number.0);
            }
        }
        let items =
            items.into_iter().map(|((seq, channel), who)| Entries { seq, channel, who }).collect();
        self.cut(draft, at, Some(why), items);
        for (closing, who) in withdrawn {
            let record = Record::Withdrawn { at: self.now, closing, who };
            self.write(draft, at, record);
        }
        Ok(())
    }
}

pub(super) fn cancel_scheduled(
    shard: &mut Shard,
    draft: &mut Draft<'_>,
    t: Instant,
    place: EventNo,
    why: Reason,
) -> Result<u64, Unreadable> {
    let mut count = 0;
    for (no, frozen) in shard.take_frozen(draft, t, place)? {
        let mut ended = NotEntered::default();
        for subset in &frozen.subsets {
            ended.end_all(subset, &subset.who, why);
        }
        count += ended.entries();
        shard.drop_entries(draft, no, place, ended);
    }
    Ok(count)
}

/// Cancels what can be cancelled of an event, and returns its tenant with what inboxes show of it.
fn cancel_arrived(
    shard: &mut Shard,
    draft: &mut Draft<'_>,
    at: BucketNo,
    place: EventNo,
    days: &BTreeSet<Day>,
    sum: &mut TakenBack,
) -> Result<(Option<TenantNo>, BTreeMap<Seq, RoaringBitmap>), Unreadable> {
    let reach = shard.messages(draft).reach(at, place, days)?;
    let items: Vec<Entries> = reach
        .waiting
        .into_iter()
        .map(|((seq, channel), who)| Entries { seq, channel, who: who.into() })
        .collect();
    sum.cancelled += items.iter().map(|entries| entries.who.len()).sum::<u64>();
    sum.removed_from_batch += reach.kept_back.len() as u64;
    sum.too_late += reach.gone;
    shard.cut(draft, at, Some(Reason::Event), items);
    shard.take_out(draft, at, Reason::Event, reach.kept_back)?;
    Ok((reach.tenant, reach.shown))
}

/// Takes delivered entries out of inboxes. They stay delivered.
fn hide(
    shard: &mut Shard,
    draft: &mut Draft<'_>,
    at: BucketNo,
    tenant: Option<TenantNo>,
    shown: BTreeMap<Seq, RoaringBitmap>,
) {
    let items =
        shown.into_iter().map(|(seq, who)| Entries { seq, channel: INBOX_NO, who: who.into() });
    for items in pieces(items.collect(), |item| set_bytes(&item.who)) {
        shard.write(draft, at, Record::Hidden { at: shard.now, tenant, items });
    }
}

/// Ends a message that can be kept back; the outcome is unknown if an earlier attempt may have handed
/// it over.
fn end_message(
    shard: &mut Shard,
    draft: &mut Draft<'_>,
    message: MessageId,
    seqs: Vec<Seq>,
    ending: Ending,
) {
    let ending = match draft.reach.get(&message) {
        Some(Reached::KeptBack) => ending,
        Some(Reached::InDoubt) => Ending::Unknown,
        // Was handed over: its outcome is about to come, and counts.
        None => return,
    };
    let MessageId { closing, number } = message;
    let sent = Sent { number, seqs, ending, resent: 0 };
    shard.note(draft, closing, &[sent]);
}
