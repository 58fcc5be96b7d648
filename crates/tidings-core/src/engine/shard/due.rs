//! Closings of lanes, and deliveries to inboxes.

use std::collections::BTreeMap;

use roaring::RoaringBitmap;

use super::state::Shard;
use super::tenant::TenantRemoval;
use crate::bucket::DueWindows;
use crate::content::message::{Item, Message, SkippedEntry};
use crate::engine::figures::counting::{CountKey, FigureCounter};
use crate::engine::figures::measure::Slot;
use crate::engine::inbox::mark::item_records;
use crate::engine::intake::state::Intake;
use crate::engine::read::reader::Reader;
use crate::engine::rows::draft::Draft;
use crate::engine::send_checks::condition::ask;
use crate::engine::send_checks::look::{EndedRecipients, SendCheckFacts, facts_of};
use crate::engine::shard::admission::once::DeliveredOnce;
use crate::index::headers::Header;
use crate::journal::record::{Record, Variant};
use crate::journal::stored::{StoredArrival, Unreadable};
use crate::model::batch_key::{BatchKey, LaneKey};
use crate::model::channel::{INBOX, INBOX_NO};
use crate::model::id::{BucketNo, Id};
use crate::model::number::{ClosingId, EventNo, RecipientNo};
use crate::model::reason::{Outcome, Reason};
use crate::model::tenant::TenantNo;
use crate::model::time::Instant;
use crate::rules::Admission;
use crate::rules::compiled::CompiledRules;
use crate::rules::lane_kind::LaneKind;

mod inbox_delivery;

pub use inbox_delivery::InboxDelivery;

/// The lanes and snoozed items of a bucket that are due.
struct DueInBucket<'a, 'd> {
    shard: &'a mut Shard,
    draft: &'a mut Draft<'d>,
    bucket: BucketNo,
}

/// The arrivals of a bucket that its inboxes do not show yet.
struct NewArrivals<'a, 'd> {
    shard: &'a mut Shard,
    intake: &'a Intake,
    draft: &'a mut Draft<'d>,
    bucket: BucketNo,
}

impl Shard {
    /// Ends an instant once everything has arrived at it: delivers to the inboxes, and closes the lanes
    /// that are due now.
    pub(crate) fn end_instant(
        &mut self,
        intake: &Intake,
        draft: &mut Draft<'_>,
    ) -> Result<Vec<InboxDelivery>, Unreadable> {
        TenantRemoval::run(self, intake, draft)?;
        let mut delivered = Vec::new();
        for &bucket in &*self.buckets.numbers() {
            let mut arrivals =
                NewArrivals { shard: &mut *self, intake, draft: &mut *draft, bucket };
            delivered.extend(arrivals.deliver()?);
        }
        if self.close_due(intake, draft)? || !delivered.is_empty() {
            self.last_output_at = Some(self.clock);
        }
        Ok(delivered)
    }

    /// Closes the lanes that are due; returns whether there were any.
    pub(crate) fn close_due(
        &mut self,
        intake: &Intake,
        draft: &mut Draft<'_>,
    ) -> Result<bool, Unreadable> {
        let mut any = false;
        for &bucket in &*self.buckets.numbers() {
            if self.next_due_of(bucket).is_none_or(|due| due > self.clock.0) {
                continue;
            }
            let mut due = DueInBucket { shard: &mut *self, draft: &mut *draft, bucket };
            any |= due.return_snoozed();
            any |= due.close_lanes(intake)?;
        }
        Ok(any)
    }
}

impl DueInBucket<'_, '_> {
    /// Brings back the items whose snooze ends now; returns whether there were any.
    fn return_snoozed(&mut self) -> bool {
        let mut any = false;
        let (shard, bucket) = (&mut *self.shard, self.bucket);
        loop {
            let state = &mut shard.buckets[bucket];
            let first = state.snoozed.first().map(|(key, ())| *key);
            let Some((until, number)) = first.filter(|(until, _)| *until <= shard.clock) else {
                return any;
            };
            state.snoozed.remove(&(until, number));
            let marks = state.marks.get(&number);
            // The key may be stale: an item that was changed since returns at another instant, or never.
            let items = marks.map(|marks| marks.items.returning(until, state.next_seq));
            let items = items.unwrap_or_default();
            any |= !items.is_empty();
            for record in item_records(shard.now, RecipientNo(number), &items) {
                shard.write(self.draft, bucket, record);
            }
        }
    }

    /// Closes the lanes; returns whether there were any.
    fn close_lanes(&mut self, intake: &Intake) -> Result<bool, Unreadable> {
        let mut any = false;
        for (lane, DueWindows { closing, counting }) in self.take_lanes(intake) {
            // Counts come before caps: a window with too few entries sends nothing, and must not use up
            // a cap.
            let recipients = closing | self.count(&lane, counting)?;
            let recipients = self.cap(&lane, recipients);
            if recipients.is_empty() {
                continue;
            }
            any = true;
            let (at, bucket, tenant) = (self.shard.now, self.bucket, lane.tenant);
            let channel = self.shard.compiled.names.lane(lane.lane).channel;
            let closing = Record::Closing { at, lane, recipients: recipients.clone().into() };
            let seq = self.shard.write(self.draft, bucket, closing);
            let closing = ClosingId { bucket, seq };
            self.shard.new_closings.add(at, channel, tenant, closing, &recipients);
        }
        Ok(any)
    }

    /// Takes the lanes from the wheel, by name.
    fn take_lanes(&mut self, intake: &Intake) -> Vec<(LaneKey, DueWindows)> {
        let shard = &mut *self.shard;
        let (lanes, around) = shard.buckets[self.bucket].lanes_and_around(&shard.compiled);
        let mut due = lanes.take_due(shard.clock, around.terms);
        let names = &shard.compiled.names;
        // The order decides which lane of a recipient a cap keeps, so it goes by names: numbers depend
        // on the order of past configurations.
        due.sort_by(|(one, _), (other, _)| {
            let name = |lane: &LaneKey| &names.lane(lane.lane).name;
            // A deleted tenant has no lanes left, so all ids are known.
            let tenant = |lane: &LaneKey| intake.tenants.id(lane.tenant).map(Id::as_str);
            let by_name = name(one).cmp(name(other)).then_with(|| one.key.cmp(&other.key));
            by_name
                .then_with(|| tenant(one).cmp(&tenant(other)))
                .then_with(|| one.lane.cmp(&other.lane))
        });
        due
    }

    /// Keeps windows open that a cap keeps, and returns the others.
    fn cap(&mut self, lane: &LaneKey, recipients: RoaringBitmap) -> RoaringBitmap {
        let shard = &*self.shard;
        let bucket = &shard.buckets[self.bucket];
        let capped = bucket.capped(lane, &recipients, shard.clock, &shard.compiled);
        if capped.is_empty() {
            return recipients;
        }
        let rest = recipients - &capped;
        let record =
            Record::Capped { at: shard.now, lane: lane.clone(), recipients: capped.into() };
        self.shard.write(self.draft, self.bucket, record);
        rest
    }

    /// Counts windows of a digest that are first due, and returns those that close: the others have too few
    /// entries, or are held.
    fn count(
        &mut self,
        lane: &LaneKey,
        recipients: RoaringBitmap,
    ) -> Result<RoaringBitmap, Unreadable> {
        if recipients.is_empty() {
            return Ok(recipients);
        }
        let compiled = &self.shard.compiled;
        let bucket = &self.shard.buckets[self.bucket];
        let fewer = bucket.too_few(self.draft.view, lane, &recipients, compiled)?;
        let enough = recipients - &fewer;
        let terms = bucket.terms(lane.tenant, compiled);
        let state = bucket.lanes.get(lane);
        let held = state.map_or_else(RoaringBitmap::new, |state| state.would_hold(&enough, terms));
        let closing = enough - &held;
        if !fewer.is_empty() || !held.is_empty() {
            let (at, lane) = (self.shard.now, lane.clone());
            let record = Record::Counted { at, lane, fewer: fewer.into(), enough: held.into() };
            self.shard.write(self.draft, self.bucket, record);
        }
        Ok(closing)
    }
}

impl NewArrivals<'_, '_> {
    /// Delivers them: at once, as a set, without a row per recipient.
    fn deliver(&mut self) -> Result<Option<InboxDelivery>, Unreadable> {
        let Some((delivery, once)) = self.take()? else {
            return Ok(None);
        };
        for delivered in once {
            delivered.remember(&self.shard.compiled, self.draft, self.bucket)?;
        }
        for record in delivery.records() {
            self.shard.write(self.draft, self.bucket, record);
        }
        Ok(Some(delivery))
    }

    /// Divides their entries by the checks, and counts them.
    fn take(&mut self) -> Result<Option<(InboxDelivery, Vec<DeliveredOnce>)>, Unreadable> {
        let (shard, intake, draft) = (&mut *self.shard, self.intake, &*self.draft);
        let now = shard.now;
        let bucket = &shard.buckets[self.bucket];
        let Some((day, held)) = bucket.index.days.last_key_value() else {
            return Ok(None);
        };
        let fresh = || held.tail.from(&bucket.delivered_to.next());
        let (Some((from, _)), Some((to, _))) = (fresh().next(), held.tail.last()) else {
            return Ok(None);
        };
        let (from, to) = (*from, *to);
        let mut except = Vec::new();
        let mut delivered: Vec<DeliveredArrival> = Vec::new();
        let (mut unanswered, mut once) = (Vec::new(), Vec::new());
        let mut any = false;
        for (_, kept) in fresh() {
            let mut recipients = inbox_members(&shard.compiled, kept);
            if recipients.is_empty() {
                continue;
            }
            any = true;
            // A command since the last delivery may have ended some before they were shown.
            if let Some(ended) = bucket.ended.of(kept.seq, INBOX_NO) {
                recipients -= ended;
            }
            let event = kept.arrival.event;
            let rules = &*shard.compiled;
            let look = |header: &Header| facts_of(rules, intake, kept, header, shard.clock);
            let version = shard.compiled.current();
            let of_type = version.and_then(|version| version.of_type(kept.arrival.type_no));
            let conditional = of_type.filter(|of_type| of_type.condition.is_some());
            let answers = conditional
                .map(|of_type| ask(draft, intake, bucket, of_type, kept, shard.clock, &recipients));
            let answers = answers.transpose()?.unwrap_or_default();
            let facts = SendCheckFacts {
                gone: EndedRecipients::Of(&bucket.roster.gone),
                untrue: EndedRecipients::Of(&answers.untrue),
                unanswered: EndedRecipients::Of(&answers.unanswered),
                ..intake.with_header(draft, *day, event, look)?
            };
            let row = shard.ledger.at(self.bucket, *day, INBOX_NO);
            let (figures, of) = (&mut shard.figures, CountKey::entries_of(&kept.arrival, INBOX_NO));
            let mut without_answer = 0;
            let recipients = facts.checks().divide(recipients, |reason, recipients| {
                row.end(reason.outcome(), Some(reason), recipients.len());
                figures.end(of, reason.outcome(), Some(reason), recipients.len());
                if reason == Reason::ConditionError {
                    without_answer = recipients.len();
                }
                except.push((kept.seq, reason, recipients.into()));
            });
            if let Some(of_type) = conditional.filter(|_| without_answer > 0) {
                let id = intake.with_header(draft, *day, event, |header| header.id.clone())?;
                unanswered.extend(answers.report(&id, of_type, without_answer));
            }
            row.end(Outcome::Delivered, None, recipients.len());
            figures.end(of, Outcome::Delivered, None, recipients.len());
            if of_type.is_some_and(|of_type| of_type.rules.admission == Admission::OnceEver) {
                let header = intake.with_header(draft, *day, event, Header::clone)?;
                let (type_no, tenant) = (kept.arrival.type_no, kept.arrival.tenant);
                once.push(DeliveredOnce {
                    type_no,
                    tenant,
                    header,
                    recipients: recipients.clone(),
                });
            }
            let (t, place) = (kept.arrival.t, kept.arrival.place);
            delivered.push(DeliveredArrival {
                t,
                place,
                of: CountKey { at: now, ..of },
                recipients,
            });
        }
        let messages = count_delivered(&mut shard.figures, delivered);
        shard.tally.messages = shard.tally.messages.wrapping_add(messages);
        if !any {
            // Writes no record: a start scans these arrivals again, and finds as little.
            shard.buckets[self.bucket].delivered_to = to;
            return Ok(None);
        }
        let delivery = InboxDelivery { bucket: self.bucket, at: now, from, to, except, unanswered };
        Ok(Some((delivery, once)))
    }
}

/// An arrival with the recipients in whose inboxes it is new.
struct DeliveredArrival {
    t: Instant,
    place: EventNo,
    of: CountKey,
    recipients: RoaringBitmap,
}

/// Counts what inboxes get at one instant, and returns the number of messages: each is of the type of its first
/// entry. Entries of two tenants never share a message.
fn count_delivered(figures: &mut FigureCounter, mut delivered: Vec<DeliveredArrival>) -> u64 {
    // What was paused comes later than it arrived.
    delivered.sort_by_key(|arrival| (arrival.t, arrival.place));
    let mut reached: BTreeMap<Option<TenantNo>, RoaringBitmap> = BTreeMap::new();
    for DeliveredArrival { t, of, recipients, .. } in delivered {
        let items = recipients.len();
        figures.add(of, Slot::ITEMS, items);
        figures.add(of, Slot::delay(of.at.0 - t.0), items);
        let reached = reached.entry(of.tenant).or_default();
        let before = reached.len();
        *reached |= recipients;
        figures.add(of, Slot::SENT, reached.len() - before);
    }
    reached.values().map(RoaringBitmap::len).sum()
}

impl Reader<'_> {
    /// Returns true if anything could become due: an entry of a scheduled event, or an entry of a confirmed
    /// recipient that is not paused. Open lanes without entries don't count.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub fn waits(&self) -> Result<bool, Unreadable> {
        let Reader { engine, view } = *self;
        if engine.shards.buckets().any(|bucket| !bucket.scheduled.is_empty()) {
            return Ok(true);
        }
        let names = &engine.intake.compiled.names;
        let mut held_back = 0;
        for bucket in engine.shards.buckets() {
            let unconfirmed = &bucket.roster.unconfirmed;
            let ever = bucket.roster.ever();
            for no in bucket.lanes.numbers() {
                let name = names.lane(no);
                let paused = bucket.paused.contains(&name.channel);
                // Entries of unconfirmed recipients may wait for ever, and so may all that is paused: a
                // player must not wait for these.
                let held =
                    if paused || name.kind == LaneKind::Paused { &ever } else { unconfirmed };
                let found = bucket.waiting(view, names).in_lane(no, Some(held))?;
                held_back += found.entries.len() as u64;
            }
        }
        let pending: u64 = engine.shards.ledger_rows().map(|(_, row)| row.pending).sum();
        Ok(pending > held_back)
    }

    /// The messages of a delivery to inboxes, one per recipient and tenant, by number. To be called before the next
    /// step.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub fn inbox_messages(&self, delivered: &InboxDelivery) -> Result<Vec<Message>, Unreadable> {
        let Reader { engine, view } = *self;
        let bucket = engine.shards.bucket(delivered.bucket);
        let Some((day, held)) = bucket.index.days.last_key_value() else {
            return Ok(Vec::new());
        };
        let mut messages: BTreeMap<(u32, Option<&Id>), Message> = BTreeMap::new();
        let mut arrivals: Vec<_> = held
            .tail
            .values()
            .filter(|kept| (delivered.from..=delivered.to).contains(&kept.seq))
            .collect();
        // What was paused comes later than it arrived.
        arrivals.sort_by_key(|kept| (kept.arrival.t, kept.arrival.place));
        for kept in arrivals {
            let tenant = engine.intake.tenants.id(kept.arrival.tenant);
            let header = engine.intake.header(view, *day, kept.arrival.event)?;
            for variant in &kept.arrival.variants {
                if !has_inbox(&engine.intake.compiled, variant) {
                    continue;
                }
                let reasons = kept.arrival.reasons_of(variant, INBOX_NO);
                let ended = bucket.ended.of(kept.seq, INBOX_NO);
                for number in variant.recipients.iter() {
                    let ended = ended.is_some_and(|recipients| recipients.contains(number));
                    let Some(profile) = bucket.roster.profile(RecipientNo(number)) else {
                        continue;
                    };
                    let message = messages.entry((number, tenant)).or_insert_with(|| Message {
                        at: delivered.at,
                        recipient: profile.id.clone(),
                        channel: INBOX.to_owned(),
                        lane: "now".to_owned(),
                        key: BatchKey::EMPTY,
                        tenant: tenant.cloned(),
                        items: Vec::new(),
                        skipped: Vec::new(),
                    });
                    if ended {
                        let except = delivered.except.iter();
                        let mut why = except.filter(|(seq, _, recipients)| {
                            *seq == kept.seq && recipients.contains(number)
                        });
                        if let Some((_, reason, _)) = why.next() {
                            let (event, reason) = (header.id.clone(), *reason);
                            message.skipped.push(SkippedEntry { event, reason });
                        }
                        continue;
                    }
                    message.items.push(Item {
                        event: header.id.clone(),
                        event_type: header.event_type.clone(),
                        object: header.object.clone(),
                        t: kept.arrival.t,
                        reasons: reasons.clone(),
                    });
                }
            }
        }
        Ok(messages.into_values().filter(|message| !message.items.is_empty()).collect())
    }
}

/// The recipients with an inbox entry of an arrival.
pub(crate) fn inbox_members(compiled: &CompiledRules, kept: &StoredArrival) -> RoaringBitmap {
    kept.arrival
        .variants
        .iter()
        .filter(|variant| has_inbox(compiled, variant))
        .fold(RoaringBitmap::new(), |recipients, variant| recipients | &variant.recipients.0)
}

/// Returns true if a variant has an inbox entry.
pub(crate) fn has_inbox(compiled: &CompiledRules, variant: &Variant) -> bool {
    variant.lanes.iter().any(|lane| compiled.names.lane(*lane).is_inbox())
}
