//! The queue of a channel: messages in the order in which they go, and the gate that they pass.
//!
//! Interactive messages go before digests, and what was tried before goes before what was not, as it is older. A thread
//! takes a message only when it may leave, so an interactive one that comes meanwhile still goes before a digest.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tidings_core::Instant;

use super::Slot;
use crate::channel::{InForce, Outlet, Pass};
use crate::clock::Clock;
use crate::priority::Priority;

/// The most messages to other domains that are passed over in search of one that may leave.
const PASSED_OVER_MAX: usize = 512;

/// The queue of a channel.
pub(super) struct Queue {
    channel: String,
    channels: InForce,
    clock: Arc<dyn Clock>,
    waiting: Mutex<Messages>,
    changed: Condvar,
}

#[derive(Default)]
struct Messages {
    slots: BTreeMap<Rank, Queued>,
    next: u64,
    is_over: bool,
}

struct Queued {
    slot: Slot,
    /// The domain of its recipient, if it is a mail.
    domain: Option<Arc<str>>,
}

/// The place of a message in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    priority: Priority,
    is_new: bool,
    number: u64,
}

/// A message that leaves the queue, with its leave; `None` = its channel has no provider.
pub(super) type Leaving = (Slot, Option<Pass>);

/// The next step of a thread.
enum Turn {
    Take(Rank, Option<Outlet>),
    /// Nothing may leave before that instant.
    WaitUntil(Instant),
    /// There is nothing to send.
    Rest,
}

impl Queue {
    pub(super) fn new(channel: &str, channels: InForce, clock: Arc<dyn Clock>) -> Self {
        Self {
            channel: channel.to_owned(),
            channels,
            clock,
            waiting: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    /// Adds a message: a new one, or one that was tried before.
    pub(super) fn put(
        &self,
        slot: Slot,
        domain: Option<Arc<str>>,
        priority: Priority,
        is_new: bool,
    ) {
        let mut messages = self.messages();
        let rank = Rank {
            priority,
            is_new,
            number: messages.next,
        };
        messages.next += 1;
        messages.slots.insert(rank, Queued { slot, domain });
        drop(messages);
        // All of them, as some take no digests.
        self.changed.notify_all();
    }

    /// Waits for a message that may leave, and takes it; `None` once the queue is over.
    pub(super) fn take(&self, interactive_only: bool) -> Option<Leaving> {
        let mut messages = self.messages();
        loop {
            if messages.is_over {
                return None;
            }
            let now = self.clock.now();
            messages = match self.turn(&messages, interactive_only, now) {
                Turn::Take(rank, outlet) => return leave(messages, rank, outlet, now),
                Turn::Rest => self
                    .changed
                    .wait(messages)
                    .unwrap_or_else(PoisonError::into_inner),
                Turn::WaitUntil(until) => {
                    let ms = until.0.saturating_sub(now.0).max(1).unsigned_abs();
                    let waited = self
                        .changed
                        .wait_timeout(messages, Duration::from_millis(ms));
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }

    /// Takes the next message that may leave now.
    pub(super) fn take_now(&self) -> Option<Leaving> {
        let messages = self.messages();
        let now = self.clock.now();
        match self.turn(&messages, false, now) {
            Turn::Take(rank, outlet) => leave(messages, rank, outlet, now),
            Turn::WaitUntil(_) | Turn::Rest => None,
        }
    }

    fn turn(&self, messages: &Messages, interactive_only: bool, now: Instant) -> Turn {
        let mut waiting = messages
            .slots
            .iter()
            .take_while(|(rank, _)| rank.priority == Priority::Interactive || !interactive_only);
        let Some((first, queued)) = waiting.next() else {
            return Turn::Rest;
        };
        // Without a provider it leaves, to be told that.
        let Some(outlet) = self.channels.outlet(&self.channel) else {
            return Turn::Take(*first, None);
        };
        let gate = outlet.gate();
        if let Err(until) = gate.is_open(now) {
            return Turn::WaitUntil(until);
        }
        let mut found = None;
        let mut earliest: Option<Instant> = None;
        let waiting = std::iter::once((first, queued)).chain(waiting);
        for (rank, queued) in waiting.take(PASSED_OVER_MAX) {
            match gate.is_open_for(queued.domain.as_deref(), now) {
                Ok(()) => {
                    found = Some(*rank);
                    break;
                }
                Err(until) => earliest = Some(earliest.map_or(until, |known| known.min(until))),
            }
        }
        drop(gate);
        match (found, earliest) {
            (Some(rank), _) => Turn::Take(rank, Some(outlet)),
            (None, Some(until)) => Turn::WaitUntil(until),
            (None, None) => Turn::Rest,
        }
    }

    /// Has threads look again: a provider is back.
    pub(super) fn wake(&self) {
        drop(self.messages());
        self.changed.notify_all();
    }

    /// Ends the queue.
    pub(super) fn end(&self) {
        self.messages().is_over = true;
        self.changed.notify_all();
    }

    fn messages(&self) -> MutexGuard<'_, Messages> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes a message out of the queue.
fn leave(
    mut messages: MutexGuard<'_, Messages>,
    rank: Rank,
    outlet: Option<Outlet>,
    now: Instant,
) -> Option<Leaving> {
    let Queued { slot, domain } = messages.slots.remove(&rank)?;
    let pass = outlet.map(|outlet| outlet.pass(domain.as_deref(), now));
    Some((slot, pass))
}
