//! The queues of messages to send, and the threads that serve them: a pool for each channel.
//!
//! A channel that is slow or silent holds up its own messages and no others'. Neither does a recipient, or the hosts of a
//! domain that recipients name: each has a quarter of the threads at most. In a pool interactive messages go before
//! digests, and each kind has room of its own: a million digests never prevent an interactive message from being
//! built. Neither do a tenant's messages those of another: they go in turn, and each tenant has some room of its own. Some
//! threads take no digests, so that they stay free if a server is slow with those.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crossbeam_channel::{Receiver, Sender, unbounded};
use tidings_core::Id;
use tidings_core::model::channel_kind;

use crate::channel::{ActiveChannels, HandOverPass, ProviderReplies};
use crate::clock::Clock;
use crate::commit::executor::Executor;
use crate::delivery::hand_over::{MaySend, send};
use crate::delivery::priority::Priority;
use crate::delivery::send_job::SendJob;
use queue::{ChannelQueue, DequeuedMessage, PartyLimits};
use turns::Rank;

mod party;
mod queue;
mod turns;

pub(crate) use party::Party;

/// The pools of all channels.
pub(crate) struct Senders {
    /// The pools by channel; each is created for its first message.
    pools: BTreeMap<String, SenderPool>,
    channels: ActiveChannels,
    clock: Arc<dyn Clock>,
    by: Executor,
    may_send: MaySend,
    answer: Sender<(SendJob, ProviderReplies)>,
    answers: Receiver<(SendJob, ProviderReplies)>,
}

/// The messages of a channel, and the threads that send them.
struct SenderPool {
    threads: usize,
    /// Number of threads that run.
    running: usize,
    server: SenderWorker,
}

/// The hold on a message that is queued or being sent. The message takes room until this is dropped.
pub(crate) struct QueuedSendGuard {
    slot: QueueSlot,
    rank: Rank,
    queue: Arc<ChannelQueue>,
}

impl QueuedSendGuard {
    /// Looks at the message, as long as [`QueuedSendGuard::withdraw`] could take it back.
    pub(crate) fn look<T>(&self, look: impl FnOnce(&SendJob) -> T) -> Option<T> {
        locked(&self.slot).job().map(look)
    }

    /// Takes the message back if it is wanted and the channel has not come to the point of no return.
    pub(crate) fn withdraw(&self, is_wanted: impl Fn(&SendJob) -> bool) -> Option<SendJob> {
        let mut state = locked(&self.slot);
        let job = if is_wanted(state.job()?) { state.withdraw() } else { None };
        drop(state);
        if job.is_some() {
            self.queue.remove(self.rank);
        }
        job
    }
}

impl Drop for QueuedSendGuard {
    fn drop(&mut self) {
        self.queue.give_back(self.rank);
    }
}

/// A slot of the queue with a message.
type QueueSlot = Arc<Mutex<SlotState>>;

/// The state of a message in a slot. The loop can take it back until the channel is about to hand it over.
enum SlotState {
    /// No thread has it.
    Queued(Box<SendJob>),
    /// A thread has it, and the channel has not reached the point of no return.
    Sending(Box<SendJob>),
    /// The message may have been handed over, or the channel has answered.
    Passed,
    /// The loop took it back.
    Withdrawn,
}

fn locked(slot: &Mutex<SlotState>) -> MutexGuard<'_, SlotState> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}

impl SlotState {
    fn job(&self) -> Option<&SendJob> {
        match self {
            Self::Queued(job) | Self::Sending(job) => Some(job),
            Self::Passed | Self::Withdrawn => None,
        }
    }

    /// Takes the message back, unless it is too late.
    fn withdraw(&mut self) -> Option<SendJob> {
        self.job()?;
        match std::mem::replace(self, Self::Withdrawn) {
            Self::Queued(job) | Self::Sending(job) => Some(*job),
            Self::Passed | Self::Withdrawn => None,
        }
    }

    /// Gives the message to a thread, unless the loop took it back.
    fn begin(&mut self) -> Option<SendJob> {
        let job = self.job()?.clone();
        *self = Self::Sending(Box::new(job.clone()));
        Some(job)
    }

    /// Passes the point of no return, unless the loop took the message back.
    fn pass(&mut self) -> bool {
        let is_withdrawn = matches!(self, Self::Withdrawn);
        if !is_withdrawn {
            *self = Self::Passed;
        }
        !is_withdrawn
    }
}

/// The other end of a pool: takes messages out of it and sends them.
#[derive(Clone)]
struct SenderWorker {
    queue: Arc<ChannelQueue>,
    answer: Sender<(SendJob, ProviderReplies)>,
    clock: Arc<dyn Clock>,
    may_send: MaySend,
}

impl SenderWorker {
    /// Sends messages until the pool is gone.
    fn run(&self, is_kept_free: bool) {
        while let Some(leaving) = self.queue.take(is_kept_free) {
            if !self.send(leaving) {
                break;
            }
        }
    }

    /// Sends the next message in the caller's thread. Whether there was one.
    fn send_next(&self) -> bool {
        self.queue.take_now().is_some_and(|leaving| self.send(leaving))
    }

    /// Sends the message in a slot; false if the receiver of answers is gone. A message that was taken back meanwhile
    /// has no answer: the loop has it.
    fn send(&self, leaving: DequeuedMessage) -> bool {
        let DequeuedMessage { slot, pass, parties } = leaving;
        let goes_on = self.send_in(&slot, pass);
        self.queue.end_of(parties);
        goes_on
    }

    fn send_in(&self, slot: &Mutex<SlotState>, pass: Option<HandOverPass>) -> bool {
        let Some(job) = locked(slot).begin() else {
            return true;
        };
        let now = || self.clock.now();
        // The licence is asked first: once the slot has passed the loop can't take the message back, and
        // nobody would hand it over.
        let sent = send(pass, &job, &now, &|| (self.may_send)() && locked(slot).pass());
        if !locked(slot).pass() {
            return true;
        }
        self.answer.send((job, sent)).is_ok()
    }
}

impl Senders {
    /// Pools without messages, served by threads or by hand.
    pub(crate) fn new(channels: ActiveChannels, clock: Arc<dyn Clock>, by: Executor) -> Self {
        let (answer, answers) = unbounded();
        Self {
            pools: BTreeMap::new(),
            channels,
            clock,
            by,
            may_send: Arc::new(|| true),
            answer,
            answers,
        }
    }

    /// Sets the question at the point of no return, before the first message.
    pub(crate) fn asking(self, may_send: MaySend) -> Self {
        Self { may_send, ..self }
    }

    /// The receiver of answers. Drop the guard of each.
    pub(crate) fn answers(&self) -> &Receiver<(SendJob, ProviderReplies)> {
        &self.answers
    }

    /// Number of messages of a priority and tenant that the threads of a channel can have beyond those that they have:
    /// any, or what is left of the tenant's own room where others use up the common one.
    pub(crate) fn room_of(&self, channel: &str, priority: Priority, tenant: Option<&Id>) -> usize {
        let Some(pool) = self.pools.get(channel) else {
            return usize::MAX;
        };
        let queue = &pool.server.queue;
        // Messages that wait for a recipient or a destination take no room from the others.
        let count = queue.guards(priority).saturating_sub(queue.kept_aside(priority));
        if count < pool.threads * ROOM {
            return usize::MAX;
        }
        let own = pool.threads.saturating_sub(queue.ready_of(tenant, priority));
        own.min(ROOM_OF_TENANTS.saturating_sub(count))
    }

    /// Number of messages of a channel and priority that wait for a recipient or a destination.
    pub(crate) fn kept_aside_of(&self, channel: &str, priority: Priority) -> usize {
        let pool = self.pools.get(channel);
        pool.map_or(0, |pool| pool.server.queue.kept_aside(priority))
    }

    /// Number of messages of a channel that wait for a party.
    pub(crate) fn kept_aside_for(&self, channel: &str, party: &Party) -> usize {
        let pool = self.pools.get(channel);
        pool.map_or(0, |pool| pool.server.queue.kept_aside_for(party))
    }

    /// Returns true if no message is queued or being sent.
    pub(crate) fn is_idle(&self) -> bool {
        self.under_way() == 0
    }

    /// Number of messages that are queued or being sent.
    pub(crate) fn under_way(&self) -> usize {
        self.sum(ChannelQueue::guards)
    }

    /// Number of messages that wait for a recipient who has his share of the threads, or for a destination that has, or
    /// is left alone.
    pub(crate) fn kept_aside(&self) -> usize {
        self.sum(ChannelQueue::kept_aside)
    }

    fn sum(&self, count: impl Fn(&ChannelQueue, Priority) -> usize) -> usize {
        let queues = self.pools.values().map(|pool| &pool.server.queue);
        let both = [Priority::Interactive, Priority::Bulk];
        queues.flat_map(|queue| both.map(|priority| count(queue, priority))).sum()
    }

    /// Passes a message to the threads of its channel.
    pub(crate) fn dispatch(&mut self, job: SendJob) -> QueuedSendGuard {
        let channel = &job.head.channel;
        if !self.pools.contains_key(channel) {
            let pool = self.pool_of(channel);
            self.pools.insert(channel.clone(), pool);
        }
        let pool = self.pools.get_mut(channel).expect("it was just put there");
        let (priority, is_new) = (job.priority(), job.attempts == 0);
        let head = Arc::clone(&job.head);
        let slot: QueueSlot = Arc::new(Mutex::new(SlotState::Queued(Box::new(job))));
        let queue = Arc::clone(&pool.server.queue);
        let rank = queue.put(Arc::clone(&slot), &head, priority, is_new);
        if self.by == Executor::Threads {
            pool.start_threads();
        }
        QueuedSendGuard { slot, rank, queue }
    }

    /// The pool of a channel; without a provider, a thread that answers so.
    fn pool_of(&self, channel: &str) -> SenderPool {
        let threads = self.channels.outlet(channel).map_or(1, |one| one.threads);
        let clock = Arc::clone(&self.clock);
        let kind = channel_kind(channel).and_then(|channel| channel.address);
        let quarter = (threads / 4).max(1);
        let shares = PartyLimits {
            recipient: quarter,
            destination: kind.filter(|kind| kind.names_host()).map(|_| quarter),
        };
        let queue = ChannelQueue::new(channel, self.channels.clone(), Arc::clone(&clock), shares);
        SenderPool {
            threads: threads.max(1),
            running: 0,
            server: SenderWorker {
                queue: Arc::new(queue),
                answer: self.answer.clone(),
                clock,
                may_send: Arc::clone(&self.may_send),
            },
        }
    }

    /// Sends the next message in the caller's thread. Whether there was one.
    pub(crate) fn send_next(&self) -> bool {
        self.pools.values().any(|pool| pool.server.send_next())
    }

    /// Wakes all threads to read the clock, which was put back.
    pub(crate) fn wake(&self) {
        self.pools.values().for_each(|pool| pool.server.queue.wake());
    }
}

/// Number of messages of each priority that are built ahead for each thread of a pool.
const ROOM: usize = 8;

/// Number of messages of a channel and priority from which on no tenant has room of its own.
const ROOM_OF_TENANTS: usize = 8_192;

impl SenderPool {
    /// Starts the threads that the messages need and that do not run yet: each takes more than a megabyte once it has
    /// sent something. Those that can't be started now are with the next message.
    fn start_threads(&mut self) {
        let guards =
            [Priority::Interactive, Priority::Bulk].map(|one| self.server.queue.guards(one));
        let wanted = guards.iter().sum::<usize>() + kept_free(self.threads);
        while self.running < self.threads.min(wanted) {
            let server = self.server.clone();
            let is_kept_free = self.running < kept_free(self.threads);
            let work = move || server.run(is_kept_free);
            let name = "tidings-sender".to_owned();
            if let Err(fault) = std::thread::Builder::new().name(name).spawn(work) {
                tracing::error!(error = %fault, "a thread that sends can't be started");
                return;
            }
            self.running += 1;
        }
    }
}

impl Drop for SenderPool {
    fn drop(&mut self) {
        self.server.queue.end();
    }
}

/// Number of these threads that take interactive messages only.
fn kept_free(count: usize) -> usize {
    match count {
        0 | 1 => 0,
        2..8 => 1,
        _ => count / 4,
    }
}

#[cfg(test)]
mod tests;
