//! Requests to the loop: a bounded queue that serves callers in turn, and a way back for each answer.
//!
//! A queue that is full refuses at once, and so does a caller's share of it. Whoever asks holds the work that waits, so
//! memory is bounded by the queue and by those who were let in, never by those who were not.

pub(crate) mod log;
pub(crate) mod request;
mod sessions;
pub(crate) mod shared_state;
pub(crate) mod shares;
pub(crate) mod time_shares;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, bounded};
use tidings_core::engine::{DryAnswers, DryRun, LogNo, LoggedChange, StoredEntry};
use tidings_core::model::Origin;
use tidings_core::{Command, Id, Instant, Rules};

use crate::channel::Channels;
use crate::cluster::log_feed::{ApplyRequest, FollowerReport, WaitingFollower};
use crate::commit::durable::DurableSnapshot;
use crate::commit::idempotency::{IdempotencyHit, Once};
use crate::commit::work::{AnswerRecorder, CommandRequester, Replies, StepWork};
use crate::error::{RuntimeError, unavailable};
use crate::handle::log::LogRequest;
use crate::handle::request::{Request, Stop};
use crate::handle::shared_state::SharedState;
use crate::handle::shares::{CallerId, FairQueue, TurnShares};
use crate::handle::time_shares::TimeShares;
use crate::keys::{ApiKey, KeptAnswer, KeyChange, KeyRequest, SigningKey};
use crate::node::dry_run::DryRequest;
use crate::telemetry::vitals::{Vitals, reading};

/// The queue of requests.
struct RequestQueue {
    waiting: Mutex<QueuedRequests>,
    requests_max: usize,
}

/// A recipient has the loop for one part of this many: fewer than one in a hundred calls of others find it taken by them.
const LOOP_ONE_IN: u32 = 128;

struct QueuedRequests {
    requests: FairQueue<CallerId, Request>,
    /// The loop's time.
    time: TimeShares,
    /// A stop comes after everything else.
    stop: Option<Stop>,
}

impl Default for QueuedRequests {
    fn default() -> Self {
        let time = TimeShares::one_in(LOOP_ONE_IN);
        Self { requests: FairQueue::default(), time, stop: None }
    }
}

/// The time after which the loop may do something for a caller: at once for all if it is to stop.
fn rest_of(caller: &CallerId, time: &TimeShares, stop: Option<&Stop>) -> Duration {
    if stop.is_some() {
        return Duration::ZERO;
    }
    time.wait(caller, reading())
}

impl RequestQueue {
    fn waiting(&self) -> MutexGuard<'_, QueuedRequests> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A handle of the runtime. Cheap to clone.
#[derive(Clone)]
pub struct Handle {
    queue: Arc<RequestQueue>,
    /// Wakes the loop.
    wake: Sender<()>,
    /// True if the loop still takes requests. It is checked under the lock, so nothing enters a queue that is no longer
    /// emptied.
    is_open: Arc<RwLock<bool>>,
    shared: SharedState,
    /// The caller whose share of the queue requests take.
    caller: CallerId,
    /// The origin of what is asked; `None` = its changes are not logged.
    origin: Option<Arc<Origin>>,
    /// False if answers do not wait for shards on other nodes.
    waits: bool,
    /// The most people that a command may touch.
    expect: Option<u64>,
}

/// The loop's end of the queue. When it is dropped, queued requests get an error, and later ones are refused: no caller
/// waits for a loop that has ended.
pub(crate) struct QueueReceiver {
    queue: Arc<RequestQueue>,
    /// Signals that there may be requests; disconnected once no handle is left.
    pub(crate) woken: Receiver<()>,
    is_open: Arc<RwLock<bool>>,
}

impl QueueReceiver {
    /// The next request of which the turn may have one.
    pub(crate) fn next(&self, turn: &mut TurnShares) -> Option<Request> {
        let mut waiting = self.queue.waiting();
        if waiting.requests.is_empty() {
            return waiting.stop.take().map(Request::Stop);
        }
        let QueuedRequests { requests, time, stop } = &mut *waiting;
        let may = |caller: &CallerId| {
            turn.has_room(caller) && rest_of(caller, time, stop.as_ref()).is_zero()
        };
        let (caller, request) = requests.pop(may)?;
        turn.take(caller);
        Some(request)
    }

    /// The requests of one turn, however many commands they are.
    pub(crate) fn turn(&self) -> Vec<Request> {
        let mut turn = TurnShares::default();
        std::iter::from_fn(|| self.next(&mut turn)).collect()
    }

    /// Returns true if nothing waits.
    pub(crate) fn is_empty(&self) -> bool {
        let waiting = self.queue.waiting();
        waiting.requests.is_empty() && waiting.stop.is_none()
    }

    /// Counts the loop's time that a caller's request took.
    pub(crate) fn took(&self, caller: &CallerId, took: Duration) {
        self.queue.waiting().time.take(caller, took, reading());
    }

    /// The time after which the loop may take one of the requests; `None` = there are none.
    pub(crate) fn rest(&self) -> Option<Duration> {
        let waiting = self.queue.waiting();
        if waiting.requests.is_empty() {
            return waiting.stop.as_ref().map(|_| Duration::ZERO);
        }
        waiting
            .requests
            .parties()
            .map(|caller| rest_of(caller, &waiting.time, waiting.stop.as_ref()))
            .min()
    }

    /// Answers everything that waits with an error.
    pub(crate) fn turn_away(&self) {
        let QueuedRequests { mut requests, stop, .. } = std::mem::take(&mut *self.queue.waiting());
        while let Some((_, request)) = requests.pop(|_| true) {
            request.turn_away();
        }
        stop.map(Request::Stop).into_iter().for_each(Request::turn_away);
    }
}

impl Drop for QueueReceiver {
    fn drop(&mut self) {
        *self.is_open.write().unwrap_or_else(PoisonError::into_inner) = false;
        self.turn_away();
    }
}

impl Handle {
    /// Creates a handle and the loop's end of its queue, with a maximum length.
    pub(crate) fn new(requests_max: usize, shared: SharedState) -> (Self, QueueReceiver) {
        // One signal is enough, however many requests it is about.
        let (wake, woken) = bounded(1);
        let queue = Arc::new(RequestQueue { waiting: Mutex::default(), requests_max });
        let is_open = Arc::new(RwLock::new(true));
        let inbox =
            QueueReceiver { queue: Arc::clone(&queue), woken, is_open: Arc::clone(&is_open) };
        let caller = CallerId::Host;
        let (origin, waits, expect) = (None, true, None);
        let handle = Self { queue, wake, is_open, shared, caller, origin, waits, expect };
        (handle, inbox)
    }

    /// The same, whose requests take places of a caller.
    #[must_use]
    pub fn of(&self, caller: CallerId) -> Self {
        Self { caller, ..self.clone() }
    }

    /// The same, whose changes are logged with an origin, or (`None`) not logged.
    #[must_use]
    pub fn with_origin(&self, origin: Option<Arc<Origin>>) -> Self {
        Self { origin, ..self.clone() }
    }

    /// The same, whose answers come as soon as commands are durable: they do not wait for shards on other nodes.
    #[must_use]
    pub fn without_waiting(&self) -> Self {
        Self { waits: false, ..self.clone() }
    }

    /// The same, whose requests of one command are refused if it would touch more people than these.
    #[must_use]
    pub fn expecting(&self, people: Option<u64>) -> Self {
        Self { expect: people, ..self.clone() }
    }

    /// Decides a command as it would be decided now, without doing it. `then` gets the outcome on the loop's thread, as
    /// soon as what it rests on is durable, and must only pass it on. It is dropped uncalled if the loop dies.
    ///
    /// # Errors
    /// [`RuntimeError::Busy`] or [`RuntimeError::Stopped`]; `then` is not called.
    pub fn dry_run_then(
        &self,
        command: Command,
        then: impl FnOnce(Result<DryRun, RuntimeError>) + Send + 'static,
    ) -> Result<(), RuntimeError> {
        self.ask(Request::DryRun(DryRequest::Command(Box::new(command), Box::new(then))))
    }

    /// Decides the acts of another node's dry run in the shards of this node, without doing it. `then` is called as by
    /// [`Handle::dry_run_then`].
    ///
    /// # Errors
    /// [`RuntimeError::Busy`] or [`RuntimeError::Stopped`]; `then` is not called.
    pub fn dry_apply_then(
        &self,
        acts: StoredEntry,
        then: impl FnOnce(Result<DryAnswers, RuntimeError>) + Send + 'static,
    ) -> Result<(), RuntimeError> {
        self.ask(Request::DryRun(DryRequest::Acts(acts, Box::new(then))))
    }

    /// Submits commands; the answer comes after they are durable.
    ///
    /// # Errors
    /// [`RuntimeError`] distinguishes requests that may have been done.
    pub fn submit(&self, commands: Vec<Command>) -> Replies {
        let (answer, answered) = bounded(1);
        self.submit_then(commands, move |replies| drop(answer.send(replies)))?;
        answered.recv().map_err(|_| RuntimeError::Stopped)?
    }

    /// [`Handle::submit`] without blocking: `then` gets the answer on the loop's thread and must only
    /// pass it on. It is dropped uncalled if the loop dies.
    ///
    /// # Errors
    /// [`RuntimeError::Busy`] or [`RuntimeError::Stopped`]; `then` is not called.
    pub fn submit_then(
        &self,
        commands: Vec<Command>,
        then: impl FnOnce(Replies) + Send + 'static,
    ) -> Result<(), RuntimeError> {
        let work = self.work(commands, CommandRequester::Each(Box::new(then)));
        self.ask(Request::Work(work))
    }

    /// Submits commands unless the same request was done before; `keeper` gets the result.
    ///
    /// # Errors
    /// [`RuntimeError::Busy`] or [`RuntimeError::Stopped`]; `keeper` is not called.
    pub fn submit_once(
        &self,
        once: Once,
        commands: Vec<Command>,
        keeper: Box<dyn AnswerRecorder>,
    ) -> Result<(), RuntimeError> {
        let work = self.work(commands, CommandRequester::Once(once, keeper));
        self.ask(Request::Work(work))
    }

    /// Submits commands, each with the identity by which it is known if it comes again: one that was done within a day
    /// before is not done again, and answered [`Reply::Done`](tidings_core::engine::Reply). One that was refused may
    /// come again. `then` is called as by [`Handle::submit_then`].
    ///
    /// # Errors
    /// [`RuntimeError::Busy`] or [`RuntimeError::Stopped`]; `then` is not called.
    pub fn submit_each_once(
        &self,
        commands: Vec<(Command, Option<Once>)>,
        then: impl FnOnce(Replies) + Send + 'static,
    ) -> Result<(), RuntimeError> {
        let (commands, onces): (Vec<_>, Vec<_>) = commands.into_iter().unzip();
        let mut work = self.work(commands, CommandRequester::Each(Box::new(then)));
        work.onces = onces;
        self.ask(Request::Work(work))
    }

    fn work(&self, commands: Vec<Command>, asker: CommandRequester) -> StepWork {
        let (caller, origin) = (self.caller.clone(), self.origin.clone());
        let (waits, expect) = (self.waits, self.expect);
        StepWork { caller, origin, waits, expect, ..StepWork::new(commands, asker) }
    }

    /// The API keys in force, by when they were made.
    #[must_use]
    pub fn keys(&self) -> Arc<[ApiKey]> {
        self.shared.keys.list()
    }

    /// The signing keys in force, by when they were made.
    #[must_use]
    pub fn signing_keys(&self) -> Arc<[SigningKey]> {
        self.shared.keys.signing()
    }

    /// The instant up to whose second tokens of a recipient of this node are refused.
    #[must_use]
    pub fn revoked_tokens(&self, recipient: &Id) -> Option<Instant> {
        self.shared.keys.revoked(recipient)
    }

    /// Returns true if a feed is paused.
    #[must_use]
    pub fn is_feed_paused(&self, name: &str) -> bool {
        self.shared.keys.is_feed_paused(name)
    }

    /// Changes the keys at an instant, unless the same request was done before. `then` gets the result on
    /// the loop's thread and must only pass it on; `None` = no key has the id. A change that is answered is
    /// durable and in force.
    ///
    /// # Errors
    /// [`RuntimeError::Busy`] or [`RuntimeError::Stopped`]; `then` is not called.
    pub fn change_keys(
        &self,
        at: Instant,
        change: KeyChange,
        kept_answer: Option<KeptAnswer>,
        then: impl FnOnce(Result<Option<IdempotencyHit>, RuntimeError>) + Send + 'static,
    ) -> Result<(), RuntimeError> {
        self.ask(Request::Keys(KeyRequest {
            at,
            change,
            kept_answer,
            origin: self.origin.clone(),
            keys: Arc::clone(&self.shared.keys),
            answer: Box::new(then),
        }))
    }

    /// Puts a configuration in force: rules, and the channels for later messages.
    ///
    /// # Errors
    /// [`RuntimeError`]; the channels stay as they were.
    pub fn configure(&self, rules: Rules, channels: Channels) -> Result<(), RuntimeError> {
        let answered = self.ask_to_configure(rules, channels)?;
        answered.recv().map_err(|_| RuntimeError::Stopped)?
    }

    /// [`Handle::configure`] without blocking: the result comes through the receiver.
    ///
    /// # Errors
    /// [`RuntimeError::Busy`] or [`RuntimeError::Stopped`].
    pub fn ask_to_configure(
        &self,
        rules: Rules,
        channels: Channels,
    ) -> Result<Receiver<Result<(), RuntimeError>>, RuntimeError> {
        let (answer, answered) = bounded(1);
        self.ask(Request::Configure(Box::new(rules), channels, answer))?;
        Ok(answered)
    }

    /// The state after the last durable commit, which has everything that was answered. It does not wait. Drop it soon:
    /// it keeps memory, and the store open.
    ///
    /// # Errors
    /// [`RuntimeError::Unavailable`] or [`RuntimeError::Stopped`].
    pub fn durable(&self) -> Result<Arc<DurableSnapshot>, RuntimeError> {
        if !*self.is_open.read().unwrap_or_else(PoisonError::into_inner) {
            return Err(RuntimeError::Stopped);
        }
        self.shared.reads.get().ok_or_else(unavailable)
    }

    /// Reads the state after the last durable commit, in the caller's thread.
    ///
    /// # Errors
    /// As [`Handle::durable`].
    pub fn look<T>(&self, look: impl FnOnce(&DurableSnapshot) -> T) -> Result<T, RuntimeError> {
        self.durable().map(|durable| look(&durable))
    }

    /// Registers `listener`, which is called whenever [`Handle::durable`] changes, on the loop's thread: it must only
    /// pass the call on. Only the first listener is kept.
    pub fn on_durable(&self, listener: impl Fn() + Send + Sync + 'static) {
        self.shared.reads.listen(Box::new(listener));
    }

    /// The node's measurements.
    #[must_use]
    pub fn vitals(&self) -> &Vitals {
        &self.shared.vitals
    }

    /// Takes over what a node with other shards reports. `acknowledged` is called once that is durable; `then` gets the number
    /// of the newest acts, as soon as there are some that follow those it has applied. Both must only pass it on. They are dropped uncalled
    /// if the loop ends, and `then` if the node asks again.
    ///
    /// # Errors
    /// [`RuntimeError::Busy`] or [`RuntimeError::Stopped`]; nothing is called.
    pub fn report(
        &self,
        report: FollowerReport,
        acknowledged: impl FnOnce() + Send + 'static,
        then: impl FnOnce(LogNo) + Send + 'static,
    ) -> Result<(), RuntimeError> {
        let reporter =
            WaitingFollower { acknowledged: Box::new(acknowledged), then: Box::new(then) };
        self.ask(Request::Report(Box::new(report), reporter))
    }

    /// Applies the acts that the store has; returns what is to be reported of it, once that is durable. `confirms` = what
    /// was reported as learnt is among them.
    ///
    /// # Errors
    /// [`RuntimeError`].
    pub fn apply_log(&self, confirms: bool) -> Result<FollowerReport, RuntimeError> {
        let (answer, answered) = bounded(1);
        self.apply_log_then(confirms, move |report| drop(answer.send(report)))?;
        answered.recv().map_err(|_| RuntimeError::Stopped)?
    }

    /// [`Handle::apply_log`] without blocking: `then` gets the result on the loop's thread and must only pass it on. It
    /// is dropped uncalled if the loop dies.
    ///
    /// # Errors
    /// [`RuntimeError::Busy`] or [`RuntimeError::Stopped`]; `then` is not called.
    pub fn apply_log_then(
        &self,
        confirms: bool,
        then: impl FnOnce(Result<FollowerReport, RuntimeError>) + Send + 'static,
    ) -> Result<(), RuntimeError> {
        self.ask(Request::Apply(ApplyRequest { confirms, then: Box::new(then) }))
    }

    /// Applies the log up to its current end on a follower, so that it has everything that callers were answered.
    /// `then` gets the result once that is durable, on the loop's thread, and must only pass it on. It is dropped
    /// uncalled if the loop dies.
    ///
    /// # Errors
    /// [`RuntimeError::Busy`] or [`RuntimeError::Stopped`]; `then` is not called.
    pub fn catch_up_then(
        &self,
        then: impl FnOnce(Result<(), RuntimeError>) + Send + 'static,
    ) -> Result<(), RuntimeError> {
        self.ask(Request::CatchUp(Box::new(then)))
    }

    /// Makes the loop read the keys of the store, which another node may have changed.
    ///
    /// # Errors
    /// [`RuntimeError::Busy`] or [`RuntimeError::Stopped`].
    pub fn read_keys(&self) -> Result<(), RuntimeError> {
        self.ask(Request::ReadKeys)
    }

    /// Makes the loop read the clock, which was set.
    ///
    /// # Errors
    /// [`RuntimeError::Busy`] or [`RuntimeError::Stopped`].
    pub fn wake(&self) -> Result<(), RuntimeError> {
        self.ask(Request::Wake)
    }

    /// Number of requests in the queue.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.queue.waiting().requests.len()
    }

    /// Returns true if at least half of the caller's share of the queue is free: callers that can wait wait for that,
    /// and leave the rest to those that can't.
    #[must_use]
    pub fn has_room(&self) -> bool {
        let (waiting, most) = (self.queue.waiting(), self.queue.requests_max);
        let of_caller = waiting.requests.len_of(&self.caller);
        of_caller <= self.caller.places(most) / 2 && waiting.requests.len() <= most - most / 8
    }

    /// Stops the loop; no other request is accepted from now on. A stop is never refused: it comes after the requests
    /// that wait.
    pub(crate) fn stop(&self, stop: Stop) -> Result<(), RuntimeError> {
        // Closes the queue first: no request may come in behind the stop, and be dropped unanswered.
        *self.is_open.write().unwrap_or_else(PoisonError::into_inner) = false;
        if let Some(earlier) = self.queue.waiting().stop.replace(stop) {
            Request::Stop(earlier).turn_away();
        }
        match self.wake.try_send(()) {
            Err(crossbeam_channel::TrySendError::Disconnected(())) => Err(RuntimeError::Stopped),
            _ => Ok(()),
        }
    }

    fn ask(&self, request: Request) -> Result<(), RuntimeError> {
        let is_open = self.is_open.read().unwrap_or_else(PoisonError::into_inner);
        if !*is_open {
            return Err(RuntimeError::Stopped);
        }
        let (mut waiting, most) = (self.queue.waiting(), self.queue.requests_max);
        // The share comes first: a caller who takes too much learns that, not that the server is full.
        if waiting.requests.len_of(&self.caller) >= self.caller.places(most)
            && self.caller != CallerId::Host
        {
            return Err(RuntimeError::OverShare);
        }
        if waiting.time.is_over(&self.caller, reading()) {
            return Err(RuntimeError::OverShare);
        }
        if waiting.requests.len() >= most {
            return Err(RuntimeError::Busy);
        }
        waiting.requests.push(self.caller.clone(), request);
        drop(waiting);
        // It is woken already, or has ended and answers what waits.
        let _ = self.wake.try_send(());
        Ok(())
    }

    /// Logs something that changes nothing in the store, with the origin of the handle. `then` gets the result once the
    /// line is durable, on the loop's thread, and must only pass it on. Without an origin nothing is logged.
    ///
    /// # Errors
    /// [`RuntimeError::Busy`] or [`RuntimeError::Stopped`]; `then` is not called.
    pub fn log(
        &self,
        change: LoggedChange,
        then: impl FnOnce(Result<(), RuntimeError>) + Send + 'static,
    ) -> Result<(), RuntimeError> {
        let Some(origin) = self.origin.clone() else {
            then(Ok(()));
            return Ok(());
        };
        self.ask(Request::Log(LogRequest { origin, change, then: Box::new(then) }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_waits_for_a_loop_that_has_ended() {
        let (handle, inbox) = Handle::new(4, SharedState::default());
        let (answer, answered) = bounded(1);
        handle.submit_then(Vec::new(), move |replies| answer.send(replies).unwrap()).unwrap();
        drop(inbox);
        assert!(matches!(answered.recv(), Ok(Err(RuntimeError::Stopped))));
        let refused = handle.submit(Vec::new());
        assert!(matches!(refused, Err(RuntimeError::Stopped)));
        assert_eq!(handle.waiting(), 0);
    }

    #[test]
    fn each_caller_has_a_share_of_the_queue_and_of_each_turn() {
        let (handle, inbox) = Handle::new(64, SharedState::default());
        let ana = handle.of(CallerId::Recipient(Id::new("ana").unwrap()));
        let key = handle.of(CallerId::Key("k".into()));
        for _ in 0..40 {
            ana.wake().unwrap();
        }
        assert!(matches!(ana.wake(), Err(RuntimeError::OverShare)));
        assert!(!ana.has_room() && key.has_room());
        for _ in 0..24 {
            key.wake().unwrap();
        }
        assert!(matches!(key.wake(), Err(RuntimeError::Busy)));
        // Each turn has all that the key wants, and one of the recipient's.
        assert_eq!(inbox.turn().len(), 25);
        assert_eq!((inbox.turn().len(), handle.waiting()), (1, 38));
        handle.stop(Stop::within(Duration::ZERO, bounded(1).0)).unwrap();
        assert!((0..38).all(|_| matches!(
            inbox.turn()[..],
            [Request::Wake] | [Request::Wake, Request::Stop(_)]
        )));
        assert!(inbox.is_empty());
    }
}
