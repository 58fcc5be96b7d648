//! The table of jobs in flight: each has one state, from its creation to its outcome.
//!
//! A turn makes jobs, changes some and takes up retries. All of them follow its commit; then the senders have them, and
//! what is to be tried again waits for that. Until a channel is about to hand it over each can be taken back by its id: a
//! cancel that reaches a hundred thousand messages, while a mail server is away, asks for each.
//!
//! Between the check that a message can still be changed and the commit that changes it, it must not be handed over. So
//! it is held; then it goes on with its new content, or is removed if nothing is left. If a commit fails, the jobs that
//! follow it are dropped, and so are the held ones: the store is the truth, and they are built again from it.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use tidings_core::Instant;
use tidings_core::engine::{KeptBackState, Reach};
use tidings_core::model::{MessageId, Paused};

use crate::channel::MessageHead;
use crate::commit::CommitNo;
use crate::delivery::counts::KeyCounts;
use crate::delivery::priority::Priority;
use crate::delivery::send_job::{JobId, SendJob};
use crate::delivery::senders::{Party, QueuedSendGuard};
use crate::delivery::sending::SenderInterface;
use crate::error::Error;
use crate::node::Node;

/// The jobs.
#[derive(Default)]
pub(crate) struct InFlight {
    jobs: BTreeMap<JobId, JobState>,
    /// Jobs that follow a commit, in their order.
    following: BTreeSet<(CommitNo, u64, JobId)>,
    /// Jobs that wait for a retry and are not paused, by its time.
    due: BTreeSet<(Instant, JobId)>,
    held: BTreeSet<MessageId>,
    /// Number of those that follow a commit so far.
    followed: u64,
    /// Number of those that wait for a retry, paused or not.
    waiting: usize,
    /// The same by channel and priority.
    of_channels: KeyCounts<(String, Priority)>,
    /// The same by channel and party.
    of_parties: KeyCounts<(String, Party)>,
    /// The paused types and channels, of which nothing is sent.
    paused: Paused,
}

/// The state of a job.
enum JobState {
    /// It follows a commit, and has a number among those that do.
    Following(CommitNo, u64, GoingJob),
    /// It is queued, or a thread is sending it.
    Sending(QueuedSendGuard),
    /// It waits for a retry.
    Until(Instant, SendJob),
    /// A step that may change it is being decided.
    Held(GoingJob),
}

/// A job that goes to the senders, or waits for a retry.
pub(crate) struct GoingJob {
    pub(crate) job: SendJob,
    /// The instant of its retry, if it waits for one.
    pub(crate) until: Option<Instant>,
}

fn channel_of(job: &SendJob) -> (String, Priority) {
    (job.head.channel.clone(), job.priority())
}

fn reached(job: &SendJob) -> KeptBackState {
    if job.is_in_doubt() { KeptBackState::InDoubt } else { KeptBackState::KeptBack }
}

fn parties_of(job: &SendJob) -> impl Iterator<Item = (String, Party)> {
    let parties = Party::of(job.head.recipient.as_ref(), &job.head.destinations);
    parties.map(|party| (job.head.channel.clone(), party))
}

impl InFlight {
    /// Adds a job that goes on once a commit is durable.
    pub(crate) fn follow(&mut self, commit: CommitNo, job: SendJob, until: Option<Instant>) {
        self.followed += 1;
        self.insert(job.id, JobState::Following(commit, self.followed, GoingJob { job, until }));
    }

    /// Removes and returns the next job that follows this commit or one before it.
    pub(crate) fn take_following(&mut self, durable: CommitNo) -> Option<GoingJob> {
        let next = self.following.first().filter(|(commit, ..)| *commit <= durable);
        let (.., id) = *next?;
        self.take_back(&id)
    }

    /// Adds a job that the senders have.
    pub(crate) fn sending(&mut self, id: JobId, guard: QueuedSendGuard) {
        self.insert(id, JobState::Sending(guard));
    }

    /// Removes a job of which an answer has come.
    pub(crate) fn answered(&mut self, id: &JobId) {
        if matches!(self.jobs.get(id), Some(JobState::Sending(_))) {
            self.jobs.remove(id);
        }
    }

    /// Adds a job that is tried again at an instant or, if it is paused, some time after that ends.
    pub(crate) fn wait_until(&mut self, at: Instant, job: SendJob) {
        self.insert(job.id, JobState::Until(at, job));
    }

    fn insert(&mut self, id: JobId, state: JobState) {
        // A job has one state: the one before goes with its entries in the indexes.
        self.take_back(&id);
        match &state {
            JobState::Sending(_) => {}
            JobState::Following(commit, number, _) => {
                self.following.insert((*commit, *number, id));
            }
            JobState::Until(at, job) => {
                if !self.is_paused(job) {
                    self.due.insert((*at, id));
                }
                self.waiting += 1;
                self.of_channels.add(channel_of(job));
                parties_of(job).for_each(|party| self.of_parties.add(party));
            }
            JobState::Held(going) => {
                self.held.insert(going.job.message());
            }
        }
        self.jobs.insert(id, state);
    }

    /// Removes and returns a job, unless its channel is at the point of no return.
    pub(crate) fn take_back(&mut self, id: &JobId) -> Option<GoingJob> {
        if let JobState::Sending(guard) = self.jobs.get(id)? {
            // A thread that has passed the point of no return keeps it: its answer is the outcome.
            let job = guard.withdraw(|_| true)?;
            self.jobs.remove(id);
            return Some(GoingJob { job, until: None });
        }
        match self.jobs.remove(id)? {
            JobState::Sending(_) => None,
            JobState::Following(commit, number, going) => {
                self.following.remove(&(commit, number, *id));
                Some(going)
            }
            JobState::Until(at, job) => {
                self.due.remove(&(at, *id));
                self.waiting -= 1;
                self.of_channels.take(&channel_of(&job));
                parties_of(&job).for_each(|party| self.of_parties.take(&party));
                Some(GoingJob { job, until: Some(at) })
            }
            JobState::Held(going) => {
                self.held.remove(&going.job.message());
                Some(going)
            }
        }
    }

    /// Returns true if a job is about to be sent, and does not wait for a retry.
    pub(crate) fn is_going(&self, id: &JobId) -> bool {
        self.jobs.get(id).is_some_and(|state| !matches!(state, JobState::Until(..)))
    }

    /// Returns true if a job is there, in any state.
    pub(crate) fn has(&self, id: &JobId) -> bool {
        self.jobs.contains_key(id)
    }

    fn hold(&mut self, id: MessageId) -> Option<KeptBackState> {
        let going = self.take_back(&JobId::Message(id))?;
        let reached = reached(&going.job);
        self.insert(going.job.id, JobState::Held(going));
        Some(reached)
    }

    /// The state in which [`InFlight::hold`] would hold a message; `None` = it could not.
    fn within_reach(&self, id: MessageId) -> Option<KeptBackState> {
        match self.jobs.get(&JobId::Message(id))? {
            JobState::Sending(guard) => guard.look(reached),
            JobState::Until(_, job) => Some(reached(job)),
            JobState::Following(.., going) | JobState::Held(going) => Some(reached(&going.job)),
        }
    }

    /// Releases the held messages after the decision, each with its new content; hurried ones wait for no retry.
    ///
    /// # Errors
    /// [`Error`] where what is stored can't be read.
    pub(crate) fn release(
        &mut self,
        node: &mut Node,
        is_hurried: impl Fn(MessageId) -> bool,
    ) -> Result<(), Error> {
        if self.held.is_empty() {
            return Ok(());
        }
        for ready in node.made_again(&self.held)? {
            for (at, batch) in ready.batches {
                let planned = &ready.plan.messages[at];
                let id = ready.plan.closing.message(planned.number);
                if let Some(GoingJob { mut job, until }) = self.take_back(&JobId::Message(id)) {
                    job.replace(ready.plan.seqs(planned), batch);
                    let until = until.filter(|_| !is_hurried(id));
                    self.follow(node.ahead().decided(), job, until);
                }
            }
        }
        // Has left those of which nothing is to be told any more.
        self.drop_held();
        Ok(())
    }

    /// Drops the messages that are held.
    pub(crate) fn drop_held(&mut self) {
        for id in std::mem::take(&mut self.held) {
            self.jobs.remove(&JobId::Message(id));
        }
    }

    /// Drops the jobs that follow a commit, and returns how many there were; drops what is held, too.
    pub(crate) fn drop_following(&mut self) -> usize {
        self.drop_held();
        let dropped = std::mem::take(&mut self.following);
        dropped.iter().filter(|(.., id)| self.jobs.remove(id).is_some()).count()
    }

    /// Returns true if no job follows a commit.
    pub(crate) fn follows_none(&self) -> bool {
        self.following.is_empty()
    }

    /// Takes the wanted jobs back from the senders, as far as [`InFlight::take_back`] could.
    pub(crate) fn take_from_senders(
        &mut self,
        is_wanted: impl Fn(&SendJob) -> bool,
    ) -> Vec<SendJob> {
        let mut withdrawn = Vec::new();
        self.jobs.retain(|_, state| {
            let JobState::Sending(guard) = state else {
                return true;
            };
            let job = guard.withdraw(&is_wanted);
            let stays = job.is_none();
            withdrawn.extend(job);
            stays
        });
        withdrawn
    }

    /// Sets what is paused. What the senders have of it waits from now on.
    pub(crate) fn pause(&mut self, paused: &Paused, now: Instant) {
        if self.paused == *paused {
            return;
        }
        self.paused = paused.clone();
        let waiting = self.jobs.iter().filter_map(|(id, state)| match state {
            JobState::Until(at, job) if !self.is_paused(job) => Some((*at, *id)),
            _ => None,
        });
        // Paused jobs keep their instant, so that a resumed one is as due as it was.
        self.due = waiting.collect();
        for job in self.take_from_senders(|job| job.is_held_by(paused)) {
            self.wait_until(now, job);
        }
    }

    /// Returns true if a job is paused.
    pub(crate) fn is_paused(&self, job: &SendJob) -> bool {
        job.is_held_by(&self.paused)
    }

    /// Removes and returns the jobs whose retry is due, by time.
    pub(crate) fn take_due(&mut self, now: Instant) -> Vec<SendJob> {
        let mut due = Vec::new();
        while let Some((at, id)) = self.due.first().copied()
            && at <= now
        {
            self.due.pop_first();
            due.extend(self.take_back(&id).map(|going| going.job));
        }
        due
    }

    /// The time of the next retry.
    pub(crate) fn next_due(&self) -> Option<Instant> {
        self.due.first().map(|(at, _)| *at)
    }

    /// Moves the wanted jobs that wait for a later instant to this one.
    pub(crate) fn hurry(&mut self, now: Instant, is_wanted: impl Fn(&MessageHead) -> bool) {
        self.change_waits(|at, job| {
            let is_hurried = at > now && is_wanted(&job.head);
            if is_hurried { now } else { at }
        });
    }

    /// Moves jobs that wait for an instant after this one earlier, by a number of milliseconds: the clock was put back
    /// to it.
    pub(crate) fn put_back(&mut self, to: Instant, by_ms: i64) {
        self.change_waits(|at, _| if at > to { at.plus_ms(-by_ms).max(to) } else { at });
    }

    fn change_waits(&mut self, changed: impl Fn(Instant, &SendJob) -> Instant) {
        for (id, state) in &mut self.jobs {
            let JobState::Until(at, job) = state else {
                continue;
            };
            let new = changed(*at, job);
            if new != *at && self.due.remove(&(*at, *id)) {
                self.due.insert((new, *id));
            }
            *at = new;
        }
    }

    /// Number of jobs that wait for a retry, paused or not.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting
    }

    /// Number of jobs of a channel and priority that wait for a retry, paused or not.
    pub(crate) fn waiting_of(&self, channel: &str, priority: Priority) -> usize {
        self.of_channels.of(&(channel.to_owned(), priority))
    }

    /// Number of jobs of a channel to a party that wait for a retry, paused or not.
    pub(crate) fn waiting_for(&self, channel: &str, party: &Party) -> usize {
        self.of_parties.of(&(channel.to_owned(), party.clone()))
    }
}

impl SenderInterface for RefCell<&mut InFlight> {
    fn keep_back(&self, ids: BTreeSet<MessageId>) -> Reach {
        let mut jobs = self.borrow_mut();
        ids.into_iter().filter_map(|id| Some((id, jobs.hold(id)?))).collect()
    }

    fn within_reach(&self, ids: BTreeSet<MessageId>) -> Reach {
        let jobs = self.borrow();
        ids.into_iter().filter_map(|id| Some((id, jobs.within_reach(id)?))).collect()
    }
}

#[cfg(test)]
mod tests;
