//! The engine of several machines: tables in a PostgreSQL database that they share.
//!
//! One holder writes at a time, and the database decides who: each commit is one statement that is done only if
//! the *epoch* is still the holder's, and if it follows the holder's last commit. Who takes the store over raises
//! the epoch; from then on the holder before writes nothing and reads nothing. Reads are single statements, too,
//! which say the version that they saw; snapshots put back what was replaced since (`versions`). So no
//! transaction stays open, and connections may come and go.

mod address;
mod leases;
mod link;
mod readers;
mod schema;
mod statement;
mod tls;
mod versions;
mod view;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

pub use self::leases::PostgresLeases;

use self::address::Address;
use self::link::{Fault, Link, rest};
use self::readers::Readers;
use self::statement::{Fence, Statement};
use self::versions::{Before, Days, TableNo, Versions};
use self::view::View;
use crate::lease::Epoch;
use crate::{Commit, Error, Partition, Snapshot, Store, limits};
use tidings_core::time::Day;

/// Time that a call may take, and for which it is tried again where connections break.
const PATIENCE: Duration = Duration::from_secs(10);

/// Time that a connection may take to come about.
const CONNECT_PATIENCE: Duration = Duration::from_secs(3);

/// The wait between two attempts.
const PAUSE: Duration = Duration::from_millis(250);

/// A store in a PostgreSQL database.
pub struct PostgresStore {
    address: Address,
    reading: Arc<Reading>,
    writer: Mutex<Writer>,
}

/// The part of it that snapshots share.
struct Reading {
    epoch: i64,
    readers: Readers,
    versions: Arc<Versions>,
}

struct Writer {
    /// `None` after it broke.
    link: Option<Link>,
}

impl PostgresStore {
    /// Tells whether a database contains a store, of any format.
    ///
    /// # Errors
    /// [`Error::Unusable`] or [`Error::Unavailable`].
    pub fn is_in(url: &str) -> Result<bool, Error> {
        let mut link = Link::connect(&Address::of(url)?, PATIENCE)?;
        Ok(schema::is_there(&mut link)?)
    }

    /// Opens the store of a database, `postgres://USER@HOST/DB`, and takes it over from whoever holds it. A
    /// database without one gets its tables.
    ///
    /// # Errors
    /// [`Error::Unusable`] for an address or a database that can't be used, [`Error::Format`],
    /// [`Error::Unavailable`].
    pub fn open(url: &str) -> Result<Self, Error> {
        let address = Address::of(url)?;
        let mut link = Link::connect(&address, PATIENCE)?;
        schema::prepare(&mut link)?;
        let take = "UPDATE tidings_part SET epoch = epoch + 1, holder = NULL WHERE no = 0 \
                    RETURNING epoch";
        let taken = link.query(take, &[])?;
        let epoch = taken.first().map(|row| Epoch(row.get(0)));
        let epoch = epoch.ok_or_else(|| Error::Corrupt("it has no part 0".to_owned()))?;
        Self::over(link, address, epoch)
    }

    /// Creates a store from the writes of `fill`, in a database without one. Until all of it is there the database
    /// is not a store and can't be opened; the next attempt removes what an interrupted one left.
    ///
    /// # Errors
    /// Those of `fill`; [`Error::Unusable`] if the database has a store, or as [`PostgresStore::open`].
    pub fn restore<E: From<Error>>(
        url: &str,
        fill: impl FnOnce(&dyn Store) -> Result<(), E>,
    ) -> Result<(), E> {
        let address = Address::of(url)?;
        let connect = || Link::connect(&address, PATIENCE).map_err(Error::from);
        schema::begin_restored(&mut connect()?)?;
        let filled = Self::over(connect()?, address.clone(), Epoch::default())
            .map_err(E::from)
            .and_then(|store| fill(&store));
        match filled {
            Ok(()) => Ok(schema::finish_restored(&mut connect()?).map_err(Error::from)?),
            Err(fault) => {
                // The first fault is the one to tell; the next attempt removes what is left.
                let _ = connect().and_then(|mut link| Ok(schema::clear(&mut link)?));
                Err(fault)
            }
        }
    }

    /// Opens the store as the holder of an epoch.
    ///
    /// # Errors
    /// [`Error::Fenced`] if somebody else has it; as [`PostgresStore::open`].
    fn of(address: Address, epoch: Epoch) -> Result<Self, Error> {
        let link = Link::connect(&address, PATIENCE)?;
        Self::over(link, address, epoch)
    }

    fn over(mut link: Link, address: Address, epoch: Epoch) -> Result<Self, Error> {
        let (current, at) = newest(&mut link)?;
        if current != epoch.0 {
            return Err(Error::Fenced);
        }
        let rows = link.query("SELECT day, rows FROM tidings_day", &[])?;
        let days: BTreeMap<Day, TableNo> = rows
            .iter()
            .map(|row| (Day(row.get(0)), TableNo(row.get(1))))
            .collect();
        for table in schema::unlisted(&mut link)? {
            schema::discard(&mut link, table);
        }
        Ok(Self {
            reading: Arc::new(Reading {
                epoch: epoch.0,
                readers: Readers::new(address.clone(), PATIENCE),
                versions: Arc::new(Versions::new(at, days)),
            }),
            address,
            writer: Mutex::new(Writer { link: Some(link) }),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Writer> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has something written, once, whatever becomes of connections. `None` if what it replaced was lost.
    fn write(
        &self,
        writer: &mut Writer,
        fence: Fence,
        write: &mut dyn FnMut(&mut Link) -> Result<Option<Before>, Fault>,
    ) -> Result<Option<Before>, Error> {
        let mut unknown = false;
        for pause in pauses(PATIENCE) {
            let wrote = writer.link(&self.address).and_then(&mut *write);
            let fault = match wrote {
                Ok(Some(before)) => return Ok(Some(before)),
                Ok(None) if unknown => match writer.link(&self.address).and_then(newest) {
                    // It is the holder's own: only one is under way.
                    Ok((epoch, at)) if epoch == fence.epoch && at == fence.at + 1 => {
                        return Ok(None);
                    }
                    Ok(_) => return Err(fenced(&self.reading.versions)),
                    Err(fault) => fault,
                },
                Ok(None) => return Err(fenced(&self.reading.versions)),
                Err(fault) => fault,
            };
            if !fault.passes() && !unknown {
                return Err(fault.into());
            }
            unknown |= fault.leaves_doubt();
            writer.link = None;
            match pause {
                Some(pause) => rest(pause)?,
                None => {
                    let fault = Error::Unavailable(Error::from(fault).to_string());
                    self.reading.versions.end(fault.clone());
                    return Err(fault);
                }
            }
        }
        Err(Error::Unavailable("no attempt was made".to_owned()))
    }

    /// Drops the tables of forgotten days that nobody sees any more.
    fn tidy(&self, writer: &mut Writer) {
        for table in self.reading.versions.take_forgotten() {
            self.reading.readers.forget(&schema::name(table));
            // Where there is no connection, the next opening does it.
            if let Ok(link) = writer.link(&self.address) {
                schema::discard(link, table);
            }
        }
    }
}

impl Writer {
    fn link(&mut self, address: &Address) -> Result<&mut Link, Fault> {
        if self.link.as_ref().is_some_and(Link::is_closed) {
            self.link = None;
        }
        match &mut self.link {
            Some(link) => Ok(link),
            none => Ok(none.insert(Link::connect(address, PATIENCE)?)),
        }
    }
}

impl Store for PostgresStore {
    fn snapshot(&self) -> Result<Box<dyn Snapshot>, Error> {
        Ok(Box::new(View {
            reading: Arc::clone(&self.reading),
            pin: self.reading.versions.pin()?,
        }))
    }

    fn commit(&self, commit: Commit) -> Result<(), Error> {
        limits::validate_writes(&commit.writes)?;
        let mut writer = self.lock();
        let (at, before) = self.reading.versions.newest()?;
        if commit.writes.is_empty() {
            return Ok(());
        }
        let mut days = Days::clone(&before);
        let mut statement = Statement::default();
        for write in &*commit.writes {
            let table = match write.partition {
                Partition::Base => TableNo::BASE,
                Partition::Day(day) => match (days.get(&day), &write.value) {
                    (Some(table), _) => *table,
                    (None, None) => continue,
                    (None, Some(_)) => {
                        let table = schema::make(writer.link(&self.address)?)?;
                        Arc::make_mut(&mut days).insert(day, table);
                        statement.begins.insert(day, table);
                        table
                    }
                },
            };
            let changes = statement.tables.entry(table).or_default();
            changes.set(&write.key, write.value.as_deref());
        }
        let fence = Fence {
            epoch: self.reading.epoch,
            at,
        };
        let replaced = self.write(&mut writer, fence, &mut |link| statement.run(link, fence))?;
        self.reading.versions.record(days, replaced);
        self.tidy(&mut writer);
        Ok(())
    }

    fn days(&self) -> Result<Vec<Day>, Error> {
        let (_, days) = self.reading.versions.newest()?;
        Ok(days.keys().copied().collect())
    }

    fn forget(&self, day: Day) -> Result<(), Error> {
        let mut writer = self.lock();
        let (at, mut days) = self.reading.versions.newest()?;
        if let Some(table) = Arc::make_mut(&mut days).remove(&day) {
            let fence = Fence {
                epoch: self.reading.epoch,
                at,
            };
            let sql = "WITH f AS (UPDATE tidings_part SET at = at + 1 \
                       WHERE no = 0 AND epoch = $1 AND at = $2 RETURNING 1), \
                       d AS (DELETE FROM tidings_day USING f WHERE day = $3) SELECT 1 FROM f";
            self.write(&mut writer, fence, &mut |link| {
                let rows = link.query(sql, &[&fence.epoch, &fence.at, &day.0])?;
                Ok(rows.first().map(|_| Before::new()))
            })?;
            self.reading.versions.forget(days, table);
        }
        self.tidy(&mut writer);
        Ok(())
    }
}

/// The epoch and the number of the newest commit.
fn newest(link: &mut Link) -> Result<(i64, i64), Fault> {
    let rows = link.query("SELECT epoch, at FROM tidings_part WHERE no = 0", &[])?;
    let row = rows.first();
    let row = row.ok_or_else(|| Fault::Broken("it has no part 0".to_owned()))?;
    Ok((row.get(0), row.get(1)))
}

/// The end of a holder.
fn fenced(versions: &Versions) -> Error {
    versions.end(Error::Fenced);
    Error::Fenced
}

/// The waits after each attempt of a call that takes so long; none after the last.
fn pauses(patience: Duration) -> impl Iterator<Item = Option<Duration>> {
    let count = usize::try_from(patience.as_millis() / PAUSE.as_millis()).unwrap_or(1);
    let pauses = std::iter::repeat_n(Some(PAUSE), count);
    pauses.chain([None])
}
