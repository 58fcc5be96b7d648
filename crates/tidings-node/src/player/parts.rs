//! Parts of an instant, for simulations in which several nodes play it together.

use std::sync::Arc;

use tidings_core::content::Message;
use tidings_core::engine::{
    HeldShards, KeptObjects, LogEntry, OpenReply, Options, Progress, Refused, Reply,
};
use tidings_core::{Command, Instant, Rules};
use tidings_store::Store;

use super::{KEPT, PlayError, Player, PlayerOutput};
use crate::error::Error;
use crate::node::{Accepted, AppliedEntries, Node};

impl Player {
    /// Opens a player over some shards of a store, within an instant.
    ///
    /// # Errors
    /// [`Error`] where the store can't be opened.
    pub fn open_held(
        store: Arc<dyn Store>,
        options: Options,
        held: &HeldShards,
        collect: PlayerOutput,
        at: Instant,
    ) -> Result<Self, Error> {
        let node = Node::open_held(store, options, Some(held))?;
        let mut player = Self::over(node, None, collect);
        player.resume(at);
        Ok(player)
    }

    fn node_mut(&mut self) -> &mut Node {
        self.event_loop.node.as_mut().expect(KEPT)
    }

    /// Lets an instant begin anew.
    pub fn open_instant(&mut self) {
        self.begun = false;
    }

    /// Returns true if the instant has begun.
    #[must_use]
    pub fn has_begun(&self) -> bool {
        self.begun
    }

    /// Handles commands at an instant, and ends it not.
    ///
    /// # Errors
    /// [`PlayError`] as of [`Player::play`].
    pub fn accept(&mut self, at: Instant, commands: &[Command]) -> Result<Accepted, PlayError> {
        self.decide(at, commands, Node::take_in_with)
    }

    /// Ends an instant with commands, and returns its messages.
    ///
    /// # Errors
    /// [`PlayError`] as of [`Player::play`].
    pub fn end(&mut self, at: Instant, commands: &[Command]) -> Result<Vec<Message>, PlayError> {
        let accepted = self.decide(at, commands, |node, sending, at, commands| {
            node.step_with(sending, at, commands.into())
        })?;
        self.event_loop.watch_inboxes(&accepted.delivered)?;
        self.event_loop.hand_out(at)?;
        // An empty message frees its place under a cap: what that kept goes out at the same instant.
        self.fall_due(at)?;
        self.event_loop.do_chores()?;
        Ok(self.event_loop.take_messages())
    }

    /// Puts rules in force at an instant that has begun.
    ///
    /// # Errors
    /// [`Error`].
    pub fn put_rules(&mut self, at: Instant, rules: Rules) -> Result<(), Error> {
        self.event_loop.run_decision(at, |node, _, _| node.set_rules(at, rules))
    }

    /// Deletes days that were kept for their due messages, if there are some.
    ///
    /// # Errors
    /// [`Error`].
    pub fn forget_late(&mut self, now: Instant) -> Result<(), Error> {
        if self.node().forgets_late() {
            self.event_loop.begin(now)?;
        }
        Ok(())
    }

    /// Takes the acts that other nodes are to apply.
    pub fn take_log(&mut self) -> Vec<Arc<LogEntry>> {
        self.node_mut().replication().take_log()
    }

    /// Applies acts of the node with the intake.
    ///
    /// # Errors
    /// [`Error`].
    pub fn apply_log(
        &mut self,
        at: Instant,
        logged: &[Arc<LogEntry>],
    ) -> Result<AppliedEntries, Error> {
        self.event_loop
            .run_decision(at, |node, sending, _| node.replication().apply_log(sending, at, logged))
    }

    /// Applies the log up to its current end.
    ///
    /// # Errors
    /// [`Error`].
    pub fn catch_up(&mut self, at: Instant) -> Result<bool, Error> {
        self.event_loop
            .run_decision(at, |node, sending, _| node.replication().catch_up(sending, at))
    }

    /// Ends commands with the answers of all shards.
    ///
    /// # Errors
    /// [`Error`].
    pub fn conclude(
        &mut self,
        at: Instant,
        open: &[OpenReply],
    ) -> Result<Vec<Result<Reply, Refused>>, Error> {
        self.event_loop.run_decision(at, |node, _, _| node.replication().conclude(at, open))
    }

    /// Takes the objects that the node with the intake has to keep.
    pub fn take_kept_objects(&mut self) -> Vec<KeptObjects> {
        self.node_mut().replication().take_kept_objects()
    }

    /// Keeps objects as other nodes ask.
    ///
    /// # Errors
    /// [`Error`].
    pub fn keep_objects(&mut self, at: Instant, kept: &[KeptObjects]) -> Result<(), Error> {
        self.node_mut().replication().keep_objects(at, kept)
    }

    /// Notes the progress of another node.
    ///
    /// # Errors
    /// [`Error`].
    pub fn take_progress(&mut self, at: Instant, progress: &Progress) -> Result<(), Error> {
        self.node_mut().replication().take_progress(at, progress)
    }
}
