//! Explanations as clients ask for them.

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};

use super::{event, get, post, problem, publish, put, with_people};

#[test]
fn an_explanation_names_rules_and_refuses_what_is_unknown() {
    let rig = with_people();
    publish(&rig, "e1", "note", &["ada"]);
    let ask = |event, recipient| json!({"event": event, "recipient": recipient});
    let explained = post(&rig, "/v1/explain", &ask(json!("e1"), "ada"));
    assert_eq!(explained["supposed"], json!(false));
    let states: Vec<_> = explained["channels"]
        .as_array()
        .unwrap()
        .iter()
        .map(|path| path["state"].clone())
        .collect();
    assert_eq!(states, [json!("delivered"), json!("pending")], "{explained}");
    let outside = post(&rig, "/v1/explain", &ask(json!("e1"), "bob"));
    assert_eq!(outside["channels"], json!([]));
    let supposed = json!({"type": "note", "object": {"id": "o"}, "to": {"everyone": true}});
    let supposed = post(&rig, "/v1/explain", &ask(supposed, "bob"));
    assert_eq!(
        (&supposed["supposed"], &supposed["channels"][1]["state"]),
        (&json!(true), &json!("pending"))
    );

    let refused = |body| rig.call(Method::POST, "/v1/explain", &body);
    let unknown = refused(ask(json!("none"), "ada"));
    assert_eq!(problem(&unknown, StatusCode::NOT_FOUND), "event_not_found");
    let unknown = refused(ask(json!("e1"), "nobody"));
    assert_eq!(problem(&unknown, StatusCode::NOT_FOUND), "recipient_not_found");
    let odd = refused(ask(json!(7), "ada"));
    assert_eq!(problem(&odd, StatusCode::UNPROCESSABLE_ENTITY), "invalid_body");
    let odd = refused(
        json!({"event": {"type": "note", "object": {"id": "o"}, "to": {}, "channels": ["pigeon"]}, "recipient": "ada"}),
    );
    assert_eq!(problem(&odd, StatusCode::UNPROCESSABLE_ENTITY), "unknown_channel");
}

#[test]
fn f12_an_explanation_names_what_ended_an_entry_that_waited() {
    for (choice, named) in [
        (json!({"object": "of/e1", "channel": "email", "mode": "never"}), "muted: object `of/e1`"),
        (json!({"category": "*", "channel": "*", "mode": "never"}), "category `*`: never"),
        (json!({"type": "note", "channel": "email", "mode": "never"}), "type `note`: never"),
    ] {
        let rig = with_people();
        publish(&rig, "e1", "note", &["ada"]);
        let path = "/v1/recipients/ada/preferences";
        rig.call(Method::PATCH, path, &json!([choice]));
        let explained = post(&rig, "/v1/explain", &json!({"event": "e1", "recipient": "ada"}));
        let channels = explained["channels"].as_array().unwrap();
        let email = channels.iter().find(|of| of["channel"] == "email").unwrap();
        let steps = email["steps"].as_array().unwrap();
        let last = steps.last().unwrap();
        assert_eq!(last["looked_at"], named, "{email}");
    }
}

/// Contract, section 11, "Explain": without a recipient the whole audience is counted, and a supposed event is told as
/// publishing then shows it.
#[test]
fn an_explanation_without_a_recipient_counts_the_audience() {
    let rig = with_people();
    let never = json!([{"type": "note", "channel": "email", "mode": "never"}]);
    put(&rig, "/v1/recipients/bob/preferences", &never);
    let event = event("e1", "note", &["ada", "bob"]);
    let supposed = post(&rig, "/v1/explain", &json!({"event": event}));
    let fate = |entries: u64, pending: u64, outcomes: Value, left_out: Value| json!({"entries": entries, "pending": pending, "outcomes": outcomes, "reasons": {}, "left_out": left_out});
    let channels = json!({
        "email": fate(1, 1, json!({}), json!({"preference": 1})),
        "inbox": fate(2, 0, json!({"delivered": 2}), json!({})),
    });
    let expected = json!({
        "event": "e1", "type": "note", "supposed": true, "as_of": "2024-01-01T12:00:00Z",
        "concerned": 2, "notifications": 2, "channels": channels,
    });
    assert_eq!(supposed, expected);
    let unknown = rig.call(Method::POST, "/v1/explain", &json!({"event": "e1"}));
    assert_eq!(problem(&unknown, StatusCode::NOT_FOUND), "event_not_found");
    post(&rig, "/v1/events", &event);
    let told = post(&rig, "/v1/explain", &json!({"event": "e1"}));
    assert_eq!((&told["supposed"], &told["channels"]), (&json!(false), &channels));
    let shown = get(&rig, "/v1/events/e1");
    for (channel, fate) in shown["channels"].as_object().unwrap() {
        let mut of_channel = told["channels"][channel].clone();
        of_channel.as_object_mut().unwrap().remove("left_out");
        assert_eq!(of_channel, *fate, "{channel}");
    }
    assert_eq!(told["notifications"], shown["notifications"]);
}
