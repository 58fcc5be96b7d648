//! The measures of the figures, and the slots in which they are counted.

use super::delays::{BUCKETS, bucket_of, percentile};
use crate::model::messages::{Answered, MessageState};
use crate::model::reason::{Outcome, Reason};

/// A number that stands for one count in rows. Numbers are stored and never given again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Slot(pub(crate) u16);

/// Number of slots.
pub(crate) const SLOTS: usize = 1024;

const ENDED: u16 = 16;
const REASONS: u16 = 32;
const MESSAGES: u16 = 128;
const REPORTED: u16 = 144;
const DELAY: u16 = 256;
const TIME_TO_SEEN: u16 = 512;

/// The final states of a message, in the order of their slots.
const FINAL_STATES: [MessageState; 5] = [
    MessageState::Sent,
    MessageState::Failed,
    MessageState::Unknown,
    MessageState::Suppressed,
    MessageState::Cancelled,
];

/// The reports that are counted, in the order of their slots.
const REPORTS: [(Answered, &str); 5] = [
    (Answered::Delivered, "delivered"),
    (Answered::Bounced, "bounced"),
    (Answered::Complained, "complained"),
    (Answered::Opened, "opened"),
    (Answered::Clicked, "clicked"),
];

impl Slot {
    pub(crate) const EVENTS: Self = Self(0);
    pub(crate) const NOTIFICATIONS: Self = Self(1);
    pub(crate) const ENTRIES: Self = Self(2);
    pub(crate) const ITEMS: Self = Self(3);
    pub(crate) const RESENT: Self = Self(4);
    pub(crate) const MUTED: Self = Self(5);
    pub(crate) const SEEN: Self = Self(6);
    pub(crate) const READ: Self = Self(7);
    /// Messages that were sent.
    pub(crate) const SENT: Self = Self(MESSAGES);

    /// Entries that ended so.
    pub(crate) fn ended(outcome: Outcome) -> Self {
        Self(ENDED + outcome as u16)
    }

    /// Entries that ended for a reason.
    pub(crate) fn reason(reason: Reason) -> Self {
        Self(REASONS + reason as u16)
    }

    /// Messages in a final state; `None` = it is not one.
    pub(crate) fn message(state: MessageState) -> Option<Self> {
        (MESSAGES..).zip(FINAL_STATES).find(|(_, of)| *of == state).map(|(slot, _)| Self(slot))
    }

    /// Messages of which a provider reported something; `None` = it is not counted.
    pub(crate) fn reported(answer: Answered) -> Option<Self> {
        let mut reports = (REPORTED..).zip(REPORTS);
        reports.find(|(_, (of, _))| *of == answer).map(|(slot, _)| Self(slot))
    }

    /// Told items with a time from `t` to being sent.
    pub(crate) fn delay(ms: i64) -> Self {
        Self(DELAY + index(bucket_of(ms)))
    }

    /// Inbox items with a time from their delivery to being seen first.
    pub(crate) fn time_to_seen(ms: i64) -> Self {
        Self(TIME_TO_SEEN + index(bucket_of(ms)))
    }

    /// Returns true if it counts ended entries.
    pub(crate) fn is_ended(self) -> bool {
        (ENDED..ENDED + index(Outcome::ALL.len())).contains(&self.0)
    }
}

/// A number below the number of slots.
fn index(number: usize) -> u16 {
    u16::try_from(number).unwrap_or(u16::MAX)
}

/// A measure of the figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Measure {
    /// Accepted events.
    Events,
    /// Pairs of an event and a recipient with an entry.
    Notifications,
    /// Entries.
    Entries,
    /// Ended entries by outcome.
    Ended,
    /// Entries that were not delivered, by reason.
    Reasons,
    /// Messages by final state.
    Messages,
    /// Told items.
    Items,
    /// Messages sent again after an unknown outcome.
    Resent,
    /// Messages by what providers reported of them.
    Reported,
    /// `never`s that users set, themselves or by a link.
    Muted,
    /// Inbox items that were seen.
    Seen,
    /// Inbox items that were read.
    Read,
    /// The time from `t` to being sent, of told items.
    Delay,
    /// The time from the delivery to being seen, of inbox items.
    TimeToSeen,
}

/// The value of a measure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FigureValues {
    /// One number.
    Count(u64),
    /// A number for each word, in the order of the words.
    Counts(Vec<(&'static str, u64)>),
    /// Durations.
    Delays(Delays),
}

/// Durations: their number, the median and the 95th percentile, each within 5 %.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delays {
    /// Number of them.
    pub n: u64,
    /// The median, in milliseconds; `None` = there are none.
    pub p50_ms: Option<i64>,
    /// The 95th percentile, in milliseconds; `None` = there are none.
    pub p95_ms: Option<i64>,
}

impl FigureValues {
    /// Returns true if nothing was counted.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        match self {
            Self::Count(count) => *count == 0,
            Self::Counts(counts) => counts.iter().all(|(_, count)| *count == 0),
            Self::Delays(delays) => delays.n == 0,
        }
    }
}

impl Measure {
    /// All measures, in the order in which they are listed.
    pub const ALL: [Self; 14] = [
        Self::Events,
        Self::Notifications,
        Self::Entries,
        Self::Ended,
        Self::Reasons,
        Self::Messages,
        Self::Items,
        Self::Resent,
        Self::Reported,
        Self::Muted,
        Self::Seen,
        Self::Read,
        Self::Delay,
        Self::TimeToSeen,
    ];

    /// Its word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Events => "events",
            Self::Notifications => "notifications",
            Self::Entries => "entries",
            Self::Ended => "ended",
            Self::Reasons => "reasons",
            Self::Messages => "messages",
            Self::Items => "items",
            Self::Resent => "resent",
            Self::Reported => "reported",
            Self::Muted => "muted",
            Self::Seen => "seen",
            Self::Read => "read",
            Self::Delay => "delay",
            Self::TimeToSeen => "told_to_seen",
        }
    }

    /// Returns true if it is counted once an event, and not for each channel.
    #[must_use]
    pub fn is_of_no_channel(self) -> bool {
        matches!(self, Self::Events | Self::Notifications)
    }

    /// Its value where nothing was counted.
    #[must_use]
    pub fn of_nothing(self) -> FigureValues {
        self.of(&[0; SLOTS])
    }

    /// Its value among the counts of all slots.
    pub(crate) fn of(self, counts: &[i64]) -> FigureValues {
        let at = |slot: Slot| counts[usize::from(slot.0)];
        let count = |slot: Slot| FigureValues::Count(at(slot).max(0).cast_unsigned());
        match self {
            Self::Events => count(Slot::EVENTS),
            Self::Notifications => count(Slot::NOTIFICATIONS),
            Self::Entries => count(Slot::ENTRIES),
            Self::Items => count(Slot::ITEMS),
            Self::Resent => count(Slot::RESENT),
            Self::Muted => count(Slot::MUTED),
            Self::Seen => count(Slot::SEEN),
            Self::Read => count(Slot::READ),
            Self::Ended | Self::Reasons | Self::Messages | Self::Reported => {
                let of_word = |(word, slot)| (word, at(slot).max(0).cast_unsigned());
                FigureValues::Counts(self.words().into_iter().map(of_word).collect())
            }
            Self::Delay => FigureValues::Delays(delays(counts, DELAY)),
            Self::TimeToSeen => FigureValues::Delays(delays(counts, TIME_TO_SEEN)),
        }
    }

    /// The words of a measure that is counted by word, each with its slot.
    fn words(self) -> Vec<(&'static str, Slot)> {
        match self {
            Self::Ended => Outcome::ALL.iter().map(|of| (of.word(), Slot::ended(*of))).collect(),
            Self::Reasons => Reason::ALL.iter().map(|of| (of.word(), Slot::reason(*of))).collect(),
            Self::Messages => FINAL_STATES
                .iter()
                .filter_map(|of| Some((of.word(), Slot::message(*of)?)))
                .collect(),
            Self::Reported => REPORTS
                .iter()
                .filter_map(|(of, word)| Some((*word, Slot::reported(*of)?)))
                .collect(),
            _ => Vec::new(),
        }
    }
}

fn delays(counts: &[i64], first: u16) -> Delays {
    let first = usize::from(first);
    let counts = &counts[first..first + BUCKETS];
    Delays {
        n: counts.iter().sum::<i64>().max(0).cast_unsigned(),
        p50_ms: percentile(counts, 50),
        p95_ms: percentile(counts, 95),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_count_has_a_slot_of_its_own() {
        let mut slots: Vec<Slot> = vec![
            Slot::EVENTS,
            Slot::NOTIFICATIONS,
            Slot::ENTRIES,
            Slot::ITEMS,
            Slot::RESENT,
            Slot::MUTED,
            Slot::SEEN,
            Slot::READ,
        ];
        for measure in Measure::ALL {
            slots.extend(measure.words().into_iter().map(|(_, slot)| slot));
        }
        for bucket in 0..BUCKETS {
            slots.extend([Slot(DELAY + index(bucket)), Slot(TIME_TO_SEEN + index(bucket))]);
        }
        let apart: BTreeSet<Slot> = slots.iter().copied().collect();
        assert_eq!(apart.len(), slots.len());
        assert!(slots.iter().all(|slot| usize::from(slot.0) < SLOTS));
    }

    #[test]
    fn a_measure_is_read_where_it_was_counted() {
        let mut counts = vec![0; SLOTS];
        counts[usize::from(Slot::reason(Reason::Stale).0)] = 3;
        counts[usize::from(Slot::delay(1_000).0)] = 2;
        let FigureValues::Counts(reasons) = Measure::Reasons.of(&counts) else {
            panic!("by word");
        };
        assert_eq!(reasons.iter().filter(|(_, n)| *n > 0).collect::<Vec<_>>(), [&("stale", 3)]);
        let FigureValues::Delays(delay) = Measure::Delay.of(&counts) else {
            panic!("durations");
        };
        assert_eq!(delay.n, 2);
        assert!(delay.p50_ms.is_some_and(|ms| (950..=1050).contains(&ms)), "{delay:?}");
        assert_eq!(Measure::TimeToSeen.of(&counts), FigureValues::Delays(Delays::default()));
    }
}
