//! The keys of figures: their owner, then the day, then what is counted.

use crate::journal::stored::{ReadView, Unreadable};
use crate::journal::table::{Key, Owner, Partition, REST, Table, after_prefix, day_at, u32_at};
use crate::model::channel::{CHANNELS, ChannelNo};
use crate::model::number::TypeNo;
use crate::model::tenant::TenantNo;
use crate::model::time::Day;

/// The byte of what belongs to no channel.
const NO_CHANNEL: u8 = u8::MAX;

/// The part of the engine that counts: its rows are its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum FigureSource {
    /// The intake counts events.
    Intake,
    /// A shard counts what becomes of them, by its number.
    Shard(u16),
}

impl FigureSource {
    /// The beginning of the keys of its rows in a table.
    pub(crate) fn table(self, table: Table) -> Key {
        match self {
            Self::Intake => Key::of(Owner::Intake, table),
            Self::Shard(no) => Key::of(Owner::Shard, table).u16(no),
        }
    }

    /// The length of that beginning.
    fn prefix(self) -> usize {
        match self {
            Self::Intake => REST,
            Self::Shard(_) => REST + 2,
        }
    }
}

/// The subject of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum FigureSubject {
    /// A type in an hour of the day, 0 to 23.
    Hour(TypeNo, u8),
    /// A type.
    Type(TypeNo),
    /// A tenant.
    Tenant(TenantNo),
}

/// A row of figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct FigureKey {
    pub(crate) source: FigureSource,
    pub(crate) day: Day,
    pub(crate) of: FigureSubject,
    /// The channel; `None` = what is counted once an event.
    pub(crate) channel: Option<ChannelNo>,
}

impl FigureKey {
    pub(crate) fn key(self) -> Vec<u8> {
        let Self { source, day, of, channel } = self;
        let channel = channel.map_or(NO_CHANNEL, |channel| channel.0);
        let table = |table| source.table(table).day(day);
        match of {
            FigureSubject::Hour(type_no, hour) => {
                table(Table::HourFigures).u32(type_no.0).bytes(&[channel, hour]).done()
            }
            FigureSubject::Type(type_no) => {
                table(Table::Figures).u32(type_no.0).bytes(&[channel]).done()
            }
            FigureSubject::Tenant(tenant) => {
                let tenant = TenantNo::raw(Some(tenant));
                table(Table::TenantFigures).u32(tenant).bytes(&[channel]).done()
            }
        }
    }

    /// Reads the key of a row in a table.
    ///
    /// # Errors
    /// [`Unreadable`] where it is none.
    pub(crate) fn read(source: FigureSource, table: Table, key: &[u8]) -> Result<Self, Unreadable> {
        let odd = || Unreadable("a key of figures is odd".to_owned());
        let at = source.prefix();
        let day = day_at(key, at).ok_or_else(odd)?;
        let number = u32_at(key, at + 4).ok_or_else(odd)?;
        let (channel, rest) =
            key.get(at + 8..).and_then(|rest| rest.split_first()).ok_or_else(odd)?;
        let of = match (table, rest) {
            (Table::HourFigures, [hour]) => FigureSubject::Hour(TypeNo(number), *hour),
            (Table::Figures, []) => FigureSubject::Type(TypeNo(number)),
            (Table::TenantFigures, []) => {
                FigureSubject::Tenant(TenantNo::of_raw(number).ok_or_else(odd)?)
            }
            _ => return Err(odd()),
        };
        let channel = match *channel {
            NO_CHANNEL => None,
            channel if usize::from(channel) < CHANNELS.len() => Some(ChannelNo(channel)),
            _ => return Err(odd()),
        };
        Ok(Self { source, day, of, channel })
    }
}

/// The row that has a deleted day of a source.
pub(crate) fn day_key(source: FigureSource, day: Day) -> Vec<u8> {
    source.table(Table::DayFigures).day(day).done()
}

/// The day of such a key.
pub(crate) fn day_of(source: FigureSource, key: &[u8]) -> Option<Day> {
    day_at(key, source.prefix())
}

/// The row that has the first day whose figures are whole.
pub(crate) fn since_key() -> Vec<u8> {
    Key::of(Owner::Intake, Table::FiguresSince).done()
}

/// The sources that have rows: the intake, and each number that a shard ever had.
///
/// # Errors
/// [`Unreadable`] where the store can't be read.
pub(crate) fn sources(view: &dyn ReadView) -> Result<Vec<FigureSource>, Unreadable> {
    let mut numbers = std::collections::BTreeSet::new();
    for table in TABLES {
        let prefix = Key::of(Owner::Shard, table).done();
        let (mut from, until) = (prefix.clone(), after_prefix(&prefix));
        loop {
            let mut found = None;
            view.scan(Partition::Base, &from, until.as_deref(), &mut |key, _| {
                found =
                    key.get(REST..).and_then(<[u8]>::first_chunk).map(|no| u16::from_be_bytes(*no));
                std::ops::ControlFlow::Break(())
            })?;
            let Some(number) = found else { break };
            numbers.insert(number);
            let Some(next) = number.checked_add(1) else { break };
            from = Key::of(Owner::Shard, table).u16(next).done();
        }
    }
    Ok(std::iter::once(FigureSource::Intake)
        .chain(numbers.into_iter().map(FigureSource::Shard))
        .collect())
}

/// The tables of rows by source and day.
pub(crate) const TABLES: [Table; 4] =
    [Table::HourFigures, Table::Figures, Table::TenantFigures, Table::DayFigures];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_back() {
        let tenant = TenantNo::of_raw(3).unwrap();
        for source in [FigureSource::Intake, FigureSource::Shard(0), FigureSource::Shard(700)] {
            for (table, of) in [
                (Table::HourFigures, FigureSubject::Hour(TypeNo(7), 23)),
                (Table::Figures, FigureSubject::Type(TypeNo(7))),
                (Table::TenantFigures, FigureSubject::Tenant(tenant)),
            ] {
                for channel in [None, Some(ChannelNo(1))] {
                    let key = FigureKey { source, day: Day(-3), of, channel };
                    assert_eq!(FigureKey::read(source, table, &key.key()), Ok(key));
                }
                assert!(FigureKey::read(source, table, &[0; 5]).is_err());
            }
            assert_eq!(day_of(source, &day_key(source, Day(9))), Some(Day(9)));
        }
    }
}
