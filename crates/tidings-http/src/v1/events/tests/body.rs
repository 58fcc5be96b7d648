//! The body of an event from its publish to inboxes, reads and exports.

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};

use super::{CONFIG, Rig, event, person, publish};

fn with_body(id: &str, body: &Value) -> Value {
    let mut event = event(Some(id), "ann");
    event["body"] = body.clone();
    event
}

fn read(rig: &Rig, path: &str) -> Value {
    let answer = rig.call(Method::GET, path, &Value::Null);
    assert_eq!(answer.status, StatusCode::OK, "{path}: {}", answer.json());
    answer.json()
}

/// The bodies of the items of `ann`'s inbox, newest first.
fn bodies(rig: &Rig) -> Vec<Value> {
    let page = read(rig, "/v1/recipients/ann/inbox");
    let groups = page["groups"].as_array().unwrap().iter();
    let items = groups.flat_map(|group| group["items"].as_array().unwrap());
    items.map(|item| item["body"].clone()).collect()
}

#[test]
fn body_is_shown_in_the_inbox_and_again_with_its_event_and_after_a_restart() {
    let rig = Rig::new();
    person(&rig, "ann");
    let text = "Well done,\n\"Ben\"!\u{0}";
    for event in [with_body("e1", &json!(text)), event(Some("e2"), "ann")] {
        assert_eq!(publish(&rig, &event).status, StatusCode::ACCEPTED);
    }
    let check = |rig: &Rig| {
        assert_eq!(bodies(rig), [Value::Null, json!(text)]);
        assert_eq!(read(rig, "/v1/events/e1")["event"]["body"], json!(text));
        assert_eq!(read(rig, "/v1/events/e2")["event"]["body"], Value::Null);
    };
    check(&rig);
    let rig = rig.restart();
    check(&rig);
    // What came again with another body was not taken.
    let again = publish(&rig, &with_body("e1", &json!("Other"))).json();
    assert_eq!(
        (&again["status"], &again["warnings"][0]["code"]),
        (&json!("duplicate"), &json!("differs"))
    );
    check(&rig);
}

#[test]
fn body_of_2048_bytes_is_taken_and_of_one_more_refused() {
    let rig = Rig::new();
    person(&rig, "ann");
    let most = "é".repeat(1024);
    assert_eq!(publish(&rig, &with_body("e1", &json!(most))).status, StatusCode::ACCEPTED);
    assert_eq!(publish(&rig, &with_body("e2", &Value::Null)).status, StatusCode::ACCEPTED);
    for (body, detail) in [
        (json!(format!("{most}x")), "`body` has 2049 bytes, more than 2048"),
        (json!(7), "`body` must be a string, or an object of strings by locale, got a number"),
    ] {
        let refused = publish(&rig, &with_body("e3", &body));
        assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
        let problem = refused.json();
        assert!(problem["detail"].as_str().unwrap().contains(detail), "{problem}");
        assert!(!problem["hint"].as_str().unwrap().is_empty(), "{problem}");
    }
    // Of a stream only the line is refused.
    let lines = [with_body("e4", &json!("One")), with_body("e5", &json!("x".repeat(2049)))];
    let answers = publish(&rig, &json!(lines)).json();
    assert_eq!(answers[0]["status"], "accepted", "{answers}");
    assert!(answers[1].to_string().contains("has 2049 bytes"), "{answers}");
    assert_eq!(bodies(&rig), [json!("One"), Value::Null, json!(most)]);
}

#[test]
fn body_is_exported_and_played_again() {
    let rig = Rig::new();
    person(&rig, "ann");
    publish(&rig, &with_body("e1", &json!("Well done")));
    let export = rig.call(Method::GET, "/v1/export?days=1", &Value::Null);
    let text = String::from_utf8(export.bytes).unwrap();
    let line = text.lines().find(|line| line.contains(r#""op":"publish""#)).unwrap();
    assert_eq!(serde_json::from_str::<Value>(line).unwrap()["body"], "Well done");
    let rules = tidings_config::parse(CONFIG, "tidings.toml").unwrap();
    let read = tidings_api::timeline::read_line(&rules, 1, line.as_bytes()).unwrap();
    let tidings_core::Command::Publish(event) = read.command else { panic!("it publishes") };
    assert_eq!(event.body, Some("Well done".into()));
}

#[test]
fn body_is_asked_by_conditions() {
    let config = CONFIG.replacen(
        "category = \"news\"\n",
        "category = \"news\"\ncondition = \"event.body.contains('done')\"\n",
        1,
    );
    let rig = Rig::with(&config, super::Access::Open, super::Settings::default());
    person(&rig, "ann");
    publish(&rig, &with_body("e1", &json!("Well done")));
    publish(&rig, &with_body("e2", &json!("Not yet")));
    assert_eq!(bodies(&rig), [json!("Well done")]);
}
