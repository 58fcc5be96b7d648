//! Settings of a feed.

use std::fmt;
use std::time::Duration;

use tidings_tls::postgres::PostgresAddress;

/// The name of the table where none is configured.
pub const TABLE: &str = "tidings_outbox";

/// Settings of a feed.
#[derive(Clone, PartialEq, Eq)]
pub struct FeedSettings {
    /// Its name, which begins the ids of events that have none.
    pub name: String,
    /// The host's database.
    pub database: PostgresAddress,
    /// The outbox: a table, or `schema.table`.
    pub table: String,
    /// The longest time between two looks at the table.
    pub every: Duration,
    /// The effect of a refused row on the rows after it.
    pub refused: OnRefusal,
    /// Time for which rows stay that were taken.
    pub keep: Duration,
}

impl fmt::Debug for FeedSettings {
    /// Leaves the address out, which may have a password.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, table, .. } = self;
        write!(out, "feed {name} of {table}")
    }
}

/// The effect of a refused row on the rows after it. It is parked with its problem in either case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnRefusal {
    /// They go on.
    Park,
    /// They wait until it is no longer refused, or is gone.
    Stop,
}
