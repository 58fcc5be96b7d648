//! Inboxes as applications read them; named after rows of the acceptance table where there is one.

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::http::rig::Rig;

fn with_ada() -> Rig {
    let rig = Rig::new();
    let made = rig.call(Method::PUT, "/v1/recipients/ada", &json!({}));
    assert_eq!(made.status, StatusCode::NO_CONTENT);
    rig
}

fn publish(rig: &Rig, event: &str, object: &str) {
    let body = json!({
        "id": event, "type": "note", "actor": format!("by/{event}"), "object": {"id": object, "title": object},
        "to": {"recipients": ["ada"]},
    });
    let answer = rig.call(Method::POST, "/v1/events", &body);
    assert_eq!(answer.status, StatusCode::ACCEPTED, "{}", answer.json());
}

fn page(rig: &Rig, query: &str) -> Value {
    let path = format!("/v1/recipients/ada/inbox{query}");
    let answer = rig.call(Method::GET, &path, &Value::Null);
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.json());
    answer.json()
}

fn mark(rig: &Rig, how: &str, what: &Value) {
    let answer = rig.call(
        Method::POST,
        &format!("/v1/recipients/ada/inbox/{how}"),
        what,
    );
    assert_eq!(answer.status, StatusCode::NO_CONTENT, "{}", answer.json());
}

const NOW: &str = "2024-01-01T12:00:00Z";

#[test]
fn h32_and_p6_the_badge_counts_groups_and_its_rev_rises() {
    let rig = with_ada();
    let mut badges = Vec::new();
    let mut look = || {
        let page = page(&rig, "?limit=1");
        badges.push((
            page["rev"].as_u64().unwrap(),
            page["unseen"].as_u64().unwrap(),
        ));
    };
    look();
    for (event, object) in [("e1", "o1"), ("e2", "o1")] {
        publish(&rig, event, object);
        look();
    }
    mark(&rig, "seen", &json!({"up_to": NOW}));
    look();
    publish(&rig, "e3", "o1");
    publish(&rig, "e4", "o1");
    look();
    publish(&rig, "e5", "o2");
    publish(&rig, "e6", "o3");
    look();
    let unseen: Vec<u64> = badges.iter().map(|(_, unseen)| *unseen).collect();
    assert_eq!(unseen, [0, 1, 1, 0, 1, 3]);
    assert!(badges.is_sorted_by(|a, b| a.0 < b.0), "{badges:?}");
}

#[test]
fn t27_and_t28_what_was_seen_stays_unread_until_it_is_opened() {
    let rig = with_ada();
    publish(&rig, "e1", "o1");
    publish(&rig, "e2", "o2");
    mark(&rig, "seen", &json!({"up_to": NOW}));
    let seen = page(&rig, "");
    assert_eq!((&seen["unseen"], &seen["unread"]), (&json!(0), &json!(2)));
    mark(&rig, "read", &json!({"object": "o1"}));
    let read = page(&rig, "");
    assert_eq!((&read["unseen"], &read["unread"]), (&json!(0), &json!(1)));
    let states = read["groups"].as_array().unwrap().iter();
    let states: Vec<_> = states
        .map(|g| (&g["items"][0]["event"], &g["read"]))
        .collect();
    let expected = [(&json!("e2"), &json!(false)), (&json!("e1"), &json!(true))];
    assert_eq!(states, expected);
    publish(&rig, "e3", "o1");
    let after = page(&rig, "");
    assert_eq!(
        after["groups"].as_array().unwrap().len(),
        3,
        "H33: apart from what was read"
    );
    mark(&rig, "read", &json!({"event": "e3"}));
    assert_eq!(page(&rig, "")["unread"], 1);
}

#[test]
fn pages_lead_through_everything_whatever_arrives_meanwhile() {
    let rig = with_ada();
    for at in 0..5 {
        publish(&rig, &format!("e{at}"), &format!("o{at}"));
    }
    let (mut events, mut query) = (Vec::new(), "?limit=2".to_owned());
    loop {
        let page = page(&rig, &query);
        for group in page["groups"].as_array().unwrap() {
            events.push(group["items"][0]["event"].as_str().unwrap().to_owned());
        }
        let Some(next) = page["next"].as_str() else {
            break;
        };
        publish(&rig, &format!("late{}", events.len()), "o0");
        query = format!("?limit=2&cursor={next}");
    }
    assert_eq!(events, ["e4", "e3", "e2", "e1", "e0"]);
}

#[test]
fn a_page_tells_what_the_contract_names() {
    let rig = with_ada();
    publish(&rig, "e1", "o1");
    publish(&rig, "e2", "o1");
    let page = page(&rig, "");
    let item = |event: &str| {
        json!({
            "event": event, "type": "note", "object": {"id": "o1", "title": "o1"}, "t": NOW,
            "reasons": ["named"], "seen": false, "read": false,
        })
    };
    let group = json!({
        "key": "note:o1:2024-01-01:new", "type": "note", "count": 2, "actors": ["by/e2", "by/e1"],
        "newest_at": NOW, "seen": false, "read": false, "items": [item("e2"), item("e1")],
    });
    assert_eq!(page["groups"], json!([group]));
    assert_eq!(page["next"], Value::Null);
}

#[test]
fn a6_a_flushed_inbox_keeps_its_history_and_withdrawn_objects_leave_it() {
    let rig = with_ada();
    publish(&rig, "e1", "o1");
    publish(&rig, "e2", "o2");
    let flushed = rig.call(Method::POST, "/v1/recipients/ada/flush", &json!({}));
    assert!(flushed.status.is_success(), "{}", flushed.json());
    assert_eq!(page(&rig, "")["unseen"], 2);
    rig.call(Method::DELETE, "/v1/objects/o1", &Value::Null);
    let rig = rig.restart();
    let without = page(&rig, "");
    assert_eq!(without["unseen"], 1);
    assert_eq!(without["groups"][0]["items"][0]["event"], "e2");
    rig.call(Method::PUT, "/v1/objects/o1", &json!({"title": "back"}));
    let again = page(&rig, "");
    assert_eq!(again["unseen"], 2);
    assert!(again["rev"].as_u64() > without["rev"].as_u64());
}

#[test]
fn what_makes_no_sense_is_refused() {
    let rig = with_ada();
    for (query, status) in [
        ("ada/inbox?limit=0", StatusCode::BAD_REQUEST),
        ("ada/inbox?limit=101", StatusCode::BAD_REQUEST),
        ("ada/inbox?cursor=x", StatusCode::BAD_REQUEST),
        ("ada/inbox?page=2", StatusCode::BAD_REQUEST),
        ("bob/inbox", StatusCode::NOT_FOUND),
    ] {
        let answer = rig.call(
            Method::GET,
            &format!("/v1/recipients/{query}"),
            &Value::Null,
        );
        assert_eq!(answer.status, status, "{query}: {}", answer.json());
    }
}
