//! `outbox`: rows that are committed to a host's own database, from their commit until they are accepted.
//!
//! The server is a process of its own, and so is PostgreSQL, which this starts. All share the processors. Times are the
//! database's: from the begin of the transaction that commits a row to the mark that it is taken, which follows its sync
//! here.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use tidings_loopback::Postgres;
use tokio::runtime::Builder;
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval_at, sleep};
use tokio_postgres::{Client, NoTls};

use super::server::process::Process;
use super::server::{Connection, broken, unexpected};
use super::{BenchFault, Measurement, number, world};

/// Arguments of `outbox`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct OutboxParams {
    /// Number of rows a second
    #[arg(long, default_value_t = 5_000)]
    pub(crate) rate: u32,
    /// Number of seconds for which they come
    #[arg(long, default_value_t = 20)]
    pub(crate) seconds: u32,
    /// Number of rows that a transaction commits
    #[arg(long, default_value_t = 10)]
    pub(crate) together: u32,
    /// Number of connections that commit
    #[arg(long, default_value_t = 8)]
    pub(crate) clients: u32,
    /// Number of recipients, of whom each event has one
    #[arg(long, default_value_t = 10_000)]
    pub(crate) recipients: u32,
    /// Directory of the store and of PostgreSQL, which is deleted when the benchmark ends
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) dir: PathBuf,
}

/// The longest wait for the last row after it was committed.
const PATIENCE: Duration = Duration::from_secs(120);

/// Runs it.
pub(crate) fn run(params: &OutboxParams) -> Result<Vec<Measurement>, BenchFault> {
    if [params.rate, params.seconds, params.together, params.clients, params.recipients]
        .contains(&0)
    {
        return Err(BenchFault::Wrong("nothing of it may be 0".to_owned()));
    }
    let directory = world::directory(&params.dir)?;
    let postgres = Postgres::start(directory.path(), &["max_connections=50"]).map_err(host)?;
    let config = directory.path().join("tidings.toml");
    let url = postgres.url("postgres");
    let feed = format!("[feeds.app]\nurl = \"{url}\"\n");
    std::fs::write(&config, format!("{}{feed}", super::RULES))
        .map_err(|fault| BenchFault::Directory(config.clone(), fault))?;
    let mut sql = Command::new(std::env::current_exe()?);
    let sql = sql.args(["outbox", "sql", "--feed", "app", "--config"]).arg(&config).output()?;
    postgres.run("postgres", &String::from_utf8_lossy(&sql.stdout)).map_err(host)?;
    let server = Process::serve(&config, &directory.path().join("data"), &[])?;
    let tokio = Builder::new_multi_thread().enable_all().build().map_err(broken)?;
    let measured = tokio.block_on(measure(params, &url, &server));
    tokio.shutdown_background();
    measured
}

fn host(why: impl std::fmt::Display) -> BenchFault {
    BenchFault::Rival("PostgreSQL", why.to_string())
}

async fn measure(
    params: &OutboxParams,
    url: &str,
    server: &Process,
) -> Result<Vec<Measurement>, BenchFault> {
    let mut caller = Connection::open(server.address).await?;
    let people =
        (0..params.recipients).map(|no| format!("{{\"id\":\"{}\"}}", world::recipient(no)));
    for some in people.collect::<Vec<_>>().chunks(1_000) {
        let body = format!("[{}]", some.join(","));
        let request = format!(
            "POST /v1/recipients HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        let answer = caller.ask(request.as_bytes()).await?;
        if !answer.starts_with(b"HTTP/1.1 2") {
            return Err(unexpected(answer));
        }
    }
    let begun = Instant::now() + Duration::from_millis(500);
    let mut writers = JoinSet::new();
    for number in 0..params.clients {
        writers.spawn(write(params.clone(), url.to_owned(), number, begun));
    }
    while let Some(ended) = writers.join_next().await {
        ended.map_err(broken)??;
    }
    let client = connect(url).await?;
    let end = Instant::now() + PATIENCE;
    loop {
        let left = "SELECT count(*) FROM tidings_outbox WHERE taken_at IS NULL";
        let left: i64 = client.query_one(left, &[]).await.map_err(host)?.get(0);
        if left == 0 {
            break;
        }
        if Instant::now() > end {
            return Err(BenchFault::Http(format!("{left} rows were not taken")));
        }
        sleep(Duration::from_millis(200)).await;
    }
    let took =
        "SELECT extract(epoch FROM taken_at - created_at)::float8 * 1000 FROM tidings_outbox";
    let rows = client.query(took, &[]).await.map_err(host)?;
    let took: Vec<f64> = rows.iter().map(|row| row.get(0)).collect();
    let all = "SELECT count(*), extract(epoch FROM max(taken_at) - min(created_at))::float8 FROM tidings_outbox";
    let all = client.query_one(all, &[]).await.map_err(host)?;
    let (count, seconds): (i64, f64) = (all.get(0), all.get(1));
    let shape = BTreeMap::from([
        ("rate", u64::from(params.rate)),
        ("seconds", u64::from(params.seconds)),
        ("together", u64::from(params.together)),
        ("clients", u64::from(params.clients)),
        ("recipients", u64::from(params.recipients)),
    ]);
    let rate = number(count.unsigned_abs()) / seconds;
    Ok(vec![
        Measurement::of("outbox", &shape, ("accepted_rate", "rows/s"), &[rate]),
        Measurement::of("outbox", &shape, ("commit_to_accepted", "ms"), &took),
    ])
}

async fn connect(url: &str) -> Result<Client, BenchFault> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.map_err(host)?;
    tokio::spawn(connection);
    Ok(client)
}

/// Commits rows at a steady rate; what is late is made up for.
async fn write(
    params: OutboxParams,
    url: String,
    client: u32,
    begun: Instant,
) -> Result<(), BenchFault> {
    let connection = connect(&url).await?;
    let insert = connection
        .prepare("INSERT INTO tidings_outbox (payload) SELECT unnest($1::text[])::jsonb")
        .await
        .map_err(host)?;
    let per_second =
        f64::from(params.rate) / f64::from(params.together) / f64::from(params.clients);
    let mut ticks = interval_at(begun, Duration::from_secs_f64(1.0 / per_second));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
    let commits = u64::from(params.rate) * u64::from(params.seconds)
        / u64::from(params.together)
        / u64::from(params.clients);
    for commit in 0..commits {
        ticks.tick().await;
        let payloads: Vec<String> = (0..params.together)
            .map(|row| {
                let event = (u64::from(client) * commits + commit) * u64::from(params.together)
                    + u64::from(row);
                // A prime step: neighbours in time are none among the recipients.
                let to = event.wrapping_mul(7919) % u64::from(params.recipients);
                world::body(event, u32::try_from(to).unwrap_or_default())
            })
            .collect();
        connection.execute(&insert, &[&payloads]).await.map_err(host)?;
    }
    Ok(())
}
