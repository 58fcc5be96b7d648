//! Replies of the engine.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::event_row::EventRow;
use crate::journal::stored::Unreadable;
use crate::model::batch_key::KeyTooLong;
use crate::model::event::{Audience, Near};
use crate::model::id::Id;
use crate::model::limits::{Exceeded, TooLarge};
use crate::model::messages::{MessageAct, MessageName, MessageState};
use crate::model::time::Instant;

/// The reply to an accepted command.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Reply {
    /// The command was done.
    Done,
    /// An event was published.
    Published(Published),
    /// Open lanes are due now.
    Flushed {
        /// The marker's id: bucket and seq, after which everything is new.
        marker: String,
        /// The number of lanes; 0 if nothing was pending.
        lanes: usize,
    },
    /// The result of a cancel.
    Cancelled(TakenBack),
    /// Days were deleted.
    Dropped(Dropped),
    /// A message goes, or was cancelled.
    Operated(Operated),
}

/// The result of a change of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Operated {
    /// It goes as soon as this is durable.
    Goes,
    /// The number of entries taken out of it, all that it had.
    Cancelled(u64),
    /// It was handed over, or may have been.
    TooLate,
    /// It had ended before.
    NothingLeft,
}

/// The result of deleting days.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dropped {
    /// Number of days.
    pub days: u64,
    /// Number of pending entries that ended as expired.
    pub expired: u64,
}

/// Entries of a cancelled event, or of all events with a key, by result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TakenBack {
    /// Pending or scheduled entries: cancelled.
    pub cancelled: u64,
    /// Entries removed from messages that were built and not handed over yet.
    pub removed_from_batch: u64,
    /// Entries that were delivered, are being sent, or had ended when their message was built.
    pub too_late: u64,
    /// Delivered entries that were taken out of inboxes.
    pub withdrawn: u64,
    /// Number of events found.
    pub events: u64,
    /// True if nothing was found and the cancel is remembered.
    pub remembered: bool,
}

impl TakenBack {
    /// The furthest that the cancel went.
    #[must_use]
    pub fn outcome(&self) -> CancelOutcome {
        match *self {
            Self { remembered: true, .. } => CancelOutcome::Remembered,
            Self { events: 0, .. } => CancelOutcome::Unknown,
            Self { removed_from_batch: 1.., .. } => CancelOutcome::RemovedFromBatch,
            Self { cancelled: 1.., .. } => CancelOutcome::Cancelled,
            Self { withdrawn: 1.., .. } => CancelOutcome::Withdrawn,
            Self { too_late: 1.., .. } => CancelOutcome::TooLate,
            _ => CancelOutcome::NothingLeft,
        }
    }
}

/// The outcome of a cancel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CancelOutcome {
    /// Only pending entries were cancelled.
    Cancelled,
    /// Entries were removed from built messages.
    RemovedFromBatch,
    /// Nothing could be cancelled any more, but delivered entries were taken out of inboxes.
    Withdrawn,
    /// Nothing could be cancelled any more.
    TooLate,
    /// The events are known, and have no pending or delivered entries: they were cancelled before, or had
    /// no recipients.
    NothingLeft,
    /// No event was found.
    Unknown,
    /// No event of this id is known: it is cancelled if it comes within a day.
    Remembered,
}

/// The result of a publish.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Published {
    /// The event.
    pub id: Id,
    /// New or known.
    pub status: PublishedAs,
    /// Number of recipients with at least one entry.
    pub notifications: u64,
    /// Number of its entries.
    pub entries: u64,
    /// Number of recipients left out by the admission of its type.
    pub suppressed: u64,
    /// True if all shards have applied it, so that the counts are whole and inboxes have it.
    pub applied: bool,
    /// Warnings for the publisher.
    pub warnings: Vec<Warning>,
}

/// The status of a published event: new or known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PublishedAs {
    /// The event was accepted.
    Accepted,
    /// The id is known: nothing happens.
    Duplicate,
    /// It was cancelled before it arrived: nobody is notified.
    Cancelled,
}

/// A warning: a command is accepted and probably not what was meant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Warning {
    /// The event names an unknown recipient.
    UnknownRecipient(Id),
    /// The audience is empty: nobody follows any of the event's topics.
    NoFollowers(Vec<Id>),
    /// The audience is empty: only the actor would be in it, and the type leaves the actor out.
    OnlyTheActor,
    /// The audience is empty: nobody is within any of the event's circles.
    NobodyNear(Vec<Near>),
    /// The audience is empty, for none of the other reasons.
    NobodyConcerned,
    /// The event expired at this instant, before it arrived: nothing of it is sent.
    AlreadyExpired(Instant),
    /// The event expires at this instant, before it enters any lane or as it does: nothing of it is sent.
    ExpiresBeforeDelivery(Instant),
    /// The id was used before for an event with other content, which is unchanged.
    Differs,
    /// The audience is empty: all who would be in it are in the event's `except`.
    OnlyExceptions,
}

/// The reason why a command was refused; nothing has changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum Refused {
    /// The recipient is unknown.
    #[error("unknown recipient `{0}`")]
    UnknownRecipient(Id),
    /// The type is not configured.
    #[error("unknown type `{event_type}`")]
    UnknownType {
        /// The type.
        event_type: Id,
        /// The types that are configured.
        configured: Vec<String>,
    },
    /// The channel is unknown.
    #[error("unknown channel `{0}`")]
    UnknownChannel(String),
    /// The message is unknown: its day was deleted, or there was none of this name.
    #[error("unknown message `{0}`")]
    UnknownMessage(MessageName),
    /// The message is not in a state for this.
    #[error("the message is `{}`: {}", .state.word(), why_not(*.act))]
    MessageState {
        /// Its state.
        state: MessageState,
        /// The change.
        act: MessageAct,
    },
    /// The message can't be sent again.
    #[error("the message can't be sent again: {0}")]
    MessageGone(Cow<'static, str>),
    /// The preference is not possible.
    #[error("{0}")]
    Preference(String),
    /// The command exceeds a bound of the configuration.
    #[error(transparent)]
    Exceeded(#[from] Exceeded),
    /// The command would make a value too long for the store.
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
    /// A batch key of the event is too long.
    #[error(transparent)]
    BatchKey(#[from] KeyTooLong),
    /// There is no such tenant.
    #[error("unknown tenant `{tenant}`")]
    UnknownTenant {
        /// The tenant.
        tenant: Id,
        /// Some that there are, of similar names.
        near: Vec<String>,
    },
    /// The tenant is disabled or was deleted: nothing is published for it.
    #[error("the tenant `{0}` is gone: it is disabled, or was deleted")]
    TenantGone(Id),
    /// Tenants are not configured.
    #[error("tenants are off")]
    TenantsOff,
    /// The hook is not configured.
    #[error("unknown hook `{0}`")]
    UnknownHook(String),
}

/// The states that a change of a message asks for.
fn why_not(act: MessageAct) -> &'static str {
    match act {
        MessageAct::Retry => "only one that is `failed` or `retrying` is retried",
        MessageAct::Resend => "only one that is `sent`, `unknown` or `failed` is resent",
        MessageAct::Cancel => "it can't be cancelled",
    }
}

/// The reason why a command or a question has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StepError {
    /// It is refused; the engine is as before.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// The store can't be read. An engine that was changing is poisoned then: drop it and open another.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
}

impl From<Exceeded> for StepError {
    fn from(exceeded: Exceeded) -> Self {
        Self::Refused(exceeded.into())
    }
}

impl From<TooLarge> for StepError {
    fn from(too_large: TooLarge) -> Self {
        Self::Refused(too_large.into())
    }
}

impl StepError {
    /// The refusal, which is a reply.
    ///
    /// # Errors
    /// [`Unreadable`], which ends a step.
    pub(crate) fn refusal(self) -> Result<Refused, Unreadable> {
        match self {
            Self::Refused(refused) => Ok(refused),
            Self::Unreadable(fault) => Err(fault),
        }
    }
}

/// The reason why an audience is empty.
pub(crate) fn why_nobody(
    to: &Audience,
    actor_is_left_out: bool,
    has_exceptions: bool,
) -> Vec<Warning> {
    if actor_is_left_out {
        return vec![Warning::OnlyTheActor];
    }
    if has_exceptions {
        return vec![Warning::OnlyExceptions];
    }
    let topics = (!to.topics.is_empty()).then(|| Warning::NoFollowers(to.topics.clone()));
    let near = (!to.near.is_empty()).then(|| Warning::NobodyNear(to.near.clone()));
    let causes: Vec<Warning> = topics.into_iter().chain(near).collect();
    if causes.is_empty() { vec![Warning::NobodyConcerned] } else { causes }
}

/// The reason why nothing of an event can be sent, whatever its audience.
pub(crate) fn why_never(row: &EventRow) -> Option<Warning> {
    let expires = row.event.expires_at?;
    if expires <= row.came_at() {
        return Some(Warning::AlreadyExpired(expires));
    }
    let first = row.enters().first().copied();
    let is_late = first.is_some_and(|first| expires <= first);
    is_late.then_some(Warning::ExpiresBeforeDelivery(expires))
}
