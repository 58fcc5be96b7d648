//! Log lines about messages that are not sent and conditions without an answer: the reason and the consequence, and one
//! line for many that are alike.

use std::collections::{BTreeMap, BTreeSet};

use tidings_core::engine::UnansweredCondition;
use tidings_core::rules::ConsoleRules;
use tidings_core::{Id, Instant};

use crate::channel::{Outcome as Answer, ProviderReplies};
use crate::delivery::send_job::SendJob;
use crate::telemetry::logged_reply::without_addresses;

/// The interval in milliseconds of log lines with the same channel and answer. The next line has the
/// number of similar answers suppressed.
const EVERY_MS: i64 = 10_000;

/// The recent log lines about failed sends, by channel and kind of answer.
#[derive(Debug, Default)]
pub(crate) struct SendFailureLog(BTreeMap<(String, &'static str), LoggedFailure>);

#[derive(Debug)]
struct LoggedFailure {
    at: Instant,
    /// Number of similar answers since.
    similar: u64,
}

impl SendFailureLog {
    /// Logs a failed attempt; the message is retried after `wait_ms`, or never.
    pub(crate) fn record(
        &mut self,
        job: &SendJob,
        reply: &ProviderReplies,
        wait_ms: Option<i64>,
        now: Instant,
        console: Option<&ConsoleRules>,
    ) {
        let (what, why) = match &reply.outcome {
            Answer::Sent(_) | Answer::Withheld => return,
            Answer::Template { why } => ("not rendered", why),
            Answer::Failed { why, .. } if why.starts_with("render: ") => ("not rendered", why),
            Answer::Failed { why, .. } | Answer::SoftBounce { why, is_permanent: true } => {
                ("refused", why)
            }
            Answer::Retry { why, .. }
            | Answer::SoftBounce { why, .. }
            | Answer::Away { why, .. } => ("deferred", why),
            Answer::Unknown { why } => ("in doubt", why),
        };
        let (channel, batch) = (&*job.head.channel, &*job.head.id);
        let page =
            console.zip(job.name()).and_then(|(of, name)| of.page(&format!("messages/{name}")));
        let provider = &*reply.provider;
        let (stage, reply) = why.split_once(": ").unwrap_or(("", why));
        let reply = without_addresses(reply);
        let attempt = job.attempts;
        let then = match wait_ms {
            Some(ms) => format!("retry in {} s", (ms + 500) / 1_000),
            None => "given up".to_owned(),
        };
        let subject =
            tidings_core::model::channel_kind(channel).map_or("message", |kind| kind.message);
        match self.is_logged(channel, what, now) {
            Some(similar_suppressed) => tracing::warn!(
                channel,
                provider,
                batch,
                attempt,
                stage,
                reply,
                page,
                similar_suppressed,
                "{subject} {what}, {then}"
            ),
            None => {
                tracing::debug!(
                    channel,
                    provider,
                    batch,
                    attempt,
                    stage,
                    reply,
                    page,
                    "{subject} {what}, {then}"
                );
            }
        }
    }

    /// Returns true if to log this again, and the number of lines suppressed since the last time.
    fn is_logged(&mut self, channel: &str, what: &'static str, now: Instant) -> Option<u64> {
        let new = LoggedFailure { at: now, similar: 0 };
        match self.0.get_mut(&(channel.to_owned(), what)) {
            // A clock that stepped back must not keep it silent.
            Some(logged) if (logged.at..logged.at.plus_ms(EVERY_MS)).contains(&now) => {
                logged.similar += 1;
                None
            }
            Some(logged) => Some(std::mem::replace(logged, new).similar),
            None => {
                self.0.insert((channel.to_owned(), what), new);
                Some(0)
            }
        }
    }
}

/// The most events with a condition without an answer that are logged within [`EVERY_MS`].
const EVENTS_MAX: usize = 100;

/// The events that were logged of late because a condition had no answer.
#[derive(Debug, Default)]
pub(crate) struct UnansweredConditionLog {
    since: Instant,
    events: BTreeSet<Id>,
}

impl UnansweredConditionLog {
    /// Logs a condition without an answer: once for an event, however many recipients it has.
    pub(crate) fn record(&mut self, unanswered: &UnansweredCondition, now: Instant) {
        let UnansweredCondition { event, event_type, condition, why, entries } = unanswered;
        if self.is_new(event, now) {
            tracing::warn!(%event, r#type = event_type, condition, %why, entries, "condition without an answer");
        } else {
            tracing::debug!(%event, r#type = event_type, condition, %why, entries, "condition without an answer");
        }
    }

    fn is_new(&mut self, event: &Id, now: Instant) -> bool {
        if !(self.since..self.since.plus_ms(EVERY_MS)).contains(&now) {
            self.since = now;
            self.events.clear();
        }
        self.events.len() < EVENTS_MAX && self.events.insert(event.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_alike_is_counted_and_told_with_the_next() {
        let mut log = SendFailureLog::default();
        let mut told = |channel, what, ms| log.is_logged(channel, what, Instant(ms));
        assert_eq!(told("email", "refused", 0), Some(0));
        assert_eq!(told("email", "refused", 1), None);
        assert_eq!(told("email", "refused", EVERY_MS - 1), None);
        assert_eq!(told("email", "not taken", 2), Some(0), "another answer");
        assert_eq!(told("push", "refused", 3), Some(0), "another channel");
        assert_eq!(told("email", "refused", EVERY_MS), Some(2));
        assert_eq!(told("email", "refused", EVERY_MS + 1), None);
        assert_eq!(told("email", "refused", 5), Some(1), "the clock stepped back");
    }

    #[test]
    fn an_event_without_an_answer_is_told_once_in_a_while() {
        let mut unclear = UnansweredConditionLog::default();
        let mut is_new = |name: &str, ms| unclear.is_new(&Id::new(name).unwrap(), Instant(ms));
        assert!(is_new("e1", 0));
        assert!(!is_new("e1", 1));
        assert!(is_new("e2", 1));
        assert!(is_new("e1", EVERY_MS));
        let told = (0..200).filter(|n| is_new(&format!("f{n}"), EVERY_MS));
        assert_eq!(told.count(), EVENTS_MAX - 1);
    }
}
