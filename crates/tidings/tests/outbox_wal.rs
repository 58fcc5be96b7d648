//! Real servers that read the outbox of a shop from the log of its database, killed, and refused a slot.
//!
//! They take PostgreSQL. Without it the tests are skipped.

#![allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;
use tidings_loopback::Postgres;

mod serving;

use serving::{Api, Chance, Patience, Server, skip};

const CONFIG: &str = "[categories.news]\n[types.note]\ncategory = \"news\"\n\
                      channels = { inbox = { policy = \"now\" } }\n\
                      [feeds.app]\nurl = \"${APP_DATABASE}\"\nmode = \"wal\"\n";

const EVENT: &str = r#"{"type": "note", "object": {"id": "o"}, "to": {"recipients": ["ada"]}}"#;

/// A shop with a database, and the directory of a server that reads its outbox.
struct Shop {
    config: PathBuf,
    database: Postgres,
    directory: TempDir,
}

impl Shop {
    fn open() -> Option<Self> {
        if !Postgres::is_installed() {
            skip("PostgreSQL is not installed");
            return None;
        }
        let directory = tempfile::tempdir().unwrap();
        let database =
            Postgres::start(directory.path(), &["fsync=off", "wal_level=logical"]).unwrap();
        let config = directory.path().join("tidings.toml");
        fs::write(&config, CONFIG).unwrap();
        let shop = Self { config, database, directory };
        let mut command = Command::new(env!("CARGO_BIN_EXE_tidings"));
        let output =
            command.args(["outbox", "sql", "--config"]).arg(&shop.config).output().unwrap();
        let migration = String::from_utf8(output.stdout).unwrap();
        shop.sql(&migration);
        shop.sql(&migration);
        Some(shop)
    }

    fn serve(&self) -> Server {
        let data = self.directory.path().join("data");
        Server::start_with(&self.config, &data, "APP_DATABASE", &self.database.url("postgres"))
    }

    fn sql(&self, statement: &str) -> String {
        self.database.run("postgres", statement).unwrap()
    }

    fn until(&self, what: &str, is_so: impl Fn() -> bool) {
        let patience = Patience::new();
        while !is_so() {
            patience.wait(|| format!("never: {what}"));
        }
    }

    fn until_taken(&self) {
        let waiting = "SELECT count(*) FROM tidings_outbox WHERE taken_at IS NULL";
        self.until("all rows are taken", || self.sql(waiting) == "0");
    }
}

fn feed(api: &Api) -> Value {
    api.get("/v1/feeds").unwrap().1[0].clone()
}

#[test]
fn a_server_that_is_killed_before_it_confirms_tells_rows_and_messages_once() {
    let Some(shop) = Shop::open() else { return };
    let server = shop.serve();
    Api::new(&server.url).put("/v1/recipients/ada", &json!({})).unwrap();
    shop.until("the slot is there", || shop.sql("SELECT count(*) FROM tidings_outbox_wal") == "1");
    drop(server);
    let mut chance = Chance::new(11);
    let mut all = 0;
    for _ in 0..6 {
        let server = shop.serve();
        for _ in 0..3 {
            let some = 1 + chance.below(300);
            shop.sql(&format!(
                "BEGIN; INSERT INTO tidings_outbox (payload) SELECT '{EVENT}' FROM generate_series(1, {some}); \
                 SELECT pg_logical_emit_message(true, 'tidings', '{EVENT}') FROM generate_series(1, {some}); COMMIT"
            ));
            shop.sql(&format!(
                "BEGIN; INSERT INTO tidings_outbox (payload) VALUES ('{EVENT}'); ROLLBACK"
            ));
            all += 2 * some;
        }
        // What is tested is that the moment does not matter, so there is nothing to wait for.
        std::thread::park_timeout(std::time::Duration::from_millis(chance.below(200)));
        server.kill();
    }
    let server = shop.serve();
    let api = Api::new(&server.url);
    shop.until_taken();
    shop.sql(&format!("SELECT pg_logical_emit_message(true, 'tidings', '{EVENT}')"));
    shop.until("the last message is taken", || {
        feed(&api)["newest"].as_str().is_some_and(|newest| newest.contains('/'))
            && api.metric("tidings_events_total") > all
    });
    assert_eq!(api.metric("tidings_events_total"), all + 1);
    let place = feed(&api)["newest"].as_str().unwrap().replace('/', "%2F");
    assert_eq!(api.get(&format!("/v1/events/app:{place}")).unwrap().0, 200, "{place}");
    let bad = r#"{"type": "unknown"}"#;
    shop.sql(&format!("SELECT pg_logical_emit_message(true, 'tidings', '{bad}')"));
    let parked = "SELECT count(*) FROM tidings_outbox WHERE payload->>'type' = 'unknown' AND refused ? 'code'";
    shop.until("a message that is refused is parked", || shop.sql(parked) == "1");
}

#[test]
fn situation_11_a_slot_that_was_made_anew_is_named_and_nothing_is_passed_over() {
    let Some(shop) = Shop::open() else { return };
    let server = shop.serve();
    let api = Api::new(&server.url);
    api.put("/v1/recipients/ada", &json!({})).unwrap();
    let insert = format!("INSERT INTO tidings_outbox (payload) VALUES ('{EVENT}')");
    shop.sql(&insert);
    shop.until_taken();
    shop.until("what is retained is known", || feed(&api)["retained_bytes"].is_u64());
    server.kill();
    shop.until("the slot is left", || {
        shop.sql("SELECT count(*) FROM pg_replication_slots WHERE active") == "0"
    });
    shop.sql("SELECT pg_drop_replication_slot('tidings_app')");
    shop.sql(&insert);
    shop.sql("SELECT pg_create_logical_replication_slot('tidings_app', 'pgoutput')");
    shop.sql(&insert);
    let server = shop.serve();
    let api = Api::new(&server.url);
    shop.until("the feed has stopped", || feed(&api)["state"] == "stopped");
    let fault = feed(&api)["fault"].as_str().unwrap().to_owned();
    assert!(fault.contains("the slot tidings_app was made anew"), "{fault}");
    assert!(fault.contains("`tidings resume feed app`"), "{fault}");
    let client = std::net::TcpStream::connect(server.url.trim_start_matches("http://"));
    let ready = ask_ready(client.unwrap());
    assert!(ready.starts_with("HTTP/1.1 200"), "{ready}");
    assert!(ready.contains("the feed `app` can't be read: the slot tidings_app"), "{ready}");
    assert_eq!(shop.sql("SELECT count(*) FROM tidings_outbox WHERE taken_at IS NULL"), "2");
    for statement in fault.split('`').find(|part| part.starts_with("SELECT")).unwrap().split(';') {
        shop.sql(statement);
    }
    assert_eq!(api.post("/v1/feeds/app/resume", &Value::Null).unwrap().0, 204);
    shop.until_taken();
    assert_eq!(feed(&api)["state"], "running");
    assert_eq!(api.metric("tidings_events_total"), 3);
}

/// The answer of `/readyz`, which is no JSON.
fn ask_ready(mut connection: std::net::TcpStream) -> String {
    use std::io::{Read, Write};
    connection
        .write_all(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        .unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).unwrap();
    answer
}
