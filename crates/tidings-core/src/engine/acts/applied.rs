//! The answers of shards to acts.
//!
//! The answers of shards add up to the answer of one engine of all buckets, so nothing needs all buckets at once.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::act::Act;
use crate::engine::replies::reply::{Dropped, Published, PublishedAs, Reply, TakenBackEntries};
use crate::engine::replies::warning::{Warning, why_never, why_nobody};
use crate::model::id::Id;
use crate::model::number::EventNo;
use crate::model::time::Day;

/// The share of one shard in the answer to an act.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum AppliedAct {
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
    pub(crate) applied: AppliedAct,
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
    pub(crate) entries: TakenBackEntries,
}

impl AppliedAct {
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
                let sum = TakenBackEntries { events, ..count.entries };
                (Reply::Cancelled(sum), 0)
            }
            (Self::Dropped { days, expired }, _) => {
                let days = days.len() as u64;
                (Reply::Dropped(Dropped { days, expired }), 0)
            }
            (_, Act::Job { no, job }) => (Reply::JobMade { job: *no, of: job.job.of }, 0),
            _ => (Reply::Done, 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::stored::{from_json, to_json};

    #[test]
    fn an_answer_about_nobody_is_short_and_one_about_somebody_is_whole() {
        let of_nobody = to_json(&AppliedAct::Published(PublishCounts::default()));
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
        let stored = to_json(&AppliedAct::Published(counts));
        let read: AppliedAct = from_json("an answer", &stored).unwrap();
        assert_eq!(to_json(&read), stored);
        assert!(matches!(
            read,
            AppliedAct::Published(PublishCounts { concerned: 3, entries: 4, .. })
        ));
    }
}
