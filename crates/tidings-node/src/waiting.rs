//! Messages that wait for a retry.
//!
//! They are found by when they are to go, and by their names: a cancel that reaches a hundred thousand
//! of them, while a mail server is away, asks for each. What an operator has paused is set aside, so
//! that it costs the others nothing.

use std::collections::{BTreeMap, BTreeSet};

use tidings_core::Instant;
use tidings_core::engine::MessageId;

use crate::send_job::SendJob;

/// The messages.
#[derive(Default)]
pub(crate) struct Waiting {
    jobs: BTreeMap<MessageId, (Instant, SendJob)>,
    /// The messages by the time of their retry.
    due: BTreeSet<(Instant, MessageId)>,
}

impl Waiting {
    /// Adds a message, to be retried at an instant or, if it is held, some time after its release.
    pub(crate) fn insert(&mut self, at: Instant, job: SendJob, is_held: bool) {
        let letter = job.letter();
        self.take_back(&letter);
        if !is_held {
            self.due.insert((at, letter));
        }
        self.jobs.insert(letter, (at, job));
    }

    /// Removes a message and returns it with the instant of its retry.
    pub(crate) fn take_back(&mut self, letter: &MessageId) -> Option<(Instant, SendJob)> {
        let (at, job) = self.jobs.remove(letter)?;
        self.due.remove(&(at, *letter));
        Some((at, job))
    }

    /// Removes and returns the messages whose retry is due, by time.
    pub(crate) fn take_due(&mut self, now: Instant) -> Vec<SendJob> {
        let mut taken = Vec::new();
        while let Some((at, letter)) = self.due.first().copied()
            && at <= now
        {
            self.due.pop_first();
            taken.extend(self.jobs.remove(&letter).map(|(_, job)| job));
        }
        taken
    }

    /// The time of the next retry.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.due.first().map(|(at, _)| *at)
    }

    /// Sets what is held from now on.
    pub(crate) fn hold(&mut self, is_held: impl Fn(&SendJob) -> bool) {
        let free = self.jobs.iter().filter(|(_, (_, job))| !is_held(job));
        self.due = free.map(|(letter, (at, _))| (*at, *letter)).collect();
    }

    /// Number of messages, held or not.
    pub(crate) fn len(&self) -> usize {
        self.jobs.len()
    }

    /// All messages, each with the instant of its retry.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Instant, &SendJob)> {
        self.jobs.values().map(|(at, job)| (*at, job))
    }

    /// The keys of the messages.
    pub(crate) fn letters(&self) -> impl Iterator<Item = MessageId> {
        self.jobs.keys().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channel::sample::batch;

    fn job(number: u32) -> SendJob {
        SendJob::sample(number, batch(&format!("b{number}"), "A title"))
    }

    fn numbers(jobs: &[SendJob]) -> Vec<u32> {
        jobs.iter().map(|job| job.number).collect()
    }

    #[test]
    fn what_waits_goes_by_its_time_is_found_by_its_name_and_can_be_held() {
        let mut waiting = Waiting::default();
        for (number, at) in [(1, 30), (2, 10), (3, 20), (4, 20)] {
            waiting.insert(Instant(at), job(number), number == 4);
        }
        assert_eq!((waiting.len(), waiting.next()), (4, Some(Instant(10))));
        let (at, taken) = waiting
            .take_back(&((tidings_core::BucketNo(0), 1), 2))
            .unwrap();
        assert_eq!((at, taken.number), (Instant(10), 2));
        assert!(
            waiting
                .take_back(&((tidings_core::BucketNo(0), 1), 2))
                .is_none()
        );
        assert!(waiting.take_due(Instant(19)).is_empty());
        assert_eq!(numbers(&waiting.take_due(Instant(20))), [3]);

        // The other way round: all but the fourth are held.
        waiting.hold(|job| job.number != 4);
        assert_eq!((waiting.len(), waiting.next()), (2, Some(Instant(20))));
        assert_eq!(numbers(&waiting.take_due(Instant(90))), [4]);
        assert_eq!(waiting.next(), None);
        assert_eq!(
            waiting.letters().collect::<Vec<_>>(),
            [((tidings_core::BucketNo(0), 1), 1)]
        );
        waiting.hold(|_| false);
        assert_eq!(numbers(&waiting.take_due(Instant(30))), [1]);
        assert_eq!(waiting.len(), 0);
    }
}
