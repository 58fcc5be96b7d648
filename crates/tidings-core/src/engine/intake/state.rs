//! The intake: accepted events by place, and scheduled events.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Add;
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::accepted;
use super::ahead::EarlyCancels;
use super::arrivals::Arrivals;
use super::figures::IntakeFigures;
use super::known_ids::KnownIds;
use super::objects::Objects;
use super::old_arrivals::OldArrivals;
use super::recent::Recent;
use super::suppressed::Suppressions;
use super::tenants::Tenants;
use crate::bucket::storage::options::Options;
use crate::content::batch::EventData;
use crate::engine::acts::log_entry::LogNo;
use crate::engine::address_index::hash::HashKey;
use crate::engine::change_log::expiry::LineExpiry;
use crate::engine::change_log::line::LineWriter;
use crate::engine::jobs::job::JobRow;
use crate::engine::replica::log_rows::LogRows;
use crate::engine::rows::draft::Draft;
use crate::engine::rows::event_row::EventRow;
use crate::engine::rows::named::{days_with, each_base};
use crate::index::headers::{self, HEADERS_PER_BLOCK, Header, HeaderRows};
use crate::journal::record::EventAt;
use crate::journal::stored::{ReadView, Unreadable, decode, encode, from_json};
use crate::journal::table::{Key, Owner, Partition, REST, Table, i64_at, u64_at};
use crate::model::changes::OF_INTAKE;
use crate::model::event::Event;
use crate::model::event::host_text::HostText;
use crate::model::event::trace::Trace;
use crate::model::limits::Limits;
use crate::model::messages::jobs::JobNo;
use crate::model::number::EventNo;
use crate::model::pause::Paused;
use crate::model::time::{Day, Instant};
use crate::rules::Rules;
use crate::rules::compiled::CompiledRules;
use crate::rules::names::NumberedNames;
use crate::sets::shared::{Shared, Tree, WriterOnly};

/// Counters of events. The ledger counts entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Accepted events.
    pub events: u64,
    /// Publishes of an event that was known already.
    pub republished: u64,
    /// Built messages.
    pub messages: u64,
    /// Messages sent again after an unknown outcome.
    pub resent: u64,
    /// Unknown recipients and empty audiences.
    pub warnings: u64,
    /// Number of recipients left out of an event by an admission.
    pub suppressed: u64,
}

impl Add for Tally {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            events: self.events + other.events,
            republished: self.republished + other.republished,
            // That of one shard may be below 0.
            messages: self.messages.wrapping_add(other.messages),
            resent: self.resent + other.resent,
            warnings: self.warnings + other.warnings,
            suppressed: self.suppressed + other.suppressed,
        }
    }
}

/// The accepted events and what concerns everybody. It knows no recipient.
#[derive(Clone, Debug)]
pub(crate) struct Intake {
    pub(crate) compiled: Arc<CompiledRules>,
    /// Number of buckets over which recipients are distributed.
    pub(crate) buckets: u16,
    /// The longest value that the store takes, in bytes.
    pub(crate) row_bytes: usize,
    /// The instant of the newest step, which never goes back.
    pub(crate) now: Instant,
    /// The clock's time then: earlier, if it was put back.
    pub(crate) clock: Instant,
    /// The instant of the first step.
    pub(crate) began: Option<Instant>,
    pub(crate) next_place: EventNo,
    /// The number of the newest acts that were written for other nodes.
    pub(crate) acts: LogNo,
    /// The rows of those that are still stored.
    pub(crate) log_rows: LogRows,
    pub(crate) tally: Tally,
    pub(crate) figures: IntakeFigures,
    /// Days before this one are deleted.
    pub(crate) forgotten_before: Option<Day>,
    pub(crate) paused: Paused,
    /// The next ordinal of each day that is kept.
    pub(crate) days: BTreeMap<Day, u32>,
    /// The days that have ids or cancellation keys.
    pub(crate) id_days: BTreeSet<Day>,
    /// The ids that each day may hold.
    pub(crate) known_ids: KnownIds,
    pub(crate) scheduled: Tree<(Instant, EventNo), ()>,
    /// The events that were cancelled before they came.
    pub(crate) ahead: EarlyCancels,
    /// The writer of the list of accepted events.
    pub(crate) arrivals: WriterOnly<Arrivals>,
    /// The events of an earlier version that are not listed or not indexed.
    pub(crate) old_arrivals: OldArrivals,
    /// The days on which scheduled events entered.
    pub(crate) entered_days: BTreeSet<Day>,
    pub(crate) objects: Objects,
    pub(crate) suppressions: Suppressions,
    pub(crate) tenants: Tenants,
    /// The key of the hashes of addresses, as long as the store has none: it goes with the next rows.
    pub(crate) unstored_key: Option<HashKey>,
    pub(crate) jobs: Tree<JobNo, Shared<JobRow>>,
    /// Those of which nothing notes the end yet.
    pub(crate) unended_jobs: BTreeSet<JobNo>,
    /// The key of keyed hashes.
    pub(crate) hash_key: HashKey,
    /// Its lines of the log of changes.
    pub(crate) lines: LineWriter,
    /// Headers of the newest day whose block can't be read yet.
    tail: Vec<Arc<Header>>,
    blocks: Arc<Mutex<HeaderBlocks>>,
    /// A cache of the events that conditions read, by their day. An event never changes, so clones share them.
    events: Arc<Recent<(Day, EventAt), Arc<Event>>>,
    /// A cache of the contents of events that presenters read, shared as well.
    pub(crate) contents: Arc<Recent<(Day, EventAt), EventContent>>,
}

/// The parts of an event that are shown as they were published, shared by all its messages.
#[derive(Clone, Debug, Default)]
pub(crate) struct EventContent {
    pub(crate) data: Option<Arc<EventData>>,
    pub(crate) body: Option<HostText>,
    pub(crate) trace: Option<Trace>,
}

/// Header blocks as stored, by day and number.
type HeaderBlocks = FxHashMap<(Day, u32), Arc<[u8]>>;

/// The most header blocks in the cache, some ten kilobytes each.
const BLOCKS_KEPT: usize = 512;

#[derive(Debug, Serialize, Deserialize)]
struct IntakeHead {
    now: Instant,
    clock: Instant,
    began: Option<Instant>,
    next_place: EventNo,
    acts: LogNo,
    tally: Tally,
    withdrawals: u64,
    kept_objects: u64,
    forgotten_before: Option<Day>,
    days: Vec<(Day, u32)>,
    buckets: u16,
    paused: Paused,
}

pub(crate) fn head_key() -> Vec<u8> {
    Key::of(Owner::Intake, Table::Meta).done()
}

fn block_key(block: u32) -> Vec<u8> {
    Key::of(Owner::Intake, Table::Headers).u32(block).done()
}

pub(crate) fn header_of(row: &EventRow) -> Header {
    let event = &row.event;
    Header {
        place: row.place,
        id: event.id.clone(),
        event_type: event.event_type.clone(),
        actor: event.actor.as_ref().map(|actor| actor.id.clone()),
        object: event.object.id.clone(),
        target: event.target.as_ref().map(|target| target.id.clone()),
        score: event.score,
        occurred_at: event.occurred_at,
        expires_at: event.expires_at,
    }
}

impl Intake {
    /// Creates an empty intake. Its first instant may be any: a timeline may be in the past.
    pub(crate) fn new(buckets: u16) -> Self {
        Self {
            compiled: Arc::new(CompiledRules::new(NumberedNames::default())),
            buckets,
            row_bytes: Options::default().row_bytes,
            now: Instant::MIN,
            clock: Instant::MIN,
            began: None,
            next_place: EventNo(0),
            acts: LogNo::default(),
            log_rows: LogRows::default(),
            tally: Tally::default(),
            figures: IntakeFigures::new(),
            forgotten_before: None,
            paused: Paused::default(),
            days: BTreeMap::new(),
            id_days: BTreeSet::new(),
            known_ids: KnownIds::default(),
            scheduled: Tree::new(),
            ahead: EarlyCancels::default(),
            arrivals: WriterOnly::default(),
            old_arrivals: OldArrivals::default(),
            entered_days: BTreeSet::new(),
            objects: Objects::default(),
            suppressions: Suppressions::default(),
            tenants: Tenants::default(),
            unstored_key: None,
            jobs: Tree::new(),
            unended_jobs: BTreeSet::new(),
            hash_key: HashKey::new(Options::default().fresh_key),
            lines: LineWriter::of(LineExpiry::of(OF_INTAKE)),
            tail: Vec::new(),
            blocks: Arc::default(),
            events: Arc::default(),
            contents: Arc::default(),
        }
    }

    /// A copy for a dry run. Its caches are its own: events that it accepts get places that others will have.
    pub(crate) fn copy(&self) -> Self {
        Self {
            blocks: Arc::default(),
            events: Arc::default(),
            contents: Arc::default(),
            ..self.clone()
        }
    }

    /// Gives an event a row in the day of `now`; returns its address.
    pub(crate) fn keep_event(
        &mut self,
        draft: &mut Draft<'_>,
        day: Day,
        row: &EventRow,
    ) -> EventAt {
        if !self.days.contains_key(&day) {
            // The last block of the day before is not full, and nobody writes into that day again.
            self.end_day(draft);
        }
        let next = self.days.entry(day).or_insert(0);
        let ordinal = *next;
        *next += 1;
        draft.add_event(day, ordinal, row);
        self.tail.push(Arc::new(header_of(row)));
        if begins_block(ordinal + 1) {
            self.write_block(draft, day, ordinal);
        }
        EventAt { day, ordinal }
    }

    /// An accepted event as a day has it.
    ///
    /// # Errors
    /// [`Unreadable`], also where it is not there.
    pub(crate) fn event(
        &self,
        draft: &Draft<'_>,
        day: Day,
        address: EventAt,
    ) -> Result<Arc<Event>, Unreadable> {
        if let Some(event) = self.events.get(&(day, address)) {
            return Ok(event);
        }
        let (event, bytes) = accepted::read_line(draft, day, address, |line| {
            let row: EventRow = from_json("an event", line)?;
            Ok((Arc::new(row.event), line.len()))
        })?;
        // Readers share the cache: a step that fails must not leave an event in it.
        if draft.fresh_event(day, address.ordinal).is_none() {
            self.events.keep((day, address), Arc::clone(&event), bytes);
        }
        Ok(event)
    }

    /// Registers today as a day on which objects change, so that it is deleted like others; returns it.
    pub(crate) fn keep_today(&mut self, draft: &mut Draft<'_>) -> Day {
        let today = self.now.day();
        if self.id_days.insert(today) {
            let key = Key::of(Owner::Intake, Table::ObjectDays).done();
            draft.put(Partition::Day(today), key, Vec::new());
        }
        today
    }

    /// Returns true if the rules in force have no tenants.
    pub(crate) fn are_tenants_off(&self) -> bool {
        self.rules().is_none_or(|rules| rules.tenants.is_none())
    }

    /// The rules in force, if any were set.
    pub(crate) fn rules(&self) -> Option<&Rules> {
        self.compiled.current().map(|version| &version.rules)
    }

    /// The bounds on what one command may carry.
    pub(crate) fn limits(&self) -> Limits {
        let rules = self.rules();
        rules.map_or_else(Limits::default, |rules| rules.limits)
    }

    /// Drops the headers whose blocks were written in earlier steps and can be read now.
    pub(crate) fn begin_step(&mut self) {
        let next = self.days.last_key_value().map_or(0, |(_, next)| *next);
        let fresh = (next % headers_per_block()) as usize;
        self.tail.drain(..self.tail.len().saturating_sub(fresh));
    }

    fn end_day(&mut self, draft: &mut Draft<'_>) {
        if let Some((day, next)) = self.days.last_key_value()
            && !begins_block(*next)
        {
            self.write_block(draft, *day, next - 1);
        }
        self.tail.clear();
    }

    /// Writes the block that ends with this ordinal, the newest.
    fn write_block(&self, draft: &mut Draft<'_>, day: Day, last: u32) {
        let count = (last % headers_per_block()) as usize + 1;
        let block = &self.tail[self.tail.len().saturating_sub(count)..];
        let block: Vec<Header> = block.iter().map(|header| Header::clone(header)).collect();
        draft.put(
            Partition::Day(day),
            block_key(last / headers_per_block()),
            headers::encode_headers(&block),
        );
    }

    /// Visits the header of an event as a day has it in the middle of a step, without a copy if it is in
    /// memory.
    pub(crate) fn with_header<T>(
        &self,
        draft: &Draft<'_>,
        day: Day,
        address: EventAt,
        look: impl FnOnce(&Header) -> T,
    ) -> Result<T, Unreadable> {
        match self.fresh_header(day, address) {
            Some(fresh) => Ok(look(fresh?)),
            None if address.day != day => {
                Ok(look(&header_of(&accepted::read(draft, day, address)?)))
            }
            None => Ok(look(&self.header(draft.view, day, address)?)),
        }
    }

    /// Reads an event's header as a day has it: from memory, from its block, or from the copy of its row.
    pub(crate) fn header(
        &self,
        view: &dyn ReadView,
        day: Day,
        address: EventAt,
    ) -> Result<Header, Unreadable> {
        if let Some(fresh) = self.fresh_header(day, address) {
            return fresh.cloned();
        }
        if address.day != day {
            return Ok(header_of(&accepted::read(&Draft::new(view), day, address)?));
        }
        let (block, within) = block_of(address);
        let bytes = self.block(view, day, block)?;
        let bytes = bytes.ok_or_else(|| missing_header(address))?;
        Ok(HeaderRows::parse(&bytes)?.get(within)?)
    }

    fn block(
        &self,
        view: &dyn ReadView,
        day: Day,
        block: u32,
    ) -> Result<Option<Arc<[u8]>>, Unreadable> {
        let blocks = || self.blocks.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bytes) = blocks().get(&(day, block)) {
            return Ok(Some(Arc::clone(bytes)));
        }
        let Some(bytes) = view.get(Partition::Day(day), &block_key(block))? else {
            return Ok(None);
        };
        let bytes: Arc<[u8]> = bytes.into();
        let mut blocks = blocks();
        if blocks.len() >= BLOCKS_KEPT {
            blocks.clear();
        }
        blocks.insert((day, block), Arc::clone(&bytes));
        Ok(Some(bytes))
    }

    /// The header of an event whose block can't be read yet; `None` = it can.
    fn fresh_header(&self, day: Day, address: EventAt) -> Option<Result<&Header, Unreadable>> {
        let (newest, next) = self.days.last_key_value()?;
        let first = next - u32::try_from(self.tail.len()).unwrap_or(0);
        (address.day == day && *newest == day && address.ordinal >= first).then(|| {
            self.tail
                .get((address.ordinal - first) as usize)
                .map(|header| &**header)
                .ok_or_else(|| missing_header(address))
        })
    }

    /// Forgets a day that is deleted.
    pub(crate) fn forget(&mut self, day: Day) {
        if self.days.last_key_value().is_some_and(|(newest, _)| *newest == day) {
            self.tail.clear();
        }
        self.days.remove(&day);
        self.id_days.remove(&day);
        self.entered_days.remove(&day);
        self.known_ids.forget(day);
        self.arrivals.forget(day);
        self.old_arrivals.forget(day);
        let mut blocks = self.blocks.lock().unwrap_or_else(PoisonError::into_inner);
        blocks.retain(|(held, _), _| *held != day);
    }

    /// Writes the counters and the clock.
    pub(crate) fn write_head(&self, draft: &mut Draft<'_>) {
        let head = IntakeHead {
            now: self.now,
            clock: self.clock,
            began: self.began,
            next_place: self.next_place,
            acts: self.acts,
            tally: self.tally,
            withdrawals: self.objects.withdrawals,
            kept_objects: self.objects.kept,
            forgotten_before: self.forgotten_before,
            days: self.days.iter().map(|(day, next)| (*day, *next)).collect(),
            buckets: self.buckets,
            paused: self.paused.clone(),
        };
        draft.put(Partition::Base, head_key(), encode(&head));
    }

    /// Reads the stored state. `None` = the store is new.
    pub(crate) fn recover(view: &dyn ReadView, held: &[Day]) -> Result<Option<Self>, Unreadable> {
        // The head is read first: what another node writes meanwhile comes again in acts that this head lacks.
        let Some(bytes) = view.get(Partition::Base, &head_key())? else {
            return Ok(None);
        };
        let head: IntakeHead = decode("the intake's head", &bytes)?;
        if head.buckets == 0 {
            return Err(Unreadable("a store of no buckets".to_owned()));
        }
        let kept = |day: &&Day| head.forgotten_before.is_none_or(|before| **day >= before);
        let held: Vec<Day> = held.iter().filter(kept).copied().collect();
        let held = &*held;
        let figures = IntakeFigures::recover(view, head.now.day())?;
        let old_days: Vec<Day> =
            held.iter().copied().filter(|day| !figures.has_whole(*day)).collect();
        let (log_rows, taken) = LogRows::recover(view, head.acts)?;
        let mut intake = Self {
            now: head.now,
            clock: head.clock,
            began: head.began,
            next_place: head.next_place,
            acts: head.acts,
            log_rows,
            tally: head.tally,
            figures,
            objects: Objects::recover(view, head.withdrawals, head.kept_objects)?,
            suppressions: Suppressions::recover(view)?,
            tenants: Tenants::recover(view)?,
            ahead: EarlyCancels::recover(view)?,
            forgotten_before: head.forgotten_before,
            paused: head.paused,
            days: head.days.into_iter().filter(|(day, _)| held.contains(day)).collect(),
            id_days: held.iter().copied().collect(),
            known_ids: KnownIds::recover(view, held)?,
            entered_days: days_with(view, held, Owner::Intake, Table::EnteredIds)?,
            old_arrivals: OldArrivals::recover(view, old_days.into_iter())?,
            ..Self::new(head.buckets)
        };
        if let Some(before) = intake.forgotten_before {
            intake.objects.forget_before(before);
        }
        if let Some((day, next)) = intake.days.last_key_value() {
            let draft = Draft::new(view);
            let tail = (next - next % headers_per_block())..*next;
            let at = |ordinal| EventAt { day: *day, ordinal };
            let rows = tail.map(|ordinal| accepted::read(&draft, *day, at(ordinal)));
            intake.tail = rows
                .map(|row| Ok(Arc::new(header_of(&row?))))
                .collect::<Result<_, Unreadable>>()?;
        }
        each_base(view, Table::Scheduled, |key, _| {
            let t = i64_at(key, REST).map(Instant);
            let place = u64_at(key, REST + 8).map(EventNo);
            let at = t.zip(place).ok_or_else(|| Unreadable("a scheduled key is odd".to_owned()))?;
            intake.scheduled.insert(at, ());
            Ok(())
        })?;
        // Their rows are kept for shards that lag. The intake itself is past them.
        for taken in taken {
            intake.scheduled.remove(&taken);
        }
        Ok(Some(intake))
    }
}

/// The number of the block that has an event's header, and the header's index in it.
fn block_of(address: EventAt) -> (u32, usize) {
    let (block, within) =
        (address.ordinal / headers_per_block(), address.ordinal % headers_per_block());
    (block, within as usize)
}

fn missing_header(EventAt { day, ordinal }: EventAt) -> Unreadable {
    Unreadable(format!("the header of event {ordinal} of {day} is missing"))
}

/// Returns true if this ordinal begins a block.
fn begins_block(ordinal: u32) -> bool {
    ordinal.is_multiple_of(headers_per_block())
}

fn headers_per_block() -> u32 {
    u32::try_from(HEADERS_PER_BLOCK).expect("a block holds fewer headers than 2^32")
}
