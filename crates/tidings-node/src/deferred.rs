//! Views of messages that wait for a retry.

use tidings_core::batch_key::BatchKey;
use tidings_core::engine::MessageId;
use tidings_core::{Id, Instant, Paused};

use crate::channel::Channels;
use crate::delivery::{Delivery, Retries};
use crate::durable::{Durable, batches};
use crate::error::Error;
use crate::ready::Ready;
use crate::said::Said;
use crate::waiting::Waiting;

/// A message that waits for a retry, or that a pause holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deferred {
    /// The recipient.
    pub recipient: Id,
    /// On which channel.
    pub channel: String,
    /// The lane.
    pub lane: String,
    /// The lane's batch key.
    pub key: BatchKey,
    /// The batch's id, which is also in the log.
    pub batch: String,
    /// Number of its entries.
    pub entries: usize,
    /// Number of attempts.
    pub attempts: u32,
    /// The last answer; `None` before the first attempt.
    pub last: Option<Said>,
    /// Time of the next attempt; `None` while a pause holds it.
    pub next: Option<Instant>,
}

/// Messages that wait for a retry.
#[derive(Clone, Debug, Default)]
pub struct Deferrals {
    /// Number of them.
    pub count: usize,
    /// The requested ones, the next first.
    pub messages: Vec<Deferred>,
}

/// The messages that wait for a retry, as a node that sends would hold them.
///
/// # Errors
/// [`Error`] where they can't be read.
pub(crate) fn at_rest(durable: &Durable) -> Result<Waiting, Error> {
    let (engine, view) = (durable.engine(), durable.view());
    let mut delivery = Delivery::new(Channels::new(), Retries::default());
    delivery.pause(engine.paused());
    for plan in engine.made_again(view, &engine.tried())? {
        let batches = batches(engine, view, &plan)?;
        delivery.take_up(engine, Ready { plan, batches }, engine.now());
    }
    Ok(delivery.waiting().clone())
}

impl Waiting {
    /// The messages as views show them, under what is paused: those of a recipient or of all, with a maximum.
    pub(crate) fn deferred(&self, of: Option<&Id>, most: usize, paused: &Paused) -> Deferrals {
        let mut found: Vec<(bool, Instant, MessageId, Deferred)> = Vec::new();
        let count = self.visit(of, most, |at, job| {
            let is_held = job.is_held_by(paused);
            let deferred = Deferred {
                recipient: job.head.recipient.clone(),
                channel: job.head.channel.clone(),
                lane: job.head.lane.clone(),
                key: job.head.key.clone(),
                batch: job.head.id.clone(),
                entries: job.head.entries,
                attempts: job.attempts,
                last: job.last.clone(),
                next: (!is_held).then_some(at),
            };
            found.push((is_held, at, job.id(), deferred));
        });
        found.sort_by_key(|(is_held, at, id, _)| (*is_held, *at, *id));
        Deferrals {
            count,
            messages: found
                .into_iter()
                .take(most)
                .map(|(.., shown)| shown)
                .collect(),
        }
    }
}
