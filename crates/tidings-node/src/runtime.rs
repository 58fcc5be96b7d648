//! The node in real time: one thread decides, a few send.
//!
//! The loop takes everything that has arrived since its last step, commits it at once and only then
//! answers (group commit). Messages are made in slices between steps, as many as delivery has room
//! for, so a million digests never keep one publish waiting for longer than a slice.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, bounded, select};
use tidings_core::engine::{Options, Refused, Reply, Sent, Settled};
use tidings_core::{Command, Instant, Rules};
use tidings_store::Store;

use crate::Error;
use crate::clock::Clock;
use crate::delivery::{Delivery, Parcel, panicked};
use crate::made::Made;
use crate::node::{Node, Pace};
use crate::packer::Packer;
use crate::senders::Senders;

mod full;
mod late;
mod reopen;

use full::turn_without_room;
use late::catch_up;

/// Opens the store, at the start and again after it has failed.
pub type OpenStore = Box<dyn FnMut() -> Result<Arc<dyn Store>, tidings_store::Error> + Send>;

/// How a runtime works.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// How the engine works.
    pub options: Options,
    /// Threads that send.
    pub senders: usize,
    /// Requests that may wait for the loop; one more is refused.
    pub requests_max: usize,
    /// Commands that one step takes in.
    pub commands_max: usize,
    /// How long the loop waits before it opens a failed store again, in milliseconds.
    pub reopen_ms: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            options: Options::default(),
            senders: 8,
            requests_max: 1024,
            commands_max: 16_384,
            reopen_ms: 1_000,
        }
    }
}

/// Why a request was not answered.
#[derive(Debug, thiserror::Error)]
pub enum RuntimeError {
    /// Too much is waiting; nothing was done. Try again in a moment.
    #[error("too many requests wait already; try again in a moment")]
    Busy,
    /// The store failed while this was being written: it may or may not have happened. Ask again
    /// with the same event id.
    #[error("the store failed: {0}; what was asked may or may not have happened")]
    Unknown(String),
    /// The store can't be opened at the moment; nothing was done.
    #[error("the store can't be used at the moment: {0}")]
    Unavailable(String),
    /// The runtime has stopped; nothing was done.
    #[error("the node is stopping")]
    Stopped,
}

type Replies = Result<Vec<Result<Reply, Refused>>, RuntimeError>;

/// Looks at the node, or hears that there is none now.
type Look = dyn FnOnce(Option<&Node>) + Send;

enum Request {
    Commands(Vec<Command>, Sender<Replies>),
    Rules(Box<Rules>, Sender<Result<(), RuntimeError>>),
    Look(Box<Look>),
    /// The clock was put: look again.
    Wake,
    Stop(Sender<Result<(), RuntimeError>>),
}

/// Asks the runtime. Cheap to clone.
#[derive(Clone)]
pub struct Handle {
    requests: Sender<Request>,
    steps_back: Arc<AtomicU64>,
}

impl Handle {
    /// Has commands taken in; the answer comes after they are durable.
    ///
    /// # Errors
    /// [`RuntimeError`] says whether anything can have happened.
    pub fn submit(&self, commands: Vec<Command>) -> Replies {
        let (answer, answered) = bounded(1);
        self.ask(Request::Commands(commands, answer))?;
        answered.recv().map_err(|_| RuntimeError::Stopped)?
    }

    /// Puts rules in force.
    ///
    /// # Errors
    /// [`RuntimeError`].
    pub fn set_rules(&self, rules: Rules) -> Result<(), RuntimeError> {
        let (answer, answered) = bounded(1);
        self.ask(Request::Rules(Box::new(rules), answer))?;
        answered.recv().map_err(|_| RuntimeError::Stopped)?
    }

    /// Looks at the node between two steps.
    ///
    /// # Errors
    /// [`RuntimeError::Busy`], [`RuntimeError::Unavailable`] or [`RuntimeError::Stopped`].
    pub fn look<T: Send + 'static>(
        &self,
        look: impl FnOnce(&Node) -> T + Send + 'static,
    ) -> Result<T, RuntimeError> {
        let (answer, answered) = bounded(1);
        self.ask(Request::Look(Box::new(move |node| {
            drop(answer.send(node.map(look)));
        })))?;
        let seen = answered.recv().map_err(|_| RuntimeError::Stopped)?;
        seen.ok_or_else(unavailable)
    }

    /// How often the clock was seen to step back since the start. Nothing is lost or told twice by
    /// it, but what is due waits until the clock has come there again.
    #[must_use]
    pub fn steps_back(&self) -> u64 {
        self.steps_back.load(Ordering::SeqCst)
    }

    /// Has the loop look at the clock: it was put.
    ///
    /// # Errors
    /// [`RuntimeError::Busy`] or [`RuntimeError::Stopped`].
    pub fn wake(&self) -> Result<(), RuntimeError> {
        self.ask(Request::Wake)
    }

    /// How many requests wait for the loop now.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.requests.len()
    }

    fn ask(&self, request: Request) -> Result<(), RuntimeError> {
        self.requests
            .try_send(request)
            .map_err(|fault| match fault {
                crossbeam_channel::TrySendError::Full(_) => RuntimeError::Busy,
                crossbeam_channel::TrySendError::Disconnected(_) => RuntimeError::Stopped,
            })
    }
}

/// A node that runs.
pub struct Runtime {
    handle: Handle,
    thread: Option<JoinHandle<()>>,
}

impl Runtime {
    /// Opens the store and starts the threads.
    ///
    /// # Errors
    /// [`Error`] where the store can't be opened or read.
    pub fn start(
        mut open: OpenStore,
        rules: Rules,
        delivery: Delivery,
        clock: Arc<dyn Clock>,
        settings: Settings,
    ) -> Result<Self, Error> {
        let mut node = Node::open(open()?, settings.options)?;
        let now = clock.now();
        let newest = node.engine().now();
        // What came due while nobody ran did so under the rules of then.
        catch_up(&mut node, now)?;
        node.set_rules(now, rules)?;
        let (requests, inbox) = bounded(settings.requests_max.max(1));
        let senders = Senders::start(settings.senders.max(1), &delivery, &clock);
        let steps_back = Arc::new(AtomicU64::new(0));
        let mut core = Loop {
            open,
            node: Some(node),
            delivery,
            senders,
            clock,
            settings,
            sent: BTreeMap::new(),
            made: BTreeMap::new(),
            packer: Packer::default(),
            seen: newest,
            steps_back: Arc::clone(&steps_back),
        };
        core.resume()?;
        let thread = std::thread::Builder::new()
            .name("tidings-loop".to_owned())
            .spawn(move || core.run(&inbox))
            .map_err(|fault| tidings_store::Error::Unusable(fault.to_string()))?;
        Ok(Self {
            handle: Handle {
                requests,
                steps_back,
            },
            thread: Some(thread),
        })
    }

    /// Whom to ask.
    #[must_use]
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Stops: what was asked before is answered, messages on their way are waited for, checkpoints
    /// are written.
    ///
    /// # Errors
    /// [`RuntimeError`] where the store failed meanwhile; nothing durable is lost by it.
    pub fn stop(mut self) -> Result<(), RuntimeError> {
        let (answer, answered) = bounded(1);
        let asked = self.handle.requests.send(Request::Stop(answer));
        let result = match asked {
            Ok(()) => answered
                .recv()
                .map_err(|_| RuntimeError::Stopped)
                .and_then(|done| done),
            Err(_) => Err(RuntimeError::Stopped),
        };
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
        result
    }
}

/// The most messages that are readied for rendering in one turn, of each pace.
const PRESENTED_AT_ONCE: usize = 128;

struct Loop {
    open: OpenStore,
    /// `None` while the store can't be opened.
    node: Option<Node>,
    delivery: Delivery,
    senders: Senders,
    clock: Arc<dyn Clock>,
    settings: Settings,
    /// Answers that are not written yet, by closing. They outlive a failure of the store: what was
    /// sent is not sent again because nobody could write it down.
    sent: BTreeMap<(u16, u64), Vec<Sent>>,
    /// Messages that are durable and wait for room with the senders. After a failure of the store
    /// they are found in it again.
    made: BTreeMap<Pace, Made>,
    packer: Packer,
    /// What the clock said last.
    seen: Instant,
    steps_back: Arc<AtomicU64>,
}

/// Whom to tell that everything has stopped.
type Stopping = Option<Sender<Result<(), RuntimeError>>>;

impl Loop {
    fn run(&mut self, inbox: &Receiver<Request>) {
        let mut stopping: Stopping = None;
        loop {
            if self.node.is_none() {
                self.reopen();
            }
            let mut requests = Vec::new();
            if self.wait(inbox, stopping.is_some(), &mut requests).is_err() {
                // Nobody is left who could ask or stop.
                stopping.get_or_insert(bounded(1).0);
            }
            if let Err(fault) = self.turn(requests, &mut stopping) {
                self.fail(&fault);
            }
            if !self.senders.is_idle() {
                continue;
            }
            if let Some(answer) = stopping.take_if(|_| self.sent.is_empty() || self.node.is_none())
            {
                let result = match &mut self.node {
                    Some(node) => node
                        .chores()
                        .map_err(|fault| RuntimeError::Unknown(fault.to_string())),
                    None => Err(unavailable()),
                };
                self.packer.wait();
                drop(answer.send(result));
                return;
            }
        }
    }

    /// Waits for a request, an answer of a channel, or the time when something is due.
    ///
    /// # Errors
    /// Nobody can ask any more.
    fn wait(
        &mut self,
        inbox: &Receiver<Request>,
        stopping: bool,
        requests: &mut Vec<Request>,
    ) -> Result<(), crossbeam_channel::RecvError> {
        let patience = self.patience(stopping);
        let mut answered = None;
        if stopping {
            // Who asks now is told so at once: a request that is dropped says that it has stopped.
            select! {
                recv(inbox) -> request => if request.is_err() {
                    answered = self.senders.answers().recv_timeout(patience).ok();
                },
                recv(self.senders.answers()) -> answer => answered = answer.ok(),
                default(patience) => {}
            }
            inbox.try_iter().for_each(drop);
        } else {
            select! {
                recv(inbox) -> request => requests.push(request?),
                recv(self.senders.answers()) -> answer => answered = answer.ok(),
                default(patience) => {}
            }
        }
        let size = |request: &Request| match request {
            Request::Commands(list, _) => list.len(),
            _ => 0,
        };
        let mut commands: usize = requests.iter().map(size).sum();
        while !stopping && commands < self.settings.commands_max {
            let Ok(request) = inbox.try_recv() else { break };
            commands += size(&request);
            requests.push(request);
        }
        let now = self.clock.now();
        while let Some((parcel, answer)) =
            answered.or_else(|| self.senders.answers().try_recv().ok())
        {
            self.senders.arrived(&parcel);
            let closing = parcel.closing;
            if let Some(sent) = self.delivery.settle(parcel, &answer, now) {
                self.sent.entry(closing).or_default().push(sent);
            }
            answered = None;
        }
        Ok(())
    }

    fn patience(&mut self, stopping: bool) -> Duration {
        let Some(node) = &mut self.node else {
            return Duration::from_millis(self.settings.reopen_ms);
        };
        if node.store().ensure_room().is_err() {
            return Duration::from_millis(self.settings.reopen_ms);
        }
        let is_made = |pace| self.made.get(&pace).is_some_and(|made| !made.is_empty());
        let can_make =
            |pace| self.senders.has_room(pace) && (is_made(pace) || node.has_closings_at(pace));
        let has_work = can_make(Pace::Prompt) || can_make(Pace::Patient);
        if !stopping && (has_work || node.engine().has_chores()) {
            return Duration::ZERO;
        }
        // While it stops nothing is tried again any more.
        let retry = self.delivery.next_retry().filter(|_| !stopping);
        let due = node.next_due().into_iter().chain(retry);
        let due = due.chain(node.engine().next_forget()).min();
        let longest = 60_000;
        let wait = due.map_or(longest, |due| {
            (due.0 - self.clock.now().0).clamp(0, longest)
        });
        Duration::from_millis(wait.unsigned_abs())
    }

    /// One turn: what is due, what was asked, what was answered, what can be made.
    fn turn(&mut self, requests: Vec<Request>, stopping: &mut Stopping) -> Result<(), Error> {
        let now = self.look_at_the_clock();
        let Some(node) = &mut self.node else {
            refuse(requests, stopping);
            return Ok(());
        };
        if let Err(full) = node.store().ensure_room() {
            return turn_without_room(node, now, requests, stopping, &full);
        }
        if let Err(fault) = catch_up(node, now) {
            refuse(requests, stopping);
            return Err(fault);
        }
        answer(node, now, requests, stopping)?;
        let sent = std::mem::take(&mut self.sent).into_iter();
        let settled: Vec<Settled> = sent
            .map(|(closing, sent)| Settled { closing, sent })
            .collect();
        if !settled.is_empty()
            && let Err(fault) = node.settle(now, &settled)
        {
            let sent = settled.into_iter();
            self.sent = sent.map(|known| (known.closing, known.sent)).collect();
            return Err(fault);
        }
        if stopping.is_none() {
            self.hand_out(now)?;
        }
        self.do_chores()
    }

    /// What the engine has to do between steps: a slice a turn, more where it falls behind.
    fn do_chores(&mut self) -> Result<(), Error> {
        let Some(node) = &mut self.node else {
            return Ok(());
        };
        for _ in 0..if node.engine().is_behind() { 4 } else { 1 } {
            if !node.chore()? {
                break;
            }
        }
        self.packer.add(node.take_rested());
        self.packer.go_on(node.store());
        Ok(())
    }

    /// What the clock says; that it stepped back is worth a word.
    fn look_at_the_clock(&mut self) -> Instant {
        let now = self.clock.now();
        if now < self.seen {
            self.steps_back.fetch_add(1, Ordering::SeqCst);
            tracing::warn!(
                from = %self.seen,
                to = %now,
                "the clock stepped back; what is due waits until it has come there again"
            );
        }
        self.seen = now;
        now
    }

    /// Hands to the senders what is to be tried again, and a slice of messages of each pace for which
    /// they have room.
    fn hand_out(&mut self, now: Instant) -> Result<(), Error> {
        for parcel in self.delivery.take_due(now) {
            self.dispatch(parcel);
        }
        for pace in [Pace::Prompt, Pace::Patient] {
            if !self.senders.has_room(pace) {
                continue;
            }
            let Some(node) = &mut self.node else {
                return Ok(());
            };
            let made = self.made.entry(pace).or_default();
            if made.is_empty() {
                *made = Made::of(node.make_at(now, pace)?);
            }
            let parcels = made.present(node, PRESENTED_AT_ONCE)?;
            for parcel in parcels {
                self.dispatch(parcel);
            }
        }
        Ok(())
    }

    fn dispatch(&mut self, parcel: Parcel) {
        if let Err(parcel) = self.senders.dispatch(parcel) {
            let closing = parcel.closing;
            let settled = self.delivery.settle(*parcel, &panicked(), self.clock.now());
            if let Some(sent) = settled {
                self.sent.entry(closing).or_default().push(sent);
            }
        }
    }
}

fn unavailable() -> RuntimeError {
    RuntimeError::Unavailable("it failed and is being opened again".to_owned())
}

/// What to say to those whose request was being written when the store failed.
fn failed(fault: &Error) -> RuntimeError {
    use tidings_store::Error as Kind;
    match fault {
        Error::Store(Kind::Full(_) | Kind::Conflict | Kind::Invalid(_)) => {
            RuntimeError::Unavailable(fault.to_string())
        }
        _ => RuntimeError::Unknown(fault.to_string()),
    }
}

/// Does what was asked, all commands in one step, and answers after it is durable.
fn answer(
    node: &mut Node,
    now: Instant,
    requests: Vec<Request>,
    stopping: &mut Stopping,
) -> Result<(), Error> {
    let mut commands = Vec::new();
    let mut waiting = Vec::new();
    let mut looks = Vec::new();
    let mut fault = None;
    for request in requests {
        match request {
            Request::Commands(list, answer) => {
                waiting.push((list.len(), answer));
                commands.extend(list);
            }
            Request::Rules(_, answer) if fault.is_some() => drop(answer.send(Err(unavailable()))),
            Request::Rules(rules, answer) => {
                let done = node
                    .set_rules(now, *rules)
                    .and_then(|()| node.step(now, &[]));
                drop(answer.send(done.as_ref().map(|_| ()).map_err(failed)));
                fault = done.err();
            }
            Request::Look(look) => looks.push(look),
            Request::Wake => {}
            Request::Stop(answer) => *stopping = Some(answer),
        }
    }
    if let Some(fault) = fault {
        for (_, answer) in waiting {
            drop(answer.send(Err(unavailable())));
        }
        looks.into_iter().for_each(|look| look(None));
        return Err(fault);
    }
    if !waiting.is_empty() {
        match node.step(now, &commands) {
            Ok(accepted) => {
                let mut replies = accepted.replies.into_iter();
                for (count, answer) in waiting {
                    drop(answer.send(Ok(replies.by_ref().take(count).collect())));
                }
            }
            Err(fault) => {
                for (_, answer) in waiting {
                    drop(answer.send(Err(failed(&fault))));
                }
                looks.into_iter().for_each(|look| look(None));
                return Err(fault);
            }
        }
    }
    looks.into_iter().for_each(|look| look(Some(node)));
    Ok(())
}

/// Answers while there is no store.
fn refuse(requests: Vec<Request>, stopping: &mut Stopping) {
    for request in requests {
        match request {
            Request::Commands(_, answer) => drop(answer.send(Err(unavailable()))),
            Request::Rules(_, answer) => drop(answer.send(Err(unavailable()))),
            Request::Look(look) => look(None),
            Request::Wake => {}
            Request::Stop(answer) => *stopping = Some(answer),
        }
    }
}
