//! The answer of a channel as views show it.

use crate::channel::Outcome as Answer;
use tidings_core::messages::Answered;

/// The answer of a channel, without addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// The kind of the answer.
    pub answer: Answered,
    /// The provider's stage and code.
    pub reply: String,
}

impl Said {
    pub(crate) fn of(answer: &Answer) -> Option<Self> {
        let reply = match answer {
            Answer::Sent(_) => return None,
            Answer::Withheld => "stopped before it was handed over",
            other => other.words()?,
        };
        Some(Self {
            answer: answer.answered(),
            reply: reply.to_owned(),
        })
    }
}
