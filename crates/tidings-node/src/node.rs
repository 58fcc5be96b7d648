//! The node: the engine over a store. It writes, syncs, then answers.
//!
//! Every method that changes something commits what the engine decided before it returns. Only where a loop
//! drives the node ([`Node::written`]) is it gathered: a turn is one commit, and what follows it comes after it
//! is durable. After an error the node is poisoned: what the store holds is the truth, so drop it and open
//! another.

pub(crate) use acks::Repeats;

use std::collections::VecDeque;
use std::sync::{Arc, Weak};

use tidings_core::content::Totals;
use tidings_core::engine::{
    Answers, Commands, CommandsOrigin, Engine, EngineSnapshot, GoingMessage, HeldShards,
    InboxDelivery, KeptObjects, LogEntry, LogNo, LoggedChange, NewRules, OpenReply, Options, Reach,
    Refused, Reply, Step, UpcomingStep,
};
use tidings_core::journal::Write;
use tidings_core::model::{BucketNo, OccurrenceOwner, OccurrenceRow, Origin};
use tidings_core::{Command, Day, Instant, Rules};
use tidings_store::Store;

use crate::commit::durable::{self, ReaderState, SnapshotPublisher};
use crate::commit::executor::Executor;
use crate::commit::idempotency;
use crate::commit::pipeline::CommitPipeline;
use crate::commit::view::StoreView;
use crate::commit::work::StepWork;
use crate::commit::workers::Threads;
use crate::commit::{CommitNo, DecidedStep, long_values};
use crate::delivery::send_failure_log::UnansweredConditionLog;
use crate::delivery::sending::SenderInterface;
use crate::error::Error;
use crate::keys::Keys;
use crate::telemetry::spans::Span;
use crate::telemetry::vitals::{Timer, Vitals};

mod acks;
pub(crate) mod dry_run;
mod late;
mod late_forget;
mod making;
mod others;
mod pending_acks;
mod replication;
pub(super) mod restored;

use late_forget::LateForget;
use others::OtherNodesShards;
use pending_acks::PendingAcks;
pub use replication::AppliedEntries;

/// A node: an engine whose decisions are durable.
pub struct Node {
    store: Arc<dyn Store>,
    engine: Engine,
    vitals: Arc<Vitals>,
    /// Dropped with the node.
    life: Arc<()>,
    /// True if the current work leads to free space.
    frees: bool,
    ahead: CommitPipeline,
    late_forget: Option<LateForget>,
    /// The way to show its state to readers, if there are any.
    shown: Option<SnapshotPublisher>,
    /// The log of conditions without an answer.
    unclear: UnansweredConditionLog,
    /// Messages that operators sent since they were last taken.
    going: Vec<GoingMessage>,
    /// True if deadlines may have changed without a write, so that readers need a new snapshot.
    moved: bool,
    /// The shards on other nodes.
    others: OtherNodesShards,
    /// Requests that wait for them.
    pending_acks: PendingAcks,
    /// Acts for other nodes.
    logged: Vec<Arc<LogEntry>>,
    /// Objects that the node with the intake has to keep.
    kept_objects: Vec<KeptObjects>,
    /// Answers to acts that were applied before the node was asked to.
    answers_ahead: Vec<(LogNo, Answers)>,
    /// Rows of occurrences, in commits that hooks have not processed.
    occurred: VecDeque<(CommitNo, OccurrenceOwner, OccurrenceRow)>,
    /// The keys in memory; `None` without logins.
    keys: Option<Arc<Keys>>,
}

impl Drop for Node {
    fn drop(&mut self) {
        // The store is about to be closed.
        self.ahead.hide();
        if let Some(shown) = self.shown.take() {
            shown.hide();
        }
    }
}

/// The result of commands.
#[derive(Debug, Default)]
pub struct Accepted {
    /// An answer per command, in order.
    pub replies: Vec<Result<Reply, Refused>>,
    /// The deliveries to inboxes.
    pub delivered: Vec<InboxDelivery>,
    /// The commands whose replies are not whole before shards on other nodes have answered.
    pub open_replies: Vec<OpenReply>,
    /// The answers to another node's acts, for each number.
    answers: Vec<Answers>,
}

/// The most recipients whose messages are built at once: other commands are handled between two slices.
pub const SLICE_RECIPIENTS_MAX: usize = 2048;

impl Node {
    /// Opens the stored node, or a new one.
    ///
    /// # Errors
    /// [`Error`] where the store can't be read or makes no sense.
    pub fn open(store: Arc<dyn Store>, options: Options) -> Result<Self, Error> {
        Self::open_held(store, options, None)
    }

    /// Opens the stored node without changing anything.
    ///
    /// # Errors
    /// [`Error`] where the store can't be read or makes no sense.
    pub fn open_to_look(store: Arc<dyn Store>, options: Options) -> Result<Self, Error> {
        Self::open_to_look_at(store, options, None)
    }

    /// [`Node::open_to_look`] of some shards.
    fn open_to_look_at(
        store: Arc<dyn Store>,
        options: Options,
        held: Option<&HeldShards>,
    ) -> Result<Self, Error> {
        let row_bytes = options.row_bytes.min(store.value_bytes_max());
        let options = Options { row_bytes, ..options };
        let mut engine = {
            let view = StoreView::of(&*store)?;
            Engine::open_held(&view, &store.days()?, options, held)?
        };
        engine.lend(Box::new(Threads));
        Ok(Self {
            ahead: CommitPipeline::new(&store),
            store,
            engine,
            vitals: Arc::default(),
            life: Arc::default(),
            frees: false,
            late_forget: None,
            shown: None,
            unclear: UnansweredConditionLog::default(),
            going: Vec::new(),
            moved: false,
            others: OtherNodesShards::default(),
            pending_acks: PendingAcks::default(),
            logged: Vec::new(),
            kept_objects: Vec::new(),
            answers_ahead: Vec::new(),
            occurred: VecDeque::new(),
            keys: None,
        })
    }

    /// The same, with its commits gathered, and written by threads or by hand.
    pub(crate) fn written(mut self, by: Executor) -> Self {
        self.ahead.write_by(by);
        self
    }

    /// Sets the measurements.
    pub(crate) fn measure(&mut self, vitals: &Arc<Vitals>) {
        self.vitals = Arc::clone(vitals);
        self.ahead.measure(vitals);
    }

    /// Ends the tokens of recipients who are erased, in these keys.
    pub(crate) fn keep_keys(&mut self, keys: &Arc<Keys>) {
        self.keys = Some(Arc::clone(keys));
    }

    /// Shows the state after each durable commit to readers, from now on.
    pub(crate) fn show_in(&mut self, reads: &Arc<ReaderState>) -> Result<(), Error> {
        let shown = SnapshotPublisher::new(reads, &self.store, self.life(), &self.vitals);
        shown.show(self.engine.snapshot())?;
        self.ahead.show_by(&shown);
        self.shown = Some(shown);
        Ok(())
    }

    /// The engine, for reading.
    #[must_use]
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// The store.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// A weak reference that shows whether the node still exists: a failed one was dropped, and its store can be opened
    /// again as soon as no snapshot of it is held.
    #[must_use]
    pub fn life(&self) -> Weak<()> {
        Arc::downgrade(&self.life)
    }

    /// The stored data for reading, with what is decided and not durable yet.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub fn view(&self) -> Result<StoreView, Error> {
        let view = StoreView::ahead_of(&*self.store, self.ahead.writes())?;
        Ok(view.measured(&self.vitals))
    }

    /// The commits.
    pub(crate) fn ahead(&mut self) -> &mut CommitPipeline {
        &mut self.ahead
    }

    /// The next due instant; it may be too early, never too late.
    pub fn next_due(&mut self) -> Option<Instant> {
        self.engine.next_due()
    }

    /// Returns true if any pending entry could become due.
    ///
    /// # Errors
    /// [`Error`] where the store can't be read.
    pub fn waits(&self) -> Result<bool, Error> {
        Ok(self.engine.reader(&self.view()?).waits()?)
    }

    /// Puts rules in force; the instant stays open.
    ///
    /// # Errors
    /// [`Error`]; the node is poisoned then: drop it and open another.
    pub fn set_rules(&mut self, now: Instant, rules: Rules) -> Result<(), Error> {
        self.set_rules_with(&(), now, rules)
    }

    /// [`Node::set_rules`] with senders.
    ///
    /// # Errors
    /// [`Error`]; the node is poisoned then: drop it and open another.
    pub(crate) fn set_rules_with(
        &mut self,
        sending: &dyn SenderInterface,
        now: Instant,
        rules: impl Into<NewRules>,
    ) -> Result<(), Error> {
        // The node with the intake puts them in force for all.
        if !self.engine.replica().holds_intake() {
            return Ok(());
        }
        let rules = rules.into();
        self.commit(|engine, view| {
            let reach = engine.may_touch(view, UpcomingStep::Rules(&rules.rules))?;
            Ok(engine.set_rules(view, &sending.keep_back(reach), now, rules)?)
        })
        .map(|_| ())
    }

    /// Sets whether the following work leads to deleted days: it may use the space that the store
    /// reserves for that.
    pub(crate) fn set_frees(&mut self, frees: bool) {
        self.frees = frees;
    }

    /// Closes the lanes that are due.
    ///
    /// # Errors
    /// [`Error`]; the node is poisoned then: drop it and open another.
    pub fn fall_due(&mut self, now: Instant) -> Result<(), Error> {
        self.commit(|engine, view| Ok(engine.fall_due(view, now)?)).map(|_| ())
    }

    /// Handles commands; the instant stays open.
    ///
    /// # Errors
    /// [`Error`]; the node is poisoned then: drop it and open another.
    pub fn take_in(&mut self, now: Instant, commands: &[Command]) -> Result<Accepted, Error> {
        self.commit(|engine, view| Ok(engine.take_in(view, &Reach::new(), now, commands)?))
    }

    /// [`Node::take_in`] with senders.
    ///
    /// # Errors
    /// [`Error`]; the node is poisoned then: drop it and open another.
    pub(crate) fn take_in_with(
        &mut self,
        sending: &dyn SenderInterface,
        now: Instant,
        commands: &[Command],
    ) -> Result<Accepted, Error> {
        self.commit(|engine, view| {
            let reach =
                sending.keep_back(engine.may_touch(view, UpcomingStep::Commands(commands))?);
            Ok(engine.take_in(view, &reach, now, commands)?)
        })
    }

    /// [`Node::step`] with senders.
    ///
    /// # Errors
    /// [`Error`]; the node is poisoned then: drop it and open another.
    pub(crate) fn step_with(
        &mut self,
        sending: &dyn SenderInterface,
        now: Instant,
        commands: Commands<'_>,
    ) -> Result<Accepted, Error> {
        self.commit(|engine, view| {
            let upcoming = UpcomingStep::Commands(commands.all());
            let reach = sending.keep_back(engine.may_touch(view, upcoming)?);
            Ok(engine.step(view, &reach, now, commands)?)
        })
    }

    /// Handles commands, delivers to the inboxes and closes the lanes that are due.
    ///
    /// # Errors
    /// [`Error`]; the node is poisoned then: drop it and open another.
    pub fn step(&mut self, now: Instant, commands: &[Command]) -> Result<Accepted, Error> {
        self.commit(|engine, view| Ok(engine.step(view, &Reach::new(), now, commands)?))
    }

    /// [`Node::step_with`] for several requests at once. The replies that they want kept are written in
    /// the same commit; they are answered when it is durable. `work` is empty then; after an error it has the
    /// requests without an answer.
    pub(crate) fn step_keeping(
        &mut self,
        sending: &dyn SenderInterface,
        now: Instant,
        work: &mut Vec<StepWork>,
        is_last: bool,
    ) -> Result<(), Error> {
        let origins: Vec<CommandsOrigin> = work
            .iter()
            .map(|work| CommandsOrigin { count: work.count, origin: work.origin.clone() })
            .collect();
        let commands: Vec<Command> =
            work.iter_mut().flat_map(|work| std::mem::take(&mut work.commands)).collect();
        let took = Timer::start();
        let mut span = Span::step(&commands);
        span.set("tidings.commands", commands.len() as i64);
        let view = self.view()?;
        let messages = self.engine.may_touch(&view, UpcomingStep::Commands(&commands))?;
        // Held until the step is durable: handed over meanwhile, a message would tell what the step takes
        // out.
        let reach = sending.keep_back(messages);
        let from = Commands::from_origins(&commands, &origins);
        let mut step = match is_last {
            true => self.engine.step(&view, &reach, now, from)?,
            false => self.engine.take_in(&view, &reach, now, from)?,
        };
        step.writes.extend(revoked_with(self, now, &commands, &step.replies));
        let mut replies = std::mem::take(&mut step.replies).into_iter();
        for work in work.iter_mut() {
            work.replies.extend(replies.by_ref().take(work.count));
        }
        let mut open = apart(work, std::mem::take(&mut step.open_replies));
        let whole = work.iter_mut().zip(&open);
        let whole = whole.filter(|(_, open)| open.is_empty());
        let mut answers: Vec<_> = whole.filter_map(|(work, _)| work.keep()).collect();
        answers.extend(work.iter().flat_map(StepWork::keep_each));
        // Answers are in the commit of their work, so that a crash leaves both or neither.
        step.writes.extend(idempotency::writes(&view, now, &answers)?);
        drop(view);
        self.gather(step)?;
        self.ahead.time(took);
        for (work, open) in work.drain(..).zip(open.drain(..)) {
            if open.is_empty() {
                // Follows the writes: an answer waits for what is decided by then.
                self.ahead.answer(work.when_durable());
            } else {
                self.replication().gather_answers(now, work, open);
            }
        }
        if is_last { self.close_if_due() } else { Ok(()) }
    }

    /// Runs a slice of the engine's chores; returns whether there was one.
    ///
    /// # Errors
    /// [`Error`]; the node is poisoned then: drop it and open another.
    pub fn chore(&mut self) -> Result<bool, Error> {
        if !self.engine.has_chores() {
            return Ok(false);
        }
        let view = self.view()?;
        let Some(writes) = self.engine.chore(&view)? else {
            return Ok(false);
        };
        drop(view);
        let writes = long_values::cut(writes, self.store.value_bytes_max());
        // The engine has done the chore already: if its writes are refused, memory and store never agree again.
        let fits = self.store.ensure_fits(&writes);
        fits.map_err(|fault| Error::Chore { bucket: self.engine.chores_of(), fault })?;
        self.write(writes)?;
        Ok(true)
    }

    /// Commits writes that stand beside the engine's.
    pub(crate) fn write(&mut self, writes: Vec<Write>) -> Result<(), Error> {
        self.gather(Step { writes, ..Step::default() })?;
        self.close_if_due()
    }

    /// Stops a bucket's chores from now on.
    pub(crate) fn set_aside(&mut self, bucket: BucketNo) {
        self.engine.disable_maintenance(bucket);
    }

    /// Runs all chores of the engine.
    ///
    /// # Errors
    /// [`Error`]; the node is poisoned then: drop it and open another.
    pub fn chores(&mut self) -> Result<(), Error> {
        while self.chore()? {}
        Ok(())
    }

    /// Takes the days to compact: those over since the last call, in which all is indexed.
    pub fn take_days_to_compact(&mut self) -> Vec<Day> {
        self.engine.take_days_to_compact()
    }

    /// Counts everything in the store.
    ///
    /// # Errors
    /// [`Error::Disagreement`] where the walk and the ledger don't agree.
    pub fn books(&self) -> Result<Totals, Error> {
        durable::books(&self.engine, &self.view()?)
    }

    pub(crate) fn commit(
        &mut self,
        decide: impl FnOnce(&mut Engine, &StoreView) -> Result<Step, Error>,
    ) -> Result<Accepted, Error> {
        let view = self.view()?;
        let step = decide(&mut self.engine, &view)?;
        drop(view);
        let accepted = self.gather(step)?;
        self.close_if_due()?;
        Ok(accepted)
    }

    fn close_if_due(&mut self) -> Result<(), Error> {
        let (ahead, engine) = self.ahead_and_engine();
        ahead.close_if_due(engine)
    }

    /// Begins to write what was gathered, once the commit before it has ended.
    ///
    /// # Errors
    /// As [`CommitPipeline::finish`].
    pub(crate) fn hand_over(&mut self) -> Result<(), Error> {
        let (ahead, engine) = self.ahead_and_engine();
        ahead.hand_over(engine)?;
        let is_written = !self.ahead.is_writing() && !self.ahead.has_ended();
        // A deadline that only moves, as in quiet hours, writes nothing, so no commit shows it to readers.
        match &self.shown {
            Some(shown) if is_written && std::mem::take(&mut self.moved) => {
                shown.show(self.engine.snapshot())
            }
            _ => Ok(()),
        }
    }

    /// Writes what was gathered, and waits for it.
    ///
    /// # Errors
    /// As [`CommitPipeline::finish`].
    pub(crate) fn flush(&mut self) -> Result<(), Error> {
        let (ahead, engine) = self.ahead_and_engine();
        ahead.flush(engine)
    }

    /// The commits, and the engine as readers are to see it with the next one.
    fn ahead_and_engine(
        &mut self,
    ) -> (&mut CommitPipeline, impl FnOnce() -> Option<EngineSnapshot>) {
        let Self { ahead, engine, shown, .. } = self;
        (ahead, || shown.as_ref().map(|_| engine.snapshot()))
    }

    /// Messages that go once what is decided is durable, because operators asked.
    pub(crate) fn take_going(&mut self) -> Vec<GoingMessage> {
        std::mem::take(&mut self.going)
    }

    /// The rows of what occurred in commits up to one, which is durable.
    pub(crate) fn take_occurred(
        &mut self,
        durable: CommitNo,
    ) -> Vec<(OccurrenceOwner, OccurrenceRow)> {
        let mut rows = Vec::new();
        while let Some((_, owner, row)) =
            self.occurred.pop_front_if(|(commit, ..)| *commit <= durable)
        {
            rows.push((owner, row));
        }
        rows
    }

    /// Adds a step to the commit.
    fn gather(&mut self, step: Step) -> Result<Accepted, Error> {
        self.going.extend(step.going);
        self.moved |= step.writes.is_empty();
        self.logged.extend(step.logged);
        self.kept_objects.extend(step.kept_objects);
        let forgotten = self.others.forgotten_now(&self.engine, step.forgotten);
        self.ahead.gather(DecidedStep { writes: step.writes, forgotten, frees: self.frees })?;
        let commit = self.ahead.decided();
        let occurred = step.occurred.into_iter().map(|(owner, row)| (commit, owner, row));
        self.occurred.extend(occurred);
        let now = self.engine.now();
        step.delivered
            .iter()
            .flat_map(|inboxes| &inboxes.unanswered)
            .for_each(|condition| self.unclear.record(condition, now));
        Ok(Accepted {
            replies: step.replies,
            delivered: step.delivered,
            open_replies: step.open_replies,
            answers: step.answers,
        })
    }
}

/// A change that is decided beside the engine, with its origin.
pub(crate) struct ChangeToLog<'o> {
    pub(crate) origin: &'o Origin,
    pub(crate) change: LoggedChange,
}

impl ChangeToLog<'_> {
    /// The writes that log it.
    ///
    /// # Errors
    /// [`Error`]; the node is poisoned then: drop it and open another.
    pub(crate) fn writes(self, node: &mut Node, now: Instant) -> Result<Vec<Write>, Error> {
        let view = node.view()?;
        Ok(self.change.write(&mut node.engine, &view, now, self.origin)?)
    }
}

/// The writes that end the tokens of recipients who were erased.
fn revoked_with(
    node: &Node,
    now: Instant,
    commands: &[Command],
    replies: &[Result<Reply, Refused>],
) -> Vec<Write> {
    let Some(keys) = &node.keys else {
        return Vec::new();
    };
    let buckets = node.engine.replica().of_buckets();
    let erased = commands.iter().zip(replies).filter_map(|pair| match pair {
        (Command::Erase { recipient }, Ok(_)) => Some(recipient),
        _ => None,
    });
    erased.flat_map(|recipient| keys.revoke(recipient, buckets, now, now)).collect()
}

/// The replies that are not whole, by request: each with its index among those of the request.
fn apart(work: &[StepWork], open: Vec<OpenReply>) -> Vec<Vec<OpenReply>> {
    let mut open = open.into_iter().peekable();
    let mut first = 0;
    let each = work.iter().map(|work| {
        let mut theirs = Vec::new();
        while let Some(mut reply) = open.next_if(|open| open.command < first + work.count) {
            reply.command -= first;
            theirs.push(reply);
        }
        first += work.count;
        theirs
    });
    each.collect()
}
