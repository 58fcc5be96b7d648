//! The channel of the story: it counts the mails of each day, and keeps those of some recipients for the mailbox.

use std::collections::{BTreeMap, HashSet};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tidings_core::{Day, Id};
use tidings_node::VirtualClock;
use tidings_node::channel::{Channel, Outcome, Rendered};

use super::world::World;

/// Number of recipients whose mails are kept. The mailbox has room for a thousand mails, and one gets about five.
const KEPT_FOR: usize = 125;

/// A channel that hands all mails on, and those of some recipients to the mailbox as well.
pub(crate) struct Postbox {
    all: Arc<dyn Channel>,
    mailbox: Arc<dyn Channel>,
    /// The clock of the mailbox: a mail is of the instant at which its lane was due.
    clock: Arc<VirtualClock>,
    kept_for: HashSet<Id>,
    sent: Mutex<BTreeMap<Day, u64>>,
}

/// The places in the world of those whose mails are kept.
pub(crate) fn kept_for(world: &World) -> impl Iterator<Item = usize> {
    (0..world.people.len()).step_by(world.people.len().div_ceil(KEPT_FOR).max(1))
}

impl Postbox {
    pub(crate) fn new(
        world: &World,
        all: Arc<dyn Channel>,
        mailbox: Arc<dyn Channel>,
        clock: Arc<VirtualClock>,
    ) -> Self {
        let kept_for = kept_for(world).map(|place| world.people[place].id.clone()).collect();
        Self { all, mailbox, clock, kept_for, sent: Mutex::default() }
    }

    /// Number of mails sent so far.
    pub(crate) fn count(&self) -> u64 {
        self.sent().values().sum()
    }

    /// Number of mails by day, in UTC.
    pub(crate) fn by_day(&self) -> BTreeMap<Day, u64> {
        self.sent().clone()
    }

    fn sent(&self) -> MutexGuard<'_, BTreeMap<Day, u64>> {
        // Nothing is left half done under the lock.
        self.sent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Channel for Postbox {
    fn send(&self, message: &Rendered, go: &dyn Fn() -> bool) -> Outcome {
        let outcome = self.all.send(message, go);
        if matches!(outcome, Outcome::Sent(_)) {
            let head = &message.head;
            let mut sent = self.sent();
            *sent.entry(head.at.day()).or_default() += 1;
            if head.recipient.as_ref().is_some_and(|id| self.kept_for.contains(id)) {
                // Under the lock, so that no other thread moves the clock meanwhile.
                self.clock.set(head.at);
                self.mailbox.send(message, &|| true);
            }
        }
        outcome
    }

    fn sync(&self) -> io::Result<()> {
        self.all.sync()
    }
}
