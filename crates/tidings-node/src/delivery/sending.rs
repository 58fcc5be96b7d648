//! The node's way to the senders.

use std::collections::BTreeSet;

use tidings_core::engine::Reach;
use tidings_core::model::MessageId;

/// An interface to the senders, which alone know the messages handed over to a channel.
pub(crate) trait SenderInterface {
    /// Keeps these messages back until the step is durable, those that are within reach.
    fn keep_back(&self, messages: BTreeSet<MessageId>) -> Reach;

    /// The messages of these that could be kept back now. None is.
    fn within_reach(&self, messages: BTreeSet<MessageId>) -> Reach;
}

/// Without senders: every built message is out of reach.
impl SenderInterface for () {
    fn keep_back(&self, _: BTreeSet<MessageId>) -> Reach {
        Reach::new()
    }

    fn within_reach(&self, _: BTreeSet<MessageId>) -> Reach {
        Reach::new()
    }
}
