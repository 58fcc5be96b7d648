//! Shards on other nodes, as the node with the intake knows them, and the acts that nodes tell each other.
//!
//! What other nodes have applied is known from what they say. The days and the acts that a shard still needs are
//! kept until every shard has gone further.

use std::collections::BTreeMap;
use std::sync::Arc;

use tidings_core::Instant;
use tidings_core::engine::{
    Answers, Held, KeptObjects, LogEntry, LogNo, OpenReply, Options, Progress, Refused, Reply,
    Upcoming, applied_by_shards, read_log,
};
use tidings_core::time::Day;
use tidings_store::Store;

use super::Node;
use crate::commit::Decided;
use crate::commit::work::Work;
use crate::delivery::sending::Sending;
use crate::error::Error;

/// The shards that other nodes have.
#[derive(Debug, Default)]
pub(super) struct Others {
    /// Executor shard, the newest acts that it has applied, and the first day that its entries need.
    shards: BTreeMap<u16, OtherShard>,
    /// The acts that deleted days, each with the first day that is kept, until every shard has applied them.
    deletions: Vec<(LogNo, Day)>,
}

#[derive(Clone, Copy, Debug)]
struct OtherShard {
    applied: LogNo,
    needed_from: Option<Day>,
    oldest_day: Option<Day>,
}

impl Others {
    /// The first day that entries on other nodes need.
    pub(super) fn needed_from(&self) -> Option<Day> {
        self.shards.values().filter_map(|shard| shard.needed_from).min()
    }

    /// The newest acts that all other shards have applied.
    fn applied(&self) -> Option<LogNo> {
        self.shards.values().map(|shard| shard.applied).min()
    }
}

/// The number of stored acts that every shard has applied at which their rows are deleted.
const DELETED_AT_ONCE: u64 = 64;

/// The number of acts that are read from the store at once.
const READ_AT_ONCE: usize = 256;

/// The outcome of acts that were applied here.
#[derive(Debug, Default)]
pub struct AppliedEntries {
    /// The answers to the acts of each number, in order.
    pub answers: Vec<(LogNo, Answers)>,
    /// Objects that the node with the intake has to keep.
    pub kept_objects: Vec<KeptObjects>,
}

impl Node {
    /// Opens the node of some shards of a stored store, and applies the acts that they have missed.
    ///
    /// # Errors
    /// [`Error`] where the store can't be read or makes no sense.
    pub fn open_held(
        store: Arc<dyn Store>,
        options: Options,
        held: Option<&Held>,
    ) -> Result<Self, Error> {
        let mut node = Self::open_to_look_at(store, options, held)?;
        node.note_others()?;
        node.catch_up_with_log()?;
        if node.engine.replica().holds_intake() {
            node.catch_up_deletion()?;
        }
        if node.engine.replica().holds_intake() && !node.engine.replica().tells() {
            let (now, all) = (node.engine.now(), node.engine.replica().applied());
            node.commit(|engine, view| Ok(engine.delete_log(view, now, all)?))?;
        }
        Ok(node)
    }

    /// Notes what the shards on other nodes have applied, as the store has it.
    fn note_others(&mut self) -> Result<(), Error> {
        if !self.engine.replica().tells() {
            return Ok(());
        }
        let applied = applied_by_shards(&self.view()?)?;
        let mine = self.engine.replica().shard_numbers();
        let others =
            (0..).zip(applied).filter(|(no, _)| !mine.contains(no)).map(|(no, applied)| {
                // Nothing is deleted before they have said what they need.
                let needed_from = Some(Day(i32::MIN));
                (no, OtherShard { applied, needed_from, oldest_day: None })
            });
        self.others.shards = others.collect();
        let before = self.engine.forgotten_before();
        let before = before.map(|before| (self.engine.replica().told(), before));
        self.others.deletions = before.into_iter().collect();
        Ok(())
    }

    /// Applies the stored acts that shards here have not applied.
    fn catch_up_with_log(&mut self) -> Result<(), Error> {
        loop {
            let told = read_log(&self.view()?, self.engine.replica().applied(), READ_AT_ONCE)?;
            if told.is_empty() {
                return Ok(());
            }
            let now = self.engine.now();
            // Nobody waits for the answers to acts of so long ago.
            let applied = self.apply_log(&(), now, &told)?;
            self.kept_objects.extend(applied.kept_objects);
        }
    }

    /// Applies acts that the node with the intake has told.
    ///
    /// # Errors
    /// [`Error`]; the node is poisoned then: drop it and open another.
    pub(crate) fn apply_log(
        &mut self,
        sending: &dyn Sending,
        now: Instant,
        told: &[Arc<LogEntry>],
    ) -> Result<AppliedEntries, Error> {
        let accepted = self.commit(|engine, view| {
            let reach = sending.keep_back(engine.may_touch(view, Upcoming::LogEntry(told))?);
            Ok(engine.apply_log(view, &reach, now, told)?)
        })?;
        let numbers = told.iter().map(|told| told.no());
        Ok(AppliedEntries {
            answers: numbers.zip(accepted.answers).collect(),
            kept_objects: std::mem::take(&mut self.kept_objects),
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
        let view = self.view()?;
        let mut step = self.engine.conclude(&view, now, open)?;
        drop(view);
        let replies = std::mem::take(&mut step.replies);
        // Mostly nothing is written, and readers need not be shown anything.
        if !step.writes.is_empty() {
            self.gather(step)?;
            self.close_if_due()?;
        }
        Ok(replies)
    }

    /// Keeps objects as other nodes ask.
    ///
    /// # Errors
    /// [`Error`]; the node is poisoned then: drop it and open another.
    pub(crate) fn keep_objects(&mut self, now: Instant, kept: &[KeptObjects]) -> Result<(), Error> {
        if !kept.is_empty() {
            self.commit(|engine, view| Ok(engine.keep_objects(view, now, kept)?))?;
        }
        Ok(())
    }

    /// Returns true if all commands of a request are for this node to decide.
    pub(crate) fn is_home_of(&self, work: &Work) -> bool {
        let mut commands = work.commands.iter();
        commands.all(|command| self.engine.replica().is_home_of(command))
    }

    /// Takes the objects that the node with the intake has to keep.
    pub(crate) fn take_kept_objects(&mut self) -> Vec<KeptObjects> {
        std::mem::take(&mut self.kept_objects)
    }

    /// Takes the acts that other nodes are to be told once what is decided is durable.
    pub(crate) fn take_log(&mut self) -> Vec<Arc<LogEntry>> {
        std::mem::take(&mut self.told)
    }

    /// Notes the progress of another node, and deletes the acts and days that no shard needs any more.
    ///
    /// # Errors
    /// [`Error`]; the node is poisoned then: drop it and open another.
    pub(crate) fn take_progress(&mut self, now: Instant, progress: &Progress) -> Result<(), Error> {
        let before = self.others.applied();
        for no in &progress.shards {
            if let Some(shard) = self.others.shards.get_mut(no) {
                shard.applied = shard.applied.max(progress.applied);
                shard.needed_from = progress.needed_from;
                shard.oldest_day = progress.oldest_day;
            }
        }
        let oldest = self.others.shards.values().filter_map(|shard| shard.oldest_day).min();
        self.engine.set_oldest_elsewhere(oldest);
        let Some(everywhere) = self.others.applied().filter(|all| Some(*all) > before) else {
            return Ok(());
        };
        if self.engine.replica().stored_log(everywhere) >= DELETED_AT_ONCE {
            self.commit(|engine, view| Ok(engine.delete_log(view, now, everywhere)?))?;
        }
        let Some(before) = self
            .others
            .deletions
            .iter()
            .filter(|(no, _)| *no <= everywhere)
            .map(|(_, before)| *before)
            .max()
        else {
            return Ok(());
        };
        self.others.deletions.retain(|(no, _)| *no > everywhere);
        self.delete_before(before)
    }

    /// The days that may be deleted once what is decided is durable. Where shards on other nodes have to hear of it
    /// first, none.
    pub(super) fn forgotten_now(&mut self, forgotten: Vec<Day>) -> Vec<Day> {
        if forgotten.is_empty() || !self.engine.replica().tells() {
            return forgotten;
        }
        let before = self.engine.forgotten_before();
        let deletion = before.map(|before| (self.engine.replica().told(), before));
        self.others.deletions.extend(deletion);
        Vec::new()
    }

    /// Deletes the days before one, after what is decided is durable.
    fn delete_before(&mut self, before: Day) -> Result<(), Error> {
        let forgotten: Vec<Day> =
            self.store.days()?.into_iter().filter(|day| *day < before).collect();
        if forgotten.is_empty() {
            return Ok(());
        }
        self.ahead.gather(Decided { forgotten, ..Decided::default() })?;
        self.close_if_due()
    }

    /// Deletes the days that a process was to delete, and ended before.
    fn catch_up_deletion(&mut self) -> Result<(), Error> {
        let forgotten = self.engine.forgotten_before();
        let is_forgotten = |day: &Day| forgotten.is_some_and(|before| *day < before);
        let (dropped, held): (Vec<Day>, Vec<Day>) =
            self.store.days()?.into_iter().partition(is_forgotten);
        // A crash between a commit that forgets a day and its drop leaves the day: drop it now.
        if !self.engine.replica().tells() {
            for day in dropped {
                self.store.forget(day)?;
            }
        }
        self.catch_up_forgetting(&held);
        Ok(())
    }
}
