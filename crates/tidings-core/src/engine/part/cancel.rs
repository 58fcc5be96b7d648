//! Cancelling an event: pending entries end, entries in a message that is not handed over yet are removed
//! from it, and for the rest it is too late (decision 062).

use std::collections::{BTreeMap, BTreeSet};

use roaring::RoaringBitmap;

use super::mute::silenced;
use super::schedule::NotEntered;
use super::state::Part;
use crate::bucket::Closing;
use crate::engine::intake::locate::{self, Places};
use crate::engine::intake::state::Intake;
use crate::engine::message::message_row::{MessageRow, message_key};
use crate::engine::rows::act::{Cancel, CancelCount, CancelledEvents};
use crate::engine::rows::draft::Draft;
use crate::engine::rows::ends::ended_by;
use crate::engine::rows::reach::Reached;
use crate::engine::rows::record_size::{parts, set_bytes};
use crate::engine::rows::reply::TakenBack;
use crate::engine::rows::sent::Sent;
use crate::index::{Found, FoundEntry, Look};
use crate::journal::record::{Entries, Record};
use crate::journal::stored::{Unreadable, decode, encode};
use crate::journal::table::{Owner, Partition, Table};
use crate::model::batch_key::LaneKey;
use crate::model::channel::{ChannelNo, INBOX_NO};
use crate::model::command::Cancelled;
use crate::model::id::{BucketNo, Id};
use crate::model::number::{ClosingId, EventNo, MessageId, RecipientNo, Seq};
use crate::model::reason::{Ending, Reason};
use crate::model::time::{Day, Instant};
use crate::rules::compiled::Version;
use crate::sets::set::Set;

/// Entries of an arrival in a bucket, by what a cancel can do with them.
#[derive(Default)]
struct Within {
    /// Entries that wait.
    waiting: BTreeMap<(Seq, ChannelNo), RoaringBitmap>,
    /// Entries in messages that are kept back.
    kept_back: Vec<(Seq, ChannelNo, MessageId)>,
    /// Number of entries out of reach.
    gone: u64,
    /// Those of these that inboxes show, by seq.
    shown: BTreeMap<Seq, RoaringBitmap>,
}

impl Part {
    /// Cancels events as far as possible.
    pub(crate) fn cancel(
        &mut self,
        draft: &mut Draft<'_>,
        cancel: &Cancel,
    ) -> Result<CancelCount, Unreadable> {
        let mut count = CancelCount::default();
        for (place, event) in self.with_copies(draft, &cancel.what, &cancel.events)? {
            count.places.insert(place);
            let entries = &mut count.entries;
            for t in event.waits_for {
                entries.cancelled += self.cancel_scheduled(draft, t, place)?;
            }
            if event.days.is_empty() {
                continue;
            }
            for &at in &*self.buckets.numbers() {
                let shown = self.cancel_arrived(draft, at, (place, &event.days), entries)?;
                if cancel.withdraws && !shown.is_empty() {
                    let hidden = shown.values().map(RoaringBitmap::len).sum::<u64>();
                    entries.withdrawn += hidden;
                    entries.too_late -= hidden;
                    self.hide(draft, at, shown);
                }
            }
        }
        Ok(count)
    }

    /// Cancelled events with the days to which entries of them moved.
    pub(crate) fn with_copies(
        &self,
        draft: &Draft<'_>,
        what: &Cancelled,
        events: &CancelledEvents,
    ) -> Result<CancelledEvents, Unreadable> {
        let (name, table) = match what {
            Cancelled::Event(id) => (id, Table::EnteredIds),
            Cancelled::Key(key) => (key, Table::Keys),
        };
        let mut events = events.clone();
        for (day, located) in self.copies_of(draft, name, table)? {
            events.entry(located.place).or_default().days.extend(day);
        }
        Ok(events)
    }

    /// The places of events of this name of which entries moved to later days.
    pub(crate) fn copies_of(
        &self,
        draft: &Draft<'_>,
        name: &Id,
        table: Table,
    ) -> Result<Places, Unreadable> {
        let days = self.copies.keys().copied();
        locate::named(draft, name, (Owner::Shared, table), days)
    }

    /// The places of the events with this id that entered lanes or will.
    pub(crate) fn places_of(
        &self,
        intake: &Intake,
        draft: &Draft<'_>,
        id: &Id,
    ) -> Result<BTreeSet<EventNo>, Unreadable> {
        let mut located = intake.located_event(draft, id)?;
        located.extend(self.copies_of(draft, id, Table::EnteredIds)?);
        Ok(located.iter().map(|(_, located)| located.place).collect())
    }

    fn cancel_scheduled(
        &mut self,
        draft: &mut Draft<'_>,
        t: Instant,
        place: EventNo,
    ) -> Result<u64, Unreadable> {
        let mut count = 0;
        for (no, frozen) in self.take_frozen(draft, (t, place))? {
            let mut ended = NotEntered::default();
            for part in &frozen.parts {
                ended.end_all(part, &part.who, Reason::Event);
            }
            count += ended.entries();
            self.drop_entries(draft, no, place, ended);
        }
        Ok(count)
    }

    /// Cancels what can be cancelled of an event, and returns what inboxes show of it.
    fn cancel_arrived(
        &mut self,
        draft: &mut Draft<'_>,
        at: BucketNo,
        (place, days): (EventNo, &BTreeSet<Day>),
        sum: &mut TakenBack,
    ) -> Result<BTreeMap<Seq, RoaringBitmap>, Unreadable> {
        let reach = self.reach(draft, at, place, days)?;
        let items: Vec<Entries> = reach
            .waiting
            .into_iter()
            .map(|((seq, channel), who)| Entries {
                seq,
                channel,
                who: who.into(),
            })
            .collect();
        sum.cancelled += items.iter().map(|entries| entries.who.len()).sum::<u64>();
        sum.removed_from_batch += reach.kept_back.len() as u64;
        sum.too_late += reach.gone;
        self.cut(draft, at, Some(Reason::Event), items);
        self.take_out(draft, at, Reason::Event, reach.kept_back)?;
        Ok(reach.shown)
    }

    /// Takes delivered entries out of inboxes. They stay delivered.
    fn hide(&mut self, draft: &mut Draft<'_>, at: BucketNo, shown: BTreeMap<Seq, RoaringBitmap>) {
        let items = shown.into_iter().map(|(seq, who)| Entries {
            seq,
            channel: INBOX_NO,
            who: who.into(),
        });
        for items in parts(items.collect(), |item| set_bytes(&item.who)) {
            self.write(
                draft,
                at,
                Record::Hidden {
                    at: self.now,
                    items,
                },
            );
        }
    }

    /// The entries of an event in a bucket, by what a cancel can do with them.
    fn reach(
        &self,
        draft: &Draft<'_>,
        at: BucketNo,
        place: EventNo,
        days: &BTreeSet<Day>,
    ) -> Result<Within, Unreadable> {
        let bucket = &self.buckets[at];
        let mut reach = Within::default();
        for kept in bucket.index.arrivals_of(draft.view, place, days)? {
            let found = bucket.sets_of(draft.view, &kept)?;
            let mut stored = None;
            for (variant, who) in kept.arrival.variants.iter().zip(found) {
                for lane in &variant.lanes {
                    let name = self.compiled.names.lane(*lane);
                    let mut rest = who.clone();
                    if let Some(ended) = bucket.ended.of(kept.seq, name.channel) {
                        rest -= ended;
                    }
                    let address = self.compiled.names.address(*lane, &kept.arrival.keys);
                    let waiting = bucket.pending(kept.seq, &address, name.channel, &rest);
                    if !waiting.is_empty() {
                        rest -= &waiting;
                        let entries = (kept.seq, name.channel);
                        *reach.waiting.entry(entries).or_default() |= waiting;
                    }
                    if !rest.is_empty() {
                        let stored = match &mut stored {
                            Some(stored) => stored,
                            none => none.insert(self.stored_ends(draft.view, bucket, &kept)?),
                        };
                        for record in &*stored {
                            for (_, ended) in ended_by(record, kept.seq, name.channel) {
                                rest -= ended;
                            }
                        }
                    }
                    if !name.is_inbox() {
                        for message in self.messages_with(draft, at, (&address, kept.seq), &rest)? {
                            if draft.reach.get(&message) == Some(&Reached::KeptBack) {
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
        draft: &Draft<'_>,
        at: BucketNo,
        (lane, seq): (&LaneKey, Seq),
        who: &RoaringBitmap,
    ) -> Result<Vec<MessageId>, Unreadable> {
        let bucket = &self.buckets[at];
        let mut messages = Vec::new();
        for (closing, open) in bucket.closings.from(&seq) {
            if open.lane != *lane {
                continue;
            }
            for number in &open.sending & who {
                let message = bucket.closing_id(*closing).message(RecipientNo(number));
                let row = self.message_row(draft, message, open.at.day())?;
                if row.is_some_and(|(_, row)| row.entries(*closing).contains(&seq)) {
                    messages.push(message);
                }
            }
        }
        Ok(messages)
    }

    /// Removes entries that `never` now excludes, of one recipient on a channel or of all, from messages
    /// that are built and not handed over yet.
    pub(crate) fn take_out_unwanted(
        &mut self,
        draft: &mut Draft<'_>,
        at: BucketNo,
        whose: Option<(u32, ChannelNo)>,
    ) -> Result<(), Unreadable> {
        let Some(version) = self.version() else {
            return Ok(());
        };
        let mut unwanted = self.unwanted(draft, at, whose, &version)?;
        unwanted.retain(|(.., message)| draft.reach.get(message) == Some(&Reached::KeptBack));
        self.take_out(draft, at, Reason::Preference, unwanted)
    }

    /// The entries that `never` and mutes exclude under a version of the rules in messages without an outcome.
    pub(crate) fn unwanted(
        &self,
        draft: &Draft<'_>,
        at: BucketNo,
        whose: Option<(u32, ChannelNo)>,
        version: &Version,
    ) -> Result<Vec<(Seq, ChannelNo, MessageId)>, Unreadable> {
        let bucket = &self.buckets[at];
        let messages = bucket.closings.iter().flat_map(|(closing, open)| {
            let channel = self.compiled.names.lane(open.lane.lane).channel;
            let numbers: Vec<u32> = match whose {
                None => open.sending.iter().collect(),
                Some((number, on)) if on == channel && open.sending.contains(number) => {
                    vec![number]
                }
                Some(_) => Vec::new(),
            };
            let messages = numbers.into_iter();
            messages.map(move |number| (closing, open, channel, number))
        });
        let mut unwanted = Vec::new();
        for (closing, open, channel, number) in messages {
            let message = bucket.closing_id(*closing).message(RecipientNo(number));
            let seqs = self.unwanted_in(draft, (message, channel), open, version)?;
            unwanted.extend(seqs.into_iter().map(|seq| (seq, channel, message)));
        }
        Ok(unwanted)
    }

    /// The entries of a message that `never` and mutes exclude under a version of the rules.
    pub(crate) fn unwanted_in(
        &self,
        draft: &Draft<'_>,
        (message, channel): (MessageId, ChannelNo),
        open: &Closing,
        version: &Version,
    ) -> Result<Vec<Seq>, Unreadable> {
        let bucket = &self.buckets[message.closing.bucket];
        let who = RoaringBitmap::from_iter([message.number.0]);
        let found = self.entries_made(draft, message, open)?;
        let mut unwanted = Vec::new();
        for FoundEntry { source, .. } in &found.entries {
            let (kept, variant) = found.source(*source);
            let Some(of_type) = version.of_type(kept.arrival.type_no) else {
                continue;
            };
            let rules = (of_type, &self.paused);
            let mut lanes = bucket.preferences.lanes(channel, rules, who.clone());
            let entry = (kept, variant);
            let silenced = silenced(draft, (bucket, of_type), entry, (channel, &who))?;
            if lanes.any(|(lane, _)| lane.is_none()) || !silenced.is_empty() {
                unwanted.push(kept.seq);
            }
        }
        Ok(unwanted)
    }

    /// The entries of a message without an outcome.
    pub(crate) fn entries_made(
        &self,
        draft: &Draft<'_>,
        message: MessageId,
        open: &Closing,
    ) -> Result<Found, Unreadable> {
        let MessageId { closing, number } = message;
        let row = self.message_row(draft, message, open.at.day())?;
        let seqs = row.map_or_else(Vec::new, |(_, row)| row.entries(closing.seq));
        let seqs = BTreeSet::from_iter(seqs);
        let (Some(from), Some(to)) = (seqs.first(), seqs.last()) else {
            return Ok(Found::default());
        };
        let look = Look {
            from: *from,
            to: *to,
            who: &[number.0].into(),
            takes: &|kept, variant| open.lane.has(&self.compiled.names, &kept.arrival, variant),
            has: &|_, kept| seqs.contains(&kept.seq),
        };
        self.buckets[closing.bucket].index.look(draft.view, &look)
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
        theirs
            .map(|(closing, _)| bucket.closing_id(*closing).message(number))
            .collect()
    }

    /// Ends the messages to an erased recipient: there are no further attempts.
    pub(crate) fn end_messages_to(
        &mut self,
        draft: &mut Draft<'_>,
        at: BucketNo,
        number: RecipientNo,
    ) -> Result<(), Unreadable> {
        for message in self.messages_to(at, number, None) {
            let seqs = self.seqs_of(draft, message)?;
            self.end_message(draft, message, seqs, Ending::RecipientGone);
        }
        Ok(())
    }

    /// Ends the messages with entries of the days before this one, which can't be delivered any more.
    pub(crate) fn end_messages_before(
        &mut self,
        draft: &mut Draft<'_>,
        before: Day,
    ) -> Result<(), Unreadable> {
        for (message, seqs) in self.messages_before(draft, before)? {
            self.end_message(draft, message, seqs, Ending::Forgotten);
        }
        Ok(())
    }

    /// The messages without an outcome that have entries of the days before this one, with all of their
    /// entries.
    pub(crate) fn messages_before(
        &self,
        draft: &Draft<'_>,
        before: Day,
    ) -> Result<BTreeMap<MessageId, Vec<Seq>>, Unreadable> {
        let mut messages = BTreeMap::new();
        for bucket in self.buckets.iter() {
            let is_forgotten = |seq: Seq| bucket.index.day_of(seq).is_none_or(|day| day < before);
            let open = bucket.closings.iter();
            for (closing, open) in open.filter(|(_, open)| is_forgotten(open.from)) {
                for number in &open.sending {
                    let message = bucket.closing_id(*closing).message(RecipientNo(number));
                    let seqs = self.seqs_of(draft, message)?;
                    if seqs.iter().any(|seq| is_forgotten(*seq)) {
                        messages.insert(message, seqs);
                    }
                }
            }
        }
        Ok(messages)
    }

    /// Ends a message that can be kept back; the outcome is unknown if an earlier attempt may have handed
    /// it over.
    fn end_message(
        &mut self,
        draft: &mut Draft<'_>,
        message: MessageId,
        seqs: Vec<Seq>,
        ending: Ending,
    ) {
        let ending = match draft.reach.get(&message) {
            Some(Reached::KeptBack) => ending,
            Some(Reached::InDoubt) => Ending::Unknown,
            None => return,
        };
        let MessageId { closing, number } = message;
        let sent = Sent {
            number,
            seqs,
            ending,
            resent: 0,
        };
        self.note(draft, closing, &[sent]);
    }

    /// The seqs of a built message.
    fn seqs_of(&self, draft: &Draft<'_>, message: MessageId) -> Result<Vec<Seq>, Unreadable> {
        let ClosingId { bucket, seq } = message.closing;
        let open = &self.buckets[bucket].closings;
        let from = open.get(&seq).map(|open| open.at.day());
        let row = self.message_row(draft, message, from.unwrap_or(self.now.day()))?;
        Ok(row.map_or_else(Vec::new, |(_, row)| row.entries(seq)))
    }

    /// The row of a message, and the day on which it was built, not before `from`.
    pub(crate) fn message_row(
        &self,
        draft: &Draft<'_>,
        message: MessageId,
        from: Day,
    ) -> Result<Option<(Day, MessageRow)>, Unreadable> {
        let key = message_key(message);
        for day in self.journal_days.range(from..) {
            if let Some(bytes) = draft.get_in_parts(Partition::Day(*day), &key)? {
                return Ok(Some((*day, decode("a message", &bytes)?)));
            }
        }
        Ok(None)
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
            let Some((day, row)) = self.message_row(draft, message, from)? else {
                continue;
            };
            let row = row.without(closing, &seqs, why);
            let key = message_key(message);
            draft.put_in_parts(Partition::Day(day), key, &encode(&row));
            if row.entries(closing).is_empty() {
                withdrawn.entry(closing).or_default().insert(number.0);
                self.tally.messages -= 1;
            }
            for seq in seqs {
                items.entry((seq, channel)).or_default().insert(number.0);
            }
        }
        let items = items
            .into_iter()
            .map(|((seq, channel), who)| Entries { seq, channel, who })
            .collect();
        self.cut(draft, at, Some(why), items);
        for (closing, who) in withdrawn {
            let record = Record::Withdrawn {
                at: self.now,
                closing,
                who,
            };
            self.write(draft, at, record);
        }
        Ok(())
    }
}
