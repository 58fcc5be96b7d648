//! The real process, and reports of what became of its mails.

#![allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]

mod serving;

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use serving::{Api, Patience, Server};

const CONFIG: &str = r#"
[categories.news]
[types.note]
category = "news"
channels = { email = { policy = "now" } }

[channels.email]
provider = "file://MAILS"
from = "News <news@example.org>"

[feedback]
maildir = "bounces"
postmark = "${LOGIN}"
"#;

/// The tag of the only mail of a Maildir, once there is one.
fn tag(mails: &Path) -> String {
    let patience = Patience::new();
    loop {
        let found = fs::read_dir(mails.join("new")).into_iter().flatten().next();
        if let Some(entry) = found {
            let mail = fs::read_to_string(entry.unwrap().path()).unwrap();
            let mut lines = mail.lines();
            let tag = lines.find_map(|line| line.strip_prefix("X-Tidings-Message: "));
            return tag.unwrap().to_owned();
        }
        patience.wait(|| "no mail".to_owned());
    }
}

/// The answers in the time line of the only message.
fn answers(api: &Api) -> Vec<Value> {
    let (_, messages) = api.get("/v1/messages").unwrap();
    let id = messages["messages"][0]["id"].as_str().unwrap();
    let (_, message) = api.get(&format!("/v1/messages/{id}")).unwrap();
    message["attempts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|attempt| attempt["answer"].clone())
        .collect()
}

#[test]
fn calls_and_mails_report_what_became_of_a_mail() {
    let dir = tempfile::tempdir().unwrap();
    let (config, mails) = (dir.path().join("tidings.toml"), dir.path().join("mails"));
    let bounces = dir.path().join("bounces");
    for part in ["new", "cur", "tmp"] {
        fs::create_dir_all(bounces.join(part)).unwrap();
    }
    fs::write(&config, CONFIG.replace("MAILS", &mails.display().to_string())).unwrap();
    let start = || Server::start_with(&config, &dir.path().join("data"), "LOGIN", "me:secret");
    let server = start();
    let api = Api::new(&server.url);
    api.put("/v1/recipients/ann", &json!({"email": "ann@example.org"})).unwrap();
    let event = json!({"type": "note", "object": {"id": "o"}, "to": {"recipients": ["ann"]}});
    api.post("/v1/events", &event).unwrap();
    let tag = tag(&mails);
    // A report that comes before the answer of the provider itself would be replaced by it.
    let patience = Patience::new();
    while answers(&api).is_empty() {
        patience.wait(|| "the mail has no answer".to_owned());
    }

    let call = json!({"RecordType": "Delivery", "Metadata": {"tidings_message": tag}});
    assert_eq!(api.post("/feedback/postmark", &call).unwrap().0, 401);
    let agent = ureq::Agent::new_with_defaults();
    let signed = agent
        .post(format!("{}/feedback/postmark", server.url))
        .header("authorization", "Basic bWU6c2VjcmV0");
    assert_eq!(signed.send_json(&call).unwrap().status(), 204);
    assert!(answers(&api).contains(&json!("delivered")));

    // A server looks for mails when it starts, and then again and again.
    drop(server);
    let bounce = format!(
        "From: MAILER-DAEMON@mx.example.net\nTo: bounces+{tag}@example.org\nSubject: Undelivered\n\n\
         <ann@example.org>: 550 5.1.1 User unknown (in reply to RCPT TO command)\n"
    );
    fs::write(bounces.join("new/1"), bounce).unwrap();
    let server = start();
    let api = Api::new(&server.url);
    let patience = Patience::new();
    let suppressed = || api.get("/v1/suppressions/email/ann@example.org").unwrap().0;
    while suppressed() != 200 {
        patience.wait(|| "the bounce is not taken in".to_owned());
    }
    assert!(answers(&api).contains(&json!("bounced")));
    while !bounces.join("cur/1:2,S").exists() {
        patience.wait(|| "the bounce is not put away".to_owned());
    }
}
