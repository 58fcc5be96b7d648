//! Each bound of `[limits]`: what reaches it is taken, what passes it is refused and says so.

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};

use super::code;
use crate::rig::{Answered, CONFIG, Rig};
use crate::{Access, Settings};

fn names(what: &str, count: usize) -> Vec<String> {
    (0..count).map(|name| format!("{what}{name}")).collect()
}

fn event(to: &Value) -> Value {
    json!({ "type": "note", "object": { "id": "works/1" }, "to": to })
}

fn publish(rig: &Rig, event: &Value) -> Answered {
    rig.call(Method::POST, "/v1/events", event)
}

#[track_caller]
fn refused(answered: &Answered, bound: &str, value: usize, got: usize) {
    assert_eq!(answered.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(code(answered), "limit_exceeded");
    let problem = answered.json();
    let hint = problem["hint"].as_str().unwrap();
    let said = format!("`[limits] {bound}` is {value}, got {got}");
    assert!(hint.contains(&said), "{hint} should say {said}");
}

#[test]
fn an_event_carries_as_much_as_the_bounds_say_and_no_more() {
    let rig = Rig::new();
    let circle = json!({ "lat": 1, "lon": 2, "km": 3 });
    let deep = |levels: usize| vec!["a"; levels].join("/");
    type Reaching<'t> = &'t dyn Fn(usize) -> Value;
    let bounds: [(&str, usize, Reaching<'_>); 5] = [
        ("event_recipients", 10_000, &|count| json!({ "recipients": names("r", count) })),
        ("event_except", 10_000, &|count| json!({ "everyone": true, "except": names("r", count) })),
        ("event_topics", 100, &|count| json!({ "topics": names("t", count) })),
        ("event_circles", 50, &|count| json!({ "near": vec![circle.clone(); count] })),
        ("topic_levels", 16, &|levels| json!({ "topics": [deep(levels)] })),
    ];
    for (bound, most, to) in bounds {
        let taken = publish(&rig, &event(&to(most)));
        assert_eq!(taken.status, StatusCode::ACCEPTED, "{bound}: {taken:?}");
        refused(&publish(&rig, &event(&to(most + 1))), bound, most, most + 1);
    }
    let one = publish(&rig, &event(&json!({ "near": circle })));
    assert_eq!(one.status, StatusCode::ACCEPTED, "a single circle needs no array");
}

#[test]
fn an_event_has_at_most_256_kib() {
    let rig = Rig::new();
    let mut long = event(&json!({ "everyone": true }));
    long["id"] = json!("e1");
    long["data"] = json!({ "text": "" });
    let rest = long.to_string().len();
    long["data"]["text"] = json!("x".repeat((256 << 10) - rest));
    assert_eq!(publish(&rig, &long).status, StatusCode::ACCEPTED);
    long["id"] = json!("e22");
    let answered = publish(&rig, &long);
    refused(&answered, "event_bytes", 256 << 10, (256 << 10) + 1);
    // Of an array only that event is rejected.
    let many = publish(&rig, &json!([event(&json!({ "everyone": true })), long]));
    assert_eq!(many.status, StatusCode::ACCEPTED);
    let outcomes = many.json();
    assert_eq!(outcomes[0]["status"], "accepted");
    assert_eq!(outcomes[1]["problem"]["code"], "limit_exceeded", "{outcomes}");
}

#[test]
fn data_has_at_most_16_kib_wherever_it_is_taken() {
    let rig = Rig::new();
    let data = |bytes: usize| {
        let rest = json!({ "text": "" }).to_string().len();
        json!({ "text": "x".repeat(bytes - rest) })
    };
    let most = 16 << 10;
    for path in ["/v1/recipients/ann", "/v1/objects/works%2F1"] {
        let put = |bytes| rig.call(Method::PUT, path, &json!({ "data": data(bytes) }));
        assert!(put(most).status.is_success(), "{path}");
        refused(&put(most + 1), "data_bytes", most, most + 1);
    }
    for role in ["actor", "object", "target"] {
        let with = |bytes| {
            let mut event = event(&json!({ "everyone": true }));
            event[role] = json!({ "id": "o", "data": data(bytes) });
            publish(&rig, &event)
        };
        assert_eq!(with(most).status, StatusCode::ACCEPTED, "{role}");
        refused(&with(most + 1), "data_bytes", most, most + 1);
    }
}

#[test]
fn a_recipient_follows_as_many_topics_as_the_bound_says() {
    let config = format!("{CONFIG}\n[limits]\nsubscriptions = 3\ntopic_bytes = 8\n");
    let rig = Rig::with(&config, Access::Open, Settings::default());
    let call = |method: &Method, path: &str| {
        rig.call(method.clone(), &format!("/v1/recipients/ann{path}"), &json!({}))
    };
    assert!(call(&Method::PUT, "").status.is_success());
    for topic in ["a", "b", "c", "c"] {
        let done = call(&Method::PUT, &format!("/subscriptions/{topic}"));
        assert_eq!(done.status, StatusCode::NO_CONTENT, "{topic}");
    }
    refused(&call(&Method::PUT, "/subscriptions/d"), "subscriptions", 3, 4);
    let long = call(&Method::PUT, "/subscriptions/123456789");
    refused(&long, "topic_bytes", 8, 9);
    // What is left makes room.
    assert!(call(&Method::DELETE, "/subscriptions/a").status.is_success());
    assert!(call(&Method::PUT, "/subscriptions/d").status.is_success());
    refused(&call(&Method::PUT, "/subscriptions/e"), "subscriptions", 3, 4);
}
