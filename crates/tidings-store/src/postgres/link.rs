//! A connection to the database, used from one thread at a time, as calls that block.
//!
//! Each has an executor of its own, which runs in the caller's thread: an answer wakes no other thread. Every call has
//! a bound in time, since a stopped server, or a cut network, is silent.

use std::collections::HashMap;
use std::io;
use std::time::Duration;

use tidings_tls::postgres::untrusted;
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Row, SimpleQueryMessage, Statement};

use super::address::DatabaseAddress;
use super::identity::{IDENTITY, other};
use crate::Error;

/// The parameters of a statement.
pub(super) type SqlParameters<'p> = [&'p (dyn ToSql + Sync)];

/// Settings of a session. All rows are found by their primary key, so a table that was small when a statement
/// was planned must not be read from end to end later. A commit that is answered must be durable whatever is
/// set for others.
const SESSION: &str = "
SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off;
SET jit = off; SET plan_cache_mode = force_generic_plan; SET client_min_messages = warning;
SELECT set_config('synchronous_commit', 'on', false)
WHERE current_setting('synchronous_commit') = 'off';
";

/// The reason why a call failed.
#[derive(Debug)]
pub(super) enum LinkFault {
    /// There was no answer: a write may or may not have happened, and may still. Another connection is needed.
    Broken(String),
    /// The database refused.
    Refused(SqlState, String),
    /// No connection can come about with this address.
    Unusable(String),
}

impl LinkFault {
    /// Returns true if a write may have happened, also after a message of a server that shuts down.
    pub(super) fn leaves_doubt(&self) -> bool {
        match self {
            Self::Broken(_) => true,
            Self::Refused(state, _) => {
                [SqlState::ADMIN_SHUTDOWN, SqlState::CRASH_SHUTDOWN].contains(state)
            }
            Self::Unusable(_) => false,
        }
    }

    /// Returns true if the same may succeed on another connection, or in a moment.
    pub(super) fn passes(&self) -> bool {
        match self {
            Self::Broken(_) => true,
            Self::Refused(state, _) => [
                SqlState::ADMIN_SHUTDOWN,
                SqlState::CRASH_SHUTDOWN,
                SqlState::CANNOT_CONNECT_NOW,
                SqlState::QUERY_CANCELED,
                SqlState::TOO_MANY_CONNECTIONS,
                SqlState::T_R_DEADLOCK_DETECTED,
                SqlState::T_R_SERIALIZATION_FAILURE,
                SqlState::READ_ONLY_SQL_TRANSACTION,
            ]
            .contains(state),
            Self::Unusable(_) => false,
        }
    }

    /// Returns true if a table was not there.
    pub(super) fn is_of_missing_table(&self) -> bool {
        matches!(self, Self::Refused(state, _) if *state == SqlState::UNDEFINED_TABLE)
    }

    /// Returns true if a commit was refused because another writer has begun or forgotten one of its days.
    pub(super) fn is_of_days(&self) -> bool {
        let is_double =
            matches!(self, Self::Refused(state, _) if *state == SqlState::UNIQUE_VIOLATION);
        is_double || self.is_of_missing_table()
    }

    /// The fault of an attempt to connect: a network mends itself, an address does not.
    fn of_connecting(fault: tokio_postgres::Error) -> Self {
        let source = std::error::Error::source(&fault);
        let of_network = source.and_then(|source| source.downcast_ref::<io::Error>());
        let untrusted = untrusted(&fault);
        let is_of_address = source.is_some() && of_network.is_none();
        match (Self::from(fault), untrusted) {
            (_, Some(why)) => Self::Unusable(why),
            (Self::Broken(why), None) if is_of_address => Self::Unusable(why),
            (fault, None) => fault,
        }
    }
}

impl From<tokio_postgres::Error> for LinkFault {
    fn from(fault: tokio_postgres::Error) -> Self {
        match fault.as_db_error() {
            Some(said) => Self::Refused(said.code().clone(), said.message().to_owned()),
            None => Self::Broken(match std::error::Error::source(&fault) {
                Some(source) => format!("{fault}: {source}"),
                None => fault.to_string(),
            }),
        }
    }
}

impl From<LinkFault> for Error {
    fn from(fault: LinkFault) -> Self {
        match fault {
            LinkFault::Refused(SqlState::DISK_FULL, said) => Self::Full(said),
            LinkFault::Refused(state, said) => {
                let text = format!("PostgreSQL: {said} (SQLSTATE {})", state.code());
                let class = state.code().get(..2).unwrap_or_default();
                match class {
                    // Logins and rights are for the operator to mend, not for another attempt.
                    "28" | "3D" | "42" | "0A" => Self::Unusable(text),
                    _ => Self::Unavailable(text),
                }
            }
            LinkFault::Broken(why) => Self::Unavailable(format!("PostgreSQL: {why}")),
            LinkFault::Unusable(why) => Self::Unusable(format!("PostgreSQL: {why}")),
        }
    }
}

/// A connection.
pub(super) struct Link {
    // `None` only while it is dropped.
    runtime: Option<Runtime>,
    client: Client,
    statements: HashMap<String, Statement>,
    patience: Duration,
}

impl Link {
    /// Connects; no call takes longer than `patience`. A database with another store than that of the address is
    /// refused: it may have been made anew since.
    pub(super) fn connect(
        address: &DatabaseAddress,
        patience: Duration,
    ) -> Result<Self, LinkFault> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|fault| LinkFault::Broken(fault.to_string()))?;
        let connecting = async {
            let connected = address.config.connect(address.tls.clone()).await;
            let (client, connection) = connected.map_err(LinkFault::of_connecting)?;
            // It ends with the client, which gets the reason of a break.
            tokio::spawn(connection);
            match address.store {
                None => client.batch_execute(SESSION).await?,
                Some(id) => {
                    let asking = format!("{SESSION} {IDENTITY}");
                    let answer = client.simple_query(&asking).await?;
                    let rows = answer.iter().filter_map(|message| match message {
                        SimpleQueryMessage::Row(row) => row.get(0),
                        _ => None,
                    });
                    // The session's settings may have answered with a row, too.
                    let found = rows.last().unwrap_or("none");
                    if found != id.to_string() {
                        return Err(LinkFault::Unusable(other(found)));
                    }
                }
            }
            Ok::<_, LinkFault>(client)
        };
        let connected = runtime.block_on(async { timeout(patience, connecting).await });
        let client = connected.map_err(|_| silent(patience))??;
        Ok(Self { runtime: Some(runtime), client, statements: HashMap::new(), patience })
    }

    /// Runs a statement, which is prepared with its first use.
    pub(super) fn query(
        &mut self,
        sql: &str,
        parameters: &SqlParameters<'_>,
    ) -> Result<Vec<Row>, LinkFault> {
        let Self { runtime, client, statements, patience } = self;
        let known = statements.get(sql);
        let asking = async {
            let statement = match known {
                Some(statement) => statement.clone(),
                None => client.prepare(sql).await?,
            };
            let rows = client.query(&statement, parameters).await?;
            Ok::<_, tokio_postgres::Error>((rows, statement))
        };
        let (rows, statement) = wait(runtime.as_ref(), *patience, asking)?;
        if known.is_none() {
            statements.insert(sql.to_owned(), statement);
        }
        Ok(rows)
    }

    /// Runs statements without parameters, all or nothing.
    pub(super) fn run(&mut self, sql: &str) -> Result<(), LinkFault> {
        let running = self.client.batch_execute(sql);
        wait(self.runtime.as_ref(), self.patience, running)
    }

    /// Forgets the statements that name a table.
    pub(super) fn forget(&mut self, table: &str) {
        self.statements.retain(|sql, _| !sql.contains(table));
    }

    /// Returns true if it is known to be of no more use.
    pub(super) fn is_closed(&self) -> bool {
        self.client.is_closed()
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        // The dropping thread may be an executor's, where a runtime must not wait for its threads.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

fn wait<T>(
    runtime: Option<&Runtime>,
    patience: Duration,
    asking: impl Future<Output = Result<T, tokio_postgres::Error>>,
) -> Result<T, LinkFault> {
    let Some(runtime) = runtime else {
        return Err(LinkFault::Broken("the connection is closed".to_owned()));
    };
    match runtime.block_on(async { timeout(patience, asking).await }) {
        Ok(answered) => Ok(answered?),
        Err(_) => Err(silent(patience)),
    }
}

fn silent(patience: Duration) -> LinkFault {
    let seconds = patience.as_secs_f32();
    LinkFault::Broken(format!("no answer within {seconds} s"))
}

/// Waits between two attempts.
pub(super) fn rest(time: Duration) -> Result<(), LinkFault> {
    let runtime = Builder::new_current_thread().enable_time().build();
    let runtime = runtime.map_err(|fault| LinkFault::Broken(fault.to_string()))?;
    runtime.block_on(async { tokio::time::sleep(time).await });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_ends_may_have_written() {
        let refused = |state| LinkFault::Refused(state, String::new());
        for fault in [
            LinkFault::Broken(String::new()),
            refused(SqlState::ADMIN_SHUTDOWN),
            refused(SqlState::CRASH_SHUTDOWN),
        ] {
            assert!(fault.leaves_doubt() && fault.passes(), "{fault:?}");
        }
        assert!(!refused(SqlState::CANNOT_CONNECT_NOW).leaves_doubt());
        assert!(!refused(SqlState::DISK_FULL).passes());
        let unusable = LinkFault::Unusable(String::new());
        assert!(!unusable.leaves_doubt() && !unusable.passes());
    }
}
