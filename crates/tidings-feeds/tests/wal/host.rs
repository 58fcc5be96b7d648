//! A host with its database, and a sink that remembers what it was given.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tempfile::TempDir;
use tidings_feeds::{
    Answering, Feed, Given, Mode, OnRefusal, RowNo, Settings, Sink, State, Unavailable, Verdict,
    migration,
};
use tidings_loopback::Postgres;
use tidings_tls::postgres::Database;
use tokio::runtime::Runtime;
use tokio::time::{Instant, sleep};

/// Time that anything may take here.
const PATIENCE: Duration = Duration::from_secs(120);

/// A row that had its effect.
#[derive(Clone, Debug)]
pub(crate) struct Effect {
    pub(crate) no: RowNo,
    pub(crate) payload: String,
    pub(crate) at: Instant,
}

/// A sink that refuses payloads with the word `bad`, until it is told to take them. Rows have their effect once, as the
/// real one sees to by their numbers.
#[derive(Default)]
pub(crate) struct Remembers {
    effects: Mutex<Vec<Effect>>,
    given: Mutex<HashMap<RowNo, usize>>,
    pub(crate) takes_all: AtomicBool,
}

impl Remembers {
    pub(crate) fn effects(&self) -> Vec<Effect> {
        self.effects.lock().unwrap().clone()
    }

    /// The payloads in the order of their effects.
    pub(crate) fn told(&self) -> Vec<String> {
        self.effects().into_iter().map(|effect| effect.payload).collect()
    }

    /// The most times that a row was given.
    pub(crate) fn given_most(&self) -> usize {
        self.given.lock().unwrap().values().copied().max().unwrap_or(0)
    }

    fn take(&self, rows: Vec<Given>, stops: bool) -> Vec<Verdict> {
        let mut verdicts = Vec::new();
        for Given { no, payload } in rows {
            let times =
                *self.given.lock().unwrap().entry(no).and_modify(|times| *times += 1).or_insert(1);
            let is_bad = payload.contains("bad") && !self.takes_all.load(Ordering::SeqCst);
            if is_bad {
                // It was not taken: it may come again.
                self.given.lock().unwrap().remove(&no);
                verdicts.push(Verdict::Refused(r#"{"detail": "it is bad"}"#.to_owned()));
                if stops {
                    break;
                }
                continue;
            }
            if times == 1 {
                let at = Instant::now();
                self.effects.lock().unwrap().push(Effect { no, payload, at });
            }
            verdicts.push(Verdict::Taken);
        }
        verdicts
    }
}

impl Sink for Remembers {
    fn accept<'s>(&'s self, _: &'s str, rows: Vec<Given>, stops: bool) -> Answering<'s> {
        Box::pin(async move {
            let verdicts = self.take(rows, stops);
            // Effects are there before the answer is: who is killed here has told and not marked.
            sleep(Duration::from_millis(1)).await;
            if verdicts.is_empty() {
                return Err(Unavailable("nothing was given".to_owned()));
            }
            Ok(verdicts)
        })
    }
}

pub(crate) struct Host {
    pub(crate) sink: Arc<Remembers>,
    pub(crate) settings: Settings,
    pub(crate) tokio: Runtime,
    pub(crate) database: Postgres,
    pub(crate) directory: TempDir,
}

impl Host {
    /// A host with an outbox.
    pub(crate) fn start(settings: &[&str]) -> Option<Self> {
        let host = Self::bare(&[&["wal_level=logical"], settings].concat())?;
        host.sql("CREATE SCHEMA shop");
        let migration = migration(&host.settings);
        host.sql(&migration);
        // It may be run twice.
        host.sql(&migration);
        Some(host)
    }

    /// A host without an outbox.
    pub(crate) fn bare(settings: &[&str]) -> Option<Self> {
        if !Postgres::is_installed() && std::env::var_os("TIDINGS_REQUIRE_SERVERS").is_none() {
            eprintln!("skipped: PostgreSQL is not installed");
            return None;
        }
        let directory = tempfile::tempdir().unwrap();
        let settings = [&["fsync=off"], settings].concat();
        let database = Postgres::start(directory.path(), &settings).unwrap();
        let settings = Settings {
            name: "app".to_owned(),
            database: Database::of(&database.url("postgres")).unwrap(),
            table: "shop.outbox".to_owned(),
            mode: Mode::Wal,
            every: Duration::from_millis(50),
            refused: OnRefusal::Park,
            keep: Duration::from_secs(3_600),
        };
        let tokio = Runtime::new().unwrap();
        Some(Self { sink: Arc::default(), settings, tokio, database, directory })
    }

    pub(crate) fn sql(&self, statement: &str) -> String {
        self.database.run("postgres", statement).unwrap()
    }

    pub(crate) fn insert(&self, word: &str) {
        self.sql(&format!("INSERT INTO shop.outbox (payload) VALUES ('{{\"type\": \"{word}\"}}')"));
    }

    pub(crate) fn emit(&self, word: &str) {
        self.sql(&format!(
            "SELECT pg_logical_emit_message(true, 'tidings', '{{\"type\": \"{word}\"}}')"
        ));
    }

    pub(crate) fn feed(&self) -> Feed {
        let sink = Arc::clone(&self.sink);
        Feed::start(self.tokio.handle(), self.settings.clone(), sink, false)
    }

    /// A feed whose slot is there.
    pub(crate) fn reading(&self) -> Feed {
        let feed = self.feed();
        self.until("the slot is read", || {
            self.sql("SELECT count(*) FROM pg_replication_slots WHERE active") == "1"
        });
        feed
    }

    /// Ends a feed, and waits until the server has noticed.
    pub(crate) fn end(&self, feed: Feed) {
        drop(feed);
        self.until("the slot is left", || {
            self.sql("SELECT count(*) FROM pg_replication_slots WHERE active") == "0"
        });
    }

    pub(crate) fn until(&self, what: &str, is_so: impl Fn() -> bool) {
        let end = Instant::now() + PATIENCE;
        while !is_so() {
            assert!(Instant::now() < end, "never: {what}; told {:?}", self.sink.told());
            self.rest(20);
        }
    }

    pub(crate) fn rest(&self, ms: u64) {
        self.tokio.block_on(async { sleep(Duration::from_millis(ms)).await });
    }

    /// Waits until a feed has stopped, and returns why.
    pub(crate) fn until_stopped(&self, feed: &Feed) -> String {
        self.until("the feed stops", || {
            let status = feed.status();
            status.state == State::Stopped && status.fault.is_some()
        });
        feed.status().fault.unwrap()
    }

    pub(crate) fn until_told(&self, words: &[&str]) {
        let all: Vec<String> =
            words.iter().map(|word| format!("{{\"type\": \"{word}\"}}")).collect();
        self.until(&format!("{words:?} are told"), || self.sink.told().len() >= all.len());
        assert_eq!(self.sink.told(), all);
    }

    pub(crate) fn waiting(&self) -> String {
        self.sql("SELECT count(*) FROM shop.outbox WHERE taken_at IS NULL")
    }

    pub(crate) fn until_none_waits(&self) {
        self.until("all rows are marked", || self.waiting() == "0");
    }

    /// Bytes of the log that the database retains.
    pub(crate) fn retained(&self) -> u64 {
        let sql = "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)::bigint \
                   FROM pg_replication_slots WHERE slot_name = 'tidings_app'";
        self.sql(sql).parse().unwrap()
    }
}
