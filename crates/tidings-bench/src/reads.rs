//! `reads`: pages and counts of inboxes over HTTP, alone and while events are published as fast as they come.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tokio::runtime::Builder;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::server::{BenchServer, Connection, broken, post, unexpected};
use super::stopwatch::{Stopwatch, ms};
use super::{BenchFault, Host, Measurement, number, quantile, world};

/// Arguments of `reads`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct ReadsParams {
    /// Number of recipients
    #[arg(long, default_value_t = 1_000_000)]
    pub(crate) recipients: u32,
    /// Number of events in each inbox before
    #[arg(long, default_value_t = 100)]
    pub(crate) entries: u32,
    /// Number of readers at once, each on a connection of its own
    #[arg(long, default_value_t = 2)]
    pub(crate) readers: u32,
    /// Number of pages that a reader reads in each part of a run
    #[arg(long, default_value_t = 1000)]
    pub(crate) pages: u32,
    /// Number of clients that send arrays at once
    #[arg(long, default_value_t = 4)]
    pub(crate) clients: u32,
    /// Number of events in an array
    #[arg(long, default_value_t = 100)]
    pub(crate) together: u32,
    /// Number of runs; one more before them is not counted
    #[arg(long, default_value_t = 3)]
    pub(crate) runs: u32,
    /// Directory of the store, which is deleted when the benchmark ends
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) dir: PathBuf,
}

/// The events that are published while pages are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Load {
    Nothing,
    /// One event after the other, each to everybody.
    Everybody,
    /// Arrays of events to one recipient each, by several clients.
    Arrays,
}

const LOADS: [(Load, &str, &str, &str); 3] = [
    (Load::Nothing, "page_alone", "", ""),
    (Load::Everybody, "page_under_publish", "publish_p99_to_alone", "publish_rate"),
    (Load::Arrays, "page_under_arrays", "arrays_p99_to_alone", "array_rate"),
];

/// A call that is read: metric, path after the recipient's, and metric of its rate.
struct ReadCall {
    metric: &'static str,
    path: &'static str,
    rate: &'static str,
}

/// The path of an inbox without filters.
const PAGE: &str = "/inbox";

/// The calls that are read alone, beside the page without filters.
const CALLS: [ReadCall; 2] = [
    ReadCall {
        metric: "page_filtered",
        path: "/inbox?state=unread&type=shown",
        rate: "page_filtered_rate",
    },
    ReadCall { metric: "counts", path: "/inbox/counts", rate: "counts_rate" },
];

/// Samples under one load.
#[derive(Default)]
struct ReadSamples {
    pages: Vec<f64>,
    /// The 99th percentile of each run, divided by that alone in the same run.
    to_alone: Vec<f64>,
    /// Events a second that were accepted meanwhile.
    rate: Vec<f64>,
}

/// The world that is read, and the events that it has had.
struct ReadWorld<'p> {
    params: &'p ReadsParams,
    address: SocketAddr,
    events: Arc<AtomicU64>,
}

/// Runs it.
pub(crate) fn run(params: &ReadsParams, host: Host<'_>) -> Result<Vec<Measurement>, BenchFault> {
    let least = [
        params.recipients,
        params.readers,
        params.pages,
        params.clients,
        params.together,
        params.runs,
    ];
    if least.contains(&0) {
        return Err(BenchFault::Wrong("nothing of it may be 0".to_owned()));
    }
    let directory = world::directory(&params.dir)?;
    let server = BenchServer::start(params.recipients, 1, host, directory.path().into())?;
    let world = ReadWorld { params, address: server.address, events: Arc::default() };
    let clients = Builder::new_current_thread().enable_all().build();
    let clients = clients.map_err(broken)?;
    clients.block_on(world.fill())?;
    let mut samples = LOADS.map(|_| ReadSamples::default());
    let mut calls = CALLS.map(|_| ReadSamples::default());
    for run in 0..=params.runs {
        let mut alone = 0.0;
        for ((load, ..), samples) in LOADS.iter().zip(&mut samples) {
            let (pages, rate) = clients.block_on(world.read_under(*load))?;
            let p99 = quantile(&pages, 0.99);
            if *load == Load::Nothing {
                alone = p99;
            }
            if run > 0 {
                samples.to_alone.push(p99 / alone);
                samples.rate.push(rate);
                samples.pages.extend(pages);
            }
        }
        for (call, samples) in CALLS.iter().zip(&mut calls) {
            let watch = Stopwatch::start();
            let times = clients.block_on(world.read(call.path))?;
            if run > 0 {
                let count = u64::try_from(times.len()).unwrap_or_default();
                samples.rate.push(number(count) / watch.elapsed().as_secs_f64());
                samples.pages.extend(times);
            }
        }
    }
    server.stop()?;
    Ok(measurements(params, &samples, &calls))
}

fn measurements(
    params: &ReadsParams,
    samples: &[ReadSamples; 3],
    calls: &[ReadSamples; 2],
) -> Vec<Measurement> {
    let named = BTreeMap::from([
        ("recipients", u64::from(params.recipients)),
        ("entries", u64::from(params.entries)),
        ("readers", u64::from(params.readers)),
        ("clients", u64::from(params.clients)),
        ("together", u64::from(params.together)),
    ]);
    let of = |metric, samples: &[f64]| Measurement::of("reads", &named, metric, samples);
    let [alone, ..] = samples;
    let mut measurements = Vec::new();
    for ((load, page, to_alone, rate), samples) in LOADS.into_iter().zip(samples) {
        let page = of((page, "ms"), &samples.pages);
        if load == Load::Nothing {
            measurements.push(page);
            continue;
        }
        measurements.extend([
            page.against("alone", &alone.pages),
            of((to_alone, "x"), &samples.to_alone),
            of((rate, "events/s"), &samples.rate),
        ]);
    }
    for (call, samples) in CALLS.iter().zip(calls) {
        measurements.extend([
            of((call.metric, "ms"), &samples.pages).against("page", &alone.pages),
            of((call.rate, "calls/s"), &samples.rate),
        ]);
    }
    measurements
}

impl ReadWorld<'_> {
    /// Publishes what inboxes have before.
    async fn fill(&self) -> Result<(), BenchFault> {
        let mut connection = Connection::open(self.address).await?;
        for _ in 0..self.params.entries {
            let event = self.events.fetch_add(1, Ordering::Relaxed);
            let body = world::body_to_everybody(event, "shown");
            connection.publish(&post(&body)).await?;
        }
        Ok(())
    }

    /// Reads pages under a load; their times, and the rate of the load.
    async fn read_under(&self, load: Load) -> Result<(Vec<f64>, f64), BenchFault> {
        let ends = Arc::new(AtomicBool::new(false));
        let (begun, mut begins) = mpsc::channel(1);
        let mut publishing = JoinSet::new();
        let publishers = match load {
            Load::Nothing => 0,
            Load::Everybody => 1,
            Load::Arrays => self.params.clients,
        };
        let before = self.events.load(Ordering::Relaxed);
        let watch = Stopwatch::start();
        for _ in 0..publishers {
            let publisher = Publisher {
                connection: Connection::open(self.address).await?,
                load,
                together: self.params.together,
                recipients: self.params.recipients,
                events: Arc::clone(&self.events),
            };
            publishing.spawn(publisher.run(Arc::clone(&ends), begun.clone()));
        }
        drop(begun);
        // From the first answer on the load is there; without a load nobody begins.
        let _begun = begins.recv().await;
        let pages = self.read(PAGE).await?;
        ends.store(true, Ordering::Relaxed);
        while let Some(published) = publishing.join_next().await {
            published.map_err(broken)??;
        }
        let events = self.events.load(Ordering::Relaxed) - before;
        Ok((pages, number(events) / watch.elapsed().as_secs_f64()))
    }

    /// Reads a path of inboxes by all readers at once; the times of the calls.
    async fn read(&self, path: &'static str) -> Result<Vec<f64>, BenchFault> {
        let mut reading = JoinSet::new();
        for reader in 0..self.params.readers {
            let connection = Connection::open(self.address).await?;
            reading.spawn(read(connection, self.params.clone(), reader, path));
        }
        let mut pages = Vec::new();
        while let Some(read) = reading.join_next().await {
            pages.extend(read.map_err(broken)??);
        }
        Ok(pages)
    }
}

/// A client that publishes until it is told to end.
struct Publisher {
    connection: Connection,
    load: Load,
    together: u32,
    recipients: u32,
    events: Arc<AtomicU64>,
}

impl Publisher {
    async fn run(
        mut self,
        ends: Arc<AtomicBool>,
        begun: mpsc::Sender<()>,
    ) -> Result<(), BenchFault> {
        while !ends.load(Ordering::Relaxed) {
            let body = match self.load {
                Load::Arrays => {
                    let bodies = (0..self.together).map(|_| self.single());
                    format!("[{}]", bodies.collect::<Vec<_>>().join(","))
                }
                _ => {
                    let event = self.events.fetch_add(1, Ordering::Relaxed);
                    world::body_to_everybody(event, "told")
                }
            };
            self.connection.publish(&post(&body)).await?;
            // Whoever waits needs to hear it once.
            let _was_sent = begun.try_send(());
        }
        Ok(())
    }

    fn single(&self) -> String {
        let event = self.events.fetch_add(1, Ordering::Relaxed);
        // A prime step: neighbours in time are none among the recipients.
        let recipient = event.wrapping_mul(7919) % u64::from(self.recipients);
        world::body(event, u32::try_from(recipient).unwrap_or_default())
    }
}

/// Reads a path of recipients who are spread over everybody, one after the other; their times.
async fn read(
    mut connection: Connection,
    params: ReadsParams,
    reader: u32,
    path: &str,
) -> Result<Vec<f64>, BenchFault> {
    let mut times = Vec::with_capacity(params.pages as usize);
    for page in 0..params.pages {
        let at = u64::from(reader) * u64::from(params.pages) + u64::from(page);
        let recipient = at.wrapping_mul(104_729) % u64::from(params.recipients);
        let recipient = world::recipient(u32::try_from(recipient).unwrap_or_default());
        let request =
            format!("GET /v1/recipients/{recipient}{path} HTTP/1.1\r\nhost: localhost\r\n\r\n");
        let watch = Stopwatch::start();
        let answer = connection.ask(request.as_bytes()).await?;
        times.push(ms(watch.elapsed()));
        if !answer.starts_with(b"HTTP/1.1 200 ") {
            return Err(unexpected(answer));
        }
    }
    Ok(times)
}
