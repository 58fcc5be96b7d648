//! Admission: the recipients that an event leaves out because an entry of its key is pending or was delivered, and the
//! pending entries that it replaces.
//!
//! Pending entries are read from the journal, whatever the rules were when it arrived, but only for recipients who may
//! have some: for each type with an admission, memory has by key the recipients admitted since the last check.
//! Deliveries of a type with `once_ever` outlive their day in sets of their own.

use std::collections::BTreeMap;

use roaring::RoaringBitmap;

use self::once::{About, delivered_once, subject};
use super::admitted::{Admitted, key_of_event, of_tenant};
use super::publish::Routed;
use super::state::Shard;
use super::take_back::Among;
use crate::bucket::{Closing, Frozen};
use crate::engine::intake::accepted;
use crate::engine::intake::state::Intake;
use crate::engine::rows::draft::Draft;
use crate::engine::rows::event_row::EventRow;
use crate::engine::rows::left_out::{LeftOut, left_out_key};
use crate::engine::rows::named::scheduled_key;
use crate::engine::rows::not_entered::NotEntered;
use crate::engine::rows::reach::Reached;
use crate::index::FoundEntry;
use crate::journal::record::Entries;
use crate::journal::stored::{StoredArrival, Unreadable, decode, encode};
use crate::journal::table::{Owner, Partition};
use crate::model::channel::ChannelNo;
use crate::model::event::Event;
use crate::model::id::BucketNo;
use crate::model::number::{EventNo, MessageId, RecipientAt, RecipientNo, Seq, TypeNo};
use crate::model::reason::Reason;
use crate::model::tenant::TenantNo;
use crate::model::time::Instant;
use crate::rules::compiled::Type;
use crate::rules::{Admission, Per};

pub(crate) mod once;

/// A type, and the field by which its admission keys differ.
#[derive(Clone, Copy)]
struct AdmissionKeySpec {
    type_no: TypeNo,
    per: Per,
}

/// The place of pending entries that have entered their lanes.
enum Place {
    Lane(Seq, ChannelNo),
    Message(Seq, ChannelNo, MessageId),
}

/// Pending entries with one key.
#[derive(Default)]
struct Pending {
    who: RoaringBitmap,
    waiting: Vec<Entries>,
    messages: Vec<(Seq, ChannelNo, MessageId)>,
    scheduled: Vec<((Instant, EventNo), RoaringBitmap)>,
}

impl Shard {
    /// Notes that an event waits for its `t`.
    pub(crate) fn note_scheduled(
        &mut self,
        no: BucketNo,
        t: Instant,
        row: &EventRow,
        type_no: TypeNo,
    ) {
        if let Some(known) = self.admitted.get_mut(&(no, type_no)) {
            let key = key_of_event(known.per, &row.event, row.tenant);
            known.scheduled.insert((t, row.place), key);
        }
    }

    /// Adds the entries of a type in a message without an outcome.
    fn in_message(
        &self,
        draft: &Draft<'_>,
        message: MessageId,
        open: &Closing,
        of: AdmissionKeySpec,
        entries: &mut Vec<(u64, Place, RoaringBitmap)>,
    ) -> Result<(), Unreadable> {
        let channel = self.compiled.names.lane(open.lane.lane).channel;
        let found = self.messages(draft).entries_made(message, open)?;
        for FoundEntry { number, source } in &found.entries {
            let kept = found.source(*source).0;
            if kept.arrival.type_no == of.type_no {
                let key = entry_key(draft, kept, of.per)?;
                let place = Place::Message(kept.seq, channel, message);
                entries.push((key, place, [*number].into()));
            }
        }
        Ok(())
    }

    /// The messages without an outcome that an event would replace entries in.
    pub(crate) fn messages_replaced(
        &self,
        draft: &Draft<'_>,
        of_type: &Type,
        event: &Event,
        tenant: Option<TenantNo>,
    ) -> Result<Vec<MessageId>, Unreadable> {
        let of = AdmissionKeySpec { type_no: of_type.no, per: of_type.rules.per };
        let mut messages = Vec::new();
        if of_type.rules.admission != Admission::LastOnly {
            return Ok(messages);
        }
        let key = key_of_event(of.per, event, tenant);
        for bucket in self.buckets.iter() {
            // Without a list of recipients who may have an entry, all messages on their way are asked.
            let known = self.admitted.get(&(bucket.no, of.type_no));
            let known = known.filter(|known| known.is_good_for(of.per));
            for (closing, open) in &bucket.closings {
                let mut entries = Vec::new();
                let numbers = match known {
                    None => open.sending.clone(),
                    Some(known) => {
                        let suspects = known.by_key.get(&key);
                        suspects.map_or_else(RoaringBitmap::new, |who| who & &open.sending)
                    }
                };
                for number in numbers {
                    let message = bucket.closing_id(*closing).message(RecipientNo(number));
                    self.in_message(draft, message, open, of, &mut entries)?;
                }
                messages.extend(entries.into_iter().filter_map(|(of, place, _)| match place {
                    Place::Message(.., message) if of == key => Some(message),
                    Place::Message(..) | Place::Lane(..) => None,
                }));
            }
        }
        Ok(messages)
    }
}

impl Shard {
    /// Leaves out the recipients that the admission of the event's type refuses, and ends the entries that it replaces;
    /// returns the number left out.
    pub(crate) fn admit(
        &mut self,
        intake: &Intake,
        draft: &mut Draft<'_>,
        row: &EventRow,
        of_type: &Type,
        routed: &mut BTreeMap<BucketNo, Routed>,
    ) -> Result<u64, Unreadable> {
        let (admission, per) = (of_type.rules.admission, of_type.rules.per);
        if admission == Admission::Always {
            return Ok(0);
        }
        let mut suppressed = 0;
        let of = AdmissionKeySpec { type_no: of_type.no, per };
        let key = key_of_event(per, &row.event, row.tenant);
        for (&no, routed) in routed.iter_mut() {
            let mut who = routed.values().fold(RoaringBitmap::new(), |who, set| who | set);
            if who.is_empty() {
                continue;
            }
            let once = once_left_out(self, intake, &*draft, no, row, of_type, &who)?;
            who -= &once;
            if admission == Admission::LastOnly {
                find_admitted(self, intake, &*draft, no, of)?;
                let pending = pending(self, draft, no, of, key, &who)?;
                // Precedes the new entries, which would replace themselves.
                replace(self, draft, no, pending)?;
            }
            if !once.is_empty() {
                suppressed += once.len();
                routed.values_mut().for_each(|set| *set -= &once);
                routed.retain(|_, set| !set.is_empty());
                let left_out = LeftOut { why: admission, recipients: once.len() };
                draft.put(
                    Partition::Day(self.now.day()),
                    left_out_key(no, row.place),
                    left_out.row(),
                );
            }
            if let Some(known) = self.admitted.get_mut(&(no, of.type_no)) {
                // Is noted before the entries exist: the list may name too many, never too few.
                *known.by_key.entry(key).or_default() |= who;
            }
        }
        self.tally.suppressed += suppressed;
        Ok(suppressed)
    }
}

/// The recipients of a set left out of an event by an admission of `once_*`.
fn once_left_out(
    shard: &mut Shard,
    intake: &Intake,
    draft: &Draft<'_>,
    no: BucketNo,
    row: &EventRow,
    of_type: &Type,
    who: &RoaringBitmap,
) -> Result<RoaringBitmap, Unreadable> {
    let (admission, per) = (of_type.rules.admission, of_type.rules.per);
    if !matches!(admission, Admission::OncePending | Admission::OnceEver) {
        return Ok(RoaringBitmap::new());
    }
    let of = AdmissionKeySpec { type_no: of_type.no, per };
    let key = key_of_event(per, &row.event, row.tenant);
    find_admitted(shard, intake, draft, no, of)?;
    let pending = pending(shard, draft, no, of, key, who)?;
    if admission == Admission::OncePending {
        return Ok(pending.who);
    }
    let target = row.event.target.as_ref().map(|target| &target.id);
    let subject = subject(per, &row.event.object.id, target);
    let about = About { tenant: row.tenant, subject };
    Ok(pending.who | delivered_once(draft, no, of, about, who)?)
}

/// The reason why the admission of a type leaves a recipient out of an event: one entry is pending, or was
/// delivered. Reads only.
pub(crate) fn would_leave_out(
    shard: &Shard,
    intake: &Intake,
    draft: &Draft<'_>,
    RecipientAt { bucket: no, number }: RecipientAt,
    of_type: &Type,
    EventRow { event, tenant, .. }: &EventRow,
) -> Result<Option<&'static str>, Unreadable> {
    let (admission, per) = (of_type.rules.admission, of_type.rules.per);
    if !matches!(admission, Admission::OncePending | Admission::OnceEver) {
        return Ok(None);
    }
    let of = AdmissionKeySpec { type_no: of_type.no, per };
    let who = RoaringBitmap::from_iter([number.0]);
    let key = key_of_event(per, event, *tenant);
    let entered = entered(shard, draft, no, of, Some(&who))?;
    let mut is_pending = entered.iter().any(|(of, ..)| *of == key);
    for (t, place) in shard.buckets[no].scheduled.of(number.0) {
        if !is_pending {
            let other = intake.scheduled_row(draft, t, place)?.0;
            is_pending = other.event.event_type == event.event_type
                && key_of_event(per, &other.event, other.tenant) == key;
        }
    }
    if is_pending {
        return Ok(Some("one is pending"));
    }
    let target = event.target.as_ref().map(|target| &target.id);
    let about = About { tenant: *tenant, subject: subject(per, &event.object.id, target) };
    let is_remembered =
        admission == Admission::OnceEver && !delivered_once(draft, no, of, about, &who)?.is_empty();
    Ok(is_remembered.then_some("one was delivered before"))
}

/// Finds out who may have a pending entry of a type, where memory does not know.
fn find_admitted(
    shard: &mut Shard,
    intake: &Intake,
    draft: &Draft<'_>,
    no: BucketNo,
    of: AdmissionKeySpec,
) -> Result<(), Unreadable> {
    let at = (no, of.type_no);
    let known = shard.admitted.get(&at);
    if known.is_some_and(|known| known.is_good_for(of.per)) {
        return Ok(());
    }
    let mut found = Admitted::none(of.per);
    for (key, _, who) in entered(shard, draft, no, of, None)? {
        *found.by_key.entry(key).or_default() |= who;
    }
    let name = shard.compiled.names.type_name(of.type_no);
    for ((t, place), who) in shard.buckets[no].scheduled.iter() {
        let row = intake.scheduled_row(draft, t, place)?.0;
        if row.event.event_type.as_str() == name {
            let key = key_of_event(of.per, &row.event, row.tenant);
            *found.by_key.entry(key).or_default() |= who;
            found.scheduled.insert((t, place), key);
        }
    }
    found.settle();
    shard.admitted.insert(at, found);
    Ok(())
}

/// The pending entries with a key of those of a set.
fn pending(
    shard: &mut Shard,
    draft: &Draft<'_>,
    no: BucketNo,
    of: AdmissionKeySpec,
    key: u64,
    who: &RoaringBitmap,
) -> Result<Pending, Unreadable> {
    let mut pending = Pending::default();
    let known = shard.admitted.get(&(no, of.type_no));
    let suspects = known.and_then(|known| Some(known.by_key.get(&key)? & who));
    let Some(suspects) = suspects.filter(|suspects| !suspects.is_empty()) else {
        return Ok(pending);
    };
    for (of_entry, place, who) in entered(shard, draft, no, of, Some(&suspects))? {
        if of_entry != key {
            continue;
        }
        pending.who |= &who;
        match place {
            Place::Lane(seq, channel) => {
                let who = who.into();
                pending.waiting.push(Entries { seq, channel, who });
            }
            Place::Message(seq, channel, message) => {
                pending.messages.push((seq, channel, message));
            }
        }
    }
    let bucket = &shard.buckets[no];
    if let Some(known) = shard.admitted.get_mut(&(no, of.type_no)) {
        known.scheduled.retain(|at, _| bucket.scheduled.contains_key(at));
        for (at, _) in known.scheduled.iter().filter(|(_, of)| **of == key) {
            let who = bucket.scheduled.among(at, &suspects);
            if !who.is_empty() {
                pending.who |= &who;
                pending.scheduled.push((*at, who));
            }
        }
        // Suspects without a pending entry leave the list: the journal is not asked for them again.
        if let Some(of_key) = known.by_key.get_mut(&key) {
            *of_key -= suspects - &pending.who;
            if of_key.is_empty() {
                known.by_key.remove(&key);
            }
        }
    }
    Ok(pending)
}

/// The pending entries of a type that have entered their lanes, of those of a set or of all, each with its key.
fn entered(
    shard: &Shard,
    draft: &Draft<'_>,
    no: BucketNo,
    of: AdmissionKeySpec,
    who: Option<&RoaringBitmap>,
) -> Result<Vec<(u64, Place, RoaringBitmap)>, Unreadable> {
    let mut entries = Vec::new();
    let among = Among { who, type_no: Some(of.type_no), ..Among::default() };
    for (_, channel, found) in shard.waiting_among(draft, no, among)? {
        for (source, mut of_source) in found.by_source() {
            if let Some(who) = who {
                of_source &= who;
            }
            if of_source.is_empty() {
                continue;
            }
            let kept = found.source(source).0;
            let key = entry_key(draft, kept, of.per)?;
            entries.push((key, Place::Lane(kept.seq, channel), of_source));
        }
    }
    for (closing, open) in &shard.buckets[no].closings {
        let numbers = match who {
            Some(who) => &open.sending & who,
            None => open.sending.clone(),
        };
        for number in numbers {
            let message = shard.buckets[no].closing_id(*closing).message(RecipientNo(number));
            shard.in_message(draft, message, open, of, &mut entries)?;
        }
    }
    Ok(entries)
}

/// Ends pending entries because later ones take their place.
fn replace(
    shard: &mut Shard,
    draft: &mut Draft<'_>,
    no: BucketNo,
    pending: Pending,
) -> Result<(), Unreadable> {
    shard.cut(draft, no, Some(Reason::Replaced), pending.waiting);
    let mut messages = pending.messages;
    // Messages that may have been handed over keep their entries.
    messages.retain(|(.., message)| draft.reach.get(message) == Some(&Reached::KeptBack));
    shard.take_out(draft, no, Reason::Replaced, messages)?;
    for ((t, place), who) in pending.scheduled {
        replace_scheduled(shard, draft, no, t, place, &who)?;
    }
    Ok(())
}

fn replace_scheduled(
    shard: &mut Shard,
    draft: &mut Draft<'_>,
    no: BucketNo,
    t: Instant,
    place: EventNo,
    who: &RoaringBitmap,
) -> Result<(), Unreadable> {
    let key = scheduled_key(Owner::Bucket(no), t, place);
    let Some(bytes) = draft.get_chunked(Partition::Base, &key)? else {
        return Ok(());
    };
    let mut frozen: Frozen = decode("a scheduled audience", &bytes)?;
    let mut replaced = NotEntered::default();
    for subset in &mut frozen.subsets {
        let ended = &subset.who.0 & who;
        replaced.end_all(subset, &ended, Reason::Replaced);
        subset.who.0 -= ended;
    }
    frozen.subsets.retain(|subset| !subset.who.is_empty());
    draft.delete_chunked(Partition::Base, key.clone())?;
    let scheduled = &mut shard.buckets[no].scheduled;
    if frozen.subsets.is_empty() {
        scheduled.remove(&(t, place));
    } else {
        scheduled.insert((t, place), frozen.everyone());
        draft.put_chunked(Partition::Base, key, &encode(&frozen));
    }
    shard.drop_entries(draft, no, place, replaced);
    Ok(())
}

fn entry_key(draft: &Draft<'_>, kept: &StoredArrival, per: Per) -> Result<u64, Unreadable> {
    let arrival = &kept.arrival;
    match per {
        Per::Type => Ok(of_tenant(0, arrival.tenant)),
        Per::Object => Ok(of_tenant(arrival.about.object, arrival.tenant)),
        Per::Target => {
            let row = accepted::read(draft, arrival.at.day(), arrival.event)?;
            Ok(key_of_event(per, &row.event, arrival.tenant))
        }
    }
}
