//! The connections that readers take in turns.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use tokio_postgres::Row;

use super::address::DatabaseAddress;
use super::attempts::pauses;
use super::link::{Link, LinkFault, SqlParameters, rest};

/// The most connections of readers.
pub(super) const READERS_MAX: usize = 8;

/// The connections.
pub(super) struct Readers {
    address: DatabaseAddress,
    patience: Duration,
    state: Mutex<ReadersState>,
    returned: Condvar,
}

#[derive(Default)]
struct ReadersState {
    idle: Vec<Link>,
    taken: usize,
}

/// Room for a connection, given back when it goes.
struct ReaderSlot<'r>(&'r Readers);

impl Drop for ReaderSlot<'_> {
    fn drop(&mut self) {
        self.0.lock().taken -= 1;
        self.0.returned.notify_one();
    }
}

impl Readers {
    pub(super) fn new(address: DatabaseAddress, patience: Duration) -> Self {
        Self { address, patience, state: Mutex::default(), returned: Condvar::new() }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, ReadersState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads. What fails because of a connection is tried again on a new one, for as long as a call may take.
    pub(super) fn query(
        &self,
        sql: &str,
        parameters: &SqlParameters<'_>,
    ) -> Result<Vec<Row>, LinkFault> {
        let mut state = self.lock();
        while state.taken >= READERS_MAX {
            let waited = self.returned.wait(state);
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
        state.taken += 1;
        let mut link = state.idle.pop();
        drop(state);
        let _room = ReaderSlot(self);
        for pause in pauses(self.patience) {
            let result = match link.take().filter(|link| !link.is_closed()) {
                Some(link) => Ok(link),
                None => Link::connect(&self.address, self.patience),
            };
            let result = result.and_then(|mut link| Ok((link.query(sql, parameters)?, link)));
            match result {
                Ok((rows, link)) => {
                    self.lock().idle.push(link);
                    return Ok(rows);
                }
                Err(fault) if fault.passes() => {
                    // The others broke with it, most likely.
                    self.lock().idle.clear();
                    match pause {
                        Some(pause) => rest(pause)?,
                        None => return Err(fault),
                    }
                }
                Err(fault) => return Err(fault),
            }
        }
        Err(LinkFault::Broken("no attempt was made".to_owned()))
    }

    /// Forgets the statements that name a table, and so the last of what the database keeps of it.
    pub(super) fn forget(&self, table: &str) {
        self.lock().idle.iter_mut().for_each(|link| link.forget(table));
    }
}
