//! The slot of a feed, and the place up to which the feed has taken the log.
//!
//! The place is a row of the host's database, beside the outbox: it changes in the transaction that marks rows, and it is
//! restored with them. PostgreSQL keeps a place too, which tells nothing: a slot that somebody made anew has one that
//! lies past what was passed over. The server is told of a place only once it is in that row, so a slot whose place is
//! past it is another.

use tokio_postgres::error::SqlState;
use tokio_postgres::types::{PgLsn, ToSql, Type};
use tokio_postgres::{Client, Error};

use crate::poll::within;
use crate::{Fault, Settings, sql};

/// The way to mend missing rights.
pub(super) const RIGHTS: &str = "; the user of the feed's `url` needs the right of replication (`ALTER ROLE … REPLICATION`) and those on \
     the tables that `tidings outbox sql` prints";

/// The way to mend a missing publication.
pub(super) const PUBLISHED: &str =
    "; run the migration that `tidings outbox sql` prints, as the owner of the table";

/// The way to mend a publication that was made anew.
pub(super) const PUBLISHED_LATE: &str = "; a publication has to be older than what is read of the slot: drop the slot, and the feed tells how to go on";

/// The place up to which a feed has taken the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// All transactions before it are taken.
    pub(super) to: u64,
    /// Of one transaction that follows, known by the place of its commit, a part: its messages up to here.
    pub(super) part: Option<(u64, u64)>,
}

/// The slot of a feed, over a connection to its database.
pub(super) struct Slot<'c> {
    client: &'c Client,
    feed: &'c str,
    name: String,
    table: String,
    places: String,
}

/// A slot as the server shows it.
struct Shown {
    is_ours: bool,
    is_lost: bool,
    confirmed: Option<PgLsn>,
}

impl<'c> Slot<'c> {
    pub(super) fn of(settings: &'c Settings, client: &'c Client) -> Self {
        Self {
            client,
            feed: &settings.name,
            name: sql::slot(&settings.name),
            table: sql::table(&settings.table),
            places: sql::places(&settings.table),
        }
    }

    /// Its name, and that of the publication.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The place from which to go on, and whether the feed is new. A new feed gets a slot.
    ///
    /// # Errors
    /// [`Fault::Lasting`] where what was committed may have been passed over.
    pub(super) async fn open(&self) -> Result<(Place, bool), Fault> {
        within(self.publish()).await?;
        let place = within(self.place()).await?;
        let shown = within(self.shown()).await?;
        let Some(place) = place else {
            let confirmed = match shown {
                Some(shown) => self.whole(&shown)?,
                None => self.make().await?,
            };
            let place = Place { to: confirmed.into(), part: None };
            within(self.begin(place)).await?;
            return Ok((place, true));
        };
        let to = PgLsn::from(place.to);
        let Some(shown) = shown else {
            return Err(self.refused(&format!(
                "the slot {} is gone, which had taken the log up to {to}",
                self.name
            )));
        };
        let confirmed = self.whole(&shown)?;
        if confirmed > to {
            return Err(self.refused(&format!(
                "the slot {} was made anew: it begins at {confirmed}, and the feed has taken the log up to {to}",
                self.name
            )));
        }
        Ok((place, false))
    }

    /// The confirmed place of a slot that can be read.
    fn whole(&self, shown: &Shown) -> Result<PgLsn, Fault> {
        if shown.is_lost {
            let why = "is lost: the log went beyond `max_slot_wal_keep_size` while it was not read";
            return Err(self.refused(&format!("the slot {} {why}", self.name)));
        }
        match shown.confirmed {
            Some(confirmed) if shown.is_ours => Ok(confirmed),
            _ => Err(Fault::Lasting(format!(
                "the slot {} is of another database or another plugin; drop it (`SELECT pg_drop_replication_slot({})`) \
                 or give the feed another name, then `tidings resume feed {}`",
                self.name,
                sql::literal(&self.name),
                self.feed
            ))),
        }
    }

    fn refused(&self, why: &str) -> Fault {
        let Self { feed, name, places, .. } = self;
        let (feed_text, name) = (sql::literal(feed), sql::literal(name));
        Fault::Lasting(format!(
            "{why}. Rows wait in the table and are all taken; messages of pg_logical_emit_message that were committed \
             since may be lost. To go on from now: `SELECT pg_drop_replication_slot(slot_name) FROM \
             pg_replication_slots WHERE slot_name = {name}; DELETE FROM {places} WHERE feed = {feed_text};`, then \
             `tidings resume feed {feed}`"
        ))
    }

    /// Sees to it that the table is in the publication.
    async fn publish(&self) -> Result<(), Fault> {
        let sql = "SELECT p.pubinsert AND p.pubupdate AND (p.puballtables OR EXISTS (\
                   SELECT FROM pg_publication_rel r WHERE r.prpubid = p.oid AND r.prrelid = $2::regclass)) \
                   FROM pg_publication p WHERE p.pubname = $1";
        let parameters: [(&(dyn ToSql + Sync), Type); 2] =
            [(&self.name, Type::TEXT), (&self.table, Type::TEXT)];
        let row = self.client.query_typed_opt(sql, &parameters).await?;
        let (name, table) = (sql::quoted(&self.name), &self.table);
        let made = match row.map(|row| row.get::<_, bool>(0)) {
            Some(true) => return Ok(()),
            Some(false) => {
                return Err(Fault::Passing(format!(
                    "the publication {} does not tell what is inserted and updated in {table}: `ALTER PUBLICATION \
                     {name} ADD TABLE {table}; ALTER PUBLICATION {name} SET (publish = 'insert, update');`",
                    self.name
                )));
            }
            None => {
                let sql = sql::publication(&self.name, table);
                self.client.batch_execute(&sql).await
            }
        };
        made.map_err(|fault| with_hint(fault, PUBLISHED))
    }

    async fn shown(&self) -> Result<Option<Shown>, Fault> {
        let sql = "SELECT coalesce(plugin = 'pgoutput' AND database = current_database(), false), \
                   coalesce(wal_status = 'lost', false), confirmed_flush_lsn \
                   FROM pg_replication_slots WHERE slot_name = $1";
        let row = self.client.query_typed_opt(sql, &[(&self.name, Type::TEXT)]).await?;
        Ok(row.map(|row| Shown { is_ours: row.get(0), is_lost: row.get(1), confirmed: row.get(2) }))
    }

    /// Makes the slot, which waits for the transactions that run.
    async fn make(&self) -> Result<PgLsn, Fault> {
        let sql = "SELECT lsn FROM pg_create_logical_replication_slot($1, 'pgoutput')";
        let made = self.client.query_typed_one(sql, &[(&self.name, Type::TEXT)]).await;
        let row = made.map_err(|fault| {
            let hint = match fault.code() {
                Some(&SqlState::INSUFFICIENT_PRIVILEGE) => RIGHTS,
                Some(&SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE) => {
                    "; set `wal_level = logical` in the database's configuration and restart it, or write \
                     `mode = \"poll\"`"
                }
                Some(&SqlState::CONFIGURATION_LIMIT_EXCEEDED) => {
                    "; raise `max_replication_slots` in the database's configuration"
                }
                _ => "",
            };
            with_hint(fault, hint)
        })?;
        tracing::info!(feed = %self.feed, slot = %self.name, "a slot was made");
        Ok(row.get(0))
    }

    async fn place(&self) -> Result<Option<Place>, Fault> {
        let sql = format!("SELECT taken_to, part_of, part_to FROM {} WHERE feed = $1", self.places);
        let row = self.client.query_typed_opt(&sql, &[(&self.feed, Type::TEXT)]).await?;
        Ok(row.map(|row| {
            let part = row.get::<_, Option<PgLsn>>(1).zip(row.get::<_, Option<PgLsn>>(2));
            Place {
                to: row.get::<_, PgLsn>(0).into(),
                part: part.map(|(of, to)| (of.into(), to.into())),
            }
        }))
    }

    async fn begin(&self, place: Place) -> Result<(), Fault> {
        let sql = format!("INSERT INTO {} (feed, taken_to) VALUES ($1, $2)", self.places);
        let parameters: [(&(dyn ToSql + Sync), Type); 2] =
            [(&self.feed, Type::TEXT), (&PgLsn::from(place.to), Type::PG_LSN)];
        self.client.execute_typed(&sql, &parameters).await?;
        Ok(())
    }

    /// Writes the place down, in the transaction of the connection where there is one.
    ///
    /// # Errors
    /// That of the database, or that the row is gone.
    pub(super) async fn advance(&self, place: Place) -> Result<(), Fault> {
        let sql = format!(
            "UPDATE {} SET taken_to = $2, part_of = $3, part_to = $4 WHERE feed = $1",
            self.places
        );
        let (of, to) = match place.part {
            Some((of, to)) => (Some(PgLsn::from(of)), Some(PgLsn::from(to))),
            None => (None, None),
        };
        let parameters: [(&(dyn ToSql + Sync), Type); 4] = [
            (&self.feed, Type::TEXT),
            (&PgLsn::from(place.to), Type::PG_LSN),
            (&of, Type::PG_LSN),
            (&to, Type::PG_LSN),
        ];
        match self.client.execute_typed(&sql, &parameters).await? {
            0 => Err(Fault::Passing(format!("the place of the feed is gone from {}", self.places))),
            _ => Ok(()),
        }
    }

    /// Bytes of the log that the server retains for the slot, and where the log ends; `None` where there is no slot.
    pub(super) async fn retained(&self) -> Result<Option<(u64, u64)>, Fault> {
        let sql = "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)::bigint, pg_current_wal_lsn() \
                   FROM pg_replication_slots WHERE slot_name = $1";
        let row = self.client.query_typed_opt(sql, &[(&self.name, Type::TEXT)]).await?;
        let Some(row) = row else { return Ok(None) };
        let bytes: Option<i64> = row.get(0);
        let end: PgLsn = row.get(1);
        Ok(Some((bytes.unwrap_or(0).max(0).unsigned_abs(), end.into())))
    }
}

fn with_hint(fault: Error, hint: &str) -> Fault {
    match fault.as_db_error() {
        Some(said) if !hint.is_empty() => {
            let code = said.code().code();
            Fault::Passing(format!("PostgreSQL: {} (SQLSTATE {code}){hint}", said.message()))
        }
        _ => fault.into(),
    }
}
