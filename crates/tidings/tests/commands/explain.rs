//! `tidings explain`: each rule that may end an entry is named, and a server says what `simulate` does.

use serde_json::{Value, json};

use super::{World, both, ran};

const CONFIG: &str = r#"
[defaults]
tz = "Europe/Amsterdam"

[categories.social]

[digests.weekly]
every = "week"
on = "mon"

[channels.email]
quiet_hours = { from = "22:00", to = "07:00" }

[[caps]]
channel = "email"
per = "24h"
max = 1

[types.comment]
category = "social"
condition = "event.data.amount > 1"
look_back = "2d"
[types.comment.channels]
inbox = { policy = "now" }
email = { policy = "cooldown", quiet = "4m", max_wait = "15m" }

[types.work]
category = "social"
admission = "once_pending"
per = "object"
[types.work.channels]
email = { policy = "digest", digest = "weekly" }
"#;

/// The lines before the events: a Monday evening in Amsterdam, an hour before the quiet hours.
const PEOPLE: &str = r#"
{"at":"2024-03-04T20:00:00Z","op":"recipient","id":"ada","email":"ada@example.org"}
{"at":"2024-03-04T20:00:00Z","op":"recipient","id":"bob","email":"bob@example.org"}
{"at":"2024-03-04T20:00:00Z","op":"recipient","id":"cid"}
{"at":"2024-03-04T20:00:00Z","op":"recipient","id":"dot","email":"dot@example.org","state":"disabled"}
{"at":"2024-03-04T20:00:00Z","op":"recipient","id":"eve","email":"eve@example.org","state":"unconfirmed"}
{"at":"2024-03-04T20:00:00Z","op":"recipient","id":"fay","email":"fay@example.org"}
{"at":"2024-03-04T20:00:00Z","op":"suppress","channel":"email","address":"Fay@example.org","reason":"bounce","expires_at":"2030-01-01T00:00:00Z"}
{"at":"2024-03-04T20:00:00Z","op":"suppress","channel":"email","address":"bob@example.org"}
{"at":"2024-03-04T20:00:00Z","op":"unsuppress","channel":"email","address":"bob@example.org"}
{"at":"2024-03-04T20:00:00Z","op":"subscribe","recipient":"ada","topic":"repo/1"}
{"at":"2024-03-04T20:00:00Z","op":"preference","recipient":"bob","type":"comment","channel":"email","mode":"never"}
{"at":"2024-03-04T20:00:00Z","op":"preference","recipient":"bob","object":"muted","channel":"*","mode":"never"}
"#;

const EVENTS: &str = r#"
{"at":"2024-03-04T20:30:00Z","op":"publish","id":"e1","type":"comment","actor":"bob","object":{"id":"w/1"},"data":{"amount":2},"to":{"topics":["repo/1/x"],"recipients":["bob","cid","dot","eve","fay"]}}
{"at":"2024-03-04T20:31:00Z","op":"publish","id":"muted","type":"comment","object":{"id":"muted"},"data":{"amount":2},"to":{"recipients":["bob"]}}
{"at":"2024-03-04T20:32:00Z","op":"publish","id":"gone","type":"comment","object":{"id":"w/2"},"data":{"amount":2},"to":{"recipients":["ada"]}}
{"at":"2024-03-04T20:33:00Z","op":"publish","id":"seen","type":"comment","object":{"id":"w/3"},"data":{"amount":2},"to":{"recipients":["ada"]}}
{"at":"2024-03-04T20:33:00Z","op":"publish","id":"cancelled","type":"comment","object":{"id":"w/4"},"data":{"amount":2},"to":{"recipients":["ada"]}}
{"at":"2024-03-04T20:34:00Z","op":"retract","id":"w/2"}
{"at":"2024-03-04T20:34:00Z","op":"seen","recipient":"ada","event":"seen"}
{"at":"2024-03-04T20:34:00Z","op":"cancel","event":"cancelled"}
{"at":"2024-03-04T20:57:00Z","op":"publish","id":"untrue","type":"comment","object":{"id":"w/5"},"data":{"amount":1},"to":{"topics":["repo/1"]}}
{"at":"2024-03-04T20:58:00Z","op":"publish","id":"late","type":"comment","object":{"id":"w/6"},"data":{"amount":5},"to":{"topics":["repo/1"]}}
{"at":"2024-03-04T20:58:00Z","op":"publish","id":"expired","type":"comment","object":{"id":"w/6"},"data":{"amount":5},"to":{"topics":["repo/1"]},"expires_at":"2024-03-04T21:00:00Z"}
{"at":"2024-03-05T20:00:00Z","op":"publish","id":"first","type":"work","object":{"id":"w/7"},"to":{"topics":["repo/1"]}}
{"at":"2024-03-05T20:01:00Z","op":"publish","id":"second","type":"work","object":{"id":"w/7"},"to":{"topics":["repo/1"]}}
{"at":"2024-03-05T20:02:00Z","op":"publish","id":"apart","type":"work","object":{"id":"w/9"},"to":{"everyone":true,"except":["bob","nobody"]}}
{"at":"2024-03-05T20:02:00Z","op":"publish","id":"ahead","type":"work","object":{"id":"w/8"},"to":{"topics":["repo/1"]},"delay":"30d"}
{"at":"2024-03-06T08:00:00Z","op":"read","recipient":"ada","event":"late"}
"#;

/// The explanation of an event for a recipient, by `simulate` up to an instant.
fn explained(until: &str, event: &str, recipient: &str, more: &[&str]) -> super::Ran {
    let world = World::new();
    let config = world.file("tidings.toml", CONFIG);
    let lines = format!("{PEOPLE}{EVENTS}");
    let lines = lines.trim_start().replace("\n\n", "\n");
    let timeline = world.file("timeline.ndjson", &lines);
    let run = ["simulate", "--config", &config, "--timeline", &timeline];
    let asked = ["--until", until, "--explain", event, recipient];
    ran(&[&run[..], &asked, more].concat())
}

fn rules(steps: &Value) -> Vec<&str> {
    steps.as_array().unwrap().iter().map(|step| step["rule"].as_str().unwrap()).collect()
}

/// Event, recipient, channel; the state there, its reason, and the last rule that was asked.
const ENDED: [(&str, &str, &str, &str, &str, &str); 16] = [
    ("e1", "ada", "email", "delivered", "", "delivery"),
    ("e1", "ada", "inbox", "delivered", "", "delivery"),
    ("e1", "cid", "email", "skipped", "no_address", "address"),
    ("e1", "fay", "email", "skipped", "suppressed", "suppression"),
    ("e1", "dot", "email", "cancelled", "recipient_gone", "recipient"),
    ("muted", "bob", "inbox", "none", "", "mute"),
    ("muted", "bob", "email", "none", "", "preference"),
    ("gone", "ada", "email", "skipped", "not_applicable", "object"),
    ("seen", "ada", "email", "skipped", "seen", "seen"),
    ("cancelled", "ada", "email", "cancelled", "event", "cancel"),
    ("untrue", "ada", "inbox", "cancelled", "condition", "condition"),
    ("late", "ada", "email", "delivered", "", "delivery"),
    ("expired", "ada", "email", "expired", "expired", "expires_at"),
    ("first", "ada", "email", "delivered", "", "delivery"),
    ("ahead", "ada", "email", "scheduled", "", "schedule"),
    ("e1", "eve", "email", "pending", "", "look_back"),
];

#[test]
fn each_rule_that_ends_an_entry_is_named() {
    let at_the_end = "2024-03-12T00:00:00Z";
    for (event, recipient, channel, state, reason, rule) in ENDED {
        let explained = explained(at_the_end, event, recipient, &["--json"]).done().json();
        let channels = explained["channels"].as_array().unwrap().iter();
        let path = channels
            .clone()
            .find(|path| path["channel"] == channel)
            .unwrap_or_else(|| panic!("{event} {recipient}: {explained}"));
        let last = rules(&path["steps"]).last().copied();
        assert_eq!(
            (&path["state"], path["reason"].as_str().unwrap_or_default(), last),
            (&json!(state), reason, Some(rule)),
            "{event} {recipient}: {path}"
        );
    }
    let whole =
        [("e1", "bob", "actor"), ("late", "bob", "audience"), ("second", "ada", "admission")];
    for (event, recipient, rule) in whole {
        let explained = explained(at_the_end, event, recipient, &["--json"]).done().json();
        assert_eq!(explained["channels"], json!([]), "{explained}");
        assert_eq!(rules(&explained["steps"]).last(), Some(&rule));
    }
}

#[test]
fn it_says_by_when_an_item_was_seen_or_read_and_what_that_ended() {
    let text = explained("2024-03-12T00:00:00Z", "seen", "ada", &[]).done().out;
    for line in [
        "inbox    seen        2024-03-04T20:34:00Z  it was seen by then ",
        "`drop_if_seen = false` sends it anyway; seen by 2024-03-04T20:34:00Z",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let read = |until| explained(until, "late", "ada", &[]).done().out;
    let (before, after) = (read("2024-03-06T07:00:00Z"), read("2024-03-12T00:00:00Z"));
    assert!(!before.contains("by then"), "{before}");
    let line = "inbox    seen         2024-03-06T08:00:00Z  it was read by then ";
    assert!(after.contains(line), "{after}");
    // The mail had left by then.
    assert!(after.contains("\nemail: delivered, 2024-03-05T20:37:00Z\n"), "{after}");
}

#[test]
fn it_says_who_was_left_out_by_except() {
    for (who, last) in [("bob", "left out by `except`"), ("ada", "reached: everyone")] {
        let path = explained("2024-03-12T00:00:00Z", "apart", who, &["--json"]).done().json();
        let mut steps = path["steps"].as_array().unwrap().iter();
        let of_audience = steps.rfind(|step| step["rule"] == "audience").unwrap();
        assert_eq!(of_audience["result"], last, "{path}");
        assert_eq!(path["channels"].as_array().unwrap().is_empty(), who == "bob", "{path}");
    }
}

#[test]
fn quiet_hours_and_caps_say_what_they_moved() {
    let text = explained("2024-03-12T00:00:00Z", "late", "ada", &[]).done().out;
    let lines = [
        "email    deadline     2024-03-04T21:02:00Z  due ",
        "email    quiet_hours  2024-03-05T06:00:00Z  moved it to their end ",
        "email    cap          2024-03-05T06:00:00Z  keeps the window open, until 2024-03-05T20:37:00Z at least",
        "email    message      2024-03-05T20:37:00Z  carries it, with this entry alone",
        "\nemail: delivered, 2024-03-05T20:37:00Z\n",
    ];
    for line in lines {
        assert!(text.contains(line), "{line}\n{text}");
    }
}

#[test]
fn a_supposed_event_is_explained_and_not_published() {
    let supposed = r#"{"type":"comment","object":{"id":"w/9"},"data":{"amount":5},"to":{"topics":["repo/1"]}}"#;
    let until = "2024-03-05T20:30:00Z";
    let explained = explained(until, supposed, "ada", &["--json"]).done().json();
    assert_eq!((&explained["supposed"], &explained["as_of"]), (&json!(true), &json!(until)));
    let email = &explained["channels"][1];
    // It joins what quiet hours and the cap have kept since the evening before.
    assert_eq!(
        (&email["state"], &email["at"]),
        (&json!("pending"), &json!("2024-03-05T20:37:00Z"))
    );
    assert!(email["steps"].to_string().contains("joins the window that is open"), "{email}");
    let refused = self::explained(until, "nope", "ada", &[]);
    assert_eq!((refused.code, refused.err.contains("unknown event `nope`")), (1, true));
    let refused = self::explained(until, "e1", "nobody", &[]);
    assert_eq!((refused.code, refused.err.contains("unknown recipient `nobody`")), (1, true));
    let refused = self::explained(until, r#"{"type":"comment"}"#, "ada", &[]);
    assert_eq!(
        (refused.code, refused.err.contains("`event.object` is missing")),
        (2, true),
        "{}",
        refused.err
    );
}

#[test]
fn a_directory_and_a_server_explain_alike() {
    both(|world| {
        let world = world.with_people();
        let note = [
            "publish", "--type", "note", "--object", "works/1", "--id", "e1", "--topic", "artist/1",
        ];
        world.run(&note).done();
        let text = world.run(&["explain", "e1", "ann"]).done().out;
        for line in [
            "reached: topic:artist/1",
            "digest:daily",
            "\ninbox: delivered, ",
            "\nemail: pending, due ",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
        let stranger = world.run(&["explain", "e1", "b/ob", "--json"]).done().json();
        assert_eq!(rules(&stranger["steps"]).last(), Some(&"audience"));
        let supposed = r#"{"type":"note","object":{"id":"o"},"to":{"recipients":["b/ob"]}}"#;
        let text = world.run(&["explain", supposed, "b/ob"]).done().out;
        assert!(text.contains("supposed event") && text.contains("(no_address)"), "{text}");
        assert_eq!(world.run(&["status", "--json"]).done().json()["entries"]["all"], 2);
        let unknown = world.run(&["explain", "nope", "ann"]);
        assert_eq!((unknown.code, unknown.err.contains("unknown event `nope`")), (1, true));
    });
}
