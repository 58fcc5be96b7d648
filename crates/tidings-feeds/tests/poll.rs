//! The reader that asks the table, over a real database and a sink that remembers what it was given.
//!
//! They take PostgreSQL. Without it the tests say that they are skipped, but with `TIDINGS_REQUIRE_SERVERS` set they
//! fail.

#![allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tempfile::TempDir;
use tidings_feeds::{
    Answering, Feed, FeedSettings, FeedState, OnRefusal, OutboxRow, Sink, Unavailable, Verdict,
    migration,
};
use tidings_loopback::{PgBouncer, Postgres};
use tidings_tls::postgres::PostgresAddress;
use tokio::runtime::Runtime;
use tokio::time::{Instant, sleep};

/// Time that anything may take here.
const PATIENCE: Duration = Duration::from_secs(300);

/// A sink that refuses payloads with the word `bad`, until it is told to take them.
#[derive(Default)]
struct Remembers {
    batches: Mutex<Vec<Vec<i64>>>,
    takes_all: AtomicBool,
    is_away: AtomicBool,
    /// The bytes of the longest payload that it was given.
    longest: AtomicUsize,
}

impl Remembers {
    fn rows(&self) -> Vec<i64> {
        self.batches.lock().unwrap().concat()
    }
}

impl Sink for Remembers {
    fn accept<'s>(&'s self, _: &'s str, rows: Vec<OutboxRow>, stops: bool) -> Answering<'s> {
        Box::pin(async move {
            if self.is_away.load(Ordering::SeqCst) {
                return Err(Unavailable("it is away".to_owned()));
            }
            let (mut verdicts, mut taken) = (Vec::new(), Vec::new());
            for row in rows {
                self.longest.fetch_max(row.payload.len(), Ordering::SeqCst);
                let is_bad = row.payload.contains("bad") && !self.takes_all.load(Ordering::SeqCst);
                if is_bad {
                    verdicts.push(Verdict::Refused(r#"{"detail": "it is \u0000bad"}"#.to_owned()));
                    if stops {
                        break;
                    }
                    continue;
                }
                taken.push(row.id);
                verdicts.push(Verdict::Taken);
            }
            self.batches.lock().unwrap().push(taken);
            Ok(verdicts)
        })
    }
}

/// A host with its database, and a feed of it.
struct Host {
    sink: Arc<Remembers>,
    settings: FeedSettings,
    tokio: Runtime,
    _pooler: Option<PgBouncer>,
    database: Postgres,
    _directory: TempDir,
}

impl Host {
    /// A host whose feed reads through so many sessions of a pooler, or directly.
    fn start(sessions: Option<u32>) -> Option<Self> {
        let is_there = Postgres::is_installed() && PgBouncer::is_installed();
        if !is_there && std::env::var_os("TIDINGS_REQUIRE_SERVERS").is_none() {
            eprintln!("skipped: PostgreSQL or PgBouncer is not installed");
            return None;
        }
        let directory = tempfile::tempdir().unwrap();
        let database = Postgres::start(directory.path(), &["fsync=off"]).unwrap();
        let pooler = sessions
            .map(|sessions| PgBouncer::start(directory.path(), &database, sessions).unwrap());
        let url = pooler
            .as_ref()
            .map_or_else(|| database.url("postgres"), |pooler| pooler.url("postgres"));
        let settings = FeedSettings {
            name: "app".to_owned(),
            database: PostgresAddress::of(&url).unwrap(),
            table: "shop.\"outbox\"".replace('"', ""),
            every: Duration::from_millis(50),
            refused: OnRefusal::Park,
            keep: Duration::from_secs(3_600),
        };
        let host = Self {
            sink: Arc::default(),
            settings,
            tokio: Runtime::new().unwrap(),
            _pooler: pooler,
            database,
            _directory: directory,
        };
        host.sql("CREATE SCHEMA shop");
        let migration = migration(&host.settings);
        host.sql(&migration);
        // It may be run twice.
        host.sql(&migration);
        Some(host)
    }

    fn sql(&self, statement: &str) -> String {
        self.database.run("postgres", statement).unwrap()
    }

    fn insert(&self, key: &str, word: &str) {
        let payload = format!("{{\"type\": \"{word}\"}}");
        self.sql(&format!("INSERT INTO shop.outbox (key, payload) VALUES ({key}, '{payload}')"));
    }

    fn feed(&self) -> Feed {
        let sink = Arc::clone(&self.sink);
        Feed::start(self.tokio.handle(), self.settings.clone(), sink, false)
    }

    fn until(&self, what: &str, is_so: impl Fn() -> bool) {
        self.tokio.block_on(async {
            let end = Instant::now() + PATIENCE;
            while !is_so() {
                assert!(Instant::now() < end, "never: {what}; given {:?}", self.sink.rows());
                sleep(Duration::from_millis(5)).await;
            }
        });
    }

    fn waiting(&self) -> String {
        self.sql("SELECT count(*) FROM shop.outbox WHERE taken_at IS NULL")
    }
}

#[test]
fn rows_are_given_in_the_order_of_their_ids_and_marked() {
    let Some(host) = Host::start(None) else { return };
    for _ in 0..3 {
        host.insert("NULL", "good");
    }
    let feed = host.feed();
    host.until("all are taken", || host.waiting() == "0");
    assert_eq!(host.sink.rows(), [1, 2, 3]);
    // One that is committed late is found with its low id.
    host.sql("INSERT INTO shop.outbox (id, payload) OVERRIDING SYSTEM VALUE VALUES (-7, '{}')");
    host.until("the late one is taken", || host.waiting() == "0");
    assert_eq!(host.sink.rows(), [1, 2, 3, -7]);
    host.until("it is told", || feed.status().newest.as_deref() == Some("-7"));
    let seen = feed.status();
    assert_eq!((seen.state, seen.taken, seen.parked, seen.fault), (FeedState::Running, 4, 0, None));
}

#[test]
fn a_notification_wakes_the_reader_where_it_gets_through() {
    let Some(mut host) = Host::start(None) else { return };
    host.settings.every = Duration::from_secs(3_600);
    let feed = host.feed();
    host.insert("NULL", "good");
    host.until("the first is taken", || host.waiting() == "0");
    // The reader rests now: without a notification it would for an hour.
    for _ in 0..5 {
        host.insert("NULL", "good");
        host.until("the next is taken", || host.waiting() == "0");
    }
    assert_eq!(feed.status().taken, 6);
}

#[test]
fn through_a_pooler_nobody_is_listened_to() {
    for sessions in [1, 5] {
        let Some(host) = Host::start(Some(sessions)) else { return };
        let _feed = host.feed();
        host.insert("NULL", "good");
        host.until("it is taken", || host.waiting() == "0");
        // Who listens in a session of the pool would hear for others.
        let listens = "SELECT count(*) FROM pg_stat_activity WHERE query ILIKE 'listen%'";
        assert_eq!(host.sql(listens), "0", "{sessions} sessions");
    }
}

#[test]
fn a_refused_row_is_parked_and_holds_nobody_not_even_its_key() {
    let Some(host) = Host::start(None) else { return };
    for word in ["good", "bad", "good"] {
        host.insert("'one'", word);
    }
    let feed = host.feed();
    host.until("the others are taken", || host.waiting() == "1");
    assert_eq!(host.sink.rows(), [1, 3]);
    host.until("it is counted", || feed.status().parked == 1);
    assert_eq!(
        host.sql("SELECT refused->>'detail' FROM shop.outbox WHERE id = 2"),
        "it is \u{fffd}bad"
    );
    host.sink.takes_all.store(true, Ordering::SeqCst);
    host.sql("UPDATE shop.outbox SET refused = NULL WHERE refused IS NOT NULL");
    host.until("it is taken after all", || host.waiting() == "0");
    assert_eq!(host.sink.rows(), [1, 3, 2]);
    host.until("it is counted no more", || feed.status().parked == 0);
}

#[test]
fn a_feed_that_stops_takes_nothing_behind_a_refused_row() {
    let Some(mut host) = Host::start(None) else { return };
    host.settings.refused = OnRefusal::Stop;
    for word in ["good", "bad", "good"] {
        host.insert("NULL", word);
    }
    let feed = host.feed();
    host.until("it stops", || feed.status().state == FeedState::Stopped);
    assert_eq!(host.sink.rows(), [1]);
    let fault = feed.status().fault.unwrap();
    assert!(fault.contains("row 2") && fault.contains("bad"), "{fault}");
    // A restart changes nothing about it.
    drop(feed);
    let feed = host.feed();
    host.until("it stops again", || feed.status().state == FeedState::Stopped);
    assert_eq!((host.sink.rows(), host.waiting()), (vec![1], "2".to_owned()));
    host.sink.takes_all.store(true, Ordering::SeqCst);
    host.sql("UPDATE shop.outbox SET refused = NULL WHERE refused IS NOT NULL");
    host.until("all are taken", || host.waiting() == "0");
    assert_eq!(host.sink.rows(), [1, 2, 3]);
    assert_eq!((feed.status().state, feed.status().fault), (FeedState::Running, None));
}

#[test]
fn a_row_that_somebody_has_locked_holds_its_key_alone() {
    let Some(host) = Host::start(None) else { return };
    for key in ["'a'", "'a'", "'b'", "NULL"] {
        host.insert(key, "good");
    }
    host.tokio.block_on(async {
        let (client, connection) = tidings_feeds::connect(&host.settings.database).await.unwrap();
        tokio::spawn(connection);
        client
            .batch_execute("BEGIN; SELECT FROM shop.outbox WHERE id = 1 FOR UPDATE")
            .await
            .unwrap();
        let _feed = host.feed();
        let end = Instant::now() + PATIENCE;
        while host.sink.rows().len() < 2 {
            assert!(Instant::now() < end, "never: the other two");
            sleep(Duration::from_millis(5)).await;
        }
        assert_eq!(host.sink.rows(), [3, 4]);
        client.batch_execute("COMMIT").await.unwrap();
        while host.sink.rows().len() < 4 {
            assert!(Instant::now() < end, "never: the first two");
            sleep(Duration::from_millis(5)).await;
        }
        assert_eq!(host.sink.rows(), [3, 4, 1, 2]);
    });
}

#[test]
fn rows_go_after_their_time_and_at_once_where_none_is_kept() {
    let Some(mut host) = Host::start(None) else { return };
    host.settings.keep = Duration::ZERO;
    host.insert("NULL", "good");
    host.insert("NULL", "bad");
    let feed = host.feed();
    host.until("it is gone", || host.sql("SELECT count(*) FROM shop.outbox") == "1");
    drop(feed);
    host.settings.keep = Duration::from_secs(3_600);
    host.insert("NULL", "good");
    let _feed = host.feed();
    host.until("it is taken", || host.waiting() == "1");
    assert_eq!(host.sql("SELECT count(*) FROM shop.outbox"), "2");
    host.sql(
        "UPDATE shop.outbox SET taken_at = now() - interval '2 hours' WHERE taken_at IS NOT NULL",
    );
    // The refused one stays: nobody has taken it.
    host.until("it is gone", || {
        host.sql("SELECT string_agg(id::text, ' ') FROM shop.outbox") == "2"
    });
}

#[test]
fn a_feed_outlives_its_database_and_its_sink() {
    let Some(mut host) = Host::start(Some(5)) else { return };
    let feed = host.feed();
    host.insert("NULL", "good");
    host.until("it is taken", || host.waiting() == "0");
    host.database.stop();
    host.until("the fault is told", || feed.status().fault.is_some());
    assert_eq!(feed.status().state, FeedState::Running);
    host.database.resume().unwrap();
    host.insert("NULL", "good");
    host.until("it is taken after the crash", || host.waiting() == "0");
    host.sink.is_away.store(true, Ordering::SeqCst);
    host.insert("NULL", "good");
    host.until("the fault is told", || feed.status().fault.is_some_and(|why| why.contains("away")));
    assert_eq!(host.waiting(), "1");
    host.sink.is_away.store(false, Ordering::SeqCst);
    host.until("it is taken in the end", || host.waiting() == "0");
    host.until("nothing is wrong", || feed.status().fault.is_none());
    // Ids that a database had taken in advance when it crashed are given to nobody.
    let rows = host.sink.rows();
    assert!(rows.len() == 3 && rows.is_sorted_by(|a, b| a < b), "{rows:?}");
}

#[test]
fn of_two_readers_one_reads() {
    let Some(host) = Host::start(None) else { return };
    let feeds = [host.feed(), host.feed()];
    for _ in 0..50 {
        host.insert("'one'", "good");
    }
    host.until("all are taken", || host.waiting() == "0");
    let rows = host.sink.rows();
    assert_eq!(rows, (1..=50).collect::<Vec<_>>());
    assert_eq!(rows.iter().collect::<BTreeSet<_>>().len(), 50);
    drop(feeds);
}

#[test]
fn a_table_that_is_missing_is_told_with_the_way_to_make_it() {
    let Some(mut host) = Host::start(None) else { return };
    host.settings.table = "nothing".to_owned();
    let feed = host.feed();
    host.until("the fault is told", || feed.status().fault.is_some());
    let fault = feed.status().fault.unwrap();
    assert!(fault.contains("tidings outbox sql"), "{fault}");
    host.sql(&migration(&host.settings));
    host.sql("INSERT INTO nothing (payload) VALUES ('{}')");
    host.until("it is taken", || feed.status().taken == 1);
}

#[test]
fn a_paused_feed_takes_nothing_and_still_tells_what_waits() {
    let Some(host) = Host::start(None) else { return };
    let feed = host.feed();
    host.insert("NULL", "good");
    host.until("it is taken", || host.waiting() == "0");
    feed.pause();
    host.insert("NULL", "good");
    host.until("the lag is told", || feed.status().lag_ms > 0);
    assert_eq!((feed.status().state, host.sink.rows()), (FeedState::Paused, vec![1]));
    feed.resume();
    host.until("it is taken", || host.waiting() == "0");
    assert_eq!(feed.status().state, FeedState::Running);
}

/// A payload of 16 MB that takes some 200 kB in the table.
const COMPRESSIBLE: &str = "jsonb_build_object('type', 'good', 'text', repeat('y', 16000000))";

#[test]
fn c10_rows_that_compress_well_are_parked_without_being_read() {
    let Some(host) = Host::start(None) else { return };
    host.insert("'a'", "good");
    let large = format!(
        "INSERT INTO shop.outbox (key, payload) SELECT 'a', {COMPRESSIBLE} FROM generate_series(1, 30)"
    );
    host.sql(&large);
    host.insert("'a'", "good");
    let feed = host.feed();
    host.until("parked", || feed.status().parked == 30 && host.sink.rows().len() == 2);
    assert!(host.sink.longest.load(Ordering::SeqCst) < 1 << 20);
    let codes =
        host.sql("SELECT DISTINCT refused->>'code' FROM shop.outbox WHERE refused IS NOT NULL");
    assert_eq!(codes.trim(), "body_too_large");
}

#[test]
fn c10_a_feed_that_stops_at_refusals_stops_before_a_row_that_is_too_long() {
    let Some(mut host) = Host::start(None) else { return };
    host.settings.refused = OnRefusal::Stop;
    host.insert("'a'", "good");
    host.sql(&format!("INSERT INTO shop.outbox (key, payload) SELECT 'a', {COMPRESSIBLE}"));
    host.insert("'b'", "good");
    let feed = host.feed();
    host.until("stopped", || feed.status().state == FeedState::Stopped);
    assert_eq!(host.sink.rows(), [1]);
}
