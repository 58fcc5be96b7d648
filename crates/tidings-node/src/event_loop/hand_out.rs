//! The hand-over of messages to the senders: retries that are due, and new ones where their channel has room.

use tidings_core::engine::Plan;
use tidings_core::names::LaneName;
use tidings_core::{Ending, Instant};

use super::EventLoop;
use super::unbuilt::Built;
use crate::delivery::priority::Priority;
use crate::delivery::send_job::{SendJob, jobs};
use crate::delivery::{Delivery, Noted, put};
use crate::error::Error;

/// The most messages of each priority that are built and prepared for rendering in one turn: requests wait
/// for them, and they are in memory until they are sent.
const MADE_AT_ONCE: usize = 128;

/// The most messages of each priority that are judged in one turn, where some wait for others of their recipient or
/// destination.
const LOOKS_AT_ONCE: usize = 4_096;

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
            // The jobs follow the commit with these records: whatever crashes, a message in doubt is not
            // handed over a third time.
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
        self.count_kept_aside();
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
        let (mut room, mut looks) = (MADE_AT_ONCE, LOOKS_AT_ONCE);
        let mut plans: Vec<Plan> = Vec::new();
        {
            let (view, engine) = (node.view()?, node.engine());
            let built = Built { senders: &self.senders, in_flight: &self.delivery.in_flight };
            self.unbuilt.release(built);
            for closing in engine.open_closings().unmade() {
                if room == 0 {
                    break;
                }
                let lane = engine.open_closings().lane_of(closing);
                let is_wanted =
                    |lane: &&LaneName| Priority::of(&lane.name) == priority && built.has_room(lane);
                let Some(lane) = lane.filter(is_wanted) else {
                    continue;
                };
                if !self.resolving.admits(closing) {
                    continue;
                }
                let unbuilt = &mut self.unbuilt;
                let mut admits = |id| unbuilt.admits(built, engine, lane, id, &mut looks);
                if let Some(plan) = engine.planner(&view).plan_wanted(closing, room, &mut admits)?
                    && self.resolving.is_ready(engine, &plan, now)
                {
                    room = room.saturating_sub(plan.messages.len());
                    plans.push(plan);
                }
            }
        }
        // Precedes the jobs, which follow its commit: a message that left without its row would be planned
        // and sent again after a crash.
        node.made(at, &plans)?;
        let ready = plans.into_iter().map(|plan| node.present(plan));
        for ready in ready.collect::<Result<Vec<_>, _>>()? {
            for job in jobs(ready) {
                self.delivery.in_flight.follow(node.ahead().decided(), job, None);
            }
        }
        Ok(())
    }

    /// Retries a message, unless the recipient was erased since or it is not to be sent again. What is decided goes first, so that its
    /// last attempt is on record.
    fn try_again(&mut self, job: SendJob) {
        match &mut self.node {
            Some(node) if node.engine().recipient_of(job.message()).is_none() => {
                let closing = job.message().closing;
                put(&mut self.answered, closing, Noted::Ended(job.given_up()));
            }
            Some(node) if job.is_given_up(node.engine().rules()) => {
                let closing = job.message().closing;
                put(&mut self.answered, closing, Noted::Ended(job.ended(Ending::Unknown)));
            }
            Some(node) => {
                self.delivery.in_flight.follow(node.ahead().decided(), job, None);
            }
            None => self.dispatch(job),
        }
    }

    pub(super) fn dispatch(&mut self, job: SendJob) {
        if !self.settings.sends || self.delivery.in_flight.is_paused(&job) {
            return self.delivery.in_flight.wait_until(self.clock.now(), job);
        }
        let in_force = self.node.as_ref().and_then(|node| node.engine().rules());
        let id = job.id;
        let ticket = self.senders.dispatch(job.under(in_force.or(Some(&self.rules))));
        self.delivery.in_flight.sending(id, ticket);
        self.count_kept_aside();
    }

    /// Counts the messages that wait for their recipient or destination, built or not.
    pub(super) fn count_kept_aside(&self) {
        let count = self.senders.kept_aside() + self.unbuilt.len();
        self.vitals.set_kept_aside(count);
    }
}
