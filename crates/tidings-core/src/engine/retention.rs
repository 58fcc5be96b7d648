//! Forgetting: a day is dropped whole, and what it still held is counted.

use super::Engine;
use super::draft::Draft;
use crate::journal::at_rest::{Shelf, Unreadable};
use crate::time::{DAY_MS, Day, Instant};

impl Engine {
    /// The next midnight (00:00 UTC), after the newest instant, at which a day has to be forgotten:
    /// each day that ended `keep` or longer ago.
    #[must_use]
    pub fn next_forget(&self) -> Option<Instant> {
        let keep_ms = self.rules()?.store.keep_ms;
        let oldest = self.oldest_day()?;
        let ends = oldest.end().0.saturating_add(keep_ms);
        let midnight = ends.div_euclid(DAY_MS) + i64::from(ends.rem_euclid(DAY_MS) > 0);
        Some(Instant(midnight.saturating_mul(DAY_MS)).max(self.intake.now.day().end()))
    }

    /// At midnight, forgets every day that ended `keep` or longer before; at any other instant nothing.
    ///
    /// # Errors
    /// [`Unreadable`]; the engine is worthless then.
    pub fn forget_due(
        &mut self,
        shelf: &dyn Shelf,
        now: Instant,
    ) -> Result<super::Step, Unreadable> {
        self.in_step(Draft::new(shelf), now, |engine, draft, now, step| {
            let keep_ms = engine.rules().map(|rules| rules.store.keep_ms);
            let (Some(keep_ms), true) = (keep_ms, now == now.day().start()) else {
                return Ok(());
            };
            let before = now.plus_ms(-keep_ms).day();
            step.forgotten = engine.forget_until(draft, before);
            Ok(())
        })
    }

    /// Forgets every day before this one, but never the current day, which is still being written;
    /// which ones. What they hold is expired in the ledger. A checkpoint
    /// that does not cover all of their records is brought up beyond them in the same commit; as a
    /// rule it does, and forgetting costs nothing.
    pub(crate) fn forget_until(&mut self, draft: &mut Draft<'_>, before: Day) -> Vec<Day> {
        let before = before.min(self.intake.now.day());
        let mut days: Vec<Day> = self.intake.id_days.iter().copied().collect();
        days.extend(self.intake.days.keys());
        days.extend(self.buckets.iter().flat_map(|bucket| bucket.days.keys()));
        days.extend(self.journal_days.iter());
        days.retain(|day| *day < before);
        days.sort_unstable();
        days.dedup();
        if days.is_empty() {
            return days;
        }
        for day in &days {
            draft.forget(*day);
            self.ledger.forget(*day);
            self.intake.forget(*day);
            self.journal_days.remove(day);
            self.restless.remove(day);
            for bucket in &mut self.buckets {
                bucket.forget(*day);
            }
        }
        self.intake.forgotten_before = self.intake.forgotten_before.max(Some(before));
        for bucket in &mut self.buckets {
            bucket.forget_before(before);
            if bucket.replays_from().is_some_and(|day| day < before) {
                draft.end_row(bucket.no);
                draft.extend(bucket.checkpoint_at_once());
            }
        }
        days
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
