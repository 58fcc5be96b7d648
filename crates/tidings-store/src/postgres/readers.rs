//! The connections that readers take in turns.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use tokio_postgres::Row;

use super::address::Address;
use super::attempts::pauses;
use super::link::{Fault, Link, Parameters, rest};

/// The most connections of readers.
pub(super) const READERS_MAX: usize = 8;

/// The connections.
pub(super) struct Readers {
    address: Address,
    patience: Duration,
    state: Mutex<State>,
    returned: Condvar,
}

#[derive(Default)]
struct State {
    idle: Vec<Link>,
    taken: usize,
}

/// Room for a connection, given back when it goes.
struct Room<'r>(&'r Readers);

impl Drop for Room<'_> {
    fn drop(&mut self) {
        self.0.lock().taken -= 1;
        self.0.returned.notify_one();
    }
}

impl Readers {
    pub(super) fn new(address: Address, patience: Duration) -> Self {
        Self { address, patience, state: Mutex::default(), returned: Condvar::new() }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads. What fails because of a connection is tried again on a new one, for as long as a call may take.
    pub(super) fn query(&self, sql: &str, parameters: &Parameters<'_>) -> Result<Vec<Row>, Fault> {
        let mut state = self.lock();
        while state.taken >= READERS_MAX {
            let waited = self.returned.wait(state);
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
        state.taken += 1;
        let mut link = state.idle.pop();
        drop(state);
        let _room = Room(self);
        for pause in pauses(self.patience) {
            let asked = match link.take().filter(|link| !link.is_closed()) {
                Some(link) => Ok(link),
                None => Link::connect(&self.address, self.patience),
            };
            let asked = asked.and_then(|mut link| Ok((link.query(sql, parameters)?, link)));
            match asked {
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
        Err(Fault::Broken("no attempt was made".to_owned()))
    }

    /// Forgets the statements that name a table, and so the last of what the database keeps of it.
    pub(super) fn forget(&self, table: &str) {
        self.lock().idle.iter_mut().for_each(|link| link.forget(table));
    }
}
