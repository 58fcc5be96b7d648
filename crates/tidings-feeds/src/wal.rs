//! The reader of the log of a database: logical replication.

use std::convert::Infallible;

use crate::{Context, Fault};

/// Reads until something is wrong. Dropped at any wait it loses nothing.
pub(crate) async fn read(_context: &Context) -> Result<Infallible, Fault> {
    std::future::ready(()).await;
    Err(Fault::Lasting("mode = \"wal\" is not there yet; write mode = \"poll\"".to_owned()))
}
