//! The hand-over of messages to the senders: retries that are due, and new ones where their channel has room.

use tidings_core::engine::Plan;
use tidings_core::names::LaneName;
use tidings_core::{Ending, Instant};

use super::EventLoop;
use crate::delivery::{Delivery, Noted, put};
use crate::error::Error;
use crate::outbox::Released;
use crate::priority::Priority;
use crate::send_job::{SendJob, jobs};

/// The most messages of each priority that are built and prepared for rendering in one turn: requests wait
/// for them, and they are in memory until they are sent.
const MADE_AT_ONCE: usize = 128;

impl EventLoop {
    /// Passes due retries to the senders, and a slice of messages of each priority, of channels with room for them.
    pub(crate) fn hand_out(&mut self, now: Instant) -> Result<(), Error> {
        if let Some(mut at_once) = self.at_once.take() {
            let sent = self.send_at_once(now, &mut at_once);
            self.at_once = Some(at_once);
            return sent;
        }
        let mut due = self.delivery.take_due(now);
        if let Some(node) = &mut self.node {
            let now = node.decided_at(now);
            let again = Delivery::hand_over_again(&mut due, now, node.engine().rules());
            if !again.is_empty() {
                node.settle(now, &again)?;
            }
        }
        for job in due {
            self.try_again(job);
        }
        self.resolving.wake(now);
        for priority in [Priority::Interactive, Priority::Bulk] {
            self.make(now, priority)?;
        }
        if let Some(node) = &self.node {
            self.resolving.ask(node.engine(), now);
        }
        Ok(())
    }

    /// Builds a slice of messages of a priority, of channels with room for them, whose objects are known.
    fn make(&mut self, now: Instant, priority: Priority) -> Result<(), Error> {
        let Some(node) = &mut self.node else {
            return Ok(());
        };
        let at = node.decided_at(now);
        let mut room = MADE_AT_ONCE;
        let mut plans: Vec<Plan> = Vec::new();
        {
            let (view, engine) = (node.view()?, node.engine());
            let has_room =
                |lane: &LaneName| self.senders.has_room(lane) && self.delivery.has_room(lane);
            for closing in engine.open_closings().unmade() {
                if room == 0 {
                    break;
                }
                let is_wanted = engine
                    .open_closings()
                    .lane_of(closing)
                    .is_some_and(|lane| Priority::of(&lane.name) == priority && has_room(lane));
                if !is_wanted || !self.resolving.admits(closing) {
                    continue;
                }
                if let Some(plan) = engine.planner(&view).plan(closing, room)?
                    && self.resolving.is_ready(engine, &plan, now)
                {
                    room = room.saturating_sub(plan.messages.len());
                    plans.push(plan);
                }
            }
        }
        node.made(at, &plans)?;
        let ready = plans.into_iter().map(|plan| node.present(plan));
        for ready in ready.collect::<Result<Vec<_>, _>>()? {
            for job in jobs(ready) {
                let message = Released { job, again: None };
                self.outbox.put(node.ahead().decided(), message);
            }
        }
        Ok(())
    }

    /// Retries a message, unless the recipient was erased since or it is not to be sent again. What is decided goes first, so that its
    /// last attempt is on record.
    fn try_again(&mut self, job: SendJob) {
        match &mut self.node {
            Some(node) if node.engine().recipient_of(job.id()).is_none() => {
                let closing = job.closing;
                put(&mut self.answered, closing, Noted::Ended(job.given_up()));
            }
            Some(node) if job.is_given_up(node.engine().rules()) => {
                let closing = job.closing;
                put(
                    &mut self.answered,
                    closing,
                    Noted::Ended(job.ended(Ending::Unknown)),
                );
            }
            Some(node) => {
                let message = Released { job, again: None };
                self.outbox.put(node.ahead().decided(), message);
            }
            None => self.dispatch(job),
        }
    }

    pub(super) fn dispatch(&mut self, job: SendJob) {
        if !self.settings.sends || self.delivery.is_held(&job) {
            return self.delivery.wait_until(self.clock.now(), job);
        }
        let in_force = self.node.as_ref().and_then(|node| node.engine().rules());
        self.senders
            .dispatch(job.under(in_force.or(Some(&self.rules))));
        self.vitals.set_kept_aside(self.senders.kept_aside());
    }
}
