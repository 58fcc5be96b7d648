//! Acts: the decisions of the intake for everybody, in one order.
//!
//! The intake assigns ids, places and order; it knows no recipient. Each shard applies the acts to its buckets, in
//! order. The answers of shards add up to the answer of one engine of all buckets, so nothing needs all buckets at
//! once.
//!
//! With shards on other nodes, the acts of each step are stored under a number ([`LogEntry`]), and each shard stores
//! the number of the newest entry that it has applied: each act is applied by every shard once.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::event_row::EventRow;
use super::reply::{
    Dropped, Published, PublishedAs, Reply, TakenBack, Warning, why_never, why_nobody,
};
use super::suppression_row::SuppressionRow;
use crate::journal::record::EventAt;
use crate::journal::stored::{Unreadable, from_json, to_json};
use crate::journal::table::{Key, Owner, Table};
use crate::model::command::{Cancelled, Pausable};
use crate::model::id::Id;
use crate::model::number::EventNo;
use crate::model::recipient::RecipientChange;
use crate::model::suppression::ChannelAddress;
use crate::model::tenant::{KnownTenant, TenantNo};
use crate::model::time::{Day, Instant};
use crate::rules::Rules;

/// The number of the acts of a step: they count from 1.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct LogNo(pub u64);

impl fmt::Display for LogNo {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

/// The acts of a step, as nodes with other shards read them.
#[derive(Clone, Debug)]
pub struct LogEntry {
    pub(crate) acts: Vec<Act>,
    stored: StoredEntry,
}

/// The acts of a step as they are stored and sent.
#[derive(Clone, Debug)]
pub struct StoredEntry {
    /// Their number: the acts before are those of the number before.
    pub no: LogNo,
    bytes: Arc<Vec<u8>>,
}

/// The key of the acts with a number.
pub(crate) fn log_key(no: LogNo) -> Vec<u8> {
    Key::of(Owner::Intake, Table::Acts).u64(no.0).done()
}

impl LogEntry {
    pub(crate) fn new(no: LogNo, acts: Vec<Act>) -> Self {
        let stored = StoredEntry::new(no, to_json(&acts));
        Self { acts, stored }
    }

    /// Their number.
    #[must_use]
    pub fn no(&self) -> LogNo {
        self.stored.no
    }

    /// The acts as they are stored and sent.
    #[must_use]
    pub fn stored(&self) -> &StoredEntry {
        &self.stored
    }
}

impl StoredEntry {
    /// Stored acts of a number, not decoded yet.
    #[must_use]
    pub fn new(no: LogNo, bytes: Vec<u8>) -> Self {
        let bytes = Arc::new(bytes);
        Self { no, bytes }
    }

    /// Their bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Reads them.
    ///
    /// # Errors
    /// [`Unreadable`] where the bytes are no acts.
    pub fn read(self) -> Result<LogEntry, Unreadable> {
        let acts = from_json("acts", &self.bytes)?;
        Ok(LogEntry { acts, stored: self })
    }
}

/// A change that concerns everybody.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Act {
    /// An event was accepted. `at` = the address of its row, if it enters lanes now. `profiles` are changed before.
    Publish {
        row: Box<EventRow>,
        at: Option<EventAt>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        profiles: Vec<RecipientChange>,
    },
    /// A scheduled event enters its lanes.
    Enter { row: Box<EventRow>, at: EventAt, t: Instant },
    /// Events were cancelled.
    Cancel(Cancel),
    /// A type or a channel was paused, and was not before.
    Pause(Pausable),
    /// A type or a channel was resumed that was paused.
    Resume(Pausable),
    /// A version of the rules came into force.
    Rules { version: u32, rules: Box<Rules> },
    /// Every day before this one is deleted.
    Forget { before: Day },
    /// Entries of the days before this one that are not due end, while the deletion has to wait for the others.
    Expire { before: Day },
    /// An event has a row and enters no lane: it was cancelled before it came, or before it was due.
    Keep { row: Box<EventRow>, at: EventAt },
    /// An event without entries released its id: it enters no lanes at these instants.
    Unschedule { place: EventNo, waits_for: BTreeSet<Instant> },
    /// An object was changed. `withdrawals` = the number of withdrawals and restorations of all objects so far.
    Object { id: Id, withdrawn: bool, withdrawals: u64 },
    /// A tenant was created, changed or deleted. `void` = its scheduled events, which no longer enter.
    Tenant { number: TenantNo, known: Box<KnownTenant>, void: CancelledEvents },
    /// An address was suppressed, or, without a suppression, is not any more.
    Suppression { address: ChannelAddress, listed: SuppressionRow, at: Instant },
}

/// A cancel of events.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Cancel {
    pub(crate) what: Cancelled,
    /// The tenant whose events alone are meant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tenant: Option<TenantNo>,
    pub(crate) events: CancelledEvents,
    /// True if entries are removed from inboxes too.
    pub(crate) withdraws: bool,
}

/// Cancelled events by place.
pub(crate) type CancelledEvents = BTreeMap<EventNo, CancelledEvent>;

/// A cancelled event.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct CancelledEvent {
    /// The instants at which it was still to enter lanes.
    pub(crate) waits_for: BTreeSet<Instant>,
    /// The days on which it entered.
    pub(crate) days: BTreeSet<Day>,
}

/// The share of one shard in the answer to an act.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Applied {
    Done,
    Published(PublishCounts),
    Cancelled(CancelCount),
    Dropped { days: BTreeSet<Day>, expired: u64 },
}

/// The answer of the shards here to the act of a command, before the acts of the step have a number.
#[derive(Debug)]
pub(crate) struct LocalResult {
    pub(crate) command: usize,
    pub(crate) act: usize,
    pub(crate) applied: Applied,
}

/// The spread of an event among the recipients of a shard.
///
/// Its JSON omits zero fields: it is sent once per event and shard, and is mostly empty.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct PublishCounts {
    /// Number of recipients in its audience, whatever their preferences.
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) concerned: u64,
    /// True if the actor would have been in the audience.
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) actor_is_left_out: bool,
    /// Number of recipients with an entry.
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) notifications: u64,
    /// Number of entries.
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) entries: u64,
    /// Number of recipients left out by the admission.
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) suppressed: u64,
    /// Recipients that the event names and that do not exist.
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) unknown: BTreeSet<Id>,
    /// True if `except` left somebody out.
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) has_exceptions: bool,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Entries of cancelled events in a shard, by result.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct CancelCount {
    /// The events found, by place.
    pub(crate) places: BTreeSet<EventNo>,
    pub(crate) entries: TakenBack,
}

impl Applied {
    /// The answers of all shards to an act, added up.
    pub(crate) fn sum(shards: impl IntoIterator<Item = Self>) -> Self {
        shards.into_iter().fold(Self::Done, |mut sum, applied| {
            sum.add(applied);
            sum
        })
    }

    /// Adds the answer of another shard to the same act.
    pub(crate) fn add(&mut self, other: Self) {
        match (self, other) {
            (Self::Published(sum), Self::Published(other)) => {
                sum.concerned += other.concerned;
                sum.actor_is_left_out |= other.actor_is_left_out;
                sum.notifications += other.notifications;
                sum.entries += other.entries;
                sum.suppressed += other.suppressed;
                sum.unknown.extend(other.unknown);
                sum.has_exceptions |= other.has_exceptions;
            }
            (Self::Cancelled(sum), Self::Cancelled(other)) => {
                sum.places.extend(other.places);
                sum.entries.cancelled += other.entries.cancelled;
                sum.entries.removed_from_batch += other.entries.removed_from_batch;
                sum.entries.too_late += other.entries.too_late;
                sum.entries.withdrawn += other.entries.withdrawn;
            }
            (Self::Dropped { days, expired }, Self::Dropped { days: more, expired: also }) => {
                days.extend(more);
                *expired += also;
            }
            (sum @ Self::Done, other) => *sum = other,
            _ => {}
        }
    }

    /// The answer to the command of an act, and its number of counted warnings: one for each unknown recipient, one for
    /// an empty audience.
    pub(crate) fn reply(self, act: &Act) -> (Reply, u64) {
        match (self, act) {
            (Self::Published(counts), Act::Publish { row, .. }) => {
                let event = &row.event;
                let empty = counts.concerned == 0;
                let counted = counts.unknown.len() as u64 + u64::from(empty);
                let mut warnings: Vec<Warning> =
                    counts.unknown.into_iter().map(Warning::UnknownRecipient).collect();
                if empty {
                    warnings.extend(why_nobody(
                        &event.to,
                        counts.actor_is_left_out,
                        counts.has_exceptions,
                    ));
                }
                warnings.extend(why_never(row));
                let published = Published {
                    id: event.id.clone(),
                    status: PublishedAs::Accepted,
                    notifications: counts.notifications,
                    entries: counts.entries,
                    suppressed: counts.suppressed,
                    applied: true,
                    warnings,
                };
                (Reply::Published(published), counted)
            }
            (Self::Cancelled(count), _) => {
                let events = count.places.len() as u64;
                let sum = TakenBack { events, ..count.entries };
                (Reply::Cancelled(sum), 0)
            }
            (Self::Dropped { days, expired }, _) => {
                let days = days.len() as u64;
                (Reply::Dropped(Dropped { days, expired }), 0)
            }
            _ => (Reply::Done, 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_about_nobody_is_short_and_one_about_somebody_is_whole() {
        let of_nobody = to_json(&Applied::Published(PublishCounts::default()));
        assert!(of_nobody.ends_with(br#"{"Published":{}}"#));
        let counts = PublishCounts {
            concerned: 3,
            actor_is_left_out: true,
            notifications: 2,
            entries: 4,
            suppressed: 1,
            unknown: [Id::new("ada").unwrap()].into(),
            has_exceptions: true,
        };
        let stored = to_json(&Applied::Published(counts));
        let read: Applied = from_json("an answer", &stored).unwrap();
        assert_eq!(to_json(&read), stored);
        assert!(matches!(read, Applied::Published(PublishCounts { concerned: 3, entries: 4, .. })));
    }
}
