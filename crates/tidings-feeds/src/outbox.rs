//! The table of a feed: what is marked in it, and read of it beside its rows.

use std::time::Duration;

use tokio_postgres::Client;
use tokio_postgres::types::Type;

use crate::sql;
use crate::{FeedFault, FeedSettings};

/// Rows that are deleted with one statement.
const SWEPT_MAX: i64 = 5_000;

/// The result of a look at the table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutboxGauge {
    /// Age of the oldest row that waits, in milliseconds; 0 = none does.
    pub lag_ms: u64,
    /// Number of parked rows.
    pub parked: u64,
}

/// The table of a feed, over a connection. Each call is one statement, so it is whole or not done where the caller has no transaction.
pub struct Outbox<'c> {
    client: &'c Client,
    table: String,
    keep: Duration,
}

impl<'c> Outbox<'c> {
    /// The table of a feed.
    #[must_use]
    pub fn of(settings: &FeedSettings, client: &'c Client) -> Self {
        Self { client, table: sql::table(&settings.table), keep: settings.keep }
    }

    /// The name of the table, as SQL takes it.
    #[must_use]
    pub fn table(&self) -> &str {
        &self.table
    }

    /// Marks rows as taken, or deletes them where none is kept. A row that is marked already stays as it is.
    ///
    /// # Errors
    /// That of the database.
    pub async fn mark(&self, ids: &[i64]) -> Result<(), FeedFault> {
        if ids.is_empty() {
            return Ok(());
        }
        let table = &self.table;
        let sql = if self.keep.is_zero() {
            format!("DELETE FROM {table} WHERE id = ANY ($1)")
        } else {
            format!(
                "UPDATE {table} SET taken_at = clock_timestamp(), refused = NULL \
                 WHERE id = ANY ($1) AND taken_at IS NULL"
            )
        };
        self.client.execute_typed(&sql, &[(&ids, Type::INT8_ARRAY)]).await?;
        Ok(())
    }

    /// Parks rows, each with its problem.
    ///
    /// # Errors
    /// That of the database.
    pub async fn park(&self, ids: &[i64], problems: &[String]) -> Result<(), FeedFault> {
        if ids.is_empty() {
            return Ok(());
        }
        let sql = format!(
            "UPDATE {} AS t SET refused = p.problem::jsonb \
             FROM unnest($1, $2) AS p (id, problem) WHERE t.id = p.id AND t.taken_at IS NULL",
            self.table
        );
        let problems: Vec<String> = problems.iter().map(|problem| storable(problem)).collect();
        let parameters: [(&(dyn tokio_postgres::types::ToSql + Sync), Type); 2] =
            [(&ids, Type::INT8_ARRAY), (&problems, Type::TEXT_ARRAY)];
        self.client.execute_typed(&sql, &parameters).await?;
        Ok(())
    }

    /// Looks at what waits and what is parked.
    ///
    /// # Errors
    /// That of the database.
    pub async fn gauge(&self) -> Result<OutboxGauge, FeedFault> {
        let table = &self.table;
        let sql = format!(
            "SELECT (SELECT (extract(epoch FROM clock_timestamp() - created_at) * 1000)::bigint FROM {table} \
                     WHERE taken_at IS NULL AND refused IS NULL ORDER BY id LIMIT 1), \
                    (SELECT count(*) FROM {table} WHERE taken_at IS NULL AND refused IS NOT NULL)"
        );
        let row = self.client.query_typed_one(&sql, &[]).await?;
        let lag: Option<i64> = row.get(0);
        let parked: i64 = row.get(1);
        let count = |number: i64| number.max(0).unsigned_abs();
        Ok(OutboxGauge { lag_ms: lag.map_or(0, count), parked: count(parked) })
    }

    /// The first parked row with its problem.
    ///
    /// # Errors
    /// That of the database.
    pub async fn first_parked(&self) -> Result<Option<(i64, String)>, FeedFault> {
        let sql = format!(
            "SELECT id, refused::text FROM {} WHERE taken_at IS NULL AND refused IS NOT NULL \
             ORDER BY id LIMIT 1",
            self.table
        );
        let row = self.client.query_typed_opt(&sql, &[]).await?;
        Ok(row.map(|row| (row.get(0), row.get(1))))
    }

    /// Deletes rows that were taken long enough ago; returns true if there may be more.
    ///
    /// # Errors
    /// That of the database.
    pub async fn sweep(&self) -> Result<bool, FeedFault> {
        let table = &self.table;
        let sql = format!(
            "DELETE FROM {table} WHERE id IN (SELECT id FROM {table} \
             WHERE taken_at <= clock_timestamp() - $1 * interval '1 second' ORDER BY taken_at LIMIT {SWEPT_MAX})"
        );
        let seconds = self.keep.as_secs_f64();
        let swept = self.client.execute_typed(&sql, &[(&seconds, Type::FLOAT8)]).await?;
        Ok(i64::try_from(swept).is_ok_and(|swept| swept >= SWEPT_MAX))
    }
}

/// A JSON text that `jsonb` takes: it has no character 0.
fn storable(json: &str) -> String {
    let mut kept = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(at) = rest.find('\\') {
        kept.push_str(&rest[..at]);
        rest = &rest[at..];
        // An escape is a backslash with a character; only `u` has more, which are passed over as text.
        let length = if rest.starts_with("\\u0000") {
            6
        } else {
            1 + rest[1..].chars().next().map_or(0, char::len_utf8)
        };
        kept.push_str(if length == 6 { "\\ufffd" } else { &rest[..length] });
        rest = &rest[length..];
    }
    kept.push_str(rest);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_0_is_replaced_and_nothing_else() {
        assert_eq!(storable(r#"{"a": "x\u0000y"}"#), r#"{"a": "x\ufffdy"}"#);
        assert_eq!(storable(r#"["\\u0000", "\"\u0000"]"#), r#"["\\u0000", "\"\ufffd"]"#);
        assert_eq!(storable("é\\"), "é\\");
    }
}
