//! Messages that wait to be tried again, as people look at them.

use tidings_core::{Id, Instant};

use crate::channel::Outcome as Answer;
use crate::delivery::{Delivery, Parcel};
use crate::vitals::Answered;

/// A message that waits to be tried again, or for what an operator has paused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deferred {
    /// For whom.
    pub recipient: Id,
    /// On which channel.
    pub channel: String,
    /// Of which lane.
    pub lane: String,
    /// The batch's id, which the log has too.
    pub batch: String,
    /// How many entries it tells.
    pub entries: usize,
    /// How often it was tried.
    pub attempts: u32,
    /// What was answered last; `None` before the first attempt.
    pub last: Option<Said>,
    /// When it is tried next; `None` while it is held by a pause.
    pub next: Option<Instant>,
}

/// What a channel answered, without addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// Which answer.
    pub answer: Answered,
    /// The provider's stage and code.
    pub reply: String,
}

/// Messages that wait for a retry.
#[derive(Clone, Debug, Default)]
pub struct Deferrals {
    /// How many there are.
    pub count: usize,
    /// Those that were asked for, the next first.
    pub messages: Vec<Deferred>,
}

impl Said {
    pub(crate) fn of(answer: &Answer) -> Option<Self> {
        let reply = match answer {
            Answer::Sent(_) => return None,
            Answer::Failed { why, .. } | Answer::Retry { why, .. } | Answer::Unknown { why } => why,
        };
        Some(Self {
            answer: Answered::of(answer),
            reply: reply.clone(),
        })
    }
}

impl Delivery {
    /// Messages that wait to be tried again: those of a recipient, or all; so many at most.
    pub(crate) fn deferred(&self, of: Option<&Id>, most: usize) -> Deferrals {
        let is_asked = |parcel: &Parcel| of.is_none_or(|id| parcel.batch.recipient.id == *id);
        let mut count = 0;
        let mut found: Vec<(bool, Instant, &Parcel)> = Vec::new();
        for (at, parcel) in self.waiting().filter(|(_, parcel)| is_asked(parcel)) {
            count += 1;
            found.push((self.is_held(parcel), at, parcel));
        }
        found.sort_by_key(|(is_held, at, parcel)| (*is_held, *at, parcel.closing, parcel.number));
        let shown = |(is_held, at, parcel): (bool, Instant, &Parcel)| Deferred {
            recipient: parcel.batch.recipient.id.clone(),
            channel: parcel.batch.channel.clone(),
            lane: parcel.batch.lane.clone(),
            batch: parcel.batch.id.clone(),
            entries: parcel.batch.entries,
            attempts: parcel.attempts(),
            last: parcel.last().cloned(),
            next: (!is_held).then_some(at),
        };
        Deferrals {
            count,
            messages: found.into_iter().take(most).map(shown).collect(),
        }
    }
}
