//! Messages once they are made: their rows, what became of them, and what a stop left open.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::draft::Draft;
use super::plan::{Letter, Plan};
use super::{Engine, Step};
use crate::bucket::{Bucket, Look};
use crate::journal::at_rest::{Kept, Shelf, Unreadable, decode, encode};
use crate::journal::record::{LaneNo, Record, Variant};
use crate::reason::{Outcome, Reason};
use crate::set::Set;
use crate::table::{Key, Owner, Partition, Table};
use crate::time::Instant;

/// What became of one recipient's message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    /// The recipient's number in the bucket.
    pub number: u32,
    /// The seqs that the message told.
    pub told: Vec<u64>,
    /// `Delivered`, `Failed` or `Unknown`.
    pub outcome: Outcome,
    /// How often it was sent again after an unknown outcome.
    pub resent: u32,
}

/// What became of messages of one closing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settled {
    /// Bucket and seq of the closing.
    pub closing: (u16, u64),
    /// Message by message.
    pub sent: Vec<Sent>,
}

/// A personal batch as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MessageRow {
    pub(crate) lane: LaneNo,
    /// The closing's instant.
    pub(crate) at: Instant,
    /// Seqs as differences to the closing's, then to the one before.
    told: Vec<i64>,
    ended: Vec<(i64, Reason)>,
}

impl Engine {
    /// Makes the messages of plans of different closings: after the commit they are exactly what is
    /// told.
    ///
    /// # Errors
    /// [`Unreadable`]; the engine is worthless then.
    pub fn made(
        &mut self,
        shelf: &dyn Shelf,
        now: Instant,
        plans: &[Plan],
    ) -> Result<Step, Unreadable> {
        self.in_step(shelf, now, |engine, draft, now, _| {
            for plan in plans {
                engine.make(draft, now, plan);
            }
            Ok(())
        })
    }

    fn make(&mut self, draft: &mut Draft<'_>, now: Instant, plan: &Plan) {
        let at = usize::from(plan.bucket);
        let channel = self.law.names.lane(plan.lane).channel;
        let Some(open) = self.buckets[at].closings.get(&plan.closing) else {
            return;
        };
        // Of two plans of one lane the first counts.
        let unmade = |letter: &&Letter| open.unmade.contains_key(&letter.number);
        let letters: Vec<&Letter> = plan.letters.iter().filter(unmade).collect();
        if letters.is_empty() {
            return;
        }
        let (mut who, mut nothing) = (Set::default(), Set::default());
        for letter in letters {
            who.insert(letter.number);
            if letter.tells() {
                self.intake.tally.messages += 1;
            } else {
                nothing.insert(letter.number);
            }
            for (source, reason) in &letter.ended {
                let seq = plan.found.source(*source).0.seq;
                if let Some(day) = self.buckets[at].day_of(seq) {
                    let row = self.ledger.at((plan.bucket, day, channel));
                    row.end(reason.outcome(), Some(*reason), 1);
                }
            }
            if letter.tells() || !letter.ended.is_empty() {
                let key = message_key(plan.bucket, letter.number, plan.closing);
                let row = MessageRow::of(plan, letter);
                draft.put(Partition::Day(now.day()), key, encode(&row));
            }
        }
        let record = Record::Made {
            at: now,
            closing: plan.closing,
            who,
            nothing,
        };
        self.write(draft, at, now, record);
    }

    /// Notes what became of messages.
    ///
    /// # Errors
    /// [`Unreadable`]; the engine is worthless then.
    pub fn outcome(
        &mut self,
        shelf: &dyn Shelf,
        now: Instant,
        settled: &[Settled],
    ) -> Result<Step, Unreadable> {
        self.in_step(shelf, now, |engine, draft, now, _| {
            for Settled { closing, sent } in settled {
                engine.note(draft, now, *closing, sent);
            }
            Ok(())
        })
    }

    fn note(
        &mut self,
        draft: &mut Draft<'_>,
        now: Instant,
        (bucket, closing): (u16, u64),
        sent: &[Sent],
    ) {
        let at = usize::from(bucket);
        let Some(open) = self.buckets[at].closings.get(&closing) else {
            return;
        };
        let channel = self.law.names.lane(open.lane).channel;
        let mut sets: BTreeMap<Outcome, Set> = BTreeMap::new();
        for Sent {
            number,
            told,
            outcome,
            resent,
        } in sent
        {
            // What is told twice, before or within this step, counts once.
            if !open.sending.contains(*number) || sets.values().any(|who| who.contains(*number)) {
                continue;
            }
            sets.entry(*outcome).or_default().insert(*number);
            self.intake.tally.resent += u64::from(*resent);
            for seq in told {
                if let Some(day) = self.buckets[at].day_of(*seq) {
                    self.ledger
                        .at((bucket, day, channel))
                        .end(*outcome, None, 1);
                }
            }
        }
        for (outcome, who) in sets {
            self.write(
                draft,
                at,
                now,
                Record::Outcome {
                    at: now,
                    closing,
                    who,
                    outcome,
                },
            );
        }
    }

    /// Messages that were made and whose outcome is not known: after a start they go on. Those of
    /// which a part was forgotten meanwhile can't be made again as they were: they stand in
    /// [`Plan::torn`].
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub fn unsettled(&self, shelf: &dyn Shelf) -> Result<Vec<Plan>, Unreadable> {
        let mut plans = Vec::new();
        for bucket in &self.buckets {
            for (closing, open) in &bucket.closings {
                if !open.sending.is_empty() {
                    plans.push(self.unsettled_of(shelf, bucket, *closing)?);
                }
            }
        }
        plans.sort_by_key(|plan| (plan.at, plan.bucket, plan.closing));
        Ok(plans)
    }

    fn unsettled_of(
        &self,
        shelf: &dyn Shelf,
        bucket: &Bucket,
        closing: u64,
    ) -> Result<Plan, Unreadable> {
        let open = &bucket.closings[&closing];
        let mut rows: FxHashMap<u32, Vec<u64>> = FxHashMap::default();
        for number in &open.sending {
            let key = message_key(bucket.no, number, closing);
            for day in self.journal_days.range(open.at.day()..) {
                if let Some(bytes) = shelf.get(Partition::Day(*day), &key)? {
                    let row: MessageRow = decode("a message", &bytes)?;
                    rows.insert(number, row.told(closing));
                    break;
                }
            }
        }
        let from = rows.values().flatten().min().copied().unwrap_or(closing);
        let takes = |_: &Kept, variant: &Variant| variant.lanes.contains(&open.lane);
        let has = |number: u32, seq: u64| rows.get(&number).is_some_and(|told| told.contains(&seq));
        let look = Look {
            from,
            to: closing,
            who: &open.sending,
            takes: &takes,
            has: &has,
        };
        let mut found = bucket.collect(shelf, &look)?;
        found.sort();
        let (mut letters, mut torn) = (Vec::new(), open.sending.clone());
        for entries in found.by_recipient() {
            let number = entries[0].0;
            if rows
                .get(&number)
                .is_some_and(|told| told.len() == entries.len())
            {
                torn.remove(number);
                let told = entries.iter().map(|(_, source)| *source).collect();
                letters.push(Letter {
                    number,
                    told,
                    ended: Vec::new(),
                });
            }
        }
        let torn = torn.iter().map(|number| Sent {
            number,
            told: rows.remove(&number).unwrap_or_default(),
            outcome: Outcome::Unknown,
            resent: 0,
        });
        let torn = torn.collect();
        let mut plan = self.plan_of(shelf, (bucket.no, closing), (open.lane, open.at), found)?;
        for letter in &mut letters {
            plan.order(&mut letter.told);
        }
        plan.letters = letters;
        plan.torn = torn;
        Ok(plan)
    }
}

impl MessageRow {
    fn of(plan: &Plan, letter: &Letter) -> Self {
        let mut last = plan.closing.cast_signed();
        let mut difference = |source: &u32| {
            let seq = plan.found.source(*source).0.seq.cast_signed();
            let difference = seq - last;
            last = seq;
            difference
        };
        let told = letter.told.iter().map(&mut difference).collect();
        let ended = letter
            .ended
            .iter()
            .map(|(source, reason)| (difference(source), *reason))
            .collect();
        Self {
            lane: plan.lane,
            at: plan.at,
            told,
            ended,
        }
    }

    /// The seqs that it told.
    pub(crate) fn told(&self, closing: u64) -> Vec<u64> {
        self.seqs(closing).0
    }

    /// The seqs that it told, and those that ended at its look.
    pub(crate) fn seqs(&self, closing: u64) -> (Vec<u64>, Vec<(u64, Reason)>) {
        let mut last = closing.cast_signed();
        let mut seq = |difference: &i64| {
            last = last.wrapping_add(*difference);
            last.cast_unsigned()
        };
        let told = self.told.iter().map(&mut seq).collect();
        let ended = self
            .ended
            .iter()
            .map(|(difference, reason)| (seq(difference), *reason))
            .collect();
        (told, ended)
    }
}

/// The key of a personal batch.
pub(crate) fn message_key(bucket: u16, number: u32, closing: u64) -> Vec<u8> {
    Key::of(Owner::Bucket(bucket), Table::Messages)
        .u32(number)
        .u64(closing)
        .done()
}
