//! Points of the log from which a slot may begin again.
//!
//! What a slot retains ends at such a point, however much of the log is confirmed. PostgreSQL writes one each 15 seconds
//! and at checkpoints, and one for each slot that is made: beside writers of 100 MB/s those are 1.5 GB. So where much
//! is retained that is confirmed, a slot is made that lives for a moment.

use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_postgres::types::Type;

use crate::{Fault, Settings, connect, sql};

/// Confirmed bytes of the log that are retained, from which on a point is asked for.
const RETAINED_BYTES: u64 = 16 << 20;

/// The shortest and the longest time between two points. A transaction that stays open makes them useless.
const REST: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(15));

/// The points that a feed asks for. Dropped, it asks for no more.
pub(super) struct Points {
    next: Instant,
    rest: Duration,
    /// The place from which the slot could begin again when a point was last asked for.
    restart: u64,
    asking: Option<JoinHandle<()>>,
}

impl Drop for Points {
    fn drop(&mut self) {
        if let Some(asking) = self.asking.take() {
            asking.abort();
        }
    }
}

impl Points {
    pub(super) fn new() -> Self {
        Self { next: Instant::now(), rest: REST.0, restart: 0, asking: None }
    }

    /// Asks for a point where much is retained that is confirmed, from the place where the slot could begin again to the
    /// one that is confirmed. Returns true if it is so.
    pub(super) fn ask(&mut self, settings: &Settings, restart: u64, confirmed: u64) -> bool {
        if confirmed.saturating_sub(restart) < RETAINED_BYTES {
            self.rest = REST.0;
            return false;
        }
        let is_asking = self.asking.as_ref().is_some_and(|asking| !asking.is_finished());
        if is_asking || Instant::now() < self.next {
            return true;
        }
        let helped = restart > self.restart;
        self.rest = if helped { REST.0 } else { (self.rest * 2).min(REST.1) };
        self.next = Instant::now() + self.rest;
        self.restart = restart;
        let settings = settings.clone();
        self.asking = Some(tokio::spawn(async move {
            if let Err(fault) = point(&settings).await {
                // The server's own come in time.
                tracing::debug!(feed = %settings.name, reason = %fault, "no point of the log");
            }
        }));
        true
    }
}

/// Makes a slot of a session, which writes a point before it waits for anybody. It ends with the session.
async fn point(settings: &Settings) -> Result<(), Fault> {
    let (client, connection) = connect(&settings.database).await?;
    let driving = tokio::spawn(connection);
    client.batch_execute("SET statement_timeout = '1s'").await?;
    let sql = "SELECT pg_create_logical_replication_slot($1, 'pgoutput', true)";
    let name = format!("{}_point", sql::slot(&settings.name));
    let made = client.query_typed_one(sql, &[(&name, Type::TEXT)]).await;
    drop(client);
    // The connection ends with its client.
    let _ = driving.await;
    made?;
    Ok(())
}
