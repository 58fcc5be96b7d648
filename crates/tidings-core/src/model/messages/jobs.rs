//! Jobs: one change of many messages, as operators ask for it.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::model::changes::Origin;
use crate::model::id::BucketNo;
use crate::model::messages::MessageAct;
use crate::model::number::Seq;
use crate::model::time::Instant;
use crate::sets::set::Set;

/// The number of a job: the milliseconds at which it was made, or one more than that of the job before.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct JobNo(pub u64);

/// A text that is no number of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a job's id is a number, such as `1709798580000`")]
pub struct JobNoError;

impl fmt::Display for JobNo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for JobNo {
    type Err = JobNoError;

    fn from_str(text: &str) -> Result<Self, JobNoError> {
        let number: u64 = text.parse().map_err(|_| JobNoError)?;
        (number.to_string() == text).then_some(Self(number)).ok_or(JobNoError)
    }
}

/// Messages of one closing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MessagesOfClosing {
    /// The instant at which they were due.
    pub due: Instant,
    /// The closing.
    pub closing: Seq,
    /// Their recipients.
    pub recipients: Set,
}

/// Messages by bucket, in each those that were due first come first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MessageSet(pub BTreeMap<BucketNo, Vec<MessagesOfClosing>>);

impl MessageSet {
    /// Number of messages.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.0.values().flatten().map(|of| of.recipients.len()).sum()
    }

    /// Returns true if there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A job to be made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NewJob {
    /// The change of each message.
    pub act: MessageAct,
    /// The filter that chose the messages, as JSON.
    pub filter: String,
    /// Its author and the way in; `None` = unknown.
    pub origin: Option<Origin>,
    /// True if it begins at once, and not after ten seconds.
    pub at_once: bool,
    /// The messages.
    pub messages: MessageSet,
}

/// The reason why a job left a message as it was: what the call for that message answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum LeftAsItWas {
    /// It was handed over, or may have been.
    TooLate,
    /// It had ended before.
    NothingLeft,
    /// It is not in a state for the change, or can't be sent again.
    MessageState,
    /// It is not kept any more.
    MessageNotFound,
}

impl LeftAsItWas {
    /// The status, or the code of the error, that the call for the message answers.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::TooLate => "too_late",
            Self::NothingLeft => "nothing_left",
            Self::MessageState => "message_state",
            Self::MessageNotFound => "message_not_found",
        }
    }
}

/// The state of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobState {
    /// It begins soon.
    Waiting,
    /// Messages are left that it has not come to.
    Running,
    /// It has come to all messages.
    Done,
    /// It was stopped before.
    Stopped,
}

impl JobState {
    /// The word of the state.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Running => "running",
            Self::Done => "done",
            Self::Stopped => "stopped",
        }
    }
}
