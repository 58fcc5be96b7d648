//! The export of events that were delivered later: played again, it delivers them at the same instants.

use axum::http::Method;
use serde_json::{Value, json};
use tidings_core::Id;
use tidings_core::content::Message;
use tidings_core::engine::Warning;
use tidings_core::model::INBOX;
use tidings_trial::player;
use tidings_trial::simulate::{LineOrder, PlaySink, Run};

use super::{Rig, post, put};
use crate::rig::CONFIG;
use crate::{Access, Settings};

/// Gathers recipient, instant and object of each item in inboxes.
#[derive(Default)]
struct InboxItems(Vec<(String, String, String)>);

impl PlaySink for InboxItems {
    fn message(&mut self, message: &Message) {
        if message.channel == INBOX {
            let items = message.items.iter().map(|item| item.object.to_string());
            let of = |object| (message.recipient.to_string(), message.at.to_string(), object);
            self.0.extend(items.map(of));
        }
    }

    fn warning(&mut self, line: u64, event: &Id, _: &Warning) {
        panic!("line {line} warns of {event}");
    }

    fn closed(&self) -> bool {
        false
    }
}

/// Plays a timeline under a configuration: recipient, instant and object of each item in inboxes.
fn played(config: &str, timeline: &[u8]) -> Vec<(String, String, String)> {
    let rules = tidings_config::parse(config, "tidings.toml").unwrap();
    let mut player = player(rules.clone()).unwrap();
    let run = Run { rules: &rules, timeline, order: LineOrder::AsGiven, until: None };
    let mut items = InboxItems::default();
    run.play(&mut *player, &mut items).unwrap();
    items.0.sort();
    items.0
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
    assert_eq!(played(CONFIG, &export.bytes), expected);
}

/// A type that is told by the text that was given first.
const FIRST: &str = r#"
[categories.news]
[types.titled]
category = "news"
condition = "object.title == 'Nymphéas'"
channels = { inbox = { policy = "now" } }
[types.said]
category = "news"
condition = "event.body == 'Bravo'"
channels = { inbox = { policy = "now" } }
"#;

#[test]
fn t42_texts_by_locale_are_exported_as_they_were_given_and_played() {
    let rig = Rig::with(FIRST, Access::Open, Settings::default());
    put(&rig, "/v1/recipients/ada", &json!({"locale": "en"}));
    for (id, title, body) in [
        ("first", r#"{"fr":"Nymphéas","en":"Water Lilies"}"#, r#"{"fr":"Bravo","en":"Well done"}"#),
        (
            "second",
            r#"{"en":"Water Lilies","fr":"Nymphéas"}"#,
            r#"{"en":"Well done","fr":"Bravo"}"#,
        ),
    ] {
        for kind in ["titled", "said"] {
            let event = format!(
                r#"{{"id":"{kind}/{id}","type":"{kind}","to":{{"recipients":["ada"]}},
                "object":{{"id":"{kind}/{id}","title":{title}}},"body":{body}}}"#
            );
            let json = [("content-type", "application/json")];
            let answer = rig.send(Method::POST, "/v1/events", &json, event);
            assert!(answer.status.is_success(), "{answer:?}");
        }
    }
    let export = rig.call(Method::GET, "/v1/export", &Value::Null);
    let text = String::from_utf8(export.bytes.clone()).unwrap();
    for given in [
        r#""title":{"fr":"Nymphéas","en":"Water Lilies"}"#,
        r#""title":{"en":"Water Lilies","fr":"Nymphéas"}"#,
        r#""body":{"fr":"Bravo","en":"Well done"}"#,
    ] {
        assert_eq!(text.matches(given).count(), 2, "{given} in {text}");
    }
    let told = played(FIRST, &export.bytes);
    let objects: Vec<&str> = told.iter().map(|(_, _, object)| object.as_str()).collect();
    assert_eq!(objects, ["said/first", "titled/first"]);
    let page = rig.call(Method::GET, "/v1/recipients/ada/inbox?grouped=false", &Value::Null).json();
    let told = page["groups"].as_array().unwrap().iter();
    let told =
        told.map(|group| (&group["items"][0]["object"]["title"], &group["items"][0]["body"]));
    let english = (&json!("Water Lilies"), &json!("Well done"));
    assert_eq!(told.collect::<Vec<_>>(), [english; 2]);
}
