//! Admission: whom an event leaves out because an entry of its key is pending or was delivered, and whose pending entries
//! it replaces.
//!
//! Pending entries are read from the journal, whatever the rules were when it arrived, but only of those who may have
//! something: of each type that asks, memory knows by key who was admitted since it was looked at last. What was
//! delivered of a type with `once_ever` outlives its day in sets of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use roaring::RoaringBitmap;
use rustc_hash::FxHashMap;

use super::admitted::{Admitted, key_of_event, of_tenant};
use super::publish::Routed;
use super::state::Shard;
use super::take_back::Among;
use crate::bucket::{Closing, Frozen};
use crate::engine::intake::accepted;
use crate::engine::intake::state::Intake;
use crate::engine::rows::draft::Draft;
use crate::engine::rows::event_row::EventRow;
use crate::engine::rows::left_out::{LeftOut, Suppressed, left_out_key};
use crate::engine::rows::named::scheduled_key;
use crate::engine::rows::not_entered::NotEntered;
use crate::engine::rows::reach::Reached;
use crate::engine::rows::room::Room;
use crate::engine::rows::sent::Sent;
use crate::index::headers::Header;
use crate::index::{FoundEntry, Look};
use crate::journal::record::{Entries, Variant};
use crate::journal::stored::{StoredArrival, Unreadable, decode, encode};
use crate::journal::table::{Key, Owner, Partition, Table, after_prefix};
use crate::model::channel::ChannelNo;
use crate::model::event::Event;
use crate::model::id::{BucketNo, Id};
use crate::model::number::{ClosingId, EventNo, MessageId, RecipientAt, RecipientNo, Seq, TypeNo};
use crate::model::reason::{Ending, Reason};
use crate::model::tenant::TenantNo;
use crate::model::time::Instant;
use crate::rules::compiled::Type;
use crate::rules::{Admission, LeftOutBy, Per};
use crate::sets::set::Set;

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

/// The text of a key, for what is kept for ever.
fn subject<'a>(per: Per, object: &'a Id, target: Option<&'a Id>) -> &'a str {
    match per {
        Per::Type => "",
        Per::Object => object.as_str(),
        Per::Target => target.map_or("", Id::as_str),
    }
}

/// The subject of an entry in the permanent record of `once_ever`.
#[derive(Clone, Copy)]
struct About<'a> {
    tenant: Option<TenantNo>,
    subject: &'a str,
}

fn once_key(bucket: BucketNo, of: AdmissionKeySpec, about: About<'_>, page: u32) -> Vec<u8> {
    Key::of(Owner::Bucket(bucket), Table::DeliveredOnce)
        .u32(TenantNo::raw(about.tenant))
        .u32(of.type_no.0)
        .bytes(&[of.per as u8])
        .bytes(about.subject.as_bytes())
        .bytes(&[0])
        .u32(page)
        .done()
}

/// A set in pieces of 2^16 numbers, each with its page.
fn pages(who: &RoaringBitmap) -> BTreeMap<u32, RoaringBitmap> {
    let mut pages: BTreeMap<u32, RoaringBitmap> = BTreeMap::new();
    for number in who {
        pages.entry(number >> 16).or_default().insert(number);
    }
    pages
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
            // Where memory does not know yet who may have one, everybody is asked.
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
    /// Leaves out of an event those whom the admission of its type does not take, then those beyond the limit of its tenant,
    /// and ends what it replaces.
    pub(crate) fn admit(
        &mut self,
        intake: &Intake,
        draft: &mut Draft<'_>,
        row: &EventRow,
        of_type: &Type,
        room: &Room,
        routed: &mut BTreeMap<BucketNo, Routed>,
    ) -> Result<Suppressed, Unreadable> {
        let (admission, per) = (of_type.rules.admission, of_type.rules.per);
        let mut suppressed = Suppressed::default();
        if admission == Admission::Always && room.is_for_all() {
            return Ok(suppressed);
        }
        let of = AdmissionKeySpec { type_no: of_type.no, per };
        let key = key_of_event(per, &row.event, row.tenant);
        for (&no, routed) in routed.iter_mut() {
            let mut who = routed.values().fold(RoaringBitmap::new(), |who, set| who | set);
            if who.is_empty() {
                continue;
            }
            let once = once_left_out(self, intake, &*draft, no, row, of_type, &who)?;
            who -= &once;
            let beyond = room.beyond(&self.buckets[no], &who);
            who -= &beyond;
            if admission == Admission::LastOnly {
                find_admitted(self, intake, &*draft, no, of)?;
                let pending = pending(self, draft, no, of, key, &who)?;
                replace(self, draft, no, pending)?;
            }
            suppressed.by_admission += once.len();
            suppressed.by_limit += beyond.len();
            let counted =
                [(LeftOutBy::Admission(admission), once), (LeftOutBy::TenantLimit, beyond)];
            let mut rows = Vec::new();
            for (why, left_out) in counted.into_iter().filter(|(_, who)| !who.is_empty()) {
                routed.values_mut().for_each(|set| *set -= &left_out);
                rows.push(LeftOut { why, recipients: left_out.len() });
            }
            if !rows.is_empty() {
                routed.retain(|_, set| !set.is_empty());
                let today = Partition::Day(self.now.day());
                draft.put(today, left_out_key(no, row.place), encode(&rows));
            }
            if let Some(known) = self.admitted.get_mut(&(no, of.type_no)) {
                *known.by_key.entry(key).or_default() |= who;
            }
        }
        self.tally.suppressed += suppressed.by_admission + suppressed.by_limit;
        Ok(suppressed)
    }
}

/// The recipients of a set whom an admission of `once_*` leaves out of an event.
pub(crate) fn once_left_out(
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

/// Remembers who was delivered an entry of a type with `once_ever`.
pub(crate) fn remember(
    shard: &Shard,
    draft: &mut Draft<'_>,
    no: BucketNo,
    (type_no, tenant): (TypeNo, Option<TenantNo>),
    header: &Header,
    who: &RoaringBitmap,
) -> Result<(), Unreadable> {
    let version = shard.compiled.current();
    let Some(rules) = version.and_then(|version| version.of_type(type_no)) else {
        return Ok(());
    };
    if rules.rules.admission != Admission::OnceEver {
        return Ok(());
    }
    let per = rules.rules.per;
    let subject = subject(per, &header.object, header.target.as_ref());
    let about = About { tenant, subject };
    for (page, who) in pages(who) {
        let key = once_key(no, AdmissionKeySpec { type_no, per }, about, page);
        let known = read_set(draft, &key)?;
        if !who.is_subset(&known) {
            draft.put(Partition::Base, key, encode(&Set::from(known | who)));
        }
    }
    Ok(())
}

/// Remembers who was sent an entry of a type with `once_ever`.
pub(crate) fn remember_sent(
    shard: &Shard,
    intake: &Intake,
    draft: &mut Draft<'_>,
    ClosingId { bucket: no, seq }: ClosingId,
    sent: &[Sent],
) -> Result<(), Unreadable> {
    let asks = |rules: &Type| rules.rules.admission == Admission::OnceEver;
    let Some(version) = shard.version().filter(|version| version.has_kind(asks)) else {
        return Ok(());
    };
    let bucket = &shard.buckets[no];
    let Some(open) = bucket.closings.get(&seq) else {
        return Ok(());
    };
    let delivered = sent
        .iter()
        .filter(|sent| sent.ending == Ending::Delivered && open.sending.contains(sent.number.0));
    let seqs_of: FxHashMap<u32, &Vec<Seq>> =
        delivered.map(|sent| (sent.number.0, &sent.seqs)).collect();
    let seqs = || seqs_of.values().flat_map(|seqs| seqs.iter().copied());
    let (Some(from), Some(to)) = (seqs().min(), seqs().max()) else {
        return Ok(());
    };
    let takes = |kept: &StoredArrival, variant: &Variant| {
        version.of_type(kept.arrival.type_no).is_some_and(asks)
            && open.lane.has(&shard.compiled.names, &kept.arrival, variant)
    };
    let look = Look {
        from,
        to,
        who: &seqs_of.keys().copied().collect(),
        takes: &takes,
        has: &|number, kept| seqs_of.get(&number).is_some_and(|seqs| seqs.contains(&kept.seq)),
    };
    let found = bucket.index.look(draft.view, &look)?;
    for (source, who) in found.by_source() {
        let arrival = &found.source(source).0.arrival;
        let day = arrival.at.day();
        let header = intake.with_header(draft, day, arrival.event, Header::clone)?;
        remember(shard, draft, no, (arrival.type_no, arrival.tenant), &header, &who)?;
    }
    Ok(())
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
        // Who has nothing pending need not be looked at again.
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

/// Those of a set who were ever delivered an entry of a type and a key.
fn delivered_once(
    draft: &Draft<'_>,
    no: BucketNo,
    of: AdmissionKeySpec,
    about: About<'_>,
    who: &RoaringBitmap,
) -> Result<RoaringBitmap, Unreadable> {
    let mut delivered = RoaringBitmap::new();
    for (page, who) in pages(who) {
        delivered |= who & read_set(draft, &once_key(no, of, about, page))?;
    }
    Ok(delivered)
}

/// Deletes who was delivered something of a tenant once, as far as there is room for rows, which gets less.
pub(crate) fn forget_delivered(
    draft: &mut Draft<'_>,
    no: BucketNo,
    tenant: TenantNo,
    room: &mut usize,
) -> Result<(), Unreadable> {
    let prefix = Key::of(Owner::Bucket(no), Table::DeliveredOnce).u32(tenant.0.get()).done();
    let written = draft.written(Partition::Base, &prefix);
    let mut rows: BTreeSet<Vec<u8>> = written.map(|(key, _)| key.to_vec()).collect();
    let end = after_prefix(&prefix);
    draft.view.scan(Partition::Base, &prefix, end.as_deref(), &mut |key, _| {
        if rows.len() >= *room {
            return ControlFlow::Break(());
        }
        rows.insert(key.to_vec());
        ControlFlow::Continue(())
    })?;
    *room = room.saturating_sub(rows.len());
    rows.into_iter().for_each(|key| draft.delete(Partition::Base, key));
    Ok(())
}

fn read_set(draft: &Draft<'_>, key: &[u8]) -> Result<RoaringBitmap, Unreadable> {
    let row = draft.get(Partition::Base, key)?;
    let set = row.map(|row| decode::<Set>("who was delivered once", &row));
    Ok(set.transpose()?.unwrap_or_default().0)
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
