//! Replies to commands that were accepted.

use serde::{Deserialize, Serialize};

use super::erasure::Erasure;
use super::warning::Warning;
use crate::model::id::Id;
use crate::model::messages::jobs::JobNo;

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
    Cancelled(TakenBackEntries),
    /// Days were deleted.
    Dropped(Dropped),
    /// A message goes, or was cancelled.
    Operated(OperatedMessage),
    /// A job was made.
    JobMade {
        /// Its number.
        job: JobNo,
        /// Number of its messages.
        of: u64,
    },
    /// A recipient was erased.
    Erased(Box<Erasure>),
}

/// The result of a change of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum OperatedMessage {
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
pub struct TakenBackEntries {
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

impl TakenBackEntries {
    /// The result of a cancel of which nothing was found, and which is remembered.
    pub(crate) const REMEMBERED: Self = Self {
        cancelled: 0,
        removed_from_batch: 0,
        too_late: 0,
        withdrawn: 0,
        events: 0,
        remembered: true,
    };

    /// Returns true if entries were taken back: the event has had its cancel.
    pub(crate) fn took_something(&self) -> bool {
        self.cancelled + self.removed_from_batch + self.withdrawn > 0
    }

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
