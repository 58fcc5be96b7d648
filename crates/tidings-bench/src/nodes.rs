//! `nodes`: the same load through one node and through several over the same PostgreSQL, by the processor time that
//! each node takes.
//!
//! If several processes share the processors of one machine, rates do not predict several machines. So the result
//! is the CPU time of the busiest of several nodes, and of all together, relative to that of one node.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use tidings_core::engine::Options;
use tidings_loopback::Postgres;
use tidings_node::{Clock as _, Node, SystemClock};
use tidings_store::PostgresStore;
use tokio::runtime::{Builder, Runtime};

use super::server::process::Process;
use super::server::{Connection, broken, post};
use super::stopwatch::Stopwatch;
use super::{BenchFault, Host, Measurement, RULES, number, world};

/// Arguments of `nodes`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct NodesParams {
    /// Number of nodes, each a process; one is measured before them
    #[arg(long, default_value_t = 3)]
    pub(crate) nodes: u16,
    /// Number of shards of the store
    #[arg(long, default_value_t = 8)]
    pub(crate) shards: u16,
    /// Number of recipients
    #[arg(long, default_value_t = 100_000)]
    pub(crate) recipients: u32,
    /// Number of followers of a topic
    #[arg(long, default_value_t = 12_000)]
    pub(crate) followers: u32,
    /// Number of clients that send at once
    #[arg(long, default_value_t = 64)]
    pub(crate) clients: u32,
    /// Number of events that are sent alone
    #[arg(long, default_value_t = 20_000)]
    pub(crate) singles: u32,
    /// Number of arrays of 100 events each
    #[arg(long, default_value_t = 1_000)]
    pub(crate) arrays: u32,
    /// Number of events to the followers of a topic
    #[arg(long, default_value_t = 200)]
    pub(crate) wide: u32,
    /// Number of recipients of a weekly digest
    #[arg(long, default_value_t = 10_000)]
    pub(crate) digests: u32,
    /// Directory of the database, which is deleted when the benchmark ends
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) dir: PathBuf,
}

/// Number of events in an array.
const TOGETHER: u32 = 100;

/// The longest time until the shards are spread.
const SPREAD_PATIENCE: Duration = Duration::from_secs(60);

/// The loads, in their order. The last one has nodes of its own, whose clocks are shortly before the hour of the digest.
const LOADS: [&str; 4] = ["singles", "arrays", "wide", "digest"];

/// Number of events in a digest.
const GATHERED: u32 = 10;

/// The time before a digest is due at which nodes start: the shards are spread by then, and its events published.
const BEFORE_DUE_MS: i64 = 40_000;

const HOUR_MS: i64 = 3_600_000;
const DAY_MS: i64 = 24 * HOUR_MS;

/// A load's figures with one number of nodes.
#[derive(Clone, Debug)]
struct Took {
    /// Processor time of each node, in seconds.
    cpu: Vec<f64>,
    wall_s: f64,
    events: u64,
}

impl Took {
    fn busiest(&self) -> f64 {
        self.cpu.iter().copied().fold(0.0, f64::max)
    }

    fn together(&self) -> f64 {
        self.cpu.iter().sum()
    }
}

/// Runs it.
pub(crate) fn run(params: &NodesParams, host: &Host<'_>) -> Result<Vec<Measurement>, BenchFault> {
    let least = [params.recipients, params.clients, params.followers];
    if least.contains(&0) || params.nodes == 0 || params.shards == 0 {
        return Err(BenchFault::Wrong("nothing of it may be 0".to_owned()));
    }
    let directory = world::directory(&params.dir)?;
    let settings = ["shared_buffers=1GB", "max_wal_size=8GB", "max_connections=200"];
    let database = Postgres::start(directory.path(), &settings)
        .map_err(|fault| BenchFault::Rival("postgres", fault))?;
    let tokio =
        Builder::new_multi_thread().worker_threads(1).enable_all().build().map_err(broken)?;
    let mut all = Vec::new();
    for nodes in [1, params.nodes] {
        let run =
            NodesRun { params: params.clone(), nodes, directory: directory.path(), tokio: &tokio };
        let make = |name: &str| {
            let name = format!("{name}_{}", all.len());
            let made = database.run("postgres", &format!("CREATE DATABASE {name}"));
            made.map_err(|fault| BenchFault::Rival("postgres", fault))?;
            Ok::<String, BenchFault>(database.url(&name))
        };
        let mut took = run.publishes(host, &make("publishes")?)?;
        took.push(run.digest(host, &make("digest")?)?);
        all.push(took);
    }
    Ok(measurements(params, &all))
}

/// The loads with one number of nodes.
struct NodesRun<'r> {
    params: NodesParams,
    nodes: u16,
    directory: &'r Path,
    tokio: &'r Runtime,
}

impl NodesRun<'_> {
    /// The loads that publish.
    fn publishes(&self, host: &Host<'_>, store: &str) -> Result<Vec<Took>, BenchFault> {
        fill(&self.params, host, store)?;
        let nodes = NodeProcesses::start(self, store, 0)?;
        nodes.wait_until_divided(self.tokio)?;
        LOADS
            .iter()
            .filter(|load| **load != "digest")
            .map(|load| nodes.measure(self.tokio, &self.params, load))
            .collect()
    }

    /// A digest that is due: built, rendered, handed over to a directory and recorded.
    fn digest(&self, host: &Host<'_>, store: &str) -> Result<Took, BenchFault> {
        let params = NodesParams {
            recipients: self.params.digests,
            followers: self.params.digests,
            wide: GATHERED,
            ..self.params.clone()
        };
        fill(&params, host, store)?;
        let started = SystemClock.now().0;
        let mut monday = started / DAY_MS + 1;
        // Day 0 was a Thursday.
        monday += (4 - monday).rem_euclid(7);
        let due = monday * DAY_MS + 9 * HOUR_MS;
        let ahead = due - BEFORE_DUE_MS - started;
        let nodes = NodeProcesses::start(self, store, ahead)?;
        nodes.wait_until_divided(self.tokio)?;
        nodes.measure(self.tokio, &params, "digest")?;
        while SystemClock.now().0 + ahead < due {
            std::thread::park_timeout(Duration::from_millis(10));
        }
        let (before, watch) = (nodes.cpu()?, Stopwatch::start());
        let mut after = before.clone();
        loop {
            std::thread::park_timeout(Duration::from_secs(3));
            let now = nodes.cpu()?;
            let used: f64 = now.iter().zip(&after).map(|(now, after)| now - after).sum();
            after = now;
            // Nodes that have nothing to do take a hundredth of a processor.
            if used < 0.15 {
                break;
            }
        }
        let cpu = before.iter().zip(&after);
        Ok(Took {
            cpu: cpu.map(|(before, after)| after - before).collect(),
            wall_s: watch.elapsed().as_secs_f64(),
            events: u64::from(self.params.digests),
        })
    }
}

fn measurements(params: &NodesParams, all: &[Vec<Took>]) -> Vec<Measurement> {
    let mut measurements = Vec::new();
    for (at, load) in LOADS.into_iter().enumerate() {
        let [one, several] = [0, 1].map(|run| all.get(run).and_then(|took| took.get(at)));
        let Some((one, several)) = one.zip(several) else {
            continue;
        };
        let params = BTreeMap::from([
            ("recipients", u64::from(params.recipients)),
            ("nodes", u64::from(params.nodes)),
            ("parts", u64::from(params.shards)),
            ("events", one.events),
        ]);
        let of = |metric, samples: &[f64]| Measurement::of("nodes", &params, metric, samples);
        let names = match load {
            "singles" => ["singles_busiest", "singles_together", "singles_rate"],
            "arrays" => ["arrays_busiest", "arrays_together", "arrays_rate"],
            "wide" => ["wide_busiest", "wide_together", "wide_rate"],
            _ => ["digest_busiest", "digest_together", ""],
        };
        let metrics = [
            (names[0], "s of CPU", several.busiest(), one.busiest()),
            (names[1], "s of CPU", several.together(), one.together()),
            (names[2], "a second", rate(several), rate(one)),
        ];
        // How long a digest takes is known in steps of some seconds only.
        let metrics = metrics.into_iter().filter(|(name, ..)| !name.is_empty());
        for (metric, unit, ours, alone) in metrics {
            measurements.push(of((metric, unit), &[ours]).against("one node", &[alone]));
        }
    }
    measurements
}

fn rate(took: &Took) -> f64 {
    number(took.events) / took.wall_s
}

/// Makes the recipients of a store, and what they follow.
fn fill(params: &NodesParams, host: &Host<'_>, url: &str) -> Result<(), BenchFault> {
    let options = Options { shards: params.shards, ..Options::default() };
    let mut node =
        Node::open(Arc::new(PostgresStore::open(url, crate::world::NEW_STORE)?), options)?;
    node.set_rules(world::BEGIN, host.rules.clone())?;
    let topics = topics(params);
    let people = (0..params.recipients).map(world::make);
    let follows =
        (0..params.recipients).map(|number| world::follow(number, &world::topic(number % topics)));
    world::in_chunks(people.chain(follows), |commands| {
        let replies = node.take_in(world::BEGIN, commands)?.replies;
        node.chores()?;
        world::accepted(replies)
    })
}

/// The number of topics, each followed by as many as were asked for.
fn topics(params: &NodesParams) -> u32 {
    (params.recipients / params.followers).max(1)
}

/// Nodes over one store, each a process.
struct NodeProcesses(Vec<Process>);

impl NodeProcesses {
    /// Starts them, with clocks this many milliseconds ahead.
    fn start(run: &NodesRun<'_>, store: &str, ahead_ms: i64) -> Result<Self, BenchFault> {
        let (directory, count) = (run.directory, run.nodes);
        let config = directory.join("tidings.toml");
        let mails = directory.join(format!("mails_{count}"));
        let text = format!(
            "{RULES}\n[store]\nparts = {}\n[channels.email]\nprovider = \"file://{}\"\nfrom = \"Art <art@example.org>\"\n",
            run.params.shards,
            mails.display()
        );
        fs::write(&config, text).map_err(|fault| BenchFault::Directory(config.clone(), fault))?;
        let program = std::env::current_exe()?;
        let mut nodes = Self(Vec::new());
        for node in 0..count {
            let log = directory.join(format!("nodes_{count}_{node}.log"));
            let log = fs::File::create(&log).map_err(|fault| BenchFault::Directory(log, fault))?;
            let mut command = Command::new(&program);
            command
                .args(["serve", "--dev", "--listen", "127.0.0.1:0"])
                .arg("--config")
                .arg(&config)
                .args(["--node", &format!("node-{node}")])
                .args(["--clock-ahead", &ahead_ms.to_string()])
                .env("TIDINGS_STORE", store)
                .stderr(log);
            nodes.0.push(Process::start(command)?);
        }
        Ok(nodes)
    }

    /// Waits until every node has something.
    fn wait_until_divided(&self, tokio: &Runtime) -> Result<(), BenchFault> {
        let watch = Stopwatch::start();
        while watch.elapsed() < SPREAD_PATIENCE {
            let is_divided = tokio.block_on(self.are_holding());
            if is_divided {
                return Ok(());
            }
            std::thread::park_timeout(Duration::from_millis(200));
        }
        Err(BenchFault::Http("the parts were not spread in time".to_owned()))
    }

    async fn are_holding(&self) -> bool {
        let ask = "GET /v1/nodes HTTP/1.1\r\nhost: localhost\r\n\r\n";
        for node in &self.0 {
            let Ok(mut connection) = Connection::open(node.address).await else {
                return false;
            };
            let Ok(answer) = connection.ask(ask.as_bytes()).await else {
                return false;
            };
            let holding = String::from_utf8_lossy(answer).matches("\"holding\"").count();
            if holding < self.0.len() {
                return false;
            }
        }
        true
    }

    fn measure(
        &self,
        tokio: &Runtime,
        params: &NodesParams,
        load: &'static str,
    ) -> Result<Took, BenchFault> {
        let (requests, events) = requests(params, load);
        let before = self.cpu()?;
        let watch = Stopwatch::start();
        tokio.block_on(self.send(requests))?;
        let wall_s = watch.elapsed().as_secs_f64();
        let after = self.cpu()?;
        let cpu = before.iter().zip(&after);
        Ok(Took { cpu: cpu.map(|(before, after)| after - before).collect(), wall_s, events })
    }

    /// Sends the requests of all clients, each client one after the other, each at another node.
    async fn send(&self, requests: Vec<Vec<Vec<u8>>>) -> Result<(), BenchFault> {
        let mut clients = Vec::new();
        for (number, requests) in requests.into_iter().enumerate() {
            let mut connections = Vec::new();
            for node in &self.0 {
                connections.push(Connection::open(node.address).await?);
            }
            clients.push(tokio::spawn(async move {
                let nodes = connections.len();
                for (at, request) in requests.iter().enumerate() {
                    connections[(number + at) % nodes].publish(request).await?;
                }
                Ok::<(), BenchFault>(())
            }));
        }
        for client in clients {
            client.await.map_err(broken)??;
        }
        Ok(())
    }

    /// The processor time that each node has taken so far, in seconds.
    fn cpu(&self) -> Result<Vec<f64>, BenchFault> {
        self.0.iter().map(Process::cpu_seconds).collect()
    }
}

/// The requests of all clients, and the number of events.
fn requests(params: &NodesParams, load: &str) -> (Vec<Vec<Vec<u8>>>, u64) {
    let clients = params.clients;
    let first = match load {
        "singles" => 0,
        "arrays" => 1_000_000_000_u64,
        "wide" => 2_000_000_000,
        _ => 3_000_000_000,
    };
    let to = |event: u64| {
        // A prime step: neighbours in time are none among the recipients.
        let recipient = event.wrapping_mul(7919) % u64::from(params.recipients);
        world::body(event, u32::try_from(recipient).unwrap_or_default())
    };
    let of = |number: u32, count: u32| -> Vec<u8> {
        let number = first + u64::from(number);
        match load {
            "singles" => post(&to(number)),
            "arrays" => {
                let events = (0..u64::from(TOGETHER))
                    .map(|at| to(first + (number - first) * u64::from(TOGETHER) + at));
                post(&format!("[{}]", events.collect::<Vec<_>>().join(",")))
            }
            _ => {
                let topic = u32::try_from(number - first).unwrap_or_default() % count;
                let kind = if load == "digest" { "gathered" } else { "told" };
                post(&world::body_to_topic(number, kind, &world::topic(topic)))
            }
        }
    };
    let (count, together) = match load {
        "singles" => (params.singles, 1),
        "arrays" => (params.arrays, TOGETHER),
        _ => (params.wide, 1),
    };
    let clients = clients.min(count.max(1));
    let topics = topics(params);
    let each = (0..clients).map(|client| {
        (0..count)
            .filter(|number| number % clients == client)
            .map(|number| of(number, topics))
            .collect()
    });
    (each.collect(), u64::from(count) * u64::from(together))
}
