//! PostgreSQL: a table of events and a table of notifications, the latter with the two indexes that
//! reading an inbox and finding what waits need.

use std::net::Ipv4Addr;
use std::path::Path;
use std::time::Duration;

use tidings_loopback::Postgres as Server;
use tokio::runtime::Runtime;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Config, NoTls, Statement};

use super::Rival;
use crate::BenchFault;
use crate::stopwatch::Stopwatch;
use crate::world;

/// The settings under which it is run.
pub(crate) const SETTINGS: &str = "postgres: fsync on, synchronous_commit on, wal_level minimal, \
     shared_buffers 1GB, max_wal_size 8GB, \
     connections as needed, the rest as it comes; over loopback, prepared statements; events \
     with their id as the primary key, notifications (recipient, channel, state, event, created_at) with \
     indexes on (recipient, created_at) and (channel, state, created_at)";

const TABLES: &str = "
CREATE TABLE events (id text PRIMARY KEY, body json NOT NULL);
CREATE TABLE followers (topic text, recipient int, PRIMARY KEY (topic, recipient));
CREATE TABLE notifications (
    created_at timestamptz NOT NULL DEFAULT now(),
    recipient int NOT NULL,
    channel smallint NOT NULL,
    state smallint NOT NULL DEFAULT 0,
    event text NOT NULL
);
CREATE INDEX notifications_of ON notifications (recipient, created_at);
CREATE INDEX notifications_waiting ON notifications (channel, state, created_at);
";

/// One event to all who follow a topic: one statement, one transaction.
const FAN_OUT: &str = "
WITH event AS (INSERT INTO events (id, body) VALUES ($1, $2::text::json) RETURNING id)
INSERT INTO notifications (recipient, channel, event)
SELECT recipient, channel, event.id
FROM event, followers, (VALUES (0::smallint), (1::smallint)) AS channels (channel)
WHERE topic = $3";

/// One event to one recipient; one whose id came before does nothing.
pub(crate) const SINGLE: &str = "
WITH event AS (
    INSERT INTO events (id, body) VALUES ($1, $2::text::json) ON CONFLICT DO NOTHING RETURNING id
)
INSERT INTO notifications (recipient, channel, event) SELECT $3, 0, id FROM event";

/// Many of these at once.
pub(crate) const ARRAY: &str = "
WITH given AS (
    SELECT * FROM unnest($1::text[], $2::text[], $3::int[]) AS given (id, body, recipient)
), fresh AS (
    INSERT INTO events (id, body) SELECT id, body::json FROM given ON CONFLICT DO NOTHING RETURNING id
)
INSERT INTO notifications (recipient, channel, event)
SELECT recipient, 0, id FROM fresh JOIN given USING (id)";

/// A server, and connections to it.
pub(crate) struct Postgres {
    pub(crate) tokio: Runtime,
    config: Config,
    _server: Server,
}

impl Postgres {
    /// Makes a cluster below a directory and starts it, with room for so many connections.
    pub(crate) fn start(directory: &Path, connections: u32) -> Result<Self, BenchFault> {
        let room = format!("max_connections={}", connections + 10);
        let settings = [
            room.as_str(),
            "fsync=on",
            "synchronous_commit=on",
            "shared_buffers=1GB",
            "max_wal_size=8GB",
            "wal_level=minimal",
            "max_wal_senders=0",
        ];
        let server =
            Server::start(directory, &settings).map_err(|why| Rival::Postgres.fault(why))?;
        let tokio = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|why| Rival::Postgres.fault(why))?;
        let mut config = Config::new();
        config
            .host(Ipv4Addr::LOCALHOST.to_string())
            .port(server.port())
            .user(server.user())
            .dbname("postgres");
        let made = tokio.block_on(async { connect(&config).await?.batch_execute(TABLES).await });
        made.map_err(fault)?;
        Ok(Self { tokio, config, _server: server })
    }

    /// Clients of one statement, each on its own connection.
    pub(crate) fn clients(
        &self,
        count: usize,
        statement: &str,
    ) -> Result<Vec<(Client, Statement)>, BenchFault> {
        let connected = self.tokio.block_on(async {
            let mut clients = Vec::with_capacity(count);
            for _ in 0..count {
                let client = connect(&self.config).await?;
                let statement = client.prepare(statement).await?;
                clients.push((client, statement));
            }
            Ok(clients)
        });
        connected.map_err(fault)
    }

    /// Counts the notifications that it has.
    pub(crate) fn held(&self, client: &Client) -> Result<u64, BenchFault> {
        let counted = client.query_one("SELECT count(*) FROM notifications", &[]);
        let counted = self.tokio.block_on(counted).map_err(fault)?;
        Ok(counted.get::<_, i64>(0).unsigned_abs())
    }

    /// A client that fans out.
    pub(crate) fn fanning_out(self) -> Result<FanOut, BenchFault> {
        let mut clients = self.clients(1, FAN_OUT)?;
        let (client, statement) =
            clients.pop().ok_or_else(|| Rival::Postgres.fault("no client"))?;
        Ok(FanOut { client, statement, server: self })
    }
}

/// A fault of a statement.
pub(crate) fn fault(why: tokio_postgres::Error) -> BenchFault {
    match why.as_db_error() {
        Some(said) => Rival::Postgres.fault(said),
        None => Rival::Postgres.fault(why),
    }
}

async fn connect(config: &Config) -> Result<Client, tokio_postgres::Error> {
    let (client, connection) = config.connect(NoTls).await?;
    tokio::spawn(connection);
    Ok(client)
}

/// A server, and the connection over which events go to many.
pub(crate) struct FanOut {
    client: Client,
    statement: Statement,
    server: Postgres,
}

impl FanOut {
    /// Lets recipients follow a topic.
    pub(crate) fn follow(&self, topic: &str, recipients: &[u32]) -> Result<(), BenchFault> {
        let numbers: Vec<i32> = recipients.iter().map(|number| number.cast_signed()).collect();
        let insert = "INSERT INTO followers SELECT $1, unnest($2::int[])";
        let followed = self.server.tokio.block_on(async {
            self.client.execute(insert, &[&topic, &numbers]).await?;
            self.client.batch_execute("ANALYZE followers").await
        });
        followed.map_err(fault)
    }

    /// Counts the notifications that it has.
    pub(crate) fn held(&self) -> Result<u64, BenchFault> {
        self.server.held(&self.client)
    }

    /// Tells an event to those who follow a topic; how long that took until it was durable.
    pub(crate) fn fan_out(
        &self,
        event: u64,
        topic: &str,
        followers: u32,
    ) -> Result<Duration, BenchFault> {
        let name = format!("event-{event:06}");
        let body = world::body(event, 0);
        let watch = Stopwatch::start();
        let rows = self.server.tokio.block_on(async {
            let parameters: [&(dyn ToSql + Sync); 3] = [&name, &body, &topic];
            self.client.execute(&self.statement, &parameters).await
        });
        let rows = rows.map_err(fault)?;
        let took = watch.elapsed();
        if rows != 2 * u64::from(followers) {
            let why = format!("it made {rows} notifications for {followers} followers");
            return Err(Rival::Postgres.fault(why));
        }
        Ok(took)
    }
}
