//! Replication: acts between nodes, and the effects of the progress of their shards.

use std::sync::Arc;

use tidings_core::engine::{
    Answers, HeldShards, KeptObjects, LogEntry, LogNo, OpenReply, Options, Progress, Refused,
    Reply, UpcomingStep, applied_by_shards, read_log,
};
use tidings_core::{Day, Instant};
use tidings_store::Store;

use super::Node;
use super::others::OtherShard;
use crate::commit::DecidedStep;
use crate::commit::work::StepWork;
use crate::delivery::sending::SenderInterface;
use crate::error::Error;

/// The number of stored acts that every shard has applied at which their rows are deleted.
const DELETED_AT_ONCE: u64 = 64;

/// The number of acts that are read from the store at once.
const READ_AT_ONCE: usize = 256;

/// The most reads of the log before commands are decided: a node that is further behind turns them away.
const READS_AHEAD: usize = 4;

/// The outcome of acts that were applied here.
#[derive(Debug, Default)]
pub struct AppliedEntries {
    /// The answers to the acts of each number, in order.
    pub answers: Vec<(LogNo, Answers)>,
    /// Objects that the node with the intake has to keep.
    pub kept_objects: Vec<KeptObjects>,
}

/// A node among those with other shards of the store.
pub(crate) struct Replication<'n> {
    pub(super) node: &'n mut Node,
}

impl Node {
    /// Opens the node of some shards of a stored store, and applies the acts that they have missed.
    ///
    /// # Errors
    /// [`Error`] where the store can't be read or makes no sense.
    pub fn open_held(
        store: Arc<dyn Store>,
        options: Options,
        held: Option<&HeldShards>,
    ) -> Result<Self, Error> {
        let mut node = Self::open_to_look_at(store, options, held)?;
        node.replication().note_others()?;
        node.replication().catch_up_with_log()?;
        if node.engine.replica().holds_intake() {
            node.replication().catch_up_deletion()?;
        }
        if node.engine.replica().holds_intake() && !node.engine.replica().has_followers() {
            let (now, all) = (node.engine.now(), node.engine.replica().applied());
            node.commit(|engine, view| Ok(engine.delete_log(view, now, all)?))?;
        }
        Ok(node)
    }

    /// Returns true if all commands of a request are for this node to decide.
    pub(crate) fn is_home_of(&self, work: &StepWork) -> bool {
        let mut commands = work.commands.iter();
        commands.all(|command| self.engine.replica().is_home_of(command))
    }

    /// The node among those with other shards.
    pub(crate) fn replication(&mut self) -> Replication<'_> {
        Replication { node: self }
    }
}

impl Replication<'_> {
    /// Notes what the shards on other nodes have applied, as the store has it.
    fn note_others(&mut self) -> Result<(), Error> {
        if !self.node.engine.replica().has_followers() {
            return Ok(());
        }
        let applied = applied_by_shards(&self.node.view()?)?;
        let mine = self.node.engine.replica().shard_numbers();
        let others =
            (0..).zip(applied).filter(|(no, _)| !mine.contains(no)).map(|(no, applied)| {
                // No day is deleted before these shards have reported which they need.
                let needed_from = Some(Day(i32::MIN));
                (no, OtherShard { applied, needed_from, oldest_day: None })
            });
        self.node.others.shards = others.collect();
        let before = self.node.engine.forgotten_before();
        let before = before.map(|before| (self.node.engine.replica().newest(), before));
        self.node.others.deletions = before.into_iter().collect();
        Ok(())
    }

    /// Applies the stored acts that shards here have not applied.
    fn catch_up_with_log(&mut self) -> Result<(), Error> {
        loop {
            let logged =
                read_log(&self.node.view()?, self.node.engine.replica().applied(), READ_AT_ONCE)?;
            if logged.is_empty() {
                return Ok(());
            }
            let now = self.node.engine.now();
            // The requests of these acts were answered long ago.
            let applied = self.apply_log(&(), now, &logged)?;
            self.node.kept_objects.extend(applied.kept_objects);
        }
    }

    /// Applies the log up to its current end, so that this node knows all tenants of which somebody was answered. Returns
    /// false if it is too far behind. What the acts come to is reported with the next ones.
    ///
    /// # Errors
    /// [`Error`]; the node is poisoned then: drop it and open another.
    pub(crate) fn catch_up(
        &mut self,
        sending: &dyn SenderInterface,
        now: Instant,
    ) -> Result<bool, Error> {
        if self.node.engine.replica().holds_intake() {
            return Ok(true);
        }
        for _ in 0..READS_AHEAD {
            let applied = self.node.engine.replica().applied();
            let logged = read_log(&self.node.view()?, applied, READ_AT_ONCE)?;
            if logged.is_empty() {
                return Ok(true);
            }
            let applied = self.apply_log(sending, now, &logged)?;
            self.node.answers_ahead.extend(applied.answers);
            self.node.kept_objects.extend(applied.kept_objects);
        }
        Ok(false)
    }

    /// Takes the answers to the acts that were applied ahead.
    pub(crate) fn take_answers_ahead(&mut self) -> Vec<(LogNo, Answers)> {
        std::mem::take(&mut self.node.answers_ahead)
    }

    /// Applies acts of the node with the intake.
    ///
    /// # Errors
    /// [`Error`]; the node is poisoned then: drop it and open another.
    pub(crate) fn apply_log(
        &mut self,
        sending: &dyn SenderInterface,
        now: Instant,
        logged: &[Arc<LogEntry>],
    ) -> Result<AppliedEntries, Error> {
        let accepted = self.node.commit(|engine, view| {
            let reach = sending.keep_back(engine.may_touch(view, UpcomingStep::LogEntry(logged))?);
            Ok(engine.apply_log(view, &reach, now, logged)?)
        })?;
        let numbers = logged.iter().map(|logged| logged.no());
        Ok(AppliedEntries {
            answers: numbers.zip(accepted.answers).collect(),
            kept_objects: std::mem::take(&mut self.node.kept_objects),
        })
    }

    /// Ends commands with the answers of all shards.
    ///
    /// # Errors
    /// [`Error`]; the node is poisoned then: drop it and open another.
    pub(crate) fn conclude(
        &mut self,
        now: Instant,
        open: &[OpenReply],
    ) -> Result<Vec<Result<Reply, Refused>>, Error> {
        let view = self.node.view()?;
        let mut step = self.node.engine.conclude(&view, now, open)?;
        drop(view);
        let replies = std::mem::take(&mut step.replies);
        // Mostly nothing is written: then there is no commit, and readers keep their snapshot.
        if !step.writes.is_empty() {
            self.node.gather(step)?;
            self.node.close_if_due()?;
        }
        Ok(replies)
    }

    /// Keeps objects as other nodes ask.
    ///
    /// # Errors
    /// [`Error`]; the node is poisoned then: drop it and open another.
    pub(crate) fn keep_objects(&mut self, now: Instant, kept: &[KeptObjects]) -> Result<(), Error> {
        if !kept.is_empty() {
            self.node.commit(|engine, view| Ok(engine.keep_objects(view, now, kept)?))?;
        }
        Ok(())
    }

    /// Takes the objects that the node with the intake has to keep.
    pub(crate) fn take_kept_objects(&mut self) -> Vec<KeptObjects> {
        std::mem::take(&mut self.node.kept_objects)
    }

    /// Takes the acts for other nodes, for when the decisions are durable.
    pub(crate) fn take_log(&mut self) -> Vec<Arc<LogEntry>> {
        std::mem::take(&mut self.node.logged)
    }

    /// Notes the progress of another node, and deletes the acts and days that no shard needs any more.
    ///
    /// # Errors
    /// [`Error`]; the node is poisoned then: drop it and open another.
    pub(crate) fn take_progress(&mut self, now: Instant, progress: &Progress) -> Result<(), Error> {
        let before = self.node.others.applied();
        for no in &progress.shards {
            if let Some(shard) = self.node.others.shards.get_mut(no) {
                shard.applied = shard.applied.max(progress.applied);
                shard.needed_from = progress.needed_from;
                shard.oldest_day = progress.oldest_day;
            }
        }
        let oldest = self.node.others.shards.values().filter_map(|shard| shard.oldest_day).min();
        self.node.engine.set_oldest_elsewhere(oldest);
        let Some(everywhere) = self.node.others.applied().filter(|all| Some(*all) > before) else {
            return Ok(());
        };
        if self.node.engine.replica().stored_log(everywhere) >= DELETED_AT_ONCE {
            self.node.commit(|engine, view| Ok(engine.delete_log(view, now, everywhere)?))?;
        }
        let Some(before) = self
            .node
            .others
            .deletions
            .iter()
            .filter(|(no, _)| *no <= everywhere)
            .map(|(_, before)| *before)
            .max()
        else {
            return Ok(());
        };
        self.node.others.deletions.retain(|(no, _)| *no > everywhere);
        // All shards have applied the act: a day that goes sooner would be missing where its entries end.
        self.delete_before(before)
    }

    /// Deletes the days before one, after what is decided is durable.
    fn delete_before(&mut self, before: Day) -> Result<(), Error> {
        let forgotten: Vec<Day> =
            self.node.store.days()?.into_iter().filter(|day| *day < before).collect();
        if forgotten.is_empty() {
            return Ok(());
        }
        self.node.ahead.gather(DecidedStep { forgotten, ..DecidedStep::default() })?;
        self.node.close_if_due()
    }

    /// Deletes the days that a process was to delete, and ended before.
    fn catch_up_deletion(&mut self) -> Result<(), Error> {
        let forgotten = self.node.engine.forgotten_before();
        let is_forgotten = |day: &Day| forgotten.is_some_and(|before| *day < before);
        let (dropped, held): (Vec<Day>, Vec<Day>) =
            self.node.store.days()?.into_iter().partition(is_forgotten);
        // A crash between a commit that forgets a day and its drop leaves the day: drop it now.
        // With followers the reports decide, as shards elsewhere may still need these days.
        if !self.node.engine.replica().has_followers() {
            for day in dropped {
                self.node.store.forget(day)?;
            }
        }
        self.node.catch_up_forgetting(&held);
        Ok(())
    }
}
