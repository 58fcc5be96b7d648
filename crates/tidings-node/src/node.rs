//! The node: the engine over a store. It writes, syncs, then answers.
//!
//! Every method that changes something commits what the engine decided before it returns; only
//! [`Node::step_keeping`] may leave its commit under way, and then whoever asked hears after that has
//! ended. After an error the node is worthless: what the store holds is the truth, so drop it and open
//! another.

use std::collections::BTreeSet;
use std::sync::{Arc, Weak};

use tidings_core::engine::{
    Engine, LetterName, Options, Plan, Presenter, Refused, Reply, Sent, Settled, Step, Told,
    Upcoming,
};
use tidings_core::law::LaneName;
use tidings_core::table::Write;
use tidings_core::time::Day;
use tidings_core::{Batch, Books, BucketNo, Command, Ending, Instant, Message, Rules};
use tidings_store::{Commit, Store};

use crate::Error;
use crate::ahead::Ahead;
use crate::event_loop::By;
use crate::kept_back::Sending;
use crate::once::{self, Work};
use crate::shelf::StoreShelf;
use crate::vitals::{Stopwatch, Vitals, timed};

mod late;

use late::LateForget;

/// A node: an engine whose decisions are durable.
pub struct Node {
    store: Arc<dyn Store>,
    engine: Engine,
    vitals: Arc<Vitals>,
    /// Dropped with the node.
    life: Arc<()>,
    /// Whether the current work leads to free space.
    frees: bool,
    ahead: Ahead,
    late_forget: Option<LateForget>,
}

/// The result of commands.
#[derive(Debug, Default)]
pub struct Accepted {
    /// An answer per command, in order.
    pub replies: Vec<Result<Reply, Refused>>,
    /// The deliveries to inboxes.
    pub told: Vec<Told>,
}

/// Messages that are durable and can be sent.
#[derive(Debug)]
pub struct Ready {
    /// The plan of the messages.
    pub plan: Plan,
    /// The batch of each letter with entries: (index of the letter, batch). Empty if they were not
    /// requested.
    pub batches: Vec<(usize, Batch)>,
}

/// The priority of a lane's messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pace {
    /// Prompt: the recipient waits for it.
    Prompt,
    /// Patient: it is a digest. There may be very many of them at once, so the others go first.
    Patient,
}

impl Pace {
    /// The pace of a lane, by its name: those of digests are reserved (contract, section 2).
    #[must_use]
    pub fn of(lane: &str) -> Self {
        if lane.starts_with("digest:") {
            Self::Patient
        } else {
            Self::Prompt
        }
    }
}

/// The most recipients whose messages are built at once: other commands are handled between two slices.
pub const SLICE_RECIPIENTS_MAX: usize = 2048;

impl Node {
    /// Opens the stored node, or a new one.
    ///
    /// # Errors
    /// [`Error`] where the store can't be read or makes no sense.
    pub fn open(store: Arc<dyn Store>, options: Options) -> Result<Self, Error> {
        let node = Self::open_to_look(store, options)?;
        // A crash between a commit that forgets a day and its drop leaves the day: drop it now.
        if let Some(before) = node.engine.forgotten_before() {
            let days = node.store.days()?;
            for day in days.into_iter().filter(|day| *day < before) {
                node.store.forget(day)?;
            }
        }
        Ok(node)
    }

    /// Opens the stored node without changing anything.
    ///
    /// # Errors
    /// [`Error`] where the store can't be read or makes no sense.
    pub fn open_to_look(store: Arc<dyn Store>, options: Options) -> Result<Self, Error> {
        let engine = {
            let shelf = StoreShelf::of(&*store)?;
            Engine::open(&shelf, &store.days()?, options)?
        };
        Ok(Self {
            ahead: Ahead::new(&store),
            store,
            engine,
            vitals: Arc::default(),
            life: Arc::default(),
            frees: false,
            late_forget: None,
        })
    }

    /// The same, with its commits written by threads or by hand.
    pub(crate) fn written(mut self, by: By) -> Self {
        self.ahead.write_by(by);
        self
    }

    /// Sets the measurements.
    pub(crate) fn measure(&mut self, vitals: &Arc<Vitals>) {
        self.vitals = Arc::clone(vitals);
        self.ahead.measure(vitals);
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

    /// A reference that tells whether the node still exists: a failed one was dropped, and its store can
    /// be opened again as soon as nobody holds a snapshot of it.
    #[must_use]
    pub fn life(&self) -> Weak<()> {
        Arc::downgrade(&self.life)
    }

    /// The stored data for reading, with the commit in progress, if any.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub fn shelf(&self) -> Result<StoreShelf, Error> {
        let shelf = StoreShelf::ahead_of(&*self.store, self.ahead.writes())?;
        Ok(shelf.measured(&self.vitals))
    }

    /// The commit in progress.
    pub(crate) fn ahead(&mut self) -> &mut Ahead {
        &mut self.ahead
    }

    /// The next due instant; it may be too early, never too late.
    pub fn next_due(&mut self) -> Option<Instant> {
        self.engine.next_due()
    }

    /// Whether any pending entry could become due.
    ///
    /// # Errors
    /// [`Error`] where the store can't be read.
    pub fn waits(&self) -> Result<bool, Error> {
        Ok(self.engine.waits(&self.shelf()?)?)
    }

    /// Puts rules in force; the instant stays open.
    ///
    /// # Errors
    /// [`Error`]; the node is worthless then.
    pub fn set_rules(&mut self, now: Instant, rules: Rules) -> Result<(), Error> {
        self.set_rules_beside(&(), now, rules)
    }

    /// [`Node::set_rules`] with senders.
    ///
    /// # Errors
    /// [`Error`]; the node is worthless then.
    pub(crate) fn set_rules_beside(
        &mut self,
        sending: &dyn Sending,
        now: Instant,
        rules: Rules,
    ) -> Result<(), Error> {
        self.commit(|engine, shelf| {
            let reach = sending.keep_back(engine.may_touch(shelf, Upcoming::Rules(&rules))?);
            Ok(engine.set_rules_with(shelf, &reach, now, rules)?)
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
    /// [`Error`]; the node is worthless then.
    pub fn fall_due(&mut self, now: Instant) -> Result<(), Error> {
        self.commit(|engine, shelf| Ok(engine.fall_due(shelf, now)?))
            .map(|_| ())
    }

    /// Handles commands; the instant stays open.
    ///
    /// # Errors
    /// [`Error`]; the node is worthless then.
    pub fn take_in(&mut self, now: Instant, commands: &[Command]) -> Result<Accepted, Error> {
        self.commit(|engine, shelf| Ok(engine.take_in(shelf, now, commands)?))
    }

    /// [`Node::take_in`] with senders.
    ///
    /// # Errors
    /// [`Error`]; the node is worthless then.
    pub(crate) fn take_in_beside(
        &mut self,
        sending: &dyn Sending,
        now: Instant,
        commands: &[Command],
    ) -> Result<Accepted, Error> {
        self.commit(|engine, shelf| {
            let reach = sending.keep_back(engine.may_touch(shelf, Upcoming::Commands(commands))?);
            Ok(engine.take_in_with(shelf, &reach, now, commands)?)
        })
    }

    /// [`Node::step`] with senders.
    ///
    /// # Errors
    /// [`Error`]; the node is worthless then.
    pub(crate) fn step_beside(
        &mut self,
        sending: &dyn Sending,
        now: Instant,
        commands: &[Command],
    ) -> Result<Accepted, Error> {
        self.commit(|engine, shelf| {
            let reach = sending.keep_back(engine.may_touch(shelf, Upcoming::Commands(commands))?);
            Ok(engine.step_with(shelf, &reach, now, commands)?)
        })
    }

    /// Handles commands, delivers to the inboxes and closes the lanes that are due.
    ///
    /// # Errors
    /// [`Error`]; the node is worthless then.
    pub fn step(&mut self, now: Instant, commands: &[Command]) -> Result<Accepted, Error> {
        self.commit(|engine, shelf| Ok(engine.step(shelf, now, commands)?))
    }

    /// [`Node::step_beside`] for several requests at once. The replies that they want kept are written in
    /// the same commit, and so is a slice of the engine's chores. They are answered when it is durable,
    /// which may be after this returns: [`Ahead::finish`] waits for it. `work` is empty then; after an
    /// error it has the requests without an answer.
    pub(crate) fn step_keeping(
        &mut self,
        sending: &dyn Sending,
        now: Instant,
        work: &mut Vec<Work>,
    ) -> Result<(), Error> {
        let commands: Vec<Command> = work
            .iter_mut()
            .flat_map(|work| std::mem::take(&mut work.commands))
            .collect();
        let took = Stopwatch::start();
        let shelf = self.shelf()?;
        let letters = self
            .engine
            .may_touch(&shelf, Upcoming::Commands(&commands))?;
        let reach = sending.keep_back(letters);
        let mut step = self.engine.step_with(&shelf, &reach, now, &commands)?;
        let mut replies = std::mem::take(&mut step.replies).into_iter();
        for work in work.iter_mut() {
            work.replies.extend(replies.by_ref().take(work.count));
        }
        let answers: Vec<_> = work.iter_mut().filter_map(Work::keep).collect();
        step.writes.extend(once::writes(&shelf, now, &answers)?);
        self.ahead.finish()?;
        if self.frees || !step.forgotten.is_empty() || step.writes.is_empty() {
            self.write(step)?;
            self.vitals.steps.add(took);
            work.drain(..).for_each(Work::tell);
            return Ok(());
        }
        let chore = self.engine.chore(&shelf)?.unwrap_or_default();
        drop(shelf);
        if let Err(refused) = self.ensure_fits(&chore) {
            self.write(step)?;
            self.vitals.steps.add(took);
            work.drain(..).for_each(Work::tell);
            return Err(refused);
        }
        step.writes.extend(chore);
        let commit = Commit {
            writes: step.writes,
        };
        self.ahead.start(commit, std::mem::take(work), took)
    }

    /// Builds one slice of messages, of the oldest closings with some left; they are durable when this
    /// returns. One commit serves many small closings, of many time zones and buckets. Empty if there is
    /// nothing to build.
    ///
    /// # Errors
    /// [`Error`]; the node is worthless then.
    pub fn make(&mut self, now: Instant) -> Result<Vec<Plan>, Error> {
        let closings = self.engine.closings();
        self.make_of(now, closings, SLICE_RECIPIENTS_MAX)
    }

    /// [`Node::make`] for wanted lanes, with a maximum of recipients.
    ///
    /// # Errors
    /// [`Error`]; the node is worthless then.
    pub fn make_in(
        &mut self,
        now: Instant,
        is_wanted: impl Fn(&LaneName) -> bool,
        most: usize,
    ) -> Result<Vec<Plan>, Error> {
        let mut closings = self.engine.closings();
        closings.retain(|closing| self.engine.lane_of(*closing).is_some_and(&is_wanted));
        self.make_of(now, closings, most)
    }

    fn make_of(
        &mut self,
        now: Instant,
        closings: Vec<(BucketNo, u64)>,
        mut room: usize,
    ) -> Result<Vec<Plan>, Error> {
        let mut plans: Vec<Plan> = Vec::new();
        {
            // An entry belongs to one closing alone, so that no look depends on what another ends.
            let shelf = self.shelf()?;
            for (bucket, closing) in closings {
                if room == 0 {
                    break;
                }
                if let Some(plan) = self.engine.plan(&shelf, bucket, closing, room)? {
                    room = room.saturating_sub(plan.letters.len());
                    plans.push(plan);
                }
            }
        }
        if !plans.is_empty() {
            self.commit(|engine, shelf| Ok(engine.made(shelf, now, &plans)?))?;
        }
        Ok(plans)
    }

    /// The batches of built messages.
    ///
    /// # Errors
    /// [`Error`].
    pub fn present(&self, plan: Plan) -> Result<Ready, Error> {
        let batches = self.batches(&plan)?;
        Ok(Ready { plan, batches })
    }

    /// Messages that were durable before the last stop and have no outcome. Those that can't be rebuilt
    /// as they were, or whose recipient was erased since, are recorded as unknown.
    ///
    /// # Errors
    /// [`Error`]; the node is worthless then.
    pub fn unsettled(&mut self) -> Result<Vec<Ready>, Error> {
        let plans = self.engine.unsettled(&self.shelf()?)?;
        self.present_made(plans)
    }

    /// Messages that were built and then kept back, as they are now, without those that have no entries
    /// left. Those that can't be rebuilt are recorded as with [`Node::unsettled`].
    ///
    /// # Errors
    /// [`Error`]; the node is worthless then.
    pub fn made_again(&mut self, letters: &BTreeSet<LetterName>) -> Result<Vec<Ready>, Error> {
        let plans = self.engine.made_again(&self.shelf()?, letters)?;
        self.present_made(plans)
    }

    fn present_made(&mut self, plans: Vec<Plan>) -> Result<Vec<Ready>, Error> {
        let torn = plans.iter().filter(|plan| !plan.torn.is_empty());
        let torn = torn.map(|plan| Settled {
            closing: (plan.bucket, plan.closing),
            sent: plan.torn.clone(),
            tried: Vec::new(),
        });
        let torn: Vec<Settled> = torn.collect();
        if !torn.is_empty() {
            self.settle(self.engine.now(), &torn)?;
        }
        let ready = plans.into_iter().map(|plan| self.present(plan));
        let ready = ready.collect::<Result<Vec<_>, _>>()?;
        let gone: Vec<Settled> = ready.iter().filter_map(not_presented).collect();
        if !gone.is_empty() {
            self.settle(self.engine.now(), &gone)?;
        }
        Ok(ready)
    }

    fn batches(&self, plan: &Plan) -> Result<Vec<(usize, Batch)>, Error> {
        let shelf = self.shelf()?;
        let mut presenter = Presenter::new(&self.engine, &shelf);
        let mut batches = Vec::with_capacity(plan.letters.len());
        for (at, letter) in plan.letters.iter().enumerate() {
            if let Some(batch) = presenter.batch(plan, letter)? {
                batches.push((at, batch));
            }
        }
        Ok(batches)
    }

    /// Records the outcomes and the failed attempts of messages in one commit.
    ///
    /// # Errors
    /// [`Error`]; the node is worthless then.
    pub fn settle(&mut self, now: Instant, settled: &[Settled]) -> Result<(), Error> {
        self.commit(|engine, shelf| Ok(engine.outcome(shelf, now, settled)?))
            .map(|_| ())
    }

    /// The messages of deliveries to inboxes; to be called right after.
    ///
    /// # Errors
    /// [`Error`].
    pub fn inbox_messages(&self, told: &[Told]) -> Result<Vec<Message>, Error> {
        let shelf = self.shelf()?;
        let mut messages = Vec::new();
        for told in told {
            messages.extend(self.engine.inbox_messages(&shelf, told)?);
        }
        Ok(messages)
    }

    /// Runs a slice of the engine's chores in one commit; returns whether there was one.
    ///
    /// # Errors
    /// [`Error`]; the node is worthless then.
    pub fn chore(&mut self) -> Result<bool, Error> {
        if !self.engine.has_chores() {
            return Ok(false);
        }
        let shelf = self.shelf()?;
        let Some(writes) = self.engine.chore(&shelf)? else {
            return Ok(false);
        };
        drop(shelf);
        self.ahead.finish()?;
        self.ensure_fits(&writes)?;
        self.store.commit(Commit { writes })?;
        Ok(true)
    }

    /// Checks whether the store accepts a chore's writes. If not, the engine is ahead of what the store
    /// will ever have.
    fn ensure_fits(&self, chore: &[Write]) -> Result<(), Error> {
        let fits = self.store.ensure_fits(chore);
        fits.map_err(|fault| Error::Chore {
            bucket: self.engine.chores_of(),
            fault,
        })
    }

    /// Stops a bucket's chores from now on.
    pub(crate) fn set_aside(&mut self, bucket: BucketNo) {
        self.engine.set_aside(bucket);
    }

    /// Runs all chores of the engine.
    ///
    /// # Errors
    /// [`Error`]; the node is worthless then.
    pub fn chores(&mut self) -> Result<(), Error> {
        while self.chore()? {}
        Ok(())
    }

    /// Days that are over and came to rest since the last call: they should be packed.
    pub fn take_rested(&mut self) -> Vec<Day> {
        self.engine.take_rested()
    }

    /// Counts everything in the store.
    ///
    /// # Errors
    /// [`Error::Disagreement`] where the walk and the ledger don't agree.
    pub fn books(&self) -> Result<Books, Error> {
        let walk = self.engine.walk(&self.shelf()?)?;
        match walk.disagreements.first() {
            None => Ok(walk.books),
            Some(first) => Err(Error::Disagreement(first.clone())),
        }
    }

    fn commit(
        &mut self,
        decide: impl FnOnce(&mut Engine, &StoreShelf) -> Result<Step, Error>,
    ) -> Result<Accepted, Error> {
        let shelf = self.shelf()?;
        let step = decide(&mut self.engine, &shelf)?;
        drop(shelf);
        self.write(step)
    }

    fn write(&mut self, step: Step) -> Result<Accepted, Error> {
        if !step.writes.is_empty() {
            self.ahead.finish()?;
            let commit = Commit {
                writes: step.writes,
            };
            let frees = self.frees || !step.forgotten.is_empty();
            timed(&self.vitals.commits, || match frees {
                true => self.store.commit_to_free(commit),
                false => self.store.commit(commit),
            })?;
        }
        for day in step.forgotten {
            self.store.forget(day)?;
        }
        Ok(Accepted {
            replies: step.replies,
            told: step.told,
        })
    }
}

/// Messages of a plan without a batch: whether they were sent is unknown.
fn not_presented(ready: &Ready) -> Option<Settled> {
    let presented: BTreeSet<usize> = ready.batches.iter().map(|(at, _)| *at).collect();
    let letters = ready.plan.letters.iter().enumerate();
    let gone = letters.filter(|(at, letter)| letter.tells() && !presented.contains(at));
    let sent: Vec<Sent> = gone
        .map(|(_, letter)| Sent {
            number: letter.number,
            told: ready.plan.told(letter),
            ending: Ending::Unknown,
            resent: 0,
        })
        .collect();
    let closing = (ready.plan.bucket, ready.plan.closing);
    (!sent.is_empty()).then_some(Settled {
        closing,
        sent,
        tried: Vec::new(),
    })
}
