//! The node's way to the senders.

use std::collections::BTreeSet;

use tidings_core::engine::{MessageId, Reach};

/// An interface to the senders, which alone know the messages handed over to a channel.
pub(crate) trait Sending {
    /// Keeps these messages back until the step is durable, those that are within reach.
    fn keep_back(&self, messages: BTreeSet<MessageId>) -> Reach;
}

/// Without senders: every built message is out of reach.
impl Sending for () {
    fn keep_back(&self, _: BTreeSet<MessageId>) -> Reach {
        Reach::new()
    }
}
