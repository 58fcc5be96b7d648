//! A shard: some buckets with one writer and one clock.
//!
//! It applies the acts of the intake in order, and the commands about its own recipients. It reads the intake and never
//! changes it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::admission::admitted::PendingKeyRecipients;
use super::buckets::Buckets;
use super::maintenance::Maintenance;
use crate::bucket::storage::options::Options;
use crate::bucket::storage::recovery::{self, RecoveryInput};
use crate::engine::acts::act::Act;
use crate::engine::acts::applied::AppliedAct;
use crate::engine::acts::log_entry::LogNo;
use crate::engine::address_index::hash::HashKey;
use crate::engine::address_index::rows::AddressIndex;
use crate::engine::change_log::expiry::LineExpiry;
use crate::engine::change_log::line::LineWriter;
use crate::engine::figures::chore::FiguresChoreBounds;
use crate::engine::figures::counting::{FigureCounter, since};
use crate::engine::figures::key::{FigureSource, sources};
use crate::engine::intake::state::{Intake, Tally};
use crate::engine::jobs::job::ShardJobs;
use crate::engine::message::message_index::NewClosings;
use crate::engine::message::old_messages::OldMessages;
use crate::engine::replies::going::GoingMessage;
use crate::engine::replies::refused::Refused;
use crate::engine::rows::draft::Draft;
use crate::engine::rows::ends::{ClosingEndings, note_ends};
use crate::engine::rows::ledger::Ledger;
use crate::engine::rows::named::days_with;
use crate::journal::record::{EventAt, Record};
use crate::journal::stored::{ReadView, Unreadable, decode, encode};
use crate::journal::table::{Key, Owner, Partition, Table, Write};
use crate::model::command::Command;
use crate::model::event::Event;
use crate::model::id::{BucketNo, Id};
use crate::model::limits::Limits;
use crate::model::number::{RecipientAt, Seq, TypeNo};
use crate::model::pause::Paused;
use crate::model::tenant::TenantNo;
use crate::model::time::{Day, Instant};
use crate::rules::Rules;
use crate::rules::compiled::{CompiledRules, RulesVersion};
use crate::sets::shared::{Tree, WriterOnly};

/// Some buckets, and what they share.
#[derive(Clone, Debug)]
pub(crate) struct Shard {
    /// Its number among the shards of the store.
    pub(crate) no: u16,
    /// The instant of the newest step, which never goes back.
    pub(crate) now: Instant,
    /// The clock's time then: earlier, if it was put back.
    pub(crate) clock: Instant,
    pub(crate) compiled: Arc<CompiledRules>,
    pub(crate) buckets: Buckets,
    pub(crate) addresses: AddressIndex,
    pub(crate) ledger: Ledger,
    pub(crate) figures: FigureCounter,
    pub(crate) paused: Paused,
    /// Messages built and sent again.
    pub(crate) tally: Tally,
    /// Number of entries created by events; a walk through the store must find exactly this many.
    pub(crate) entries_created: u64,
    /// The number of the newest acts that it has applied.
    pub(crate) applied: LogNo,
    /// Days before this one are deleted.
    pub(crate) forgotten_before: Option<Day>,
    /// The days that hold a record of some bucket.
    pub(crate) journal_days: BTreeSet<Day>,
    /// Days that were written to and are not at rest since.
    pub(crate) days_to_compact: BTreeSet<Day>,
    /// The days with copies of events of other days; of the newest one, which were copied since the start.
    pub(crate) copies: BTreeMap<Day, Tree<EventAt, ()>>,
    /// Objects to keep as long as a day, since entries of an event moved to it.
    pub(crate) kept_objects: Vec<(Event, Day)>,
    /// The recipients who may have a pending entry of a type with an admission.
    pub(crate) admitted: WriterOnly<BTreeMap<(BucketNo, TypeNo), PendingKeyRecipients>>,
    /// Deleted tenants that may have members or subscriptions left; `None` = they are to be found.
    pub(crate) ended_tenants: WriterOnly<Option<BTreeSet<TenantNo>>>,
    /// The jobs of its buckets.
    pub(crate) jobs: ShardJobs,
    /// The endings of the closing of which a message was changed last.
    pub(crate) endings: WriterOnly<ClosingEndings>,
    /// The messages of an earlier version that are not indexed.
    pub(crate) old_messages: OldMessages,
    /// The closings of this step that the index of messages is to have.
    pub(crate) new_closings: NewClosings,
    /// Its lines of the log of changes.
    pub(crate) lines: LineWriter,
    /// The messages that go again or at once, of this step.
    pub(crate) going: Vec<GoingMessage>,
    /// The last instant that ended with a delivery or a closing.
    pub(crate) last_output_at: Option<Instant>,
    pub(crate) maintenance: Maintenance,
}

/// A shard's clock and counters as stored.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ShardHead {
    /// Number of shards.
    shards: u16,
    now: Instant,
    clock: Instant,
    tally: Tally,
    entries_created: u64,
    pub(crate) applied: LogNo,
    forgotten_before: Option<Day>,
    paused: Paused,
}

impl ShardHead {
    /// The instant of its newest step.
    pub(crate) fn now(&self) -> Instant {
        self.now
    }
}

fn head_key(no: u16) -> Vec<u8> {
    Key::of(Owner::Shard, Table::Meta).u16(no).done()
}

/// Reads the heads of that many shards, or (`None`) of those that there are. If there were more or fewer, the first one
/// gets what all had counted; that has to wait for as long as not all of them have applied the same acts.
pub(crate) fn read_heads(
    view: &dyn ReadView,
    shards: Option<u16>,
) -> Result<Vec<ShardHead>, Unreadable> {
    let mut stored: Vec<ShardHead> = Vec::new();
    for no in 0.. {
        if stored.first().is_some_and(|first| no >= first.shards) {
            break;
        }
        let Some(bytes) = view.get(Partition::Base, &head_key(no))? else {
            break;
        };
        stored.push(decode("a shard's head", &bytes)?);
    }
    let applied = stored.first().map(|head| head.applied).unwrap_or_default();
    let are_equal = stored.iter().all(|head| head.applied == applied);
    let Some(shards) = shards.filter(|shards| stored.len() != usize::from(*shards) && are_equal)
    else {
        return Ok(stored);
    };
    let newest =
        |of: fn(&ShardHead) -> Instant| stored.iter().map(of).max().unwrap_or(Instant::MIN);
    let fresh = || ShardHead {
        shards,
        now: newest(|head| head.now),
        clock: newest(|head| head.clock),
        tally: Tally::default(),
        entries_created: 0,
        applied,
        forgotten_before: stored.iter().filter_map(|head| head.forgotten_before).max(),
        paused: stored.first().map_or_else(Paused::default, |head| head.paused.clone()),
    };
    let mut heads: Vec<ShardHead> = (0..shards).map(|_| fresh()).collect();
    for head in &stored {
        heads[0].tally = heads[0].tally + head.tally;
        heads[0].entries_created += head.entries_created;
    }
    Ok(heads)
}

/// The store of an engine, as its shards are read from it.
pub(crate) struct StoredShards<'a> {
    pub(crate) view: &'a dyn ReadView,
    /// The days that the store has.
    pub(crate) days: &'a [Day],
    pub(crate) compiled: &'a Arc<CompiledRules>,
    /// Number of shards, and of buckets in all of them.
    pub(crate) shards: u16,
    pub(crate) buckets: u16,
    pub(crate) options: Options,
    /// The key of the hashes of addresses; `None` = it is not known yet.
    pub(crate) hash_key: Option<HashKey>,
}

impl Shard {
    /// Reads the stored buckets of a shard, or creates them.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read or makes no sense.
    pub(crate) fn recover(
        store: &StoredShards<'_>,
        no: u16,
        head: ShardHead,
    ) -> Result<Self, Unreadable> {
        let StoredShards { view, days: held, compiled, shards, buckets: total, .. } = *store;
        let kept = |day: &Day| head.forgotten_before.is_none_or(|before| *day >= before);
        let days: Vec<Day> = held.iter().copied().filter(kept).collect();
        let mut ledger = Ledger::default();
        let mut buckets = Vec::new();
        for no in range_of(no, shards, total).map(BucketNo) {
            let source = RecoveryInput {
                view,
                compiled,
                days: &days,
                forgotten_before: head.forgotten_before,
            };
            buckets.push(recovery::recover(no, source)?);
            ledger.read(view, no)?;
        }
        // Rows of numbers that no shard has any more are looked after by those that there are.
        let is_left_over = |source: &FigureSource| match source {
            FigureSource::Shard(number) => *number >= shards && *number % shards == no,
            FigureSource::Intake => false,
        };
        let left_over: Vec<FigureSource> =
            sources(view)?.into_iter().filter(is_left_over).collect();
        let buckets = Buckets::new(total, buckets);
        let addresses = AddressIndex::recover(view, store.hash_key, &buckets)?;
        let since = since(view)?.unwrap_or(Day(head.now.day().0.saturating_add(1)));
        let old_days = days.iter().copied().filter(|day| *day < since);
        let old_messages = OldMessages::recover(view, old_days, &buckets.numbers())?;
        let copied = days_with(view, &days, Owner::Shared, Table::EnteredIds)?;
        let copies = copied.into_iter().map(|day| (day, Tree::new())).collect();
        Ok(Self {
            no,
            now: head.now,
            clock: head.clock,
            compiled: Arc::clone(compiled),
            buckets,
            addresses,
            ledger,
            figures: FigureCounter::of(FigureSource::Shard(no)).with(left_over),
            paused: head.paused,
            tally: head.tally,
            entries_created: head.entries_created,
            applied: head.applied,
            forgotten_before: head.forgotten_before,
            journal_days: days.into_iter().collect(),
            days_to_compact: BTreeSet::new(),
            copies,
            kept_objects: Vec::new(),
            admitted: WriterOnly::default(),
            ended_tenants: WriterOnly::default(),
            endings: WriterOnly::default(),
            jobs: ShardJobs::default(),
            old_messages,
            new_closings: NewClosings::default(),
            lines: LineWriter::of(LineExpiry::of_shard(view, no, shards)?),
            going: Vec::new(),
            last_output_at: None,
            maintenance: Maintenance::new(store.options),
        })
    }

    /// Writes the counters and the clock of the shard, and the number of shards.
    pub(crate) fn write_head(&self, draft: &mut Draft<'_>, shards: u16) {
        let head = ShardHead {
            shards,
            now: self.now,
            clock: self.clock,
            tally: self.tally,
            entries_created: self.entries_created,
            applied: self.applied,
            forgotten_before: self.forgotten_before,
            paused: self.paused.clone(),
        };
        draft.put(Partition::Base, head_key(self.no), encode(&head));
    }

    /// Applies what the intake has accepted.
    ///
    /// # Errors
    /// [`Unreadable`]; the engine is poisoned then: drop it and open another.
    pub(crate) fn apply(
        &mut self,
        intake: &Intake,
        draft: &mut Draft<'_>,
        act: &Act,
    ) -> Result<AppliedAct, Unreadable> {
        match act {
            Act::Publish { row, at, profiles } => {
                self.take_profiles(intake, draft, profiles)?;
                let counts = self.publish(intake, draft, row, *at)?;
                return Ok(AppliedAct::Published(counts));
            }
            Act::Cancel(cancel) => {
                let count = self.cancel(draft, cancel)?;
                return Ok(AppliedAct::Cancelled(count));
            }
            Act::Forget { before } => return self.forget_until(draft, *before),
            Act::Expire { before } => self.expire_before(draft, *before)?,
            Act::Enter { row, at, t } => self.enter_scheduled(draft, *t, *at, row)?,
            Act::Pause(what) => self.pause(draft, what)?,
            Act::Resume(what) => self.resume(draft, what)?,
            Act::Rules { version, .. } => {
                self.compiled = Arc::clone(&intake.compiled);
                self.put_in_force(draft, *version)?;
            }
            Act::Tenant { number, known, void } => {
                self.take_tenant(draft, *number, known, void)?;
            }
            Act::Job { no, job } => {
                let held = self.buckets.numbers();
                self.jobs.open(draft.view, (*no, &job.job), &job.buckets, (self.no, &held))?;
            }
            Act::StopJob { no, .. } => self.jobs.close(*no),
            Act::Keep { .. }
            | Act::Unschedule { .. }
            | Act::Object { .. }
            | Act::Suppression { .. } => {}
        }
        Ok(AppliedAct::Done)
    }

    /// Writes a record, folds it in and returns its seq. If the clock is behind its instant, a record before it has the
    /// clock.
    pub(crate) fn write(&mut self, draft: &mut Draft<'_>, bucket: BucketNo, record: Record) -> Seq {
        self.write_clock(draft, bucket);
        self.write_one(draft, bucket, record)
    }

    /// Writes what the clock shows, unless the bucket knows it.
    pub(crate) fn write_clock(&mut self, draft: &mut Draft<'_>, bucket: BucketNo) {
        let (at, clock) = (self.now, self.clock);
        if self.buckets[bucket].clock != (clock < at).then_some(clock) {
            self.write_one(draft, bucket, Record::Clock { at, clock });
        }
    }

    fn write_one(&mut self, draft: &mut Draft<'_>, bucket: BucketNo, record: Record) -> Seq {
        let bucket = &mut self.buckets[bucket];
        let seq = bucket.next_seq;
        let day = self.now.day();
        self.journal_days.insert(day);
        self.days_to_compact.insert(day);
        let row = draft.record(bucket.no, day, seq, &record);
        note_ends(draft, bucket.no, day, seq, &record);
        draft.concerned.note(bucket.no, &record);
        bucket.apply(seq, row, day, record, &self.compiled);
        seq
    }

    /// Returns true if a command concerns a recipient of the shard.
    pub(crate) fn has(&self, command: &Command) -> bool {
        let recipient = command.recipient();
        recipient.is_some_and(|id| self.buckets.of(id.as_str()).is_some())
    }

    /// The bucket and number of a recipient.
    pub(crate) fn find(&self, recipient: &Id) -> Result<RecipientAt, Refused> {
        let found = self.buckets.of(recipient.as_str()).and_then(|bucket| {
            let number = self.buckets[bucket].roster.number(recipient.as_str())?;
            Some(RecipientAt { bucket, number })
        });
        found.ok_or_else(|| Refused::UnknownRecipient(recipient.clone()))
    }

    /// The rules in force, if any were set.
    pub(crate) fn rules(&self) -> Option<&Rules> {
        self.compiled.current().map(|version| &version.rules)
    }

    pub(crate) fn version(&self) -> Option<Arc<RulesVersion>> {
        self.compiled.current().cloned()
    }

    /// The bounds on what one command may carry.
    pub(crate) fn limits(&self) -> Limits {
        let version = self.compiled.current();
        version.map_or_else(Limits::default, |version| version.rules.limits)
    }

    /// The next due instant of a lane of a confirmed recipient; never too late.
    pub(crate) fn next_due(&mut self) -> Option<Instant> {
        let mut earliest: Option<i64> = None;
        for no in &*self.buckets.numbers() {
            earliest = earliest.into_iter().chain(self.next_due_of(*no)).min();
        }
        earliest.map(Instant)
    }

    /// [`Shard::next_due`] of a bucket, in milliseconds.
    pub(crate) fn next_due_of(&mut self, bucket: BucketNo) -> Option<i64> {
        let known = self.buckets[bucket].known_due();
        known.unwrap_or_else(|| self.buckets[bucket].next_due(&self.compiled))
    }

    /// Runs one bounded slice of maintenance: of a bucket, then of the figures, of the log of changes and of the index
    /// of addresses.
    pub(crate) fn chore(&mut self, view: &dyn ReadView) -> Result<Option<Vec<Write>>, Unreadable> {
        let (buckets, today) = (&mut self.buckets, self.now.day());
        if let Some(writes) = self.maintenance.slice(buckets, &self.compiled, view, today)? {
            self.days_to_compact.extend(writes.iter().filter_map(day_of));
            return Ok(Some(writes));
        }
        let as_of = self.figures_as_of();
        if let Some(writes) = self.figures.chore(view, as_of)? {
            return Ok(Some(writes));
        }
        let rules = self.compiled.current().map(|version| &version.rules);
        if let Some(writes) = self.lines.chore(view, self.now, rules)? {
            return Ok(Some(writes));
        }
        let keep_ms = rules.map(|rules| rules.store.keep_ms);
        self.addresses.chore(view, &self.buckets, self.now, keep_ms)
    }

    /// Returns true if [`Shard::chore`] may have work.
    pub(crate) fn has_chores(&self) -> bool {
        let today = self.now.day();
        self.figures.has_chore(self.figures_as_of())
            || self.maintenance.has_slice(&self.buckets, today)
            || self.lines.has_chore(self.now, self.rules())
            || self.addresses.has_chore(today)
    }

    /// The days and bounds that decide what is to be done with figures.
    fn figures_as_of(&self) -> FiguresChoreBounds {
        FiguresChoreBounds::at(self.now, self.forgotten_before, self.rules())
    }
}

/// The day of the partition to write to.
fn day_of(write: &Write) -> Option<Day> {
    match write.partition {
        Partition::Base => None,
        Partition::Day(day) => Some(day),
    }
}

/// The buckets of a shard, of that many shards and buckets.
pub(crate) fn range_of(shard: u16, shards: u16, buckets: u16) -> Range<u16> {
    let first = |shard: u16| {
        let first = u32::from(shard) * u32::from(buckets) / u32::from(shards);
        u16::try_from(first).expect("a part begins within the buckets")
    };
    first(shard)..first(shard + 1)
}
