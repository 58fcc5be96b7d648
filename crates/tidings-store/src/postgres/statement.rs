//! A commit as one statement: fenced, whole, and with the values that it replaces as its answer.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::link::{Link, LinkFault};
use super::schema::name;
use super::versions::{EarlierValues, TableNo};
use crate::lease::Fence;
use tidings_core::Day;

/// The writes of a commit to one table: of each key the last one.
#[derive(Default)]
pub(super) struct TableChanges<'w> {
    rows: BTreeMap<&'w [u8], Option<&'w [u8]>>,
}

impl<'w> TableChanges<'w> {
    pub(super) fn set(&mut self, key: &'w [u8], value: Option<&'w [u8]>) {
        self.rows.insert(key, value);
    }
}

/// The writes of a commit by table, and the tables that it lists for days that begin.
#[derive(Default)]
pub(super) struct CommitStatement<'w> {
    pub(super) tables: BTreeMap<TableNo, TableChanges<'w>>,
    pub(super) begins: BTreeMap<Day, TableNo>,
}

/// The parameters of one table.
struct TableParameters<'w> {
    keys: Vec<&'w [u8]>,
    values: Vec<&'w [u8]>,
    deleted: Vec<&'w [u8]>,
}

impl CommitStatement<'_> {
    /// The keys that it writes.
    pub(super) fn keys(&self) -> impl Iterator<Item = (TableNo, &[u8])> {
        self.tables
            .iter()
            .flat_map(|(table, changes)| changes.rows.keys().map(|key| (*table, *key)))
    }

    /// Runs it after the commit `at`; returns the replaced rows, or `None` if the fence was behind and nothing was
    /// written.
    pub(super) fn run(
        &self,
        link: &mut Link,
        fence: Fence,
        at: i64,
    ) -> Result<Option<EarlierValues>, LinkFault> {
        let arrays: Vec<TableParameters<'_>> =
            self.tables.values().map(TableParameters::of).collect();
        let days: Vec<i32> = self.begins.keys().map(|day| day.0).collect();
        let made: Vec<i64> = self.begins.values().map(|table| table.0).collect();
        let number = fence.number();
        let mut parameters: Vec<&(dyn ToSql + Sync)> = vec![&number, &at];
        for arrays in &arrays {
            parameters.extend([&arrays.keys as &(dyn ToSql + Sync), &arrays.values]);
            if !arrays.deleted.is_empty() {
                parameters.push(&arrays.deleted);
            }
        }
        if !days.is_empty() {
            parameters.extend([&days as &(dyn ToSql + Sync), &made]);
        }
        let rows = link.query(&self.text(fence, &arrays), &parameters)?;
        Ok(self.replaced(&rows))
    }

    fn text(&self, fence: Fence, arrays: &[TableParameters<'_>]) -> String {
        let mut text = format!("WITH f AS ({})", fence.raise());
        // All parts of a statement read the state before it, so its answer has the values that it replaces.
        let mut answer = String::from(" SELECT -1, NULL::bytea, NULL::bytea FROM f");
        let mut next = 3;
        // Writing into a text can't fail.
        for (number, (table, arrays)) in self.tables.keys().zip(arrays).enumerate() {
            let (name, keys, values, deleted) = (name(*table), next, next + 1, next + 2);
            let _ = write!(
                text,
                ", w{number} AS (INSERT INTO {name} SELECT u.k, u.v FROM f, \
                 unnest(${keys}::bytea[], ${values}::bytea[]) AS u (k, v) \
                 ON CONFLICT (key) DO UPDATE SET value = excluded.value)"
            );
            let mut all = format!("${keys}::bytea[]");
            next += 2;
            if !arrays.deleted.is_empty() {
                let _ = write!(
                    text,
                    ", d{number} AS (DELETE FROM {name} USING f WHERE key = ANY(${deleted}::bytea[]))"
                );
                let _ = write!(all, " || ${deleted}::bytea[]");
                next += 1;
            }
            if !self.begins.values().any(|made| made == table) {
                let _ = write!(
                    answer,
                    " UNION ALL SELECT {number}, key, value FROM {name} WHERE key = ANY({all})"
                );
            }
        }
        if !self.begins.is_empty() {
            let _ = write!(
                text,
                ", b AS (INSERT INTO tidings_day SELECT u.d, u.n FROM f, \
                 unnest(${}::int[], ${}::bigint[]) AS u (d, n))",
                next,
                next + 1
            );
        }
        text + &answer
    }

    fn replaced(&self, rows: &[Row]) -> Option<EarlierValues> {
        if !rows.iter().any(|row| row.get::<_, i32>(0) < 0) {
            return None;
        }
        let mut before = EarlierValues::new();
        for (table, changes) in &self.tables {
            if !self.begins.values().any(|made| made == table) {
                let keys = changes.rows.keys();
                before.extend(keys.map(|key| ((*table, key.to_vec()), None)));
            }
        }
        let tables: Vec<TableNo> = self.tables.keys().copied().collect();
        for row in rows {
            let number = usize::try_from(row.get::<_, i32>(0));
            if let Some(table) = number.ok().and_then(|number| tables.get(number)) {
                before.insert((*table, row.get(1)), Some(row.get(2)));
            }
        }
        Some(before)
    }
}

impl<'w> TableParameters<'w> {
    fn of(changes: &TableChanges<'w>) -> Self {
        let mut arrays = Self { keys: Vec::new(), values: Vec::new(), deleted: Vec::new() };
        for (key, value) in &changes.rows {
            match value {
                Some(value) => {
                    arrays.keys.push(key);
                    arrays.values.push(value);
                }
                None => arrays.deleted.push(key),
            }
        }
        arrays
    }
}
