//! Feeds of a server, over a real database.
//!
//! They take PostgreSQL and PgBouncer. Without them the tests say that they are skipped, but with
//! `TIDINGS_REQUIRE_SERVERS` set they fail.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};
use tempfile::TempDir;
use tidings_feeds::{Answering, Feed, FeedSettings, OnRefusal, OutboxRow, Sink, TABLE, migration};
use tidings_loopback::{PgBouncer, Postgres};
use tidings_tls::postgres::PostgresAddress;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};
use tokio_postgres::{Client, NoTls, SimpleQueryMessage};

use crate::outbox_rows::{HostRows, begin, configure};
use crate::rig::{CONFIG, Rig};
use crate::{Access, Settings as ServerSettings};

/// Time that anything may take here.
const PATIENCE: Duration = Duration::from_secs(300);

/// Writers that take their ids early, and those that are serial.
const EARLY: u32 = 64;
const SERIAL: u32 = 8;

/// Number of times that the reader is killed.
const KILLS: u32 = 50;

/// A server, and the shop of which it reads the outbox.
struct Shop {
    rig: Rig,
    settings: FeedSettings,
    pooler: PgBouncer,
    database: Postgres,
    _directory: TempDir,
}

impl Shop {
    fn open() -> Option<Self> {
        let is_there = Postgres::is_installed() && PgBouncer::is_installed();
        if !is_there && std::env::var_os("TIDINGS_REQUIRE_SERVERS").is_none() {
            eprintln!("skipped: PostgreSQL or PgBouncer is not installed");
            return None;
        }
        let directory = tempfile::tempdir().unwrap();
        let database =
            Postgres::start(directory.path(), &["fsync=off", "max_connections=200"]).unwrap();
        let pooler = PgBouncer::start(directory.path(), &database, 100).unwrap();
        let settings = FeedSettings {
            name: "app".to_owned(),
            database: PostgresAddress::of(&pooler.url("postgres")).unwrap(),
            table: TABLE.to_owned(),
            every: Duration::from_millis(100),
            refused: OnRefusal::Park,
            keep: Duration::from_secs(86_400),
        };
        database.run("postgres", &migration(&settings)).unwrap();
        let config = format!("{CONFIG}[feeds.app]\nurl = \"${{APP_DATABASE}}\"\n");
        let rig = Rig::with(&config, Access::Open, ServerSettings::default());
        Some(Self { rig, settings, pooler, database, _directory: directory })
    }

    fn sql(&self, statement: &str) -> String {
        self.database.run("postgres", statement).unwrap()
    }

    fn waiting(&self) -> u32 {
        let count = "SELECT count(*) FROM tidings_outbox WHERE taken_at IS NULL";
        self.sql(count).parse().unwrap()
    }

    fn until(&self, what: &str, is_so: impl Fn() -> bool) {
        let end = Instant::now() + PATIENCE;
        while !is_so() {
            assert!(Instant::now() < end, "never: {what}");
            self.rig.tokio.block_on(async { sleep(Duration::from_millis(20)).await });
        }
    }

    /// Begins to read as a server does.
    fn begin(&self) {
        let settings = vec![self.settings.clone()];
        begin(&self.rig.service, self.rig.tokio.handle(), settings);
    }

    fn get(&self, path: &str) -> Value {
        let answer = self.rig.call(Method::GET, path, &Value::Null);
        assert_eq!(answer.status, StatusCode::OK, "{path}: {answer:?}");
        answer.json()
    }

    fn text(&self, path: &str) -> String {
        String::from_utf8(self.rig.call(Method::GET, path, &Value::Null).bytes).unwrap()
    }

    /// The number of events that were accepted.
    fn events(&self) -> u64 {
        self.rig.service.handle.look(|node| node.engine().tally().events).unwrap()
    }
}

/// The way of rows into a server, which hangs once they are durable there and before that is told, when it is asked to.
struct Faltering {
    rows: HostRows,
    falters: Arc<AtomicBool>,
    faltered: Arc<Notify>,
}

impl Sink for Faltering {
    fn accept<'s>(&'s self, feed: &'s str, rows: Vec<OutboxRow>, stops: bool) -> Answering<'s> {
        Box::pin(async move {
            let verdicts = self.rows.accept(feed, rows, stops).await?;
            if self.falters.swap(false, Ordering::SeqCst) {
                self.faltered.notify_one();
                std::future::pending::<()>().await;
            }
            Ok(verdicts)
        })
    }
}

/// A reader that can be killed between the commit here and the mark there.
struct Killable {
    sink: Arc<Faltering>,
    settings: FeedSettings,
    runtime: tokio::runtime::Handle,
    feed: Option<Feed>,
}

impl Killable {
    fn start(shop: &Shop) -> Self {
        let sink = Arc::new(Faltering {
            rows: HostRows::new(&shop.rig.service),
            falters: Arc::default(),
            faltered: Arc::default(),
        });
        let (settings, runtime) = (shop.settings.clone(), shop.rig.tokio.handle().clone());
        let mut reader = Self { sink, settings, runtime, feed: None };
        reader.begin();
        reader
    }

    fn begin(&mut self) {
        let sink = Arc::clone(&self.sink) as Arc<dyn Sink>;
        self.feed = Some(Feed::start(&self.runtime, self.settings.clone(), sink, false));
    }

    /// Kills it after its next batch is durable here, if one comes soon; returns whether one did.
    async fn kill_before_mark(&mut self, patience: Duration) -> bool {
        self.sink.falters.store(true, Ordering::SeqCst);
        let came = timeout(patience, self.sink.faltered.notified()).await.is_ok();
        self.feed = None;
        self.sink.falters.store(false, Ordering::SeqCst);
        came
    }
}

/// Numbers that look drawn, the same in each run.
#[derive(Clone)]
struct Chance(u64);

impl Chance {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % most
    }
}

/// A writer of the shop, which connects again when its connection breaks.
struct Writer {
    url: String,
    client: Option<Client>,
    chance: Chance,
}

impl Writer {
    async fn client(&mut self) -> Result<&Client, tokio_postgres::Error> {
        if self.client.as_ref().is_none_or(Client::is_closed) {
            let (client, connection) = tokio_postgres::connect(&self.url, NoTls).await?;
            tokio::spawn(connection);
            self.client = Some(client);
        }
        Ok(self.client.as_ref().expect("it was made"))
    }

    /// Takes ids, waits and commits rows with them, or rolls back.
    async fn early(&mut self, writer: u32, n: u32) -> Result<(), tokio_postgres::Error> {
        // Mostly short, and up to 5 s.
        let share = self.chance.below(1_000);
        let late = Duration::from_millis(share * share * share / 200_000);
        let (count, ends) = (1 + self.chance.below(3), self.end());
        let client = self.client().await?;
        let take = format!(
            "BEGIN; SELECT nextval(pg_get_serial_sequence('{TABLE}', 'id')) FROM generate_series(1, {count})"
        );
        let taken = client.simple_query(&take).await?;
        sleep(late).await;
        let ids = taken.iter().filter_map(|message| match message {
            SimpleQueryMessage::Row(row) => row.get(0),
            _ => None,
        });
        for id in ids {
            let payload = json!({
                "type": "note", "object": {"id": format!("{writer}-{n}")},
                "to": {"recipients": [format!("w{writer}")]}
            });
            let insert = format!("INSERT INTO {TABLE} (id, payload) VALUES ({id}, '{payload}')");
            client.batch_execute(&insert).await?;
        }
        client.batch_execute(ends).await
    }

    /// Commits a row with the next number of its key, or rolls it back.
    async fn serial(&mut self, writer: u32, n: u32) -> Result<(), tokio_postgres::Error> {
        let late = Duration::from_millis(self.chance.below(150));
        let ends = self.end();
        let payload = json!({
            "type": "note", "object": {"id": format!("{n:04}")},
            "to": {"recipients": [format!("s{writer}")]}
        });
        let client = self.client().await?;
        let insert =
            format!("BEGIN; INSERT INTO {TABLE} (key, payload) VALUES ('s{writer}', '{payload}')");
        client.batch_execute(&insert).await?;
        sleep(late).await;
        client.batch_execute(ends).await
    }

    fn end(&mut self) -> &'static str {
        if self.chance.below(10) == 0 { "ROLLBACK" } else { "COMMIT" }
    }
}

/// Runs all writers to their end.
async fn write(url: String) {
    let mut writers = JoinSet::new();
    for number in 0..EARLY + SERIAL {
        let chance = Chance(u64::from(number) << 32);
        let mut writer = Writer { url: url.clone(), client: None, chance };
        writers.spawn(async move {
            let transactions = if number < EARLY { 12 } else { 60 };
            for n in 0..transactions {
                let done = if number < EARLY {
                    writer.early(number, n).await
                } else {
                    writer.serial(number - EARLY, n).await
                };
                if done.is_err() {
                    // The database crashed: what became of the transaction is what the table says.
                    writer.client = None;
                    sleep(Duration::from_millis(200)).await;
                }
            }
        });
    }
    while let Some(ended) = writers.join_next().await {
        ended.unwrap();
    }
}

#[test]
fn situation_10_what_was_committed_is_told_once_whoever_dies() {
    let Some(mut shop) = Shop::open() else { return };
    for recipient in (0..EARLY).map(|n| format!("w{n}")).chain((0..SERIAL).map(|n| format!("s{n}")))
    {
        shop.rig.call(Method::PUT, &format!("/v1/recipients/{recipient}"), &json!({}));
    }
    let runtime = shop.rig.tokio.handle().clone();
    let writing = runtime.spawn(write(shop.pooler.url("postgres")));
    let mut reader = Killable::start(&shop);
    let before_mark = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&before_mark);
    let killing = runtime.spawn(async move {
        let mut chance = Chance(7);
        for kill in 0..KILLS {
            sleep(Duration::from_millis(chance.below(300))).await;
            if kill % 2 == 0 {
                reader.feed = None;
            } else if reader.kill_before_mark(Duration::from_secs(2)).await {
                counted.fetch_add(1, Ordering::SeqCst);
            }
            reader.begin();
        }
        reader
    });
    runtime.block_on(async { sleep(Duration::from_secs(4)).await });
    shop.database.stop();
    shop.database.resume().unwrap();
    runtime.block_on(async { timeout(PATIENCE, writing).await.unwrap().unwrap() });
    let _reader = runtime.block_on(async { timeout(PATIENCE, killing).await.unwrap().unwrap() });
    shop.until("all rows are taken", || shop.waiting() == 0);
    let killed = before_mark.load(Ordering::SeqCst);
    assert!(killed >= KILLS / 5, "{killed} kills between commit and mark are too few");

    let rows =
        shop.sql(&format!("SELECT id, coalesce(key, '-'), payload->'object'->>'id' FROM {TABLE}"));
    let mut of_key: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut count = 0_u64;
    for line in rows.lines() {
        let [id, key, object] = line.split('|').collect::<Vec<_>>()[..] else { panic!("{line}") };
        shop.get(&format!("/v1/events/app:{id}"));
        of_key.entry(key).or_default().push(object);
        count += 1;
    }
    assert!(count > 1_000, "{count} rows are too few");
    assert_eq!(shop.events(), count, "a row that was rolled back was told, or one twice");
    for serial in 0..SERIAL {
        let key = format!("s{serial}");
        let page = shop.get(&format!("/v1/recipients/{key}/inbox?grouped=false&limit=100"));
        let items = page["groups"].as_array().unwrap().iter().map(|group| &group["items"][0]);
        let told: Vec<&str> = items.map(|item| item["object"]["id"].as_str().unwrap()).collect();
        let mut committed = of_key[&*key].clone();
        committed.sort_unstable_by(|a, b| b.cmp(a));
        assert!(committed.len() > 20, "{committed:?}");
        assert_eq!(told, committed, "the newest first, of {key}");
    }
}

#[test]
fn situation_12_a_poison_row_is_parked_and_taken_after_the_mend() {
    let Some(shop) = Shop::open() else { return };
    shop.rig.call(Method::PUT, "/v1/recipients/ada", &json!({}));
    shop.sql(&format!(
        "INSERT INTO {TABLE} (payload) SELECT jsonb_build_object('type', \
         CASE n WHEN 500 THEN 'poison' ELSE 'note' END, 'object', jsonb_build_object('id', 'o' || n), \
         'to', '{{\"recipients\": [\"ada\"]}}'::jsonb) FROM generate_series(1, 1000) AS n"
    ));
    shop.begin();
    shop.until("999 are taken", || shop.waiting() == 1);
    assert_eq!(shop.events(), 999);
    let parked = shop.sql(&format!("SELECT id, refused FROM {TABLE} WHERE refused IS NOT NULL"));
    let (id, problem) = parked.split_once('|').unwrap();
    let problem: Value = serde_json::from_str(problem).unwrap();
    assert_eq!(
        (id, &problem["code"], &problem["status"]),
        ("500", &json!("unknown_type"), &json!(422))
    );
    assert!(problem["detail"].as_str().unwrap().contains("poison"), "{problem}");
    assert!(problem["hint"].is_string() && problem["title"].is_string(), "{problem}");
    let metric = "tidings_feed_rows_parked{feed=\"app\"} ";
    shop.until("it is counted", || shop.text("/metrics").contains(&format!("{metric}1\n")));
    let feeds = shop.get("/v1/feeds");
    let page = shop.get("/v1/feeds/app/parked");
    assert_eq!((&page["parked"][0]["row"], &page["next"]), (&json!(id), &Value::Null));
    assert_eq!(page["parked"][0]["problem"]["code"], "unknown_type");
    assert_eq!(page["parked"].as_array().unwrap().len(), 1);
    assert_eq!((&feeds[0]["parked"], &feeds[0]["taken"]), (&json!(1), &json!(999)));
    assert_eq!(feeds[0]["state"], "running");

    let mended =
        CONFIG.replace("[types.note]", "[types.poison]\ncategory = \"news\"\nchannels = { inbox = { policy = \"now\" } }\n[types.note]");
    let rules = tidings_config::parse(&mended, "tidings.toml").unwrap();
    shop.rig.service.configure(rules, BTreeMap::new()).unwrap();
    // Nobody has taken it back yet.
    assert_eq!(shop.waiting(), 1);
    shop.sql(&format!("UPDATE {TABLE} SET refused = NULL"));
    shop.until("it is taken", || shop.waiting() == 0);
    shop.get("/v1/events/app:500");
    assert_eq!(shop.events(), 1_000);
    shop.until("it is counted no more", || shop.text("/metrics").contains(&format!("{metric}0\n")));
}

#[test]
fn an_operation_takes_effect_once_though_its_row_comes_again() {
    let Some(shop) = Shop::open() else { return };
    shop.rig.call(Method::PUT, "/v1/recipients/ada", &json!({}));
    let topics = || shop.get("/v1/recipients/ada/subscriptions");
    let none = topics();
    let mut reader = Killable::start(&shop);
    shop.rig.tokio.block_on(async {
        let row = json!({"op": "subscribe", "recipient": "ada", "topic": "works"});
        shop.sql(&format!("INSERT INTO {TABLE} (payload) VALUES ('{row}')"));
        assert!(reader.kill_before_mark(PATIENCE).await);
    });
    assert_eq!(shop.waiting(), 1);
    assert_ne!(topics(), none);
    shop.rig.call(Method::DELETE, "/v1/recipients/ada/subscriptions/works", &Value::Null);
    assert_eq!(topics(), none);
    reader.begin();
    shop.until("it is marked", || shop.waiting() == 0);
    assert_eq!(topics(), none);
}

#[test]
fn every_operation_of_a_timeline_is_taken_and_what_none_is_parks() {
    let Some(shop) = Shop::open() else { return };
    for row in [
        json!({"op": "recipient", "id": "ada", "email": "ada@example.org"}),
        json!({"op": "recipient", "id": "bea"}),
        json!({"op": "subscribe", "recipient": "ada", "topic": "works"}),
        json!({"op": "publish", "id": "mine", "type": "note", "object": {"id": "o"}, "to": {"topics": ["works"]}}),
        json!({"op": "preference", "recipient": "ada", "type": "note", "channel": "email", "mode": "never"}),
        json!({"op": "seen", "recipient": "ada", "event": "mine"}),
        json!({"op": "object", "id": "o", "title": "Water Lilies"}),
        json!({"op": "publish", "id": "apart", "type": "note", "object": {"id": "p"}, "to": {"everyone": true, "except": ["ada", "cy"]}}),
        json!({"op": "nonsense"}),
        json!({"op": "seen", "recipient": "nobody", "event": "mine"}),
        json!({"type": "note", "object": {"id": "o"}, "colour": "red", "to": {"recipients": ["ada"]}}),
        json!(["no", "object"]),
    ] {
        shop.sql(&format!("INSERT INTO {TABLE} (key, payload) VALUES ('k', '{row}')"));
    }
    shop.begin();
    shop.until("all are looked at", || {
        let rest =
            format!("SELECT count(*) FROM {TABLE} WHERE taken_at IS NULL AND refused IS NULL");
        shop.sql(&rest) == "0"
    });
    let codes = format!("SELECT string_agg(refused->>'code', ' ' ORDER BY id) FROM {TABLE}");
    assert_eq!(shop.sql(&codes), "invalid_body recipient_not_found invalid_body invalid_body");
    let page = shop.get("/v1/recipients/ada/inbox");
    let item = &page["groups"][0]["items"][0];
    assert_eq!((&item["event"], &item["seen"]), (&json!("mine"), &json!(true)));
    assert_eq!(item["object"]["title"], "Water Lilies");
    // A row with `except` leaves her out, and nobody else.
    assert_eq!(page["groups"].as_array().unwrap().len(), 1);
    let of_bea = shop.get("/v1/recipients/bea/inbox");
    assert_eq!(of_bea["groups"][0]["items"][0]["event"], "apart");
    // Rows that change what calls log have their lines, those that are parked have none.
    let log = shop.get("/v1/admin/log?by=feed:app");
    let lines = log["log"].as_array().unwrap().iter();
    let mut changed: Vec<(&str, &str)> = lines
        .map(|line| (line["action"].as_str().unwrap(), line["subject"]["id"].as_str().unwrap()))
        .collect();
    changed.sort_unstable();
    let profile = "patch_recipient";
    assert_eq!(changed, [("patch_preferences", "ada"), (profile, "ada"), (profile, "bea")]);
}

#[test]
fn t42_rows_with_texts_by_locale_are_told_in_the_language_of_each_reader() {
    let Some(shop) = Shop::open() else { return };
    for (id, locale) in [("ana", "fr-CA"), ("ben", "en-GB"), ("cy", "ja")] {
        shop.rig.call(Method::PUT, &format!("/v1/recipients/{id}"), &json!({ "locale": locale }));
    }
    let title = json!({ "fr": "Nymphéas", "en": "Water Lilies" });
    for row in [
        json!({"op": "object", "id": "o", "title": title}),
        json!({
            "id": "mine", "type": "note", "object": {"id": "o"}, "body": {"en": "Well done", "fr": "Bravo"},
            "actor": {"id": "a", "title": {"ja": "アン"}}, "to": {"recipients": ["ana", "ben", "cy"]},
        }),
        json!({"op": "object", "id": "o", "title": {"en_GB": "Water Lilies"}}),
    ] {
        shop.sql(&format!("INSERT INTO {TABLE} (key, payload) VALUES ('k', '{row}')"));
    }
    shop.begin();
    shop.until("all are looked at", || {
        let rest =
            format!("SELECT count(*) FROM {TABLE} WHERE taken_at IS NULL AND refused IS NULL");
        shop.sql(&rest) == "0"
    });
    let parked = format!("SELECT refused->>'code' FROM {TABLE} WHERE refused IS NOT NULL");
    assert_eq!(shop.sql(&parked), "invalid_body");
    for (id, title, body) in [
        ("ana", "Nymphéas", "Bravo"),
        ("ben", "Water Lilies", "Well done"),
        // What is not in a reader's language is in the default one.
        ("cy", "Water Lilies", "Well done"),
    ] {
        let page = shop.get(&format!("/v1/recipients/{id}/inbox"));
        let item = &page["groups"][0]["items"][0];
        assert_eq!(
            (&item["object"]["title"], &item["body"]),
            (&json!(title), &json!(body)),
            "{id}"
        );
        assert_eq!(item["actor"]["title"], "アン", "it was given in one alone");
    }
}

#[test]
fn a_table_that_gives_its_ids_again_does_not_lose_events() {
    let Some(shop) = Shop::open() else { return };
    shop.rig.call(Method::PUT, "/v1/recipients/ada", &json!({}));
    let insert = |object: &str| {
        let row = json!({"type": "note", "object": {"id": object}, "to": {"recipients": ["ada"]}});
        shop.sql(&format!("INSERT INTO {TABLE} (payload) VALUES ('{row}')"));
    };
    shop.begin();
    insert("first");
    shop.until("it is taken", || shop.waiting() == 0);
    shop.sql(&format!("TRUNCATE {TABLE} RESTART IDENTITY"));
    insert("second");
    let parked = format!("SELECT refused->>'detail' FROM {TABLE} WHERE refused IS NOT NULL");
    shop.until("it is parked", || !shop.sql(&parked).is_empty());
    assert_eq!(shop.sql(&parked), "another event has had the id `app:1`");
}

#[test]
fn a_feed_that_can_not_be_read_is_named_and_the_server_is_ready() {
    let Some(mut shop) = Shop::open() else { return };
    shop.settings.table = "nowhere".to_owned();
    shop.begin();
    let ready = || shop.rig.call(Method::GET, "/readyz", &Value::Null);
    shop.until("it is named", || ready().bytes.windows(5).any(|part| part == b"`app`"));
    assert_eq!(ready().status, StatusCode::OK);
    assert!(shop.text("/metrics").contains("tidings_feed_up{feed=\"app\"} 0\n"));
    let feeds = shop.get("/v1/feeds");
    assert_eq!((&feeds[0]["state"], &feeds[0]["lag_ms"]), (&json!("failing"), &Value::Null));
    assert!(feeds[0]["fault"].as_str().unwrap().contains("tidings outbox sql"), "{feeds}");
    // Other settings are in force at once.
    shop.settings.table = TABLE.to_owned();
    configure(&shop.rig.service, vec![shop.settings.clone()]);
    shop.until("nothing is wrong", || ready().bytes == b"ready\n");
    configure(&shop.rig.service, Vec::new());
    assert!(!shop.text("/metrics").contains("tidings_feed_up"));
}
