//! CloudEvents 1.0 in each of their modes.

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};

use super::{inbox, person};
use crate::rig::{Answered, Rig};

const STRUCTURED: (&str, &str) = ("content-type", "application/cloudevents+json; charset=utf-8");
const BATCH: (&str, &str) = ("content-type", "application/cloudevents-batch+json");
const JSON: (&str, &str) = ("content-type", "application/json");

fn rig() -> Rig {
    let rig = Rig::new();
    person(&rig, "ann");
    rig
}

fn data() -> Value {
    json!({ "object": { "id": "works/1" }, "to": { "recipients": ["ann"] } })
}

fn cloud_event(id: &str) -> Value {
    json!({
        "specversion": "1.0",
        "id": id,
        "source": "/reviews",
        "type": "note",
        "subject": "works/1",
        "time": "2024-01-01T12:00:00Z",
        "datacontenttype": "application/json",
        "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "data": data(),
    })
}

fn send(rig: &Rig, headers: &[(&str, &str)], body: &Value) -> Answered {
    rig.send(Method::POST, "/v1/events", headers, body.to_string())
}

#[track_caller]
fn refused(answered: &Answered, code: &str, detail: &str) {
    let problem = answered.json();
    assert_eq!(problem["code"], code, "{problem}");
    let told = problem["detail"].as_str().unwrap();
    assert!(told.contains(detail), "{told} should say {detail}");
    assert!(!problem["hint"].as_str().unwrap().is_empty());
}

#[test]
fn cloud_events_in_structured_mode_are_events() {
    let rig = rig();
    let answered = send(&rig, &[STRUCTURED], &cloud_event("c1"));
    assert_eq!(answered.status, StatusCode::ACCEPTED, "{answered:?}");
    assert_eq!(answered.json()["id"], "c1");
    assert_eq!(answered.json()["notifications"], 1);
    assert_eq!(send(&rig, &[STRUCTURED], &cloud_event("c1")).json()["status"], "duplicate");
    // The same event in another form.
    let mut own = data();
    own["id"] = "c1".into();
    own["type"] = "note".into();
    assert_eq!(send(&rig, &[JSON], &own).json()["status"], "duplicate");
    assert_eq!(inbox(&rig, "ann").len(), 1);
}

#[test]
fn cloud_events_of_a_batch_are_each_accepted_or_rejected() {
    let rig = rig();
    let mut old = cloud_event("c2");
    old["specversion"] = "0.3".into();
    let told = send(&rig, &[BATCH], &json!([cloud_event("c1"), old, 7])).json();
    assert_eq!(told[0]["status"], "accepted");
    assert_eq!((&told[1]["status"], &told[1]["id"]), (&json!("rejected"), &json!("c2")));
    let detail = told[1]["problem"]["detail"].as_str().unwrap();
    assert!(detail.contains("`specversion` must be `1.0`, got `0.3`"), "{detail}");
    assert_eq!(told[2]["status"], "rejected");
    assert_eq!(send(&rig, &[BATCH], &json!([])).json(), json!([]));
    refused(&send(&rig, &[BATCH], &cloud_event("c1")), "invalid_body", "must be an array");
    let list = json!([cloud_event("c1")]);
    refused(&send(&rig, &[STRUCTURED], &list), "invalid_body", "must be an object");
}

#[test]
fn cloud_events_in_binary_mode_have_their_attributes_in_headers() {
    let rig = rig();
    let ce = |id| {
        [JSON, ("ce-specversion", "1.0"), ("ce-type", "note"), ("ce-source", "/r"), ("ce-id", id)]
    };
    let answered = send(&rig, &ce("h%C3%A9"), &data());
    assert_eq!(answered.status, StatusCode::ACCEPTED, "{answered:?}");
    assert_eq!(answered.json()["id"], "hé");
    for (at, name) in [(1, "ce-specversion"), (2, "ce-type"), (3, "ce-source"), (4, "ce-id")] {
        let mut headers = ce("c1").to_vec();
        headers.remove(at);
        let missing = format!("the header `{name}` is missing");
        refused(&send(&rig, &headers, &data()), "invalid_body", &missing);
    }
    let twice = [ce("c1").to_vec(), vec![("ce-id", "c2")]].concat();
    refused(&send(&rig, &twice, &data()), "invalid_header", "`ce-id` stands twice");
    refused(&send(&rig, &ce("%ff"), &data()), "invalid_header", "`ce-id` is not UTF-8");
    refused(&send(&rig, &ce("c1"), &json!([data()])), "invalid_body", "must be an object");
    // An `Idempotency-Key` stands for the whole request, its headers included.
    let keyed = |id| [ce(id).to_vec(), vec![("idempotency-key", "k")]].concat();
    assert_eq!(send(&rig, &keyed("c1"), &data()).json()["status"], "accepted");
    assert_eq!(send(&rig, &keyed("c1"), &data()).headers["idempotency-replayed"], "true");
    refused(&send(&rig, &keyed("c2"), &data()), "idempotency_key_reused", "");
}

#[test]
fn cloud_events_leave_out_those_in_except_in_each_mode() {
    let rig = rig();
    person(&rig, "bob");
    let mut apart = data();
    apart["to"] = json!({ "everyone": true, "except": ["ann"] });
    let mut structured = cloud_event("s");
    structured["data"] = apart.clone();
    let ce = [("ce-specversion", "1.0"), ("ce-type", "note"), ("ce-source", "/r"), ("ce-id", "b")];
    let binary = [&[JSON][..], &ce[..]].concat();
    for answered in [send(&rig, &[STRUCTURED], &structured), send(&rig, &binary, &apart)] {
        assert_eq!(answered.json()["notifications"], 1, "{answered:?}");
    }
    assert_eq!((inbox(&rig, "ann").len(), inbox(&rig, "bob").len()), (0, 2));
}

#[test]
fn cloud_events_that_are_none_are_refused_and_told_why() {
    let rig = rig();
    let with = |key: &str, value: Value| {
        let mut event = cloud_event("c1");
        event[key] = value;
        send(&rig, &[STRUCTURED], &event)
    };
    let without = |key: &str| {
        let mut event = cloud_event("c1");
        event.as_object_mut().unwrap().remove(key);
        send(&rig, &[STRUCTURED], &event)
    };
    for key in ["specversion", "id", "source", "type", "data"] {
        refused(&without(key), "invalid_body", &format!("`{key}` is missing"));
    }
    refused(&with("source", json!("")), "invalid_body", "`source` is missing");
    refused(&with("id", json!(7)), "invalid_body", "`id` must be a string, got a number");
    refused(&with("data", json!("x")), "invalid_body", "`data` must be an object");
    refused(&with("data_base64", json!("e30=")), "invalid_body", "`data_base64`");
    refused(&with("datacontenttype", json!("text/xml")), "invalid_body", "`datacontenttype`");
    refused(&with("cancellation_key", json!("k")), "invalid_body", "no name of an attribute");
    let mut twice = data();
    twice["id"] = "c1".into();
    refused(&with("data", twice), "invalid_body", "`data` has `id`");
    refused(&with("type", json!("none")), "unknown_type", "`none`");
    let xml = [("content-type", "application/cloudevents+xml")];
    refused(&send(&rig, &xml, &cloud_event("c1")), "unsupported_media_type", "not read as");
}

#[test]
fn field_4_binary_mode_takes_any_json_and_time_and_trace_are_those_of_the_event() {
    let rig = rig();
    let binary = |content, id| {
        let ce = [("ce-specversion", "1.0"), ("ce-type", "note"), ("ce-source", "/r")];
        [vec![("content-type", content), ("ce-id", id)], ce.to_vec()].concat()
    };
    for (content, id) in [
        ("application/vnd.acme+json", "b1"),
        ("application/vnd.acme+json; charset=utf-8", "b2"),
        ("text/json", "b3"),
    ] {
        let answered = send(&rig, &binary(content, id), &data());
        assert_eq!(answered.status, StatusCode::ACCEPTED, "{content}: {answered:?}");
    }
    let xml = send(&rig, &binary("application/xml", "b4"), &data());
    refused(&xml, "unsupported_media_type", "application/json");
    let with = |name, value, id| [binary("application/json", id), vec![(name, value)]].concat();
    let timed = send(&rig, &with("ce-time", "2024-01-01T12:00:00Z", "b5"), &data());
    assert_eq!(timed.status, StatusCode::ACCEPTED, "{timed:?}");
    for (name, field) in [("ce-time", "occurred_at"), ("ce-traceparent", "trace")] {
        let answered = send(&rig, &with(name, "noon", "b6"), &data());
        refused(&answered, "invalid_body", field);
    }
    let mut event = cloud_event("b7");
    assert_eq!(send(&rig, &[STRUCTURED], &event).json()["status"], "accepted");
    for (id, timed) in [("b5", true), ("b7", true), ("b1", false)] {
        let told = rig.send(Method::GET, &format!("/v1/events/{id}"), &[], String::new()).json();
        let shown = told["event"]["occurred_at"].as_str();
        assert_eq!(shown.is_some(), timed, "{told}");
    }
    event["id"] = "b8".into();
    event["time"] = "noon".into();
    refused(&send(&rig, &[STRUCTURED], &event), "invalid_body", "occurred_at");
}
