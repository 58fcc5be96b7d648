//! A node whose clock is late: missed instants are processed in slices, and days are kept until their due
//! entries have ended (decision 024).

use tidings_core::engine::UpcomingStep;
use tidings_core::model::DAY_MS;
use tidings_core::{Day, Instant};

use super::Node;
use super::late_forget::LateForget;
use crate::delivery::sending::SenderInterface;
use crate::error::Error;

/// The longest time that days are kept for their due messages: longer than a message is retried.
const FORGET_WAITS_MS: i64 = 2 * DAY_MS;

impl Node {
    /// Deletes the days that an earlier process had to delete at midnight and did not.
    pub(super) fn catch_up_forgetting(&mut self, held: &[Day]) {
        let now = self.engine.newest_step();
        let before = self.engine.forgets_before(now).filter(|_| now == now.day().start());
        let left = before.filter(|before| held.iter().any(|day| day < before));
        let since = None;
        let for_clock = false;
        self.late_forget = left.map(|before| LateForget { before, since, for_clock });
    }

    /// Postpones the deletion of days while the clock is not trusted yet.
    pub(crate) fn put_off_forgetting(&mut self, now: Instant) {
        let Some(before) = self.engine.forgets_before(now.day().start()) else {
            return;
        };
        tracing::warn!(
            %now,
            %before,
            "the clock is more than a day ahead of what was known of the time: days are forgotten by it once it has \
             shown that for an hour"
        );
        let since = self.late_forget.and_then(|late| late.since);
        self.late_forget = Some(LateForget { before, since, for_clock: true });
    }

    /// Takes over a clock that was put back; see [`Engine::put_back`]. Returns by how many milliseconds, if it was.
    ///
    /// [`Engine::put_back`]: tidings_core::engine::Engine::put_back
    ///
    /// # Errors
    /// [`Error`]; the node is poisoned then: drop it and open another.
    pub(crate) fn put_back(&mut self, now: Instant) -> Result<Option<i64>, Error> {
        let before = self.engine.now();
        if !self.engine.is_put_back(now) {
            return Ok(None);
        }
        self.commit(|engine, view| Ok(engine.put_back(view, now)?))?;
        self.pending_acks.put_back(now);
        self.late_forget = self.late_forget.filter(|late| !late.for_clock);
        if let Some(since) = self.late_forget.as_mut().and_then(|late| late.since.as_mut()) {
            // Began by the wrong clock, the wait of two days would last as long as that was ahead.
            *since = (*since).min(now);
        }
        Ok(Some(before.0.saturating_sub(now.0)))
    }

    /// Processes missed instants in order, in one commit: at most `most` of them, at or before `until`.
    ///
    /// # Errors
    /// [`Error`]; the node is poisoned then: drop it and open another.
    pub(crate) fn play_missed(&mut self, until: Instant, most: usize) -> Result<(), Error> {
        if self.next_due().is_none_or(|due| due > until) {
            return Ok(());
        }
        self.commit(|engine, view| Ok(engine.play_missed(view, until, most)?)).map(|_| ())
    }

    /// Deletes expired days at midnight. Days with due messages that are not sent yet stay, and only
    /// their entries that are not due end: see `Node::forget_late`.
    ///
    /// # Errors
    /// [`Error`]; the node is poisoned then: drop it and open another.
    pub fn forget_due(&mut self, now: Instant) -> Result<(), Error> {
        let before = self.engine.forgets_before(now);
        let (Some(before), true) = (before, now == now.day().start()) else {
            return Ok(());
        };
        if self.is_due_before(before) {
            // Entries that are not due end at the midnight at which they would have, however long the days
            // stay.
            self.commit(|engine, view| Ok(engine.expire_before(view, now, before)?))?;
            let since = self.late_forget.and_then(|late| late.since);
            self.late_forget = Some(LateForget { before, since, for_clock: false });
            return Ok(());
        }
        self.forget_before(&(), now, before)
    }

    /// Deletes days that waited for their due messages, once those are sent, and at the latest after two
    /// days: paused or undeliverable messages must not keep them for ever. Days that wait for the clock stay until
    /// it is believed.
    ///
    /// # Errors
    /// [`Error`]; the node is poisoned then: drop it and open another.
    pub(crate) fn forget_late(
        &mut self,
        sending: &dyn SenderInterface,
        now: Instant,
        forgets_until: Instant,
    ) -> Result<(), Error> {
        let waits_for_clock = now > forgets_until;
        let waiting = self.late_forget.as_mut();
        let Some(late) = waiting.filter(|late| !late.for_clock || !waits_for_clock) else {
            return Ok(());
        };
        let (before, since) = (late.before, *late.since.get_or_insert(now));
        if self.is_due_before(before) && now < since.plus_ms(FORGET_WAITS_MS) {
            return Ok(());
        }
        let now = self.decided_at(now);
        self.forget_before(sending, now, before)
    }

    /// Returns true if a due entry of the days before this one has not ended, here or on another node.
    fn is_due_before(&self, before: Day) -> bool {
        self.engine
            .needed_from()
            .into_iter()
            .chain(self.others.needed_from())
            .any(|day| day < before)
    }

    /// Returns true if instants before now were missed, or a midnight.
    pub(crate) fn is_late(&mut self, now: Instant) -> bool {
        let forgets = self.engine.next_forget().is_some_and(|at| at <= now);
        forgets || self.next_due().is_some_and(|due| due < now)
    }

    /// The instant for records made now: as long as instants are missed, none after them.
    pub(crate) fn decided_at(&mut self, now: Instant) -> Instant {
        if self.is_late(now) { self.engine.now() } else { now }
    }

    /// Returns true if days are kept for their due messages.
    #[must_use]
    pub fn forgets_late(&self) -> bool {
        self.late_forget.is_some()
    }

    fn forget_before(
        &mut self,
        sending: &dyn SenderInterface,
        now: Instant,
        before: Day,
    ) -> Result<(), Error> {
        self.commit(|engine, view| {
            let messages = engine.may_touch(view, UpcomingStep::Forget(before))?;
            let reach = sending.keep_back(messages);
            Ok(engine.forget_before(view, &reach, now, before)?)
        })?;
        self.late_forget = None;
        Ok(())
    }
}
