//! Admission: the recipients that an event leaves out because an entry of its key is pending or was delivered, and the
//! pending entries that it replaces.
//!
//! Pending entries are read from the journal, whatever the rules were when it arrived, but only for recipients who may
//! have some: for each type with an admission, memory has by key the recipients admitted since the last check.
//! Deliveries of a type with `once_ever` outlive their day in sets of their own.

use std::collections::BTreeMap;

use roaring::RoaringBitmap;

use self::admitted::{PendingKeyRecipients, key_of_event, of_tenant};
use self::once::OnceKey;
use super::publish::RoutedSets;
use super::state::Shard;
use super::take_back::EntryFilter;
use crate::bucket::{Closing, FrozenRecipients};
use crate::engine::intake::accepted;
use crate::engine::intake::state::Intake;
use crate::engine::reach::KeptBackState;
use crate::engine::rows::draft::Draft;
use crate::engine::rows::event_row::EventRow;
use crate::engine::rows::left_out::{LeftOutCount, left_out_key};
use crate::engine::rows::named::scheduled_key;
use crate::engine::rows::not_reached::{NotReachedReason, NotReachedSet, NotReachedSets};
use crate::engine::shard::schedule::NotEntered;
use crate::index::FoundEntry;
use crate::journal::record::Entries;
use crate::journal::stored::{StoredArrival, Unreadable, encode};
use crate::journal::table::{Owner, Partition};
use crate::model::channel::ChannelNo;
use crate::model::event::Event;
use crate::model::id::BucketNo;
use crate::model::number::{EventNo, MessageId, RecipientAt, RecipientNo, Seq, TypeNo};
use crate::model::reason::Reason;
use crate::model::tenant::TenantNo;
use crate::model::time::Instant;
use crate::rules::compiled::Type;
use crate::rules::{Admission, AdmissionKeyPart};
use crate::sets::set::Set;

pub(crate) mod admitted;
pub(crate) mod once;

/// A type, and the field by which its admission keys differ.
#[derive(Clone, Copy)]
struct AdmissionKeySpec {
    type_no: TypeNo,
    per: AdmissionKeyPart,
}

/// The place of pending entries that have entered their lanes.
enum PendingPlace {
    Lane(Seq, ChannelNo),
    Message(Seq, ChannelNo, MessageId),
}

/// Pending entries with one key.
#[derive(Default)]
struct PendingOfKey {
    recipients: RoaringBitmap,
    waiting: Vec<Entries>,
    messages: Vec<(Seq, ChannelNo, MessageId)>,
    scheduled: Vec<((Instant, EventNo), RoaringBitmap)>,
}

/// The pending entries of a type in a shard, read through a draft.
#[derive(Clone, Copy)]
pub(crate) struct PendingEntries<'a> {
    pub(crate) shard: &'a Shard,
    pub(crate) draft: &'a Draft<'a>,
    pub(crate) of_type: &'a Type,
}

/// The admission of an event of a type that leaves recipients out, or replaces what they have.
struct EventAdmission<'a, 'd> {
    shard: &'a mut Shard,
    intake: &'a Intake,
    draft: &'a mut Draft<'d>,
    row: &'a EventRow,
    of_type: &'a Type,
    /// The event's key.
    key: u64,
}

impl Shard {
    /// Notes that an event waits for its `t`.
    pub(crate) fn note_scheduled(
        &mut self,
        bucket: BucketNo,
        t: Instant,
        row: &EventRow,
        type_no: TypeNo,
    ) {
        if let Some(known) = self.admitted.get_mut(&(bucket, type_no)) {
            let key = key_of_event(known.per, &row.event, row.tenant);
            known.scheduled.insert((t, row.place), key);
        }
    }

    /// Leaves out the recipients that the admission of the event's type refuses, and ends the entries that it replaces;
    /// returns the number left out.
    pub(crate) fn admit(
        &mut self,
        intake: &Intake,
        draft: &mut Draft<'_>,
        row: &EventRow,
        of_type: &Type,
        routed: &mut BTreeMap<BucketNo, RoutedSets>,
        not_reached: &mut BTreeMap<BucketNo, NotReachedSets>,
    ) -> Result<u64, Unreadable> {
        if of_type.rules.admission == Admission::Always {
            return Ok(0);
        }
        let key = key_of_event(of_type.rules.per, &row.event, row.tenant);
        let mut admission = EventAdmission { shard: &mut *self, intake, draft, row, of_type, key };
        let mut suppressed = 0;
        for (&bucket, routed) in routed.iter_mut() {
            let once = admission.admit(bucket, routed)?;
            suppressed += once.iter().map(|of| of.recipients.len()).sum::<u64>();
            if !once.is_empty() {
                not_reached.entry(bucket).or_default().extend(once);
            }
        }
        self.tally.suppressed += suppressed;
        Ok(suppressed)
    }
}

impl PendingEntries<'_> {
    /// Adds those in a message without an outcome.
    fn in_message(
        &self,
        message: MessageId,
        open: &Closing,
        entries: &mut Vec<(u64, PendingPlace, RoaringBitmap)>,
    ) -> Result<(), Unreadable> {
        let channel = self.shard.compiled.names.lane(open.lane.lane).channel;
        let found = self.shard.messages(self.draft).entries_made(message, open)?;
        for FoundEntry { number, source } in &found.entries {
            let kept = found.source(*source).0;
            if kept.arrival.type_no == self.of_type.no {
                let place = PendingPlace::Message(kept.seq, channel, message);
                entries.push((self.key(kept)?, place, [*number].into()));
            }
        }
        Ok(())
    }

    /// The messages without an outcome that an event would replace entries in.
    pub(crate) fn messages_replaced(
        &self,
        event: &Event,
        tenant: Option<TenantNo>,
    ) -> Result<Vec<MessageId>, Unreadable> {
        let (type_no, per) = (self.of_type.no, self.of_type.rules.per);
        let mut messages = Vec::new();
        if self.of_type.rules.admission != Admission::LastOnly {
            return Ok(messages);
        }
        let key = key_of_event(per, event, tenant);
        for bucket in self.shard.buckets.iter() {
            // Without a list of recipients who may have an entry, all messages on their way are asked.
            let known = self.shard.admitted.get(&(bucket.no, type_no));
            let known = known.filter(|known| known.is_good_for(per));
            for (closing, open) in &bucket.closings {
                let mut entries = Vec::new();
                let numbers = match known {
                    None => open.sending.clone(),
                    Some(known) => {
                        let suspects = known.by_key.get(&key);
                        suspects.map_or_else(RoaringBitmap::new, |recipients| {
                            recipients & &open.sending
                        })
                    }
                };
                for number in numbers {
                    let message = bucket.closing_id(*closing).message(RecipientNo(number));
                    self.in_message(message, open, &mut entries)?;
                }
                messages.extend(entries.into_iter().filter_map(|(of, place, _)| match place {
                    PendingPlace::Message(.., message) if of == key => Some(message),
                    PendingPlace::Message(..) | PendingPlace::Lane(..) => None,
                }));
            }
        }
        Ok(messages)
    }

    /// The reason why the admission of the type leaves a recipient out of an event: one entry is pending, or was
    /// delivered. Reads only.
    pub(crate) fn would_leave_out(
        &self,
        intake: &Intake,
        recipient: RecipientAt,
        row: &EventRow,
    ) -> Result<Option<&'static str>, Unreadable> {
        let RecipientAt { bucket, number } = recipient;
        let (admission, per) = (self.of_type.rules.admission, self.of_type.rules.per);
        if !matches!(admission, Admission::OncePending | Admission::OnceEver) {
            return Ok(None);
        }
        let recipients = RoaringBitmap::from_iter([number.0]);
        let key = key_of_event(per, &row.event, row.tenant);
        let entered = self.entered(bucket, Some(&recipients))?;
        let mut is_pending = entered.iter().any(|(of, ..)| *of == key);
        for (t, place) in self.shard.buckets[bucket].scheduled.of(number.0) {
            if !is_pending {
                let other = intake.scheduled_row(self.draft, t, place)?.0;
                is_pending = other.event.event_type == row.event.event_type
                    && key_of_event(per, &other.event, other.tenant) == key;
            }
        }
        if is_pending {
            return Ok(Some("one is pending"));
        }
        let is_remembered = admission == Admission::OnceEver
            && !self.once(bucket, row).delivered(self.draft, &recipients)?.is_empty();
        Ok(is_remembered.then_some("one was delivered before"))
    }

    /// The key of an event's deliveries that are kept for ever.
    fn once<'a>(&self, bucket: BucketNo, row: &'a EventRow) -> OnceKey<'a> {
        let spec = AdmissionKeySpec { type_no: self.of_type.no, per: self.of_type.rules.per };
        let target = row.event.target.as_ref().map(|target| &target.id);
        OnceKey { bucket, spec, tenant: row.tenant, object: &row.event.object.id, target }
    }

    /// Those that have entered their lanes, of the recipients of a set or of all, each with its key.
    fn entered(
        &self,
        bucket: BucketNo,
        recipients: Option<&RoaringBitmap>,
    ) -> Result<Vec<(u64, PendingPlace, RoaringBitmap)>, Unreadable> {
        let mut entries = Vec::new();
        let filter =
            EntryFilter { recipients, type_no: Some(self.of_type.no), ..EntryFilter::default() };
        for (_, channel, found) in self.shard.waiting_entries(self.draft, bucket, filter)? {
            for (source, mut of_source) in found.by_source() {
                if let Some(recipients) = recipients {
                    of_source &= recipients;
                }
                if of_source.is_empty() {
                    continue;
                }
                let kept = found.source(source).0;
                entries.push((self.key(kept)?, PendingPlace::Lane(kept.seq, channel), of_source));
            }
        }
        let bucket = &self.shard.buckets[bucket];
        for (closing, open) in &bucket.closings {
            let numbers = match recipients {
                Some(recipients) => &open.sending & recipients,
                None => open.sending.clone(),
            };
            for number in numbers {
                let message = bucket.closing_id(*closing).message(RecipientNo(number));
                self.in_message(message, open, &mut entries)?;
            }
        }
        Ok(entries)
    }

    /// The key of an entry of the type.
    fn key(&self, kept: &StoredArrival) -> Result<u64, Unreadable> {
        let arrival = &kept.arrival;
        let per = self.of_type.rules.per;
        match per {
            AdmissionKeyPart::Type => Ok(of_tenant(0, arrival.tenant)),
            AdmissionKeyPart::Object => Ok(of_tenant(arrival.about.object, arrival.tenant)),
            AdmissionKeyPart::Target => {
                let row = accepted::read(self.draft, arrival.at.day(), arrival.event)?;
                Ok(key_of_event(per, &row.event, arrival.tenant))
            }
        }
    }
}

impl EventAdmission<'_, '_> {
    fn pending_entries(&self) -> PendingEntries<'_> {
        PendingEntries { shard: self.shard, draft: self.draft, of_type: self.of_type }
    }

    /// Leaves out recipients of a bucket, and ends what the event replaces there; returns those left out.
    fn admit(
        &mut self,
        bucket: BucketNo,
        routed: &mut RoutedSets,
    ) -> Result<NotReachedSets, Unreadable> {
        let mut recipients = routed.values().fold(RoaringBitmap::new(), |all, set| all | set);
        let mut not_reached = NotReachedSets::new();
        if recipients.is_empty() {
            return Ok(not_reached);
        }
        let why = self.of_type.rules.admission;
        let once = self.left_out(bucket, &recipients)?;
        recipients -= &once;
        if why == Admission::LastOnly {
            self.find_admitted(bucket)?;
            let pending = self.pending(bucket, &recipients)?;
            // Precedes the new entries, which would replace themselves.
            self.replace(bucket, pending)?;
        }
        if !once.is_empty() {
            let names = &self.shard.compiled.names;
            for (route, recipients) in routed.iter() {
                let channels = route.lanes.iter().map(|lane| names.lane(*lane).channel).collect();
                let recipients: Set = (recipients & &once).into();
                let why = match why {
                    Admission::OnceEver => NotReachedReason::OnceEver,
                    _ => NotReachedReason::OncePending,
                };
                if !recipients.is_empty() {
                    not_reached.push(NotReachedSet { why, channels, recipients });
                }
            }
            routed.values_mut().for_each(|set| *set -= &once);
            routed.retain(|_, set| !set.is_empty());
            let row = LeftOutCount { why, recipients: once.len() }.row();
            let today = Partition::Day(self.shard.now.day());
            self.draft.put(today, left_out_key(bucket, self.row.place), row);
        }
        if let Some(known) = self.shard.admitted.get_mut(&(bucket, self.of_type.no)) {
            // Is noted before the entries exist: the list may name too many, never too few.
            *known.by_key.entry(self.key).or_default() |= recipients;
        }
        Ok(not_reached)
    }

    /// The recipients of a set left out by an admission of `once_*`.
    fn left_out(
        &mut self,
        bucket: BucketNo,
        recipients: &RoaringBitmap,
    ) -> Result<RoaringBitmap, Unreadable> {
        let admission = self.of_type.rules.admission;
        if !matches!(admission, Admission::OncePending | Admission::OnceEver) {
            return Ok(RoaringBitmap::new());
        }
        self.find_admitted(bucket)?;
        let pending = self.pending(bucket, recipients)?.recipients;
        if admission == Admission::OncePending {
            return Ok(pending);
        }
        let once = self.pending_entries().once(bucket, self.row);
        Ok(pending | once.delivered(self.draft, recipients)?)
    }

    /// Finds out who may have a pending entry of the type, where memory does not know.
    fn find_admitted(&mut self, bucket: BucketNo) -> Result<(), Unreadable> {
        let (type_no, per) = (self.of_type.no, self.of_type.rules.per);
        let known = self.shard.admitted.get(&(bucket, type_no));
        if known.is_some_and(|known| known.is_good_for(per)) {
            return Ok(());
        }
        let mut found = PendingKeyRecipients::none(per);
        for (key, _, recipients) in self.pending_entries().entered(bucket, None)? {
            *found.by_key.entry(key).or_default() |= recipients;
        }
        let name = self.shard.compiled.names.type_name(type_no);
        for ((t, place), recipients) in self.shard.buckets[bucket].scheduled.iter() {
            let row = self.intake.scheduled_row(self.draft, t, place)?.0;
            if row.event.event_type.as_str() == name {
                let key = key_of_event(per, &row.event, row.tenant);
                *found.by_key.entry(key).or_default() |= recipients;
                found.scheduled.insert((t, place), key);
            }
        }
        found.settle();
        self.shard.admitted.insert((bucket, type_no), found);
        Ok(())
    }

    /// The pending entries with the event's key of the recipients of a set.
    fn pending(
        &mut self,
        bucket: BucketNo,
        recipients: &RoaringBitmap,
    ) -> Result<PendingOfKey, Unreadable> {
        let mut pending = PendingOfKey::default();
        let (type_no, key) = (self.of_type.no, self.key);
        let known = self.shard.admitted.get(&(bucket, type_no));
        let suspects = known.and_then(|known| Some(known.by_key.get(&key)? & recipients));
        let Some(suspects) = suspects.filter(|suspects| !suspects.is_empty()) else {
            return Ok(pending);
        };
        for (of_entry, place, recipients) in
            self.pending_entries().entered(bucket, Some(&suspects))?
        {
            if of_entry != key {
                continue;
            }
            pending.recipients |= &recipients;
            match place {
                PendingPlace::Lane(seq, channel) => {
                    let recipients = recipients.into();
                    pending.waiting.push(Entries { seq, channel, recipients });
                }
                PendingPlace::Message(seq, channel, message) => {
                    pending.messages.push((seq, channel, message));
                }
            }
        }
        let scheduled = &self.shard.buckets[bucket].scheduled;
        if let Some(known) = self.shard.admitted.get_mut(&(bucket, type_no)) {
            known.scheduled.retain(|at, _| scheduled.contains_key(at));
            for (at, _) in known.scheduled.iter().filter(|(_, of)| **of == key) {
                let recipients = scheduled.intersect(at, &suspects);
                if !recipients.is_empty() {
                    pending.recipients |= &recipients;
                    pending.scheduled.push((*at, recipients));
                }
            }
            // Suspects without a pending entry leave the list: the journal is not asked for them again.
            if let Some(of_key) = known.by_key.get_mut(&key) {
                *of_key -= suspects - &pending.recipients;
                if of_key.is_empty() {
                    known.by_key.remove(&key);
                }
            }
        }
        Ok(pending)
    }

    /// Ends pending entries because the event takes their place.
    fn replace(&mut self, bucket: BucketNo, pending: PendingOfKey) -> Result<(), Unreadable> {
        self.shard.cut(self.draft, bucket, Some(Reason::Replaced), pending.waiting)?;
        let mut messages = pending.messages;
        // Messages that may have been handed over keep their entries.
        messages.retain(|(.., message)| {
            self.draft.reach.get(message) == Some(&KeptBackState::KeptBack)
        });
        self.shard.take_out(self.draft, bucket, Reason::Replaced, messages)?;
        for ((t, place), recipients) in pending.scheduled {
            self.replace_scheduled(bucket, t, place, &recipients)?;
        }
        Ok(())
    }

    fn replace_scheduled(
        &mut self,
        bucket: BucketNo,
        t: Instant,
        place: EventNo,
        recipients: &RoaringBitmap,
    ) -> Result<(), Unreadable> {
        let key = scheduled_key(Owner::Bucket(bucket), t, place);
        let Some(bytes) = self.draft.get_chunked(Partition::Base, &key)? else {
            return Ok(());
        };
        let mut frozen = FrozenRecipients::decode(&bytes)?;
        let event = frozen.event;
        let mut replaced = NotEntered::default();
        for subset in &mut frozen.subsets {
            let ended = &subset.recipients.0 & recipients;
            replaced.end_all(subset, &ended, Reason::Replaced);
            subset.recipients.0 -= ended;
        }
        frozen.subsets.retain(|subset| !subset.recipients.is_empty());
        self.draft.delete_chunked(Partition::Base, key.clone())?;
        let scheduled = &mut self.shard.buckets[bucket].scheduled;
        if frozen.subsets.is_empty() {
            scheduled.remove(&(t, place));
        } else {
            scheduled.insert((t, place), frozen.everyone());
            self.draft.put_chunked(Partition::Base, key, &encode(&frozen));
        }
        self.shard.drop_entries(self.draft, bucket, (place, event), replaced);
        Ok(())
    }
}
