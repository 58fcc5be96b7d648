//! Channels beside e-mail in timelines: their addresses, their messages.

use serde_json::Value;

use super::{World, ran};

const CONFIG: &str = r#"
[categories.c]
[types.note]
category = "c"
[types.note.channels]
inbox = { policy = "now" }
sms = { policy = "cooldown", quiet = "4m" }
fcm = { policy = "now" }
webhook = { policy = "digest", digest = "daily" }
[digests.daily]
every = "day"
"#;

const LINES: &str = r#"
{"at": "2024-01-01T12:00:00Z", "op": "recipient", "id": "ann", "addresses": {"sms": "+4915112345678", "fcm": ["a", "b"]}}
{"at": "2024-01-01T12:00:00Z", "op": "recipient", "id": "app", "addresses": {"webhook": "https://app.example.net/hook"}}
{"at": "2024-01-01T12:00:00Z", "op": "publish", "id": "e1", "type": "note", "object": {"id": "o"}, "to": {"everyone": true}}
{"at": "2024-01-01T12:01:00Z", "op": "recipient", "id": "ann", "addresses": {"fcm": null}}
{"at": "2024-01-01T12:02:00Z", "op": "publish", "id": "e2", "type": "note", "object": {"id": "p"}, "to": {"recipients": ["ann"]}}
"#;

#[test]
fn a_timeline_has_all_channels() {
    let world = World::new();
    let config = world.file("tidings.toml", CONFIG);
    let timeline = world.file("timeline.ndjson", LINES.trim_start());
    let simulate = ["simulate", "--config", &config, "--timeline", &timeline];
    let told = |channel: &str| {
        let ran = ran(&[&simulate[..], &["--json", "--channel", channel]].concat()).done();
        let lines = ran.out.lines().filter(|line| !line.contains("summary"));
        let told = lines.map(|line| {
            let message: Value = serde_json::from_str(line).unwrap();
            let [at, recipient] = ["at", "recipient"].map(|field| message[field].as_str().unwrap());
            let items = message["items"].as_array().unwrap().len();
            format!("{at} {recipient} {items}")
        });
        told.collect::<Vec<_>>()
    };
    assert_eq!(told("sms"), ["2024-01-01T12:06:00Z ann 2"]);
    // Its tokens went before the second.
    assert_eq!(told("fcm"), ["2024-01-01T12:00:00Z ann 1"]);
    assert_eq!(told("webhook"), ["2024-01-02T09:00:00Z app 1"]);
    assert!(told("email").is_empty());
}
