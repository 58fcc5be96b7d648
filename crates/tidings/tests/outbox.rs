//! Real servers that read the outbox of a shop, killed and told to read their configuration again.
//!
//! They take PostgreSQL and PgBouncer. Without them the tests are skipped.

#![allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use tempfile::TempDir;
use tidings_loopback::{PgBouncer, Postgres};

mod serving;

use serving::wire::Wire;
use serving::{Api, Chance, Patience, Server, skip};

const TYPES: &str = "[categories.news]\n[types.note]\ncategory = \"news\"\n\
                     channels = { inbox = { policy = \"now\" } }\n";

const FEED: &str = "[feeds.app]\nurl = \"${APP_DATABASE}\"\nevery = \"50ms\"\n";

/// A shop with a database behind a pooler, and the directory of a server that reads its outbox.
struct Shop {
    config: PathBuf,
    pooler: PgBouncer,
    database: Postgres,
    directory: TempDir,
}

impl Shop {
    fn open(config: &str) -> Option<Self> {
        if !Postgres::is_installed() || !PgBouncer::is_installed() {
            skip("PostgreSQL or PgBouncer is not installed");
            return None;
        }
        let directory = tempfile::tempdir().unwrap();
        let database = Postgres::start(directory.path(), &["fsync=off"]).unwrap();
        let pooler = PgBouncer::start(directory.path(), &database, 20).unwrap();
        let file = directory.path().join("tidings.toml");
        fs::write(&file, config).unwrap();
        let shop = Self { config: file, pooler, database, directory };
        let (code, migration, err) = shop.tidings(&["outbox", "sql"]);
        assert_eq!(code, 0, "{err}");
        shop.sql(&migration);
        shop.sql(&migration);
        Some(shop)
    }

    fn serve(&self) -> Server {
        let data = self.directory.path().join("data");
        Server::start_with(&self.config, &data, "APP_DATABASE", &self.pooler.url("postgres"))
    }

    fn sql(&self, statement: &str) -> String {
        self.database.run("postgres", statement).unwrap()
    }

    fn insert(&self, rows: u64) {
        self.sql(&format!(
            "INSERT INTO tidings_outbox (payload) SELECT '{{\"type\": \"note\", \"object\": {{\"id\": \"o\"}}, \
             \"to\": {{\"recipients\": [\"ada\"]}}}}' FROM generate_series(1, {rows})"
        ));
    }

    fn waiting(&self) -> u64 {
        self.sql("SELECT count(*) FROM tidings_outbox WHERE taken_at IS NULL").parse().unwrap()
    }

    fn until_taken(&self) {
        let patience = Patience::new();
        while self.waiting() > 0 {
            patience.wait(|| format!("{} rows still wait", self.waiting()));
        }
    }

    /// Runs a command that reads the configuration of the shop.
    fn tidings(&self, arguments: &[&str]) -> (i32, String, String) {
        tidings(&self.config, arguments)
    }
}

fn tidings(config: &Path, arguments: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tidings"));
    let output = command.args(arguments).arg("--config").arg(config).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[test]
fn situation_10_a_killed_server_loses_no_row_and_tells_none_twice() {
    let Some(shop) = Shop::open(&format!("{TYPES}{FEED}")) else { return };
    let server = shop.serve();
    Api::new(&server.url).put("/v1/recipients/ada", &json!({})).unwrap();
    drop(server);
    let mut chance = Chance::new(10);
    let mut rows = 0;
    for _ in 0..6 {
        let server = shop.serve();
        for _ in 0..4 {
            let some = 1 + chance.below(400);
            shop.insert(some);
            rows += some;
        }
        // What is tested is that the moment does not matter, so there is nothing to wait for.
        std::thread::park_timeout(std::time::Duration::from_millis(chance.below(200)));
        server.kill();
    }
    let server = shop.serve();
    shop.until_taken();
    let api = Api::new(&server.url);
    assert_eq!(api.metric("tidings_events_total"), rows);
    for id in shop.sql("SELECT id FROM tidings_outbox ORDER BY random() LIMIT 50").lines() {
        assert_eq!(api.get(&format!("/v1/events/app:{id}")).unwrap().0, 200, "{id}");
    }
}

#[test]
fn a_reload_and_commands_steer_feeds() {
    let Some(shop) = Shop::open(TYPES) else { return };
    let server = shop.serve();
    let api = Api::new(&server.url);
    api.put("/v1/recipients/ada", &json!({})).unwrap();
    shop.insert(3);
    assert_eq!(api.get("/v1/feeds").unwrap(), (200, json!([])));
    fs::write(&shop.config, format!("{TYPES}{FEED}")).unwrap();
    server.signal("HUP");
    shop.until_taken();
    let feeds = || -> Value {
        let (code, out, err) = shop.tidings(&["feeds", "--json", "--url", &server.url]);
        assert_eq!(code, 0, "{err}");
        serde_json::from_str(&out).unwrap()
    };
    let seen = &feeds()[0];
    assert_eq!((&seen["name"], &seen["state"]), (&json!("app"), &json!("running")));
    assert_eq!((&seen["newest"], &seen["taken"]), (&json!("3"), &json!(3)));

    let (code, out, err) = shop.tidings(&["pause", "feed", "app", "--url", &server.url]);
    assert_eq!(code, 0, "{out}{err}");
    assert_eq!(feeds()[0]["state"], "paused");
    shop.insert(2);
    server.kill();
    let server = shop.serve();
    let api = Api::new(&server.url);
    let patience = Patience::new();
    // It tells what waits, and takes nothing.
    while api.get("/v1/feeds").unwrap().1[0]["lag_ms"].as_u64().unwrap() == 0 {
        patience.wait(|| "the lag is not told".to_owned());
    }
    assert_eq!(shop.waiting(), 2);
    let (code, out, _) = shop.tidings(&["feeds", "--url", &server.url]);
    assert!(code == 0 && out.contains("app   paused"), "{out}");
    assert_eq!(api.post("/v1/feeds/nobody/pause", &Value::Null).unwrap().0, 404);
    assert_eq!(api.post("/v1/feeds/app/resume", &Value::Null).unwrap().0, 204);
    shop.until_taken();

    // A configuration with a fault in it leaves the feed as it is.
    fs::write(&shop.config, format!("{TYPES}{FEED}tabel = \"x\"\n")).unwrap();
    server.signal("HUP");
    shop.insert(1);
    shop.until_taken();
    let (code, _, err) = shop.tidings(&["outbox", "sql"]);
    assert!(code == 2 && err.contains("unknown key `feeds.app.tabel`"), "{err}");
    fs::write(&shop.config, TYPES).unwrap();
    server.signal("HUP");
    let patience = Patience::new();
    while api.get("/v1/feeds").unwrap().1 != json!([]) {
        patience.wait(|| "the feed is still there".to_owned());
    }
    let (code, _, err) = shop.tidings(&["outbox", "sql", "--feed", "app"]);
    assert!(code == 2 && err.contains("no feed is called `app`"), "{err}");
}

/// Two nodes over one database, which has the outbox of the shop too.
struct Two {
    config: PathBuf,
    database: Postgres,
    wires: [Wire; 2],
    started: u32,
    directory: TempDir,
}

impl Two {
    fn start_node(&mut self, node: usize) -> Server {
        self.started += 1;
        let log = self.directory.path().join(format!("{}-{}.log", node, self.started));
        let store = self.database.url("tidings");
        let name = format!("node-{node}");
        let log = fs::File::create(log).unwrap();
        let server = Server::start_node(&self.config, &store, &name, self.wires[node].port, log);
        self.wires[node].lead_to(server.port());
        server
    }

    /// The node that reads, as the database says.
    fn holder(&self) -> Option<usize> {
        let ask = "SELECT n.name FROM tidings_lease p JOIN tidings_node n ON n.id = p.holder";
        let name = self.database.run("tidings", ask).unwrap();
        name.strip_prefix("node-")?.parse().ok()
    }

    fn count(&self, what: &str) -> u64 {
        let count = format!("SELECT count(*) FROM tidings_outbox WHERE {what}");
        self.database.run("postgres", &count).unwrap().parse().unwrap()
    }

    fn taken(&self) -> u64 {
        self.count("taken_at IS NOT NULL")
    }

    /// Commits rows, and rolls others back, until it is told to stop.
    fn write(&self, stops: &AtomicBool) {
        let row = "SELECT '{\"type\": \"note\", \"object\": {\"id\": \"o\"}, \"to\": {\"everyone\": true}}'::jsonb";
        let mut chance = Chance::new(12);
        while !stops.load(Ordering::SeqCst) {
            let rows = 1 + chance.below(30);
            let end = if chance.below(10) == 0 { "ROLLBACK" } else { "COMMIT" };
            let insert = format!(
                "BEGIN; INSERT INTO tidings_outbox (payload) {row} FROM generate_series(1, {rows}); {end}"
            );
            self.database.run("postgres", &insert).unwrap();
            std::thread::park_timeout(std::time::Duration::from_millis(chance.below(60)));
        }
    }
}

#[test]
fn a_feed_moves_with_the_lease_and_each_row_is_taken_once() {
    if !Postgres::is_installed() {
        return skip("PostgreSQL is not installed");
    }
    let directory = tempfile::tempdir().unwrap();
    let settings = ["fsync=off", "max_connections=200"];
    let database = Postgres::start(directory.path(), &settings).unwrap();
    database.run("postgres", "CREATE DATABASE tidings").unwrap();
    let config = directory.path().join("tidings.toml");
    let shop = database.url("postgres");
    let feed = format!("[feeds.app]\nurl = \"{shop}\"\nevery = \"50ms\"\n");
    fs::write(&config, format!("[store]\nparts = 4\n{TYPES}{feed}")).unwrap();
    let (code, migration, err) = tidings(&config, &["outbox", "sql"]);
    assert_eq!(code, 0, "{err}");
    database.run("postgres", &migration).unwrap();
    let wires = [Wire::start(), Wire::start()];
    let mut two = Two { config, database, wires, started: 0, directory };
    let mut nodes = [0, 1].map(|node| Some(two.start_node(node)));
    let patience = Patience::new();
    for name in ["ada", "ben", "cleo"] {
        let api = Api::new(&nodes[0].as_ref().unwrap().url);
        while !matches!(api.put(&format!("/v1/recipients/{name}"), &json!({})), Ok((204, _))) {
            patience.wait(|| "no node takes a recipient".to_owned());
        }
    }
    let stops = AtomicBool::new(false);
    for round in 0..3 {
        let reader = std::thread::scope(|scope| {
            let shared = &two;
            let writing = scope.spawn(|| shared.write(&stops));
            // One reads; it is killed while there is something to read, and the other one goes on.
            let until_more = |than: u64| {
                let patience = Patience::new();
                while shared.taken() < than + 100 {
                    patience.wait(|| format!("round {round}: nothing is taken after {than} rows"));
                    std::thread::park_timeout(std::time::Duration::from_millis(20));
                }
            };
            until_more(shared.taken());
            let reader = shared.holder().unwrap();
            nodes[reader].take().unwrap().kill();
            until_more(shared.taken());
            assert_eq!(shared.holder(), Some(1 - reader), "round {round}");
            stops.store(true, Ordering::SeqCst);
            writing.join().unwrap();
            stops.store(false, Ordering::SeqCst);
            reader
        });
        nodes[reader] = Some(two.start_node(reader));
    }
    let patience = Patience::new();
    while two.count("taken_at IS NULL") > 0 {
        patience.wait(|| format!("{} rows still wait", two.count("taken_at IS NULL")));
    }
    assert_eq!(two.count("refused IS NOT NULL"), 0);
    let committed = two.taken();
    let holder = nodes[two.holder().unwrap()].as_ref().unwrap();
    let api = Api::new(&holder.url).insisting();
    assert_eq!(api.metric("tidings_events_total"), committed, "of {committed} rows");
    let ids = two.database.run("postgres", "SELECT id FROM tidings_outbox").unwrap();
    for id in ids.lines() {
        assert_eq!(api.get(&format!("/v1/events/app:{id}")).unwrap().0, 200, "{id}");
    }
    for name in ["ada", "ben", "cleo"] {
        let events = api.inbox_events(name).len() as u64;
        assert!(events > 0 && events <= committed, "{name}: {events}");
    }
}
