//! Messages that go on once a commit is durable.
//!
//! A turn builds messages, changes those that were kept back, and takes up retries; all of them follow its
//! commit. Meanwhile no thread has them, so a later step can still change each. Where the commit fails they
//! are dropped: what is stored is the truth, and they are made again from that.

use std::collections::BTreeMap;

use tidings_core::Instant;
use tidings_core::engine::MessageId;

use crate::commit::CommitNo;
use crate::delivery::send_job::SendJob;

/// The messages.
#[derive(Default)]
pub(crate) struct Outbox {
    /// The messages by their order.
    queue: BTreeMap<u64, Entry>,
    order: BTreeMap<MessageId, u64>,
    next: u64,
}

struct Entry {
    /// The commit that it follows.
    commit: CommitNo,
    message: Released,
}

/// A message that goes on.
pub(crate) struct Released {
    pub(crate) job: SendJob,
    /// The instant of its retry, if it waits for one.
    pub(crate) again: Option<Instant>,
}

impl Outbox {
    /// Adds a message that follows a commit.
    pub(crate) fn put(&mut self, commit: CommitNo, message: Released) {
        self.order.insert(message.job.id(), self.next);
        self.queue.insert(self.next, Entry { commit, message });
        self.next += 1;
    }

    /// Removes and returns a message.
    pub(crate) fn take_back(&mut self, id: &MessageId) -> Option<Released> {
        let at = self.order.remove(id)?;
        self.queue.remove(&at).map(|entry| entry.message)
    }

    /// Removes and returns the next message that follows this commit or one before it.
    pub(crate) fn take_next(&mut self, durable: CommitNo) -> Option<Released> {
        let next = self.queue.first_entry()?;
        if next.get().commit > durable {
            return None;
        }
        let message = next.remove().message;
        self.order.remove(&message.job.id());
        Some(message)
    }

    /// Drops all messages; returns how many there were.
    pub(crate) fn clear(&mut self) -> usize {
        self.order.clear();
        std::mem::take(&mut self.queue).len()
    }

    /// Returns true if no message waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }
}
