//! The feed of acts: nodes with other parts ask it whether there are acts that they have not applied.
//!
//! Acts reach those nodes by the store alone. A node asks again and again for what comes after the acts that it has
//! applied, reports what became of them ([`Report`]), and reads the store once it is told that more are there.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use tidings_core::Command;
use tidings_core::engine::{ActNo, Answers, KeptObjects, Progress};

/// A report of a node with some parts to the node with the intake.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Report {
    /// The progress of its parts, durably.
    pub progress: Progress,
    /// The answers of its parts to acts, since the last report.
    pub answers: Vec<(ActNo, Answers)>,
    /// Objects to keep, since the last report.
    pub kept_objects: Vec<KeptObjects>,
    /// News of objects and addresses, which the intake decides about.
    pub learnt: Vec<Command>,
}

impl Report {
    /// The report that follows one that was not answered, with what of that still matters. Nobody waits so long for
    /// answers.
    #[must_use]
    pub fn after(self, mut unanswered: Self) -> Self {
        unanswered.kept_objects.extend(self.kept_objects);
        unanswered.learnt.extend(self.learnt);
        Self { progress: self.progress, answers: self.answers, ..unanswered }
    }
}

/// A callback with the number of the newest durable acts; it must only pass it on.
type Taker = Box<dyn FnOnce(ActNo) + Send>;

/// The node that has reported, and waits for acts. Its callbacks must only pass on what they get.
pub(crate) struct Reporter {
    /// Called once what it has reported is durable.
    pub(crate) heard: Box<dyn FnOnce() + Send>,
    /// Called once there are acts that follow.
    pub(crate) then: Taker,
}

/// The feed.
#[derive(Default)]
pub(crate) struct Feed(Mutex<State>);

#[derive(Default)]
struct State {
    /// The newest durable acts.
    newest: ActNo,
    /// The nodes that wait for newer ones, by the first of their parts.
    waiting: BTreeMap<u16, Taker>,
}

impl fmt::Debug for Feed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Feed(…)")
    }
}

impl Feed {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins anew with the newest acts of a store.
    pub(crate) fn begin(&self, newest: ActNo) {
        let mut state = self.lock();
        *state = State { newest, ..State::default() };
    }

    /// Sets the newest durable acts, and wakes the nodes that wait for acts.
    pub(crate) fn advance(&self, newest: ActNo) {
        let mut state = self.lock();
        state.newest = newest;
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        for taker in waiting.into_values() {
            taker(newest);
        }
    }

    /// Calls back now if there are acts after a number, or as soon as there are. A new request replaces the waiting one
    /// of the same node.
    pub(crate) fn wait(&self, (first_part, after): (u16, ActNo), taker: Taker) {
        let mut state = self.lock();
        let newest = state.newest;
        if newest <= after {
            let replaced = state.waiting.insert(first_part, taker);
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

    fn ask(feed: &Feed, part: u16, after: u64) -> mpsc::Receiver<ActNo> {
        let (give, given) = mpsc::channel();
        let taker = Box::new(move |newest| give.send(newest).unwrap_or_default());
        feed.wait((part, ActNo(after)), taker);
        given
    }

    #[test]
    fn nodes_are_woken_once_there_are_acts() {
        let feed = Feed::default();
        feed.begin(ActNo(3));
        assert_eq!(ask(&feed, 1, 2).try_recv(), Ok(ActNo(3)));
        let (first, second) = (ask(&feed, 1, 3), ask(&feed, 2, 3));
        assert!(first.try_recv().is_err());
        feed.advance(ActNo(5));
        assert_eq!(first.try_recv(), Ok(ActNo(5)));
        assert_eq!(second.try_recv(), Ok(ActNo(5)));
    }

    #[test]
    fn a_request_replaces_the_one_before() {
        let feed = Feed::default();
        let (first, second) = (ask(&feed, 1, 0), ask(&feed, 1, 0));
        assert_eq!(first.try_recv().unwrap_err(), mpsc::TryRecvError::Disconnected);
        feed.advance(ActNo(1));
        assert_eq!(second.try_recv(), Ok(ActNo(1)));
    }
}
