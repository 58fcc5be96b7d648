//! Messages that leave within the instant at which they are due: a virtual clock stands still meanwhile.

use std::sync::Arc;

use tidings_core::Instant;
use tidings_core::content::Message;
use tidings_core::engine::{ClosingResults, InboxDelivery};

use super::EventLoop;
use super::clock::LoopClock;
use super::outbound::AtOnce;
use crate::channel::Channels;
use crate::clock::virtual_clock::VirtualClock;
use crate::commit::executor::Executor;
use crate::delivery::{Delivery, Retries};
use crate::error::Error;
use crate::node::Node;

impl EventLoop {
    /// A loop of a node that was just opened, whose messages leave at once: through a delivery, or they are only
    /// counted. Its driver goes from instant to instant.
    pub(crate) fn at_once(node: Node, delivery: Option<Delivery>, watches: bool) -> Self {
        let at_once = AtOnce { counts_only: delivery.is_none(), messages: watches.then(Vec::new) };
        let delivery =
            delivery.unwrap_or_else(|| Delivery::new(Channels::new(), Retries::default()));
        let clock = LoopClock::new(Arc::<VirtualClock>::default(), node.engine().now());
        let mut event_loop = Self::new(node, delivery, clock, Executor::Caller);
        event_loop.outbound.at_once = Some(at_once);
        event_loop
    }

    /// Notes the messages of deliveries to inboxes, right after their step.
    pub(crate) fn watch_inboxes(&mut self, delivered: &[InboxDelivery]) -> Result<(), Error> {
        if let (Some(node), Some(at_once)) = (&self.node, &mut self.outbound.at_once)
            && let Some(messages) = &mut at_once.messages
            && !delivered.is_empty()
        {
            messages.extend(node.inbox_messages(delivered)?);
        }
        Ok(())
    }

    /// Removes and returns the messages so far.
    pub(crate) fn take_messages(&mut self) -> Vec<Message> {
        let messages = self.outbound.at_once.as_mut().and_then(|all| all.messages.as_mut());
        messages.map(std::mem::take).unwrap_or_default()
    }

    /// Builds and sends everything that is due.
    pub(super) fn send_at_once(&mut self, now: Instant, at_once: &mut AtOnce) -> Result<(), Error> {
        let Some(node) = &mut self.node else {
            return Ok(());
        };
        loop {
            let plans = node.make(now)?;
            if plans.is_empty() {
                break;
            }
            if let Some(messages) = &mut at_once.messages {
                let planned = plans
                    .iter()
                    .flat_map(|plan| plan.messages.iter().map(move |planned| (plan, planned)));
                let engine = node.engine();
                messages
                    .extend(planned.filter_map(|(plan, planned)| engine.message(plan, planned)));
            }
            let settled = if at_once.counts_only {
                plans.iter().map(ClosingResults::delivered).collect()
            } else {
                self.outbound.delivery.send(node, &plans, now)?
            };
            node.settle(now, &settled)?;
        }
        let mut due = self.outbound.delivery.take_due(now);
        let again = Delivery::hand_over_again(&mut due, now, node.engine().rules());
        if !again.is_empty() {
            node.settle(now, &again)?;
        }
        let settled = self.outbound.delivery.retry(due, now, node.engine().rules());
        if !settled.is_empty() {
            node.settle(now, &settled)?;
        }
        Ok(())
    }
}
