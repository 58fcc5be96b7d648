//! The engine: the intake, the shards, and the questions that need both.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::acts::log_entry::LogEntry;
use super::address_index::hash::HashKey;
use super::intake::state::{Intake, Tally};
use super::jobs::rows::StoredJobs;
use super::replica::answer::{Answers, OpenReply};
use super::replica::progress::{HeldShards, KeptObjects};
use super::replies::going::GoingMessage;
use super::replies::refused::Refused;
use super::replies::reply::Reply;
use super::rows::ledger::LedgerRow;
use super::rows::named::each_base;
use super::shard::due::InboxDelivery;
use super::shard::state::{Shard, StoredShards, read_heads};
use super::shards::Shards;
use crate::bucket::Bucket;
use crate::bucket::storage::options::Options;
use crate::journal::stored::{ReadView, Unreadable, decode, from_json};
use crate::journal::table::{REST, Table, Write, u32_at};
use crate::model::id::{BucketNo, Id};
use crate::model::number::RecipientAt;
use crate::model::occurrence::{OccurrenceOwner, OccurrenceRow};
use crate::model::time::{Day, Instant};
use crate::rules::Rules;
use crate::rules::compiled::{CompiledRules, RulesVersion};
use crate::rules::names::NumberedNames;

/// The intake and the buckets of a node: what is accepted is applied in the same commit.
#[derive(Debug)]
pub struct Engine {
    pub(super) intake: Intake,
    /// True if what the intake decides is decided here, and not on another node.
    pub(super) holds_intake: bool,
    /// At least one.
    pub(super) shards: Shards,
    /// Number of shards of the store, of which others may be on other nodes.
    pub(super) of_shards: u16,
    /// The oldest day of shards on other nodes.
    pub(super) oldest_elsewhere: Option<Day>,
}

/// The result of a step. Nothing of it may be shown before its writes are durable.
#[derive(Debug, Default)]
pub struct Step {
    /// The writes of the step, to be committed together.
    pub writes: Vec<Write>,
    /// An answer per command, in order.
    pub replies: Vec<Result<Reply, Refused>>,
    /// The deliveries to inboxes.
    pub delivered: Vec<InboxDelivery>,
    /// Days to delete from the store once the writes are durable.
    pub forgotten: Vec<Day>,
    /// Messages that operators send: they leave as soon as the writes are durable.
    pub going: Vec<GoingMessage>,
    /// The acts of the step, for other nodes once the writes are durable.
    pub logged: Option<Arc<LogEntry>>,
    /// The commands whose replies are not whole before shards on other nodes have answered.
    pub open_replies: Vec<OpenReply>,
    /// The answers to another node's acts, for each number.
    pub answers: Vec<Answers>,
    /// Objects that the node with the intake has to keep.
    pub kept_objects: Vec<KeptObjects>,
    /// The rows of occurrences, for hooks once the writes are durable.
    pub occurred: Vec<(OccurrenceOwner, OccurrenceRow)>,
}

impl Engine {
    /// Opens a stored engine, or a new one. `held` = the days that the store has.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read or makes no sense.
    pub fn open(view: &dyn ReadView, held: &[Day], options: Options) -> Result<Self, Unreadable> {
        Self::open_held(view, held, options, None)
    }

    /// Opens an engine of some shards of a store, or (`None`) of all with the intake. `days` = the days that the store has.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read or makes no sense, or where it has no such shards.
    pub fn open_held(
        view: &dyn ReadView,
        days: &[Day],
        options: Options,
        held: Option<&HeldShards>,
    ) -> Result<Self, Unreadable> {
        let intake = Intake::recover(view, days)?;
        // Follows the intake's head: rules that another node writes in between come again as acts, which
        // change nothing.
        let compiled = Arc::new(read_compiled(view)?);
        let mut intake = intake.unwrap_or_else(|| Intake::new(options.buckets.max(1)));
        intake.compiled = Arc::clone(&compiled);
        intake.row_bytes = options.row_bytes;
        let divided = options.shards.clamp(1, intake.buckets);
        let is_whole =
            held.is_none_or(|held| held.intake && held.shards.len() == usize::from(divided));
        let holds_intake = held.is_none_or(|held| held.intake);
        let stored_key = HashKey::read(view)?;
        let fresh_key = HashKey::new(options.fresh_key);
        // The node with the intake stores it: elsewhere a hash of before that is like no other.
        intake.hash_key = stored_key.unwrap_or(fresh_key);
        intake.unstored_key = (holds_intake && stored_key.is_none()).then_some(fresh_key);
        // Only an engine of all shards may divide the buckets anew: another node may be writing the heads
        // of its shards.
        let heads = read_heads(view, is_whole.then_some(divided))?;
        let of_shards = u16::try_from(heads.len()).unwrap_or(u16::MAX);
        let store = StoredShards {
            view,
            days,
            compiled: &compiled,
            shards: of_shards,
            buckets: intake.buckets,
            options,
            hash_key: stored_key.or(intake.unstored_key),
        };
        let mut shards = Vec::with_capacity(heads.len());
        for (no, head) in (0..of_shards).zip(heads) {
            if held.is_none_or(|held| held.shards.contains(&no)) {
                shards.push(Shard::recover(&store, no, head)?);
            }
        }
        if shards.is_empty() || held.is_some_and(|held| held.shards.len() != shards.len()) {
            let why = format!("the store has {of_shards} shards, others than were asked for");
            return Err(Unreadable(why));
        }
        // A shard that was on another node may have gone further: no record is of an earlier instant than the one before.
        for shard in &shards {
            intake.now = intake.now.max(shard.now);
            intake.clock = intake.clock.max(shard.clock);
        }
        let stored = StoredJobs::read(view, days, intake.forgotten_before)?;
        let mut shards = Shards::new(shards);
        stored.open(view, &mut shards)?;
        intake.unended_jobs = stored.unended().collect();
        intake.jobs = stored.jobs;
        Ok(Self { intake, holds_intake, shards, of_shards, oldest_elsewhere: None })
    }

    /// The clock's time at the newest step.
    #[must_use]
    #[expect(clippy::misnamed_getters, reason = "what is due now is so by the clock")]
    pub fn now(&self) -> Instant {
        self.intake.clock
    }

    /// The instant of the newest step, which never goes back. It is later than [`Engine::now`] until a clock that was
    /// put back has reached it again.
    #[must_use]
    pub fn newest_step(&self) -> Instant {
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

    /// The bucket and number of a recipient.
    pub(super) fn find(&self, recipient: &Id) -> Result<RecipientAt, Refused> {
        let no = BucketNo::of(recipient.as_str(), self.intake.buckets);
        self.shards[self.shards.index_of(no)].find(recipient)
    }

    /// The next due instant: of a lane of a confirmed recipient, or of a scheduled event. It may be too
    /// early (a deadline has moved since), never too late, and may be in the past.
    pub fn next_due(&mut self) -> Option<Instant> {
        let lanes = self.shards.iter_mut().filter_map(Shard::next_due).min();
        // Events enter where the intake is. Elsewhere they come as acts, and a wake-up for them would find
        // nothing to do.
        let scheduled =
            self.intake.scheduled.first().map(|((t, _), ())| *t).filter(|_| self.holds_intake);
        lanes.into_iter().chain(scheduled).min()
    }

    /// The last instant, since the start, that ended with a delivery or a closing: later arrivals at it
    /// are too late for its messages.
    #[must_use]
    pub fn last_output_at(&self) -> Option<Instant> {
        self.shards.iter().filter_map(|shard| shard.last_output_at).max()
    }

    /// Bytes of memory used beyond profiles and ids, roughly.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.shards.buckets().map(Bucket::bytes).sum()
    }

    /// The counters of events and messages since the store was created.
    #[must_use]
    pub fn tally(&self) -> Tally {
        let shards = self.shards.iter().map(|shard| shard.tally);
        let intake = self.holds_intake.then_some(self.intake.tally);
        shards.fold(intake.unwrap_or_default(), |sum, tally| sum + tally)
    }

    /// The ledger, added up per day.
    #[must_use]
    pub fn ledger(&self) -> BTreeMap<Day, LedgerRow> {
        let mut days = BTreeMap::<Day, LedgerRow>::new();
        for (account, row) in self.shards.ledger_rows() {
            days.entry(account.day).or_default().add(row);
        }
        days
    }

    /// The ledger, added up per channel.
    #[must_use]
    pub fn ledger_by_channel(&self) -> BTreeMap<&'static str, LedgerRow> {
        let mut channels = BTreeMap::<&'static str, LedgerRow>::new();
        for (account, row) in self.shards.ledger_rows() {
            channels.entry(account.channel.name()).or_default().add(row);
        }
        channels
    }
}

fn read_compiled(view: &dyn ReadView) -> Result<CompiledRules, Unreadable> {
    let mut names = NumberedNames::default();
    each_base(view, Table::Names, |_, value| names.put_back(decode("a name", value)?))?;
    let mut compiled = CompiledRules::new(names);
    each_base(view, Table::Rules, |key, value| {
        let number = u32_at(key, REST).unwrap_or_default();
        let rules = from_json("the rules", value)?;
        let (version, _) = RulesVersion::new(number, rules, &mut compiled.names);
        compiled.add(version);
        Ok(())
    })?;
    Ok(compiled)
}
