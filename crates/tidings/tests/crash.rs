//! The real process, killed again and again under load: what was acknowledged is told exactly once,
//! what was not acknowledged never twice, and a mail that goes more than once is counted as sent again.
//!
//! The server writes its checkpoints and turns its journal round after a few records, and its clock comes
//! to midnight in many of its lives, so that kills meet these too.
//!
//! `TIDINGS_KILLS=500` kills more often, `TIDINGS_SEED=n` plays one run's choices again (not its
//! interleaving: that is the machine's).

#![allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tidings_core::journal::{Key, Owner, Partition, Table};
use tidings_core::model::{BucketNo, DAY_MS};
use tidings_node::{Clock as _, SystemClock};
use tidings_store::{Expected, FjallStore, Snapshot, Store as _};

mod serving;

use serving::judge::{Known, Told, event, judge, results, setup};
use serving::mail::{MailServer, Stops};
use serving::{Api, Chance, Patience, Server};

/// The time that a start may take, with what it folds and takes up again, in milliseconds.
const STARTING_MS: u64 = 200;

/// Time before midnight at which a life begins in which the day changes, in milliseconds.
const BEFORE_MIDNIGHT_MS: i64 = 700;

/// A mail names 20 entries at most, and the test looks for each: so a cool-down is too short for more.
const CONFIG: &str = r#"
[store]
keep = "3000d"

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

/// One client: publishes until the server is gone.
fn publish(api: &Api, known: &Mutex<Known>, next: &AtomicU64, mut chance: Chance) {
    loop {
        let mut events = std::mem::take(&mut known.lock().unwrap().open);
        events.truncate(20);
        let fresh = if chance.below(2) == 0 { 1 } else { chance.below(8) };
        for _ in 0..fresh {
            let (event, to) = event(&mut chance, next.fetch_add(1, Ordering::Relaxed));
            let id = event["id"].as_str().unwrap().to_owned();
            known.lock().unwrap().asked.insert(id, to);
            events.push(event);
        }
        if events.is_empty() {
            continue;
        }
        let body = match events.as_slice() {
            [one] => one.clone(),
            many => Value::from(many.to_vec()),
        };
        match api.post("/v1/events", &body) {
            Ok((202, answer)) => {
                let mut known = known.lock().unwrap();
                for result in results(&answer) {
                    let status = result["status"].as_str().unwrap();
                    assert!(matches!(status, "accepted" | "duplicate"), "{result}");
                    known.acknowledged.insert(result["id"].as_str().unwrap().to_owned());
                }
            }
            Ok((429 | 503, _)) => known.lock().unwrap().open.extend(events),
            Ok((status, answer)) => panic!("{status} {answer}"),
            Err(_) => return known.lock().unwrap().open.extend(events),
        }
    }
}

/// One life of the server: it is killed after so many acknowledged events, or once so many mails were
/// handed over, at whatever it is doing then; some lives end before they have begun, and in some the day
/// changes.
fn one_life(world: &mut World, known: &Mutex<Known>, next: &AtomicU64, chance: &mut Chance) {
    if chance.below(3) == 0 {
        world.go_to_midnight();
    }
    if chance.below(4) == 0 {
        let after_ms = chance.below(STARTING_MS);
        return Server::start_and_kill(&world.config, &world.data, world.ahead_ms, after_ms);
    }
    let server = Server::start_busy(&world.config, &world.data, world.ahead_ms);
    let api = Api::new(&server.url);
    let before = known.lock().unwrap().acknowledged.len() as u64;
    let mails_before = world.mails();
    let (enough, enough_mails) = match chance.below(3) {
        0 => (u64::MAX, mails_before + 1 + chance.below(30)),
        _ => (before + 1 + chance.below(150), u64::MAX),
    };
    std::thread::scope(|scope| {
        for _ in 0..3 {
            let (api, chance) = (api.clone(), chance.branch());
            scope.spawn(move || publish(&api, known, next, chance));
        }
        let patience = Patience::new();
        loop {
            let acknowledged = known.lock().unwrap().acknowledged.len() as u64;
            if acknowledged >= enough || world.mails() >= enough_mails {
                break;
            }
            patience.wait(|| "nothing goes on".to_owned());
        }
        server.kill();
    });
}

struct World {
    config: PathBuf,
    data: PathBuf,
    /// The lead of the server's clock; it never goes back.
    ahead_ms: i64,
    told: Arc<Mutex<Told>>,
}

impl World {
    fn new(directory: &Path) -> Self {
        let mail = MailServer::start(&[Stops::Never]);
        let config = CONFIG.replace("PORT", &mail.port.to_string());
        let world = Self {
            config: directory.join("tidings.toml"),
            data: directory.join("data"),
            ahead_ms: 0,
            told: Told::follow(mail),
        };
        fs::write(&world.config, config).unwrap();
        world
    }

    fn mails(&self) -> u64 {
        self.told.lock().unwrap().count()
    }

    /// Puts the server's clock shortly before its next midnight.
    fn go_to_midnight(&mut self) {
        let now = SystemClock.now().0 + self.ahead_ms;
        let left = DAY_MS - now.rem_euclid(DAY_MS);
        self.ahead_ms += (left - BEFORE_MIDNIGHT_MS).max(0);
    }
}

/// Number of rows a table has in all days.
fn rows(snapshot: &dyn Snapshot, table: Table) -> usize {
    let mut count = 0;
    for day in snapshot.days().unwrap() {
        for bucket in (0..16).map(BucketNo) {
            let from = Key::of(Owner::Bucket(bucket), table).done();
            let until = tidings_core::journal::after_prefix(&from);
            let mut visit = |_: &[u8], _: &[u8]| {
                count += 1;
                ControlFlow::Continue(())
            };
            let day = Partition::Day(day);
            snapshot.scan(day, &from, until.as_deref(), &mut visit).unwrap();
        }
    }
    count
}

/// Returns true if chores were done and days ended while the server was killed.
fn met(data: &Path, kills: u64) {
    let store =
        FjallStore::open(data, Expected::Existing, tidings_store::Options::default()).unwrap();
    let snapshot = store.snapshot().unwrap();
    let days = snapshot.days().unwrap().len();
    let runs = rows(&*snapshot, Table::Segments);
    println!("{days} days, {runs} rows of runs");
    assert!(kills < 20 || (days > 2 && runs > 0), "{days} {runs}");
}

#[test]
fn what_was_acknowledged_is_told_exactly_once_whenever_the_process_is_killed() {
    let number = |variable: &str| std::env::var(variable).ok().map(|n| n.parse::<u64>().unwrap());
    let kills = number("TIDINGS_KILLS").unwrap_or(50);
    let seed = number("TIDINGS_SEED").unwrap_or_else(|| u64::from(std::process::id()));
    println!("TIDINGS_SEED={seed} TIDINGS_KILLS={kills}");
    let mut chance = Chance::new(seed);
    let directory = tempfile::tempdir().unwrap();
    let mut world = World::new(directory.path());
    let known = Mutex::new(Known::default());
    let next = AtomicU64::new(1);
    {
        let server = Server::start_busy(&world.config, &world.data, 0);
        setup(&Api::new(&server.url));
        server.kill();
    }
    for _ in 0..kills {
        one_life(&mut world, &known, &next, &mut chance);
    }
    let server = Server::start_busy(&world.config, &world.data, world.ahead_ms);
    let api = Api::new(&server.url);
    let known = known.into_inner().unwrap();
    judge(&[api], &known, &world.told);
    server.kill();
    met(&world.data, kills);
}
