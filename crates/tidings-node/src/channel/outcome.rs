//! The closed list of what a channel can answer.

/// What became of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Handed over (or it had been already).
    Sent(Receipt),
    /// Surely not handed over; worth another try after this many milliseconds at least.
    Retry {
        /// Why, for the log and for operators: no address, no body; `stage: reply` where a provider has
        /// stages.
        why: String,
        /// The least time to wait, if the provider said one.
        after_ms: Option<i64>,
    },
    /// Refused for good.
    Failed {
        /// Why, for the log.
        why: String,
        /// Whether it is the address that is dead.
        address_dead: bool,
    },
    /// It may or may not have been handed over.
    Unknown {
        /// Why, for the log.
        why: String,
    },
}

/// What a provider gave back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Receipt {
    /// The provider's own name for the message, if it gave one.
    pub reference: Option<String>,
}
