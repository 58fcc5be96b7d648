//! Connections to a host's database.

use std::time::Duration;

use tidings_tls::postgres::{Encrypted, PostgresAddress};
use tokio::time::timeout;
use tokio_postgres::{Client, Connection, Socket};

use crate::FeedFault;

/// Time that a connection may take to come about.
const PATIENCE: Duration = Duration::from_secs(10);

/// Connects. The connection has to be driven by the caller; the client fails once it is dropped.
///
/// # Errors
/// [`FeedFault::Passing`]: a database comes back.
pub async fn connect(
    database: &PostgresAddress,
) -> Result<(Client, Connection<Socket, Encrypted>), FeedFault> {
    let connecting = database.config.connect(database.tls.clone());
    match timeout(PATIENCE, connecting).await {
        Ok(connected) => Ok(connected?),
        Err(_) => {
            let seconds = PATIENCE.as_secs();
            Err(FeedFault::Passing(format!("no connection within {seconds} s")))
        }
    }
}
