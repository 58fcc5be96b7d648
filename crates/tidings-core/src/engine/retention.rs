//! Retention: a day is deleted whole, and its pending entries are counted as expired.

use std::collections::BTreeMap;

use super::Engine;
use super::draft::Draft;
use super::reach::Reach;
use super::take_back::Among;
use crate::journal::at_rest::{Shelf, Unreadable};
use crate::journal::record::Entries;
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

    /// Whether a due entry of the days before this one has not ended: its message is not built yet, or
    /// its outcome is not known yet.
    #[must_use]
    pub fn is_due_before(&self, before: Day) -> bool {
        self.buckets.iter().any(|bucket| {
            let mut days = bucket
                .closings
                .values()
                .map(|open| bucket.day_of(open.from));
            days.any(|day| day.is_some_and(|day| day < before))
        })
    }

    /// Expires the entries of the days before this one that are not due, as their deletion would, while
    /// that has to wait for the due ones.
    ///
    /// # Errors
    /// [`Unreadable`]; the engine is worthless then.
    pub fn expire_before(
        &mut self,
        shelf: &dyn Shelf,
        now: Instant,
        before: Day,
    ) -> Result<super::Step, Unreadable> {
        self.in_step(Draft::new(shelf), now, |engine, draft, now, _| {
            for at in 0..engine.buckets.len() {
                let mut items = Vec::new();
                for (_, channel, found) in engine.waiting_among(draft, at, Among::default())? {
                    let mut sets: BTreeMap<u64, Set> = BTreeMap::new();
                    for (number, source) in &found.entries {
                        let kept = found.source(*source).0;
                        if kept.arrival.at.day() < before {
                            sets.entry(kept.seq).or_default().insert(*number);
                        }
                    }
                    let sets = sets.into_iter();
                    items.extend(sets.map(|(seq, who)| Entries { seq, channel, who }));
                }
                engine.cut(draft, now, at, Some(Reason::Forgotten), items);
            }
            Ok(())
        })
    }

    /// Deletes every day before this one; their pending entries end as expired.
    ///
    /// # Errors
    /// [`Unreadable`]; the engine is worthless then.
    pub fn forget_before(
        &mut self,
        shelf: &dyn Shelf,
        reach: &Reach,
        now: Instant,
        before: Day,
    ) -> Result<super::Step, Unreadable> {
        let draft = Draft::new(shelf).with(reach);
        self.in_step(draft, now, |engine, draft, _, step| {
            (step.forgotten, _) = engine.forget_until(draft, before)?;
            Ok(())
        })
    }

    /// Deletes every day before this one, but never the current day, which is still being written.
    /// Returns the days, and the number of their pending entries. The ledger counts those as expired, and
    /// messages with any of them are not sent any more, unless they were handed over. A checkpoint that
    /// does not cover all records of these days is brought up beyond them in the same commit; as a rule
    /// it does, and the deletion costs nothing.
    pub(crate) fn forget_until(
        &mut self,
        draft: &mut Draft<'_>,
        before: Day,
    ) -> Result<(Vec<Day>, u64), Unreadable> {
        let before = before.min(self.intake.now.day());
        let mut days: Vec<Day> = self.intake.id_days.iter().copied().collect();
        days.extend(self.intake.days.keys());
        days.extend(self.buckets.iter().flat_map(|bucket| bucket.days.keys()));
        days.extend(self.journal_days.iter());
        days.retain(|day| *day < before);
        days.sort_unstable();
        days.dedup();
        if days.is_empty() {
            return Ok((days, 0));
        }
        let now = self.intake.now;
        self.end_messages_before(draft, now, before)?;
        let mut expired = 0;
        for day in &days {
            draft.forget(*day);
            expired += self.ledger.forget(*day);
            self.intake.forget(*day);
            self.journal_days.remove(day);
            self.restless.remove(day);
            for bucket in &mut self.buckets {
                bucket.forget(*day);
            }
        }
        self.intake.forgotten_before = self.intake.forgotten_before.max(Some(before));
        self.intake.objects.forget_before(before);
        for bucket in &mut self.buckets {
            bucket.forget_before(before);
            if bucket.replays_from().is_some_and(|day| day < before) {
                draft.end_row(bucket.no);
                draft.extend(bucket.checkpoint_at_once());
            }
        }
        Ok((days, expired))
    }

    fn oldest_day(&self) -> Option<Day> {
        let intake = self
            .intake
            .id_days
            .first()
            .into_iter()
            .chain(self.intake.days.keys().next());
        intake.chain(self.journal_days.first()).min().copied()
    }
}
