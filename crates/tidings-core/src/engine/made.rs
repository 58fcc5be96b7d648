//! Built messages: they are recorded, get their outcomes, and go on after a stop.

use std::collections::{BTreeMap, BTreeSet};

use roaring::RoaringBitmap;
use rustc_hash::FxHashMap;

use super::draft::Draft;
use super::message_row::{MessageRow, message_key};
use super::part::Part;
use super::plan::{Plan, PlannedMessage};
use super::sent::{Sent, Tried};
use super::state::{Engine, Step};
use crate::bucket::{Bucket, Look};
use crate::id::BucketNo;
use crate::journal::record::{Attempts, Record, Variant};
use crate::journal::stored::{ReadView, StoredArrival, Unreadable, encode};
use crate::number::MessageId;
use crate::reason::Ending;
use crate::set::Set;
use crate::table::Partition;
use crate::time::Instant;

/// The answers to messages of one closing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settled {
    /// Bucket and seq of the closing.
    pub closing: (BucketNo, u64),
    /// The outcomes.
    pub sent: Vec<Sent>,
    /// The failed attempts.
    pub tried: Vec<Tried>,
}

impl Settled {
    /// The outcomes of a plan of which everything was delivered.
    #[must_use]
    pub fn delivered(plan: &Plan) -> Self {
        let telling = plan.letters.iter().filter(|letter| letter.tells());
        let sent = telling.map(|letter| Sent {
            number: letter.number,
            told: plan.told(letter),
            ending: Ending::Delivered,
            resent: 0,
        });
        Self {
            closing: (plan.bucket, plan.closing),
            sent: sent.collect(),
            tried: Vec::new(),
        }
    }
}

impl Part {
    fn make(&mut self, draft: &mut Draft<'_>, plan: &Plan) {
        let (now, at) = (self.now, plan.bucket);
        let channel = self.compiled.names.lane(plan.lane).channel;
        let Some(open) = self.buckets[at].closings.get(&plan.closing) else {
            return;
        };
        // Of two plans of one lane the first counts.
        let unmade = |letter: &&PlannedMessage| open.unmade.contains_key(&letter.number);
        let letters: Vec<&PlannedMessage> = plan.letters.iter().filter(unmade).collect();
        if letters.is_empty() {
            return;
        }
        let (mut who, mut nothing) = (Set::default(), Set::default());
        for letter in letters {
            who.insert(letter.number);
            if letter.tells() {
                self.tally.messages += 1;
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
                draft.put_in_parts(Partition::Day(now.day()), key, &encode(&row));
            }
        }
        let record = Record::Made {
            at: now,
            closing: plan.closing,
            who,
            nothing,
        };
        self.write(draft, at, record);
    }

    fn note_attempts(
        &mut self,
        draft: &mut Draft<'_>,
        (bucket, closing): (BucketNo, u64),
        Tried { number, attempts }: Tried,
    ) {
        let open = self.buckets[bucket].closings.get(&closing);
        if open.is_some_and(|open| open.sending.contains(number)) {
            let record = Record::Attempted {
                at: self.now,
                closing,
                number,
                attempts,
            };
            self.write(draft, bucket, record);
        }
    }

    pub(crate) fn note(
        &mut self,
        draft: &mut Draft<'_>,
        (bucket, closing): (BucketNo, u64),
        sent: &[Sent],
    ) {
        let (now, at) = (self.now, bucket);
        let Some(open) = self.buckets[at].closings.get(&closing) else {
            return;
        };
        let channel = self.compiled.names.lane(open.lane.lane).channel;
        let mut sets: BTreeMap<Ending, Set> = BTreeMap::new();
        for Sent {
            number,
            told,
            ending,
            resent,
        } in sent
        {
            // What is told twice, before or within this step, counts once.
            if !open.sending.contains(*number) || sets.values().any(|who| who.contains(*number)) {
                continue;
            }
            sets.entry(*ending).or_default().insert(*number);
            self.tally.resent += u64::from(*resent);
            for seq in told {
                if let Some(day) = self.buckets[at].day_of(*seq) {
                    self.ledger.at((bucket, day, channel)).end(
                        ending.outcome(),
                        ending.reason(),
                        1,
                    );
                }
            }
        }
        for (ending, who) in sets {
            self.write(
                draft,
                at,
                Record::Outcome {
                    at: now,
                    closing,
                    who,
                    ending,
                },
            );
        }
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
        self.in_step(Draft::new(view), now, |engine, draft, _, _| {
            for plan in plans {
                engine.part_of(plan.bucket).make(draft, plan);
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
        self.in_step(Draft::new(view), now, |engine, draft, _, _| {
            for Settled {
                closing,
                sent,
                tried,
            } in settled
            {
                let part = engine.part_of(closing.0);
                for tried in tried {
                    part.note_attempts(draft, *closing, *tried);
                }
                part.note(draft, *closing, sent);
            }
            Ok(())
        })
    }

    /// The failed attempts of a message without an outcome.
    #[must_use]
    pub fn attempts_of(&self, ((bucket, closing), number): MessageId) -> Option<Attempts> {
        let bucket = self.held_bucket(bucket)?;
        bucket.closings.get(&closing)?.tried.get(&number).copied()
    }

    /// The messages without an outcome of which an attempt has failed.
    #[must_use]
    pub fn tried(&self) -> BTreeSet<MessageId> {
        let mut tried = BTreeSet::new();
        for bucket in self.buckets() {
            for (closing, open) in &bucket.closings {
                let name = |number: &u32| ((bucket.no, *closing), *number);
                tried.extend(open.tried.keys().map(name));
            }
        }
        tried
    }

    /// Built messages without an outcome, which continue after a start. Messages of which a part was
    /// deleted meanwhile can't be rebuilt as they were: they are in [`Plan::unrecoverable`].
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub fn unsettled(&self, view: &dyn ReadView) -> Result<Vec<Plan>, Unreadable> {
        let mut plans = Vec::new();
        for bucket in self.buckets() {
            for (closing, open) in &bucket.closings {
                if !open.sending.is_empty() {
                    let of = (*closing, &open.sending);
                    plans.push(self.unsettled_of(view, bucket, of)?);
                }
            }
        }
        plans.sort_by_key(|plan| (plan.at, plan.bucket, plan.closing));
        Ok(plans)
    }

    /// The content of messages that are built and kept back; messages without entries are left out.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub fn made_again(
        &self,
        view: &dyn ReadView,
        letters: &BTreeSet<MessageId>,
    ) -> Result<Vec<Plan>, Unreadable> {
        let mut closings: BTreeMap<(BucketNo, u64), RoaringBitmap> = BTreeMap::new();
        for (closing, number) in letters {
            closings.entry(*closing).or_default().insert(*number);
        }
        let mut plans = Vec::new();
        for ((bucket, closing), who) in closings {
            let Some(bucket) = self.held_bucket(bucket) else {
                continue;
            };
            let Some(open) = bucket.closings.get(&closing) else {
                continue;
            };
            let who = who & &open.sending;
            if !who.is_empty() {
                plans.push(self.unsettled_of(view, bucket, (closing, &who))?);
            }
        }
        Ok(plans)
    }

    fn unsettled_of(
        &self,
        view: &dyn ReadView,
        bucket: &Bucket,
        (closing, who): (u64, &RoaringBitmap),
    ) -> Result<Plan, Unreadable> {
        let open = bucket.closings.get(&closing).ok_or_else(|| {
            Unreadable(format!(
                "closing {closing} of bucket {} is missing",
                bucket.no
            ))
        })?;
        let mut rows: FxHashMap<u32, BTreeSet<u64>> = FxHashMap::default();
        for number in who {
            let key = message_key(bucket.no, number, closing);
            for day in self.days_of(bucket.no).range(open.at.day()..) {
                if let Some(row) = view.get(Partition::Day(*day), &key)? {
                    let row = MessageRow::read(view, Partition::Day(*day), &key, &row)?;
                    rows.insert(number, BTreeSet::from_iter(row.told(closing)));
                    break;
                }
            }
        }
        let from = rows.values().flatten().min().copied().unwrap_or(closing);
        let names = &self.intake.compiled.names;
        let takes =
            |kept: &StoredArrival, variant: &Variant| open.lane.has(names, &kept.arrival, variant);
        let has = |number: u32, kept: &StoredArrival| {
            rows.get(&number)
                .is_some_and(|told| told.contains(&kept.seq))
        };
        let look = Look {
            from,
            to: closing,
            who,
            takes: &takes,
            has: &has,
        };
        let mut found = bucket.collect(view, &look)?;
        found.sort();
        let (mut letters, mut unrecoverable) = (Vec::new(), who.clone());
        for entries in found.by_recipient() {
            let number = entries[0].0;
            if rows
                .get(&number)
                .is_some_and(|told| told.len() == entries.len())
            {
                unrecoverable.remove(number);
                let told = entries.iter().map(|(_, source)| *source).collect();
                letters.push(PlannedMessage {
                    number,
                    told,
                    ended: Vec::new(),
                });
            }
        }
        let unrecoverable = unrecoverable.iter().map(|number| Sent {
            number,
            told: rows.remove(&number).into_iter().flatten().collect(),
            ending: Ending::Unknown,
            resent: 0,
        });
        let unrecoverable = unrecoverable.collect();
        let mut plan = self.plan_of(view, (bucket.no, closing), (&open.lane, open.at), found)?;
        for letter in &mut letters {
            plan.order(&mut letter.told);
        }
        plan.letters = letters;
        plan.unrecoverable = unrecoverable;
        Ok(plan)
    }
}
