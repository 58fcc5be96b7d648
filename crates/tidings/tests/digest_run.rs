//! The real process, killed in the middle of a run of digests: everybody has one, and the few of which nobody knows
//! are counted and listed.
//!
//! `TIDINGS_DIGESTS=50000` has so many recipients.

#![allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::process::Command;
use std::sync::{Arc, Mutex};

use serde_json::json;
use tidings_core::model::DAY_MS;

mod serving;

use serving::mail::{Heard, MailServer, Stops};
use serving::{Api, Patience, Server};

const CONFIG: &str = r#"
[digests.daily]
every = "day"
at = "09:00"

[categories.news]

[types.note]
category = "news"
unknown_outcome = "CHOICE"
[types.note.channels]
email = { policy = "digest", digest = "daily" }

[channels.email]
provider = "smtp://127.0.0.1:PORT?tls=none"
from = "News <news@example.org>"
"#;

/// The kills, each after so many parts in a hundred of the mails.
const KILLED_AT: [usize; 3] = [10, 40, 80];

/// The most messages that are built and not answered when a kill comes.
const IN_FLIGHT_MAX: usize = 300;

/// Counts the mails of each recipient as they come.
fn counted(server: MailServer) -> Arc<Mutex<BTreeMap<String, u32>>> {
    let told: Arc<Mutex<BTreeMap<String, u32>>> = Arc::default();
    let counts = Arc::clone(&told);
    std::thread::spawn(move || {
        for heard in server.heard {
            let Heard::Message(mail) = heard else {
                continue;
            };
            let to = mail.lines().find_map(|line| line.strip_prefix("To: "));
            let to = to.unwrap().trim_matches(['<', '>']).split('@').next();
            *counts.lock().unwrap().entry(to.unwrap().to_owned()).or_default() += 1;
        }
    });
    told
}

/// The recipients of all messages in a state.
fn listed(api: &Api, state: &str) -> BTreeSet<String> {
    let mut recipients = BTreeSet::new();
    let mut cursor = String::new();
    loop {
        let (status, page) =
            api.get(&format!("/v1/messages?state={state}&limit=200{cursor}")).unwrap();
        assert_eq!(status, 200, "{page}");
        for message in page["messages"].as_array().unwrap() {
            recipients.insert(message["recipient"].as_str().unwrap().to_owned());
        }
        match page["next"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return recipients,
        }
    }
}

/// A run that was killed three times and went to its end.
struct Run {
    people: usize,
    told: BTreeMap<String, u32>,
    unknown: BTreeSet<String>,
    resent: u64,
}

fn run(unknown_outcome: &str) -> Run {
    let people = std::env::var("TIDINGS_DIGESTS").map_or(3_000, |n| n.parse::<usize>().unwrap());
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let mail = MailServer::start(&[Stops::Never]);
    let config = CONFIG.replace("PORT", &mail.port.to_string()).replace("CHOICE", unknown_outcome);
    fs::write(path("tidings.toml"), config).unwrap();
    let mut recipients = String::new();
    for number in 0..people {
        let _ = writeln!(recipients, r#"{{"id": "r{number}", "email": "r{number}@example.org"}}"#);
    }
    fs::write(path("recipients.ndjson"), recipients).unwrap();
    let imported = Command::new(env!("CARGO_BIN_EXE_tidings"))
        .args(["import", "--kind", "recipients"])
        .arg(path("recipients.ndjson"))
        .arg("--config")
        .arg(path("tidings.toml"))
        .arg("--data")
        .arg(path("data"))
        .output()
        .unwrap();
    assert!(imported.status.success(), "{imported:?}");
    let told = counted(mail);
    let start = |ahead_ms| Server::start_ahead(&path("tidings.toml"), &path("data"), ahead_ms);

    let server = start(0);
    let event =
        json!({"id": "e1", "type": "note", "object": {"id": "a"}, "to": {"everyone": true}});
    let (status, answer) = Api::new(&server.url).post("/v1/events", &event).unwrap();
    assert_eq!(status, 202, "{answer}");
    server.kill();

    let have = || told.lock().unwrap().len();
    let reach = |wanted: usize| {
        let patience = Patience::new();
        while have() < wanted {
            patience.wait(|| format!("{} of {wanted} mails", have()));
        }
    };
    for part in KILLED_AT {
        let server = start(DAY_MS);
        reach(people * part / 100);
        server.kill();
    }
    let server = start(DAY_MS);
    let api = Api::new(&server.url);
    let patience = Patience::new();
    let is_sending = |api: &Api| {
        let (_, due) = api.get("/v1/admin/due").unwrap();
        due["sending"] != 0 || due["unmade"] != 0
    };
    while have() + listed(&api, "unknown").len() < people || is_sending(&api) {
        patience.wait(|| format!("{} of {people} mails", have()));
    }

    assert_eq!(listed(&api, "failed"), BTreeSet::new());
    let (told, unknown) = (told.lock().unwrap().clone(), listed(&api, "unknown"));
    let resent = api.metric("tidings_messages_resent_total");
    println!("{} told, {} unknown, {resent} sent again", told.len(), unknown.len());
    Run { people, told, unknown, resent }
}

#[test]
fn what_must_not_come_twice_comes_once_or_is_listed() {
    let run = run("give_up");
    let twice: Vec<_> = run.told.iter().filter(|(_, times)| **times > 1).collect();
    assert!(twice.is_empty(), "told twice: {twice:?}");
    let neither: Vec<_> = (0..run.people)
        .map(|number| format!("r{number}"))
        .filter(|id| !run.told.contains_key(id) && !run.unknown.contains(id))
        .collect();
    assert!(neither.is_empty(), "neither told nor listed: {neither:?}");
    let few = KILLED_AT.len() * IN_FLIGHT_MAX;
    assert!(run.unknown.len() <= few, "{:?}", run.unknown);
}

#[test]
fn a_killed_run_tells_everybody_and_counts_what_it_sends_again() {
    let run = run("resend");
    assert_eq!((run.told.len(), run.unknown.len()), (run.people, 0));
    let twice = run.told.values().filter(|times| **times > 1).count();
    assert!(twice as u64 <= run.resent, "{twice} came more than once, {} are counted", run.resent);
    assert!(run.resent <= (KILLED_AT.len() * IN_FLIGHT_MAX) as u64, "{}", run.resent);
}
