//! The tables in the database, and the one format that they have.

use tokio_postgres::types::Type;

use super::identity::{IDENTITY, other};
use super::link::{Link, LinkFault};
use super::versions::TableNo;
use crate::{Error, Expected, StoreId};

/// The format of the tables; another one is refused.
const FORMAT: i32 = 5;

/// The mark of a database that a restore fills.
const UNFINISHED: i32 = 0;

/// The tables. Values are in their smallest form already, so that the database need not try to compress them.
/// A row that is replaced in place leaves its index alone, if its page has room.
const TABLES: &str = "
BEGIN;
SELECT pg_advisory_xact_lock(8389758523461825126);
CREATE TABLE IF NOT EXISTS tidings_format (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    format int NOT NULL,
    store text NOT NULL
);
CREATE TABLE IF NOT EXISTS tidings_lease (
    no int PRIMARY KEY,
    epoch bigint NOT NULL,
    at bigint NOT NULL,
    holder bigint
) WITH (fillfactor = 10);
CREATE TABLE IF NOT EXISTS tidings_node (
    id bigint PRIMARY KEY,
    name text NOT NULL,
    address text NOT NULL,
    token text NOT NULL,
    heartbeat bigint NOT NULL,
    unanswered boolean NOT NULL,
    role text NOT NULL,
    lag_ms bigint NOT NULL,
    config text NOT NULL,
    heard timestamptz NOT NULL,
    since timestamptz NOT NULL
) WITH (fillfactor = 50);
CREATE TABLE IF NOT EXISTS tidings_share (
    term bigint PRIMARY KEY,
    node bigint NOT NULL,
    parts int[] NOT NULL,
    of_parts int NOT NULL,
    at bigint NOT NULL,
    ends boolean NOT NULL
) WITH (fillfactor = 10);
CREATE SEQUENCE IF NOT EXISTS tidings_term;
CREATE TABLE IF NOT EXISTS tidings_base (key bytea PRIMARY KEY, value bytea NOT NULL)
    WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
ALTER TABLE tidings_base ALTER COLUMN value SET STORAGE EXTERNAL;
CREATE TABLE IF NOT EXISTS tidings_day (day int PRIMARY KEY, rows bigint NOT NULL);
CREATE SEQUENCE IF NOT EXISTS tidings_rows;
INSERT INTO tidings_lease VALUES (0, 0, 0, NULL) ON CONFLICT DO NOTHING;
COMMIT;
";

/// Returns true if the database has the tables of a store.
pub(super) fn is_there(link: &mut Link) -> Result<bool, LinkFault> {
    let found = link.query("SELECT to_regclass('tidings_format') IS NOT NULL", &[])?;
    Ok(found.first().is_some_and(|row| row.get(0)))
}

/// A store that was found or made.
pub(super) struct PreparedStore {
    pub(super) id: StoreId,
    pub(super) is_new: bool,
}

/// Finds the expected store, and refuses one of another format. Creates tables only if a new store is allowed.
pub(super) fn prepare(link: &mut Link, expected: Expected) -> Result<PreparedStore, Error> {
    if let Some(id) = found(link)? {
        return if expected.admits(id) {
            Ok(PreparedStore { id, is_new: false })
        } else {
            Err(Error::Missing(other(id)))
        };
    }
    let Expected::OrNew(fresh) = expected else {
        return Err(Error::Missing("the database has no store".to_owned()));
    };
    link.run(TABLES)?;
    let mark = "INSERT INTO tidings_format (format, store) VALUES ($1, $2) ON CONFLICT DO NOTHING";
    link.query(mark, &[&FORMAT, &fresh.to_string()])?;
    // Of several nodes that start at once the first has made it.
    let id = found(link)?.ok_or_else(|| Error::Unavailable("the store went away".to_owned()))?;
    let is_new = id == fresh;
    Ok(PreparedStore { id, is_new })
}

/// Makes the tables of a store that is not one yet, in place of those that an interrupted restore has left.
pub(super) fn begin_restored(link: &mut Link, id: StoreId) -> Result<(), Error> {
    if is_there(link)? {
        let rows = link.query("SELECT format FROM tidings_format", &[])?;
        if rows.first().is_some_and(|row| row.get::<_, i32>(0) != UNFINISHED) {
            let why = "the database has a store already; restore into one that has none";
            return Err(Error::Unusable(why.to_owned()));
        }
        clear(link)?;
    }
    link.run(TABLES)?;
    let mark = "INSERT INTO tidings_format (format, store) VALUES ($1, $2)";
    link.query(mark, &[&UNFINISHED, &id.to_string()])?;
    Ok(())
}

/// Marks a database as a store.
pub(super) fn finish_restored(link: &mut Link) -> Result<(), LinkFault> {
    let mark = "UPDATE tidings_format SET format = $1";
    link.query(mark, &[&FORMAT]).map(drop)
}

/// Drops all tables of a store.
pub(super) fn clear(link: &mut Link) -> Result<(), LinkFault> {
    let listed = "SELECT relname::text FROM pg_class WHERE relkind = 'r'
                  AND relname ~ '^tidings_(format|lease|node|share|base|day|rows_[0-9]+)$' AND pg_table_is_visible(oid)";
    for row in link.query(listed, &[])? {
        link.run(&format!("DROP TABLE {}", row.get::<_, String>(0)))?;
    }
    link.run("DROP SEQUENCE IF EXISTS tidings_rows, tidings_term")
}

/// The identity of the store, if there is one.
fn found(link: &mut Link) -> Result<Option<StoreId>, Error> {
    if !is_there(link)? {
        return Ok(None);
    }
    let rows = link.query("SELECT format FROM tidings_format", &[])?;
    match rows.first().map(|row| row.get::<_, i32>(0)) {
        Some(UNFINISHED) => Err(Error::Format(
            "a restore fills the database, or did not finish: wait, or restore again".to_owned(),
        )),
        Some(other) if other != FORMAT => Err(Error::Format(format!(
            "the database has format {other}, this version reads {FORMAT}"
        ))),
        Some(_) => {
            let rows = link.query(IDENTITY, &[])?;
            let id = rows.first().and_then(|row| row.get::<_, &str>(0).parse().ok());
            let damaged = || Error::Corrupt("`tidings_format` names no store".to_owned());
            Ok(Some(id.ok_or_else(damaged)?))
        }
        None => Ok(None),
    }
}

/// The name of a table.
pub(super) fn name(table: TableNo) -> String {
    match table {
        TableNo::BASE => "tidings_base".to_owned(),
        TableNo(no) => format!("tidings_rows_{no}"),
    }
}

/// Creates a table for a day, which is unused until a commit names it.
pub(super) fn make(link: &mut Link) -> Result<TableNo, LinkFault> {
    let rows = link.query("SELECT nextval('tidings_rows')", &[])?;
    let number = rows.first().map(|row| row.get(0));
    let table = TableNo(number.ok_or_else(|| LinkFault::Broken("no number".to_owned()))?);
    let name = name(table);
    link.run(&format!(
        "BEGIN; CREATE TABLE {name} (key bytea PRIMARY KEY, value bytea NOT NULL);
         ALTER TABLE {name} ALTER COLUMN value SET STORAGE EXTERNAL; COMMIT"
    ))?;
    Ok(table)
}

/// Drops a table, unless it is being read, such as by a dump: then the next opening drops it. A commit of another
/// writer may list it at this moment; then it stays.
pub(super) fn discard(link: &mut Link, table: TableNo) {
    let name = name(table);
    let number = table.0;
    let drop = format!(
        "BEGIN; SET LOCAL lock_timeout = '500ms';
         DO $$ BEGIN
             LOCK TABLE {name} IN ACCESS EXCLUSIVE MODE;
             IF NOT EXISTS (SELECT FROM tidings_day WHERE rows = {number}) THEN DROP TABLE {name}; END IF;
         END $$;
         COMMIT"
    );
    if link.run(&drop).is_err() {
        // The table may be gone already. If the connection is, the next call fails.
        let _ = link.run("ROLLBACK");
    }
    link.forget(&name);
}

/// The tables of days that no commit named, or that were forgotten.
pub(super) fn unlisted(link: &mut Link) -> Result<Vec<TableNo>, LinkFault> {
    let sql = "SELECT substr(relname::text, 14)::bigint FROM pg_class
               WHERE relkind = 'r' AND relname ~ '^tidings_rows_[0-9]+$'
               AND pg_table_is_visible(oid)
               AND substr(relname::text, 14)::bigint NOT IN (SELECT rows FROM tidings_day)";
    let rows = link.query(sql, &[])?;
    debug_assert!(rows.iter().all(|row| *row.columns()[0].type_() == Type::INT8));
    Ok(rows.iter().map(|row| TableNo(row.get(0))).collect())
}
