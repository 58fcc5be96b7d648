//! A node whose loop is driven step by step, in the caller's thread.
//!
//! The caller chooses here what production leaves to threads and to chance: when a commit is written,
//! when a message is sent, when the process dies. So a simulation meets every interleaving, and plays it
//! again by its seed.

use std::sync::Arc;

use tidings_core::Rules;
use tidings_core::engine::HeldShards;

use crate::clock::Clock;
use crate::commit::executor::Executor;
use crate::delivery::Delivery;
use crate::error::Error;
use crate::event_loop::EventLoop;
use crate::event_loop::settings::{OpenStore, Settings};
use crate::handle::request::StopFlag;
use crate::handle::{Handle, QueueReceiver};
use crate::node::Node;

/// The loop of a [`Runtime`](crate::Runtime) without its threads.
///
/// Ask through the handle without blocking ([`Handle::submit_then`]), then call [`SteppedLoop::turn`].
pub struct SteppedLoop {
    event_loop: EventLoop,
    handle: Handle,
    inbox: QueueReceiver,
    stopping: StopFlag,
}

impl SteppedLoop {
    /// Opens the store, as [`Runtime::start_held`](crate::Runtime::start_held) does.
    ///
    /// # Errors
    /// [`Error`] where the store can't be opened or read.
    pub fn open(
        open: OpenStore,
        held: Option<HeldShards>,
        rules: Rules,
        delivery: Delivery,
        clock: Arc<dyn Clock>,
        settings: Settings,
    ) -> Result<Self, Error> {
        let event_loop =
            EventLoop::open(open, held, rules, delivery, clock, settings, Executor::Hand)?;
        let (handle, inbox) = event_loop.handle();
        Ok(Self { event_loop, handle, inbox, stopping: None })
    }

    /// The handle for requests.
    #[must_use]
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// The node, for reading; `None` while the store can't be opened. A commit may be in progress.
    #[must_use]
    pub fn node(&self) -> Option<&Node> {
        self.event_loop.node.as_ref()
    }

    /// Runs a turn: what is due, what was asked, what channels answered. A failed store is opened again
    /// before that.
    pub fn turn(&mut self) {
        self.event_loop.recovery.rests = false;
        self.event_loop.mend();
        let answers = self.event_loop.outbound.senders.answers().clone();
        for (job, answer) in answers.try_iter() {
            self.event_loop.answered(job, &answer);
        }
        if let Ok(answer) = self.event_loop.resolving.answers().try_recv() {
            self.event_loop.resolving.record(answer);
        }
        let requests = self.inbox.turn();
        self.event_loop.turn(requests, &mut self.stopping);
        // Nobody waits for a real clock here.
        self.event_loop.spent.clear();
    }

    /// Writes the commit in progress; returns true if there was one.
    pub fn write(&mut self) -> bool {
        let node = self.event_loop.node.as_mut();
        node.is_some_and(|node| node.ahead().write())
    }

    /// Sends the next message of the queue. Whether there was one.
    pub fn send(&mut self) -> bool {
        self.event_loop.outbound.senders.send_next()
    }

    /// Asks the host the question in progress. Whether there was one.
    pub fn resolve(&mut self) -> bool {
        self.event_loop.resolving.ask_next()
    }

    /// Returns true if a turn would find work without a request.
    pub fn has_work(&mut self) -> bool {
        self.event_loop.patience(false).is_zero()
    }

    /// Returns true if channels have answered since the last turn.
    #[must_use]
    pub fn has_answers(&self) -> bool {
        !self.event_loop.outbound.senders.answers().is_empty()
    }

    /// Ends as a killed process does: the commit in progress is lost.
    pub fn crash(mut self) {
        if let Some(node) = &mut self.event_loop.node {
            node.ahead().lose();
        }
    }
}
