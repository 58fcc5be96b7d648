//! Retention: a day is deleted whole, and its pending entries are counted as expired.

use std::collections::{BTreeMap, BTreeSet};

use super::acts::act::Act;
use super::acts::applied::AppliedAct;
use super::change_log::note::NotedChange;
use super::intake::state::Intake;
use super::reach::Reach;
use super::replies::reply::Reply;
use super::rows::draft::Draft;
use super::shard::state::Shard;
use super::shard::take_back::EntryFilter;
use super::state::{Engine, Step};
use crate::bucket::Closing;
use crate::engine::step::StepRun;
use crate::index::FoundEntry;
use crate::journal::record::Entries;
use crate::journal::stored::{ReadView, Unreadable};
use crate::model::number::Seq;
use crate::model::reason::Reason;
use crate::model::time::{DAY_MS, Day, Instant};
use crate::rules::compiled::CompiledRules;
use crate::sets::set::Set;

impl Engine {
    /// The next midnight (00:00 UTC) after the newest instant at which a day has to be deleted: each day that ended
    /// `keep` or longer ago. `None` on a follower, where the intake decides.
    #[must_use]
    pub fn next_forget(&self) -> Option<Instant> {
        if !self.holds_intake {
            return None;
        }
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

    /// The first day that a due entry of this engine's shards still needs, which has not ended: its message is not built
    /// yet, or its outcome is not known yet; or the check of an entry on its way asks for that day.
    #[must_use]
    pub fn needed_from(&self) -> Option<Day> {
        let days = self.shards.with_buckets().flat_map(|(shard, bucket)| {
            let open = bucket.closings.values();
            open.map(|open| {
                // The window of a message may have begun on a day that is deleted.
                let began = bucket.index.day_of(open.from);
                began.map_or(Day(i32::MIN), |day| asks_from(&shard.compiled, open, day))
            })
        });
        days.min()
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
        self.in_step(Draft::new(view), now, |run| run.apply_and_log(Act::Expire { before }))
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
        self.in_step(draft, now, |run| run.forget_until(before).map(drop))
    }

    /// The oldest day that holds something, as far as this engine knows.
    pub(super) fn oldest_day(&self) -> Option<Day> {
        let intake = [self.intake.id_days.first(), self.intake.days.keys().next()];
        let shards = self.shards.iter().map(|shard| shard.journal_days.first());
        intake.into_iter().chain(shards).flatten().copied().chain(self.oldest_elsewhere).min()
    }

    /// Sets the oldest day that shards on other nodes hold something of.
    pub fn set_oldest_elsewhere(&mut self, day: Option<Day>) {
        self.oldest_elsewhere = day;
    }
}

impl StepRun<'_, '_> {
    /// Deletes every day before this one, but never the current day, which is still being written.
    /// Messages with any of their entries are not sent any more, unless they were handed over.
    pub(super) fn forget_until(&mut self, before: Day) -> Result<Reply, Unreadable> {
        let engine = &*self.engine;
        let before = before.min(engine.intake.now.day());
        let mut days = engine.intake.days_before(before);
        for shard in engine.shards.iter() {
            days.extend(shard.days_before(before));
        }
        let mut applied = AppliedAct::Dropped { days, expired: 0 };
        let act = Act::Forget { before };
        if let AppliedAct::Dropped { days, .. } = &applied
            && (!days.is_empty() || engine.replica().has_followers())
        {
            if !days.is_empty() {
                let count = days.len() as u64;
                self.draft.noted.note(|| NotedChange::shown("days", count, 0_u64));
            }
            self.step.forgotten.extend(days);
            self.engine.intake.forget_before(before);
            applied.add(self.apply(&act)?);
        }
        self.end_act(act, applied, self.step.replies.len())
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
        self.jobs.retain(|_, job| job.at.day() >= before);
        let Self { jobs, unended_jobs, .. } = self;
        unended_jobs.retain(|no| jobs.contains_key(no));
    }
}

impl Shard {
    /// The days before this one that hold something of it.
    fn days_before(&self, before: Day) -> BTreeSet<Day> {
        self.buckets
            .iter()
            .flat_map(|bucket| bucket.index.days.keys())
            .chain(&self.journal_days)
            .copied()
            .filter(|day| *day < before)
            .collect()
    }

    /// Expires the entries of the days before this one that are not due.
    pub(super) fn expire_before(
        &mut self,
        draft: &mut Draft<'_>,
        before: Day,
    ) -> Result<(), Unreadable> {
        for &at in &*self.buckets.numbers() {
            let mut items = Vec::new();
            for (_, channel, found) in self.waiting_entries(draft, at, EntryFilter::default())? {
                let mut sets: BTreeMap<Seq, Set> = BTreeMap::new();
                for FoundEntry { number, source } in &found.entries {
                    let kept = found.source(*source).0;
                    if kept.arrival.at.day() < before {
                        sets.entry(kept.seq).or_default().insert(*number);
                    }
                }
                let sets = sets.into_iter();
                items.extend(sets.map(|(seq, recipients)| Entries { seq, channel, recipients }));
            }
            self.cut(draft, at, Some(Reason::Forgotten), items)?;
        }
        Ok(())
    }

    /// Deletes the days before this one; the ledger counts their pending entries as expired. A checkpoint
    /// that does not cover all records of these days is brought up beyond them in the same commit; as a rule
    /// it does, and the deletion costs nothing.
    pub(super) fn forget_until(
        &mut self,
        draft: &mut Draft<'_>,
        before: Day,
    ) -> Result<AppliedAct, Unreadable> {
        let days = self.days_before(before);
        // Precedes the ledger, which counts what a day still has pending as expired.
        self.end_messages_before(draft, before)?;
        self.figures.forget(draft.view, (self.forgotten_before, before))?;
        let mut expired = 0;
        for day in &days {
            draft.forget(*day);
            expired += self.ledger.forget(*day);
            self.journal_days.remove(day);
            self.days_to_compact.remove(day);
            for no in &*self.buckets.numbers() {
                self.buckets[*no].forget(*day);
            }
        }
        self.forgotten_before = self.forgotten_before.max(Some(before));
        self.copies.retain(|day, _| *day >= before);
        self.jobs.forget(before);
        for no in &*self.buckets.numbers() {
            let bucket = &mut self.buckets[*no];
            bucket.forget_before(before);
            if bucket.replays_from().is_some_and(|day| day < before) {
                draft.end_row(bucket.no);
                draft.extend(bucket.checkpoint_at_once());
            }
        }
        Ok(AppliedAct::Dropped { days, expired })
    }
}

/// The first day that the checks before sending may read, by the day on which the entries began: entries with `after`
/// are left out for recipients who saw them in the inbox.
fn asks_from(compiled: &CompiledRules, open: &Closing, began: Day) -> Day {
    let channel = compiled.names.lane(open.lane.lane).channel;
    let version = compiled.current().filter(|_| !open.unmade.is_empty());
    let later = version
        .into_iter()
        .flat_map(|version| version.types())
        .filter_map(|of_type| of_type.after_ms(channel))
        .max();
    began.start().plus_ms(-later.unwrap_or(0)).day()
}
