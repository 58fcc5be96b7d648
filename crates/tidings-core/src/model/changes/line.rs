//! Lines of the log of changes.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::origin::{Author, Via};
use super::words;
use crate::model::id::Id;
use crate::model::time::Instant;

words! {
    /// The kind of a subject.
    SubjectKind {
        /// A recipient.
        Recipient = "recipient",
        /// An event.
        Event = "event",
        /// The events of a cancellation key.
        CancellationKey = "cancellation_key",
        /// A message.
        Message = "message",
        /// A type.
        Type = "type",
        /// A channel.
        Channel = "channel",
        /// An address on a channel, as a keyed hash.
        Address = "address",
        /// A tenant.
        Tenant = "tenant",
        /// A hook.
        Hook = "hook",
        /// A feed.
        Feed = "feed",
        /// An API key.
        Key = "key",
        /// A signing key.
        SigningKey = "signing_key",
        /// The days before one.
        Day = "day",
        /// The configuration.
        Configuration = "configuration",
        /// The store.
        Store = "store",
        /// A session.
        Session = "session",
        /// A job.
        Job = "job",
    }
}

/// The subject of a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeSubject {
    /// The kind.
    pub kind: SubjectKind,
    /// The id; `None` = several, or the only one.
    pub id: Option<String>,
}

impl ChangeSubject {
    /// The subject of an id.
    #[must_use]
    pub fn new(kind: SubjectKind, id: impl Into<String>) -> Self {
        Self { kind, id: Some(id.into()) }
    }

    /// Several of a kind, or the only one.
    #[must_use]
    pub fn all(kind: SubjectKind) -> Self {
        Self { kind, id: None }
    }
}

/// A field that a change concerns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChangedField {
    /// Its name.
    pub name: String,
    /// The value before; of names, addresses, data and texts `"changed"`. Null = there was none.
    pub from: Value,
    /// The value after.
    pub to: Value,
}

impl ChangedField {
    /// A field whose values are shown; `None` = they are the same.
    #[must_use]
    pub fn shown(name: impl Into<String>, from: Value, to: Value) -> Option<Self> {
        (from != to).then(|| Self { name: name.into(), from, to })
    }

    /// A field whose values are not shown; `None` = they are the same.
    #[must_use]
    pub fn masked<T: PartialEq>(
        name: impl Into<String>,
        from: Option<T>,
        to: Option<T>,
    ) -> Option<Self> {
        let differs = from != to;
        let mask = |value: Option<T>| value.map_or(Value::Null, |_| "changed".into());
        differs.then(|| Self { name: name.into(), from: mask(from), to: mask(to) })
    }
}

/// A line of the log of changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChangeLine {
    /// Its id, which has the instant of the change.
    #[serde(skip)]
    pub id: ChangeId,
    /// The author.
    pub by: Author,
    /// The way in.
    pub via: Via,
    /// The name of the operation.
    pub action: Cow<'static, str>,
    /// The subject.
    pub subject: ChangeSubject,
    /// The tenant, where there is one.
    pub tenant: Option<Id>,
    /// The id of the request, if it has one.
    pub request: Option<String>,
    /// The number of changes, if the line is about several.
    pub count: Option<u64>,
    /// The fields that were changed.
    pub fields: Vec<ChangedField>,
    /// The result, in a word.
    pub result: Cow<'static, str>,
}

/// The result of what has no other.
pub(crate) const DONE: &str = "done";

/// The owner of lines that the intake writes; the others are numbers of shards.
pub(crate) const OF_INTAKE: u16 = u16::MAX;

/// The id of a line: its instant, the shard that wrote it, and its number among those of the two. In text, ids of one
/// instant are in the order of their shards and numbers.
///
/// # Examples
/// ```
/// use tidings_core::Instant;
/// use tidings_core::model::ChangeId;
///
/// let id = ChangeId { at: Instant(1_709_280_000_000), owner: 3, number: 7 };
/// assert_eq!(id.to_string(), "log_8000018df906f800000300000007");
/// assert_eq!(id.to_string().parse(), Ok(id));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChangeId {
    /// The instant.
    pub at: Instant,
    /// The number of the shard; the greatest = the intake.
    pub owner: u16,
    /// The number. Numbers count down within an instant: lists of lines are by id there, and newest first.
    pub number: u32,
}

/// A text that is not the id of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not the id of a line of the log of changes")]
pub struct ChangeIdError;

const PREFIX: &str = "log_";

impl fmt::Display for ChangeId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = self.at.0.cast_unsigned() ^ (1 << 63);
        write!(out, "{PREFIX}{at:016x}{:04x}{:08x}", self.owner, self.number)
    }
}

impl FromStr for ChangeId {
    type Err = ChangeIdError;

    fn from_str(text: &str) -> Result<Self, ChangeIdError> {
        let hex = text.strip_prefix(PREFIX).ok_or(ChangeIdError)?;
        let part = |from: usize, until: usize| {
            let digits = hex.get(from..until).ok_or(ChangeIdError)?;
            u64::from_str_radix(digits, 16).map_err(|_| ChangeIdError)
        };
        let id = Self {
            at: Instant((part(0, 16)? ^ (1 << 63)).cast_signed()),
            owner: u16::try_from(part(16, 20)?).map_err(|_| ChangeIdError)?,
            number: u32::try_from(part(20, 28)?).map_err(|_| ChangeIdError)?,
        };
        // One text a line.
        if id.to_string() == text { Ok(id) } else { Err(ChangeIdError) }
    }
}

impl ChangeId {
    /// Its text as an id.
    #[must_use]
    pub fn to_id(self) -> Id {
        // It has letters, digits and a line, and is short.
        Id::new(&self.to_string()).expect("hexadecimal digits are an id")
    }
}
