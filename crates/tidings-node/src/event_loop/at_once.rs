//! Messages that leave within the instant at which they are due: a virtual clock stands still meanwhile.

use std::sync::Arc;

use tidings_core::engine::{InboxDelivery, Settled};
use tidings_core::{Instant, Message};

use super::EventLoop;
use crate::channel::Channels;
use crate::clock::VirtualClock;
use crate::commit::executor::Executor;
use crate::delivery::{Delivery, Retries};
use crate::error::Error;
use crate::node::Node;

/// The sending within an instant.
#[derive(Default)]
pub(crate) struct AtOnce {
    /// True if nothing is sent: what is built counts as delivered.
    pub(crate) counts_only: bool,
    /// The messages so far, if somebody wants to have them.
    pub(crate) messages: Option<Vec<Message>>,
}

impl EventLoop {
    /// A loop of a node that was just opened, whose messages leave at once: through a delivery, or they are only
    /// counted. Its driver goes from instant to instant.
    pub(crate) fn at_once(node: Node, delivery: Option<Delivery>, watches: bool) -> Self {
        let at_once = AtOnce { counts_only: delivery.is_none(), messages: watches.then(Vec::new) };
        let delivery =
            delivery.unwrap_or_else(|| Delivery::new(Channels::new(), Retries::default()));
        let clock = Arc::new(VirtualClock::default());
        Self { at_once: Some(at_once), ..Self::of(node, delivery, clock, Executor::Caller) }
    }

    /// Notes the messages of deliveries to inboxes, right after their step.
    pub(crate) fn watch_inboxes(&mut self, delivered: &[InboxDelivery]) -> Result<(), Error> {
        if let (Some(node), Some(at_once)) = (&self.node, &mut self.at_once)
            && let Some(messages) = &mut at_once.messages
            && !delivered.is_empty()
        {
            messages.extend(node.inbox_messages(delivered)?);
        }
        Ok(())
    }

    /// Removes and returns the messages so far.
    pub(crate) fn take_messages(&mut self) -> Vec<Message> {
        let messages = self.at_once.as_mut().and_then(|all| all.messages.as_mut());
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
                plans.iter().map(Settled::delivered).collect()
            } else {
                self.delivery.send(node, &plans, now)?
            };
            node.settle(now, &settled)?;
        }
        let mut due = self.delivery.take_due(now);
        let again = Delivery::hand_over_again(&mut due, now, node.engine().rules());
        if !again.is_empty() {
            node.settle(now, &again)?;
        }
        let settled = self.delivery.retry(due, now, node.engine().rules());
        if !settled.is_empty() {
            node.settle(now, &settled)?;
        }
        Ok(())
    }
}
