//! Three real nodes over one PostgreSQL under load, each call through a random one of them, while nodes are killed,
//! stopped and restarted, and the database crashes: what was acknowledged is told exactly once, what was not never
//! twice.
//!
//! `TIDINGS_FAULTS=200` plays more faults, `TIDINGS_SEED=n` plays one run's choices again (not its interleaving:
//! that is the machine's). The times from a fault to the next 202 are printed, not judged.

#![allow(
    clippy::unwrap_used,
    reason = "a test ends where something is not as it should be"
)]

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, RwLock};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;
use tidings_loopback::Postgres;

mod serving;

use serving::judge::{Known, Told, event, judge, results, setup};
use serving::mail::{MailServer, Stops};
use serving::{Api, Chance, Patience, Server, skip};

const NODES: usize = 3;
const CLIENTS: usize = 4;

/// The longest time for which a node is stopped; longer than it takes another one to notice.
const STOPPED_MS_MAX: u64 = 12_000;

const CONFIG: &str = r#"
[categories.news]

[types.note]
category = "news"
[types.note.channels]
inbox = { policy = "now" }
email = { policy = "cooldown", quiet = "20ms", max_wait = "60ms" }

[types.alert]
category = "news"
[types.alert.channels]
inbox = { policy = "now" }
email = { policy = "now" }

[channels.email]
provider = "smtp://127.0.0.1:PORT?tls=none"
from = "News <news@example.org>"
"#;

/// Three nodes and their database.
struct Nodes {
    database: Postgres,
    store: String,
    directory: TempDir,
    config: PathBuf,
    servers: [Option<Server>; NODES],
    started: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fault {
    Kill,
    Stop,
    Terminate,
    Database,
}

impl Nodes {
    fn start(mail: &MailServer) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let settings = ["fsync=off", "max_connections=200"];
        let database = Postgres::start(directory.path(), &settings).unwrap();
        database.run("postgres", "CREATE DATABASE tidings").unwrap();
        let config = directory.path().join("tidings.toml");
        fs::write(&config, CONFIG.replace("PORT", &mail.port.to_string())).unwrap();
        let mut nodes = Self {
            store: database.url("tidings"),
            database,
            directory,
            config,
            servers: [const { None }; NODES],
            started: 0,
        };
        for node in 0..NODES {
            nodes.start_node(node);
        }
        nodes
    }

    fn start_node(&mut self, node: usize) {
        self.started += 1;
        let log = format!("node-{node}-{}.log", self.started);
        let log = File::create(self.directory.path().join(log)).unwrap();
        let name = format!("node-{node}");
        self.servers[node] = Some(Server::start_node(&self.config, &self.store, &name, log));
    }

    fn urls(&self) -> Vec<String> {
        let servers = self.servers.iter().flatten();
        servers.map(|server| server.url.clone()).collect()
    }

    /// The node that holds the store, as the database says.
    fn holder(&self) -> Option<usize> {
        let ask = "SELECT n.name FROM tidings_part p JOIN tidings_node n ON n.id = p.holder";
        let name = self.database.run("tidings", ask).unwrap();
        name.strip_prefix("node-")?.parse().ok()
    }

    fn logs(&self) -> String {
        let mut logs = BTreeMap::new();
        for entry in fs::read_dir(self.directory.path()).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|end| end == "log") {
                logs.insert(path.clone(), fs::read_to_string(path).unwrap());
            }
        }
        logs.into_iter()
            .map(|(path, text)| format!("--- {}\n{text}", path.display()))
            .collect()
    }
}

/// The clients' side of a run.
struct Load {
    known: Mutex<Known>,
    next: AtomicU64,
    urls: RwLock<Vec<String>>,
    stops: AtomicBool,
    /// The instant of the last fault, until a call that began after it is answered 202.
    fault: Mutex<Option<Instant>>,
    waits: Mutex<Vec<Duration>>,
}

#[expect(
    clippy::disallowed_methods,
    reason = "what is measured is the time that clients wait"
)]
fn now() -> Instant {
    Instant::now()
}

impl Load {
    /// One client: publishes, each time at a random node, until the end.
    fn publish(&self, mut chance: Chance) {
        let mut apis: BTreeMap<String, Api> = BTreeMap::new();
        while !self.stops.load(Ordering::Relaxed) {
            let url = {
                let urls = self.urls.read().unwrap();
                urls[usize::try_from(chance.below(urls.len() as u64)).unwrap()].clone()
            };
            let mut events = std::mem::take(&mut self.known.lock().unwrap().open);
            let rest = events.split_off(events.len().min(20));
            self.known.lock().unwrap().open.extend(rest);
            if events.is_empty() {
                for _ in 0..=chance.below(4) {
                    let number = self.next.fetch_add(1, Ordering::Relaxed);
                    let (event, to) = event(&mut chance, number);
                    let id = event["id"].as_str().unwrap().to_owned();
                    self.known.lock().unwrap().asked.insert(id, to);
                    events.push(event);
                }
            }
            let api = apis.entry(url).or_insert_with_key(|url| Api::patient(url));
            self.ask(api, events);
        }
    }

    fn ask(&self, api: &Api, events: Vec<Value>) {
        let began = now();
        match api.post("/v1/events", &Value::from(events.clone())) {
            Ok((202, answer)) => {
                let mut known = self.known.lock().unwrap();
                for result in results(&answer) {
                    let status = result["status"].as_str().unwrap();
                    assert!(matches!(status, "accepted" | "duplicate"), "{result}");
                    assert_eq!(result["applied"], true, "{result}");
                    let id = result["id"].as_str().unwrap().to_owned();
                    known.acknowledged.insert(id);
                }
                drop(known);
                let fault = self.fault.lock().unwrap().take_if(|fault| *fault < began);
                if let Some(fault) = fault {
                    self.waits.lock().unwrap().push(fault.elapsed());
                }
            }
            Ok((429 | 503, _)) | Err(_) => {
                self.known.lock().unwrap().open.extend(events);
                // As `Retry-After` asks for, or sooner.
                std::thread::park_timeout(Duration::from_millis(100));
            }
            Ok((status, answer)) => panic!("{status} {answer}"),
        }
    }

    /// Waits until so many further events are acknowledged.
    fn progress(&self, more: usize, nodes: &Nodes) {
        let count = || self.known.lock().unwrap().acknowledged.len();
        let enough = count() + more;
        let patience = Patience::new();
        while count() < enough || self.fault.lock().unwrap().is_some() {
            patience.wait(|| format!("nothing goes on\n{}", nodes.logs()));
            std::thread::park_timeout(Duration::from_millis(10));
        }
    }
}

fn play(nodes: &mut Nodes, load: &Load, fault: Fault, chance: &mut Chance) {
    // The holder three times out of four: the others are missed by nobody.
    let any = usize::try_from(chance.below(NODES as u64)).unwrap();
    let node = match chance.below(4) {
        0 => any,
        _ => nodes.holder().unwrap_or(any),
    };
    *load.fault.lock().unwrap() = Some(now());
    match fault {
        Fault::Kill => {
            nodes.servers[node].take().unwrap().kill();
            *load.urls.write().unwrap() = nodes.urls();
            load.progress(20, nodes);
            nodes.start_node(node);
        }
        Fault::Terminate => {
            let server = nodes.servers[node].take().unwrap();
            server.signal("TERM");
            let status = server.wait();
            assert!(status.success(), "{status}\n{}", nodes.logs());
            *load.urls.write().unwrap() = nodes.urls();
            load.progress(20, nodes);
            nodes.start_node(node);
        }
        Fault::Stop => {
            let server = nodes.servers[node].as_ref().unwrap();
            server.signal("STOP");
            let stopped = Duration::from_millis(chance.below(STOPPED_MS_MAX));
            // What is tested is that the length does not matter.
            std::thread::park_timeout(stopped);
            server.signal("CONT");
        }
        Fault::Database => {
            nodes.database.stop();
            std::thread::park_timeout(Duration::from_millis(chance.below(3_000)));
            nodes.database.resume().unwrap();
        }
    }
    *load.urls.write().unwrap() = nodes.urls();
    load.progress(50, nodes);
}

fn number(variable: &str) -> Option<u64> {
    let given = std::env::var(variable).ok();
    given.map(|given| given.parse().unwrap())
}

#[test]
fn what_was_acknowledged_is_told_exactly_once_whatever_happens_to_nodes() {
    if !Postgres::is_installed() {
        return skip("PostgreSQL is not installed");
    }
    let faults = number("TIDINGS_FAULTS").unwrap_or(20);
    let seed = number("TIDINGS_SEED").unwrap_or_else(|| u64::from(std::process::id()));
    println!("TIDINGS_SEED={seed} TIDINGS_FAULTS={faults}");
    let mut chance = Chance::new(seed);
    let mail = MailServer::start(&[Stops::Never]);
    let mut nodes = Nodes::start(&mail);
    let told = Told::follow(mail);
    let api = |nodes: &Nodes| {
        let holder = nodes.holder().and_then(|node| nodes.servers[node].as_ref());
        Api::new(holder.map_or("http://127.0.0.1:1", |server| &server.url)).insisting()
    };
    let patience = Patience::new();
    while api(&nodes).get("/v1/types").is_err() {
        patience.wait(|| format!("nobody holds the store\n{}", nodes.logs()));
        std::thread::park_timeout(Duration::from_millis(50));
    }
    setup(&api(&nodes));
    let load = Load {
        known: Mutex::default(),
        next: AtomicU64::new(1),
        urls: RwLock::new(nodes.urls()),
        stops: AtomicBool::new(false),
        fault: Mutex::default(),
        waits: Mutex::default(),
    };
    let mut waits: BTreeMap<Fault, Vec<Duration>> = BTreeMap::new();
    std::thread::scope(|scope| {
        for _ in 0..CLIENTS {
            let (load, chance) = (&load, chance.branch());
            scope.spawn(move || load.publish(chance));
        }
        for _ in 0..faults {
            let kinds = [Fault::Kill, Fault::Stop, Fault::Terminate, Fault::Database];
            let fault = kinds[usize::try_from(chance.below(4)).unwrap()];
            play(&mut nodes, &load, fault, &mut chance);
            let waited = std::mem::take(&mut *load.waits.lock().unwrap());
            waits.entry(fault).or_default().extend(waited);
        }
        load.stops.store(true, Ordering::Relaxed);
    });
    for (fault, mut waits) in waits {
        waits.sort();
        let (median, worst) = (waits[waits.len() / 2], waits[waits.len() - 1]);
        let times = waits.len();
        println!(
            "{fault:?}: {times} times, to the next 202 {median:?} in the median, {worst:?} at worst"
        );
    }
    let known = load.known.into_inner().unwrap();
    let judged = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        judge(&api(&nodes), &known, &told);
    }));
    if let Err(why) = judged {
        println!("{}", nodes.logs());
        std::panic::resume_unwind(why);
    }
}
