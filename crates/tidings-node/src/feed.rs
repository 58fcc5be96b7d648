//! The feed of acts: what the node with the intake has told, for nodes with other parts to take.
//!
//! A node with other parts asks again and again for what comes after the acts that it has applied, and says with it
//! what became of those before ([`Report`]). What it asks for may be older than what is in memory; then it reads the
//! store.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use tidings_core::Command;
use tidings_core::engine::{ActNo, Answers, KeptObjects, Progress, StoredActs, Told};
use tidings_core::journal::stored::Unreadable;

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
        Self {
            progress: self.progress,
            answers: self.answers,
            ..unanswered
        }
    }
}

/// The answer to a report: the acts that follow.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// The acts, in order; none if there are none yet.
    pub told: Vec<StoredActs>,
    /// True if the acts that come next are in the store alone.
    pub is_behind: bool,
}

impl Batch {
    /// Reads the acts to apply; `None` = those that are in the store.
    ///
    /// # Errors
    /// [`Unreadable`] where they are no acts.
    pub fn to_apply(self) -> Result<Option<Vec<Arc<Told>>>, Unreadable> {
        if self.is_behind {
            return Ok(None);
        }
        let told = self.told.into_iter();
        let read = told.map(|stored| stored.read().map(Arc::new));
        read.collect::<Result<_, _>>().map(Some)
    }
}

/// A callback with the acts that follow; it must only pass them on.
type Taker = Box<dyn FnOnce(Batch) + Send>;

/// The node that has reported, and waits for acts. Its callbacks must only pass on what they get.
pub(crate) struct Reporter {
    /// Called once what it has reported is durable.
    pub(crate) heard: Box<dyn FnOnce() + Send>,
    /// Called with the acts that follow.
    pub(crate) then: Taker,
}

/// The most acts that are kept in memory, in numbers and in bytes.
const KEPT_MAX: usize = 4096;
const KEPT_BYTES_MAX: usize = 64 << 20;

/// The most acts that are given at once, in numbers and in bytes.
const GIVEN_MAX: usize = 512;
const GIVEN_BYTES_MAX: usize = 8 << 20;

/// The feed.
#[derive(Default)]
pub(crate) struct Feed(Mutex<State>);

#[derive(Default)]
struct State {
    /// The newest acts that were told before those in memory.
    before: ActNo,
    told: VecDeque<StoredActs>,
    bytes: usize,
    /// Those who wait for acts after a number, by the first of their parts.
    waiting: BTreeMap<u16, (ActNo, Taker)>,
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

    /// Begins anew after the acts of a number, which the store has.
    pub(crate) fn begin(&self, before: ActNo) {
        let mut state = self.lock();
        *state = State {
            before,
            ..State::default()
        };
    }

    /// Adds acts that are durable, and gives them to those who wait.
    pub(crate) fn add(&self, told: Vec<StoredActs>) {
        let mut state = self.lock();
        for told in told {
            state.bytes += told.bytes().len();
            state.told.push_back(told);
        }
        while state.told.len() > KEPT_MAX || state.bytes > KEPT_BYTES_MAX {
            let Some(oldest) = state.told.pop_front() else {
                break;
            };
            state.bytes -= oldest.bytes().len();
            state.before = oldest.no;
        }
        let waiting = std::mem::take(&mut state.waiting);
        let given: Vec<(Taker, Batch)> = waiting
            .into_values()
            .map(|(after, taker)| (taker, state.after(after)))
            .collect();
        drop(state);
        given.into_iter().for_each(|(taker, batch)| taker(batch));
    }

    /// Gives the acts after a number, now or as soon as there are some. Of a node that asks again the last question
    /// counts.
    pub(crate) fn take(&self, (first_part, after): (u16, ActNo), taker: Taker) {
        let mut state = self.lock();
        let batch = state.after(after);
        if batch.told.is_empty() && !batch.is_behind {
            let replaced = state.waiting.insert(first_part, (after, taker));
            drop(state);
            drop(replaced);
            return;
        }
        drop(state);
        taker(batch);
    }
}

impl State {
    fn after(&self, after: ActNo) -> Batch {
        if after < self.before {
            return Batch {
                told: Vec::new(),
                is_behind: true,
            };
        }
        let first = self.told.partition_point(|told| told.no <= after);
        let mut told = Vec::new();
        let mut bytes = 0;
        for next in self.told.iter().skip(first).take(GIVEN_MAX) {
            bytes += next.bytes().len();
            if bytes > GIVEN_BYTES_MAX && !told.is_empty() {
                break;
            }
            told.push(next.clone());
        }
        Batch {
            told,
            is_behind: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;
    use tidings_core::codec::FORM;

    fn told(no: u64) -> StoredActs {
        StoredActs::new(ActNo(no), Vec::new())
    }

    fn numbers(batch: &Batch) -> Vec<u64> {
        batch.told.iter().map(|told| told.no.0).collect()
    }

    fn ask(feed: &Feed, part: u16, after: u64) -> mpsc::Receiver<Batch> {
        let (give, given) = mpsc::channel();
        let taker = Box::new(move |batch| drop(give.send(batch)));
        feed.take((part, ActNo(after)), taker);
        given
    }

    #[test]
    fn acts_are_given_once_they_are_there() {
        let feed = Feed::default();
        feed.begin(ActNo(3));
        let (first, second) = (ask(&feed, 1, 3), ask(&feed, 2, 4));
        assert!(first.try_recv().is_err());
        feed.add(vec![told(4), told(5)]);
        assert_eq!(numbers(&first.try_recv().unwrap()), [4, 5]);
        assert_eq!(numbers(&second.try_recv().unwrap()), [5]);
        assert_eq!(numbers(&ask(&feed, 1, 4).try_recv().unwrap()), [5]);
    }

    #[test]
    fn a_batch_is_read_to_be_applied_and_refused_where_it_has_no_acts() {
        let read = |bytes: &[u8]| {
            let batch = Batch {
                told: vec![StoredActs::new(ActNo(4), [&[FORM], bytes].concat())],
                is_behind: false,
            };
            batch.to_apply()
        };
        let told = read(b"[]").unwrap().unwrap();
        assert_eq!(
            told.iter().map(|told| told.no()).collect::<Vec<_>>(),
            [ActNo(4)]
        );
        assert!(read(b"[").is_err());
    }

    #[test]
    fn who_is_behind_is_sent_to_the_store() {
        let feed = Feed::default();
        feed.begin(ActNo(3));
        assert!(ask(&feed, 1, 2).try_recv().unwrap().is_behind);
        feed.add((4..=5000).map(told).collect());
        assert!(ask(&feed, 1, 100).try_recv().unwrap().is_behind);
        assert_eq!(numbers(&ask(&feed, 1, 4999).try_recv().unwrap()), [5000]);
    }

    #[test]
    fn a_question_replaces_the_one_before() {
        let feed = Feed::default();
        let (first, second) = (ask(&feed, 1, 0), ask(&feed, 1, 0));
        assert_eq!(
            first.try_recv().unwrap_err(),
            mpsc::TryRecvError::Disconnected
        );
        feed.add(vec![told(1)]);
        assert_eq!(numbers(&second.try_recv().unwrap()), [1]);
    }
}
