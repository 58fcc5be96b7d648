//! A shard: some buckets with one writer and one clock.
//!
//! It applies the acts of the intake in order, and the commands about its own recipients. It reads the intake and never
//! changes it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::admitted::Admitted;
use super::buckets::Buckets;
use crate::bucket::Bucket;
use crate::bucket::storage::options::Options;
use crate::bucket::storage::recovery::{self, RecoveryInput};
use crate::engine::intake::state::{Intake, Tally};
use crate::engine::rows::act::{Act, Applied, LogNo};
use crate::engine::rows::draft::Draft;
use crate::engine::rows::ends::note_ends;
use crate::engine::rows::going::Going;
use crate::engine::rows::ledger::Ledger;
use crate::engine::rows::named::days_with;
use crate::engine::rows::reply::Refused;
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
use crate::rules::compiled::{CompiledRules, Version};
use crate::sets::shared::{Own, Tree};

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
    pub(crate) ledger: Ledger,
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
    pub(crate) admitted: Own<BTreeMap<(BucketNo, TypeNo), Admitted>>,
    /// Deleted tenants that may have members or subscriptions left; `None` = they are to be found.
    pub(crate) ended_tenants: Own<Option<BTreeSet<TenantNo>>>,
    /// The messages that go again or at once, of this step.
    pub(crate) going: Vec<Going>,
    /// The last instant that ended with a delivery or a closing.
    pub(crate) last_output_at: Option<Instant>,
    /// The index, among the numbers, of the bucket whose chores are done now.
    busy: usize,
    /// Buckets whose chores are not done any more.
    maintenance_disabled: BTreeSet<BucketNo>,
    options: Options,
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
        let StoredShards { view, days: held, compiled, shards, buckets: total, options } = *store;
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
        let copied = days_with(view, &days, Owner::Shared, Table::EnteredIds)?;
        let copies = copied.into_iter().map(|day| (day, Tree::new())).collect();
        Ok(Self {
            no,
            now: head.now,
            clock: head.clock,
            compiled: Arc::clone(compiled),
            buckets: Buckets::new(total, buckets),
            ledger,
            paused: head.paused,
            tally: head.tally,
            entries_created: head.entries_created,
            applied: head.applied,
            forgotten_before: head.forgotten_before,
            journal_days: days.into_iter().collect(),
            days_to_compact: BTreeSet::new(),
            copies,
            kept_objects: Vec::new(),
            admitted: Own::default(),
            ended_tenants: Own::default(),
            going: Vec::new(),
            last_output_at: None,
            busy: 0,
            maintenance_disabled: BTreeSet::new(),
            options,
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
    ) -> Result<Applied, Unreadable> {
        match act {
            Act::Publish { row, at, profiles } => {
                self.take_profiles(intake, draft, profiles)?;
                let counts = self.publish(intake, draft, row, *at)?;
                return Ok(Applied::Published(counts));
            }
            Act::Cancel(cancel) => {
                let count = self.cancel(draft, cancel)?;
                return Ok(Applied::Cancelled(count));
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
            Act::Keep { .. }
            | Act::Unschedule { .. }
            | Act::Object { .. }
            | Act::Suppression { .. } => {}
        }
        Ok(Applied::Done)
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

    pub(crate) fn version(&self) -> Option<Arc<Version>> {
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

    /// Runs one bounded slice of maintenance: checkpoint, index build or merge.
    pub(crate) fn chore(&mut self, view: &dyn ReadView) -> Result<Option<Vec<Write>>, Unreadable> {
        let today = self.now.day();
        let numbers = self.buckets.numbers();
        for _ in 0..numbers.len() {
            let no = numbers[self.busy];
            let is_set_aside = self.maintenance_disabled.contains(&no);
            let bucket = &mut self.buckets[no];
            while !is_set_aside && bucket.has_chore(today, &self.options) {
                let writes = bucket.chore_slice(view, today, &self.options)?;
                bucket.forget_ended(&self.compiled);
                self.days_to_compact.extend(writes.iter().filter_map(day_of));
                if !writes.is_empty() {
                    return Ok(Some(writes));
                }
            }
            self.busy = (self.busy + 1) % numbers.len();
        }
        Ok(None)
    }

    /// Returns true if [`Shard::chore`] may have work.
    pub(crate) fn has_chores(&self) -> bool {
        let today = self.now.day();
        let mut buckets = self.working();
        buckets.any(|bucket| bucket.has_chore(today, &self.options))
    }

    /// The bucket of the last writes from [`Shard::chore`].
    pub(crate) fn chores_of(&self) -> BucketNo {
        self.buckets.numbers()[self.busy]
    }

    /// Stops the chores of a bucket whose writes the store refused.
    pub(crate) fn disable_maintenance(&mut self, bucket: BucketNo) {
        self.maintenance_disabled.insert(bucket);
    }

    /// The buckets whose chores are still done.
    fn working(&self) -> impl Iterator<Item = &Bucket> {
        self.buckets.iter().filter(|bucket| !self.maintenance_disabled.contains(&bucket.no))
    }

    /// Returns true if chores are so far behind that they should get more of a step's time.
    pub(crate) fn is_behind(&self) -> bool {
        let most = self.options.checkpoint_after.saturating_mul(4);
        self.working().any(|bucket| bucket.dirty.records > most)
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
