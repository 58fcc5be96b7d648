//! The engine: a deterministic state machine that decides for everybody.
//!
//! `step(commands, now)` gives writes, replies and effects. It does no I/O of its own (what it must
//! read, the caller's view reads), reads no clock and draws no random number. The caller commits a
//! step's writes at once and only then answers. A step whose writes were not committed makes the
//! engine poisoned: throw it away, and open another from what is stored.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::bucket::Bucket;
use crate::command::Command;
use crate::compiled::{CompiledRules, Named, Names, Version};
use crate::id::{BucketNo, Id};
use crate::journal::stored::{ReadView, Unreadable, decode};
use crate::rules::Rules;
use crate::table::{Key, Owner, Partition, REST, Table, Write, u32_at};
use crate::time::{Day, Instant};

mod accept;
mod accepted;
mod act;
mod agenda;
mod books;
mod buckets;
mod cancel;
mod cursor;
mod draft;
mod due;
mod follow;
mod inbox;
mod intake;
mod known_ids;
mod ledger;
mod locate;
mod look;
mod made;
mod objects;
mod outcome;
mod part;
mod parts;
mod pause;
mod plan;
mod present;
mod profile;
mod publish;
mod reach;
mod reply;
mod retention;
mod schedule;
mod snapshot;
mod take_back;
#[cfg(test)]
mod tests;
mod view;

use accept::Accepted;
use act::{Act, Applied};
pub use agenda::{Agenda, DueLanes};
pub use books::Walk;
pub use cancel::MessageId;
pub use cursor::{Cursor, CursorError};
use draft::Draft;
pub use due::Told;
pub use inbox::{ITEMS_LISTED, InboxGroup, InboxItem, InboxPage};
use intake::Intake;
pub use intake::Tally;
pub use ledger::Row as LedgerRow;
pub use made::{Sent, Settled, Tried};
pub use outcome::{EventReport, Fate, Trace};
use part::Part;
pub use plan::{Plan, PlannedMessage};
pub use present::{Presenter, batch_id};
pub use reach::{Reach, Reached, Upcoming};
use reply::Answer;
pub use reply::{Dropped, Extent, Published, PublishedAs, Refused, Reply, TakenBack, Warning};
pub(crate) use schedule::Frozen;
pub use snapshot::EngineSnapshot;
pub use view::{MessageAt, OpenLane, WaitingEntry};

/// Options of an engine; none of them changes its results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Number of buckets of a new store; an existing store keeps its own.
    pub buckets: u16,
    /// Number of parts that the buckets are divided into; it may change from one start to the next.
    pub parts: u16,
    /// Number of notifications at which a bucket's tail is indexed after a checkpoint; `None` = never.
    pub index_after: Option<u64>,
    /// Number of records after which a bucket writes a checkpoint.
    pub checkpoint_after: u64,
    /// Bytes of a slice of a checkpoint, index build or merge, about: a step waits for one slice at most.
    pub slice_bytes: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            buckets: 16,
            parts: 1,
            index_after: Some(4096),
            checkpoint_after: 4096,
            slice_bytes: 256 << 10,
        }
    }
}

/// The intake and the buckets of a node: what is accepted is applied in the same commit.
#[derive(Debug)]
pub struct Engine {
    intake: Intake,
    /// At least one.
    parts: Vec<Part>,
    /// The part whose chores are done now.
    busy: usize,
}

/// The result of a step. Nothing of it may be shown before its writes are durable.
#[derive(Debug, Default)]
pub struct Step {
    /// The writes of the step, to be committed together.
    pub writes: Vec<Write>,
    /// An answer per command, in order.
    pub replies: Vec<Result<Reply, Refused>>,
    /// The deliveries to inboxes.
    pub told: Vec<Told>,
    /// Days to delete from the store once the writes are durable.
    pub forgotten: Vec<Day>,
}

impl Engine {
    /// Opens a stored engine, or a new one. `held` = the days that the store has.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read or makes no sense.
    pub fn open(view: &dyn ReadView, held: &[Day], options: Options) -> Result<Self, Unreadable> {
        let compiled = Arc::new(read_compiled(view)?);
        let intake = Intake::recover(view, held, &compiled)?;
        let intake = intake.unwrap_or_else(|| Intake::new(&compiled, options.buckets.max(1)));
        let count = options.parts.clamp(1, intake.buckets);
        let heads = part::read_heads(view, count)?;
        let mut parts = Vec::with_capacity(heads.len());
        for (no, head) in (0..).zip(heads) {
            let buckets = parts::range_of(no, count, intake.buckets);
            let buckets = (buckets.map(BucketNo).collect(), intake.buckets);
            parts.push(Part::recover(
                (view, held),
                (&compiled, head),
                buckets,
                options,
            )?);
        }
        Ok(Self {
            intake,
            parts,
            busy: 0,
        })
    }

    /// The instant of the newest step.
    #[must_use]
    pub fn now(&self) -> Instant {
        self.intake.now
    }

    /// The rules in force, if any were set.
    #[must_use]
    pub fn rules(&self) -> Option<&Rules> {
        self.intake.rules()
    }

    /// Days before this one are deleted.
    #[must_use]
    pub fn forgotten_before(&self) -> Option<Day> {
        self.intake.forgotten_before
    }

    /// The next due instant: of a lane of a confirmed recipient, or of a scheduled event. It may be too
    /// early (a deadline has moved since), never too late, and may be in the past.
    pub fn next_due(&mut self) -> Option<Instant> {
        let parts = self.parts.iter_mut();
        let lanes = parts.filter_map(Part::next_due).min();
        let scheduled = self.intake.scheduled.first().map(|((t, _), ())| *t);
        lanes.into_iter().chain(scheduled).min()
    }

    /// Closes the lanes due at or before `now`, and nothing else: they go out before anything that
    /// arrives at the same instant (contract, section 2, "At one instant").
    ///
    /// # Errors
    /// [`Unreadable`]; the engine is poisoned then: drop it and open another.
    pub fn fall_due(&mut self, view: &dyn ReadView, now: Instant) -> Result<Step, Unreadable> {
        self.in_step(Draft::new(view), now, |engine, draft, _, _| {
            engine.close_due(draft);
            Ok(())
        })
    }

    /// Processes missed instants, each as [`Engine::fall_due`] and a step without arrivals: those at or
    /// before `until` at which something is due, in order. At most `most` of them, and all of one day.
    ///
    /// # Errors
    /// [`Unreadable`]; the engine is poisoned then: drop it and open another.
    pub fn play_missed(
        &mut self,
        view: &dyn ReadView,
        until: Instant,
        most: usize,
    ) -> Result<Step, Unreadable> {
        let Some(first) = self.next_due().filter(|due| *due <= until) else {
            return Ok(Step::default());
        };
        self.in_step(Draft::new(view), first, |engine, draft, now, _| {
            let until = until.min(now.day().end().plus_ms(-1));
            for _ in 0..most {
                let Some(due) = engine.next_due().filter(|due| *due <= until) else {
                    break;
                };
                engine.set_now(due);
                engine.close_due(draft);
                engine.enter_scheduled(draft)?;
                engine.end_instant(draft)?;
            }
            Ok(())
        })
    }

    /// The last instant, since the start, that ended with a delivery or a closing: later arrivals at it
    /// are too late for its messages.
    #[must_use]
    pub fn spoke_at(&self) -> Option<Instant> {
        self.parts.iter().filter_map(|part| part.spoke_at).max()
    }

    /// Handles the arrivals of an instant: scheduled events, then the commands in order. The instant
    /// stays open for more. If the clock stepped back, the newest instant is used.
    ///
    /// # Errors
    /// [`Unreadable`]; the engine is poisoned then: drop it and open another.
    pub fn take_in(
        &mut self,
        view: &dyn ReadView,
        now: Instant,
        commands: &[Command],
    ) -> Result<Step, Unreadable> {
        self.take_in_with(view, &Reach::new(), now, commands)
    }

    /// [`Engine::take_in`] with the messages that the senders keep back: see [`Engine::may_touch`].
    ///
    /// # Errors
    /// [`Unreadable`]; the engine is poisoned then: drop it and open another.
    pub fn take_in_with(
        &mut self,
        view: &dyn ReadView,
        reach: &Reach,
        now: Instant,
        commands: &[Command],
    ) -> Result<Step, Unreadable> {
        self.in_step(
            Draft::new(view).with(reach),
            now,
            |engine, draft, _, step| engine.enter(draft, commands, step),
        )
    }

    /// Handles the arrivals of an instant, delivers to the inboxes, and closes the lanes due then. Lanes
    /// due before go out first, by [`Engine::fall_due`].
    ///
    /// # Errors
    /// [`Unreadable`]; the engine is poisoned then: drop it and open another.
    pub fn step(
        &mut self,
        view: &dyn ReadView,
        now: Instant,
        commands: &[Command],
    ) -> Result<Step, Unreadable> {
        self.step_with(view, &Reach::new(), now, commands)
    }

    /// [`Engine::step`] with the messages that the senders keep back: see [`Engine::may_touch`].
    ///
    /// # Errors
    /// [`Unreadable`]; the engine is poisoned then: drop it and open another.
    pub fn step_with(
        &mut self,
        view: &dyn ReadView,
        reach: &Reach,
        now: Instant,
        commands: &[Command],
    ) -> Result<Step, Unreadable> {
        self.in_step(
            Draft::new(view).with(reach),
            now,
            |engine, draft, _, step| {
                engine.enter(draft, commands, step)?;
                step.told = engine.end_instant(draft)?;
                Ok(())
            },
        )
    }

    /// Puts new rules in force, as a command among those of an instant: pending entries move to their new
    /// lanes. The same rules change nothing.
    ///
    /// # Errors
    /// [`Unreadable`]; the engine is poisoned then: drop it and open another.
    pub fn set_rules(
        &mut self,
        view: &dyn ReadView,
        now: Instant,
        rules: Rules,
    ) -> Result<Step, Unreadable> {
        self.set_rules_with(view, &Reach::new(), now, rules)
    }

    /// [`Engine::set_rules`] with the messages that the senders keep back (see [`Engine::may_touch`]):
    /// entries that are `never` under the new rules are removed from them.
    ///
    /// # Errors
    /// [`Unreadable`]; the engine is poisoned then: drop it and open another.
    pub fn set_rules_with(
        &mut self,
        view: &dyn ReadView,
        reach: &Reach,
        now: Instant,
        rules: Rules,
    ) -> Result<Step, Unreadable> {
        if self.rules() == Some(&rules) {
            return Ok(Step::default());
        }
        let draft = Draft::new(view).with(reach);
        self.in_step(draft, now, |engine, draft, _, _| {
            let act = engine.intake.accept_rules(draft, rules);
            engine.apply(draft, &act)?;
            Ok(())
        })
    }

    /// Runs one bounded slice of maintenance: checkpoint, index build or merge. Returns its writes, to be
    /// committed before anything else; `None` = nothing is left to do.
    ///
    /// # Errors
    /// [`Unreadable`]; the engine is poisoned then: drop it and open another.
    pub fn chore(&mut self, view: &dyn ReadView) -> Result<Option<Vec<Write>>, Unreadable> {
        for _ in 0..self.parts.len() {
            if let Some(writes) = self.parts[self.busy].chore(view)? {
                return Ok(Some(writes));
            }
            self.busy = (self.busy + 1) % self.parts.len();
        }
        Ok(None)
    }

    /// Tells whether [`Engine::chore`] may have work.
    #[must_use]
    pub fn has_chores(&self) -> bool {
        self.parts.iter().any(Part::has_chores)
    }

    /// The bucket of the last writes from [`Engine::chore`].
    #[must_use]
    pub fn chores_of(&self) -> BucketNo {
        self.parts[self.busy].chores_of()
    }

    /// Stops the chores of a bucket whose writes the store refused.
    pub fn set_aside(&mut self, bucket: BucketNo) {
        self.part_of(bucket).set_aside(bucket);
    }

    /// Tells whether chores are so far behind that they should get more of a step's time.
    #[must_use]
    pub fn is_behind(&self) -> bool {
        self.parts.iter().any(Part::is_behind)
    }

    /// The days that came to rest since the last call: they are over, and only outcomes of their messages
    /// will still be written to them.
    pub fn take_rested(&mut self) -> Vec<Day> {
        let today = self.intake.now.day();
        let over = self
            .parts
            .iter()
            .flat_map(|part| part.restless.range(..today));
        let over: BTreeSet<Day> = over.copied().collect();
        let is_at_rest = |day: &Day| self.buckets().all(|bucket| bucket.is_at_rest(*day));
        let rested: Vec<Day> = over.into_iter().filter(is_at_rest).collect();
        for part in &mut self.parts {
            part.restless.retain(|day| !rested.contains(day));
        }
        rested
    }

    /// Bytes of memory used beyond profiles and ids, roughly.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.buckets().map(Bucket::bytes).sum()
    }

    /// The counters of events and messages since the store was created.
    #[must_use]
    pub fn tally(&self) -> Tally {
        let parts = self.parts.iter().map(|part| part.tally);
        parts.fold(self.intake.tally, |sum, tally| sum + tally)
    }

    /// The ledger, added up per day.
    #[must_use]
    pub fn ledger(&self) -> std::collections::BTreeMap<Day, LedgerRow> {
        let mut days = std::collections::BTreeMap::<Day, LedgerRow>::new();
        for ((_, day, _), row) in self.ledger_rows() {
            days.entry(*day).or_default().add(row);
        }
        days
    }

    fn enter(
        &mut self,
        draft: &mut Draft<'_>,
        commands: &[Command],
        step: &mut Step,
    ) -> Result<(), Unreadable> {
        self.enter_scheduled(draft)?;
        for alike in commands.chunk_by(follow::together) {
            match alike {
                [command] => {
                    let reply = self.command(draft, command, &mut step.forgotten)?;
                    step.replies.push(reply);
                }
                many => step.replies.extend(self.follow(draft, many)?),
            }
        }
        Ok(())
    }

    /// Enters the events that were scheduled for now or before, in order.
    fn enter_scheduled(&mut self, draft: &mut Draft<'_>) -> Result<(), Unreadable> {
        while let Some(act) = self.intake.enter_due(draft)? {
            self.apply(draft, &act)?;
        }
        Ok(())
    }

    /// Runs one command: what concerns everybody is accepted and applied, what concerns one recipient is the
    /// part's.
    fn command(
        &mut self,
        draft: &mut Draft<'_>,
        command: &Command,
        forgotten: &mut Vec<Day>,
    ) -> Answer {
        match self.intake.accept(draft, command)? {
            Ok(Accepted::Act(act)) => {
                let applied = self.apply(draft, &act)?;
                let (reply, warnings) = applied.reply(&act, self.intake.now);
                self.intake.tally.warnings += warnings;
                Ok(Ok(reply))
            }
            Ok(Accepted::Answered(reply)) => Ok(Ok(reply)),
            Ok(Accepted::Forget(before)) => Ok(Ok(self.forget_until(draft, before, forgotten)?)),
            Ok(Accepted::OfRecipient(recipient)) => {
                let no = BucketNo::of(recipient.as_str(), self.intake.buckets);
                let part = self.part_no(no);
                self.parts[part].command(&self.intake, draft, command)
            }
            Err(refused) => Ok(Err(refused)),
        }
    }

    /// Applies an act in every part, and adds up their answers.
    fn apply(&mut self, draft: &mut Draft<'_>, act: &Act) -> Result<Applied, Unreadable> {
        let mut sum = Applied::Done;
        for part in &mut self.parts {
            sum.add(part.apply(&self.intake, draft, act)?);
        }
        Ok(sum)
    }

    /// Does commands that all follow, or all unfollow: those of each part as one.
    fn follow(
        &mut self,
        draft: &mut Draft<'_>,
        commands: &[Command],
    ) -> Result<Vec<Result<Reply, Refused>>, Unreadable> {
        let of = |command: &Command| {
            let recipient = command.recipient().map_or("", Id::as_str);
            self.part_no(BucketNo::of(recipient, self.intake.buckets))
        };
        let parts: Vec<usize> = commands.iter().map(of).collect();
        let mut answers = Vec::with_capacity(self.parts.len());
        for (no, part) in self.parts.iter_mut().enumerate() {
            let theirs = commands.iter().zip(&parts).filter(|(_, of)| **of == no);
            let theirs: Vec<&Command> = theirs.map(|(command, _)| command).collect();
            answers.push(part.follow(draft, &theirs)?.into_iter());
        }
        let in_order = parts.iter().filter_map(|no| answers[*no].next());
        Ok(in_order.collect())
    }

    /// Closes the lanes that are due.
    fn close_due(&mut self, draft: &mut Draft<'_>) {
        for part in &mut self.parts {
            part.close_due(draft);
        }
    }

    /// Ends an instant: delivers to the inboxes, and closes the lanes that are due now.
    fn end_instant(&mut self, draft: &mut Draft<'_>) -> Result<Vec<Told>, Unreadable> {
        let mut told = Vec::new();
        for part in &mut self.parts {
            told.extend(part.end_instant(&self.intake, draft)?);
        }
        Ok(told)
    }

    /// Sets all clocks; none goes back.
    fn set_now(&mut self, now: Instant) {
        let now = now.max(self.intake.now);
        self.intake.now = now;
        for part in &mut self.parts {
            part.now = now;
        }
    }

    fn in_step(
        &mut self,
        mut draft: Draft<'_>,
        now: Instant,
        work: impl FnOnce(&mut Self, &mut Draft<'_>, Instant, &mut Step) -> Result<(), Unreadable>,
    ) -> Result<Step, Unreadable> {
        self.set_now(now);
        let now = self.intake.now;
        self.intake.begin_step();
        let mut step = Step::default();
        let counted = |engine: &Self| {
            let withdrawals = engine.intake.objects.withdrawals;
            (engine.tally(), withdrawals, engine.intake.forgotten_before)
        };
        let before = counted(self);
        work(self, &mut draft, now, &mut step)?;
        for part in &mut self.parts {
            for (event, day) in std::mem::take(&mut part.kept_objects) {
                self.intake.objects.touch_all(&mut draft, &event, day)?;
            }
            part.ledger.write(&mut draft);
        }
        self.intake.objects.sweep(&mut draft)?;
        if !draft.is_empty() || before != counted(self) {
            self.intake.write_head(&mut draft);
            let parts = u16::try_from(self.parts.len()).unwrap_or(u16::MAX);
            for (no, part) in (0..).zip(&self.parts) {
                part.write_head(&mut draft, (no, parts));
            }
        }
        step.writes = draft.done();
        Ok(step)
    }
}

/// The day of the partition to write to.
fn day_of(write: &Write) -> Option<Day> {
    match write.partition {
        Partition::Base => None,
        Partition::Day(day) => Some(day),
    }
}

fn rules_key(version: u32) -> Vec<u8> {
    Key::of(Owner::Intake, Table::Rules).u32(version).done()
}

fn name_key(named: &Named) -> Vec<u8> {
    let key = Key::of(Owner::Intake, Table::Names);
    match named {
        Named::Type(number, _) => key.bytes(&[0]).u32(*number).done(),
        Named::Lane(number, _) => key.bytes(&[1]).u32(u32::from(*number)).done(),
    }
}

fn read_compiled(view: &dyn ReadView) -> Result<CompiledRules, Unreadable> {
    let mut names = Names::default();
    intake::each_base(view, Table::Names, |_, value| {
        names.put_back(decode("a name", value)?)
    })?;
    let mut compiled = CompiledRules::new(names);
    intake::each_base(view, Table::Rules, |key, value| {
        let number = u32_at(key, REST).unwrap_or_default();
        let rules = intake::from_json("the rules", value)?;
        let (version, _) = Version::new(number, rules, &mut compiled.names);
        compiled.add(version);
        Ok(())
    })?;
    Ok(compiled)
}
