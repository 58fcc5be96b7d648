//! Built messages: their records, their outcomes, and their recovery at a start.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use roaring::RoaringBitmap;
use rustc_hash::FxHashMap;

use super::attempt_row::{AttemptedMessage, TriedContent, note_attempts};
use super::counted::CountedMessage;
use super::index_writer::MessageIndexWriter;
use super::message_row::{MessageRow, message_key};
use super::message_turns::MessageOccurrences;
use super::plan::{Plan, PlannedMessage};
use crate::bucket::Bucket;
use crate::engine::figures::counting::CountKey;
use crate::engine::figures::measure::Slot;
use crate::engine::message::plan::Planner;
use crate::engine::message::sent::{RetriedAttempt, Sent};
use crate::engine::rows::draft::Draft;
use crate::engine::shard::state::Shard;
use crate::engine::state::{Engine, Step};
use crate::index::SearchFilter;
use crate::journal::record::{Attempts, Record, Variant};
use crate::journal::stored::{ReadView, StoredArrival, Unreadable, encode};
use crate::journal::table::Partition;
use crate::model::messages::{Attempt, MessageState};
use crate::model::number::{ClosingId, MessageId, RecipientNo, Seq};
use crate::model::reason::{Ending, Reason};
use crate::model::time::Instant;
use crate::sets::set::Set;

/// The answers to messages of one closing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClosingResults {
    /// The closing.
    pub closing: ClosingId,
    /// The outcomes.
    pub sent: Vec<Sent>,
    /// The failed attempts.
    pub tried: Vec<RetriedAttempt>,
    /// The attempts that the provider answered.
    pub attempts: Vec<AttemptedMessage>,
    /// The contents that providers were asked to take.
    pub contents: BTreeMap<RecipientNo, TriedContent>,
    /// The providers whose answers ended messages.
    pub providers: BTreeMap<RecipientNo, Arc<str>>,
}

impl ClosingResults {
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
    /// Records the outcomes of messages of a closing.
    pub(crate) fn note(
        &mut self,
        draft: &mut Draft<'_>,
        closing: ClosingId,
        sent: &[Sent],
    ) -> Result<(), Unreadable> {
        let (now, at) = (self.now, closing.bucket);
        let Some(open) = self.buckets[at].closings.get(&closing.seq).cloned() else {
            return Ok(());
        };
        let (channel, due) = (self.compiled.names.lane(open.lane.lane).channel, open.at);
        let mut sets: BTreeMap<Ending, Set> = BTreeMap::new();
        for Sent { number, seqs, ending, resent } in sent {
            // An outcome that comes twice, before or within this step, counts once.
            if !open.sending.contains(number.0)
                || sets.values().any(|recipients| recipients.contains(number.0))
            {
                continue;
            }
            let known = open.tried.get(&number.0);
            let is_copy = known.is_some_and(|known| known.delivered);
            // The copy of a delivered message may fail: its entries stay delivered.
            let ending = if is_copy { Ending::Delivered } else { *ending };
            sets.entry(ending).or_default().insert(number.0);
            self.tally.resent += u64::from(*resent);
            let seqs = seqs.iter().copied();
            let bucket = &self.buckets[at];
            let counted = CountedMessage::read(bucket, draft.view, (due, channel), seqs)?;
            for kept in &counted.entries {
                let row = self.ledger.at(at, kept.arrival.at.day(), channel);
                row.end(ending.outcome(), ending.reason(), 1);
                let of = CountKey::entries_of(&kept.arrival, channel);
                self.figures.end(of, ending.outcome(), ending.reason(), 1);
            }
            counted.count(&mut self.figures, MessageState::after(ending));
            if let Some(of) = counted.of() {
                self.figures.add(of, Slot::RESENT, u64::from(*resent));
            }
            if ending == Ending::Delivered && !is_copy {
                counted.count_items(&mut self.figures, now);
            }
        }
        // A clone of it would be copied by the records.
        drop(open);
        for (ending, recipients) in sets {
            MessageIndexWriter::of(self, draft).ended(closing, due, ending, &recipients)?;
            self.write(
                draft,
                at,
                Record::Outcome { at: now, closing: closing.seq, recipients, ending },
            );
        }
        Ok(())
    }

    /// Records the messages of a plan.
    fn make(&mut self, draft: &mut Draft<'_>, plan: &Plan) -> Result<(), Unreadable> {
        let (now, bucket) = (self.now, plan.closing.bucket);
        let channel = self.compiled.names.lane(plan.lane).channel;
        let Some(open) = self.buckets[bucket].closings.get(&plan.closing.seq) else {
            return Ok(());
        };
        let due = open.at;
        // A plan of the same closing may have come before: of each recipient the first counts.
        let unmade = |planned: &&PlannedMessage| open.unmade.contains_key(&planned.number.0);
        let planned: Vec<&PlannedMessage> = plan.messages.iter().filter(unmade).collect();
        if planned.is_empty() {
            return Ok(());
        }
        MessageIndexWriter::of(self, draft).made(plan, &planned)?;
        let (mut recipients, mut nothing) = (Set::default(), Set::default());
        for planned in planned {
            recipients.insert(planned.number.0);
            if planned.is_empty() {
                nothing.insert(planned.number.0);
            } else {
                self.tally.messages = self.tally.messages.wrapping_add(1);
            }
            let ended = planned.ended.iter().map(|(source, reason)| {
                let kept = &plan.found.sources[*source as usize].kept;
                (kept, *reason)
            });
            let index = &self.buckets[bucket].index;
            let kept_days = ended.filter(|(kept, _)| index.day_of(kept.seq).is_some());
            let ended: Vec<(&Arc<StoredArrival>, Reason)> = kept_days.collect();
            for (kept, reason) in &ended {
                let row = self.ledger.at(bucket, kept.arrival.at.day(), channel);
                row.end(reason.outcome(), Some(*reason), 1);
                let of = CountKey::entries_of(&kept.arrival, channel);
                self.figures.end(of, reason.outcome(), Some(*reason), 1);
            }
            if planned.is_empty() {
                let entries = ended.iter().map(|(kept, _)| Arc::clone(kept)).collect();
                let counted = CountedMessage { due, channel, entries };
                counted.count(&mut self.figures, MessageState::Suppressed);
            }
            if !planned.is_empty() || !planned.ended.is_empty() {
                let key = message_key(plan.closing.message(planned.number));
                let row = MessageRow::of(plan, planned, now);
                draft.put_chunked(Partition::Day(now.day()), key, &encode(&row));
            }
        }
        let record = Record::Made { at: now, closing: plan.closing.seq, recipients, nothing };
        self.write(draft, bucket, record);
        Ok(())
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
    fn note_attempts(&mut self, RetriedAttempt { number, attempts }: RetriedAttempt) {
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

    /// Records answers about messages that are being sent, and what was to be sent: a row for each message.
    fn note_answers(
        &mut self,
        attempts: &[AttemptedMessage],
        contents: &BTreeMap<RecipientNo, TriedContent>,
    ) -> Result<(), Unreadable> {
        let ClosingId { bucket, seq } = self.closing;
        let Some(open) = self.shard.buckets[bucket].closings.get(&seq) else {
            return Ok(());
        };
        let due = open.at;
        let mut by_number: BTreeMap<RecipientNo, Vec<&Attempt>> =
            contents.keys().map(|number| (*number, Vec::new())).collect();
        for AttemptedMessage { number, attempt } in attempts {
            by_number.entry(*number).or_default().push(attempt);
        }
        let mut by_provider: BTreeMap<&str, Vec<MessageId>> = BTreeMap::new();
        for (number, attempts) in by_number {
            if open.sending.contains(number.0) {
                let is_first = open.tried.get(&number.0).is_none();
                let (message, content) = (self.closing.message(number), contents.get(&number));
                let day = self.shard.now.day();
                note_attempts(self.draft, day, message, &attempts, content.copied(), is_first)?;
                for attempt in attempts {
                    by_provider.entry(&attempt.provider).or_default().push(message);
                }
            }
        }
        MessageIndexWriter::of(self.shard, self.draft).attempts(due, &by_provider)
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
                run.engine.shards.with(plan.closing.bucket).make(&mut run.draft, plan)?;
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
        settled: &[ClosingResults],
    ) -> Result<Step, Unreadable> {
        self.in_step(Draft::new(view), now, |run| {
            let (Engine { intake, shards, .. }, draft) = (&mut *run.engine, &mut run.draft);
            for ClosingResults { closing, sent, tried, attempts, contents, providers } in settled {
                let shard = shards.with(closing.bucket);
                shard.remember_sent(intake, draft, *closing, sent)?;
                let mut occurrences =
                    MessageOccurrences { shard, intake, draft, closing: *closing };
                occurrences.note_sent(sent, providers)?;
                let mut answers =
                    ClosingAnswers { shard: &mut *shard, draft: &mut *draft, closing: *closing };
                answers.note_answers(attempts, contents)?;
                tried.iter().for_each(|tried| answers.note_attempts(*tried));
                // Comes last: it takes the messages off the closing, where the others look them up.
                shard.note(draft, *closing, sent)?;
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
