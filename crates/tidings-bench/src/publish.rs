//! `publish`: events to one recipient each over HTTP, durable before they are answered.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::runtime::Builder;
use tokio_postgres::{Client, Statement};

use super::rival::Rival;
use super::rival::postgres::{self, ARRAY, Postgres, SINGLE};
use super::server::{BenchServer, Connection, broken, post};
use super::stopwatch::{Stopwatch, ms};
use super::world::{self, StoreLocation};
use super::{BenchFault, Host, Measurement, number};

/// Arguments of `publish`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct PublishParams {
    /// Number of recipients
    #[arg(long, default_value_t = 100_000)]
    pub(crate) recipients: u32,
    /// Number of clients that send at once, each on a connection of its own
    #[arg(long, default_value_t = 64)]
    pub(crate) clients: u32,
    /// Number of requests of one event each that a client sends in a run
    #[arg(long, default_value_t = 500)]
    pub(crate) singles: u32,
    /// Number of requests with an array each that a client sends in a run
    #[arg(long, default_value_t = 50)]
    pub(crate) arrays: u32,
    /// Number of events in an array
    #[arg(long, default_value_t = 100)]
    pub(crate) together: u32,
    /// Number of runs; one more before them is not counted
    #[arg(long, default_value_t = 5)]
    pub(crate) runs: u32,
    /// Number of shards of the store's buckets, each with a thread
    #[arg(long, default_value_t = 1)]
    pub(crate) shards: u16,
    /// Do the same work with this too, in turns with tidings: `postgres`
    #[arg(long, value_enum, value_delimiter = ',', hide_possible_values = true)]
    pub(crate) vs: Vec<Rival>,
    /// Directory of the store, which is deleted when the benchmark ends
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) dir: PathBuf,
    /// Measure a store in this PostgreSQL database instead, which has to be without one and keeps what was written
    #[arg(long, value_name = "URL")]
    pub(crate) store: Option<String>,
}

/// The shape of requests: one event, or an array of them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RequestShape {
    Single,
    Array,
}

/// Samples of one shape.
#[derive(Default)]
struct PublishSamples {
    rate: Vec<f64>,
    latency: Vec<f64>,
    postgres_rate: Vec<f64>,
    postgres_latency: Vec<f64>,
}

/// Requests of all clients: each a list of (number of the event, recipient).
type Requests = Vec<Vec<Vec<(u64, u32)>>>;

/// The times of a run, and of each of its requests in milliseconds.
type Took = (Duration, Vec<f64>);

/// Runs it.
pub(crate) fn run(params: &PublishParams, host: Host<'_>) -> Result<Vec<Measurement>, BenchFault> {
    let least = [
        params.recipients,
        params.clients,
        params.singles,
        params.arrays,
        params.together,
        params.runs,
    ];
    if least.contains(&0) {
        return Err(BenchFault::Wrong("nothing of it may be 0".to_owned()));
    }
    if params.vs.contains(&Rival::Redis) {
        return Err(BenchFault::Wrong(
            "only `--vs postgres`: Redis has no durable answer to compare with".to_owned(),
        ));
    }
    let directory = world::directory(&params.dir)?;
    let mut postgres =
        if params.vs.is_empty() { None } else { Some(Inserting::start(params, directory.path())?) };
    let at = StoreLocation { directory: directory.path(), database: params.store.as_deref() };
    let server = BenchServer::start(params.recipients, params.shards, host, at.ensure_new()?)?;
    let load = Builder::new_current_thread().enable_all().build().map_err(broken)?;
    let mut events = Events::default();
    let mut samples = [PublishSamples::default(), PublishSamples::default()];
    for run in 0..=params.runs {
        for (shape, samples) in
            [RequestShape::Single, RequestShape::Array].into_iter().zip(&mut samples)
        {
            let requests = events.requests(params, shape);
            let count: usize = requests.iter().flatten().map(Vec::len).sum();
            let encoded = requests.iter().map(|of_client| {
                let encode = |request: &Vec<(u64, u32)>| encode(shape, request);
                of_client.iter().map(encode).collect()
            });
            let encoded = encoded.collect();
            let (took, latency) = load.block_on(send_all(server.address, encoded))?;
            let rate = |took: Duration| number(count as u64) / took.as_secs_f64();
            if run > 0 {
                samples.rate.push(rate(took));
                samples.latency.extend(latency);
            }
            let Some(postgres) = &mut postgres else {
                continue;
            };
            let (took, latency) = postgres.turn(shape, &requests)?;
            if run > 0 {
                samples.postgres_rate.push(rate(took));
                samples.postgres_latency.extend(latency);
            }
        }
    }
    server.stop()?;
    if let Some(postgres) = &postgres {
        postgres.check()?;
    }
    Ok(measurements(params, &samples))
}

fn measurements(params: &PublishParams, samples: &[PublishSamples; 2]) -> Vec<Measurement> {
    let mut measurements = Vec::new();
    let names =
        [("single_rate", "single_latency", 1), ("array_rate", "array_latency", params.together)];
    for ((rate, latency, together), samples) in names.into_iter().zip(samples) {
        let params = BTreeMap::from([
            ("recipients", u64::from(params.recipients)),
            ("parts", u64::from(params.shards)),
            ("clients", u64::from(params.clients)),
            ("together", u64::from(together)),
        ]);
        let of = |metric, ours: &[f64], theirs: &[f64]| {
            let ours = Measurement::of("publish", &params, metric, ours);
            match theirs {
                [] => ours,
                theirs => ours.against(Rival::Postgres.name(), theirs),
            }
        };
        measurements.extend([
            of((rate, "events/s"), &samples.rate, &samples.postgres_rate),
            of((latency, "ms"), &samples.latency, &samples.postgres_latency),
        ]);
    }
    measurements
}

/// Numbers events, and spreads them over the recipients.
#[derive(Default)]
struct Events(u64);

impl Events {
    fn requests(&mut self, params: &PublishParams, shape: RequestShape) -> Requests {
        let (requests, together) = match shape {
            RequestShape::Single => (params.singles, 1),
            RequestShape::Array => (params.arrays, params.together),
        };
        let mut event = || {
            self.0 += 1;
            // A prime step: neighbours in time are none among the recipients.
            let recipient = self.0.wrapping_mul(7919) % u64::from(params.recipients);
            (self.0, u32::try_from(recipient).unwrap_or_default())
        };
        let mut of = |_| (0..together).map(|_| event()).collect();
        (0..params.clients).map(|_| (0..requests).map(&mut of).collect()).collect()
    }
}

/// The bytes of a request.
fn encode(shape: RequestShape, events: &[(u64, u32)]) -> Vec<u8> {
    let bodies = events.iter().map(|(event, recipient)| world::body(*event, *recipient));
    let body = match shape {
        RequestShape::Single => bodies.collect(),
        RequestShape::Array => format!("[{}]", bodies.collect::<Vec<_>>().join(",")),
    };
    post(&body)
}

/// Sends all requests of all clients, each client one after the other; from the first byte to the
/// last answer.
async fn send_all(address: SocketAddr, requests: Vec<Vec<Vec<u8>>>) -> Result<Took, BenchFault> {
    let mut connections = Vec::with_capacity(requests.len());
    for _ in &requests {
        connections.push(Connection::open(address).await?);
    }
    let watch = Stopwatch::start();
    let clients: Vec<_> = connections
        .into_iter()
        .zip(requests)
        .map(|(connection, requests)| tokio::spawn(send(connection, requests)))
        .collect();
    let mut latency = Vec::new();
    for client in clients {
        latency.extend(client.await.map_err(broken)??);
    }
    Ok((watch.elapsed(), latency))
}

async fn send(mut connection: Connection, requests: Vec<Vec<u8>>) -> Result<Vec<f64>, BenchFault> {
    let mut latency = Vec::with_capacity(requests.len());
    for request in requests {
        let watch = Stopwatch::start();
        connection.publish(&request).await?;
        latency.push(ms(watch.elapsed()));
    }
    Ok(latency)
}

/// PostgreSQL, and as many connections as there are clients.
struct Inserting {
    singles: Vec<(Client, Statement)>,
    arrays: Vec<(Client, Statement)>,
    /// Events that it was given.
    given: u64,
    server: Postgres,
}

impl Inserting {
    fn start(params: &PublishParams, directory: &Path) -> Result<Self, BenchFault> {
        let server = Postgres::start(directory, 2 * params.clients)?;
        let clients = params.clients as usize;
        Ok(Self {
            singles: server.clients(clients, SINGLE)?,
            arrays: server.clients(clients, ARRAY)?,
            given: 0,
            server,
        })
    }

    /// Refuses a comparison with a server that did not keep a notification of each event.
    fn check(&self) -> Result<(), BenchFault> {
        match self.singles.first() {
            Some((client, _)) => Rival::Postgres.expect(self.server.held(client)?, self.given),
            None => Ok(()),
        }
    }

    fn turn(&mut self, shape: RequestShape, requests: &Requests) -> Result<Took, BenchFault> {
        let events: usize = requests.iter().flatten().map(Vec::len).sum();
        self.given += events as u64;
        let clients = match shape {
            RequestShape::Single => &self.singles,
            RequestShape::Array => &self.arrays,
        };
        // Bodies are made before the time begins, as those of HTTP are.
        let with_bodies: Vec<_> = requests
            .iter()
            .map(|of_client| {
                of_client.iter().map(|events| RequestRows::of(events)).collect::<Vec<_>>()
            })
            .collect();
        self.server.tokio.block_on(async {
            let watch = Stopwatch::start();
            let work = clients
                .iter()
                .zip(&with_bodies)
                .map(|(client, requests)| insert(shape, client, requests));
            let latency =
                futures_util::future::try_join_all(work).await.map_err(postgres::fault)?;
            Ok((watch.elapsed(), latency.concat()))
        })
    }
}

/// The rows of a request.
struct RequestRows {
    ids: Vec<String>,
    bodies: Vec<String>,
    recipients: Vec<i32>,
}

impl RequestRows {
    fn of(events: &[(u64, u32)]) -> Self {
        let body = |(event, recipient): &(u64, u32)| world::body(*event, *recipient);
        Self {
            ids: events.iter().map(|(event, _)| format!("event-{event:06}")).collect(),
            bodies: events.iter().map(body).collect(),
            recipients: events.iter().map(|(_, to)| to.cast_signed()).collect(),
        }
    }
}

async fn insert(
    shape: RequestShape,
    (client, statement): &(Client, Statement),
    requests: &[RequestRows],
) -> Result<Vec<f64>, tokio_postgres::Error> {
    let mut latency = Vec::with_capacity(requests.len());
    for rows in requests {
        let watch = Stopwatch::start();
        match shape {
            RequestShape::Single => {
                let (id, body, to) = (&rows.ids[0], &rows.bodies[0], &rows.recipients[0]);
                client.execute(statement, &[id, body, to]).await?;
            }
            RequestShape::Array => {
                let given = (&rows.ids, &rows.bodies, &rows.recipients);
                client.execute(statement, &[given.0, given.1, given.2]).await?;
            }
        }
        latency.push(ms(watch.elapsed()));
    }
    Ok(latency)
}
