//! The figures as they are asked for: sums of rows, by what is named.

use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range};

use rustc_hash::FxHashMap;

use super::chore::{DayCell, FiguresChoreBounds, day_rows, each_cell};
use super::counting::{each_row, first_with_hours, since};
use super::counts::{CountSum, SlotCounts, each};
use super::key::{FigureKey, FigureSource, FigureSubject, sources};
use super::measure::{FigureValues, Measure};
use crate::engine::read::reader::Reader;
use crate::engine::shard::state::read_heads;
use crate::journal::stored::Unreadable;
use crate::journal::table::Table;
use crate::model::channel::ChannelNo;
use crate::model::id::Id;
use crate::model::number::TypeNo;
use crate::model::tenant::TenantNo;
use crate::model::time::{DAY_MS, Day, HOUR_MS, Instant};

/// A part of a row's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GroupBy {
    /// The type.
    Type,
    /// The category of the type, as it is configured now.
    Category,
    /// The channel.
    Channel,
    /// The tenant.
    Tenant,
    /// The hour, of the newest days alone.
    Hour,
    /// The day.
    Day,
}

impl GroupBy {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Type, Self::Category, Self::Channel, Self::Tenant, Self::Hour, Self::Day];

    /// Its word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Type => "type",
            Self::Category => "category",
            Self::Channel => "channel",
            Self::Tenant => "tenant",
            Self::Hour => "hour",
            Self::Day => "day",
        }
    }
}

/// A question about the figures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FiguresQuery {
    /// The days.
    pub days: Range<Day>,
    /// The parts by which rows are told apart, in their order.
    pub by: Vec<GroupBy>,
    /// Only this channel.
    pub channel: Option<ChannelNo>,
    /// Only this type.
    pub event_type: Option<String>,
    /// Only this tenant.
    pub tenant: Option<Id>,
    /// The measures.
    pub measures: Vec<Measure>,
    /// The most rows of an answer.
    pub rows_max: usize,
}

impl FiguresQuery {
    /// All measures of some days, by day, type and channel.
    #[must_use]
    pub fn of_days(days: Range<Day>) -> Self {
        Self {
            days,
            by: vec![GroupBy::Day, GroupBy::Type, GroupBy::Channel],
            channel: None,
            event_type: None,
            tenant: None,
            measures: Measure::ALL.to_vec(),
            rows_max: usize::MAX,
        }
    }

    /// Returns true if it is about figures by tenant.
    #[must_use]
    pub fn is_of_tenants(&self) -> bool {
        self.tenant.is_some() || self.by.contains(&GroupBy::Tenant)
    }

    /// Returns true if it is about figures by type or hour, which tenants don't have.
    #[must_use]
    pub fn is_of_types(&self) -> bool {
        let of_types = [GroupBy::Type, GroupBy::Category, GroupBy::Hour];
        self.event_type.is_some() || self.by.iter().any(|by| of_types.contains(by))
    }

    /// Returns true if events and notifications, which are counted once for all channels, have no part in it.
    #[must_use]
    pub fn names_channel(&self) -> bool {
        self.channel.is_some() || self.by.contains(&GroupBy::Channel)
    }
}

/// The answer to a [`FiguresQuery`].
#[derive(Clone, Debug, Default)]
pub struct FiguresReport {
    /// The instant up to which all shards have counted; `None` = nothing has happened yet.
    pub complete_to: Option<Instant>,
    /// The days whose rows are not kept, or on which counting had not begun.
    pub days_without: Vec<Day>,
    /// The rows, without those of zeros.
    pub rows: Vec<FigureRow>,
    /// True if there are more rows than the query allows; then there are none here.
    pub is_too_large: bool,
}

/// A row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FigureRow {
    /// Its name: a value for each part, in their order; `None` = there is none now, as for the category of a type that is
    /// not configured any more.
    pub of: Vec<Option<String>>,
    /// The measures in their order; `None` = it is not counted by channel.
    pub values: Vec<(Measure, Option<FigureValues>)>,
}

/// The numbers that stand for the parts of a row's name.
type GroupKey = [i64; GroupBy::ALL.len()];

/// The sums of an answer under construction.
struct FigureSums<'a> {
    query: &'a FiguresQuery,
    reader: Reader<'a>,
    /// The names of categories, in order.
    categories: Vec<&'a str>,
    /// The index of the category of each type.
    category_of: FxHashMap<TypeNo, i64>,
    type_no: Option<TypeNo>,
    sums: FxHashMap<GroupKey, CountSum>,
}

/// The subject of a count.
#[derive(Clone, Copy)]
struct CountSubject {
    day: Day,
    hour: Option<u8>,
    type_no: Option<TypeNo>,
    tenant: Option<TenantNo>,
    channel: Option<ChannelNo>,
}

impl<'a> Reader<'a> {
    /// The figures.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub fn figures(&self, query: &FiguresQuery, today: Day) -> Result<FiguresReport, Unreadable> {
        let Reader { engine, view } = *self;
        let complete_to = read_heads(view, None)?.iter().map(|head| head.now()).min();
        let now = today.start();
        let bounds = FiguresChoreBounds::at(now, None, engine.rules());
        let since = since(view)?;
        let mut first = since.unwrap_or(Day(i32::MAX)).max(bounds.figures_from);
        if query.is_of_tenants() {
            first = first.max(bounds.tenants_from);
        }
        if query.by.contains(&GroupBy::Hour) {
            first = first.max(first_with_hours(today));
        }
        let Range { start, end } = query.days;
        let days_without = (start.0..end.0.min(first.0)).map(Day).collect();
        let mut sums = self.sums(query);
        let is_unknown = query.event_type.is_some() && sums.type_no.is_none();
        if !is_unknown {
            for source in sources(view)? {
                sums.add_source(source, start.max(first)..end)?;
            }
        }
        let is_too_large = sums.has_too_many();
        let rows = if is_too_large { Vec::new() } else { sums.rows() };
        Ok(FiguresReport { complete_to, days_without, rows, is_too_large })
    }

    fn sums<'q>(&self, query: &'q FiguresQuery) -> FigureSums<'q>
    where
        'a: 'q,
    {
        let names = &self.engine.intake.compiled.names;
        let rules = self.engine.rules();
        let categories: Vec<&str> = rules
            .into_iter()
            .flat_map(|rules| rules.categories.keys())
            .map(String::as_str)
            .collect();
        let of_types = rules.into_iter().flat_map(|rules| &rules.types);
        let category_of = of_types.filter_map(|(name, of_type)| {
            let at = categories.iter().position(|category| *category == of_type.category)?;
            Some((names.type_no(name)?, i64::try_from(at).ok()?))
        });
        FigureSums {
            query,
            reader: *self,
            category_of: category_of.collect(),
            categories,
            type_no: query.event_type.as_deref().and_then(|name| names.type_no(name)),
            sums: FxHashMap::default(),
        }
    }
}

impl FigureSums<'_> {
    /// Adds the rows of a source.
    fn add_source(&mut self, source: FigureSource, days: Range<Day>) -> Result<(), Unreadable> {
        let view = self.reader.view;
        let table = if self.query.is_of_tenants() {
            Table::TenantFigures
        } else if self.query.by.contains(&GroupBy::Hour) {
            Table::HourFigures
        } else {
            Table::Figures
        };
        each_row(view, source, table, days.clone(), |key, row| {
            self.add(CountSubject::of(key), &SlotCounts::of_row(row)?);
            if self.has_too_many() {
                return Ok(ControlFlow::Break(()));
            }
            Ok(ControlFlow::Continue(()))
        })?;
        if table != Table::Figures {
            return Ok(());
        }
        for (day, row) in day_rows(view, source, days)? {
            if self.has_too_many() {
                break;
            }
            each_cell(&row, |cell, reader| match self.group(CountSubject::at(day, cell)) {
                Some(group) => {
                    let sum = self.sums.entry(group).or_default();
                    each(reader, |slot, count| sum.add(slot, count))
                }
                None => each(reader, |_, _| {}),
            })?;
        }
        Ok(())
    }

    fn has_too_many(&self) -> bool {
        self.sums.len() > self.query.rows_max
    }

    fn add(&mut self, subject: CountSubject, counts: &SlotCounts) {
        if let Some(group) = self.group(subject) {
            self.sums.entry(group).or_default().add_all(counts);
        }
    }

    /// The row that a count belongs to; `None` = to none.
    fn group(&self, subject: CountSubject) -> Option<GroupKey> {
        let Self { query, .. } = self;
        let is_other_channel = query.channel.is_some_and(|only| subject.channel != Some(only));
        let is_of_none = query.names_channel() && subject.channel.is_none();
        let is_other_type = self.type_no.is_some() && subject.type_no != self.type_no;
        // Several tenants of one id may have come after each other.
        let is_other_tenant = query.tenant.is_some()
            && self.reader.engine.intake.tenants.id(subject.tenant) != query.tenant.as_ref();
        if is_other_channel || is_of_none || is_other_type || is_other_tenant {
            return None;
        }
        let mut group = GroupKey::default();
        for (at, by) in query.by.iter().enumerate() {
            group[at] = match by {
                GroupBy::Type => subject.type_no.map_or(-1, |no| i64::from(no.0)),
                GroupBy::Category => {
                    let category = subject.type_no.and_then(|no| self.category_of.get(&no));
                    category.copied().unwrap_or(-1)
                }
                GroupBy::Channel => subject.channel.map_or(-1, |no| i64::from(no.0)),
                GroupBy::Tenant => i64::from(TenantNo::raw(subject.tenant)),
                GroupBy::Hour => {
                    let hour = i64::from(subject.hour.unwrap_or(0));
                    i64::from(subject.day.0) * (DAY_MS / HOUR_MS) + hour
                }
                GroupBy::Day => i64::from(subject.day.0),
            };
        }
        Some(group)
    }

    /// The rows in their order.
    fn rows(mut self) -> Vec<FigureRow> {
        let mut named: BTreeMap<Vec<Option<String>>, CountSum> = BTreeMap::new();
        for (group, sum) in std::mem::take(&mut self.sums) {
            named.entry(self.name(&group)).or_default().merge(&sum);
        }
        let names_channel = self.query.names_channel();
        let rows = named.into_iter().filter_map(|(of, sum)| {
            let counts = sum.dense();
            let value = |measure: &Measure| {
                let is_null = names_channel && measure.is_of_no_channel();
                (*measure, (!is_null).then(|| measure.of(&counts)))
            };
            let values: Vec<_> = self.query.measures.iter().map(value).collect();
            let mut known = values.iter().filter_map(|(_, value)| value.as_ref());
            let is_any = known.any(|value| !value.is_zero());
            is_any.then_some(FigureRow { of, values })
        });
        rows.collect()
    }

    /// The words of a row's name.
    fn name(&self, group: &GroupKey) -> Vec<Option<String>> {
        let engine = self.reader.engine;
        let of = |(by, number): (&GroupBy, &i64)| match by {
            GroupBy::Type => {
                let no = u32::try_from(*number).ok().map(TypeNo)?;
                Some(engine.intake.compiled.names.type_name(no).to_owned())
            }
            GroupBy::Category => {
                let at = usize::try_from(*number).ok()?;
                self.categories.get(at).map(|name| (*name).to_owned())
            }
            GroupBy::Channel => {
                let no = u8::try_from(*number).ok().map(ChannelNo)?;
                Some(no.name().to_owned())
            }
            GroupBy::Tenant => {
                let no = u32::try_from(*number).ok().and_then(TenantNo::of_raw)?;
                engine.intake.tenants.id(Some(no)).map(|id| id.as_str().to_owned())
            }
            GroupBy::Hour => Some(Instant(number.saturating_mul(HOUR_MS)).to_string()),
            GroupBy::Day => i32::try_from(*number).ok().map(|day| Day(day).to_string()),
        };
        self.query.by.iter().zip(group).map(of).collect()
    }
}

impl CountSubject {
    fn of(FigureKey { day, of, channel, .. }: FigureKey) -> Self {
        let (hour, type_no, tenant) = match of {
            FigureSubject::Hour(type_no, hour) => (Some(hour), Some(type_no), None),
            FigureSubject::Type(type_no) => (None, Some(type_no), None),
            FigureSubject::Tenant(tenant) => (None, None, Some(tenant)),
        };
        Self { day, hour, type_no, tenant, channel }
    }

    fn at(day: Day, DayCell { type_no, channel }: DayCell) -> Self {
        Self { day, hour: None, type_no: Some(type_no), tenant: None, channel }
    }
}
