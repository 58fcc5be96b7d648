//! The feed of the log: wakes followers once there are entries that they have not applied.
//!
//! Entries reach followers by the store alone. A follower reports the results of the entries that it has applied
//! ([`FollowerReport`]), waits for newer ones, and then reads the store.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use tidings_core::Command;
use tidings_core::engine::{Answers, KeptObjects, LogNo, Progress};
use tidings_core::model::Origin;

use crate::error::RuntimeError;

/// A report of a follower to the node with the intake.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct FollowerReport {
    /// The durable progress of its shards.
    pub progress: Progress,
    /// The answers of its shards to entries, since the last report.
    pub answers: Vec<(LogNo, Answers)>,
    /// Objects to keep, since the last report.
    pub kept_objects: Vec<KeptObjects>,
    /// News of objects and addresses, which the intake decides about.
    pub learnt: Vec<Learnt>,
}

/// News of an object or an address.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Learnt {
    /// The command that takes it in.
    pub command: Command,
    /// The origin of what it changes; `None` = that is not logged.
    #[serde(default)]
    pub origin: Option<Arc<Origin>>,
}

impl From<Command> for Learnt {
    fn from(command: Command) -> Self {
        Self { command, origin: None }
    }
}

impl FollowerReport {
    /// The report that replaces one without an answer. It keeps objects and news; no request waits that long for answers.
    #[must_use]
    pub fn after(self, mut unanswered: Self) -> Self {
        unanswered.kept_objects.extend(self.kept_objects);
        unanswered.learnt.extend(self.learnt);
        Self { progress: self.progress, answers: self.answers, ..unanswered }
    }
}

/// A callback with the number of the newest durable entry; it must only pass it on.
type LogNoCallback = Box<dyn FnOnce(LogNo) + Send>;

/// A follower that has reported, and waits for entries. Its callbacks must only pass on what they get.
pub(crate) struct WaitingFollower {
    /// Called once its report is durable.
    pub(crate) acknowledged: Box<dyn FnOnce() + Send>,
    /// Called once there are newer entries.
    pub(crate) then: LogNoCallback,
}

/// A callback with the report of a follower, once it is durable.
pub(crate) type AppliedCallback = Box<dyn FnOnce(Result<FollowerReport, RuntimeError>) + Send>;

/// A request to apply the log.
pub(crate) struct ApplyRequest {
    /// True if the entries have what the follower reported as learnt.
    pub(crate) confirms: bool,
    pub(crate) then: AppliedCallback,
}

/// The feed.
#[derive(Default)]
pub(crate) struct LogFeed(Mutex<LogFeedState>);

#[derive(Default)]
struct LogFeedState {
    /// The newest durable entry.
    newest: LogNo,
    /// The followers that wait for newer entries, by the first of their shards.
    waiting: BTreeMap<u16, LogNoCallback>,
}

impl fmt::Debug for LogFeed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Feed(…)")
    }
}

impl LogFeed {
    fn lock(&self) -> MutexGuard<'_, LogFeedState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts again with the newest entry of a store.
    pub(crate) fn begin(&self, newest: LogNo) {
        let mut state = self.lock();
        *state = LogFeedState { newest, ..LogFeedState::default() };
    }

    /// Sets the newest durable entry, and wakes the followers.
    pub(crate) fn advance(&self, newest: LogNo) {
        let mut state = self.lock();
        state.newest = newest;
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        for taker in waiting.into_values() {
            taker(newest);
        }
    }

    /// Calls back as soon as there are entries after a number. A new request replaces the waiting one of the same node.
    pub(crate) fn wait(&self, first_shard: u16, after: LogNo, taker: LogNoCallback) {
        let mut state = self.lock();
        let newest = state.newest;
        if newest <= after {
            let replaced = state.waiting.insert(first_shard, taker);
            drop(state);
            drop(replaced);
            return;
        }
        drop(state);
        taker(newest);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    fn ask(log_feed: &LogFeed, shard: u16, after: u64) -> mpsc::Receiver<LogNo> {
        let (give, given) = mpsc::channel();
        let taker = Box::new(move |newest| give.send(newest).unwrap_or_default());
        log_feed.wait(shard, LogNo(after), taker);
        given
    }

    #[test]
    fn nodes_are_woken_once_there_are_acts() {
        let log_feed = LogFeed::default();
        log_feed.begin(LogNo(3));
        assert_eq!(ask(&log_feed, 1, 2).try_recv(), Ok(LogNo(3)));
        let (first, second) = (ask(&log_feed, 1, 3), ask(&log_feed, 2, 3));
        assert!(first.try_recv().is_err());
        log_feed.advance(LogNo(5));
        assert_eq!(first.try_recv(), Ok(LogNo(5)));
        assert_eq!(second.try_recv(), Ok(LogNo(5)));
    }

    #[test]
    fn a_request_replaces_the_one_before() {
        let log_feed = LogFeed::default();
        let (first, second) = (ask(&log_feed, 1, 0), ask(&log_feed, 1, 0));
        assert_eq!(first.try_recv().unwrap_err(), mpsc::TryRecvError::Disconnected);
        log_feed.advance(LogNo(1));
        assert_eq!(second.try_recv(), Ok(LogNo(1)));
    }
}
