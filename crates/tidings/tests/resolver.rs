//! The real process and a host that it asks what objects are, before it makes mails.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]

mod serving;

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;

use serde_json::{Value, json};
use serving::{Api, Patience, Server};

const CONFIG: &str = r#"
[categories.news]
[types.note]
category = "news"
channels = { inbox = { policy = "never" }, email = { policy = "now" } }

[channels.email]
provider = "file://MAILS"
from = "News <news@example.org>"

[resolver]
url = "URL"
"#;

/// A host that gives each question the same answer.
fn host(answer: Value) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/objects", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = BufReader::new(stream.unwrap());
            let mut length = 0;
            loop {
                let mut line = String::new();
                stream.read_line(&mut line).unwrap();
                let line = line.trim().to_lowercase();
                if let Some(bytes) = line.strip_prefix("content-length: ") {
                    length = bytes.parse().unwrap();
                }
                if line.is_empty() {
                    break;
                }
            }
            stream.read_exact(&mut vec![0; length]).unwrap();
            let body = answer.to_string();
            let head = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length:";
            write!(stream.get_mut(), "{head} {}\r\n\r\n{body}", body.len()).unwrap();
        }
    });
    url
}

#[test]
fn mails_show_what_the_host_says_and_not_what_it_retracts() {
    let dir = tempfile::tempdir().unwrap();
    let url = host(json!({
        "objects": [{"id": "works/1", "title": "A title of today"}],
        "retracted": ["works/2"],
    }));
    let (config, mails) = (dir.path().join("tidings.toml"), dir.path().join("mails"));
    let text = CONFIG.replace("MAILS", &mails.display().to_string());
    fs::write(&config, text.replace("URL", &url)).unwrap();
    let server = Server::start(&config, &dir.path().join("data"));
    let api = Api::new(&server.url);
    let person = json!({"email": "ann@example.org"});
    api.put("/v1/recipients/ann", &person).unwrap();
    let mut ended = Vec::new();
    for number in [1, 2] {
        let event = json!({
            "id": format!("e{number}"),
            "type": "note",
            "object": {"id": format!("works/{number}"), "title": "A title of yesterday"},
            "to": {"recipients": ["ann"]},
        });
        assert_eq!(api.post("/v1/events", &event).unwrap().0, 202);
        let patience = Patience::new();
        ended.push(loop {
            let (_, event) = api.get(&format!("/v1/events/e{number}")).unwrap();
            if event["channels"]["email"]["pending"] == 0 {
                break event["channels"]["email"]["outcomes"].clone();
            }
            patience.wait(|| format!("nothing came of it: {event}"));
        });
    }
    assert_eq!(ended, [json!({"delivered": 1}), json!({"skipped": 1})]);
    let mails: Vec<String> = fs::read_dir(mails.join("new"))
        .unwrap()
        .map(|mail| fs::read_to_string(mail.unwrap().path()).unwrap())
        .collect();
    assert_eq!(mails.len(), 1);
    assert!(mails[0].contains("A title of today"), "{}", mails[0]);
}
