//! Jobs of the real process: killed again and again in the middle of one, and taken over by another node. Each message
//! is acted on once, and the counts of the job add up in the end.

#![allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tidings_loopback::Postgres;

mod serving;

use serving::mail::{Heard, MailServer, Stops, message_id};
use serving::{Api, Patience, Server, skip};

/// Recipients with a message each: a job takes more than half a second for them.
const MESSAGES: u64 = 600;

const CONFIG: &str = r#"
[store]
parts = PARTS

[categories.news]

[types.note]
category = "news"
[types.note.channels]
email = { policy = "now" }

[channels.email]
provider = "smtp://127.0.0.1:PORT?tls=none"
from = "News <news@example.org>"
"#;

/// The mails by their Message-ID, and how often each came.
#[derive(Clone, Default)]
struct Mails(Arc<Mutex<BTreeMap<String, u64>>>);

impl Mails {
    fn follow(mail: MailServer) -> Self {
        let mails = Self::default();
        let noted = mails.clone();
        std::thread::spawn(move || {
            while let Ok(heard) = mail.heard.recv() {
                if let Heard::Message(text) = heard {
                    let id = message_id(&text).to_owned();
                    *noted.0.lock().unwrap().entry(id).or_default() += 1;
                }
            }
        });
        mails
    }

    fn counts(&self) -> Vec<u64> {
        self.0.lock().unwrap().values().copied().collect()
    }
}

fn configure(directory: &Path, parts: u16, mail: &MailServer) {
    let config = CONFIG.replace("PORT", &mail.port.to_string());
    let config = config.replace("PARTS", &parts.to_string());
    fs::write(directory.join("tidings.toml"), config).unwrap();
}

/// Sends a message to everybody, each of which is refused, and makes a job that retries them at once; returns its id.
fn begin(api: &Api) -> String {
    let names: Vec<String> = (0..MESSAGES).map(|number| format!("r{number}")).collect();
    let people: Vec<Value> = names
        .iter()
        .map(|name| json!({"id": name, "email": format!("{name}@example.org")}))
        .collect();
    // A node that has just taken its shards may refuse its lines.
    let (people, patience) = (Value::from(people), Patience::new());
    loop {
        let (status, answer) = api.post("/v1/recipients", &people).unwrap();
        if status < 300 && !answer.to_string().contains("\"rejected\"") {
            break;
        }
        patience.wait(|| format!("not all are known: {answer}"));
    }
    let event = json!({
        "id": "e1", "type": "note", "object": {"id": "works/1"}, "to": {"recipients": names},
    });
    let (status, answer) = api.post("/v1/events", &event).unwrap();
    assert_eq!(status, 202, "{answer}");
    let patience = Patience::new();
    loop {
        let (_, event) = api.get("/v1/events/e1").unwrap();
        if event["channels"]["email"]["outcomes"]["failed"] == MESSAGES {
            break;
        }
        patience.wait(|| format!("still on its way: {event}"));
    }
    let body = json!({"filter": {"state": "failed"}, "expect": MESSAGES, "now": true});
    let dry = json!({"filter": {"state": "failed"}});
    let (status, foreseen) = api.post("/v1/messages/retry?dry=true", &dry).unwrap();
    assert_eq!((status, &foreseen["of"]), (200, &json!(MESSAGES)), "{foreseen}");
    let (status, made) = api.post("/v1/messages/retry", &body).unwrap();
    assert_eq!((status, &made["of"]), (202, &json!(MESSAGES)), "{made}");
    made["job"].as_str().unwrap().to_owned()
}

/// The job once it has acted on more messages than before, or is done.
fn moved(api: &Api, job: &str, before: u64) -> Value {
    let patience = Patience::new();
    loop {
        let (status, shown) = api.get(&format!("/v1/admin/jobs/{job}")).unwrap();
        assert_eq!(status, 200, "{shown}");
        if shown["done"].as_u64().unwrap() > before || shown["state"] == "done" {
            return shown;
        }
        patience.wait(|| format!("it does not go on: {shown}"));
    }
}

/// The messages of a job that are in `state`, page by page: one page may be short, or empty, before the end.
fn messages_of(api: &Api, job: &str, state: &str) -> Vec<Value> {
    let mut found = Vec::new();
    let mut cursor = String::new();
    loop {
        let path = format!("/v1/messages?job={job}&state={state}&limit=500{cursor}");
        let (status, mut page) = api.get(&path).unwrap();
        assert_eq!(status, 200, "{page}");
        found.extend(serde_json::from_value::<Vec<_>>(page["messages"].take()).unwrap());
        let Some(next) = page["next"].as_str() else {
            return found;
        };
        cursor = format!("&cursor={next}");
    }
}

/// Checks the counts of a job that is done, and that each message went.
fn judge(api: &Api, job: &str, mails: &Mails) {
    let mut shown = moved(api, job, MESSAGES);
    assert_eq!((&shown["done"], &shown["left_out"]), (&json!(MESSAGES), &json!({})), "{shown}");
    assert!(shown["began"].is_string() && shown["ended"].is_string(), "{shown}");
    let (_, listed) = api.get("/v1/admin/jobs").unwrap();
    assert_eq!(listed["jobs"], json!([shown.take()]));
    // The mail server of a busy machine may be too slow for one attempt: the message is then retried.
    let patience = Patience::new();
    for state in ["sending", "retrying"] {
        while let [message, ..] = &messages_of(api, job, state)[..] {
            patience.wait(|| format!("still on its way: {message}"));
        }
    }
    // One whose second hand-over may have been cut off by a kill ends as unknown, and does not go a third time.
    let unknown = messages_of(api, job, "unknown").len() as u64;
    assert!(unknown < 400, "{unknown} are unknown");
    // What the mail server has answered may not be counted yet.
    let patience = Patience::new();
    loop {
        let never = MESSAGES - mails.counts().len() as u64;
        if never <= unknown {
            return;
        }
        patience.wait(|| format!("{never} did not go, {unknown} are unknown"));
    }
}

#[test]
fn a_job_acts_once_on_each_message_however_often_the_process_is_killed_in_the_middle() {
    let mail = MailServer::start(&[Stops::RefusesFirst]);
    let directory = tempfile::tempdir().unwrap();
    configure(directory.path(), 3, &mail);
    let mails = Mails::follow(mail);
    let start =
        || Server::start(&directory.path().join("tidings.toml"), &directory.path().join("data"));
    let mut server = start();
    let job = begin(&Api::new(&server.url));
    let (mut done, mut kills) = (0, 0);
    loop {
        let shown = moved(&Api::new(&server.url), &job, done);
        if shown["state"] == "done" {
            break;
        }
        done = shown["done"].as_u64().unwrap();
        server.kill();
        kills += 1;
        server = start();
    }
    assert!(kills > 1, "it was done after {kills} kills");
    let api = Api::new(&server.url);
    judge(&api, &job, &mails);
    // A mail that was on its way when the process was killed may have come once more: a job has fewer than 150 of them
    // on their way.
    let once_more = mails.counts().iter().map(|count| count.saturating_sub(1)).sum::<u64>();
    assert!(once_more <= kills * 150, "{once_more} after {kills} kills");
}

/// The nodes, as one of them knows them.
fn listed(api: &Api) -> Vec<Value> {
    match api.get("/v1/nodes") {
        Ok((200, answer)) => answer.as_array().cloned().unwrap_or_default(),
        _ => Vec::new(),
    }
}

#[test]
fn a_job_goes_on_at_the_node_that_takes_over() {
    if !Postgres::is_installed() {
        return skip("PostgreSQL is not installed");
    }
    let mail = MailServer::start(&[Stops::RefusesFirst]);
    let directory = tempfile::tempdir().unwrap();
    configure(directory.path(), 4, &mail);
    let mails = Mails::follow(mail);
    let database = Postgres::start(directory.path(), &["fsync=off"]).unwrap();
    database.run("postgres", "CREATE DATABASE tidings").unwrap();
    let store = format!("postgres://{}@127.0.0.1:{}/tidings", database.user(), database.port());
    let start = |name: &str| {
        let log = File::create(directory.path().join(format!("{name}.log"))).unwrap();
        let config = directory.path().join("tidings.toml");
        Server::start_plain_node(&config, &store, name, log)
    };
    let nodes = [start("one"), start("two")];
    let api = Api::new(&nodes[0].url).insisting();
    let patience = Patience::new();
    loop {
        // Both have shards.
        let known = listed(&api);
        let has_some = |node: &Value| node["parts"].as_array().is_some_and(|of| !of.is_empty());
        if known.len() == 2 && known.iter().all(has_some) {
            break;
        }
        patience.wait(|| format!("{known:?}"));
    }
    let job = begin(&api);
    let shown = moved(&api, &job, 0);
    assert_eq!(shown["state"], "running", "{shown}");
    let holder = listed(&api).into_iter().find(|node| node["intake"] == true).unwrap();
    let [one, two] = nodes;
    let (killed, other) = if holder["node"] == "one" { (one, two) } else { (two, one) };
    killed.kill();
    judge(&Api::new(&other.url).insisting(), &job, &mails);
}
