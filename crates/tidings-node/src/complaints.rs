//! What the log says of messages that don't go out: why, and not a line for each of a million.

use std::collections::BTreeMap;

use tidings_core::{Batch, Instant};

use crate::channel::Outcome as Answer;

/// What a channel answers is told once in so many milliseconds; how many answers were like it meanwhile
/// is told with the next.
const EVERY_MS: i64 = 10_000;

/// What was told of late.
#[derive(Debug, Default)]
pub(crate) struct Complaints(BTreeMap<(String, &'static str), Told>);

#[derive(Debug)]
struct Told {
    at: Instant,
    /// So many were like it since.
    alike: u64,
}

impl Complaints {
    /// Tells of an answer that is not that the message was handed over.
    pub(crate) fn hear(&mut self, batch: &Batch, attempt: u32, answer: &Answer, now: Instant) {
        let (what, why) = match answer {
            Answer::Sent(_) => return,
            Answer::Failed { why, .. } => ("a message was refused", why),
            Answer::Retry { why, .. } => ("a message was not taken", why),
            Answer::Unknown { why } => ("nobody knows whether a message was taken", why),
        };
        let (channel, id) = (&*batch.channel, &*batch.id);
        match self.is_told(channel, what, now) {
            Some(alike) => tracing::warn!(channel, batch = id, attempt, why, alike, "{what}"),
            None => tracing::debug!(channel, batch = id, attempt, why, "{what}"),
        }
    }

    /// Whether it is time to tell of this again, and how many were kept silent since the last time.
    fn is_told(&mut self, channel: &str, what: &'static str, now: Instant) -> Option<u64> {
        let new = Told { at: now, alike: 0 };
        match self.0.get_mut(&(channel.to_owned(), what)) {
            // A clock that stepped back must not keep it silent.
            Some(told) if (told.at..told.at.plus_ms(EVERY_MS)).contains(&now) => {
                told.alike += 1;
                None
            }
            Some(told) => Some(std::mem::replace(told, new).alike),
            None => {
                self.0.insert((channel.to_owned(), what), new);
                Some(0)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_alike_is_counted_and_told_with_the_next() {
        let mut complaints = Complaints::default();
        let mut told = |channel, what, ms| complaints.is_told(channel, what, Instant(ms));
        assert_eq!(told("email", "refused", 0), Some(0));
        assert_eq!(told("email", "refused", 1), None);
        assert_eq!(told("email", "refused", EVERY_MS - 1), None);
        assert_eq!(told("email", "not taken", 2), Some(0), "another answer");
        assert_eq!(told("push", "refused", 3), Some(0), "another channel");
        assert_eq!(told("email", "refused", EVERY_MS), Some(2));
        assert_eq!(told("email", "refused", EVERY_MS + 1), None);
        assert_eq!(
            told("email", "refused", 5),
            Some(1),
            "the clock stepped back"
        );
    }
}
