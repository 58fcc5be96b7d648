//! The runtime: a node in real time. One thread decides, a few send.
//!
//! The loop takes everything that has arrived since its last step, commits it at once and only then
//! answers (group commit). Messages are made in slices between steps, as many as delivery has room
//! for, so a million digests never keep one publish waiting for longer than a slice.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use crossbeam_channel::{Receiver, bounded, never, select};
use tidings_core::engine::{Options, Sent, Settled};
use tidings_core::{Instant, Rules};
use tidings_store::Store;

use crate::Error;
use crate::ahead::gone;
use crate::clock::Clock;
use crate::delivery::{Delivery, Parcel, panicked, parcels};
use crate::handle::{Handle, Request, Stop};
use crate::kept_back::KeptBack;
use crate::node::{Node, Pace};
use crate::packer::Packer;
use crate::senders::{Senders, letter};
use crate::vitals::Vitals;

mod answer;
mod full;
mod late;
mod look;
mod reopen;
mod stop;

use answer::{answer, refuse};
use late::{catch_up, put_off};

/// A function that opens the store, at the start and after a failure.
pub type OpenStore = Box<dyn FnMut() -> Result<Arc<dyn Store>, tidings_store::Error> + Send>;

/// The settings of a runtime.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Options of the engine.
    pub options: Options,
    /// Whether messages are built and sent. If not, due lanes are closed nevertheless, and their messages
    /// wait for a node that sends.
    pub sends: bool,
    /// Number of sending threads.
    pub senders: usize,
    /// Length of the queue of requests; one more is refused.
    pub requests_max: usize,
    /// The most commands of one step.
    pub commands_max: usize,
    /// The wait in milliseconds between two attempts to open a failed store.
    pub reopen_ms: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            options: Options::default(),
            sends: true,
            senders: 8,
            requests_max: 1024,
            commands_max: 2_048,
            reopen_ms: 1_000,
        }
    }
}

/// A running node.
pub struct Runtime {
    handle: Handle,
    ended: Ended,
    /// Signals that the store was released.
    closed: Receiver<Infallible>,
}

/// A signal of the end of a runtime.
#[derive(Clone, Debug)]
pub struct Ended(Receiver<Infallible>);

impl Ended {
    /// Blocks until the runtime has ended.
    pub fn wait(&self) {
        // Nothing is ever sent: that the other side is gone is the answer.
        let _gone = self.0.recv();
    }
}

impl Runtime {
    /// Opens the store and starts the threads.
    ///
    /// # Errors
    /// [`Error`] where the store can't be opened or read.
    pub fn start(
        mut open: OpenStore,
        rules: Rules,
        mut delivery: Delivery,
        clock: Arc<dyn Clock>,
        settings: Settings,
    ) -> Result<Self, Error> {
        let mut node = Node::open(open()?, settings.options)?;
        let vitals = Arc::new(Vitals::default());
        node.measure(&vitals);
        delivery.measure(&vitals);
        let now = clock.now();
        let newest = node.engine().now();
        // On a full disk it starts all the same: what leads to days being forgotten may come due now.
        node.set_frees(matches!(
            node.store().ensure_room(),
            Err(tidings_store::Error::Full(_))
        ));
        // What came due while nobody ran did so under the rules of then. The loop does the rest of it.
        let is_late = catch_up(&mut node, now)?;
        if !is_late {
            node.set_rules(now, rules.clone())?;
        }
        node.set_frees(false);
        let (handle, inbox) = Handle::new(settings.requests_max.max(1), Arc::clone(&vitals));
        let (runs, ended) = bounded::<Infallible>(0);
        let (holds, closed) = bounded::<Infallible>(0);
        let senders = Senders::start(settings.senders.max(1), &delivery, &clock);
        let mut core = Loop {
            open,
            node: Some(node),
            delivery,
            senders,
            clock,
            settings,
            sent: BTreeMap::new(),
            packer: Packer::default(),
            rules,
            rules_due: is_late,
            put_off: Vec::new(),
            set_aside: BTreeSet::new(),
            seen: newest,
            vitals: Arc::clone(&vitals),
            rest: None,
            hangs: false,
            is_drained: false,
        };
        core.resume()?;
        std::thread::Builder::new()
            .name("tidings-loop".to_owned())
            .spawn(move || {
                core.run(&inbox.requests);
                drop((inbox, runs));
                drop(core);
                drop(holds);
            })
            .map_err(|fault| tidings_store::Error::Unusable(fault.to_string()))?;
        Ok(Self {
            handle,
            ended: Ended(ended),
            closed,
        })
    }

    /// The handle for requests.
    #[must_use]
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// A signal of its end: it was stopped, or it ended by itself because a write hangs. Then the process
    /// should end, which alone releases the store.
    #[must_use]
    pub fn ended(&self) -> Ended {
        self.ended.clone()
    }
}

/// The most messages of each pace that are built and prepared for rendering in one turn: requests wait
/// for them, and they are in memory until they are sent.
const MADE_AT_ONCE: usize = 256;

/// The fewest commands that are decided while a commit is in progress. Fewer are gathered until it has
/// ended: each step writes something for every bucket that it concerns.
const DECIDED_AHEAD_MIN: usize = 1024;

struct Loop {
    open: OpenStore,
    /// The node; `None` while the store can't be opened.
    node: Option<Node>,
    delivery: Delivery,
    senders: Senders,
    clock: Arc<dyn Clock>,
    settings: Settings,
    /// Answers that are not recorded yet, by closing. They survive a failure of the store: a sent message
    /// is not sent again because recording it failed.
    sent: BTreeMap<(u16, u64), Vec<Sent>>,
    packer: Packer,
    /// The rules to put in force. The engine may still have others, as long as it is late and after a
    /// failure of the store.
    rules: Rules,
    /// Whether the engine does not have them yet.
    rules_due: bool,
    /// Requests that arrived while missed instants are processed: they come after those.
    put_off: Vec<Request>,
    /// Buckets whose chores' writes the store refused.
    set_aside: BTreeSet<u16>,
    /// The last reading of the clock.
    seen: Instant,
    vitals: Arc<Vitals>,
    /// Signals when the store may be opened again; `None` = now. Opening folds everything stored, which
    /// must not happen for each request.
    rest: Option<Receiver<std::time::Instant>>,
    /// Whether a write hangs and holds the store.
    hangs: bool,
    /// Whether it stops without waiting for work in progress any longer.
    is_drained: bool,
}

/// The requested stop.
type Stopping = Option<Stop>;

impl Loop {
    fn run(&mut self, inbox: &Receiver<Request>) {
        let mut stopping: Stopping = None;
        loop {
            if self.node.is_none() && self.rest.is_none() {
                self.reopen();
            }
            let mut requests = Vec::new();
            if self.wait(inbox, stopping.as_ref(), &mut requests).is_err() {
                // Nobody is left who could ask or stop.
                stopping.get_or_insert_with(Stop::unasked);
            }
            for asked in requests.extract_if(.., |asked| matches!(asked, Request::Deferred(_))) {
                if let Request::Deferred(look) = asked {
                    look(Some(&self.delivery));
                }
            }
            if let Err(fault) = self.turn(requests, &mut stopping) {
                self.fail(&fault);
            }
            if self.hangs {
                return;
            }
            if let Some(stop) = stopping.take_if(|_| self.can_end()) {
                return self.end(&stop);
            }
        }
    }

    /// Waits for a request, an answer of a channel, or the next due time.
    ///
    /// # Errors
    /// Nobody can ask any more.
    fn wait(
        &mut self,
        inbox: &Receiver<Request>,
        stop: Option<&Stop>,
        requests: &mut Vec<Request>,
    ) -> Result<(), crossbeam_channel::RecvError> {
        let stopping = stop.is_some();
        let patience = self.patience(stopping);
        let rest = self.rest.clone().unwrap_or_else(never);
        let written = match &mut self.node {
            Some(node) => node.ahead().ended(),
            None => never(),
        };
        let (mut ended, mut answered) = (None, None);
        if let Some(stop) = stop {
            select! {
                recv(stop.drained) -> _ => self.is_drained = true,
                recv(inbox) -> request => match request {
                    Ok(request) => request.turn_away(),
                    // Nobody is left who could ask.
                    Err(_) => answered = self.senders.answers().recv_timeout(patience).ok(),
                },
                recv(self.senders.answers()) -> answer => answered = answer.ok(),
                recv(written) -> result => ended = Some(result),
                default(patience) => {}
            }
            inbox.try_iter().for_each(Request::turn_away);
        } else {
            select! {
                recv(inbox) -> request => requests.push(request?),
                recv(self.senders.answers()) -> answer => answered = answer.ok(),
                recv(rest) -> _ => self.rest = None,
                recv(written) -> result => ended = Some(result),
                default(patience) => {}
            }
        }
        if let (Some(ended), Some(node)) = (ended, &mut self.node) {
            node.ahead().hear(ended.unwrap_or_else(|_| Err(gone())));
        }
        let size = |request: &Request| match request {
            Request::Work(work) => work.count,
            _ => 0,
        };
        let mut commands: usize = requests.iter().map(size).sum();
        while !stopping && commands < self.settings.commands_max {
            let request = match inbox.try_recv() {
                Ok(request) => request,
                Err(_) => {
                    let Some(node) = &mut self.node else { break };
                    let is_little = (1..DECIDED_AHEAD_MIN).contains(&commands);
                    if !is_little || !node.ahead().is_writing() {
                        break;
                    }
                    select! {
                        recv(inbox) -> request => match request {
                            Ok(request) => request,
                            // Who could ask is gone, which is seen with the next turn.
                            Err(_) => break,
                        },
                        recv(node.ahead().ended()) -> ended => {
                            node.ahead().hear(ended.unwrap_or_else(|_| Err(gone())));
                            continue;
                        }
                    }
                }
            };
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
        if !self.sent.is_empty() {
            return Duration::ZERO;
        }
        let can_make = |pace| self.senders.has_room(pace) && node.has_closings_at(pace);
        let sends = self.settings.sends;
        let has_work = sends && (can_make(Pace::Prompt) || can_make(Pace::Patient));
        let has_chores = node.engine().has_chores() && !node.ahead().is_writing();
        if !stopping && (has_work || has_chores) {
            return Duration::ZERO;
        }
        // While it stops nothing is tried again any more.
        let retry = self.delivery.next_retry().filter(|_| sends && !stopping);
        let due = node.next_due().into_iter().chain(retry);
        let due = due.chain(node.engine().next_forget()).min();
        let longest = 60_000;
        let wait = due.map_or(longest, |due| {
            (due.0 - self.clock.now().0).clamp(0, longest)
        });
        Duration::from_millis(wait.unsigned_abs())
    }

    /// Runs one turn: due lanes, requests, answers of channels, messages to build.
    fn turn(&mut self, requests: Vec<Request>, stopping: &mut Stopping) -> Result<(), Error> {
        let mut requests = self.with_put_off(requests);
        self.let_instant_pass(&requests);
        let now = self.look_at_the_clock();
        let Some(node) = &mut self.node else {
            refuse(requests, stopping);
            return Ok(());
        };
        if !node.ahead().is_writing()
            && let Err(fault) = node.ahead().finish()
        {
            refuse(requests, stopping);
            return Err(fault);
        }
        match node.store().ensure_room() {
            Ok(()) => {}
            Err(full @ tidings_store::Error::Full(_)) => {
                return self.turn_without_room(now, requests, stopping, &full);
            }
            Err(fault) => {
                refuse(requests, stopping);
                return Err(fault.into());
            }
        }
        match catch_up(node, now) {
            Ok(false) => {}
            Ok(true) => requests = put_off(requests, &mut self.put_off, self.settings.requests_max),
            Err(fault) => {
                refuse(requests, stopping);
                return Err(fault);
            }
        }
        let channels = self.delivery.channels();
        let held = {
            let kept_back = KeptBack::new(Some(&mut self.senders), Some(&mut self.delivery));
            let mut prepared = node.forget_late(&kept_back, now);
            let is_late = node.is_late(now);
            if self.rules_due && !is_late && prepared.is_ok() {
                prepared = node.set_rules_beside(&kept_back, now, self.rules.clone());
                self.rules_due = prepared.is_err();
            }
            if let Err(fault) = prepared {
                refuse(requests, stopping);
                return Err(fault);
            }
            let in_force = (&channels, &mut self.rules);
            answer(node, now, requests, stopping, in_force, &kept_back)?;
            if !is_late && node.next_due().is_some_and(|due| due <= now) {
                node.step_beside(&kept_back, now, &[])?;
            }
            kept_back.held()
        };
        if !held.is_empty() {
            node.ahead().finish()?;
        }
        let released = held.release(node)?;
        self.hold_paused();
        self.let_go(released);
        self.settle(now)?;
        if stopping.is_none() && self.settings.sends {
            self.hand_out(now)?;
        }
        self.do_chores()
    }

    /// Runs the engine's chores: a slice per turn, more if it falls behind.
    fn do_chores(&mut self) -> Result<(), Error> {
        let Some(node) = &mut self.node else {
            return Ok(());
        };
        // Steps do their part of it themselves.
        if node.ahead().is_writing() && !node.engine().is_behind() {
            return Ok(());
        }
        for _ in 0..if node.engine().is_behind() { 4 } else { 1 } {
            if !node.chore()? {
                break;
            }
        }
        self.packer.add(node.take_rested());
        self.packer.go_on(node.store());
        Ok(())
    }

    /// Records the answers of channels.
    fn settle(&mut self, now: Instant) -> Result<(), Error> {
        let Some(node) = &mut self.node else {
            return Ok(());
        };
        let now = node.decided_at(now);
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
        Ok(())
    }

    /// Holds the built messages of paused types and channels.
    fn hold_paused(&mut self) {
        let Some(node) = &self.node else {
            return;
        };
        let paused = node.engine().paused();
        if !self.delivery.pause(paused) {
            return;
        }
        let now = self.clock.now();
        for parcel in self.senders.take_back_paused(paused) {
            self.delivery.wait_until(now, parcel);
        }
    }

    /// Releases messages that were kept back.
    fn let_go(&mut self, released: Vec<(Parcel, Option<Instant>)>) {
        for (parcel, again) in released {
            match again {
                Some(at) => self.delivery.wait_until(at, parcel),
                None => self.dispatch(parcel),
            }
        }
    }

    /// Passes due retries to the senders, and a slice of messages of each pace for which they have room.
    fn hand_out(&mut self, now: Instant) -> Result<(), Error> {
        for parcel in self.delivery.take_due(now) {
            self.try_again(parcel);
        }
        for pace in [Pace::Prompt, Pace::Patient] {
            if !self.senders.has_room(pace) {
                continue;
            }
            let Some(node) = &mut self.node else {
                return Ok(());
            };
            let at = node.decided_at(now);
            let plans = node.make_at(at, pace, MADE_AT_ONCE)?;
            let ready = plans.into_iter().map(|plan| node.present(plan));
            for ready in ready.collect::<Result<Vec<_>, _>>()? {
                for parcel in parcels(ready) {
                    self.dispatch(parcel);
                }
            }
        }
        Ok(())
    }

    /// Retries a message, unless the recipient was erased since.
    fn try_again(&mut self, parcel: Parcel) {
        let letter = letter(&parcel);
        let node = self.node.as_ref();
        if node.is_none_or(|node| node.engine().has_recipient_of(letter)) {
            return self.dispatch(parcel);
        }
        let closing = parcel.closing;
        self.sent
            .entry(closing)
            .or_default()
            .push(parcel.given_up());
    }

    fn dispatch(&mut self, parcel: Parcel) {
        if !self.settings.sends || self.delivery.is_held(&parcel) {
            return self.delivery.wait_until(self.clock.now(), parcel);
        }
        if let Err(parcel) = self.senders.dispatch(parcel) {
            let closing = parcel.closing;
            let settled = self.delivery.settle(*parcel, &panicked(), self.clock.now());
            if let Some(sent) = settled {
                self.sent.entry(closing).or_default().push(sent);
            }
        }
    }
}
