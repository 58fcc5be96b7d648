//! Playing commands on a virtual clock, one instant after the other.
//!
//! At one instant: what is due goes out; days are forgotten at midnight; what arrives is taken in;
//! what is now due goes out (contract, section 2). The simulator, the demo and the tests are this. It drives
//! the phases of a turn of the loop, from one instant at which something happens to the next.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tidings_core::content::{Message, Totals};
use tidings_core::engine::{
    ClosingResults, DryRun, ExplainError, ExplainSubject, Options, Refused, Reply,
};
use tidings_core::journal::Unreadable;
use tidings_core::model::{Explanation, Timed};
use tidings_core::{Command, Id, Instant, Rules};
use tidings_store::Store;

use crate::delivery::Delivery;
use crate::delivery::sending::SenderInterface;
use crate::error::Error;
use crate::event_loop::EventLoop;
use crate::node::{Accepted, Node};

mod parts;

/// A player: a node on a virtual clock.
pub struct Player {
    event_loop: EventLoop,
    /// The open instant, with its commands.
    open: Option<(Instant, Vec<Command>)>,
    /// True if the instant has already closed what was due.
    begun: bool,
    /// True if it goes on where a command is refused.
    goes_on: bool,
    observer: Option<Box<dyn Observer + Send>>,
    /// Set from elsewhere once it is to stop.
    stop: Option<Arc<AtomicBool>>,
}

/// An observer of a player's commands and their answers (and, with a watch, of the time they take).
///
/// A publisher waits for everything between the two calls: decided, durable, and delivered to inboxes.
pub trait Observer {
    /// Called before these commands are handled together.
    fn before(&mut self, at: Instant, commands: &[Command]);

    /// Called after they are durable, with an answer per command, in order.
    fn after(&mut self, at: Instant, replies: &[Result<Reply, Refused>]);
}

/// The output that a player collects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlayerOutput {
    /// The caller gets each message.
    Messages,
    /// Messages are only counted.
    Nothing,
}

/// The reason why a command was not played.
#[derive(Debug, thiserror::Error)]
pub enum PlayError {
    /// A command was refused, the first of its instant; nothing of it was done.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// A command is earlier than the open instant.
    #[error("time goes back: {at} comes after {last}")]
    Back {
        /// The command's instant.
        at: Instant,
        /// The open instant.
        last: Instant,
    },
    /// The player was stopped.
    #[error("it was stopped")]
    Stopped,
    /// The node failed.
    #[error(transparent)]
    Node(#[from] Error),
}

/// A receiver of messages, in order.
pub type MessageReceiver<'a> = dyn FnMut(Message) + 'a;

/// The reason why a player always has its node.
const KEPT: &str = "only a turn of the loop throws its node away";

/// The most commands of one instant that are handled together.
const TOGETHER_MAX: usize = 8192;

impl Player {
    /// Opens a player over a store; its rules are set at the first command's instant.
    ///
    /// # Errors
    /// [`Error`] where the store can't be opened.
    pub fn open(
        store: Arc<dyn Store>,
        options: Options,
        collect: PlayerOutput,
    ) -> Result<Self, Error> {
        let mut node = Node::open(store, options)?;
        // Nobody sends: what was made before a stop counts as sent, as it would have been.
        let settled: Vec<_> =
            node.unsettled()?.iter().map(|ready| ClosingResults::delivered(&ready.plan)).collect();
        if !settled.is_empty() {
            node.settle(node.engine().now(), &settled)?;
        }
        Ok(Self::over(node, None, collect))
    }

    /// Makes the player send messages through channels instead of only counting them as sent. Messages
    /// that were built before a stop and have no outcome are sent first. `reached` = the instant after which the
    /// process before surely made no attempt.
    ///
    /// # Errors
    /// [`Error`] where the store can't be opened.
    pub fn with_delivery(
        store: Arc<dyn Store>,
        options: Options,
        collect: PlayerOutput,
        mut delivery: Delivery,
        reached: Instant,
    ) -> Result<Self, Error> {
        let mut node = Node::open(store, options)?;
        for ready in node.unsettled()? {
            delivery.take_up(node.engine(), ready, reached);
        }
        delivery.in_flight.pause(node.engine().paused(), node.engine().now());
        Ok(Self::over(node, Some(delivery), collect))
    }

    fn over(node: Node, delivery: Option<Delivery>, collect: PlayerOutput) -> Self {
        Self {
            event_loop: EventLoop::at_once(node, delivery, collect == PlayerOutput::Messages),
            open: None,
            begun: false,
            goes_on: false,
            observer: None,
            stop: None,
        }
    }

    /// Continues within an instant whose first commands were handled before a stop: what was due before
    /// has been sent already.
    pub fn resume(&mut self, at: Instant) {
        self.open = Some((at, Vec::new()));
        self.begun = true;
    }

    /// Makes the player go on where a command is refused; the observer hears of it.
    #[must_use]
    pub fn past_refusals(self) -> Self {
        Self { goes_on: true, ..self }
    }

    /// Sets the observer.
    pub fn observe_by(&mut self, observer: Box<dyn Observer + Send>) {
        self.observer = Some(observer);
    }

    /// Makes the player stop before its next instant once this is set.
    pub fn stop_by(&mut self, stop: Arc<AtomicBool>) {
        self.stop = Some(stop);
    }

    /// Returns the node, for reading after everything was played.
    #[must_use]
    #[expect(clippy::missing_panics_doc, reason = "it never panics")]
    pub fn into_node(self) -> Node {
        self.event_loop.node.expect(KEPT)
    }

    /// The node, for reading.
    #[must_use]
    #[expect(clippy::missing_panics_doc, reason = "it never panics")]
    pub fn node(&self) -> &Node {
        self.event_loop.node.as_ref().expect(KEPT)
    }

    /// Puts rules in force at an instant, between the commands before and after.
    ///
    /// # Errors
    /// [`PlayError`].
    pub fn set_rules(
        &mut self,
        at: Instant,
        rules: Rules,
        out: &mut MessageReceiver<'_>,
    ) -> Result<(), PlayError> {
        self.turn_to(at, out)?;
        self.take_in()?;
        self.begin(at)?;
        let set = self.event_loop.run_decision(at, |node, _, _| node.set_rules(at, rules));
        Ok(set?)
    }

    /// Plays the next command, which is decided with the others of its instant. Messages of instants that are over
    /// go to `out`.
    ///
    /// # Errors
    /// [`PlayError`]; after [`PlayError::Back`] nothing has changed. [`PlayError::Refused`] is of an instant that is over
    /// or full: none of its messages has gone to `out`, and no more can be played.
    pub fn play(&mut self, timed: Timed, out: &mut MessageReceiver<'_>) -> Result<(), PlayError> {
        let Timed { at, command } = timed;
        self.go_on()?;
        self.turn_to(at, out)?;
        if let Some((_, commands)) = &mut self.open {
            commands.push(command);
            if commands.len() >= TOGETHER_MAX {
                self.take_in()?;
            }
        }
        Ok(())
    }

    /// Decides a command after those of its instant so far, without doing it. The clock runs to it.
    ///
    /// # Errors
    /// [`PlayError`] as of [`Player::play`].
    pub fn dry_run(
        &mut self,
        timed: &Timed,
        out: &mut MessageReceiver<'_>,
    ) -> Result<DryRun, PlayError> {
        self.turn_to(timed.at, out)?;
        self.take_in()?;
        Ok(self.node().dry_run(timed.at, &timed.command)?)
    }

    /// Runs the clock until no pending entry can become due, or to `until` with all steps of that
    /// instant.
    ///
    /// # Errors
    /// [`PlayError`] as of [`Player::play`].
    pub fn finish(
        &mut self,
        until: Option<Instant>,
        out: &mut MessageReceiver<'_>,
    ) -> Result<(), PlayError> {
        self.close(out)?;
        self.forget_late(self.node().engine().now())?;
        while let Some(due) = self.next_due() {
            let due = due.max(self.node().engine().now());
            match until {
                Some(until) if due > until => break,
                None if !self.node().waits()? => break,
                _ => {}
            }
            match self.node().engine().next_forget() {
                Some(midnight) if midnight < due => self.instant(midnight, out)?,
                _ => self.instant(due, out)?,
            }
        }
        while let (Some(midnight), Some(until)) = (self.node().engine().next_forget(), until) {
            if midnight > until {
                break;
            }
            self.instant(midnight, out)?;
        }
        Ok(())
    }

    /// Plays the open instant to its end; the next command must be later.
    ///
    /// # Errors
    /// [`PlayError`] as of [`Player::play`].
    pub fn end_instant(&mut self, out: &mut MessageReceiver<'_>) -> Result<(), PlayError> {
        self.close(out)
    }

    /// Counts everything in the store.
    ///
    /// # Errors
    /// [`Error::Disagreement`] where the walk and the ledger don't agree.
    pub fn books(&self) -> Result<Totals, Error> {
        self.node().books()
    }

    /// Explains the fate of an event for a recipient, also of a hypothetical event.
    ///
    /// # Errors
    /// [`ExplainError`].
    pub fn explain(
        &self,
        subject: ExplainSubject,
        recipient: &Id,
        now: Instant,
    ) -> Result<Explanation, ExplainError> {
        let node = self.node();
        let view = node.view().map_err(|fault| Unreadable(fault.to_string()))?;
        node.engine().reader(&view).explain(subject, recipient, now)
    }

    /// Plays everything before `at` and opens that instant.
    fn turn_to(&mut self, at: Instant, out: &mut MessageReceiver<'_>) -> Result<(), PlayError> {
        if let Some((open, _)) = self.open {
            if at == open {
                return Ok(());
            }
            if at < open {
                return Err(PlayError::Back { at, last: open });
            }
        }
        self.close(out)?;
        loop {
            let due = self.next_due().filter(|due| *due < at);
            let forget = self.node().engine().next_forget().filter(|midnight| *midnight < at);
            let Some(next) = due.into_iter().chain(forget).min() else {
                break;
            };
            let next = next.max(self.node().engine().now());
            if next >= at {
                break;
            }
            self.instant(next, out)?;
        }
        self.open = Some((at, Vec::new()));
        self.begun = false;
        Ok(())
    }

    fn go_on(&self) -> Result<(), PlayError> {
        match &self.stop {
            Some(stop) if stop.load(Ordering::Relaxed) => Err(PlayError::Stopped),
            _ => Ok(()),
        }
    }

    /// Plays an instant without commands.
    fn instant(&mut self, at: Instant, out: &mut MessageReceiver<'_>) -> Result<(), PlayError> {
        self.go_on()?;
        self.open = Some((at, Vec::new()));
        self.begun = false;
        self.close(out)
    }

    /// Plays the open instant to its end.
    fn close(&mut self, out: &mut MessageReceiver<'_>) -> Result<(), PlayError> {
        let Some((at, commands)) = self.open.take() else {
            return Ok(());
        };
        let mut messages = self.end(at, &commands)?;
        sort_messages(&mut messages);
        messages.into_iter().for_each(out);
        Ok(())
    }

    /// Begins the instant: closes what is due before anything arrives at it, and deletes days.
    ///
    /// # Errors
    /// [`Error`].
    pub fn begin(&mut self, at: Instant) -> Result<(), Error> {
        if std::mem::replace(&mut self.begun, true) {
            return Ok(());
        }
        let midnight = self.node().engine().next_forget();
        self.fall_due(at)?;
        // What fell due has brought the engine's clock here, for which the next midnight is another one.
        if let (true, Some(node)) = (midnight == Some(at), &mut self.event_loop.node) {
            node.forget_due(at)?;
        }
        self.event_loop.begin(at)?;
        // Days whose due messages have left can be forgotten now.
        self.forget_late(at)
    }

    /// Closes and sends what is due, until nothing more is.
    fn fall_due(&mut self, at: Instant) -> Result<(), Error> {
        while self.next_due().is_some_and(|due| due <= at) {
            let Some(node) = &mut self.event_loop.node else {
                break;
            };
            node.fall_due(at)?;
            let closes = node.engine().open_closings().has_unmade();
            self.event_loop.hand_out(at)?;
            if !closes {
                break;
            }
        }
        Ok(())
    }

    /// Handles the commands of the open instant so far, without returning its messages.
    ///
    /// # Errors
    /// [`PlayError`] as of [`Player::play`].
    pub fn take_in(&mut self) -> Result<(), PlayError> {
        let Some((at, commands)) = &mut self.open else {
            return Ok(());
        };
        let (at, commands) = (*at, std::mem::take(commands));
        self.decide(at, &commands, Node::take_in_with)?;
        Ok(())
    }

    /// Runs commands on the node, and passes the answers on.
    fn decide(
        &mut self,
        at: Instant,
        commands: &[Command],
        by: impl FnOnce(&mut Node, &dyn SenderInterface, Instant, &[Command]) -> Result<Accepted, Error>,
    ) -> Result<Accepted, PlayError> {
        self.begin(at)?;
        self.before(at, commands);
        let accepted =
            self.event_loop.run_decision(at, |node, sending, _| by(node, sending, at, commands))?;
        if let Some(observer) = &mut self.observer {
            observer.after(at, &accepted.replies);
        }
        let mut replies = accepted.replies.iter();
        match replies.find_map(|reply| reply.as_ref().err()) {
            Some(refused) if !self.goes_on => Err(refused.clone().into()),
            _ => Ok(accepted),
        }
    }

    fn before(&mut self, at: Instant, commands: &[Command]) {
        if let Some(observer) = &mut self.observer {
            observer.before(at, commands);
        }
    }

    /// The next instant at which something is due.
    pub fn next_due(&mut self) -> Option<Instant> {
        let retry = self.event_loop.outbound.delivery.next_retry();
        let node = self.event_loop.node.as_mut()?;
        // After a stop there may be messages that came due and were not made.
        let unmade = node.engine().open_closings().has_unmade().then(|| node.engine().now());
        node.next_due().into_iter().chain(retry).chain(unmade).min()
    }
}

/// Puts the messages of an instant in their order.
pub fn sort_messages(messages: &mut [Message]) {
    messages.sort_by(|a, b| {
        let of_a = (&a.recipient, &a.channel, &a.lane, &a.key, &a.tenant);
        of_a.cmp(&(&b.recipient, &b.channel, &b.lane, &b.key, &b.tenant))
    });
}
