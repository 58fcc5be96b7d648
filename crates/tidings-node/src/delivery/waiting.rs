//! Messages that wait for a retry.
//!
//! They are found by when they are to go, and by their names: a cancel that reaches a hundred thousand
//! of them, while a mail server is away, asks for each. What an operator has paused is set aside, so
//! that it costs the others nothing.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use tidings_core::Instant;
use tidings_core::engine::MessageId;

use crate::channel::Head;
use crate::delivery::priority::Priority;
use crate::delivery::send_job::SendJob;
use crate::delivery::senders::Party;

/// The messages.
#[derive(Default)]
pub(crate) struct Waiting {
    jobs: BTreeMap<MessageId, (Instant, SendJob)>,
    /// The messages by the time of their retry.
    due: BTreeSet<(Instant, MessageId)>,
    /// Number of messages by channel and priority, held or not.
    counts: BTreeMap<(String, Priority), usize>,
    /// Number of messages by channel and party.
    of_parties: BTreeMap<(String, Party), usize>,
}

fn kind_of(job: &SendJob) -> (String, Priority) {
    (job.head.channel.clone(), job.priority())
}

fn parties_of(job: &SendJob) -> impl Iterator<Item = (String, Party)> {
    let parties = Party::of(&job.head.recipient, &job.head.destinations);
    parties.map(|party| (job.head.channel.clone(), party))
}

impl Waiting {
    /// Adds a message, to be retried at an instant or, if it is held, some time after its release.
    pub(crate) fn insert(&mut self, at: Instant, job: SendJob, is_held: bool) {
        let id = job.id();
        self.take_back(&id);
        if !is_held {
            self.due.insert((at, id));
        }
        *self.counts.entry(kind_of(&job)).or_default() += 1;
        for party in parties_of(&job) {
            *self.of_parties.entry(party).or_default() += 1;
        }
        self.jobs.insert(id, (at, job));
    }

    /// Removes a message and returns it with the instant of its retry.
    pub(crate) fn take_back(&mut self, id: &MessageId) -> Option<(Instant, SendJob)> {
        let (at, job) = self.jobs.remove(id)?;
        self.due.remove(&(at, *id));
        if let Some(count) = self.counts.get_mut(&kind_of(&job)) {
            *count -= 1;
        }
        for party in parties_of(&job) {
            if let Entry::Occupied(mut count) = self.of_parties.entry(party) {
                *count.get_mut() -= 1;
                if *count.get() == 0 {
                    count.remove();
                }
            }
        }
        Some((at, job))
    }

    /// Removes and returns the messages whose retry is due, by time.
    pub(crate) fn take_due(&mut self, now: Instant) -> Vec<SendJob> {
        let mut taken = Vec::new();
        while let Some((at, id)) = self.due.first().copied()
            && at <= now
        {
            self.due.pop_first();
            taken.extend(self.take_back(&id).map(|(_, job)| job));
        }
        taken
    }

    /// The time of the next retry.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.due.first().map(|(at, _)| *at)
    }

    /// Has the wanted messages go at an instant that wait for a later one.
    pub(crate) fn hurry(&mut self, now: Instant, is_wanted: impl Fn(&Head) -> bool) {
        let Self { jobs, due, .. } = self;
        for (id, (at, job)) in jobs {
            if *at > now && is_wanted(&job.head) && due.remove(&(*at, *id)) {
                *at = now;
                due.insert((now, *id));
            }
        }
    }

    /// Has messages go earlier, by so many milliseconds, that wait for an instant after this one: the clock was put back to
    /// it.
    pub(crate) fn put_back(&mut self, to: Instant, by_ms: i64) {
        for (id, (at, _)) in self.jobs.iter_mut().filter(|(_, (at, _))| *at > to) {
            let is_free = self.due.remove(&(*at, *id));
            *at = at.plus_ms(-by_ms).max(to);
            if is_free {
                self.due.insert((*at, *id));
            }
        }
    }

    /// Number of messages of a channel and priority, held or not.
    pub(crate) fn count_of(&self, channel: &str, priority: Priority) -> usize {
        let count = self.counts.get(&(channel.to_owned(), priority));
        count.copied().unwrap_or_default()
    }

    /// Number of messages of a channel to a party, held or not.
    pub(crate) fn count_for(&self, channel: &str, party: &Party) -> usize {
        let count = self.of_parties.get(&(channel.to_owned(), party.clone()));
        count.copied().unwrap_or_default()
    }

    /// Sets what is held from now on.
    pub(crate) fn hold(&mut self, is_held: impl Fn(&SendJob) -> bool) {
        let free = self.jobs.iter().filter(|(_, (_, job))| !is_held(job));
        self.due = free.map(|(id, (at, _))| (*at, *id)).collect();
    }

    /// Number of messages, held or not.
    pub(crate) fn len(&self) -> usize {
        self.jobs.len()
    }

    /// The keys of the messages.
    pub(crate) fn ids(&self) -> Vec<MessageId> {
        self.jobs.keys().copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use tidings_core::engine::ClosingId;
    use tidings_core::number::RecipientNo;

    use super::*;
    use crate::channel::sample::batch;

    fn job(number: u32) -> SendJob {
        SendJob::sample(number, batch(&format!("b{number}"), "A title"))
    }

    fn numbers(jobs: &[SendJob]) -> Vec<u32> {
        jobs.iter().map(|job| job.number.0).collect()
    }

    #[test]
    fn what_waits_goes_by_its_time_is_found_by_its_name_and_can_be_held() {
        let mut waiting = Waiting::default();
        for (number, at) in [(1, 30), (2, 10), (3, 20), (4, 20)] {
            waiting.insert(Instant(at), job(number), number == 4);
        }
        assert_eq!((waiting.len(), waiting.next()), (4, Some(Instant(10))));
        let (at, taken) = waiting.take_back(&ClosingId::default().message(RecipientNo(2))).unwrap();
        assert_eq!((at, taken.number), (Instant(10), RecipientNo(2)));
        assert!(waiting.take_back(&ClosingId::default().message(RecipientNo(2))).is_none());
        assert!(waiting.take_due(Instant(19)).is_empty());
        assert_eq!(numbers(&waiting.take_due(Instant(20))), [3]);

        // The other way round: all but the fourth are held.
        waiting.hold(|job| job.number.0 != 4);
        assert_eq!((waiting.len(), waiting.next()), (2, Some(Instant(20))));
        assert_eq!(numbers(&waiting.take_due(Instant(90))), [4]);
        assert_eq!(waiting.next(), None);
        assert_eq!(waiting.ids(), [ClosingId::default().message(RecipientNo(1))]);
        waiting.hold(|_| false);
        assert_eq!(numbers(&waiting.take_due(Instant(30))), [1]);
        assert_eq!(waiting.len(), 0);
    }
}
