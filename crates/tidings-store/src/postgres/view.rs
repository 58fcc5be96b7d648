//! A snapshot: the newest rows, put back to what they were, as far as the same writer has replaced them.

use std::collections::BTreeMap;
use std::ops::{Bound, ControlFlow};
use std::sync::{Arc, OnceLock};

use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::fence::WriterRow;
use super::link::SqlParameters;
use super::reading::Reading;
use super::schema::name;
use super::versions::{Days, TableNo, VersionPin};
use crate::{Error, Partition, Snapshot, Visit};
use tidings_core::Day;

/// The rows that a scan asks for first; it asks for more at a time as it goes on.
const ROWS_FIRST: i64 = 64;
const ROWS_MAX: i64 = 4_096;

/// The bytes that one answer of a scan should have.
const ANSWER_BYTES: usize = 1 << 20;

/// A snapshot.
pub(super) struct PostgresView {
    pub(super) reading: Arc<Reading>,
    pub(super) pin: VersionPin,
    /// The days that the database lists, once that was asked.
    listed: OnceLock<Days>,
}

/// Rows of a range, and whether it may have more.
struct RowChunk {
    table: TableNo,
    rows: Vec<(Vec<u8>, Vec<u8>)>,
    /// The version that they have.
    version: i64,
    is_full: bool,
}

impl PostgresView {
    pub(super) fn new(reading: Arc<Reading>, pin: VersionPin) -> Self {
        Self { reading, pin, listed: OnceLock::new() }
    }

    /// The table of a partition; `None` if there is none. Where others write, a day that is not known is looked for
    /// in the database, once.
    fn table(&self, partition: Partition) -> Result<Option<TableNo>, Error> {
        let Partition::Day(day) = partition else {
            return Ok(Some(TableNo::BASE));
        };
        match self.pin.days.get(&day) {
            Some(table) => Ok(Some(*table)),
            None if self.reading.is_shared() => Ok(self.of_listed(day, self.listed()?)),
            None => Ok(None),
        }
    }

    fn listed(&self) -> Result<&Days, Error> {
        if let Some(listed) = self.listed.get() {
            return Ok(listed);
        }
        let listed = self.reading.list()?;
        Ok(self.listed.get_or_init(|| listed))
    }

    fn of_listed(&self, day: Day, listed: &Days) -> Option<TableNo> {
        let table = listed.get(&day).copied();
        table.filter(|table| !self.pin.is_before(*table))
    }

    /// Reads from the table of a partition, and returns which one it was; `None` if another writer has dropped it.
    fn read(
        &self,
        partition: Partition,
        mut table: TableNo,
        sql: impl Fn(&str) -> String,
        parameters: &SqlParameters<'_>,
    ) -> Result<Option<(TableNo, Vec<Row>)>, Error> {
        loop {
            let fault = match self.reading.readers.query(&sql(&name(table)), parameters) {
                Ok(rows) => return Ok(Some((table, rows))),
                Err(fault) => fault,
            };
            let Partition::Day(day) = partition else {
                return Err(fault.into());
            };
            if !fault.is_of_missing_table() {
                return Err(fault.into());
            }
            // A writer that was fenced gets that fault, rather than one of a missing table.
            let listed = self.reading.list()?;
            if !self.reading.is_shared() {
                return Err(fault.into());
            }
            match self.of_listed(day, &listed) {
                // Tables are numbered in the order in which they are made.
                Some(anew) if anew > table => table = anew,
                _ => return Ok(None),
            }
        }
    }

    fn chunk(
        &self,
        partition: Partition,
        table: TableNo,
        from: &[u8],
        until: Option<&[u8]>,
        limit: i64,
    ) -> Result<Option<RowChunk>, Error> {
        let end = match until {
            Some(_) => " AND key < $3",
            None => "",
        };
        let WriterRow { table: own, number, is_it } = &self.reading.place;
        let sql = |table: &str| {
            format!(
                "SELECT p.{number}, p.at, s.key, s.value FROM {own} p LEFT JOIN LATERAL \
                 (SELECT key, value FROM {table} WHERE key >= $1{end} ORDER BY key LIMIT $2) s ON true \
                 WHERE p.{is_it} ORDER BY s.key"
            )
        };
        let until = until.unwrap_or_default();
        let mut parameters: Vec<&(dyn ToSql + Sync)> = vec![&from, &limit];
        if !end.is_empty() {
            parameters.push(&until);
        }
        let Some((table, rows)) = self.read(partition, table, sql, &parameters)? else {
            return Ok(None);
        };
        let version = self.reading.version(rows.first())?;
        let rows: Vec<_> = rows
            .iter()
            .filter_map(|row| Some((row.get::<_, Option<Vec<u8>>>(2)?, row.get(3))))
            .collect();
        let is_full = i64::try_from(rows.len()).is_ok_and(|count| count == limit);
        Ok(Some(RowChunk { table, rows, version, is_full }))
    }
}

impl Snapshot for PostgresView {
    fn get(&self, partition: Partition, key: &[u8]) -> Result<Option<Vec<u8>>, Error> {
        if key.is_empty() {
            return Ok(None);
        }
        let Some(table) = self.table(partition)? else {
            return Ok(None);
        };
        let versions = &self.reading.versions;
        let end = Bound::Included(key);
        // The cache is asked before the versions: a value that is replaced in between is put back by them.
        let cached = self.reading.cache.get(table, key);
        let known = versions.before(self.pin.version, self.pin.version, table, key, end)?;
        if let Some(value) = known.into_values().next() {
            return Ok(value);
        }
        if let Some(value) = cached {
            return Ok(Some(value.to_vec()));
        }
        let WriterRow { table: own, number, is_it } = &self.reading.place;
        let sql = |table: &str| {
            format!(
                "SELECT {number}, at, (SELECT value FROM {table} WHERE key = $1) FROM {own} WHERE {is_it}"
            )
        };
        let Some((table, rows)) = self.read(partition, table, sql, &[&key])? else {
            return Ok(None);
        };
        let row = rows.first();
        let version = self.reading.version(row)?;
        let replaced = versions.before(self.pin.version, version, table, key, end)?;
        if let Some(value) = replaced.into_values().next() {
            return Ok(value);
        }
        let value: Option<Vec<u8>> = row.and_then(|row| row.get(2));
        if let Some(value) = &value {
            self.reading.cache.keep(version, table, key, value);
        }
        Ok(value)
    }

    fn get_many(
        &self,
        partition: Partition,
        keys: &[&[u8]],
    ) -> Result<Vec<Option<Vec<u8>>>, Error> {
        let nothing = || Ok(vec![None; keys.len()]);
        if keys.is_empty() {
            return nothing();
        }
        let Some(table) = self.table(partition)? else {
            return nothing();
        };
        let WriterRow { table: own, number, is_it } = &self.reading.place;
        let sql = |table: &str| {
            format!(
                "SELECT p.{number}, p.at, s.key, s.value FROM {own} p \
                 LEFT JOIN {table} s ON s.key = ANY($1) WHERE p.{is_it}"
            )
        };
        let Some((table, rows)) = self.read(partition, table, sql, &[&keys])? else {
            return nothing();
        };
        let version = self.reading.version(rows.first())?;
        let found: BTreeMap<&[u8], &[u8]> = rows
            .iter()
            .filter_map(|row| Some((row.get::<_, Option<&[u8]>>(2)?, row.get::<_, &[u8]>(3))))
            .collect();
        let value = |key: &&[u8]| {
            let (versions, end) = (&self.reading.versions, Bound::Included(*key));
            let replaced = versions.before(self.pin.version, version, table, key, end)?;
            Ok(match replaced.into_values().next() {
                Some(value) => value,
                None => found.get(key).map(|value| value.to_vec()),
            })
        };
        keys.iter().map(value).collect()
    }

    fn is_remote(&self) -> bool {
        true
    }

    fn scan(
        &self,
        partition: Partition,
        from: &[u8],
        until: Option<&[u8]>,
        visit: &mut Visit<'_>,
    ) -> Result<(), Error> {
        let Some(mut table) = self.table(partition)? else {
            return Ok(());
        };
        let mut from = from.to_vec();
        let mut limit = ROWS_FIRST;
        loop {
            if until.is_some_and(|until| until <= from.as_slice()) {
                return Ok(());
            }
            let Some(chunk) = self.chunk(partition, table, &from, until, limit)? else {
                return Ok(());
            };
            let RowChunk { rows, version, is_full, .. } = chunk;
            table = chunk.table;
            let last = rows.last().filter(|_| is_full).map(|(key, _)| key.clone());
            let end = match (&last, until) {
                (Some(last), _) => Bound::Included(last.as_slice()),
                (None, Some(until)) => Bound::Excluded(until),
                (None, None) => Bound::Unbounded,
            };
            let versions = &self.reading.versions;
            // Covers the range that was read and no more: keys behind the last row come with the next
            // chunk.
            let before = versions.before(self.pin.version, version, table, &from, end)?;
            let bytes: usize = rows.iter().map(|(key, value)| key.len() + value.len()).sum();
            for (key, value) in put_back(rows, before) {
                if visit(&key, &value) == ControlFlow::Break(()) {
                    return Ok(());
                }
            }
            let Some(last) = last else { return Ok(()) };
            from = last;
            from.push(0);
            // Answers stay small: the next one asks for fewer rows after a large one, and for more after a
            // small one.
            limit = if bytes > ANSWER_BYTES / 2 {
                (limit / 2).max(1)
            } else {
                (limit * 4).min(ROWS_MAX)
            };
        }
    }

    fn days(&self) -> Result<Vec<Day>, Error> {
        if self.reading.is_shared() {
            Ok(self.pin.days_of(self.listed()?))
        } else {
            Ok(self.pin.days.keys().copied().collect())
        }
    }
}

/// Rows with the values that some keys had before.
fn put_back(
    rows: Vec<(Vec<u8>, Vec<u8>)>,
    before: BTreeMap<Vec<u8>, Option<Vec<u8>>>,
) -> Vec<(Vec<u8>, Vec<u8>)> {
    if before.is_empty() {
        return rows;
    }
    let mut merged: BTreeMap<Vec<u8>, Vec<u8>> = rows.into_iter().collect();
    for (key, value) in before {
        match value {
            Some(value) => {
                merged.insert(key, value);
            }
            None => {
                merged.remove(&key);
            }
        }
    }
    merged.into_iter().collect()
}
