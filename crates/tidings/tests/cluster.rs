//! Three real nodes over one PostgreSQL under load, each call through a random one of them, while nodes are killed,
//! stopped, restarted and cut off, and the database crashes: what was acknowledged is told exactly once, what was not
//! never twice. Once with the parts of the store at all nodes, and once with all of them at one.
//!
//! `TIDINGS_FAULTS=200` plays more faults, `TIDINGS_SEED=n` plays one run's choices again (not its interleaving:
//! that is the machine's). The times from a fault to the next 202, and until each recipient's inbox is served again, are
//! printed, not judged.

#![allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]

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

use serving::judge::{Known, RECIPIENTS, Told, event, judge, name, results, setup};
use serving::mail::{MailServer, Stops};
use serving::wire::Wire;
use serving::{Api, Chance, Patience, Server, skip};

const NODES: usize = 3;
const CLIENTS: usize = 4;

/// The longest time for which a node is stopped; longer than it takes another one to notice.
const STOPPED_MS_MAX: u64 = 12_000;

const CONFIG: &str = r#"
[store]
parts = PARTS

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
    directory: TempDir,
    config: PathBuf,
    servers: [Option<Server>; NODES],
    /// Connections of each node to the database.
    to_store: [Wire; NODES],
    /// Connections of the others to each node.
    to_node: [Wire; NODES],
    started: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fault {
    Kill,
    Stop,
    Terminate,
    Database,
    /// A node is cut off from the database.
    CutFromStore,
    /// The others can't reach a node.
    CutFromOthers,
}

impl Nodes {
    fn start(mail: &MailServer, parts: u16) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let settings = ["fsync=off", "max_connections=200"];
        let database = Postgres::start(directory.path(), &settings).unwrap();
        database.run("postgres", "CREATE DATABASE tidings").unwrap();
        let config = directory.path().join("tidings.toml");
        let text = CONFIG.replace("PORT", &mail.port.to_string());
        fs::write(&config, text.replace("PARTS", &parts.to_string())).unwrap();
        let wires = || [(); NODES].map(|()| Wire::start());
        let mut nodes = Self {
            database,
            directory,
            config,
            servers: [const { None }; NODES],
            to_store: wires(),
            to_node: wires(),
            started: 0,
        };
        for wire in &nodes.to_store {
            wire.lead_to(nodes.database.port());
        }
        for node in 0..NODES {
            nodes.start_node(node);
        }
        nodes
    }

    fn start_node(&mut self, node: usize) {
        self.started += 1;
        let log = format!("node-{node}-{}.log", self.started);
        let log = File::create(self.directory.path().join(log)).unwrap();
        let (name, near) = (format!("node-{node}"), self.to_node[node].port);
        let (user, port) = (self.database.user(), self.to_store[node].port);
        let store = format!("postgres://{user}@127.0.0.1:{port}/tidings");
        let server = Server::start_node(&self.config, &store, &name, near, log);
        self.to_node[node].lead_to(server.port());
        self.servers[node] = Some(server);
    }

    fn urls(&self) -> Vec<String> {
        self.servers.iter().flatten().map(|server| server.url.clone()).collect()
    }

    /// The nodes to which nothing happens.
    fn urls_but(&self, node: usize) -> Vec<String> {
        let mut urls = self.urls();
        urls.retain(|url| self.servers[node].as_ref().is_none_or(|server| server.url != *url));
        urls
    }

    /// The node that has the lease, as the database says.
    fn holder(&self) -> Option<usize> {
        let ask = "SELECT n.name FROM tidings_lease p JOIN tidings_node n ON n.id = p.holder";
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
        logs.into_iter().map(|(path, text)| format!("--- {}\n{text}", path.display())).collect()
    }
}

/// The clients' side of a run.
struct Load {
    known: Mutex<Known>,
    next: AtomicU64,
    urls: RwLock<Vec<String>>,
    stops: AtomicBool,
    /// The nodes to which nothing happens now.
    sound: RwLock<Vec<String>>,
    /// The instant of the last fault, until a call that began after it is answered 202.
    fault: Mutex<Option<Instant>>,
    waits: Mutex<Vec<Duration>>,
    /// The instant of the last fault, until all inboxes were read after it.
    unserved: Mutex<Option<Instant>>,
    unserved_for: Mutex<Vec<Duration>>,
    /// True if all parts are at one node, so that whatever is acknowledged is applied.
    is_whole: bool,
}

#[expect(clippy::disallowed_methods, reason = "what is measured is the time that clients wait")]
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
                for _ in 0..=chance.below(2) {
                    let number = self.next.fetch_add(1, Ordering::Relaxed);
                    let (event, to) = event(&mut chance, number);
                    let id = event["id"].as_str().unwrap().to_owned();
                    self.known.lock().unwrap().asked.insert(id, to);
                    events.push(event);
                }
            }
            let api = apis.entry(url).or_insert_with_key(|url| Api::patient(url));
            self.ask(api, events);
            // Up to 200 requests a second of all clients: a mail names no more events than its size allows.
            std::thread::park_timeout(Duration::from_millis(15));
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
                    let is_applied = &result["applied"];
                    assert!(is_applied.is_boolean(), "{result}");
                    assert!(*is_applied == true || !self.is_whole, "{result}");
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

    /// Reads all inboxes after each fault until each is answered, through nodes to which nothing happens. The revision of
    /// none falls.
    fn read(&self, mut chance: Chance) {
        let mut revs = vec![0; usize::try_from(RECIPIENTS).unwrap()];
        while !self.stops.load(Ordering::Relaxed) {
            std::thread::park_timeout(Duration::from_millis(20));
            let Some(fault) = *self.unserved.lock().unwrap() else {
                continue;
            };
            let urls = self.sound.read().unwrap().clone();
            let all = (0..RECIPIENTS).all(|number| {
                let url = usize::try_from(chance.below(urls.len() as u64)).unwrap();
                let path = format!("/v1/recipients/{}/inbox?limit=1", name(number));
                let Ok((200, page)) = Api::patient(&urls[url]).get(&path) else {
                    return false;
                };
                let rev = page["rev"].as_u64().unwrap();
                let before = std::mem::replace(&mut revs[usize::try_from(number).unwrap()], rev);
                assert!(before <= rev, "{} fell from {before} to {rev}", name(number));
                true
            });
            let same = |of: &mut Instant| all && *of == fault;
            if self.unserved.lock().unwrap().take_if(same).is_some() {
                self.unserved_for.lock().unwrap().push(fault.elapsed());
            }
        }
    }

    /// Waits until so many further events are acknowledged.
    fn progress(&self, more: usize, nodes: &Nodes) {
        let count = || self.known.lock().unwrap().acknowledged.len();
        let enough = count() + more;
        let patience = Patience::new();
        let waits = |for_what: &Mutex<Option<Instant>>| for_what.lock().unwrap().is_some();
        while count() < enough || waits(&self.fault) || waits(&self.unserved) {
            patience.wait(|| format!("nothing goes on\n{}", nodes.logs()));
            std::thread::park_timeout(Duration::from_millis(10));
        }
    }
}

fn play(nodes: &mut Nodes, load: &Load, fault: Fault, chance: &mut Chance) {
    let any = usize::try_from(chance.below(NODES as u64)).unwrap();
    // The holder of the lease every second time.
    let node = match chance.below(2) {
        0 => any,
        _ => nodes.holder().unwrap_or(any),
    };
    *load.sound.write().unwrap() = match fault {
        Fault::Database => nodes.urls(),
        _ => nodes.urls_but(node),
    };
    let began = now();
    *load.fault.lock().unwrap() = Some(began);
    let lasts = |lasts: u64| std::thread::park_timeout(Duration::from_millis(lasts));
    match fault {
        Fault::Kill | Fault::Terminate => {
            let server = nodes.servers[node].take().unwrap();
            match fault {
                Fault::Kill => {
                    server.kill();
                }
                _ => {
                    server.signal("TERM");
                    let status = server.wait();
                    assert!(status.success(), "{status}\n{}", nodes.logs());
                }
            }
            *load.unserved.lock().unwrap() = Some(began);
            *load.urls.write().unwrap() = nodes.urls();
            load.progress(20, nodes);
            nodes.start_node(node);
        }
        Fault::Stop => {
            let server = nodes.servers[node].as_ref().unwrap();
            server.signal("STOP");
            *load.unserved.lock().unwrap() = Some(began);
            // What is tested is that the length does not matter.
            lasts(chance.below(STOPPED_MS_MAX));
            server.signal("CONT");
        }
        Fault::Database => {
            nodes.database.stop();
            *load.unserved.lock().unwrap() = Some(began);
            lasts(chance.below(3_000));
            nodes.database.resume().unwrap();
        }
        Fault::CutFromStore => {
            nodes.to_store[node].cut();
            *load.unserved.lock().unwrap() = Some(began);
            lasts(chance.below(STOPPED_MS_MAX));
            nodes.to_store[node].mend();
        }
        Fault::CutFromOthers => {
            nodes.to_node[node].cut();
            *load.unserved.lock().unwrap() = Some(began);
            // Nobody takes over from a node that the database hears of.
            lasts(chance.below(4_000));
            nodes.to_node[node].mend();
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
fn what_was_acknowledged_is_told_exactly_once_whatever_happens_to_nodes_that_share_the_parts() {
    play_faults(8, number("TIDINGS_FAULTS").unwrap_or(12));
}

#[test]
fn what_was_acknowledged_is_told_exactly_once_whatever_happens_to_the_node_with_all_parts() {
    play_faults(1, number("TIDINGS_FAULTS").unwrap_or(6));
}

fn play_faults(parts: u16, faults: u64) {
    if !Postgres::is_installed() {
        return skip("PostgreSQL is not installed");
    }
    let seed = number("TIDINGS_SEED").unwrap_or_else(|| u64::from(std::process::id()));
    println!("TIDINGS_SEED={seed} TIDINGS_FAULTS={faults} with {parts} parts");
    let mut chance = Chance::new(seed);
    let mail = MailServer::start(&[Stops::Never]);
    let mut nodes = Nodes::start(&mail, parts);
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
        sound: RwLock::new(nodes.urls()),
        fault: Mutex::default(),
        waits: Mutex::default(),
        unserved: Mutex::default(),
        unserved_for: Mutex::default(),
        is_whole: parts == 1,
    };
    let mut waits: BTreeMap<Fault, [Vec<Duration>; 2]> = BTreeMap::new();
    std::thread::scope(|scope| {
        for _ in 0..CLIENTS {
            let (load, chance) = (&load, chance.branch());
            scope.spawn(move || load.publish(chance));
        }
        let (load, reads) = (&load, chance.branch());
        scope.spawn(move || load.read(reads));
        for _ in 0..faults {
            let kinds = [
                Fault::Kill,
                Fault::Stop,
                Fault::Terminate,
                Fault::Database,
                Fault::CutFromStore,
                Fault::CutFromOthers,
            ];
            let fault = kinds[usize::try_from(chance.below(6)).unwrap()];
            play(&mut nodes, load, fault, &mut chance);
            let measured = [&load.waits, &load.unserved_for];
            let of_kind = waits.entry(fault).or_default();
            for (all, measured) in of_kind.iter_mut().zip(measured) {
                all.append(&mut measured.lock().unwrap());
            }
        }
        load.stops.store(true, Ordering::Relaxed);
    });
    for (fault, measured) in waits {
        let [accepts, serves] = measured.map(|mut waits| {
            waits.sort();
            let (median, worst) = (waits[waits.len() / 2], waits[waits.len() - 1]);
            format!("{median:.1?} in the median, {worst:.1?} at worst")
        });
        println!(
            "{fault:?} with {parts} parts: to the next 202 {accepts}; to everybody's inbox {serves}"
        );
    }
    let known = load.known.into_inner().unwrap();
    let judged = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let apis: Vec<Api> = nodes.urls().iter().map(|url| Api::new(url).insisting()).collect();
        judge(&apis, &known, &told);
    }));
    if let Err(why) = judged {
        println!("{}", nodes.logs());
        std::panic::resume_unwind(why);
    }
}
