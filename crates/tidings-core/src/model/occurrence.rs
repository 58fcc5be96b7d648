//! Occurrences: changes of messages, preferences and addresses that hooks send to the host.
//!
//! An occurrence is stored in the commit that makes it happen. Its id derives from its place in the store and its
//! content, so it is the same for each hook and at each attempt.

use std::fmt::{self, Write as _};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

use crate::codec::encode_onto;
use crate::journal::table::Owner;
use crate::model::channel::ChannelNo;
use crate::model::id::{BucketNo, Id};
use crate::model::messages::MessageName;
use crate::model::preference::{Mode, PreferenceScope};
use crate::model::reason::Reason;
use crate::model::suppression::{ChannelAddress, SuppressedFor};
use crate::model::time::Instant;

/// The kind of an occurrence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum OccurrenceKind {
    /// A message was handed over.
    #[serde(rename = "message.sent")]
    MessageSent,
    /// A message was refused for good, or no attempt succeeded.
    #[serde(rename = "message.failed")]
    MessageFailed,
    /// A message came back after it was handed over.
    #[serde(rename = "message.bounced")]
    MessageBounced,
    /// A recipient called a message spam, or wants no more.
    #[serde(rename = "message.complained")]
    MessageComplained,
    /// A recipient's preference is another one.
    #[serde(rename = "preference.changed")]
    PreferenceChanged,
    /// Nothing is sent to an address from now on.
    #[serde(rename = "address.suppressed")]
    AddressSuppressed,
}

impl OccurrenceKind {
    /// All kinds.
    pub const ALL: [Self; 6] = [
        Self::MessageSent,
        Self::MessageFailed,
        Self::MessageBounced,
        Self::MessageComplained,
        Self::PreferenceChanged,
        Self::AddressSuppressed,
    ];

    /// The name of the kind.
    ///
    /// # Examples
    /// ```
    /// use tidings_core::model::OccurrenceKind;
    ///
    /// for kind in OccurrenceKind::ALL {
    ///     assert_eq!(serde_json::to_value(kind)?, kind.name());
    /// }
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::MessageSent => "message.sent",
            Self::MessageFailed => "message.failed",
            Self::MessageBounced => "message.bounced",
            Self::MessageComplained => "message.complained",
            Self::PreferenceChanged => "preference.changed",
            Self::AddressSuppressed => "address.suppressed",
        }
    }
}

/// The cause of a change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangedBy {
    /// A call with an API key, or a command.
    #[default]
    Key,
    /// The recipient, with a token.
    User,
    /// The recipient, by a link of a message.
    Link,
    /// A provider or a mail server.
    Provider,
}

impl ChangedBy {
    /// The word of the cause.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Key => "key",
            Self::User => "user",
            Self::Link => "link",
            Self::Provider => "provider",
        }
    }
}

/// An occurrence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Occurrence {
    /// Something became of a message.
    Message(Box<MessageOccurrence>),
    /// A preference of a recipient changed.
    Preference {
        /// The recipient.
        recipient: Id,
        /// The scope.
        scope: PreferenceScope,
        /// The channel; `None` = each.
        channel: Option<ChannelNo>,
        /// The mode from now on.
        mode: Mode,
        /// The cause.
        by: ChangedBy,
        /// The tenant for whose entries alone it holds; `None` = for all.
        tenant: Option<Id>,
    },
    /// An address was suppressed.
    Suppressed {
        /// The address.
        address: ChannelAddress,
        /// The reason.
        reason: SuppressedFor,
        /// The recipient of the message that led to it, where one did.
        recipient: Option<Id>,
        /// The cause.
        by: ChangedBy,
    },
}

/// The kind of an occurrence of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MessageTurn {
    /// It was handed over.
    Sent,
    /// It failed.
    Failed(Option<Reason>),
    /// It came back, with these words of the provider.
    Bounced,
    /// Its recipient complained.
    Complained,
}

/// The fate of a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageOccurrence {
    /// Its fate.
    pub turn: MessageTurn,
    /// The message.
    pub message: MessageName,
    /// The recipient.
    pub recipient: Id,
    /// The channel.
    pub channel: ChannelNo,
    /// The tenant of its entries; `None` = they are of none.
    pub tenant: Option<Id>,
    /// The address, the first where there are several; `None` = the recipient has none any more.
    pub address: Option<String>,
    /// The types of its entries, each once.
    pub types: Vec<Id>,
    /// The events in the message.
    pub events: Vec<Id>,
    /// The provider, without secrets; `None` = none was called.
    pub provider: Option<String>,
    /// The provider's words about a bounce or a complaint, without addresses.
    pub words: String,
}

impl Occurrence {
    /// Its kind.
    #[must_use]
    pub fn kind(&self) -> OccurrenceKind {
        match self {
            Self::Message(message) => match message.turn {
                MessageTurn::Sent => OccurrenceKind::MessageSent,
                MessageTurn::Failed(_) => OccurrenceKind::MessageFailed,
                MessageTurn::Bounced => OccurrenceKind::MessageBounced,
                MessageTurn::Complained => OccurrenceKind::MessageComplained,
            },
            Self::Preference { .. } => OccurrenceKind::PreferenceChanged,
            Self::Suppressed { .. } => OccurrenceKind::AddressSuppressed,
        }
    }

    /// The recipient whom it concerns, if it is one.
    #[must_use]
    pub fn recipient(&self) -> Option<&Id> {
        match self {
            Self::Message(message) => Some(&message.recipient),
            Self::Preference { recipient, .. } => Some(recipient),
            Self::Suppressed { recipient, .. } => recipient.as_ref(),
        }
    }

    /// Its id, of the occurrence at a place: `occ_` and 32 lower-case hex digits.
    #[must_use]
    pub fn id(&self, place: OccurrencePlace) -> String {
        let mut bytes = Vec::with_capacity(256);
        encode_onto(&mut bytes, &(place, self));
        let mut id = String::with_capacity(36);
        let _ = write!(id, "occ_{:032x}", xxh3_128(&bytes));
        id
    }
}

/// The writer of occurrences: what decides them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum OccurrenceOwner {
    /// The intake: suppressions.
    Intake,
    /// A bucket: messages and preferences of its recipients.
    Bucket(BucketNo),
}

impl OccurrenceOwner {
    /// The owner of its rows.
    #[must_use]
    pub fn of_rows(self) -> Owner {
        match self {
            Self::Intake => Owner::Intake,
            Self::Bucket(bucket) => Owner::Bucket(bucket),
        }
    }
}

impl fmt::Display for OccurrenceOwner {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Intake => out.write_str("intake"),
            Self::Bucket(bucket) => bucket.fmt(out),
        }
    }
}

/// The row of an owner that has occurrences: the instant of a step, and its number among those of that instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct OccurrenceRow {
    /// The instant of the step.
    pub at: Instant,
    /// The number among the owner's rows of this instant.
    pub number: u32,
}

impl OccurrenceRow {
    /// The row before which there is none.
    pub const FIRST: Self = Self { at: Instant::MIN, number: 0 };

    /// The first row that an instant may have.
    #[must_use]
    pub fn first(at: Instant) -> Self {
        Self { at, number: 0 }
    }

    /// The row after this one.
    #[must_use]
    pub fn next(self) -> Self {
        match self.number.checked_add(1) {
            Some(number) => Self { number, ..self },
            None => Self::first(self.at.plus_ms(1)),
        }
    }
}

/// The place of an occurrence: its owner, its row, and its index within that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct OccurrencePlace {
    /// The owner.
    pub owner: OccurrenceOwner,
    /// The row.
    pub row: OccurrenceRow,
    /// The index within the row.
    pub index: u32,
}

/// A change of a hook that an operator asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum HookChange {
    /// It is on again, after a 410.
    Resume,
    /// The occurrences since an instant are sent again.
    Replay(Instant),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::channel::EMAIL_NO;

    #[test]
    fn an_id_follows_from_place_and_content() {
        let occurrence = |by| Occurrence::Suppressed {
            address: ChannelAddress::new(EMAIL_NO, "ada@example.org"),
            reason: SuppressedFor::Manual,
            recipient: None,
            by,
        };
        let place = |number| OccurrencePlace {
            owner: OccurrenceOwner::Intake,
            row: OccurrenceRow { at: Instant(7), number },
            index: 0,
        };
        let id = occurrence(ChangedBy::Key).id(place(0));
        assert_eq!(id, occurrence(ChangedBy::Key).id(place(0)));
        assert!(id.len() == 36 && id.starts_with("occ_"), "{id}");
        assert_ne!(id, occurrence(ChangedBy::Key).id(place(1)));
        assert_ne!(id, occurrence(ChangedBy::Provider).id(place(0)));
    }
}
