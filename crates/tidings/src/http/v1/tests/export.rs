//! The export of events that were delivered later: played again, it delivers them at the same instants.

use axum::http::Method;
use serde_json::{Value, json};

use super::{Rig, post, put};
use crate::cli::{self, Progress, Status, Streams};
use crate::http::rig::CONFIG;

/// Plays a timeline under the rig's configuration: recipient, instant and object of each item in inboxes.
fn played(timeline: &[u8]) -> Vec<(String, String, String)> {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).display().to_string();
    std::fs::write(path("tidings.toml"), CONFIG).unwrap();
    std::fs::write(path("timeline.ndjson"), timeline).unwrap();
    let (config, timeline) = (path("tidings.toml"), path("timeline.ndjson"));
    let arguments = "tidings simulate --json --channel inbox".split(' ').chain([
        "--config",
        &config,
        "--timeline",
        &timeline,
    ]);
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let mut streams = Streams { out: &mut out, err: &mut err, progress: Progress::Hidden };
    let status = cli::run(arguments, &crate::app::player, &mut streams);
    assert_eq!(status, Status::Done, "{}", String::from_utf8_lossy(&err));
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let mut items = Vec::new();
    for line in String::from_utf8(out).unwrap().lines() {
        let message: Value = serde_json::from_str(line).unwrap();
        for item in message["items"].as_array().into_iter().flatten() {
            let (recipient, at) = (&message["recipient"], &message["at"]);
            items.push((text(recipient), text(at), text(&item["object"])));
        }
    }
    items.sort();
    items
}

#[test]
fn what_was_delivered_later_is_exported_as_it_was_published() {
    let rig = Rig::new();
    for (name, zone) in [("ada", "Europe/Paris"), ("bob", "America/New_York")] {
        put(&rig, &format!("/v1/recipients/{name}"), &json!({"tz": zone}));
    }
    let muted = json!([
        {"object": "of/muted", "channel": "*", "mode": "never"},
        {"type": "note", "channel": "email", "mode": "never"},
    ]);
    put(&rig, "/v1/recipients/bob/preferences", &muted);
    let publish = |id: &str, schedule: Value| {
        let mut event = super::event(id, "note", &["ada", "bob"]);
        for (key, value) in schedule.as_object().unwrap() {
            event[key] = value.clone();
        }
        post(&rig, "/v1/events", &event);
    };
    publish("delayed", json!({"delay": "1h"}));
    publish("local", json!({"deliver_local": "2024-01-01T20:00"}));
    publish("at", json!({"deliver_at": "2024-01-01T15:00:00Z"}));
    publish("muted", json!({}));
    publish("later", json!({"delay": "2d"}));
    rig.at("2024-01-02T12:00:00Z");
    let export = rig.call(Method::GET, "/v1/export?days=2", &Value::Null);
    let item = |recipient: &str, at: &str, object: &str| {
        let at = format!("2024-01-0{at}:00:00Z");
        (recipient.to_owned(), at, format!("of/{object}"))
    };
    let expected = [
        item("ada", "1T12", "muted"),
        item("ada", "1T13", "delayed"),
        item("ada", "1T15", "at"),
        item("ada", "1T19", "local"),
        item("bob", "1T13", "delayed"),
        item("bob", "1T15", "at"),
        item("bob", "2T01", "local"),
    ];
    assert_eq!(played(&export.bytes), expected);
}
