//! The node in real time: one thread decides, a few send.
//!
//! The loop takes everything that has arrived since its last step, commits it at once and only then
//! answers (group commit). Messages are made in slices between steps, as many as delivery has room
//! for, so a million digests never keep one publish waiting for longer than a slice.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, TryRecvError, bounded, select, unbounded};
use tidings_core::engine::{Options, Refused, Reply, Sent, Settled};
use tidings_core::{Command, Instant, Rules};
use tidings_store::Store;

use crate::Error;
use crate::channel::Outcome as Answer;
use crate::clock::Clock;
use crate::delivery::{Delivery, Parcel, no_channel, panicked, parcels};
use crate::node::Node;

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

enum Request {
    Commands(Vec<Command>, Sender<Replies>),
    Rules(Box<Rules>, Sender<Result<(), RuntimeError>>),
    Look(Box<dyn FnOnce(&Node) + Send>),
    /// The clock was put: look again.
    Wake,
    Stop(Sender<Result<(), RuntimeError>>),
}

/// Asks the runtime. Cheap to clone.
#[derive(Clone)]
pub struct Handle {
    requests: Sender<Request>,
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
    /// [`RuntimeError::Busy`] or [`RuntimeError::Stopped`].
    pub fn look<T: Send + 'static>(
        &self,
        look: impl FnOnce(&Node) -> T + Send + 'static,
    ) -> Result<T, RuntimeError> {
        let (answer, answered) = bounded(1);
        self.ask(Request::Look(Box::new(move |node| {
            drop(answer.send(look(node)));
        })))?;
        answered.recv().map_err(|_| RuntimeError::Stopped)
    }

    /// Has the loop look at the clock: it was put.
    ///
    /// # Errors
    /// [`RuntimeError::Busy`] or [`RuntimeError::Stopped`].
    pub fn wake(&self) -> Result<(), RuntimeError> {
        self.ask(Request::Wake)
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
        node.set_rules(clock.now(), rules)?;
        let (requests, inbox) = bounded(settings.requests_max.max(1));
        let senders = Senders::start(settings.senders.max(1), &delivery, &clock);
        let mut core = Loop {
            open,
            node: Some(node),
            delivery,
            senders,
            clock,
            settings,
            on_the_way: 0,
            sent: BTreeMap::new(),
        };
        core.resume()?;
        let thread = std::thread::Builder::new()
            .name("tidings-loop".to_owned())
            .spawn(move || core.run(&inbox))
            .map_err(|fault| tidings_store::Error::Unusable(fault.to_string()))?;
        Ok(Self {
            handle: Handle { requests },
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

/// The threads that send. Urgent messages go before the others.
struct Senders {
    urgent: Sender<Parcel>,
    patient: Sender<Parcel>,
    answers: Receiver<(Parcel, Answer)>,
    room: usize,
}

impl Senders {
    fn start(count: usize, delivery: &Delivery, clock: &Arc<dyn Clock>) -> Self {
        let (urgent, urgent_work) = unbounded::<Parcel>();
        let (patient, patient_work) = unbounded::<Parcel>();
        let (answer, answers) = unbounded();
        for _ in 0..count {
            let (urgent, patient) = (urgent_work.clone(), patient_work.clone());
            let (answer, clock) = (answer.clone(), Arc::clone(clock));
            let channels = delivery.channels();
            std::thread::spawn(move || {
                while let Some(parcel) = next_parcel(&urgent, &patient) {
                    let channel = channels.get(&parcel.batch.channel);
                    let now = clock.now();
                    let send = || match channel {
                        Some(channel) => channel.send(&parcel.batch, now),
                        None => no_channel(&parcel.batch.channel),
                    };
                    let sent = std::panic::catch_unwind(std::panic::AssertUnwindSafe(send));
                    if answer
                        .send((parcel, sent.unwrap_or_else(|_| panicked())))
                        .is_err()
                    {
                        break;
                    }
                }
            });
        }
        Self {
            urgent,
            patient,
            answers,
            room: count * 64,
        }
    }
}

/// The next message to send: an urgent one if there is any.
fn next_parcel(urgent: &Receiver<Parcel>, patient: &Receiver<Parcel>) -> Option<Parcel> {
    match urgent.try_recv() {
        Ok(parcel) => return Some(parcel),
        Err(TryRecvError::Disconnected) => return patient.recv().ok(),
        Err(TryRecvError::Empty) => {}
    }
    select! {
        recv(urgent) -> parcel => parcel.or_else(|_| patient.recv()).ok(),
        recv(patient) -> parcel => parcel.or_else(|_| urgent.recv()).ok(),
    }
}

struct Loop {
    open: OpenStore,
    /// `None` while the store can't be opened.
    node: Option<Node>,
    delivery: Delivery,
    senders: Senders,
    clock: Arc<dyn Clock>,
    settings: Settings,
    /// Messages that were handed to the senders and not answered yet.
    on_the_way: usize,
    /// Answers that are not written yet, by closing.
    sent: BTreeMap<(u16, u64), Vec<Sent>>,
}

impl Loop {
    fn run(&mut self, inbox: &Receiver<Request>) {
        let mut stopping: Option<Sender<Result<(), RuntimeError>>> = None;
        loop {
            if self.node.is_none() {
                self.reopen();
            }
            let mut requests = Vec::new();
            self.wait(inbox, stopping.is_some(), &mut requests);
            if let Err(fault) = self.turn(requests, &mut stopping) {
                self.fail(&fault);
            }
            let done = self.on_the_way == 0 && self.sent.is_empty();
            if done && let Some(answer) = stopping.take() {
                let result = self.node.as_mut().map_or(Ok(()), Node::checkpoint);
                drop(answer.send(result.map_err(|fault| RuntimeError::Unknown(fault.to_string()))));
                return;
            }
        }
    }

    /// Waits for a request, an answer of a channel, or the time when something is due.
    fn wait(&mut self, inbox: &Receiver<Request>, stopping: bool, requests: &mut Vec<Request>) {
        let patience = self.patience(stopping);
        let mut answered = None;
        if stopping {
            answered = self.senders.answers.recv_timeout(patience).ok();
        } else {
            select! {
                recv(inbox) -> request => requests.extend(request.ok()),
                recv(self.senders.answers) -> answer => answered = answer.ok(),
                default(patience) => {}
            }
        }
        let mut commands = 0;
        while commands < self.settings.commands_max {
            let Ok(request) = inbox.try_recv() else { break };
            if let Request::Commands(list, _) = &request {
                commands += list.len();
            }
            requests.push(request);
        }
        let now = self.clock.now();
        while let Some((parcel, answer)) = answered.or_else(|| self.senders.answers.try_recv().ok())
        {
            self.on_the_way -= 1;
            let closing = parcel.closing;
            if let Some(sent) = self.delivery.settle(parcel, &answer, now) {
                self.sent.entry(closing).or_default().push(sent);
            }
            answered = None;
        }
    }

    fn patience(&mut self, stopping: bool) -> Duration {
        let Some(node) = &mut self.node else {
            return Duration::from_millis(self.settings.reopen_ms);
        };
        let has_room = !stopping && self.on_the_way < self.senders.room;
        if has_room && !node.engine().closings().is_empty() {
            return Duration::ZERO;
        }
        let due = node
            .next_due()
            .into_iter()
            .chain(self.delivery.next_retry());
        let due = due.chain(node.engine().next_forget()).min();
        let longest = 60_000;
        let wait = due.map_or(longest, |due| {
            (due.0 - self.clock.now().0).clamp(0, longest)
        });
        Duration::from_millis(wait.unsigned_abs())
    }

    /// One turn: what is due, what was asked, what was answered, what can be made.
    fn turn(
        &mut self,
        requests: Vec<Request>,
        stopping: &mut Option<Sender<Result<(), RuntimeError>>>,
    ) -> Result<(), Error> {
        let Some(node) = &mut self.node else {
            refuse(requests, stopping);
            return Ok(());
        };
        let now = self.clock.now();
        let late = |node: &mut Node| {
            let due = node
                .next_due()
                .into_iter()
                .chain(node.engine().next_forget())
                .min();
            due.filter(|due| *due <= now)
        };
        while let Some(due) = late(node) {
            // A clock that is late plays the instants that it missed in their order.
            let at = due.max(node.engine().now());
            node.fall_due(at)?;
            node.forget_due(at)?;
            node.step(at, &[])?;
        }
        answer(node, now, requests, stopping)?;
        let settled: Vec<Settled> = std::mem::take(&mut self.sent)
            .into_iter()
            .map(|(closing, sent)| Settled { closing, sent })
            .collect();
        if !settled.is_empty() {
            node.settle(now, &settled)?;
        }
        if stopping.is_none() {
            self.hand_out(now)?;
        }
        match &mut self.node {
            Some(node) => node.checkpoint(),
            None => Ok(()),
        }
    }

    /// Makes one slice of messages if delivery has room, and hands it to the senders.
    fn hand_out(&mut self, now: Instant) -> Result<(), Error> {
        for parcel in self.delivery.take_due(now) {
            self.dispatch(parcel);
        }
        if self.on_the_way >= self.senders.room {
            return Ok(());
        }
        let Some(node) = &mut self.node else {
            return Ok(());
        };
        let plans = node.make(now)?;
        let ready = plans.into_iter().map(|plan| node.present(plan));
        for ready in ready.collect::<Result<Vec<_>, _>>()? {
            for parcel in parcels(ready) {
                self.dispatch(parcel);
            }
        }
        Ok(())
    }

    fn dispatch(&mut self, parcel: Parcel) {
        self.on_the_way += 1;
        let is_patient = parcel.batch.lane.starts_with("digest:");
        let queue = if is_patient {
            &self.senders.patient
        } else {
            &self.senders.urgent
        };
        if let Err(returned) = queue.send(parcel) {
            self.on_the_way -= 1;
            let parcel = returned.into_inner();
            drop(self.delivery.settle(parcel, &panicked(), self.clock.now()));
        }
    }

    /// The store failed: its handles go away, and what is stored is the truth.
    fn fail(&mut self, fault: &Error) {
        tracing::error!(error = %fault, "the store failed; it will be opened again");
        self.node = None;
        self.sent.clear();
    }

    fn reopen(&mut self) {
        let opened = (self.open)()
            .map_err(Error::from)
            .and_then(|store| Node::open(store, self.settings.options));
        match opened {
            Ok(node) => {
                self.node = Some(node);
                if let Err(fault) = self.resume() {
                    self.fail(&fault);
                }
            }
            Err(fault) => tracing::warn!(error = %fault, "the store can't be opened"),
        }
    }

    /// Takes up messages that were made before and whose outcome is not known.
    fn resume(&mut self) -> Result<(), Error> {
        let Some(node) = &mut self.node else {
            return Ok(());
        };
        for ready in node.unsettled()? {
            for parcel in parcels(ready) {
                self.dispatch(parcel);
            }
        }
        Ok(())
    }
}

/// Does what was asked, all commands in one step, and answers after it is durable.
fn answer(
    node: &mut Node,
    now: Instant,
    requests: Vec<Request>,
    stopping: &mut Option<Sender<Result<(), RuntimeError>>>,
) -> Result<(), Error> {
    let mut commands = Vec::new();
    let mut waiting = Vec::new();
    let mut looks = Vec::new();
    for request in requests {
        match request {
            Request::Commands(list, answer) => {
                waiting.push((list.len(), answer));
                commands.extend(list);
            }
            Request::Rules(rules, answer) => {
                let done = node
                    .set_rules(now, *rules)
                    .and_then(|()| node.step(now, &[]));
                let told = match &done {
                    Ok(_) => Ok(()),
                    Err(fault) => Err(RuntimeError::Unknown(fault.to_string())),
                };
                drop(answer.send(told));
                done?;
            }
            Request::Look(look) => looks.push(look),
            Request::Wake => {}
            Request::Stop(answer) => *stopping = Some(answer),
        }
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
                    drop(answer.send(Err(RuntimeError::Unknown(fault.to_string()))));
                }
                return Err(fault);
            }
        }
    }
    looks.into_iter().for_each(|look| look(node));
    Ok(())
}

/// Answers while there is no store.
fn refuse(requests: Vec<Request>, stopping: &mut Option<Sender<Result<(), RuntimeError>>>) {
    let unavailable =
        || RuntimeError::Unavailable("it failed and is being opened again".to_owned());
    for request in requests {
        match request {
            Request::Commands(_, answer) => drop(answer.send(Err(unavailable()))),
            Request::Rules(_, answer) => drop(answer.send(Err(unavailable()))),
            Request::Look(_) | Request::Wake => {}
            Request::Stop(answer) => *stopping = Some(answer),
        }
    }
}
