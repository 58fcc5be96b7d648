//! Publishing through the router, over a store in memory.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{Method, Request, StatusCode};
use serde_json::{Value, json};
use tidings_core::engine::{InboxItem, InboxQuery};
use tidings_core::model::RecipientChange;
use tidings_core::{Command, Id, Instant};

use crate::rig::{Answered, CONFIG, Rig};
use crate::{Access, Settings};

mod body;
mod cloud;
mod data;
mod except;
mod languages;
mod streams;

const NDJSON: (&str, &str) = ("content-type", "application/x-ndjson");

fn person(rig: &Rig, id: &str) {
    let change = RecipientChange::nothing(Id::new(id).unwrap());
    let done = rig.service.submit(vec![Command::Recipient(Box::new(change))]);
    rig.tokio.block_on(done).unwrap()[0].as_ref().unwrap();
}

fn event(id: Option<&str>, to: &str) -> Value {
    let mut event = json!({
        "type": "note",
        "object": { "id": "works/1", "title": "Water Lilies" },
        "to": { "recipients": [to] },
    });
    if let Some(id) = id {
        event["id"] = id.into();
    }
    event
}

fn publish(rig: &Rig, body: &Value) -> Answered {
    rig.call(Method::POST, "/v1/events", body)
}

fn inbox(rig: &Rig, who: &str) -> Vec<InboxItem> {
    let who = Id::new(who).unwrap();
    let looked = rig.service.look(move |node| {
        let page = node.engine().reader(node.view()).inbox(&who, &InboxQuery::newest(100)).unwrap();
        page.groups.into_iter().flat_map(|group| group.items).collect()
    });
    rig.tokio.block_on(looked).unwrap()
}

fn lines(answer: &Answered) -> Vec<Value> {
    assert_eq!(answer.headers["content-type"], "application/x-ndjson");
    let text = std::str::from_utf8(&answer.bytes).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn one_event_is_taken_and_known_again_by_its_id() {
    let rig = Rig::new();
    person(&rig, "ann");
    let first = publish(&rig, &event(Some("e1"), "ann"));
    assert_eq!(first.status, StatusCode::ACCEPTED);
    let expected = json!({
        "id": "e1", "status": "accepted", "notifications": 1, "suppressed": 0, "warnings": [],
    });
    assert_eq!(first.json(), expected);
    assert_eq!(publish(&rig, &event(Some("e1"), "ann")).json()["status"], "duplicate");
    // P10: also after a restart.
    let rig = rig.restart();
    assert_eq!(publish(&rig, &event(Some("e1"), "ann")).json()["status"], "duplicate");
    assert_eq!(inbox(&rig, "ann").len(), 1);
}

#[test]
fn events_without_an_id_get_one() {
    let rig = Rig::new();
    person(&rig, "ann");
    let given = |answer: Answered| answer.json()["id"].as_str().unwrap().to_owned();
    let first = given(publish(&rig, &event(None, "ann")));
    let second = given(publish(&rig, &event(None, "ann")));
    assert!(first < second, "{first} {second}");
    assert_eq!(inbox(&rig, "ann").len(), 2);
}

#[test]
fn nobody_and_unknown_people_are_warnings() {
    let rig = Rig::new();
    let answer = publish(&rig, &event(Some("e1"), "nobody")).json();
    assert_eq!(answer["status"], "accepted");
    let codes: Vec<&Value> =
        answer["warnings"].as_array().unwrap().iter().map(|warning| &warning["code"]).collect();
    assert!(codes.contains(&&json!("unknown_recipient")), "{answer}");
    let names: Vec<String> = (0..30).map(|n| format!("nobody-{n}")).collect();
    let mut many = event(Some("e2"), "nobody");
    many["to"]["recipients"] = json!(names);
    let warnings = &publish(&rig, &many).json()["warnings"];
    assert_eq!(warnings.as_array().unwrap().len(), super::WARNINGS_MAX + 1);
    assert_eq!(warnings[super::WARNINGS_MAX]["code"], "more_warnings");
}

/// The codes of the warnings of an answer, each of which says what is wrong and what to do.
fn codes(answer: &Value) -> Vec<String> {
    let warnings = answer["warnings"].as_array().unwrap().iter();
    let code = |warning: &Value| {
        for said in ["detail", "hint"] {
            assert!(warning[said].as_str().unwrap().len() > 10, "{warning}");
        }
        warning["code"].as_str().unwrap().to_owned()
    };
    warnings.map(code).collect()
}

#[test]
fn a_warning_says_why_nobody_hears_of_an_event() {
    let rig = Rig::new();
    person(&rig, "ann");
    let warned = |change: Value| {
        let mut event = event(None, "ann");
        for (key, value) in change.as_object().unwrap() {
            event[key] = value.clone();
        }
        let answer = publish(&rig, &event).json();
        assert_eq!(answer["status"], "accepted", "{answer}");
        (codes(&answer), answer["warnings"][0]["detail"].to_string())
    };
    assert!(warned(json!({})).0.is_empty());
    let (code, _) = warned(json!({"actor": "ann"}));
    assert_eq!(code, ["only_the_actor"]);
    let (code, detail) = warned(json!({"to": {"topics": ["repo/zzz", "repo/yyy"]}}));
    assert_eq!(code, ["no_followers"]);
    assert!(detail.contains("repo/zzz") && detail.contains("repo/yyy"), "{detail}");
    let near = json!({"lat": 1, "lon": 2, "km": 3});
    let (code, detail) = warned(json!({"to": {"near": near}}));
    assert_eq!(code, ["nobody_near"]);
    assert!(detail.contains("3 km of 1, 2"), "{detail}");
    let (code, _) = warned(json!({"to": {"near": near, "topics": ["a"]}}));
    assert_eq!(code, ["no_followers", "nobody_near"]);
    assert_eq!(warned(json!({"to": {}})).0, ["nobody_concerned"]);
    let (code, _) = warned(json!({"to": {"recipients": ["ghost"]}}));
    assert_eq!(code, ["unknown_recipient", "nobody_concerned"]);
    let (code, _) = warned(json!({"to": {"recipients": ["ghost", "ann"], "topics": ["a"]}}));
    assert_eq!(code, ["unknown_recipient"], "somebody hears of it");

    // It is noon.
    let noon = "2024-01-01T12:00:00Z";
    assert_eq!(warned(json!({"expires_at": noon})).0, ["already_expired"]);
    let later = "2024-01-01T12:01:00Z";
    assert!(warned(json!({"expires_at": later})).0.is_empty());
    let (code, _) = warned(json!({"expires_at": later, "deliver_at": later}));
    assert_eq!(code, ["expires_before_delivery"]);
    let (code, _) = warned(json!({"expires_at": later, "deliver_at": noon}));
    assert!(code.is_empty(), "what is to be delivered by now is delivered now");
}

#[test]
fn an_id_that_comes_again_with_another_event_is_a_warning() {
    let rig = Rig::new();
    person(&rig, "ann");
    let mut first = event(Some("e1"), "ann");
    first["data"] = json!({"amount": 0.1, "big": 1e300, "text": "é"});
    first["deliver_at"] = "2024-01-01T13:00:00Z".into();
    publish(&rig, &first);
    publish(&rig, &event(Some("e2"), "ann"));
    let again = |rig: &Rig, body: &Value| {
        let answer = publish(rig, body).json();
        assert_eq!(answer["status"], "duplicate", "{answer}");
        codes(&answer)
    };
    let restarted = rig.restart();
    assert!(again(&restarted, &first).is_empty(), "scheduled");
    assert!(again(&restarted, &event(Some("e2"), "ann")).is_empty());
    first["data"]["amount"] = json!(0.2);
    assert_eq!(again(&restarted, &first), ["differs"]);
    let mut other = event(Some("e2"), "ann");
    other["object"]["title"] = "Other Lilies".into();
    assert_eq!(again(&restarted, &other), ["differs"]);
    let both = json!([event(Some("e3"), "ann"), other, event(Some("e3"), "ben")]);
    let answers = publish(&restarted, &both).json();
    assert_eq!(codes(&answers[2]), ["differs"], "also within one request");
}

#[test]
fn an_event_that_cannot_be_read_is_refused_with_the_reason() {
    let rig = Rig::new();
    let refused = |body: &str| {
        let headers = [("content-type", "application/json; charset=utf-8")];
        let answer = rig.send(Method::POST, "/v1/events", &headers, body.to_owned());
        (answer.json()["code"].as_str().unwrap().to_owned(), answer.json()["detail"].to_string())
    };
    let (code, detail) = refused("{\"type\":\"note\",}");
    assert!(code == "invalid_json" && detail.contains("column 16"), "{code} {detail}");
    let (code, detail) = refused("7");
    assert!(code == "invalid_body" && detail.contains("a number"), "{code} {detail}");
    let (code, detail) = refused("{\"type\":\"note\"}");
    assert!(code == "invalid_body" && detail.contains("object"), "{code} {detail}");
    let (code, detail) = refused("{\"type\":\"nota\",\"object\":{\"id\":\"a\"},\"to\":{}}");
    assert!(code == "unknown_type" && detail.contains("nota"), "{code} {detail}");
    let (code, _) = refused("{\"type\":\"note\",\"type\":\"note\"}");
    assert_eq!(code, "invalid_json");
}

/// Acceptance A2: the events of an array, and of a stream, are taken in their order, which is that of the
/// inbox and of the entries that wait.
#[test]
fn a2_events_are_taken_in_their_order() {
    let names: Vec<String> = (0..50).map(|n| format!("e{}", n * 37 % 50)).collect();
    let events: Vec<Value> = names
        .iter()
        .map(|name| {
            let mut event = event(Some(name), "ann");
            event["object"] = json!({ "id": format!("of/{name}") });
            event
        })
        .collect();
    let stream: String = events.iter().map(|event| format!("{event}\n")).collect();
    for is_stream in [false, true] {
        let rig = Rig::new();
        person(&rig, "ann");
        let answers = if is_stream {
            lines(&rig.send(Method::POST, "/v1/events", &[NDJSON], stream.clone()))
        } else {
            serde_json::from_value(publish(&rig, &json!(events)).json()).unwrap()
        };
        let answered: Vec<&Value> = answers.iter().map(|answer| &answer["id"]).collect();
        assert_eq!(answered, names.iter().collect::<Vec<_>>());
        let pending = rig.call(Method::GET, "/v1/recipients/ann/pending", &Value::Null);
        let waiting: Vec<String> = pending.json()["lanes"][0]["entries"]
            .clone()
            .as_array()
            .unwrap()
            .iter()
            .map(|entry| entry["event"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(waiting, names);
        let mut told: Vec<String> =
            inbox(&rig, "ann").iter().map(|item| item.event.to_string()).collect();
        told.reverse();
        assert_eq!(told, names);
    }
}

#[test]
fn of_an_array_the_good_events_are_taken_in_their_order() {
    let rig = Rig::new();
    person(&rig, "ann");
    let body = json!([
        event(Some("e1"), "ann"),
        { "id": "bad", "type": "nota", "object": { "id": "a" }, "to": {} },
        event(Some("e2"), "ann"),
        7,
        event(Some("e1"), "ann"),
    ]);
    let answer = publish(&rig, &body);
    assert_eq!(answer.status, StatusCode::ACCEPTED);
    let answers = answer.json();
    let statuses: Vec<&str> = answers
        .as_array()
        .unwrap()
        .iter()
        .map(|answer| answer["status"].as_str().unwrap())
        .collect();
    assert_eq!(statuses, ["accepted", "rejected", "accepted", "rejected", "duplicate"]);
    assert_eq!(answers[1]["problem"]["code"], "unknown_type");
    assert_eq!((&answers[1]["id"], &answers[3]["id"]), (&json!("bad"), &json!(null)));
    assert_eq!(answers[3]["problem"]["code"], "invalid_body");
    let told: Vec<String> = inbox(&rig, "ann").iter().map(|item| item.event.to_string()).collect();
    assert_eq!(told, ["e2", "e1"], "newest first");
    assert_eq!(publish(&rig, &json!([])).json(), json!([]));
}

#[test]
fn a_history_can_be_brought_along_into_the_inbox_alone() {
    let rig = Rig::new();
    person(&rig, "ann");
    let mut old = event(Some("e1"), "ann");
    old["occurred_at"] = "2009-05-17T08:30:00+02:00".into();
    old["channels"] = json!(["inbox"]);
    assert_eq!(publish(&rig, &old).json()["notifications"], 1);
    let items = inbox(&rig, "ann");
    assert_eq!(items[0].occurred_at, Some(Instant::parse("2009-05-17T06:30:00Z").unwrap()));
    assert_eq!(items[0].t, Instant::parse("2024-01-01T12:00:00Z").unwrap());
    let books = rig.service.look(|node| node.books().unwrap());
    assert_eq!(rig.tokio.block_on(books).unwrap().entries, 1, "no mail");
}

fn keyed(rig: &Rig, key: &str, body: &Value) -> Answered {
    let headers = [("content-type", "application/json"), ("idempotency-key", key)];
    rig.send(Method::POST, "/v1/events", &headers, body.to_string())
}

#[test]
fn the_same_request_under_a_key_is_done_once_and_answered_alike() {
    let rig = Rig::new();
    person(&rig, "ann");
    let first = keyed(&rig, "k1", &event(None, "ann"));
    assert_eq!(first.status, StatusCode::ACCEPTED);
    assert!(!first.headers.contains_key("idempotency-replayed"));
    let rig = rig.restart();
    let again = keyed(&rig, "k1", &event(None, "ann"));
    assert_eq!((again.status, &again.bytes), (first.status, &first.bytes));
    assert_eq!(again.headers["idempotency-replayed"], "true");
    assert_eq!(inbox(&rig, "ann").len(), 1);

    let other = keyed(&rig, "k1", &event(None, "bob"));
    assert_eq!(other.json()["code"], "idempotency_key_reused");
    // What was refused is not kept: the client mends it and may use the key again.
    assert_eq!(keyed(&rig, "k2", &json!({})).json()["code"], "invalid_body");
    assert_eq!(keyed(&rig, "k2", &event(None, "ann")).status, StatusCode::ACCEPTED);
    rig.at("2024-01-02T12:00:00Z");
    assert_eq!(keyed(&rig, "k1", &event(None, "bob")).status, StatusCode::ACCEPTED);
}

#[test]
fn of_many_at_the_same_instant_one_is_done() {
    let rig = Rig::new();
    person(&rig, "ann");
    let body = event(None, "ann").to_string();
    let asked: Vec<_> = (0..32)
        .map(|_| {
            let request = Request::post("/v1/events").header("idempotency-key", "k");
            rig.tokio.spawn(rig.ask(request.body(Body::from(body.clone())).unwrap()))
        })
        .collect();
    let mut bodies = std::collections::BTreeSet::new();
    let mut first = 0;
    for asked in asked {
        let answer = rig.tokio.block_on(asked).unwrap();
        assert_eq!(answer.status, StatusCode::ACCEPTED);
        first += u32::from(!answer.headers.contains_key("idempotency-replayed"));
        bodies.insert(answer.bytes);
    }
    assert_eq!((first, bodies.len()), (1, 1));
    assert_eq!(inbox(&rig, "ann").len(), 1);
}

#[test]
fn a_fault_of_json_is_told_with_its_line() {
    let rig = Rig::new();
    let detail = |body: &'static str| {
        let answer = rig.send(Method::POST, "/v1/events", &[], body);
        assert_eq!(answer.status, StatusCode::BAD_REQUEST);
        answer.json()["detail"].as_str().unwrap().to_owned()
    };
    assert!(
        detail("{\"type\": }").starts_with("column 10: the body is not JSON: a value is missing")
    );
    assert!(
        detail("{\n \"to\": [\"a\",]\n}").starts_with("line 2, column 13: the body is not JSON")
    );
    assert_eq!(detail(" \n"), "column 1: the body is empty");
}

/// Contract, section 3: an event whose id came before is a duplicate, also where its type was taken out of
/// the configuration since.
#[test]
fn a_known_id_of_a_type_that_is_gone_is_a_duplicate() {
    let rig = Rig::new();
    person(&rig, "ann");
    let known = event(Some("e1"), "ann");
    assert_eq!(publish(&rig, &known).json()["status"], "accepted");
    let (before, weekly) = CONFIG.split_once("[types.note]").unwrap();
    let (_, weekly) = weekly.split_once("[types.weekly]").unwrap();
    let without = format!("{before}[types.weekly]{weekly}");
    let rules = tidings_config::parse(&without, "tidings.toml").unwrap();
    rig.service.configure(rules, BTreeMap::new()).unwrap();
    let mut limited = known.clone();
    limited["channels"] = json!(["inbox"]);
    for known in [known, limited] {
        assert_eq!(publish(&rig, &known).json()["status"], "duplicate");
    }
    let answer = publish(&rig, &json!([event(Some("e1"), "ann"), event(Some("e2"), "ann")]));
    let answers = answer.json();
    assert_eq!(answers[0]["status"], "duplicate");
    let rejected = (&answers[1]["id"], &answers[1]["problem"]["code"]);
    assert_eq!(rejected, (&json!("e2"), &json!("unknown_type")));
}
