//! Messages of a node: what is built of entries that are due, and what earlier processes have built.

use std::collections::BTreeSet;

use tidings_core::Instant;
use tidings_core::content::Message;
use tidings_core::engine::{ClosingResults, InboxDelivery, Plan, Sent};
use tidings_core::model::{Ending, MessageId};

use super::{Node, SLICE_RECIPIENTS_MAX};
use crate::commit::durable::batches;
use crate::delivery::ready::ReadyMessages;
use crate::error::Error;
use crate::telemetry::spans::Span;

impl Node {
    /// Builds one slice of messages, of the oldest closings with some left; they are durable when this
    /// returns. One commit serves many small closings, of many time zones and buckets. Empty if there is
    /// nothing to build.
    ///
    /// # Errors
    /// [`Error`]; the node is poisoned then: drop it and open another.
    pub fn make(&mut self, now: Instant) -> Result<Vec<Plan>, Error> {
        let mut room = SLICE_RECIPIENTS_MAX;
        let mut plans: Vec<Plan> = Vec::new();
        let unmade = self.engine.open_closings().unmade();
        if unmade.is_empty() {
            return Ok(plans);
        }
        let mut span = Span::plan();
        {
            // An entry belongs to one closing alone, so that no look depends on what another ends.
            let view = self.view()?;
            for closing in unmade {
                if room == 0 {
                    break;
                }
                if let Some(plan) = self.engine.planner(&view).plan(closing, room)? {
                    room = room.saturating_sub(plan.messages.len());
                    plans.push(plan);
                }
            }
        }
        span.set("tidings.messages", (SLICE_RECIPIENTS_MAX - room) as i64);
        self.made(now, &plans)?;
        Ok(plans)
    }

    /// Records messages as built.
    ///
    /// # Errors
    /// [`Error`]; the node is poisoned then: drop it and open another.
    pub(crate) fn made(&mut self, now: Instant, plans: &[Plan]) -> Result<(), Error> {
        if !plans.is_empty() {
            self.commit(|engine, view| Ok(engine.made(view, now, plans)?))?;
        }
        plans
            .iter()
            .flat_map(|plan| &plan.unanswered)
            .for_each(|condition| self.unclear.record(condition, now));
        Ok(())
    }

    /// The batches of built messages.
    ///
    /// # Errors
    /// [`Error`].
    pub fn present(&self, plan: Plan) -> Result<ReadyMessages, Error> {
        let batches = batches(&self.engine, &self.view()?, &plan)?;
        Ok(ReadyMessages { plan, batches })
    }

    /// Messages that were durable before the last stop and have no outcome. Those that can't be rebuilt
    /// as they were, or whose recipient was erased since, are recorded as unknown.
    ///
    /// # Errors
    /// [`Error`]; the node is poisoned then: drop it and open another.
    pub fn unsettled(&mut self) -> Result<Vec<ReadyMessages>, Error> {
        let plans = self.engine.planner(&self.view()?).unsettled()?;
        self.present_made(plans)
    }

    /// Messages that were built and then kept back, as they are now, without those that have no entries
    /// left. Those that can't be rebuilt are recorded as with [`Node::unsettled`].
    ///
    /// # Errors
    /// [`Error`]; the node is poisoned then: drop it and open another.
    pub fn made_again(
        &mut self,
        messages: &BTreeSet<MessageId>,
    ) -> Result<Vec<ReadyMessages>, Error> {
        let plans = self.engine.planner(&self.view()?).made_again(messages)?;
        self.present_made(plans)
    }

    fn present_made(&mut self, plans: Vec<Plan>) -> Result<Vec<ReadyMessages>, Error> {
        let unrecoverable =
            plans.iter().filter(|plan| !plan.unrecoverable.is_empty()).map(|plan| ClosingResults {
                closing: plan.closing,
                sent: plan.unrecoverable.clone(),
                ..ClosingResults::default()
            });
        let unrecoverable: Vec<ClosingResults> = unrecoverable.collect();
        if !unrecoverable.is_empty() {
            self.settle(self.engine.now(), &unrecoverable)?;
        }
        let ready =
            plans.into_iter().map(|plan| self.present(plan)).collect::<Result<Vec<_>, _>>()?;
        let gone: Vec<ClosingResults> = ready.iter().filter_map(not_presented).collect();
        if !gone.is_empty() {
            self.settle(self.engine.now(), &gone)?;
        }
        Ok(ready)
    }

    /// Records the outcomes and the failed attempts of messages in one commit.
    ///
    /// # Errors
    /// [`Error`]; the node is poisoned then: drop it and open another.
    pub fn settle(&mut self, now: Instant, settled: &[ClosingResults]) -> Result<(), Error> {
        self.commit(|engine, view| Ok(engine.outcome(view, now, settled)?)).map(|_| ())
    }

    /// The messages of deliveries to inboxes; to be called right after.
    ///
    /// # Errors
    /// [`Error`].
    pub fn inbox_messages(&self, delivered: &[InboxDelivery]) -> Result<Vec<Message>, Error> {
        let view = self.view()?;
        let mut messages = Vec::new();
        for delivery in delivered {
            messages.extend(self.engine.reader(&view).inbox_messages(delivery)?);
        }
        Ok(messages)
    }
}

/// Messages of a plan without a batch: whether they were sent is unknown.
fn not_presented(ready: &ReadyMessages) -> Option<ClosingResults> {
    let presented: BTreeSet<usize> = ready.batches.iter().map(|(at, _)| *at).collect();
    let planned = ready.plan.messages.iter().enumerate();
    let sent: Vec<Sent> = planned
        .filter(|(at, planned)| !planned.is_empty() && !presented.contains(at))
        .map(|(_, planned)| Sent {
            number: planned.number,
            seqs: ready.plan.seqs(planned),
            ending: Ending::Unknown,
            resent: 0,
        })
        .collect();
    let closing = ready.plan.closing;
    (!sent.is_empty()).then_some(ClosingResults { closing, sent, ..ClosingResults::default() })
}
