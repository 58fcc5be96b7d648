//! The messages that operators have sent at once: a step names them, and the node sends them.

use crate::model::number::MessageId;

/// A message that goes as soon as a step is durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GoingMessage {
    /// The message.
    pub message: MessageId,
    /// True if it had its outcome: the senders don't have it.
    pub had_ended: bool,
    /// True if a job has it sent, beside many others.
    pub by_job: bool,
}
