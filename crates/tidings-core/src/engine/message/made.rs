//! Built messages: their records, their outcomes, and their recovery at a start.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use roaring::RoaringBitmap;
use rustc_hash::FxHashMap;

use super::attempt_row::{Attempted, note_attempt};
use super::message_row::{MessageRow, message_key};
use super::message_turns::MessageOccurrences;
use super::plan::{Plan, PlannedMessage};
use crate::bucket::Bucket;
use crate::engine::message::plan::Planner;
use crate::engine::rows::draft::Draft;
use crate::engine::rows::sent::{Sent, Tried};
use crate::engine::shard::state::Shard;
use crate::engine::state::{Engine, Step};
use crate::index::SearchFilter;
use crate::journal::record::{Attempts, Record, Variant};
use crate::journal::stored::{ReadView, StoredArrival, Unreadable, encode};
use crate::journal::table::Partition;
use crate::model::number::{ClosingId, MessageId, RecipientNo, Seq};
use crate::model::reason::Ending;
use crate::model::time::Instant;
use crate::sets::set::Set;

/// The answers to messages of one closing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settled {
    /// The closing.
    pub closing: ClosingId,
    /// The outcomes.
    pub sent: Vec<Sent>,
    /// The failed attempts.
    pub tried: Vec<Tried>,
    /// The attempts that the provider answered.
    pub attempts: Vec<Attempted>,
    /// The providers whose answers ended messages.
    pub providers: BTreeMap<RecipientNo, Arc<str>>,
}

impl Settled {
    /// The outcomes of a plan of which everything was delivered.
    #[must_use]
    pub fn delivered(plan: &Plan) -> Self {
        let sent = plan.messages.iter().filter(|planned| !planned.is_empty()).map(|planned| Sent {
            number: planned.number,
            seqs: plan.seqs(planned),
            ending: Ending::Delivered,
            resent: 0,
        });
        Self { closing: plan.closing, sent: sent.collect(), ..Self::default() }
    }
}

impl Shard {
    pub(crate) fn note(&mut self, draft: &mut Draft<'_>, closing: ClosingId, sent: &[Sent]) {
        let (now, at) = (self.now, closing.bucket);
        let Some(open) = self.buckets[at].closings.get(&closing.seq) else {
            return;
        };
        let channel = self.compiled.names.lane(open.lane.lane).channel;
        let mut sets: BTreeMap<Ending, Set> = BTreeMap::new();
        for Sent { number, seqs, ending, resent } in sent {
            // An outcome that comes twice, before or within this step, counts once.
            if !open.sending.contains(number.0)
                || sets.values().any(|recipients| recipients.contains(number.0))
            {
                continue;
            }
            let known = open.tried.get(&number.0);
            let ending = if known.is_some_and(|known| known.delivered) {
                // The copy of a delivered message may fail: its entries stay delivered.
                &Ending::Delivered
            } else {
                ending
            };
            sets.entry(*ending).or_default().insert(number.0);
            self.tally.resent += u64::from(*resent);
            for seq in seqs {
                if let Some(day) = self.buckets[at].index.day_of(*seq) {
                    self.ledger.at(at, day, channel).end(ending.outcome(), ending.reason(), 1);
                }
            }
        }
        for (ending, recipients) in sets {
            self.write(
                draft,
                at,
                Record::Outcome { at: now, closing: closing.seq, recipients, ending },
            );
        }
    }

    /// Records the messages of a plan.
    fn make(&mut self, draft: &mut Draft<'_>, plan: &Plan) {
        let (now, bucket) = (self.now, plan.closing.bucket);
        let channel = self.compiled.names.lane(plan.lane).channel;
        let Some(open) = self.buckets[bucket].closings.get(&plan.closing.seq) else {
            return;
        };
        // A plan of the same closing may have come before: of each recipient the first counts.
        let unmade = |planned: &&PlannedMessage| open.unmade.contains_key(&planned.number.0);
        let planned: Vec<&PlannedMessage> = plan.messages.iter().filter(unmade).collect();
        if planned.is_empty() {
            return;
        }
        let (mut recipients, mut nothing) = (Set::default(), Set::default());
        for planned in planned {
            recipients.insert(planned.number.0);
            if planned.is_empty() {
                nothing.insert(planned.number.0);
            } else {
                self.tally.messages += 1;
            }
            for (source, reason) in &planned.ended {
                let seq = plan.found.source(*source).0.seq;
                if let Some(day) = self.buckets[bucket].index.day_of(seq) {
                    let row = self.ledger.at(bucket, day, channel);
                    row.end(reason.outcome(), Some(*reason), 1);
                }
            }
            if !planned.is_empty() || !planned.ended.is_empty() {
                let key = message_key(plan.closing.message(planned.number));
                let row = MessageRow::of(plan, planned, now);
                draft.put_chunked(Partition::Day(now.day()), key, &encode(&row));
            }
        }
        let record = Record::Made { at: now, closing: plan.closing.seq, recipients, nothing };
        self.write(draft, bucket, record);
    }
}

/// The answers of providers to messages of a closing.
pub(super) struct ClosingAnswers<'a, 'd> {
    pub(super) shard: &'a mut Shard,
    pub(super) draft: &'a mut Draft<'d>,
    pub(super) closing: ClosingId,
}

impl ClosingAnswers<'_, '_> {
    /// Records the state of attempts of a message.
    fn note_attempts(&mut self, Tried { number, attempts }: Tried) {
        let ClosingId { bucket, seq } = self.closing;
        let open = self.shard.buckets[bucket].closings.get(&seq);
        if let Some(open) = open.filter(|open| open.sending.contains(number.0)) {
            let known = open.tried.get(&number.0);
            let attempts =
                Attempts { delivered: known.is_some_and(|known| known.delivered), ..attempts };
            let record = Record::Attempted { at: self.shard.now, closing: seq, number, attempts };
            self.shard.write(self.draft, bucket, record);
        }
    }

    /// Records answers about messages that are being sent.
    fn note_answers(&mut self, attempts: &[Attempted]) -> Result<(), Unreadable> {
        let ClosingId { bucket, seq } = self.closing;
        let Some(open) = self.shard.buckets[bucket].closings.get(&seq) else {
            return Ok(());
        };
        let mut before = None;
        for Attempted { number, attempt } in attempts {
            if open.sending.contains(number.0) {
                // Those of one message follow each other: several providers were asked.
                let is_first = open.tried.get(&number.0).is_none() && before != Some(number);
                before = Some(number);
                let message = self.closing.message(*number);
                note_attempt(self.draft, self.shard.now.day(), message, attempt, is_first)?;
            }
        }
        Ok(())
    }
}

impl Engine {
    /// Records the messages of plans of different closings: after the commit their content is fixed.
    ///
    /// # Errors
    /// [`Unreadable`]; the engine is poisoned then: drop it and open another.
    pub fn made(
        &mut self,
        view: &dyn ReadView,
        now: Instant,
        plans: &[Plan],
    ) -> Result<Step, Unreadable> {
        self.in_step(Draft::new(view), now, |run| {
            for plan in plans {
                run.engine.shards.with(plan.closing.bucket).make(&mut run.draft, plan);
            }
            Ok(())
        })
    }

    /// Records the outcomes and the failed attempts of messages.
    ///
    /// # Errors
    /// [`Unreadable`]; the engine is poisoned then: drop it and open another.
    pub fn outcome(
        &mut self,
        view: &dyn ReadView,
        now: Instant,
        settled: &[Settled],
    ) -> Result<Step, Unreadable> {
        self.in_step(Draft::new(view), now, |run| {
            let (Engine { intake, shards, .. }, draft) = (&mut *run.engine, &mut run.draft);
            for Settled { closing, sent, tried, attempts, providers } in settled {
                let shard = shards.with(closing.bucket);
                shard.remember_sent(intake, draft, *closing, sent)?;
                let mut occurrences =
                    MessageOccurrences { shard, intake, draft, closing: *closing };
                occurrences.note_sent(sent, providers)?;
                let mut answers =
                    ClosingAnswers { shard: &mut *shard, draft: &mut *draft, closing: *closing };
                answers.note_answers(attempts)?;
                tried.iter().for_each(|tried| answers.note_attempts(*tried));
                // Comes last: it takes the messages off the closing, where the others look them up.
                shard.note(draft, *closing, sent);
            }
            Ok(())
        })
    }
}

impl Planner<'_> {
    /// Built messages without an outcome, which continue after a start. Messages of which a shard was
    /// deleted meanwhile can't be rebuilt as they were: they are in [`Plan::unrecoverable`].
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub fn unsettled(&self) -> Result<Vec<Plan>, Unreadable> {
        let engine = self.engine;
        let mut plans = Vec::new();
        for bucket in engine.shards.buckets() {
            for (closing, open) in &bucket.closings {
                if !open.sending.is_empty() {
                    plans.push(self.unsettled_of(bucket, *closing, &open.sending)?);
                }
            }
        }
        plans.sort_by_key(|plan| (plan.as_of, plan.closing));
        Ok(plans)
    }

    /// The content of messages that are built and kept back; messages without entries are left out.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub fn made_again(&self, messages: &BTreeSet<MessageId>) -> Result<Vec<Plan>, Unreadable> {
        let engine = self.engine;
        let mut closings: BTreeMap<ClosingId, RoaringBitmap> = BTreeMap::new();
        for MessageId { closing, number } in messages {
            closings.entry(*closing).or_default().insert(number.0);
        }
        let mut plans = Vec::new();
        for (ClosingId { bucket, seq }, recipients) in closings {
            let Some(bucket) = engine.shards.held_bucket(bucket) else {
                continue;
            };
            let Some(open) = bucket.closings.get(&seq) else {
                continue;
            };
            let recipients = recipients & &open.sending;
            if !recipients.is_empty() {
                plans.push(self.unsettled_of(bucket, seq, &recipients)?);
            }
        }
        Ok(plans)
    }

    fn unsettled_of(
        &self,
        bucket: &Bucket,
        closing: Seq,
        recipients: &RoaringBitmap,
    ) -> Result<Plan, Unreadable> {
        let Planner { engine, view } = *self;
        let open = bucket.closings.get(&closing).ok_or_else(|| {
            Unreadable(format!("closing {closing} of bucket {} is missing", bucket.no))
        })?;
        let mut rows: FxHashMap<u32, BTreeSet<Seq>> = FxHashMap::default();
        for number in recipients {
            let key = message_key(bucket.closing_id(closing).message(RecipientNo(number)));
            for day in engine.shards.days_of(bucket.no).range(open.at.day()..) {
                if let Some(row) = view.get(Partition::Day(*day), &key)? {
                    let row = MessageRow::read(view, Partition::Day(*day), &key, &row)?;
                    rows.insert(number, BTreeSet::from_iter(row.entries(closing)));
                    break;
                }
            }
        }
        let from = rows.values().flatten().min().copied().unwrap_or(closing);
        let names = &engine.intake.compiled.names;
        let takes =
            |kept: &StoredArrival, variant: &Variant| open.lane.has(names, &kept.arrival, variant);
        let has = |number: u32, kept: &StoredArrival| {
            rows.get(&number).is_some_and(|seqs| seqs.contains(&kept.seq))
        };
        let look = SearchFilter { from, to: closing, recipients, takes: &takes, has: &has };
        let mut found = bucket.index.look(view, &look)?;
        found.sort();
        let (mut planned, mut unrecoverable) = (Vec::new(), recipients.clone());
        for entries in found.by_recipient() {
            let number = entries[0].number;
            // Without all entries of its row a message can't be built as it was, and must not go under the
            // same id.
            if rows.get(&number).is_some_and(|seqs| seqs.len() == entries.len()) {
                unrecoverable.remove(number);
                let entries = entries.iter().map(|entry| entry.source).collect();
                planned.push(PlannedMessage {
                    number: RecipientNo(number),
                    entries,
                    ended: Vec::new(),
                });
            }
        }
        let unrecoverable = unrecoverable.iter().map(|number| Sent {
            number: RecipientNo(number),
            seqs: rows.remove(&number).into_iter().flatten().collect(),
            ending: Ending::Unknown,
            resent: 0,
        });
        let unrecoverable = unrecoverable.collect();
        let closing = bucket.closing_id(closing);
        let mut plan = self.plan_of(closing, &open.lane, open.at, open.clock, found)?;
        for planned in &mut planned {
            plan.order(&mut planned.entries);
        }
        plan.messages = planned;
        plan.unrecoverable = unrecoverable;
        Ok(plan)
    }
}
