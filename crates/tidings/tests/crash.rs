//! The real process, killed again and again under load: what was acknowledged is told exactly once,
//! what was not acknowledged never twice, and a mail that goes more than once is counted as sent again.
//!
//! The server writes its checkpoints and turns its journal round after a few records, and its clock comes
//! to midnight in many of its lives, so that kills meet these too.
//!
//! `TIDINGS_KILLS=500` kills more often, `TIDINGS_SEED=n` plays one run's choices again (not its
//! interleaving: that is the machine's).

#![allow(
    clippy::unwrap_used,
    reason = "a test ends where something is not as it should be"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use mail_parser::MessageParser;
use serde_json::{Value, json};
use tidings_core::BucketNo;
use tidings_core::table::{Key, Owner, Partition, Table};
use tidings_core::time::DAY_MS;
use tidings_node::{Clock as _, SystemClock};
use tidings_store::{FjallStore, Snapshot, Store as _};

mod serving;

use serving::mail::{Heard, MailServer, Stops, message_id};
use serving::{Api, Chance, Patience, Server};

/// Recipients; all of them follow `topic/N` of the last digit of their number.
const RECIPIENTS: u64 = 40;

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

/// The knowledge of the clients.
#[derive(Default)]
struct Known {
    /// By event id: whom it is for.
    asked: BTreeMap<String, BTreeSet<String>>,
    acknowledged: BTreeSet<String>,
    /// Asked, and the connection broke before the answer: the same is asked again.
    open: Vec<Value>,
}

fn name(number: u64) -> String {
    format!("r{number}")
}

/// An event, with whom it is for.
fn event(chance: &mut Chance, number: u64) -> (Value, BTreeSet<String>) {
    let kind = if chance.below(3) == 0 {
        "alert"
    } else {
        "note"
    };
    let mut event = json!({
        "id": format!("e{number}"),
        "type": kind,
        "object": {"id": format!("o{number}"), "title": title(number)},
    });
    let to = if chance.below(4) == 0 {
        let topic = chance.below(10);
        event["to"] = json!({"topics": [format!("topic/{topic}")]});
        (0..RECIPIENTS)
            .filter(|number| number % 10 == topic)
            .map(name)
            .collect()
    } else {
        let to: BTreeSet<String> = (0..=chance.below(2))
            .map(|_| name(chance.below(RECIPIENTS)))
            .collect();
        event["to"] = json!({"recipients": to});
        to
    };
    (event, to)
}

/// A word that stands in no other event's title.
fn title(number: u64) -> String {
    format!("Note{number:07}end")
}

/// One client: publishes until the server is gone.
fn publish(api: &Api, known: &Mutex<Known>, next: &AtomicU64, mut chance: Chance) {
    loop {
        let mut events = std::mem::take(&mut known.lock().unwrap().open);
        events.truncate(20);
        let fresh = if chance.below(2) == 0 {
            1
        } else {
            chance.below(8)
        };
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
                    known
                        .acknowledged
                        .insert(result["id"].as_str().unwrap().to_owned());
                }
            }
            Ok((429 | 503, _)) => known.lock().unwrap().open.extend(events),
            Ok((status, answer)) => panic!("{status} {answer}"),
            Err(_) => return known.lock().unwrap().open.extend(events),
        }
    }
}

/// The results of a publish: an array's one by one, or the single one.
fn results(answer: &Value) -> Vec<&Value> {
    match answer {
        Value::Array(list) => list.iter().collect(),
        other => match other["events"].as_array() {
            Some(list) => list.iter().collect(),
            None => vec![other],
        },
    }
}

fn setup(api: &Api) {
    for number in 0..RECIPIENTS {
        let id = name(number);
        let profile = json!({"email": format!("{id}@example.org")});
        let (status, answer) = api.put(&format!("/v1/recipients/{id}"), &profile).unwrap();
        assert!(matches!(status, 200 | 201 | 204), "{status} {answer}");
        let topic = format!("/v1/recipients/{id}/subscriptions/topic/{}", number % 10);
        let (status, answer) = api.put(&topic, &Value::Null).unwrap();
        assert!(matches!(status, 200 | 201 | 204), "{status} {answer}");
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

/// The mails that the mail server was handed.
#[derive(Default)]
struct Told {
    /// By the name of a mail: the mail, and how often it came.
    mails: BTreeMap<String, (String, u64)>,
    /// By recipient and event: the names of the mails that tell it.
    events: BTreeMap<(String, u64), BTreeSet<String>>,
}

impl Told {
    fn add(&mut self, mail: &str) {
        let name = message_id(mail).to_owned();
        let parsed = MessageParser::default().parse(mail.as_bytes()).unwrap();
        let to = parsed.to().unwrap().first().unwrap().address().unwrap();
        let recipient = to.split('@').next().unwrap().to_owned();
        let text = parsed.body_text(0).unwrap();
        let numbers = text
            .split("Note")
            .skip(1)
            .filter_map(|rest| rest.split_once("end")?.0.parse().ok());
        for number in numbers {
            let telling = self.events.entry((recipient.clone(), number)).or_default();
            telling.insert(name.clone());
        }
        let (first, times) = self
            .mails
            .entry(name)
            .or_insert_with(|| (mail.to_owned(), 0));
        assert_eq!(*first, mail, "one name, and other bytes");
        *times += 1;
    }

    /// Number of mails that came more than once.
    fn again(&self) -> u64 {
        self.mails.values().filter(|(_, times)| *times > 1).count() as u64
    }
}

impl World {
    fn new(directory: &Path) -> Self {
        let mail = MailServer::start(&[Stops::Never]);
        let told: Arc<Mutex<Told>> = Arc::default();
        let world = Self {
            config: directory.join("tidings.toml"),
            data: directory.join("data"),
            ahead_ms: 0,
            told: Arc::clone(&told),
        };
        let config = CONFIG.replace("PORT", &mail.port.to_string());
        fs::write(&world.config, config).unwrap();
        std::thread::spawn(move || {
            for heard in mail.heard {
                if let Heard::Message(mail) = heard {
                    told.lock().unwrap().add(&mail);
                }
            }
        });
        world
    }

    fn mails(&self) -> u64 {
        let told = self.told.lock().unwrap();
        told.mails.values().map(|(_, times)| times).sum()
    }

    /// Puts the server's clock shortly before its next midnight.
    fn go_to_midnight(&mut self) {
        let now = SystemClock.now().0 + self.ahead_ms;
        let left = DAY_MS - now.rem_euclid(DAY_MS);
        self.ahead_ms += (left - BEFORE_MIDNIGHT_MS).max(0);
    }
}

/// Number of times that each recipient has each event in the inbox.
fn told_by_inbox(api: &Api) -> BTreeMap<(String, u64), u64> {
    let mut told = BTreeMap::new();
    for number in 0..RECIPIENTS {
        let recipient = name(number);
        for event in api.inbox_events(&recipient) {
            let event: u64 = event.strip_prefix('e').unwrap().parse().unwrap();
            *told.entry((recipient.clone(), event)).or_insert(0) += 1;
        }
    }
    told
}

/// Waits until nothing waits in a lane any more and every mail has left; how many mails tell each
/// recipient each event then.
fn settle(api: &Api, known: &Known, world: &World) -> BTreeMap<(String, u64), u64> {
    let patience = Patience::new();
    loop {
        let missing = {
            let told = world.told.lock().unwrap();
            let mut ids = known.acknowledged.iter();
            ids.find(|id| {
                let number: u64 = id[1..].parse().unwrap();
                let mut to = known.asked[*id].iter();
                to.any(|to| !told.events.contains_key(&(to.clone(), number)))
            })
        };
        let waits = (0..RECIPIENTS).any(|number| api.waits(&name(number)));
        let (_, due) = api.get("/v1/admin/due").unwrap();
        let sending = &due["sending"];
        if missing.is_none() && !waits && *sending == 0 {
            let told = world.told.lock().unwrap();
            let times = |(told, mails): (&(String, u64), &BTreeSet<String>)| {
                (told.clone(), mails.len() as u64)
            };
            return told.events.iter().map(times).collect();
        }
        patience.wait(|| {
            format!(
                "acknowledged and never told by mail: {missing:?}; something waits: {waits}; \
                 {sending} are being sent"
            )
        });
    }
}

/// Number of rows a table has in all days.
fn rows(snapshot: &dyn Snapshot, table: Table) -> usize {
    let mut count = 0;
    for day in snapshot.days().unwrap() {
        for bucket in (0..16).map(BucketNo) {
            let from = Key::of(Owner::Bucket(bucket), table).done();
            let until = tidings_core::table::after_prefix(&from);
            let mut visit = |_: &[u8], _: &[u8]| {
                count += 1;
                ControlFlow::Continue(())
            };
            let day = Partition::Day(day);
            snapshot
                .scan(day, &from, until.as_deref(), &mut visit)
                .unwrap();
        }
    }
    count
}

/// Tells whether chores were done and days ended while the server was killed.
fn met(data: &Path, kills: u64) {
    let store = FjallStore::open(data, tidings_store::Options::default()).unwrap();
    let snapshot = store.snapshot().unwrap();
    let days = snapshot.days().unwrap().len();
    let runs = rows(&*snapshot, Table::Segments);
    println!("{days} days, {runs} rows of runs");
    assert!(kills < 20 || (days > 2 && runs > 0), "{days} {runs}");
}

#[test]
fn what_was_acknowledged_is_told_exactly_once_whenever_the_process_is_killed() {
    let number = |variable: &str| {
        std::env::var(variable)
            .ok()
            .map(|n| n.parse::<u64>().unwrap())
    };
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
    let by_mail = settle(&api, &known, &world);
    let (again, resent) = (
        world.told.lock().unwrap().again(),
        api.metric("tidings_messages_resent_total"),
    );
    println!("{again} mails came more than once, {resent} are counted as sent again");
    assert!(
        again <= resent,
        "{again} came more than once, {resent} are counted"
    );
    let by_inbox = told_by_inbox(&api);
    for told in [&by_mail, &by_inbox] {
        let twice: Vec<_> = told.iter().filter(|(_, count)| **count > 1).collect();
        assert!(twice.is_empty(), "told twice: {twice:?}");
    }
    let mail: BTreeSet<_> = by_mail.keys().collect();
    let inbox: BTreeSet<_> = by_inbox.keys().collect();
    let apart: Vec<_> = mail.symmetric_difference(&inbox).collect();
    assert!(apart.is_empty(), "told on one channel alone: {apart:?}");
    let mut told = 0;
    for (id, to) in &known.asked {
        let number: u64 = id[1..].parse().unwrap();
        let have: BTreeSet<&String> = to
            .iter()
            .filter(|to| by_inbox.contains_key(&((*to).clone(), number)))
            .collect();
        // What nobody acknowledged happened whole or not at all.
        let all_or_nothing = have.is_empty() || have.len() == to.len();
        let all = have.len() == to.len() || !known.acknowledged.contains(id);
        assert!(all_or_nothing && all, "{id} reached {have:?} of {to:?}");
        told += have.len();
    }
    assert_eq!(
        told,
        by_inbox.len(),
        "told to somebody whom nobody asked for"
    );
    println!(
        "{} events acknowledged, {} asked; {told} notifications",
        known.acknowledged.len(),
        known.asked.len()
    );
    server.kill();
    met(&world.data, kills);
}
