//! The log of changes of the real process, killed again and again while it is changed: no change without its line, no
//! line without its change.
//!
//! `TIDINGS_KILLS=200` kills more often, `TIDINGS_SEED=n` plays one run's choices again (not its interleaving: that is
//! the machine's).

#![allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]

use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};

mod serving;

use serving::{Api, Chance, Patience, Server};

const CONFIG: &str = r#"
[categories.news]

[types.note]
category = "news"
channels = { inbox = { policy = "now" }, email = { policy = "now" } }
"#;

const ZONES: [&str; 4] = ["UTC", "Europe/Paris", "Asia/Tokyo", "America/New_York"];

/// Number of clients, each of which changes people of its own.
const CLIENTS: u64 = 3;

/// Number of people of a client.
const PEOPLE: u64 = 4;

/// One client: changes people and pauses a channel until the server is gone.
fn change(api: &Api, client: u64, done: &AtomicU64, mut chance: Chance) {
    loop {
        let answer = match chance.below(4) {
            0 => {
                let verb = ["pause", "resume"][usize::try_from(chance.below(2)).unwrap()];
                api.post(&format!("/v1/channels/email/{verb}"), &Value::Null)
            }
            _ => {
                let zone = ZONES[usize::try_from(chance.below(4)).unwrap()];
                let person = format!("/v1/recipients/p{client}-{}", chance.below(PEOPLE));
                api.put(&person, &json!({ "tz": zone }))
            }
        };
        match answer {
            Ok((200..300, _)) => done.fetch_add(1, Ordering::Relaxed),
            Ok((429 | 503, _)) => continue,
            Ok((status, answer)) => panic!("{status} {answer}"),
            Err(_) => return,
        };
    }
}

/// The values that a field had about a subject, from the lines: each begins where the one before has ended.
fn last_value(api: &Api, subject: &str, name: &str, first: &Value) -> Value {
    let mut lines: Vec<Value> = Vec::new();
    let mut cursor = String::new();
    loop {
        let path = format!("/v1/admin/log?limit=500&subject={subject}{cursor}");
        let (status, page) = api.get(&path).unwrap();
        assert_eq!(status, 200, "{page}");
        lines.extend(page["log"].as_array().unwrap().iter().cloned());
        let Some(next) = page["next"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    let fields = lines.iter().rev().flat_map(|line| line["fields"].as_array().unwrap());
    let mut value = first.clone();
    for field in fields.filter(|field| field["name"] == name) {
        assert_eq!(field["from"], value, "{subject}: a change has no line: {lines:?}");
        assert_ne!(field["from"], field["to"], "{subject}: a line has no change");
        value = field["to"].clone();
    }
    value
}

#[test]
fn no_change_is_without_its_line_whenever_the_process_is_killed() {
    let number = |variable: &str| std::env::var(variable).ok().map(|n| n.parse::<u64>().unwrap());
    let kills = number("TIDINGS_KILLS").unwrap_or(12);
    let seed = number("TIDINGS_SEED").unwrap_or_else(|| u64::from(std::process::id()));
    println!("TIDINGS_SEED={seed} TIDINGS_KILLS={kills}");
    let mut chance = Chance::new(seed);
    let directory = tempfile::tempdir().unwrap();
    let (config, data) = (directory.path().join("tidings.toml"), directory.path().join("data"));
    fs::write(&config, CONFIG).unwrap();
    for _ in 0..kills {
        let server = Server::start_busy(&config, &data, 0);
        let api = Api::new(&server.url);
        let (done, enough) = (AtomicU64::new(0), 1 + chance.below(120));
        std::thread::scope(|scope| {
            for client in 0..CLIENTS {
                let (api, done, chance) = (api.clone(), &done, chance.branch());
                scope.spawn(move || change(&api, client, done, chance));
            }
            let patience = Patience::new();
            while done.load(Ordering::Relaxed) < enough {
                patience.wait(|| "nothing goes on".to_owned());
            }
            server.kill();
        });
    }
    let server = Server::start_busy(&config, &data, 0);
    let api = Api::new(&server.url).insisting();
    let mut known = 0;
    for client in 0..CLIENTS {
        for person in 0..PEOPLE {
            let id = format!("p{client}-{person}");
            let zone = last_value(&api, &format!("recipient:{id}"), "tz", &Value::Null);
            let (status, profile) = api.get(&format!("/v1/recipients/{id}")).unwrap();
            if status == 404 {
                assert_eq!(zone, Value::Null, "{id}: a line has no change");
                continue;
            }
            assert_eq!(profile["tz"], zone, "{id}: the last change has no line");
            known += 1;
        }
    }
    assert!(known > 0, "nobody was made");
    // The channel is as its last line says: to pause it then leaves a line, or none.
    let is_paused = last_value(&api, "channel:email", "paused", &json!(false));
    assert_eq!(api.post("/v1/channels/email/pause", &Value::Null).unwrap().0, 204);
    let (_, page) = api.get("/v1/admin/log?limit=1").unwrap();
    let last = &page["log"][0];
    let is_new = last["action"] == "pause_channel" && last["fields"][0]["from"] == false;
    assert!(is_paused == true || is_new, "{last}");
    assert_eq!(last_value(&api, "channel:email", "paused", &json!(false)), true);
}
