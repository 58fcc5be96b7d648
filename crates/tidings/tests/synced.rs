//! The real process under a tracer of system calls: no event is acknowledged before what it is stored in
//! was synced. A kill can't show that, since the operating system keeps what was written.
//!
//! It takes `strace` and the right to trace; elsewhere the test says that it is skipped, and fails where
//! `TIDINGS_REQUIRE_SERVERS` is set.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::json;

mod serving;

use serving::{Api, Patience, Server, skip};

const CONFIG: &str = r#"
[categories.news]

[types.note]
category = "news"
[types.note.channels]
inbox = { policy = "now" }
"#;

const EVENTS: usize = 20;

fn can_trace() -> bool {
    let traced = Command::new("strace")
        .args(["-o", "/dev/null", "true"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    traced.is_ok_and(|status| status.success())
}

/// A fact in a line of the trace that matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    Asked,
    Synced,
    Acknowledged,
}

fn seen(line: &str) -> Option<Seen> {
    let is_sync = line.contains("fsync") || line.contains("fdatasync");
    if line.contains("\"POST /v1/events") {
        Some(Seen::Asked)
    } else if line.contains("\"HTTP/1.1 202") {
        Some(Seen::Acknowledged)
    } else {
        // A call that others interrupt is told twice; it is done where its result stands.
        (is_sync && line.ends_with("= 0")).then_some(Seen::Synced)
    }
}

/// The whole trace, once the process has ended.
fn whole(log: &Path) -> String {
    let patience = Patience::new();
    loop {
        let text = fs::read_to_string(log).unwrap();
        if text.contains("+++ killed by SIGKILL +++") {
            return text;
        }
        patience.wait(|| format!("the trace does not end: {text}"));
    }
}

#[test]
fn nothing_is_acknowledged_before_it_is_synced() {
    if !can_trace() {
        return skip(
            "system calls can't be traced here: that takes `strace` and the right to trace",
        );
    }
    let directory = tempfile::tempdir().unwrap();
    let (config, log) = (directory.path().join("tidings.toml"), directory.path().join("trace"));
    fs::write(&config, CONFIG).unwrap();
    let server = Server::start_traced(&config, &directory.path().join("data"), &log);
    let api = Api::new(&server.url);
    let (status, answer) = api.put("/v1/recipients/ana", &json!({})).unwrap();
    assert!(status < 300, "{answer}");
    for number in 0..EVENTS {
        let event = json!({
            "id": format!("e{number}"),
            "type": "note",
            "object": {"id": "o"},
            "to": {"recipients": ["ana"]},
        });
        let (status, answer) = api.post("/v1/events", &event).unwrap();
        assert_eq!(status, 202, "{answer}");
    }
    server.kill();
    let trace = whole(&log);
    let (mut acknowledged, mut is_synced) = (0, false);
    for what in trace.lines().filter_map(seen) {
        match what {
            Seen::Asked => is_synced = false,
            Seen::Synced => is_synced = true,
            Seen::Acknowledged => {
                assert!(is_synced, "event {acknowledged} was answered first:\n{trace}");
                acknowledged += 1;
            }
        }
    }
    assert_eq!(acknowledged, EVENTS, "{trace}");
}
