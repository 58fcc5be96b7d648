//! The closed list of a channel's answers.

use tidings_core::model::{AddressReport, Answered, SuppressedFor, SuppressionSource};

/// The outcome of sending a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The message was handed over (or had been already).
    Sent(Receipt),
    /// The message was surely not handed over; retry after this many milliseconds at least.
    Retry {
        /// The reason, for the log and for operators, without address or body; `stage: reply` if the
        /// provider has stages.
        why: String,
        /// Minimum time to wait, if the provider gave one.
        after_ms: Option<i64>,
    },
    /// The provider takes nothing from us at present, whatever the message, and surely did not take this one: the next
    /// provider is asked, or this one later. After several in a row the provider, or the pair of provider and
    /// destination, is left alone, and its messages wait.
    Away {
        /// The messages for which that holds: all, or those to the destination of this one.
        scope: Scope,
        /// The reason, for the log and for operators, without address or body.
        why: String,
        /// Minimum time to wait, if the provider gave one.
        after_ms: Option<i64>,
    },
    /// The message was refused permanently.
    Failed {
        /// The reason, for the log.
        why: String,
        /// The reason why its address is suppressed, if it is from now on.
        suppress: Option<SuppressedFor>,
    },
    /// The message was surely not handed over, since the recipient's mailbox takes nothing at present. It counts as
    /// a bounce of the address once the message has failed.
    SoftBounce {
        /// The reason, for the log.
        why: String,
        /// True if it was refused permanently; else it is tried again.
        is_permanent: bool,
    },
    /// A template of the configuration failed over the message, so no provider was called.
    Template {
        /// The reason, for the log and for operators, with the template's name and line.
        why: String,
    },
    /// The message was surely not handed over: the sender was asked to stop before it.
    Withheld,
    /// The message may or may not have been handed over.
    Unknown {
        /// The reason, for the log.
        why: String,
    },
}

/// The messages for which a provider is away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All: it can't be reached, or refuses everything from us.
    Provider,
    /// Those to one destination: the host that a recipient names, or the domain of a mail address. [`Outcome::Retry`]
    /// and [`Outcome::Failed`] are for single addresses.
    Destination,
}

impl Outcome {
    /// The provider is unavailable for all messages, without a wait that it requested.
    pub(super) fn away(why: impl Into<String>) -> Self {
        Self::Away { scope: Scope::Provider, why: why.into(), after_ms: None }
    }

    /// The outcome of a message to several addresses, by those of two: what one of them took is handed over, what one
    /// of them may have taken is in doubt.
    pub(super) fn merge(self, other: Self) -> Self {
        let rank = |outcome: &Self| match outcome {
            Self::Sent(_) => 0,
            Self::Unknown { .. } => 1,
            Self::Withheld => 2,
            Self::Away { .. } => 3,
            Self::Retry { .. } | Self::SoftBounce { is_permanent: false, .. } => 4,
            Self::Failed { .. } | Self::SoftBounce { .. } | Self::Template { .. } => 5,
        };
        if rank(&other) < rank(&self) { other } else { self }
    }

    /// The reports about the message's addresses in a provider's answer. `undoes` = an acceptance ends its earlier
    /// refusals.
    pub(super) fn reports(
        &self,
        to: &[String],
        by: SuppressionSource,
        undoes: bool,
    ) -> Vec<(String, AddressReport)> {
        let report = match self {
            Self::Sent(receipt) if receipt.dead.is_empty() && undoes => AddressReport::Arrived(by),
            Self::Sent(receipt) => {
                let dead = receipt.dead.iter();
                return dead
                    .map(|(to, reason)| (to.clone(), AddressReport::Suppressed(*reason)))
                    .collect();
            }
            Self::Failed { suppress: Some(reason), .. } => AddressReport::Suppressed(*reason),
            Self::SoftBounce { .. } => AddressReport::Bounced(by),
            _ => return Vec::new(),
        };
        to.iter().map(|to| (to.clone(), report)).collect()
    }

    /// The kind of the answer.
    #[must_use]
    pub fn answered(&self) -> Answered {
        match self {
            Self::Sent(_) => Answered::Sent,
            Self::Failed { .. }
            | Self::SoftBounce { is_permanent: true, .. }
            | Self::Template { .. } => Answered::Failed,
            Self::Retry { .. } | Self::SoftBounce { .. } | Self::Away { .. } | Self::Withheld => {
                Answered::Retry
            }
            Self::Unknown { .. } => Answered::Unknown,
        }
    }

    /// The provider's answer; `None` = none, or it was not called.
    #[must_use]
    pub fn words(&self) -> Option<&str> {
        match self {
            Self::Sent(Receipt { reference, .. }) => reference.as_deref(),
            Self::Retry { why, .. }
            | Self::Away { why, .. }
            | Self::Failed { why, .. }
            | Self::SoftBounce { why, .. }
            | Self::Template { why }
            | Self::Unknown { why } => Some(why),
            Self::Withheld => None,
        }
    }
}

/// The receipt of a provider.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Receipt {
    /// The provider's own name for the message, if it gave one.
    pub reference: Option<String>,
    /// The addresses of the recipient that are suppressed from now on, where others are good, each with the reason.
    pub dead: Vec<(String, SuppressedFor)>,
}
