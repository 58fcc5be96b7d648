//! The closed list of ends and reasons: the same words in the API, the commands and the books.

use serde::{Deserialize, Serialize};

/// The end of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// A message with it was delivered.
    Delivered,
    /// It was cancelled.
    Cancelled,
    /// A check ended it when its message was built.
    Skipped,
    /// Its time had passed, or its day was deleted.
    Expired,
    /// The channel refused it for good.
    Failed,
    /// Nobody knows whether it arrived.
    Unknown,
}

/// The reason why an entry ended without being delivered.
///
/// Answers print the word alone, not `skipped(stale)`: every reason belongs to exactly one outcome, so nothing is lost and
/// a reader compares a word. A reason that would lead to two outcomes needs a second word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// Its type is no longer configured.
    UnknownType,
    /// The recipient was deleted or disabled.
    RecipientGone,
    /// `expires_at` had come.
    Expired,
    /// The recipient's preference is `never`.
    Preference,
    /// The type's condition was false.
    Condition,
    /// Its object was retracted, deleted or is not `notifiable`.
    NotApplicable,
    /// The recipient had seen it.
    Seen,
    /// Older than the type's look-back.
    Stale,
    /// The recipient has no address on the channel.
    NoAddress,
    /// The event was cancelled.
    Event,
    /// Its day was deleted while it waited.
    Forgotten,
    /// The channel refused its message for good.
    Refused,
    /// No attempt to hand over its message succeeded.
    Unreachable,
    /// The type's condition could not be answered.
    ConditionError,
    /// A later entry took its place.
    Replaced,
    /// An operator cancelled its message.
    Message,
    /// The address is suppressed on the channel.
    Suppressed,
    /// A template of the configuration failed over its message.
    Template,
    /// The tenant was disabled or deleted.
    TenantGone,
    /// The channel's `allow` leaves the address out.
    NotAllowed,
}

/// The end of a built message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Ending {
    /// It was handed over.
    Delivered,
    /// It was refused for good.
    Refused,
    /// No attempt to hand it over succeeded.
    Unreachable,
    /// It may or may not have been handed over.
    Unknown,
    /// Its recipient was erased before it was sent.
    RecipientGone,
    /// A day of its entries was deleted before it was sent.
    Forgotten,
    /// A template of the configuration failed over it; no provider was asked.
    Template,
}

impl Ending {
    /// The outcome of the message's entries.
    ///
    /// # Examples
    /// ```
    /// use tidings_core::model::{Ending, Outcome, Reason};
    ///
    /// assert_eq!(Ending::Refused.outcome(), Outcome::Failed);
    /// assert_eq!(Ending::Refused.reason(), Some(Reason::Refused));
    /// // Nobody knows whether it arrived, so there is no reason why it did not.
    /// assert_eq!(Ending::Unknown.outcome(), Outcome::Unknown);
    /// assert_eq!(Ending::Unknown.reason(), None);
    /// ```
    #[must_use]
    pub fn outcome(self) -> Outcome {
        match self {
            Self::Delivered => Outcome::Delivered,
            Self::Refused | Self::Unreachable | Self::Template => Outcome::Failed,
            Self::Unknown => Outcome::Unknown,
            Self::RecipientGone => Outcome::Cancelled,
            Self::Forgotten => Outcome::Expired,
        }
    }

    /// The reason of the entries, if they surely were not delivered.
    #[must_use]
    pub fn reason(self) -> Option<Reason> {
        match self {
            Self::Delivered | Self::Unknown => None,
            Self::Refused => Some(Reason::Refused),
            Self::Unreachable => Some(Reason::Unreachable),
            Self::RecipientGone => Some(Reason::RecipientGone),
            Self::Forgotten => Some(Reason::Forgotten),
            Self::Template => Some(Reason::Template),
        }
    }
}

impl Outcome {
    /// All outcomes, in the order of the books.
    pub const ALL: [Self; 6] = [
        Self::Delivered,
        Self::Cancelled,
        Self::Skipped,
        Self::Expired,
        Self::Failed,
        Self::Unknown,
    ];

    /// The word of the outcome.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Delivered => "delivered",
            Self::Cancelled => "cancelled",
            Self::Skipped => "skipped",
            Self::Expired => "expired",
            Self::Failed => "failed",
            Self::Unknown => "unknown",
        }
    }
}

impl Reason {
    /// All reasons, in the order in which they are stored.
    pub const ALL: [Self; 20] = [
        Self::UnknownType,
        Self::RecipientGone,
        Self::Expired,
        Self::Preference,
        Self::Condition,
        Self::NotApplicable,
        Self::Seen,
        Self::Stale,
        Self::NoAddress,
        Self::Event,
        Self::Forgotten,
        Self::Refused,
        Self::Unreachable,
        Self::ConditionError,
        Self::Replaced,
        Self::Message,
        Self::Suppressed,
        Self::Template,
        Self::TenantGone,
        Self::NotAllowed,
    ];

    /// The outcome that this reason leads to.
    #[must_use]
    pub fn outcome(self) -> Outcome {
        match self {
            Self::RecipientGone
            | Self::TenantGone
            | Self::Preference
            | Self::Condition
            | Self::Event
            | Self::Replaced
            | Self::Message => Outcome::Cancelled,
            Self::UnknownType
            | Self::NotApplicable
            | Self::Seen
            | Self::Stale
            | Self::NoAddress
            | Self::Suppressed
            | Self::NotAllowed
            | Self::ConditionError => Outcome::Skipped,
            Self::Expired | Self::Forgotten => Outcome::Expired,
            Self::Refused | Self::Unreachable | Self::Template => Outcome::Failed,
        }
    }

    /// The word used everywhere outside, such as the `stale` of skipped(stale).
    ///
    /// # Examples
    /// ```
    /// use tidings_core::model::Reason;
    ///
    /// assert_eq!(Reason::NoAddress.word(), "no_address");
    /// assert_eq!(serde_json::to_value(Reason::NoAddress)?, Reason::NoAddress.word());
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::UnknownType => "unknown_type",
            Self::RecipientGone => "recipient_gone",
            Self::Expired => "expired",
            Self::Preference => "preference",
            Self::Condition => "condition",
            Self::NotApplicable => "not_applicable",
            Self::Seen => "seen",
            Self::Stale => "stale",
            Self::NoAddress => "no_address",
            Self::Event => "event",
            Self::Forgotten => "forgotten",
            Self::Refused => "refused",
            Self::Unreachable => "unreachable",
            Self::ConditionError => "condition_error",
            Self::Replaced => "replaced",
            Self::Message => "message",
            Self::Suppressed => "suppressed",
            Self::Template => "template",
            Self::TenantGone => "tenant_gone",
            Self::NotAllowed => "not_allowed",
        }
    }
}
