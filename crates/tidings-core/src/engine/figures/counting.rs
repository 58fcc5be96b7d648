//! Counting: what a step counts is gathered, and written as one change of each row.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use rustc_hash::FxHashMap;

use super::HOURS_KEPT;
use super::chore::FiguresChoreBounds;
use super::counts::SlotCounts;
use super::key::{FigureKey, FigureSource, FigureSubject, since_key};
use super::measure::Slot;
use crate::engine::rows::draft::Draft;
use crate::journal::record::Arrival;
use crate::journal::stored::{ReadView, Unreadable, decode, encode};
use crate::journal::table::{Partition, Table};
use crate::model::channel::ChannelNo;
use crate::model::number::TypeNo;
use crate::model::reason::{Outcome, Reason};
use crate::model::tenant::TenantNo;
use crate::model::time::{DAY_MS, Day, HOUR_MS, Instant};
use crate::sets::shared::WriterOnly;

/// Number of rows that are remembered from one step to the next.
const KNOWN_MAX: usize = 8_192;

/// The figures of the intake or of a shard.
#[derive(Clone, Debug)]
pub(crate) struct FigureCounter {
    /// The source that counts here, and those whose shards are no more, which are looked after here.
    pub(super) sources: Vec<FigureSource>,
    /// The counts of the step that are not in `changed` yet, by their hour: an audience of many buckets counts the same.
    counted: FxHashMap<CountKey, SlotCounts>,
    /// The rows that the step changes, by how much.
    changed: BTreeMap<FigureKey, SlotCounts>,
    pub(super) known: WriterOnly<KnownRows>,
    /// The days and the bounds as of which there was nothing left to fold or to delete.
    pub(super) rested: WriterOnly<Option<FiguresChoreBounds>>,
}

/// Rows as they are stored, of those that were written lately.
#[derive(Debug, Default)]
pub(super) struct KnownRows {
    /// The hour since 1970 whose steps wrote them.
    hour: i64,
    pub(super) rows: FxHashMap<FigureKey, SlotCounts>,
}

/// The rows of a count: its hour and day, its type and tenant, and its channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CountKey {
    /// The instant whose hour and day have it.
    pub(crate) at: Instant,
    pub(crate) type_no: TypeNo,
    /// The tenant of the event; `None` = of none.
    pub(crate) tenant: Option<TenantNo>,
    /// The channel; `None` = it is counted once an event.
    pub(crate) channel: Option<ChannelNo>,
}

impl CountKey {
    /// Entries of an arrival on a channel.
    pub(crate) fn entries_of(arrival: &Arrival, channel: ChannelNo) -> Self {
        let Arrival { at, type_no, tenant, .. } = *arrival;
        Self { at, type_no, tenant, channel: Some(channel) }
    }
}

impl FigureKey {
    /// Returns true if there is such a row: those of hours are kept for some days.
    fn is_kept(self, today: Day) -> bool {
        !matches!(self.of, FigureSubject::Hour(..)) || self.day >= first_with_hours(today)
    }
}

/// The first day that has rows of hours.
pub(super) fn first_with_hours(today: Day) -> Day {
    Day(today.0.saturating_sub(HOURS_KEPT - 1))
}

impl FigureCounter {
    /// The figures of a source that has counted nothing since the start.
    pub(crate) fn of(source: FigureSource) -> Self {
        Self {
            sources: vec![source],
            counted: FxHashMap::default(),
            changed: BTreeMap::new(),
            known: WriterOnly::default(),
            rested: WriterOnly::default(),
        }
    }

    /// Also looks after the rows of sources whose shards are no more.
    pub(crate) fn with(mut self, sources: impl IntoIterator<Item = FigureSource>) -> Self {
        self.sources.extend(sources);
        self
    }

    /// Adds to a count.
    pub(crate) fn add(&mut self, of: CountKey, slot: Slot, count: u64) {
        self.count(of, slot, i64::try_from(count).unwrap_or(i64::MAX));
    }

    /// Takes from a count.
    pub(crate) fn take(&mut self, of: CountKey, slot: Slot, count: u64) {
        self.count(of, slot, -i64::try_from(count).unwrap_or(i64::MAX));
    }

    /// Counts entries as ended.
    pub(crate) fn end(
        &mut self,
        of: CountKey,
        outcome: Outcome,
        reason: Option<Reason>,
        count: u64,
    ) {
        self.add(of, Slot::ended(outcome), count);
        if let Some(reason) = reason {
            self.add(of, Slot::reason(reason), count);
        }
    }

    /// Counts ended entries as pending again.
    pub(crate) fn reopen(&mut self, of: CountKey, outcome: Outcome, reason: Option<Reason>) {
        self.take(of, Slot::ended(outcome), 1);
        if let Some(reason) = reason {
            self.take(of, Slot::reason(reason), 1);
        }
    }

    fn count(&mut self, of: CountKey, slot: Slot, count: i64) {
        if count != 0 {
            let hour = Instant(of.at.0.div_euclid(HOUR_MS).saturating_mul(HOUR_MS));
            self.counted.entry(CountKey { at: hour, ..of }).or_default().add(slot, count);
        }
    }

    /// Adds what was counted to the rows that change.
    fn gather(&mut self) {
        let source = self.sources[0];
        for (of, counts) in self.counted.drain() {
            let CountKey { at, type_no, tenant, channel } = of;
            let hour = u8::try_from(at.0.rem_euclid(DAY_MS) / HOUR_MS).unwrap_or(0);
            let of_types = [FigureSubject::Type(type_no), FigureSubject::Hour(type_no, hour)];
            for of in of_types.into_iter().chain(tenant.map(FigureSubject::Tenant)) {
                let row = FigureKey { source, day: at.day(), of, channel };
                self.changed.entry(row).or_default().add_all(&counts);
            }
        }
    }

    /// Writes the rows that the step changed.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub(crate) fn write(&mut self, draft: &mut Draft<'_>, now: Instant) -> Result<(), Unreadable> {
        self.gather();
        if self.changed.is_empty() {
            return Ok(());
        }
        let mut rows = std::mem::take(&mut self.changed);
        rows.retain(|key, counts| key.is_kept(now.day()) && !counts.is_empty());
        self.learn(draft, now, rows.keys())?;
        for (key, counts) in rows {
            let row = self.known.rows.entry(key).or_default();
            row.add_all(&counts);
            if row.is_empty() {
                draft.delete(Partition::Base, key.key());
            } else {
                draft.put(Partition::Base, key.key(), row.row());
            }
        }
        Ok(())
    }

    /// Reads the rows that are not known, those of a remote store together.
    fn learn<'k>(
        &mut self,
        draft: &Draft<'_>,
        now: Instant,
        keys: impl Iterator<Item = &'k FigureKey>,
    ) -> Result<(), Unreadable> {
        let hour = now.0.div_euclid(HOUR_MS);
        let known = &mut *self.known;
        if known.hour != hour || known.rows.len() > KNOWN_MAX {
            *known = KnownRows { hour, rows: FxHashMap::default() };
        }
        let unknown: Vec<FigureKey> =
            keys.filter(|key| !known.rows.contains_key(*key)).copied().collect();
        if unknown.is_empty() {
            return Ok(());
        }
        let stored: Vec<Vec<u8>> = unknown.iter().map(|key| key.key()).collect();
        let read = draft.view.get_many(Partition::Base, &stored)?;
        for (key, row) in unknown.into_iter().zip(read) {
            let counts =
                row.map_or_else(|| Ok(SlotCounts::default()), |row| SlotCounts::of_row(&row))?;
            known.rows.insert(key, counts);
        }
        Ok(())
    }

    /// Counts what days still have pending as expired: those before `before` that were not deleted yet.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub(crate) fn forget(
        &mut self,
        view: &dyn ReadView,
        (deleted_before, before): (Option<Day>, Day),
    ) -> Result<(), Unreadable> {
        self.gather();
        let first = deleted_before.unwrap_or(Day(i32::MIN));
        let mut pending: BTreeMap<FigureKey, i64> = BTreeMap::new();
        for source in &self.sources {
            for table in [Table::HourFigures, Table::Figures, Table::TenantFigures] {
                each_row(view, *source, table, first..before, |key, row| {
                    *pending.entry(key).or_default() += SlotCounts::of_row(row)?.pending();
                    Ok(ControlFlow::Continue(()))
                })?;
            }
        }
        for (key, counts) in &self.changed {
            if (first..before).contains(&key.day) {
                *pending.entry(*key).or_default() += counts.pending();
            }
        }
        for (key, count) in pending {
            let changed = self.changed.entry(key).or_default();
            changed.add(Slot::ended(Outcome::Expired), count);
            changed.add(Slot::reason(Reason::Forgotten), count);
        }
        Ok(())
    }
}

/// Visits the rows of a source's table of some days.
///
/// # Errors
/// The visitor's, and [`Unreadable`] where the store can't be read.
pub(super) fn each_row(
    view: &dyn ReadView,
    source: FigureSource,
    table: Table,
    days: std::ops::Range<Day>,
    mut visit: impl FnMut(FigureKey, &[u8]) -> Result<ControlFlow<()>, Unreadable>,
) -> Result<(), Unreadable> {
    let key = |day| source.table(table).day(day).done();
    let mut found = Ok(());
    if days.start >= days.end {
        return found;
    }
    let (from, until) = (key(days.start), key(days.end));
    view.scan(Partition::Base, &from, Some(&until), &mut |key, row| match FigureKey::read(
        source, table, key,
    )
    .and_then(|key| visit(key, row))
    {
        Ok(flow) => flow,
        Err(unreadable) => {
            found = Err(unreadable);
            ControlFlow::Break(())
        }
    })?;
    found
}

/// The first day whose figures are whole; `None` = counting has not begun.
///
/// # Errors
/// [`Unreadable`] where the store can't be read.
pub(crate) fn since(view: &dyn ReadView) -> Result<Option<Day>, Unreadable> {
    let row = view.get(Partition::Base, &since_key())?;
    row.map(|row| decode("the first day of the figures", &row)).transpose()
}

/// Writes the first day whose figures are whole.
pub(crate) fn begin(draft: &mut Draft<'_>, since: Day) {
    draft.put(Partition::Base, since_key(), encode(&since));
}
