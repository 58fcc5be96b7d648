//! The parked rows of a feed, read beside its reader over a connection of their own.

use std::sync::Arc;

use tokio::sync::Notify;
use tokio_postgres::types::Type;

use crate::outbox::Outbox;
use crate::poll::{drive, within};
use crate::{FeedFault, FeedSettings, connect};

/// A row that was refused and stays in the table with its problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParkedRow {
    /// The number of the row.
    pub id: i64,
    /// The key that the host gave it.
    pub key: Option<String>,
    /// The time when the host wrote it, in milliseconds since 1970.
    pub at_ms: i64,
    /// The problem, as JSON.
    pub problem: String,
}

/// The place of a parked row in the order in which they are read: newest first, and by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParkedRowPlace {
    /// The time when the host wrote the row, in milliseconds since 1970.
    pub at_ms: i64,
    /// The number of the row.
    pub id: i64,
}

/// Reads at most `most` parked rows after one of them, newest first.
///
/// # Errors
/// That of the database.
pub async fn parked(
    settings: &FeedSettings,
    after: Option<ParkedRowPlace>,
    most: i64,
) -> Result<Vec<ParkedRow>, FeedFault> {
    let (client, connection) = within(connect(&settings.database)).await?;
    // It ends with the client.
    tokio::spawn(drive(connection, Arc::<Notify>::default()));
    let outbox = Outbox::of(settings, &client);
    let sql = format!(
        "SELECT id, key, at_ms, refused::text FROM ( \
             SELECT id, key, floor(extract(epoch FROM created_at) * 1000)::bigint AS at_ms, refused \
             FROM {} WHERE taken_at IS NULL AND refused IS NOT NULL) AS parked \
         WHERE at_ms < $1 OR (at_ms = $1 AND id > $2) ORDER BY at_ms DESC, id LIMIT $3",
        outbox.table()
    );
    let ParkedRowPlace { at_ms, id } =
        after.unwrap_or(ParkedRowPlace { at_ms: i64::MAX, id: i64::MIN });
    let parameters: [(&(dyn tokio_postgres::types::ToSql + Sync), Type); 3] =
        [(&at_ms, Type::INT8), (&id, Type::INT8), (&most, Type::INT8)];
    let read = async { Ok(client.query_typed(&sql, &parameters).await?) };
    let rows = within(read).await?;
    let row = |row: &tokio_postgres::Row| ParkedRow {
        id: row.get(0),
        key: row.get(1),
        at_ms: row.get(2),
        problem: row.get(3),
    };
    Ok(rows.iter().map(row).collect())
}
