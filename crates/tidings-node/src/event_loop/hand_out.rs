//! The hand-over of messages to the senders: retries that are due, and new ones where their channel has room.

use std::collections::BTreeMap;

use tidings_core::Instant;
use tidings_core::engine::{Engine, Plan};
use tidings_core::model::{ClosingId, Ending, TenantNo};
use tidings_core::rules::LaneName;

use super::EventLoop;
use super::outbound::Outbound;
use super::unbuilt::{BuiltMessageHolders, MessageRooms};
use crate::delivery::priority::Priority;
use crate::delivery::send_job::{SendJob, jobs};
use crate::delivery::{Delivery, NotedAnswer, put};
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
        if let Some(mut at_once) = self.outbound.at_once.take() {
            let sent = self.send_at_once(now, &mut at_once);
            self.outbound.at_once = Some(at_once);
            return sent;
        }
        let mut due = self.outbound.delivery.take_due(now);
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

    /// Builds a slice of messages of a priority, of channels with room for them, whose objects are known: of each tenant
    /// in turn.
    fn make(&mut self, now: Instant, priority: Priority) -> Result<(), Error> {
        let Some(node) = &mut self.node else {
            return Ok(());
        };
        let at = node.decided_at(now);
        let (mut room, mut looks) = (MADE_AT_ONCE, LOOKS_AT_ONCE);
        let mut plans: Vec<Plan> = Vec::new();
        {
            let (view, engine) = (node.view()?, node.engine());
            let Outbound { delivery, senders, unbuilt, last_made, .. } = &mut self.outbound;
            let built = BuiltMessageHolders { senders, in_flight: &delivery.in_flight };
            unbuilt.release(built);
            let mut rooms = MessageRooms::new(built, engine);
            let is_wanted = |closing, lane: &LaneName| {
                let is_of_it = Priority::of(&lane.name) == priority;
                is_of_it && *rooms.of(closing, lane) > 0 && self.resolving.admits(closing)
            };
            let wanted = wanted_by_tenant(engine, is_wanted);
            let share = (room / wanted.len().max(1)).max(1);
            for (tenant, closings) in in_turn(wanted, last_made[priority as usize]) {
                let mut left = room.min(share);
                for (closing, lane) in closings {
                    let room_of_lane = rooms.of(closing, lane);
                    let most = left.min(*room_of_lane);
                    if most == 0 {
                        continue;
                    }
                    let mut admits = |id| unbuilt.admits(built, engine, lane, id, &mut looks);
                    if let Some(plan) =
                        engine.planner(&view).plan_wanted(closing, most, &mut admits)?
                        && self.resolving.is_ready(engine, &plan, now)
                    {
                        let count = plan.messages.len();
                        left = left.saturating_sub(count);
                        room = room.saturating_sub(count);
                        *room_of_lane = room_of_lane.saturating_sub(count);
                        last_made[priority as usize] = tenant;
                        plans.push(plan);
                    }
                }
            }
        }
        // Precedes the jobs, which follow its commit: a message that left without its row would be planned
        // and sent again after a crash.
        node.made(at, &plans)?;
        let ready = plans.into_iter().map(|plan| node.present(plan));
        for ready in ready.collect::<Result<Vec<_>, _>>()? {
            for job in jobs(ready) {
                self.outbound.delivery.in_flight.follow(node.ahead().decided(), job, None);
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
                put(&mut self.outbound.answered, closing, NotedAnswer::Ended(job.given_up()));
            }
            Some(node) if job.is_given_up(node.engine().rules()) => {
                let closing = job.message().closing;
                put(
                    &mut self.outbound.answered,
                    closing,
                    NotedAnswer::Ended(job.ended(Ending::Unknown)),
                );
            }
            Some(node) => {
                self.outbound.delivery.in_flight.follow(node.ahead().decided(), job, None);
            }
            None => self.dispatch(job),
        }
    }

    pub(super) fn dispatch(&mut self, job: SendJob) {
        if !self.settings.sends || self.outbound.delivery.in_flight.is_paused(&job) {
            return self.outbound.delivery.in_flight.wait_until(self.clock.now(), job);
        }
        let in_force = self.node.as_ref().and_then(|node| node.engine().rules());
        let id = job.id;
        let guard = self.outbound.senders.dispatch(job.under(in_force.or(Some(&self.rules))));
        self.outbound.delivery.in_flight.sending(id, guard);
        self.count_kept_aside();
    }

    /// Counts the messages that wait for their recipient or destination, built or not.
    pub(super) fn count_kept_aside(&self) {
        let count = self.outbound.senders.kept_aside() + self.outbound.unbuilt.len();
        self.shared.vitals.set_kept_aside(count);
    }
}

/// The closings with wanted messages by tenant, those of a tenant by due time.
type TenantClosings<'e> = BTreeMap<Option<TenantNo>, Vec<(ClosingId, &'e LaneName)>>;

fn wanted_by_tenant(
    engine: &Engine,
    mut is_wanted: impl FnMut(ClosingId, &LaneName) -> bool,
) -> TenantClosings<'_> {
    let closings = engine.open_closings();
    let mut wanted = TenantClosings::new();
    for closing in closings.unmade() {
        if let Some(lane) = closings.lane_of(closing)
            && is_wanted(closing, lane)
        {
            wanted.entry(closings.tenant_of(closing)).or_default().push((closing, lane));
        }
    }
    wanted
}

/// The tenants in the order of their turns, of which this one had the last.
fn in_turn(
    mut all: TenantClosings<'_>,
    last: Option<TenantNo>,
) -> impl Iterator<Item = (Option<TenantNo>, Vec<(ClosingId, &LaneName)>)> {
    let mut after = all.split_off(&last);
    all.extend(after.remove_entry(&last));
    after.into_iter().chain(all)
}
