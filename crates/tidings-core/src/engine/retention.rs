//! Retention: a day is deleted whole, and its pending entries are counted as expired.

use std::collections::{BTreeMap, BTreeSet};

use super::act::{Act, Applied};
use super::draft::Draft;
use super::intake::Intake;
use super::part::Part;
use super::reach::Reach;
use super::reply::Reply;
use super::state::{Engine, Step};
use super::take_back::Among;
use crate::bucket::Closing;
use crate::index::FoundEntry;
use crate::journal::record::Entries;
use crate::journal::stored::{ReadView, Unreadable};
use crate::number::Seq;
use crate::reason::Reason;
use crate::set::Set;
use crate::time::{DAY_MS, Day, Instant};

impl Engine {
    /// The next midnight (00:00 UTC) after the newest instant at which a day has to be deleted: each day
    /// that ended `keep` or longer ago.
    #[must_use]
    pub fn next_forget(&self) -> Option<Instant> {
        let keep_ms = self.rules()?.store.keep_ms;
        let oldest = self.oldest_day()?;
        let ends = oldest.end().0.saturating_add(keep_ms);
        let midnight = ends.div_euclid(DAY_MS) + i64::from(ends.rem_euclid(DAY_MS) > 0);
        Some(Instant(midnight.saturating_mul(DAY_MS)).max(self.intake.now.day().end()))
    }

    /// The day before which everything is deleted at a midnight.
    #[must_use]
    pub fn forgets_before(&self, midnight: Instant) -> Option<Day> {
        let keep_ms = self.rules()?.store.keep_ms;
        Some(midnight.plus_ms(-keep_ms).day())
    }

    /// Tells whether a due entry of the days before this one has not ended: its message is not built yet, or
    /// its outcome is not known yet; or whether the check of an entry on its way asks for one of these days.
    #[must_use]
    pub fn is_due_before(&self, before: Day) -> bool {
        self.parts_with_buckets().any(|(part, bucket)| {
            let mut open = bucket.closings.values();
            open.any(|open| {
                // The window of a message may have begun on a day that is deleted.
                let began = bucket.index.day_of(open.from);
                began.is_none_or(|day| part.asks_from(open, day) < before)
            })
        })
    }

    /// Expires the entries of the days before this one that are not due, as their deletion would, while
    /// that has to wait for the due ones.
    ///
    /// # Errors
    /// [`Unreadable`]; the engine is poisoned then: drop it and open another.
    pub fn expire_before(
        &mut self,
        view: &dyn ReadView,
        now: Instant,
        before: Day,
    ) -> Result<Step, Unreadable> {
        self.in_step(Draft::new(view), now, |engine, draft, _, _| {
            for &at in &*engine.numbers() {
                let part = engine.part_of(at);
                let mut items = Vec::new();
                for (_, channel, found) in part.waiting_among(draft, at, Among::default())? {
                    let mut sets: BTreeMap<Seq, Set> = BTreeMap::new();
                    for FoundEntry { number, source } in &found.entries {
                        let kept = found.source(*source).0;
                        if kept.arrival.at.day() < before {
                            sets.entry(kept.seq).or_default().insert(*number);
                        }
                    }
                    let sets = sets.into_iter();
                    items.extend(sets.map(|(seq, who)| Entries { seq, channel, who }));
                }
                part.cut(draft, at, Some(Reason::Forgotten), items);
            }
            Ok(())
        })
    }

    /// Deletes every day before this one; their pending entries end as expired.
    ///
    /// # Errors
    /// [`Unreadable`]; the engine is poisoned then: drop it and open another.
    pub fn forget_before(
        &mut self,
        view: &dyn ReadView,
        reach: &Reach,
        now: Instant,
        before: Day,
    ) -> Result<Step, Unreadable> {
        let draft = Draft::new(view).with(reach);
        self.in_step(draft, now, |engine, draft, _, step| {
            engine.forget_until(draft, before, step)?;
            Ok(())
        })
    }

    /// Deletes every day before this one, but never the current day, which is still being written.
    /// Messages with any of their entries are not sent any more, unless they were handed over.
    pub(super) fn forget_until(
        &mut self,
        draft: &mut Draft<'_>,
        before: Day,
        step: &mut Step,
    ) -> Result<Reply, Unreadable> {
        let before = before.min(self.intake.now.day());
        let mut days = self.intake.days_before(before);
        for part in &self.parts {
            days.extend(part.days_before(before));
        }
        let mut applied = Applied::Dropped { days, expired: 0 };
        let act = Act::Forget { before };
        if let Applied::Dropped { days, .. } = &applied
            && (!days.is_empty() || self.tells())
        {
            step.forgotten.extend(days);
            self.intake.forget_before(before);
            applied.add(self.apply(draft, &act)?);
        }
        self.end_act(draft, act, applied, (step.replies.len(), step))
    }

    fn oldest_day(&self) -> Option<Day> {
        let intake = [self.intake.id_days.first(), self.intake.days.keys().next()];
        let parts = self.parts.iter().map(|part| part.journal_days.first());
        intake.into_iter().chain(parts).flatten().min().copied()
    }
}

impl Intake {
    /// The days that hold something of the intake.
    fn held_days(&self) -> impl Iterator<Item = Day> {
        self.id_days.iter().chain(self.days.keys()).copied()
    }

    fn days_before(&self, before: Day) -> BTreeSet<Day> {
        self.held_days().filter(|day| *day < before).collect()
    }

    /// Forgets the days before this one.
    pub(super) fn forget_before(&mut self, before: Day) {
        for day in self.days_before(before) {
            self.forget(day);
        }
        self.forgotten_before = self.forgotten_before.max(Some(before));
        self.objects.forget_before(before);
    }
}

impl Part {
    /// The first day of which the check of messages to be built may ask, by the day on which their entries began:
    /// entries that came later than in the inbox are not told to who saw them there.
    fn asks_from(&self, open: &Closing, began: Day) -> Day {
        let channel = self.compiled.names.lane(open.lane.lane).channel;
        let version = self.compiled.current().filter(|_| !open.unmade.is_empty());
        let types = version.into_iter().flat_map(|version| version.types());
        let later = types.filter_map(|of_type| of_type.after_ms(channel)).max();
        began.start().plus_ms(-later.unwrap_or(0)).day()
    }

    fn days_before(&self, before: Day) -> BTreeSet<Day> {
        let of_buckets = self
            .buckets
            .iter()
            .flat_map(|bucket| bucket.index.days.keys());
        let days = of_buckets.chain(&self.journal_days).copied();
        days.filter(|day| *day < before).collect()
    }

    /// Deletes the days before this one; the ledger counts their pending entries as expired. A checkpoint
    /// that does not cover all records of these days is brought up beyond them in the same commit; as a rule
    /// it does, and the deletion costs nothing.
    pub(super) fn forget_until(
        &mut self,
        draft: &mut Draft<'_>,
        before: Day,
    ) -> Result<Applied, Unreadable> {
        let days = self.days_before(before);
        self.end_messages_before(draft, before)?;
        let mut expired = 0;
        for day in &days {
            draft.forget(*day);
            expired += self.ledger.forget(*day);
            self.journal_days.remove(day);
            self.restless.remove(day);
            for no in &*self.buckets.numbers() {
                self.buckets[*no].forget(*day);
            }
        }
        self.forgotten_before = self.forgotten_before.max(Some(before));
        self.copies.retain(|day, _| *day >= before);
        for no in &*self.buckets.numbers() {
            let bucket = &mut self.buckets[*no];
            bucket.forget_before(before);
            if bucket.replays_from().is_some_and(|day| day < before) {
                draft.end_row(bucket.no);
                draft.extend(bucket.checkpoint_at_once());
            }
        }
        Ok(Applied::Dropped { days, expired })
    }
}
