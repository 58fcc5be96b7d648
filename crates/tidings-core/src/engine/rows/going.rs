//! The messages that operators have sent at once: a step names them, and the node sends them.

use crate::model::number::MessageId;

/// A message that goes as soon as a step is durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Going {
    /// The message.
    pub message: MessageId,
    /// True if it had its outcome: the senders don't have it.
    pub had_ended: bool,
}
