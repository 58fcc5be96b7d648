//! The runtime: a node in real time. One thread decides, a few send.
//!
//! The loop takes everything that has arrived since its last turn, commits its decisions at once, and only then answers
//! and sends (group commit). Messages are built in slices, as many as delivery has room for, so a million digests never
//! delay a publish by more than a slice.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use crossbeam_channel::{Receiver, after, bounded, never, select};
use tidings_core::Rules;
use tidings_core::engine::HeldShards;

use crate::clock::Clock;
use crate::commit::executor::Executor;
use crate::commit::pipeline::gone;
use crate::delivery::Delivery;
use crate::error::Error;
use crate::event_loop::EventLoop;
use crate::event_loop::settings::{OpenStore, Settings};
use crate::handle::request::{Request, Stop, StopFlag};
use crate::handle::shares::TurnShares;
use crate::handle::{Handle, QueueReceiver};

mod look;
pub(super) mod stepped;
mod stop;

/// A running node.
pub struct Runtime {
    handle: Handle,
    ended: EndSignal,
    /// Signals that the store was released.
    closed: Receiver<Infallible>,
}

/// A signal of the end of a runtime.
#[derive(Clone, Debug)]
pub struct EndSignal(Receiver<Infallible>);

impl EndSignal {
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
        open: OpenStore,
        rules: Rules,
        delivery: Delivery,
        clock: Arc<dyn Clock>,
        settings: Settings,
    ) -> Result<Self, Error> {
        Self::start_held(open, None, rules, delivery, clock, settings)
    }

    /// [`Runtime::start`] of a node that has some shards of the store.
    ///
    /// # Errors
    /// [`Error`] where the store can't be opened or read.
    pub fn start_held(
        open: OpenStore,
        held: Option<HeldShards>,
        rules: Rules,
        delivery: Delivery,
        clock: Arc<dyn Clock>,
        settings: Settings,
    ) -> Result<Self, Error> {
        let core =
            EventLoop::open(open, held, rules, delivery, clock, settings, Executor::Threads)?;
        let (handle, inbox) = core.handle();
        let driver = LoopDriver { core, rest: None };
        Self::spawn("tidings-loop", handle, inbox, driver, |driver, inbox| {
            driver.run(inbox);
        })
    }

    /// Runs a node in a thread of its own, until `run` returns; then its store is released.
    fn spawn<N: Send + 'static>(
        name: &str,
        handle: Handle,
        inbox: QueueReceiver,
        mut node: N,
        run: impl FnOnce(&mut N, &QueueReceiver) + Send + 'static,
    ) -> Result<Self, Error> {
        let (runs, ended) = bounded::<Infallible>(0);
        let (holds, closed) = bounded::<Infallible>(0);
        std::thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || {
                run(&mut node, &inbox);
                drop(inbox);
                drop(runs);
                drop(node);
                drop(holds);
            })
            .map_err(|fault| tidings_store::Error::Unusable(fault.to_string()))?;
        Ok(Self { handle, ended: EndSignal(ended), closed })
    }

    /// The handle for requests.
    #[must_use]
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// A signal of its end: it was stopped, or it ended by itself because a write hangs. Then the process
    /// should end, which alone releases the store.
    #[must_use]
    pub fn ended(&self) -> EndSignal {
        self.ended.clone()
    }
}

/// The fewest commands that are decided while a commit is in progress. Fewer are gathered until it has
/// ended: each step writes something for every bucket that it concerns.
const DECIDED_AHEAD_MIN: usize = 1024;

/// Drives the loop in real time.
struct LoopDriver {
    core: EventLoop,
    /// Signals when a failed store may be opened again.
    rest: Option<Receiver<std::time::Instant>>,
}

impl LoopDriver {
    fn run(&mut self, inbox: &QueueReceiver) {
        let mut stopping: StopFlag = None;
        loop {
            self.core.mend();
            let mut requests = Vec::new();
            if self.wait(inbox, stopping.as_ref(), &mut requests).is_err() {
                // All handles are gone, so nobody can ask or stop any more.
                stopping.get_or_insert_with(Stop::unasked);
            }
            let is_over = self.core.turn(requests, &mut stopping);
            for (caller, took) in self.core.spent.drain(..) {
                inbox.took(&caller, took);
            }
            if is_over {
                return;
            }
        }
    }

    /// The signal for opening the store again.
    fn rest(&mut self) -> Receiver<std::time::Instant> {
        if !self.core.recovery.rests {
            self.rest = None;
            return never();
        }
        let ms = self.core.settings.reopen_ms;
        let rest = self.rest.get_or_insert_with(|| after(Duration::from_millis(ms)));
        rest.clone()
    }

    /// Waits for a request, an answer of a channel, or the next due time.
    ///
    /// # Errors
    /// Nobody can ask any more.
    fn wait(
        &mut self,
        inbox: &QueueReceiver,
        stop: Option<&Stop>,
        requests: &mut Vec<Request>,
    ) -> Result<(), crossbeam_channel::RecvError> {
        let stopping = stop.is_some();
        // Requests that a turn left, since their callers had their share, are signalled by nothing else.
        let patience = match inbox.rest() {
            Some(Duration::ZERO) => Duration::ZERO,
            rest => {
                rest.into_iter().chain([self.core.patience(stopping)]).min().unwrap_or_default()
            }
        };
        let rest = self.rest();
        let (written, hangs) = match &mut self.core.node {
            Some(node) => node.ahead().ended(),
            None => (never(), never()),
        };
        let (mut ended, mut hung) = (None, None);
        let (mut answered, mut resolved) = (None, None);
        if let Some(stop) = stop {
            select! {
                recv(stop.drained) -> _ => self.core.is_drained = true,
                recv(inbox.woken) -> woken => if woken.is_err() {
                    // All handles are gone. Answers of channels still count.
                    answered = self.core.outbound.senders.answers().recv_timeout(patience).ok();
                },
                recv(self.core.outbound.senders.answers()) -> answer => answered = answer.ok(),
                recv(written) -> result => ended = Some(result),
                recv(hangs) -> at => hung = at.ok(),
                default(patience) => {}
            }
            // Requests during a stop are refused at once, rather than after the drain.
            inbox.turn_away();
        } else {
            select! {
                recv(inbox.woken) -> woken => if inbox.is_empty() { woken?; },
                recv(self.core.outbound.senders.answers()) -> answer => answered = answer.ok(),
                recv(self.core.resolving.answers()) -> answer => resolved = answer.ok(),
                recv(rest) -> _ => {
                    self.core.recovery.rests = false;
                    self.rest = None;
                }
                recv(written) -> result => ended = Some(result),
                recv(hangs) -> at => hung = at.ok(),
                default(patience) => {}
            }
        }
        if let Some(answer) = resolved {
            self.core.resolving.record(answer);
        }
        if let (Some(ended), Some(node)) = (ended, &mut self.core.node) {
            node.ahead().record(ended.unwrap_or_else(|_| Err(gone())));
        }
        if let (Some(_), Some(node)) = (hung, &mut self.core.node) {
            node.ahead().give_up();
        }
        if !stopping {
            self.gather(inbox, requests);
        }
        // One answer has ended the wait: all others that are there come into the same commit.
        let arrived = self.core.outbound.senders.answers().clone();
        for (job, answer) in answered.into_iter().chain(arrived.try_iter()) {
            self.core.answered(job, &answer);
        }
        Ok(())
    }

    /// Gathers the requests of a turn. Few are joined by those that come before the commit in progress has ended.
    fn gather(&mut self, inbox: &QueueReceiver, requests: &mut Vec<Request>) {
        let size = |request: &Request| match request {
            Request::Work(work) => work.count,
            _ => 0,
        };
        let (mut turn, mut commands) = (TurnShares::default(), 0);
        loop {
            while commands < self.core.settings.commands_max
                && let Some(request) = inbox.next(&mut turn)
            {
                commands += size(&request);
                requests.push(request);
            }
            let Some(node) = &mut self.core.node else { return };
            // A few commands would make a small commit. They cost nothing by waiting, as the turn would
            // wait for the commit before.
            let is_little = (1..DECIDED_AHEAD_MIN).contains(&commands);
            if !is_little || !node.ahead().is_writing() {
                return;
            }
            let (ended, hangs) = node.ahead().ended();
            select! {
                // All handles are gone, which the next wait finds out.
                recv(inbox.woken) -> woken => if woken.is_err() { return },
                recv(hangs) -> _ => node.ahead().give_up(),
                recv(ended) -> ended => node.ahead().record(ended.unwrap_or_else(|_| Err(gone()))),
            }
        }
    }
}
