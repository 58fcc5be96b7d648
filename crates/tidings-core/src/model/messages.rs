//! Names, states and attempts of messages, as operators see and change them.

pub(crate) mod jobs;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::model::id::BucketNo;
use crate::model::number::{ClosingId, MessageId, RecipientNo, Seq};
use crate::model::reason::Ending;
use crate::model::time::{Day, Instant};

/// The name of a message: the place where it is stored, without its recipient.
///
/// # Examples
/// ```
/// use tidings_core::model::MessageName;
///
/// let name: MessageName = "2024-03-07.3.12.77".parse()?;
/// assert_eq!(name.due.to_string(), "2024-03-07");
/// assert_eq!(name.to_string(), "2024-03-07.3.12.77");
/// // One text a message.
/// assert!("2024-03-07.3.12.077".parse::<MessageName>().is_err());
/// # Ok::<(), tidings_core::model::MessageNameError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct MessageName {
    /// The UTC day on which its lane was due.
    pub due: Day,
    /// The message.
    pub id: MessageId,
}

/// A text that names no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a message's id is a date and three numbers, such as `2024-03-07.3.12.77`")]
pub struct MessageNameError;

impl fmt::Display for MessageName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let MessageId { closing, number } = self.id;
        let (bucket, seq) = (closing.bucket.0, closing.seq);
        write!(f, "{}.{bucket}.{number}.{seq}", self.due)
    }
}

impl FromStr for MessageName {
    type Err = MessageNameError;

    fn from_str(text: &str) -> Result<Self, MessageNameError> {
        let mut parts = text.split('.');
        let mut part = || parts.next().ok_or(MessageNameError);
        let due = Day::parse(part()?).map_err(|_| MessageNameError)?;
        let bucket = part()?.parse().map(BucketNo);
        let number = part()?.parse().map(RecipientNo);
        let seq = part()?.parse().map(Seq);
        let (Ok(bucket), Ok(number), Ok(seq)) = (bucket, number, seq) else {
            return Err(MessageNameError);
        };
        let id = ClosingId { bucket, seq }.message(number);
        let name = Self { due, id };
        // What parses in another way was not given by a list.
        (name.to_string() == text).then_some(name).ok_or(MessageNameError)
    }
}

/// The state of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum MessageState {
    /// Its lane was due, and it is not built yet.
    Planned,
    /// It is built, and on its way to its first attempt.
    Sending,
    /// An attempt failed, and another one follows.
    Retrying,
    /// It was handed over.
    Sent,
    /// It was refused for good, or no attempt succeeded.
    Failed,
    /// It may or may not have been handed over.
    Unknown,
    /// The checks before sending left no entry.
    Suppressed,
    /// All its entries were taken out of it before it was handed over.
    Cancelled,
}

impl MessageState {
    /// All states.
    pub const ALL: [Self; 8] = [
        Self::Planned,
        Self::Sending,
        Self::Retrying,
        Self::Sent,
        Self::Failed,
        Self::Unknown,
        Self::Suppressed,
        Self::Cancelled,
    ];

    /// The state of a message that ended.
    #[must_use]
    pub fn after(ending: Ending) -> Self {
        match ending {
            Ending::Delivered => Self::Sent,
            Ending::Refused | Ending::Unreachable | Ending::Template => Self::Failed,
            Ending::Unknown => Self::Unknown,
            Ending::RecipientGone | Ending::Forgotten => Self::Cancelled,
        }
    }

    /// The word of the state.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Planned => "planned",
            Self::Sending => "sending",
            Self::Retrying => "retrying",
            Self::Sent => "sent",
            Self::Failed => "failed",
            Self::Unknown => "unknown",
            Self::Suppressed => "suppressed",
            Self::Cancelled => "cancelled",
        }
    }
}

/// A change of a message that an operator asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MessageAct {
    /// Sends one that failed again, or one that waits for its next attempt now.
    Retry,
    /// Takes everything out of one that is not handed over yet.
    Cancel,
    /// Sends one again that has its outcome, even where it was delivered.
    Resend,
}

impl MessageAct {
    /// The word of the act.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Retry => "retry",
            Self::Cancel => "cancel",
            Self::Resend => "resend",
        }
    }
}

/// The kind of a provider's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answered {
    /// The message was handed over.
    Sent,
    /// The message was refused permanently.
    Failed,
    /// The message will be retried.
    Retry,
    /// The outcome is unknown.
    Unknown,
    /// Reported later: it arrived.
    Delivered,
    /// Reported later: it has not arrived yet, and is tried again elsewhere.
    Delayed,
    /// Reported later: it did not arrive.
    Bounced,
    /// Reported later: its recipient called it spam, or wants no more.
    Complained,
    /// Reported later: it was opened.
    Opened,
    /// Reported later: a link of it was followed.
    Clicked,
}

impl Answered {
    /// The kinds of answers to an attempt; the others are reported later.
    pub const TO_ATTEMPTS: [Self; 4] = [Self::Sent, Self::Failed, Self::Retry, Self::Unknown];

    /// All kinds.
    pub const ALL: [Self; 10] = [
        Self::Sent,
        Self::Failed,
        Self::Retry,
        Self::Unknown,
        Self::Delivered,
        Self::Delayed,
        Self::Bounced,
        Self::Complained,
        Self::Opened,
        Self::Clicked,
    ];

    /// The name of the kind.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Sent => "sent",
            Self::Failed => "failed",
            Self::Retry => "retry",
            Self::Unknown => "unknown",
            Self::Delivered => "delivered",
            Self::Delayed => "delayed",
            Self::Bounced => "bounced",
            Self::Complained => "complained",
            Self::Opened => "opened",
            Self::Clicked => "clicked",
        }
    }
}

/// An attempt to hand a message over, or a later report about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// The instant of the answer.
    pub at: Instant,
    /// The provider, without secrets.
    pub provider: String,
    /// The kind of the answer.
    pub answer: Answered,
    /// The provider's words, without addresses.
    pub reply: String,
}

/// Attempts in a row with the same answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptRun {
    /// The instant of the first.
    pub first: Instant,
    /// The instant of the last.
    pub last: Instant,
    /// Number of attempts.
    pub count: u32,
    /// The provider, without secrets.
    pub provider: String,
    /// The kind of the answer.
    pub answer: Answered,
    /// The provider's words, without addresses.
    pub reply: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_as_it_is_written() {
        let id = ClosingId { bucket: BucketNo(65_535), seq: Seq(u64::MAX) };
        let name = MessageName { due: Day(-1), id: id.message(RecipientNo(u32::MAX)) };
        assert_eq!(name.to_string().parse(), Ok(name));
        let odd = [
            "",
            "2024-03-07",
            "2024-03-07.1.2",
            "2024-03-07.1.2.3.4",
            "2024-03-07.+1.2.3",
            "2024-13-07.1.2.3",
            "2024-03-07.1.2.99999999999999999999",
        ];
        for text in odd {
            assert_eq!(text.parse::<MessageName>(), Err(MessageNameError), "{text}");
        }
    }
}
