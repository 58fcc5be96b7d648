//! Messages that wait for a retry.
//!
//! They are found by when they are to go, and by their names: a cancel that reaches a hundred thousand
//! of them, while a mail server is away, asks for each. What an operator has paused is set aside, so
//! that it costs the others nothing. Readers look at them beside the loop: what they hold it up for is bounded by what
//! they are shown.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tidings_core::engine::{ClosingId, MessageId};
use tidings_core::number::RecipientNo;
use tidings_core::{Id, Instant};

use crate::channel::Head;
use crate::priority::Priority;
use crate::send_job::SendJob;

/// The most messages of a channel and priority that wait before no more are built.
const WAITING_MAX: usize = 8_192;

/// The messages. Clones are the same ones.
#[derive(Clone, Default)]
pub(crate) struct Waiting(Arc<Mutex<Jobs>>);

#[derive(Default)]
struct Jobs {
    jobs: BTreeMap<MessageId, (Instant, SendJob)>,
    /// The messages by the time of their retry.
    due: BTreeSet<(Instant, MessageId)>,
    /// The messages by their recipient.
    of: BTreeSet<(Id, MessageId)>,
    /// Number of messages by channel and priority, held or not.
    counts: BTreeMap<(String, Priority), usize>,
}

fn kind_of(job: &SendJob) -> (String, Priority) {
    (job.head.channel.clone(), job.priority())
}

impl Jobs {
    fn take_back(&mut self, id: &MessageId) -> Option<(Instant, SendJob)> {
        let (at, job) = self.jobs.remove(id)?;
        self.due.remove(&(at, *id));
        self.of.remove(&(job.head.recipient.clone(), *id));
        if let Some(count) = self.counts.get_mut(&kind_of(&job)) {
            *count -= 1;
        }
        Some((at, job))
    }
}

impl Waiting {
    /// Adds a message, to be retried at an instant or, if it is held, some time after its release.
    pub(crate) fn insert(&mut self, at: Instant, job: SendJob, is_held: bool) {
        let id = job.id();
        let mut all = self.all();
        all.take_back(&id);
        if !is_held {
            all.due.insert((at, id));
        }
        all.of.insert((job.head.recipient.clone(), id));
        *all.counts.entry(kind_of(&job)).or_default() += 1;
        all.jobs.insert(id, (at, job));
    }

    /// Removes a message and returns it with the instant of its retry.
    pub(crate) fn take_back(&mut self, id: &MessageId) -> Option<(Instant, SendJob)> {
        self.all().take_back(id)
    }

    /// Removes and returns the messages whose retry is due, by time.
    pub(crate) fn take_due(&mut self, now: Instant) -> Vec<SendJob> {
        let (mut all, mut taken) = (self.all(), Vec::new());
        while let Some((at, id)) = all.due.first().copied()
            && at <= now
        {
            all.due.pop_first();
            taken.extend(all.take_back(&id).map(|(_, job)| job));
        }
        taken
    }

    /// The time of the next retry.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.all().due.first().map(|(at, _)| *at)
    }

    /// Has the wanted messages go at an instant that wait for a later one.
    pub(crate) fn hurry(&mut self, now: Instant, is_wanted: impl Fn(&Head) -> bool) {
        let mut all = self.all();
        let Jobs { jobs, due, .. } = &mut *all;
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
        let mut all = self.all();
        let Jobs { jobs, due, .. } = &mut *all;
        for (id, (at, _)) in jobs.iter_mut().filter(|(_, (at, _))| *at > to) {
            let is_free = due.remove(&(*at, *id));
            *at = at.plus_ms(-by_ms).max(to);
            if is_free {
                due.insert((*at, *id));
            }
        }
    }

    /// Tells whether more messages of a channel and priority may wait: what does is in memory.
    pub(crate) fn has_room(&self, channel: &str, priority: Priority) -> bool {
        let all = self.all();
        let count = all.counts.get(&(channel.to_owned(), priority));
        count.is_none_or(|count| *count < WAITING_MAX)
    }

    /// Sets what is held from now on.
    pub(crate) fn hold(&mut self, is_held: impl Fn(&SendJob) -> bool) {
        let mut all = self.all();
        let free = all.jobs.iter().filter(|(_, (_, job))| !is_held(job));
        all.due = free.map(|(id, (at, _))| (*at, *id)).collect();
    }

    /// Number of messages, held or not.
    pub(crate) fn len(&self) -> usize {
        self.all().jobs.len()
    }

    /// Visits messages, each with the instant of its retry: those of a recipient, or the next ones of all and then
    /// held ones; at most so many. Returns how many there are.
    pub(crate) fn visit(
        &self,
        of: Option<&Id>,
        most: usize,
        mut visit: impl FnMut(Instant, &SendJob),
    ) -> usize {
        let all = self.all();
        let mut visit = |id: &MessageId| {
            if let Some((at, job)) = all.jobs.get(id) {
                visit(*at, job);
            }
        };
        let Some(recipient) = of else {
            let due = all.due.iter().map(|(_, id)| id);
            due.take(most).for_each(&mut visit);
            let held = all.jobs.iter();
            let held = held.filter(|(id, (at, _))| !all.due.contains(&(*at, **id)));
            let room = most.saturating_sub(all.due.len());
            held.take(room).for_each(|(id, _)| visit(id));
            return all.jobs.len();
        };
        let first = (
            recipient.clone(),
            ClosingId::default().message(RecipientNo(0)),
        );
        let theirs = all.of.range(first..);
        let theirs = theirs.take_while(|(of, _)| of == recipient);
        theirs.map(|(_, id)| visit(id)).count()
    }

    /// The keys of the messages.
    pub(crate) fn ids(&self) -> Vec<MessageId> {
        self.all().jobs.keys().copied().collect()
    }

    fn all(&self) -> MutexGuard<'_, Jobs> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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
        jobs.iter().map(|job| job.number.0).collect()
    }

    #[test]
    fn what_waits_goes_by_its_time_is_found_by_its_name_and_can_be_held() {
        let mut waiting = Waiting::default();
        for (number, at) in [(1, 30), (2, 10), (3, 20), (4, 20)] {
            waiting.insert(Instant(at), job(number), number == 4);
        }
        assert_eq!((waiting.len(), waiting.next()), (4, Some(Instant(10))));
        let (at, taken) = waiting
            .take_back(&ClosingId::default().message(RecipientNo(2)))
            .unwrap();
        assert_eq!((at, taken.number), (Instant(10), RecipientNo(2)));
        assert!(
            waiting
                .take_back(&ClosingId::default().message(RecipientNo(2)))
                .is_none()
        );
        assert!(waiting.take_due(Instant(19)).is_empty());
        assert_eq!(numbers(&waiting.take_due(Instant(20))), [3]);

        // The other way round: all but the fourth are held.
        waiting.hold(|job| job.number.0 != 4);
        assert_eq!((waiting.len(), waiting.next()), (2, Some(Instant(20))));
        assert_eq!(numbers(&waiting.take_due(Instant(90))), [4]);
        assert_eq!(waiting.next(), None);
        assert_eq!(
            waiting.ids(),
            [ClosingId::default().message(RecipientNo(1))]
        );
        waiting.hold(|_| false);
        assert_eq!(numbers(&waiting.take_due(Instant(30))), [1]);
        assert_eq!(waiting.len(), 0);
    }
}
