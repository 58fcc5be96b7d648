//! Explanations: the fate of an event for one recipient, rule by rule, also of a hypothetical event.
//!
//! "Why did I not get this?" is the most frequent question to operators of notifications. The answer has the rules in
//! the order in which they are applied, each with its inputs and its result.

use crate::model::id::Id;
use crate::model::reason::{Outcome, Reason};
use crate::model::time::Instant;

/// The path of an event to a recipient: through the rules that hold for all channels, then on each channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The event.
    pub event: Id,
    /// Its type.
    pub event_type: Id,
    /// Its tenant; `None` = of none.
    pub tenant: Option<Id>,
    /// The recipient.
    pub recipient: Id,
    /// The instant as of which it is explained.
    pub as_of: Instant,
    /// True if the event was not published: what would become of it.
    pub supposed: bool,
    /// The rules that hold for all channels, in their order.
    pub steps: Vec<ExplanationStep>,
    /// The channels that the type has, or that the event had entries on.
    pub channels: Vec<ChannelPath>,
}

/// The path of an event on one channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelPath {
    /// The channel.
    pub channel: &'static str,
    /// The rules, in their order.
    pub steps: Vec<ExplanationStep>,
    /// The state of the entry.
    pub state: EntryState,
    /// The reason why it was not delivered.
    pub reason: Option<Reason>,
    /// The instant at which it ended, or else is due or enters its lane; `None` = there is none.
    pub at: Option<Instant>,
}

/// A rule that was applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExplanationStep {
    /// The rule.
    pub rule: Rule,
    /// The instant at which it was applied, where that is known.
    pub at: Option<Instant>,
    /// The text or the values that it looked at.
    pub looked_at: String,
    /// The result.
    pub result: String,
    /// True if nothing comes after it: there is no entry, or the entry ended here.
    pub ends: bool,
}

/// The state of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryState {
    /// There is no entry.
    None,
    /// The entry enters its lane later.
    Scheduled,
    /// The entry waits in its lane, or its message is being made.
    Pending,
    /// Its message is being sent.
    Sending,
    /// It ended.
    Ended(Outcome),
}

impl EntryState {
    /// Its word in explanations.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Scheduled => "scheduled",
            Self::Pending => "pending",
            Self::Sending => "sending",
            Self::Ended(outcome) => outcome.word(),
        }
    }
}

/// The rules of an explanation, in the order in which they are applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// The state of the event's tenant.
    Tenant,
    /// The event's type is configured.
    Type,
    /// The recipient's state.
    Recipient,
    /// The audience of the event: names, topics, circles, everyone.
    Audience,
    /// Actors are left out of their own events.
    Actor,
    /// The channels to which the event keeps itself.
    Channels,
    /// The preferences of the recipient, and the type's policy.
    Preference,
    /// The mutes of the recipient.
    Mute,
    /// The admission of the type.
    Admission,
    /// The instant at which the entry enters its lane.
    Schedule,
    /// The lane that the entry entered.
    Lane,
    /// The deadline of the lane's window.
    Deadline,
    /// The quiet hours of the recipient or the channel.
    QuietHours,
    /// `min_items` of a digest.
    MinItems,
    /// The caps of the channel.
    Cap,
    /// A pause, or an address that is not confirmed.
    Hold,
    /// `expires_at` of the event.
    ExpiresAt,
    /// The condition of the type.
    Condition,
    /// The object: retracted, or not notifiable.
    Object,
    /// The recipient has seen it.
    Seen,
    /// `look_back` of the type.
    LookBack,
    /// The address on the channel.
    Address,
    /// The list of suppressed addresses.
    Suppression,
    /// A cancel, a replacement, or another act that ends entries.
    Cancel,
    /// The message that carries the entry.
    Message,
    /// The delivery of that message.
    Delivery,
}

impl Rule {
    /// Its word, as the explanation prints it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Tenant => "tenant",
            Self::Type => "type",
            Self::Recipient => "recipient",
            Self::Audience => "audience",
            Self::Actor => "actor",
            Self::Channels => "channels",
            Self::Preference => "preference",
            Self::Mute => "mute",
            Self::Admission => "admission",
            Self::Schedule => "schedule",
            Self::Lane => "lane",
            Self::Deadline => "deadline",
            Self::QuietHours => "quiet_hours",
            Self::MinItems => "min_items",
            Self::Cap => "cap",
            Self::Hold => "hold",
            Self::ExpiresAt => "expires_at",
            Self::Condition => "condition",
            Self::Object => "object",
            Self::Seen => "seen",
            Self::LookBack => "look_back",
            Self::Address => "address",
            Self::Suppression => "suppression",
            Self::Cancel => "cancel",
            Self::Message => "message",
            Self::Delivery => "delivery",
        }
    }
}

impl ExplanationStep {
    /// A rule that lets the entry go on.
    pub(crate) fn passes(
        rule: Rule,
        looked_at: impl Into<String>,
        result: impl Into<String>,
    ) -> Self {
        Self { rule, at: None, looked_at: looked_at.into(), result: result.into(), ends: false }
    }

    /// A rule after which nothing comes.
    pub(crate) fn ends(
        rule: Rule,
        looked_at: impl Into<String>,
        result: impl Into<String>,
    ) -> Self {
        Self { ends: true, ..Self::passes(rule, looked_at, result) }
    }

    /// The same at a known instant.
    pub(crate) fn at(self, at: Instant) -> Self {
        let at = Some(at);
        Self { at, ..self }
    }
}
