//! The engine of several machines: tables in a PostgreSQL database that they share.
//!
//! One holder writes at a time, and the database decides who: each commit is one statement that is done only if
//! the *epoch* is still the holder's, and if it follows the holder's last commit. Who takes the store over raises
//! the epoch; from then on the holder before writes nothing and reads nothing. Reads are single statements, too,
//! which say the version that they saw; snapshots put back what was replaced since (`versions`). So no
//! transaction stays open, and connections may come and go.
//!
//! The node of a share writes beside the holder, fenced in the same way by a row of its own (`fence`). Each writer
//! puts back what it has replaced itself; rows of others are read as they are at that moment. They share the days:
//! whoever does not know a day asks the database once in each snapshot, and a commit that finds that another has
//! begun or forgotten a day meanwhile reads the list again, and is sent again. A day that another forgets is
//! gone for good once its table is dropped: until then it may still be read, and what is written into it goes with it.

mod address;
mod attempts;
mod fence;
mod identity;
mod leases;
mod link;
mod readers;
mod reading;
mod row_cache;
mod schema;
mod statement;
mod versions;
mod view;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use self::leases::PostgresLeases;

use self::address::DatabaseAddress;
use self::attempts::{PATIENCE, pauses};
use self::link::{Link, LinkFault, rest};
use self::readers::Readers;
use self::reading::Reading;
use self::row_cache::RowCache;
use self::schema::PreparedStore;
use self::statement::CommitStatement;
use self::versions::{Days, EarlierValues, TableNo, Versions};
use self::view::PostgresView;
use crate::lease::{Epoch, Fence};
use crate::{Commit, Error, Expected, Partition, Snapshot, Store, StoreId, Write, limits};
use tidings_core::Day;

/// Maximum number of times that a commit is repeated because others begin or delete its days at the same time.
const ANEW_MAX: u32 = 8;

/// A store in a PostgreSQL database.
pub struct PostgresStore {
    address: DatabaseAddress,
    reading: Arc<Reading>,
    writer: Mutex<WriterConnection>,
    is_new: bool,
}

struct WriterConnection {
    /// `None` after it broke.
    link: Option<Link>,
}

impl PostgresStore {
    /// Returns true if a database contains a store, of any format.
    ///
    /// # Errors
    /// [`Error::Unusable`] or [`Error::Unavailable`].
    pub fn is_in(url: &str) -> Result<bool, Error> {
        let mut link = Link::connect(&DatabaseAddress::of(url)?, PATIENCE)?;
        Ok(schema::is_there(&mut link)?)
    }

    /// Opens the expected store of a database, `postgres://USER@HOST/DB`, and takes it over from whoever holds it, and
    /// from the nodes of shares. Only with [`Expected::OrNew`], a database without one gets its tables.
    ///
    /// # Errors
    /// [`Error::Unusable`] for an address or a database that can't be used, [`Error::Missing`],
    /// [`Error::Format`], [`Error::Unavailable`].
    pub fn open(url: &str, expected: Expected) -> Result<Self, Error> {
        let address = DatabaseAddress::of(url)?;
        let mut link = Link::connect(&address, PATIENCE)?;
        let PreparedStore { id, is_new } = schema::prepare(&mut link, expected)?;
        let address = address.of_store(id);
        let take = "UPDATE tidings_lease SET epoch = epoch + 1, holder = NULL WHERE no = 0 \
                    RETURNING epoch";
        let taken = link.query(take, &[])?;
        let epoch = taken
            .first()
            .map(|row| Epoch(row.get(0)))
            .ok_or_else(|| Error::Corrupt("it has no part 0".to_owned()))?;
        // A statement that begins now sees all that holders before have granted.
        let end = "WITH f AS (SELECT 1 FROM tidings_lease WHERE no = 0 AND epoch = $1 FOR SHARE) \
                   DELETE FROM tidings_share USING f";
        link.query(end, &[&epoch.0])?;
        let opened = Self::over(link, address, Fence::Lease(epoch), Arc::default())?;
        Ok(Self { is_new, ..opened })
    }

    /// The identity of the store; `None` while a restore fills it.
    #[must_use]
    pub fn id(&self) -> Option<StoreId> {
        self.address.store
    }

    /// Returns true if the store was created when it was opened.
    #[must_use]
    pub fn is_new(&self) -> bool {
        self.is_new
    }

    /// Creates a store of this identity from the writes of `fill`, in a database without one. Until all of it is there the database
    /// is not a store and can't be opened; the next attempt removes what an interrupted one left.
    ///
    /// # Errors
    /// Those of `fill`; [`Error::Unusable`] if the database has a store, or as [`PostgresStore::open`].
    pub fn restore<E: From<Error>>(
        url: &str,
        id: StoreId,
        fill: impl FnOnce(&dyn Store) -> Result<(), E>,
    ) -> Result<(), E> {
        let address = DatabaseAddress::of(url)?;
        let connect = || Link::connect(&address, PATIENCE).map_err(Error::from);
        schema::begin_restored(&mut connect()?, id)?;
        let fence = Fence::Lease(Epoch::default());
        let filled = Self::over(connect()?, address.clone(), fence, Arc::default())
            .map_err(E::from)
            .and_then(|store| fill(&store));
        match filled {
            Ok(()) => Ok(schema::finish_restored(&mut connect()?).map_err(Error::from)?),
            Err(fault) => {
                // The first fault is the one to report; the next attempt removes what is left.
                let _ = connect().and_then(|mut link| Ok(schema::clear(&mut link)?));
                Err(fault)
            }
        }
    }

    /// Opens the store as a writer, who hears of others by `shared`.
    ///
    /// # Errors
    /// [`Error::Fenced`] if the writer's time is over; as [`PostgresStore::open`].
    fn of(address: DatabaseAddress, fence: Fence, shared: Arc<AtomicBool>) -> Result<Self, Error> {
        let link = Link::connect(&address, PATIENCE)?;
        Self::over(link, address, fence, shared)
    }

    fn over(
        mut link: Link,
        address: DatabaseAddress,
        fence: Fence,
        shared: Arc<AtomicBool>,
    ) -> Result<Self, Error> {
        let at = fence::begin(&mut link, fence)?.ok_or(Error::Fenced)?;
        // Asked before the list of days: without a share nobody else changes that.
        let others = link.query("SELECT EXISTS (SELECT FROM tidings_share)", &[])?;
        if others.first().is_some_and(|row| row.get(0)) {
            shared.store(true, Ordering::Release);
        }
        let days = fence::days(&mut link, fence)?.ok_or(Error::Fenced)?;
        if matches!(fence, Fence::Lease(_)) {
            // Left by commits that were cut short. One that another writer is about to list stays
            // (`discard`), or is made anew.
            for table in schema::unlisted(&mut link)? {
                schema::discard(&mut link, table);
            }
        }
        Ok(Self {
            reading: Arc::new(Reading {
                fence,
                place: fence.place(),
                readers: Readers::new(address.clone(), PATIENCE),
                versions: Arc::new(Versions::new(at, days)),
                cache: RowCache::new(at, Arc::clone(&shared)),
                shared,
            }),
            address,
            writer: Mutex::new(WriterConnection { link: Some(link) }),
            is_new: false,
        })
    }

    fn lock(&self) -> MutexGuard<'_, WriterConnection> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes something after the commit `at`, exactly once, even if connections fail. `None` if the replaced rows were
    /// lost.
    fn write(
        &self,
        writer: &mut WriterConnection,
        at: i64,
        write: &mut dyn FnMut(&mut Link) -> Result<Option<EarlierValues>, LinkFault>,
    ) -> Result<Option<EarlierValues>, Error> {
        let mut unknown = false;
        for pause in pauses(PATIENCE) {
            let wrote = writer.link(&self.address).and_then(&mut *write);
            let fault = match wrote {
                Ok(Some(before)) => return Ok(Some(before)),
                Ok(None) if unknown => {
                    let fence = self.reading.fence;
                    let link = writer.link(&self.address);
                    match link.and_then(|link| fence::newest(link, fence)) {
                        // The newest commit is this writer's own, as it has one under way at most: it was done.
                        Ok(Some(newest)) if newest == at + 1 => return Ok(None),
                        Ok(_) => return Err(self.reading.fenced()),
                        Err(fault) => fault,
                    }
                }
                Ok(None) => return Err(self.reading.fenced()),
                Err(fault) => fault,
            };
            if !fault.passes() && !unknown {
                return Err(fault.into());
            }
            // From here on "not the next commit" may mean that an attempt whose answer was lost has been
            // done.
            unknown |= fault.leaves_doubt();
            writer.link = None;
            match pause {
                Some(pause) => rest(pause)?,
                None => {
                    let fault = Error::Unavailable(Error::from(fault).to_string());
                    // It may have been done: nothing may be read or written on either assumption, so the
                    // store has to be opened again.
                    self.reading.versions.end(fault.clone());
                    return Err(fault);
                }
            }
        }
        Err(Error::Unavailable("no attempt was made".to_owned()))
    }

    /// Runs a commit after the commit `at`; returns the days after it, the tables that it has begun, and the rows that
    /// it replaced.
    fn write_commit(
        &self,
        writer: &mut WriterConnection,
        commit: &Commit,
        at: i64,
        mut days: Days,
    ) -> Result<(Days, Vec<TableNo>, Option<EarlierValues>), Error> {
        let fence = self.reading.fence;
        let is_unknown = |write: &Write| match write.partition {
            Partition::Base => false,
            Partition::Day(day) => !days.contains_key(&day),
        };
        // Another writer may have begun it.
        let mut asks = self.reading.is_shared() && commit.writes.iter().any(is_unknown);
        let mut statement = None;
        let mut anew = 0;
        let before = self.write(writer, at, &mut |link| {
            loop {
                if asks {
                    match fence::days(link, fence)? {
                        Some(listed) => days = listed,
                        None => return Ok(None),
                    }
                    asks = false;
                }
                let ready = match statement.take() {
                    Some(ready) => ready,
                    None => prepared(link, commit, &mut days)?,
                };
                let ready: &CommitStatement<'_> = statement.insert(ready);
                self.reading.cache.begin(ready.keys());
                match ready.run(link, fence, at) {
                    // Another writer has begun or forgotten a day meanwhile: the statement is made anew by
                    // the new list.
                    Err(fault) if fault.is_of_days() && anew < ANEW_MAX => {
                        anew += 1;
                        asks = true;
                        for table in ready.begins.values() {
                            schema::discard(link, *table);
                        }
                        statement = None;
                    }
                    other => return other,
                }
            }
        })?;
        if before.is_none() && self.reading.is_shared() {
            // Another may have changed the list since it was done. It is not recorded yet, so nobody waits for that.
            let listed = self.reading.list_at_once();
            // What it has done is never recorded then.
            let listed = listed.inspect_err(|fault| self.reading.versions.end(fault.clone()));
            (_, days) = listed?;
        }
        let begun = statement.map(|statement| statement.begins.into_values().collect());
        Ok((days, begun.unwrap_or_default(), before))
    }

    /// Drops the tables of deleted days that no snapshot sees any more.
    fn tidy(&self, writer: &mut WriterConnection) {
        for table in self.reading.versions.take_forgotten() {
            self.reading.readers.forget(&schema::name(table));
            // Where there is no connection, the next opening does it.
            if let Ok(link) = writer.link(&self.address) {
                schema::discard(link, table);
            }
        }
    }
}

impl WriterConnection {
    fn link(&mut self, address: &DatabaseAddress) -> Result<&mut Link, LinkFault> {
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
        let pin = self.reading.versions.pin()?;
        Ok(Box::new(PostgresView::new(Arc::clone(&self.reading), pin)))
    }

    fn commit(&self, commit: Commit) -> Result<(), Error> {
        limits::validate_writes(&commit.writes)?;
        let mut writer = self.lock();
        let (at, days) = self.reading.versions.newest()?;
        if commit.writes.is_empty() {
            return Ok(());
        }
        let (days, begun, before) = self.write_commit(&mut writer, &commit, at, days)?;
        self.reading.versions.record(days, begun, before);
        self.reading.cache.end(at + 1);
        // Comes last: tables of forgotten days go once no snapshot reads them, and a fault here fails no
        // commit.
        self.tidy(&mut writer);
        Ok(())
    }

    fn days(&self) -> Result<Vec<Day>, Error> {
        let days = if self.reading.is_shared() {
            self.reading.list()?
        } else {
            self.reading.versions.newest()?.1
        };
        Ok(days.keys().copied().collect())
    }

    fn forget(&self, day: Day) -> Result<(), Error> {
        let mut writer = self.lock();
        let (at, mut days) = self.reading.versions.newest()?;
        if self.reading.is_shared() {
            days = self.reading.list()?;
        }
        if let Some(table) = Arc::make_mut(&mut days).remove(&day) {
            let fence = self.reading.fence;
            let number = fence.number();
            let sql = format!(
                "WITH f AS ({}), d AS (DELETE FROM tidings_day USING f WHERE day = $3) SELECT 1 FROM f",
                fence.raise()
            );
            self.write(&mut writer, at, &mut |link| {
                let rows = link.query(&sql, &[&number, &at, &day.0])?;
                Ok(rows.first().map(|_| EarlierValues::new()))
            })?;
            self.reading.versions.forget(days, table);
            self.reading.cache.end(at + 1);
        }
        self.tidy(&mut writer);
        Ok(())
    }
}

/// A commit as a statement, with tables for the days that it begins, which are added to `days`.
fn prepared<'w>(
    link: &mut Link,
    commit: &'w Commit,
    days: &mut Days,
) -> Result<CommitStatement<'w>, LinkFault> {
    let mut statement = CommitStatement::default();
    for write in &*commit.writes {
        let table = match write.partition {
            Partition::Base => TableNo::BASE,
            Partition::Day(day) => match (days.get(&day), &write.value) {
                (Some(table), _) => *table,
                (None, None) => continue,
                (None, Some(_)) => {
                    let table = schema::make(link)?;
                    Arc::make_mut(days).insert(day, table);
                    statement.begins.insert(day, table);
                    table
                }
            },
        };
        let changes = statement.tables.entry(table).or_default();
        changes.set(&write.key, write.value.as_deref());
    }
    Ok(statement)
}
