//! Messages that are kept back while a step may remove entries from them.
//!
//! Between the question whether a message can still be changed and the commit that changes it nobody
//! may hand it over. So it is taken out of the queue first; when the step is durable what it then
//! tells goes on, and where nothing is left it is gone. A step that fails drops them: what is stored
//! is the truth, and they are made again from that.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use tidings_core::engine::{MessageId, Reach, Reached};

use crate::delivery::Delivery;
use crate::delivery::outbox::{Outbox, Released};
use crate::delivery::send_job::SendJob;
use crate::delivery::senders::Senders;
use crate::delivery::sending::Sending;
use crate::error::Error;
use crate::node::Node;

/// A holder of messages that wait for a thread, a commit or a retry.
pub(crate) struct KeptBack<'a> {
    queues: RefCell<Queues<'a>>,
}

struct Queues<'a> {
    senders: &'a mut Senders,
    outbox: &'a mut Outbox,
    delivery: &'a mut Delivery,
    held: Held,
}

/// The messages kept back.
#[derive(Default)]
pub(crate) struct Held(BTreeMap<MessageId, Released>);

impl<'a> KeptBack<'a> {
    pub(crate) fn new(
        senders: &'a mut Senders,
        outbox: &'a mut Outbox,
        delivery: &'a mut Delivery,
    ) -> Self {
        Self { queues: RefCell::new(Queues { senders, outbox, delivery, held: Held::default() }) }
    }

    /// The messages kept back.
    pub(crate) fn held(self) -> Held {
        self.queues.into_inner().held
    }
}

impl Sending for KeptBack<'_> {
    fn keep_back(&self, ids: BTreeSet<MessageId>) -> Reach {
        let mut queues = self.queues.borrow_mut();
        ids.into_iter().filter_map(|id| Some((id, queues.keep_back(id)?))).collect()
    }
}

impl Queues<'_> {
    fn keep_back(&mut self, id: MessageId) -> Option<Reached> {
        let reached = |job: &SendJob| {
            if job.is_in_doubt() { Reached::InDoubt } else { Reached::KeptBack }
        };
        if let Some(held) = self.held.0.get(&id) {
            return Some(reached(&held.job));
        }
        let found = self.take_back(&id)?;
        let reached = reached(&found.job);
        self.held.0.insert(id, found);
        Some(reached)
    }

    fn take_back(&mut self, id: &MessageId) -> Option<Released> {
        if let Some(job) = self.senders.take_back(id) {
            return Some(Released { job, again: None });
        }
        if let Some(message) = self.outbox.take_back(id) {
            return Some(message);
        }
        let (at, job) = self.delivery.take_back(id)?;
        Some(Released { job, again: Some(at) })
    }
}

impl Held {
    /// The messages that continue once the step is durable, each with its content after it.
    ///
    /// # Errors
    /// [`Error`] where what is stored can't be read.
    pub(crate) fn release(mut self, node: &mut Node) -> Result<Vec<Released>, Error> {
        if self.0.is_empty() {
            return Ok(Vec::new());
        }
        let ids: BTreeSet<MessageId> = self.0.keys().copied().collect();
        let mut released = Vec::new();
        for ready in node.made_again(&ids)? {
            for (at, batch) in ready.batches {
                let planned = &ready.plan.messages[at];
                let id = ready.plan.closing.message(planned.number);
                if let Some(mut message) = self.0.remove(&id) {
                    message.job.replace(ready.plan.seqs(planned), batch);
                    released.push(message);
                }
            }
        }
        Ok(released)
    }
}
