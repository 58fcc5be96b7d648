//! The engine: a deterministic state machine that decides for everybody.
//!
//! `step(commands, now)` gives writes, replies and effects. It does no I/O of its own (what it must
//! read, the caller's shelf reads), reads no clock and draws no random number. The caller commits a
//! step's writes at once and only then answers. A step whose writes were not committed makes the
//! engine worthless: throw it away, and open another from what is stored.

use std::collections::BTreeSet;
use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_64;

use crate::bucket::Bucket;
use crate::bucket::recovery::Source;
use crate::command::Command;
use crate::journal::at_rest::{Shelf, Unreadable, decode, encode};
use crate::journal::record::Record;
use crate::law::{Law, Named, Names, Version};
use crate::limits::Limits;
use crate::rules::Rules;
use crate::table::{Key, Owner, Partition, REST, Table, Write, u32_at};
use crate::time::{Day, Instant};

mod accepted;
mod agenda;
mod books;
mod cancel;
mod cursor;
mod draft;
mod due;
mod follow;
mod inbox;
mod intake;
mod known_ids;
mod ledger;
mod look;
mod made;
mod objects;
mod outcome;
mod pause;
mod plan;
mod present;
mod profile;
mod publish;
mod reach;
mod reply;
mod retention;
mod schedule;
mod take_back;
#[cfg(test)]
mod tests;
mod view;

pub use agenda::{Agenda, DueLanes};
pub use books::Walk;
pub use cancel::Letter as LetterName;
pub use cursor::{Cursor, CursorError};
use draft::Draft;
pub use due::Told;
pub use inbox::{ITEMS_LISTED, InboxGroup, InboxItem, InboxPage};
use intake::Intake;
pub use intake::Tally;
use ledger::Ledger;
pub use ledger::Row as LedgerRow;
pub use made::{Sent, Settled, Tried};
pub use outcome::{EventReport, Fate, Trace};
pub use plan::{Letter, Plan};
pub use present::{Presenter, batch_id};
pub use reach::{Reach, Reached, Upcoming};
pub use reply::{Dropped, Extent, Published, PublishedAs, Refused, Reply, TakenBack, Warning};
pub(crate) use schedule::Frozen;
pub use view::{LetterAt, OpenLane, WaitingEntry};

/// Options of an engine; none of them changes its results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Number of buckets of a new store; an existing store keeps its own.
    pub buckets: u16,
    /// Number of notifications at which a bucket's tail is indexed after a checkpoint; `None` = never.
    pub turn_at: Option<u64>,
    /// Number of records after which a bucket writes a checkpoint.
    pub checkpoint_after: u64,
    /// Bytes of a slice of a checkpoint, index build or merge, about: a step waits for one slice at most.
    pub slice_bytes: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            buckets: 16,
            turn_at: Some(4096),
            checkpoint_after: 4096,
            slice_bytes: 256 << 10,
        }
    }
}

/// The state of a node's buckets and of the intake.
#[derive(Debug)]
pub struct Engine {
    law: Law,
    buckets: Vec<Bucket>,
    intake: Intake,
    ledger: Ledger,
    /// The days that hold a record of some bucket.
    journal_days: BTreeSet<Day>,
    /// Days that were written to and are not at rest since.
    restless: BTreeSet<Day>,
    /// The bucket whose chores run now.
    busy: usize,
    /// Buckets whose chores are not done any more.
    set_aside: BTreeSet<u16>,
    /// The last instant that ended with a delivery or a closing.
    spoke_at: Option<Instant>,
    options: Options,
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

/// The bucket of a recipient among `buckets`: always the same, on every machine.
#[must_use]
pub fn bucket_of(recipient: &str, buckets: u16) -> u16 {
    let bucket = xxh3_64(recipient.as_bytes()) % u64::from(buckets.max(1));
    u16::try_from(bucket).expect("a remainder is less than its divisor")
}

impl Engine {
    /// Opens a stored engine, or a new one. `held` = the days that the store has.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read or makes no sense.
    pub fn open(shelf: &dyn Shelf, held: &[Day], options: Options) -> Result<Self, Unreadable> {
        let law = read_law(shelf)?;
        let (intake, count) = match Intake::recover(shelf, held)? {
            Some(found) => found,
            None => (Intake::new(), options.buckets.max(1)),
        };
        let held: Vec<Day> = held
            .iter()
            .copied()
            .filter(|day| intake.forgotten_before.is_none_or(|before| *day >= before))
            .collect();
        let mut ledger = Ledger::default();
        let mut buckets = Vec::with_capacity(usize::from(count));
        for no in 0..count {
            let source = Source {
                shelf,
                law: &law,
                days: &held,
                forgotten_before: intake.forgotten_before,
            };
            buckets.push(Bucket::recover(no, source)?);
            ledger.read(shelf, no)?;
        }
        let journal_days = held.into_iter().collect();
        Ok(Self {
            law,
            buckets,
            intake,
            ledger,
            journal_days,
            restless: BTreeSet::new(),
            busy: 0,
            set_aside: BTreeSet::new(),
            spoke_at: None,
            options,
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
        self.law.current().map(|version| &version.rules)
    }

    /// Days before this one are deleted.
    #[must_use]
    pub fn forgotten_before(&self) -> Option<Day> {
        self.intake.forgotten_before
    }

    /// The next due instant: of a lane of a confirmed recipient, or of a scheduled event. It may be too
    /// early (a deadline has moved since), never too late, and may be in the past.
    pub fn next_due(&mut self) -> Option<Instant> {
        let lanes = self
            .buckets
            .iter_mut()
            .filter_map(|bucket| bucket.next_due(&self.law))
            .min()
            .map(Instant);
        let scheduled = self.intake.scheduled.first().map(|(t, _)| *t);
        lanes.into_iter().chain(scheduled).min()
    }

    /// Closes the lanes due at or before `now`, and nothing else: they go out before anything that
    /// arrives at the same instant (contract, section 2, "At one instant").
    ///
    /// # Errors
    /// [`Unreadable`]; the engine is worthless then.
    pub fn fall_due(&mut self, shelf: &dyn Shelf, now: Instant) -> Result<Step, Unreadable> {
        self.in_step(Draft::new(shelf), now, |engine, draft, now, _| {
            engine.close_due(draft, now);
            Ok(())
        })
    }

    /// Processes missed instants, each as [`Engine::fall_due`] and a step without arrivals: those at or
    /// before `until` at which something is due, in order. At most `most` of them, and all of one day.
    ///
    /// # Errors
    /// [`Unreadable`]; the engine is worthless then.
    pub fn play_missed(
        &mut self,
        shelf: &dyn Shelf,
        until: Instant,
        most: usize,
    ) -> Result<Step, Unreadable> {
        let Some(first) = self.next_due().filter(|due| *due <= until) else {
            return Ok(Step::default());
        };
        self.in_step(Draft::new(shelf), first, |engine, draft, now, _| {
            let until = until.min(now.day().end().plus_ms(-1));
            for _ in 0..most {
                let Some(due) = engine.next_due().filter(|due| *due <= until) else {
                    break;
                };
                let at = due.max(engine.intake.now);
                engine.intake.now = at;
                engine.close_due(draft, at);
                engine.enter_scheduled(draft, at)?;
                engine.end_instant(draft, at)?;
            }
            Ok(())
        })
    }

    /// The last instant, since the start, that ended with a delivery or a closing: later arrivals at it
    /// are too late for its messages.
    #[must_use]
    pub fn spoke_at(&self) -> Option<Instant> {
        self.spoke_at
    }

    /// Handles the arrivals of an instant: scheduled events, then the commands in order. The instant
    /// stays open for more. If the clock stepped back, the newest instant is used.
    ///
    /// # Errors
    /// [`Unreadable`]; the engine is worthless then.
    pub fn take_in(
        &mut self,
        shelf: &dyn Shelf,
        now: Instant,
        commands: &[Command],
    ) -> Result<Step, Unreadable> {
        self.take_in_with(shelf, &Reach::new(), now, commands)
    }

    /// [`Engine::take_in`] with the messages that the senders keep back: see [`Engine::may_touch`].
    ///
    /// # Errors
    /// [`Unreadable`]; the engine is worthless then.
    pub fn take_in_with(
        &mut self,
        shelf: &dyn Shelf,
        reach: &Reach,
        now: Instant,
        commands: &[Command],
    ) -> Result<Step, Unreadable> {
        self.in_step(
            Draft::new(shelf).with(reach),
            now,
            |engine, draft, now, step| engine.enter(draft, now, commands, step),
        )
    }

    /// Handles the arrivals of an instant, delivers to the inboxes, and closes the lanes due then. Lanes
    /// due before go out first, by [`Engine::fall_due`].
    ///
    /// # Errors
    /// [`Unreadable`]; the engine is worthless then.
    pub fn step(
        &mut self,
        shelf: &dyn Shelf,
        now: Instant,
        commands: &[Command],
    ) -> Result<Step, Unreadable> {
        self.step_with(shelf, &Reach::new(), now, commands)
    }

    /// [`Engine::step`] with the messages that the senders keep back: see [`Engine::may_touch`].
    ///
    /// # Errors
    /// [`Unreadable`]; the engine is worthless then.
    pub fn step_with(
        &mut self,
        shelf: &dyn Shelf,
        reach: &Reach,
        now: Instant,
        commands: &[Command],
    ) -> Result<Step, Unreadable> {
        self.in_step(
            Draft::new(shelf).with(reach),
            now,
            |engine, draft, now, step| {
                engine.enter(draft, now, commands, step)?;
                step.told = engine.end_instant(draft, now)?;
                Ok(())
            },
        )
    }

    /// Puts new rules in force, as a command among those of an instant: pending entries move to their new
    /// lanes. The same rules change nothing.
    ///
    /// # Errors
    /// [`Unreadable`]; the engine is worthless then.
    pub fn set_rules(
        &mut self,
        shelf: &dyn Shelf,
        now: Instant,
        rules: Rules,
    ) -> Result<Step, Unreadable> {
        self.set_rules_with(shelf, &Reach::new(), now, rules)
    }

    /// [`Engine::set_rules`] with the messages that the senders keep back (see [`Engine::may_touch`]):
    /// entries that are `never` under the new rules are removed from them.
    ///
    /// # Errors
    /// [`Unreadable`]; the engine is worthless then.
    pub fn set_rules_with(
        &mut self,
        shelf: &dyn Shelf,
        reach: &Reach,
        now: Instant,
        rules: Rules,
    ) -> Result<Step, Unreadable> {
        if self.rules() == Some(&rules) {
            return Ok(Step::default());
        }
        let draft = Draft::new(shelf).with(reach);
        self.in_step(draft, now, |engine, draft, now, _| {
            let number = engine.law.current().map_or(1, |version| version.number + 1);
            draft.put(Partition::Base, rules_key(number), intake::to_json(&rules));
            let (version, given) = Version::new(number, rules, &mut engine.law.names);
            for named in given {
                draft.put(Partition::Base, name_key(&named), encode(&named));
            }
            engine.law.add(version);
            let dropped = engine.forget_paused_types();
            for bucket in 0..engine.buckets.len() {
                engine.write(
                    draft,
                    bucket,
                    now,
                    Record::Rules {
                        at: now,
                        version: number,
                    },
                );
                engine.reroute(draft, now, bucket, take_back::Among::default())?;
                engine.take_out_unwanted(draft, now, bucket, None)?;
                if dropped {
                    engine.write_paused(draft, now, bucket);
                }
            }
            Ok(())
        })
    }

    /// Runs one bounded slice of maintenance: checkpoint, index build or merge. Returns its writes, to be
    /// committed before anything else; `None` = nothing is left to do.
    ///
    /// # Errors
    /// [`Unreadable`]; the engine is worthless then.
    pub fn chore(&mut self, shelf: &dyn Shelf) -> Result<Option<Vec<Write>>, Unreadable> {
        let today = self.intake.now.day();
        for _ in 0..self.buckets.len() {
            let is_set_aside = self.set_aside.contains(&self.chores_of());
            let bucket = &mut self.buckets[self.busy];
            while !is_set_aside && bucket.has_chore(today, &self.options) {
                let writes = bucket.chore_slice(shelf, today, &self.options)?;
                bucket.forget_ended(&self.law);
                self.restless.extend(writes.iter().filter_map(day_of));
                if !writes.is_empty() {
                    return Ok(Some(writes));
                }
            }
            self.busy = (self.busy + 1) % self.buckets.len();
        }
        Ok(None)
    }

    /// Whether [`Engine::chore`] may have work.
    #[must_use]
    pub fn has_chores(&self) -> bool {
        let today = self.intake.now.day();
        let mut buckets = self.working();
        buckets.any(|bucket| bucket.has_chore(today, &self.options))
    }

    /// The bucket of the last writes from [`Engine::chore`].
    #[must_use]
    pub fn chores_of(&self) -> u16 {
        u16::try_from(self.busy).expect("there are fewer buckets than 2^16")
    }

    /// Stops the chores of a bucket whose writes the store refused.
    pub fn set_aside(&mut self, bucket: u16) {
        self.set_aside.insert(bucket);
    }

    /// The buckets whose chores still run.
    fn working(&self) -> impl Iterator<Item = &Bucket> {
        let buckets = self.buckets.iter();
        buckets.filter(|bucket| !self.set_aside.contains(&bucket.no))
    }

    /// Whether chores are so far behind that they should get more of a step's time.
    #[must_use]
    pub fn is_behind(&self) -> bool {
        let most = self.options.checkpoint_after.saturating_mul(4);
        self.working().any(|bucket| bucket.dirty.records > most)
    }

    /// The days that came to rest since the last call: they are over, and only outcomes of their messages
    /// will still be written to them.
    pub fn take_rested(&mut self) -> Vec<Day> {
        let over = self.restless.range(..self.intake.now.day());
        let is_at_rest = |day: &&Day| self.buckets.iter().all(|bucket| bucket.is_at_rest(**day));
        let rested: Vec<Day> = over.filter(is_at_rest).copied().collect();
        self.restless.retain(|day| !rested.contains(day));
        rested
    }

    /// Number of buckets.
    #[must_use]
    pub fn buckets(&self) -> u16 {
        u16::try_from(self.buckets.len()).expect("there are fewer buckets than 2^16")
    }

    /// Bytes of memory used beyond profiles and ids, roughly.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.buckets.iter().map(Bucket::bytes).sum()
    }

    /// The counters of events and messages since the store was created.
    #[must_use]
    pub fn tally(&self) -> Tally {
        self.intake.tally
    }

    /// The ledger, added up per day.
    #[must_use]
    pub fn ledger(&self) -> std::collections::BTreeMap<Day, LedgerRow> {
        let mut days = std::collections::BTreeMap::<Day, LedgerRow>::new();
        for ((_, day, _), row) in self.ledger.rows() {
            days.entry(*day).or_default().add(row);
        }
        days
    }

    fn enter(
        &mut self,
        draft: &mut Draft<'_>,
        now: Instant,
        commands: &[Command],
        step: &mut Step,
    ) -> Result<(), Unreadable> {
        self.enter_scheduled(draft, now)?;
        for alike in commands.chunk_by(follow::together) {
            match alike {
                [command] => {
                    let reply = self.command(draft, now, command, &mut step.forgotten)?;
                    step.replies.push(reply);
                }
                many => step.replies.extend(self.follow(draft, now, many)?),
            }
        }
        Ok(())
    }

    fn in_step(
        &mut self,
        mut draft: Draft<'_>,
        now: Instant,
        work: impl FnOnce(&mut Self, &mut Draft<'_>, Instant, &mut Step) -> Result<(), Unreadable>,
    ) -> Result<Step, Unreadable> {
        let now = now.max(self.intake.now);
        self.intake.now = now;
        self.intake.begin_step();
        let mut step = Step::default();
        let counted = |intake: &Intake| {
            let withdrawals = intake.objects.withdrawals;
            (intake.tally, withdrawals, intake.forgotten_before)
        };
        let before = counted(&self.intake);
        work(self, &mut draft, now, &mut step)?;
        self.intake.objects.sweep(&mut draft)?;
        self.ledger.write(&mut draft);
        if !draft.is_empty() || before != counted(&self.intake) {
            self.intake.write(&mut draft, self.buckets());
        }
        step.writes = draft.done();
        Ok(step)
    }

    /// Writes a record, folds it in and returns its seq.
    fn write(&mut self, draft: &mut Draft<'_>, bucket: usize, now: Instant, record: Record) -> u64 {
        let bucket = &mut self.buckets[bucket];
        let seq = bucket.next_seq;
        let day = now.day();
        self.journal_days.insert(day);
        self.restless.insert(day);
        let row = draft.record(bucket.no, day, seq, &record);
        outcome::note_ends(draft, bucket.no, day, seq, &record);
        bucket.apply((seq, row), day, record, &self.law);
        seq
    }

    /// The index of a recipient's bucket in `self.buckets`.
    fn bucket_at(&self, recipient: &str) -> usize {
        usize::from(bucket_of(recipient, self.buckets()))
    }

    /// The bounds on what one command may carry.
    fn limits(&self) -> Limits {
        let rules = self.rules();
        rules.map_or_else(Limits::default, |rules| rules.limits)
    }

    fn version(&self) -> Option<Arc<Version>> {
        self.law.current().cloned()
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

fn read_law(shelf: &dyn Shelf) -> Result<Law, Unreadable> {
    let mut names = Names::default();
    intake::each_base(shelf, Table::Names, |_, value| {
        names.put_back(decode("a name", value)?)
    })?;
    let mut law = Law::new(names);
    intake::each_base(shelf, Table::Rules, |key, value| {
        let number = u32_at(key, REST).unwrap_or_default();
        let rules = intake::from_json("the rules", value)?;
        let (version, _) = Version::new(number, rules, &mut law.names);
        law.add(version);
        Ok(())
    })?;
    Ok(law)
}
