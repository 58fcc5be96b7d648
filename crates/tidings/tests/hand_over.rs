//! The real process, killed beside a mail server: between making a message and handing it over, and
//! between handing it over and noting that it was taken (acceptance A19).

#![allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]

use std::path::Path;

use serde_json::{Value, json};

mod serving;

use serving::mail::{Heard, MailServer, Stops, message_id};
use serving::{Api, Patience, Server};

const CONFIG: &str = r#"
[categories.news]

[types.note]
category = "news"
[types.note.channels]
inbox = { policy = "now" }
email = { policy = "now" }

[channels.email]
provider = "smtp://127.0.0.1:PORT?tls=none"
from = "News <news@example.org>"
"#;

fn publish(api: &Api, id: &str, title: &str) {
    let event = json!({
        "id": id,
        "type": "note",
        "object": {"id": id, "title": title},
        "to": {"recipients": ["ana"]},
    });
    let (status, answer) = api.post("/v1/events", &event).unwrap();
    assert_eq!(status, 202, "{answer}");
}

/// The outcomes of the mails of an event, once none is on its way any more.
fn mailed(api: &Api, id: &str) -> Value {
    let patience = Patience::new();
    loop {
        let (status, event) = api.get(&format!("/v1/events/{id}")).unwrap();
        assert_eq!(status, 200, "{event}");
        let email = &event["channels"]["email"];
        if email["pending"] == 0 {
            return email["outcomes"].clone();
        }
        patience.wait(|| format!("still on its way: {event}"));
    }
}

/// A server with a recipient, whose mails go to `mail`.
fn begin(mail: &MailServer, directory: &Path) -> Server {
    let config = CONFIG.replace("PORT", &mail.port.to_string());
    std::fs::write(directory.join("tidings.toml"), config).unwrap();
    let server = again(directory);
    let profile = json!({"email": "ana@example.org"});
    let (status, answer) = Api::new(&server.url).put("/v1/recipients/ana", &profile).unwrap();
    assert!(status < 300, "{answer}");
    server
}

fn again(directory: &Path) -> Server {
    Server::start(&directory.join("tidings.toml"), &directory.join("data"))
}

#[test]
fn a19_killed_before_the_hand_over_it_is_handed_over_once() {
    let mail = MailServer::start(&[Stops::BeforeContent, Stops::Never]);
    let directory = tempfile::tempdir().unwrap();
    let server = begin(&mail, directory.path());
    publish(&Api::new(&server.url), "e1", "First");
    assert_eq!(mail.next(), Heard::Announced);
    server.kill();
    let server = again(directory.path());
    let api = Api::new(&server.url);
    // It must not get into the message that was made, and must be told by one of its own.
    publish(&api, "e2", "Second");
    for event in ["e1", "e2"] {
        assert_eq!(mailed(&api, event), json!({"delivered": 1}));
    }
    let mails = [mail.next_message(), mail.next_message()];
    assert_ne!(message_id(&mails[0]), message_id(&mails[1]));
    for title in ["First", "Second"] {
        let telling = mails.iter().filter(|mail| mail.contains(title)).count();
        assert_eq!(telling, 1, "{title}: {mails:?}");
    }
    // Nobody could know that the message was not handed over before.
    assert_eq!(api.metric("tidings_messages_resent_total"), 1);
    server.kill();
    // Nothing is left to be handed over.
    let server = again(directory.path());
    publish(&Api::new(&server.url), "e3", "Third");
    assert!(mail.next_message().contains("Third"));
    assert_eq!(mailed(&Api::new(&server.url), "e3"), json!({"delivered": 1}));
}

#[test]
fn a19_killed_after_the_hand_over_the_same_message_goes_once_more() {
    let mail = MailServer::start(&[Stops::AfterDot, Stops::Never]);
    let directory = tempfile::tempdir().unwrap();
    let server = begin(&mail, directory.path());
    publish(&Api::new(&server.url), "e1", "First");
    let first = mail.next_message();
    server.kill();
    let server = again(directory.path());
    let api = Api::new(&server.url);
    publish(&api, "e2", "Second");
    for event in ["e1", "e2"] {
        assert_eq!(mailed(&api, event), json!({"delivered": 1}));
    }
    let mails = [mail.next_message(), mail.next_message()];
    let is_same = |mail: &&String| message_id(mail) == message_id(&first);
    let same: Vec<&String> = mails.iter().filter(is_same).collect();
    assert_eq!(same, [&first], "the same bytes under the same name");
    let other = mails.iter().find(|mail| !is_same(mail)).unwrap();
    assert!(other.contains("Second") && !other.contains("First"));
    assert_eq!(api.metric("tidings_messages_resent_total"), 1);
    server.kill();
    let server = again(directory.path());
    publish(&Api::new(&server.url), "e3", "Third");
    assert!(mail.next_message().contains("Third"), "nothing goes a third time");
    assert_eq!(mailed(&Api::new(&server.url), "e3"), json!({"delivered": 1}));
}

/// Starts a server that waits so long at its end, with a mail that the mail server holds.
fn holding(mail: &MailServer, directory: &Path, drain: &str) -> Server {
    begin(mail, directory);
    let log = std::fs::File::create(directory.join("log")).unwrap();
    let (config, data) = (directory.join("tidings.toml"), directory.join("data"));
    let server = Server::start_with_drain(&config, &data, drain, log);
    publish(&Api::new(&server.url), "e1", "First");
    assert_eq!(mail.next(), Heard::Announced);
    server
}

#[test]
fn a19_a_stop_ends_with_its_drain_although_the_mail_server_hangs() {
    let mail = MailServer::start(&[Stops::BeforeContent, Stops::Never]);
    let directory = tempfile::tempdir().unwrap();
    let server = holding(&mail, directory.path(), "100ms");
    server.signal("TERM");
    assert_eq!(server.wait().code(), Some(0));
    let said = std::fs::read_to_string(directory.path().join("log")).unwrap();
    assert!(said.contains("messages=1"), "{said}");
    // What was under way goes as after a crash.
    let server = again(directory.path());
    let api = Api::new(&server.url);
    assert_eq!(mailed(&api, "e1"), json!({"delivered": 1}));
    assert!(mail.next_message().contains("First"));
    assert_eq!(api.metric("tidings_messages_resent_total"), 1);
}

#[test]
fn a_second_signal_ends_at_once() {
    let mail = MailServer::start(&[Stops::BeforeContent]);
    let directory = tempfile::tempdir().unwrap();
    let server = holding(&mail, directory.path(), "1h");
    server.signal("TERM");
    let patience = Patience::new();
    loop {
        let said = std::fs::read_to_string(directory.path().join("log")).unwrap();
        if said.contains("stopping") {
            break;
        }
        patience.wait(|| said.clone());
    }
    server.signal("TERM");
    assert_eq!(server.wait().code(), Some(1));
}

#[test]
fn a_mail_that_is_tried_again_is_visible_with_its_last_answer() {
    let mail = MailServer::start(&[Stops::Defers]);
    let directory = tempfile::tempdir().unwrap();
    begin(&mail, directory.path());
    let log = std::fs::File::create(directory.path().join("log")).unwrap();
    let (config, data) = (directory.path().join("tidings.toml"), directory.path().join("data"));
    let server = Server::start_logging(&config, &data, log);
    let api = Api::new(&server.url);
    publish(&api, "e1", "First");
    let patience = Patience::new();
    let message = loop {
        let (_, pending) = api.get("/v1/recipients/ana/pending").unwrap();
        if let Some(message) = pending["messages"].get(0) {
            break message.clone();
        }
        patience.wait(|| format!("nothing is deferred: {pending}"));
    };
    assert_eq!(message["failed_attempts"], 1);
    let last = &message["last"];
    assert_eq!(
        (&last["answer"], &last["reply"]),
        (&json!("retry"), &json!("DATA: 451 4.3.0")),
        "the code, and no address"
    );
    assert!(message["next_try"].is_string(), "{message}");
    assert_eq!(message["held_by"], Value::Null);
    let (_, due) = api.get("/v1/admin/due").unwrap();
    assert_eq!(due["deferred"], json!({"messages": 1, "next": [message]}));
    let said = std::fs::read_to_string(directory.path().join("log")).unwrap();
    let line = said.lines().find(|line| line.contains("mail deferred"));
    let line = line.unwrap();
    assert!(line.contains("mail deferred, retry in 3"), "{line}");
    assert!(line.contains("DATA") && line.contains("451 4.3.0"), "{line}");
    assert!(line.contains("similar_suppressed=0"), "{line}");
    let (status, answer) = api.post("/v1/channels/email/pause", &Value::Null).unwrap();
    assert!(status < 300, "{answer}");
    let (_, pending) = api.get("/v1/recipients/ana/pending").unwrap();
    let held = &pending["messages"][0];
    assert_eq!((&held["held_by"], &held["next_try"]), (&json!("paused"), &Value::Null));
}
