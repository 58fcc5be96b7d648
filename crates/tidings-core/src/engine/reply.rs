//! What the engine answers.

use crate::event::Near;
use crate::id::Id;
use crate::journal::at_rest::Unreadable;
use crate::limits::Exceeded;
use crate::time::Instant;

/// The answer to a command that was done.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// Done, and there is nothing more to say.
    Done,
    /// An event was published.
    Published(Published),
    /// Open lanes are due now. The marker's id: bucket and seq, behind which everything is new.
    Flushed(String),
    /// What was to be taken back, by what became of it.
    Cancelled(TakenBack),
    /// Days were dropped.
    Dropped(Dropped),
}

/// Days that were dropped, whatever they held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dropped {
    /// How many days.
    pub days: u64,
    /// Entries that waited there, and ended as expired.
    pub expired: u64,
}

/// Entries of a cancelled event, or of all that carry a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TakenBack {
    /// They waited, or were scheduled: cancelled.
    pub cancelled: u64,
    /// They stood in a message that was made and not handed over yet: taken out of it.
    pub removed_from_batch: u64,
    /// They were told, are on their way, or had ended when their message was made.
    pub too_late: u64,
    /// How many events were found.
    pub events: u64,
}

impl TakenBack {
    /// The furthest that the cancel went.
    #[must_use]
    pub fn extent(&self) -> Extent {
        match *self {
            Self { events: 0, .. } => Extent::Unknown,
            Self {
                removed_from_batch: 1..,
                ..
            } => Extent::RemovedFromBatch,
            Self { cancelled: 1.., .. } => Extent::Cancelled,
            Self { too_late: 1.., .. } => Extent::TooLate,
            _ => Extent::NothingLeft,
        }
    }
}

/// How far a cancel went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Entries that waited were cancelled; none stood in a message.
    Cancelled,
    /// Entries were taken out of messages that were made.
    RemovedFromBatch,
    /// Nothing could be taken back any more.
    TooLate,
    /// The events are known, and have nothing that waits or was told: it was cancelled before, or has
    /// concerned nobody.
    NothingLeft,
    /// No event was found.
    Unknown,
}

/// What came of a publish.
#[derive(Clone, Debug, PartialEq)]
pub struct Published {
    /// The event.
    pub id: Id,
    /// Whether it is new.
    pub status: PublishedAs,
    /// Recipients who have at least one entry of it.
    pub notifications: u64,
    /// Entries that it made.
    pub entries: u64,
    /// What the publisher should look at.
    pub warnings: Vec<Warning>,
}

/// Whether an event is new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PublishedAs {
    /// It was taken in.
    Accepted,
    /// The same id came before: nothing happens.
    Duplicate,
}

/// Something that is accepted but probably not meant.
#[derive(Clone, Debug, PartialEq)]
pub enum Warning {
    /// A recipient is named who is not known.
    UnknownRecipient(Id),
    /// The audience is empty: nobody follows any of the event's topics, which are these.
    NoFollowers(Vec<Id>),
    /// The audience is empty: only the actor would be in it, and the type leaves the actor out.
    OnlyTheActor,
    /// The audience is empty: nobody lives within any of the event's circles, which are these.
    NobodyNear(Vec<Near>),
    /// The audience is empty, for none of the other reasons.
    NobodyConcerned,
    /// The event expired before it arrived, at this instant: nothing of it will be sent.
    AlreadyExpired(Instant),
    /// The event expires, at this instant, before or when it is to be delivered: nothing of it will be sent.
    ExpiresBeforeDelivery(Instant),
    /// The id came before with an event of other content, which stays as it is.
    Differs,
}

/// Why a command was refused; nothing has changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// There is no such recipient.
    #[error("unknown recipient `{0}`")]
    UnknownRecipient(Id),
    /// The type is not configured.
    #[error("unknown type `{kind}`")]
    UnknownType {
        /// The type.
        kind: Id,
        /// The types that are configured.
        configured: Vec<String>,
    },
    /// The channel is not known.
    #[error("unknown channel `{0}`")]
    UnknownChannel(String),
    /// The preference can't be had.
    #[error("{0}")]
    Preference(String),
    /// It carries more than a bound of the configuration allows.
    #[error(transparent)]
    Exceeded(#[from] Exceeded),
}

/// What a command comes to: the outer fault makes the engine worthless, the inner one is the user's.
pub(crate) type Answer = Result<Result<Reply, Refused>, Unreadable>;
