//! The answers of channels to one recipient's message.

use crate::journal::record::Attempts;
use crate::model::number::{RecipientNo, Seq};
use crate::model::reason::Ending;

/// The outcome of one recipient's message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    /// The recipient's number in the bucket.
    pub number: RecipientNo,
    /// The seqs of the message's entries.
    pub seqs: Vec<Seq>,
    /// The ending.
    pub ending: Ending,
    /// Number of times that it was sent again after an unknown outcome.
    pub resent: u32,
}

/// One recipient's message after an attempt that another one follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetriedAttempt {
    /// The recipient's number in the bucket.
    pub number: RecipientNo,
    /// All attempts so far.
    pub attempts: Attempts,
}
