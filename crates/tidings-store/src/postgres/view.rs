//! A snapshot: the newest rows, put back to what they were.

use std::collections::BTreeMap;
use std::ops::{Bound, ControlFlow};
use std::sync::Arc;

use tokio_postgres::types::ToSql;

use super::schema::name;
use super::versions::{Pin, TableNo};
use super::{Reading, fenced};
use crate::{Error, Partition, Snapshot, Visit};
use tidings_core::time::Day;

/// The rows that a scan asks for first; it asks for more at a time as it goes on.
const ROWS_FIRST: i64 = 64;
const ROWS_MAX: i64 = 4_096;

/// The bytes that one answer of a scan should have.
const ANSWER_BYTES: usize = 1 << 20;

/// A snapshot.
pub(super) struct View {
    pub(super) reading: Arc<Reading>,
    pub(super) pin: Pin,
}

/// Rows of a range, and whether it may have more.
struct Chunk {
    rows: Vec<(Vec<u8>, Vec<u8>)>,
    /// The version that they have.
    version: i64,
    is_full: bool,
}

impl View {
    fn table(&self, partition: Partition) -> Option<TableNo> {
        match partition {
            Partition::Base => Some(TableNo::BASE),
            Partition::Day(day) => self.pin.days.get(&day).copied(),
        }
    }

    fn chunk(
        &self,
        table: TableNo,
        from: &[u8],
        until: Option<&[u8]>,
        limit: i64,
    ) -> Result<Chunk, Error> {
        let end = match until {
            Some(_) => " AND key < $3",
            None => "",
        };
        let sql = format!(
            "SELECT p.epoch, p.at, s.key, s.value FROM tidings_part p LEFT JOIN LATERAL \
             (SELECT key, value FROM {} WHERE key >= $1{end} ORDER BY key LIMIT $2) s ON true \
             WHERE p.no = 0 ORDER BY s.key",
            name(table)
        );
        let until = until.unwrap_or_default();
        let mut parameters: Vec<&(dyn ToSql + Sync)> = vec![&from, &limit];
        if !end.is_empty() {
            parameters.push(&until);
        }
        let rows = self.reading.readers.query(&sql, &parameters)?;
        let version = self.reading.version(rows.first())?;
        let rows: Vec<_> = rows
            .iter()
            .filter_map(|row| Some((row.get::<_, Option<Vec<u8>>>(2)?, row.get(3))))
            .collect();
        let is_full = i64::try_from(rows.len()).is_ok_and(|count| count == limit);
        Ok(Chunk {
            rows,
            version,
            is_full,
        })
    }
}

impl Snapshot for View {
    fn get(&self, partition: Partition, key: &[u8]) -> Result<Option<Vec<u8>>, Error> {
        let Some(table) = self.table(partition).filter(|_| !key.is_empty()) else {
            return Ok(None);
        };
        let versions = &self.reading.versions;
        let place = (table, key, Bound::Included(key));
        let known = versions.before(self.pin.version, self.pin.version, place)?;
        if let Some(value) = known.into_values().next() {
            return Ok(value);
        }
        let sql = format!(
            "SELECT epoch, at, (SELECT value FROM {} WHERE key = $1) FROM tidings_part WHERE no = 0",
            name(table)
        );
        let rows = self.reading.readers.query(&sql, &[&key])?;
        let row = rows.first();
        let version = self.reading.version(row)?;
        let replaced = versions.before(self.pin.version, version, place)?;
        match replaced.into_values().next() {
            Some(value) => Ok(value),
            None => Ok(row.and_then(|row| row.get(2))),
        }
    }

    fn get_many(
        &self,
        partition: Partition,
        keys: &[&[u8]],
    ) -> Result<Vec<Option<Vec<u8>>>, Error> {
        let Some(table) = self.table(partition).filter(|_| !keys.is_empty()) else {
            return Ok(vec![None; keys.len()]);
        };
        let sql = format!(
            "SELECT p.epoch, p.at, s.key, s.value FROM tidings_part p \
             LEFT JOIN {} s ON s.key = ANY($1) WHERE p.no = 0",
            name(table)
        );
        let rows = self.reading.readers.query(&sql, &[&keys])?;
        let version = self.reading.version(rows.first())?;
        let found = rows
            .iter()
            .filter_map(|row| Some((row.get::<_, Option<&[u8]>>(2)?, row.get::<_, &[u8]>(3))));
        let found: BTreeMap<&[u8], &[u8]> = found.collect();
        let value = |key: &&[u8]| {
            let place = (table, *key, Bound::Included(*key));
            let replaced = self
                .reading
                .versions
                .before(self.pin.version, version, place)?;
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
        let Some(table) = self.table(partition) else {
            return Ok(());
        };
        let mut from = from.to_vec();
        let mut limit = ROWS_FIRST;
        loop {
            if until.is_some_and(|until| until <= from.as_slice()) {
                return Ok(());
            }
            let Chunk {
                rows,
                version,
                is_full,
            } = self.chunk(table, &from, until, limit)?;
            let last = rows.last().filter(|_| is_full).map(|(key, _)| key.clone());
            let end = match (&last, until) {
                (Some(last), _) => Bound::Included(last.as_slice()),
                (None, Some(until)) => Bound::Excluded(until),
                (None, None) => Bound::Unbounded,
            };
            let range = (table, from.as_slice(), end);
            let before = self
                .reading
                .versions
                .before(self.pin.version, version, range)?;
            let bytes: usize = rows
                .iter()
                .map(|(key, value)| key.len() + value.len())
                .sum();
            for (key, value) in put_back(rows, before) {
                if visit(&key, &value) == ControlFlow::Break(()) {
                    return Ok(());
                }
            }
            let Some(last) = last else { return Ok(()) };
            from = last;
            from.push(0);
            limit = match bytes > ANSWER_BYTES / 2 {
                true => (limit / 2).max(1),
                false => (limit * 4).min(ROWS_MAX),
            };
        }
    }

    fn days(&self) -> Result<Vec<Day>, Error> {
        Ok(self.pin.days.keys().copied().collect())
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
            Some(value) => drop(merged.insert(key, value)),
            None => drop(merged.remove(&key)),
        }
    }
    merged.into_iter().collect()
}

impl Reading {
    /// The version of an answer, if the holder is still the one that reads.
    fn version(&self, row: Option<&tokio_postgres::Row>) -> Result<i64, Error> {
        match row {
            Some(row) if row.get::<_, i64>(0) == self.epoch => Ok(row.get(1)),
            _ => Err(fenced(&self.versions)),
        }
    }
}
