//! Contract, section 11, "Before": what a call would do, and how many people it may touch.

use axum::http::{Method, StatusCode};
use serde_json::{Map, Value, json};
use tidings_node::DurableSnapshot;
use tidings_node::backup::export;

use super::messages::{awaited, deferred, id_of, note, refused, wired};
use super::{NDJSON, done, event, get, post, problem, publish, with_people};
use crate::rig::{Answered, Rig};

/// A call that changes something: method, path and body.
type Call<'a> = (Method, &'a str, Value);

fn send(rig: &Rig, (method, path, body): &Call<'_>, query: &str) -> Answered {
    rig.call(method.clone(), &format!("{path}?{query}"), body)
}

/// The rows of the store. A backup by a call would leave a line in the log of changes.
fn stored(rig: &Rig) -> Vec<u8> {
    let read = |node: &DurableSnapshot| {
        let (snapshot, mut rows) = (node.store().snapshot().unwrap(), Vec::new());
        export(&*snapshot, &mut rows).unwrap();
        rows
    };
    rig.tokio.block_on(rig.service.look(read)).unwrap()
}

fn concerns(people: u64, entries: u64, messages: u64) -> Value {
    json!({"people": people, "entries": entries, "messages": messages})
}

/// The concerns of a dry run, after which the call answers what the dry run did, and before which nothing changes.
fn tried(rig: &Rig, call: &Call<'_>) -> Value {
    let before = stored(rig);
    let dry = send(rig, call, "dry=true");
    assert_eq!(dry.status, StatusCode::OK, "{call:?}: {}", dry.json());
    assert!(stored(rig) == before, "{call:?}: a dry run changes nothing");
    let Value::Object(mut dry) = dry.json() else { panic!("{call:?}: not an object") };
    let concerns = dry.remove("concerns").unwrap();
    assert_eq!(dry.remove("dry"), Some(json!(true)));
    let real = rig.call(call.0.clone(), call.1, &call.2);
    assert!(real.status.is_success(), "{call:?}: {}", real.json());
    let Value::Object(mut real) = (match real.json() {
        Value::Null => Value::Object(Map::new()),
        answer => answer,
    }) else {
        panic!("{call:?}: not an object")
    };
    // An id that the server gives is another one each time.
    if call.2["id"].is_null() {
        assert_eq!(dry.remove("id").is_some(), real.remove("id").is_some());
    }
    // A dry run leaves no line, and so no receipt.
    assert_eq!(dry.remove("receipt").is_some(), real.remove("receipt").is_some());
    assert_eq!(dry, real, "{call:?}");
    concerns
}

/// The entries of an event on both channels that are pending, and those that ended.
fn fates(rig: &Rig, event: &str) -> (u64, u64) {
    let event = get(rig, &format!("/v1/events/{event}"));
    let channels = event["channels"].as_object().unwrap().values();
    let of = |fate: &Value, name: &str| fate[name].as_u64().unwrap();
    let counts = channels.map(|fate| (of(fate, "pending"), of(fate, "entries")));
    counts.fold((0, 0), |sum, (pending, all)| (sum.0 + pending, sum.1 + all - pending))
}

#[test]
fn a_dry_publish_says_whom_the_event_would_reach() {
    let rig = with_people();
    let publish = (Method::POST, "/v1/events", event("e1", "note", &["ada", "bob", "nobody"]));
    assert_eq!(tried(&rig, &publish), concerns(2, 4, 0));
    assert_eq!(fates(&rig, "e1"), (2, 2), "two wait for a mail, two are in inboxes");
    // Known by now.
    assert_eq!(tried(&rig, &publish), concerns(0, 0, 0));
    let mut later = event("e2", "note", &["ada"]);
    later["deliver_at"] = json!("2024-01-03T00:00:00Z");
    assert_eq!(tried(&rig, &(Method::POST, "/v1/events", later)), concerns(1, 2, 0));
    let mut unnamed = event("", "note", &["ada"]);
    unnamed["id"].take();
    assert_eq!(tried(&rig, &(Method::POST, "/v1/events", unnamed)), concerns(1, 2, 0));
    let refused = (Method::POST, "/v1/events", event("e3", "none", &["ada"]));
    let problems = ["dry=true", ""].map(|query| send(&rig, &refused, query));
    for answer in problems {
        assert_eq!(problem(&answer, StatusCode::UNPROCESSABLE_ENTITY), "unknown_type");
    }
}

#[test]
fn a_dry_cancel_or_withdrawal_says_what_it_would_take_back() {
    let rig = with_people();
    for (id, key) in [("e1", "k"), ("e2", "k"), ("e3", "other")] {
        let mut event = event(id, "note", &["ada", "bob"]);
        event["cancellation_key"] = json!(key);
        post(&rig, "/v1/events", &event);
    }
    let cancel = (Method::POST, "/v1/events/e1/cancel", Value::Null);
    assert_eq!(tried(&rig, &cancel), concerns(2, 2, 0));
    assert_eq!(fates(&rig, "e1"), (0, 4));
    let withdraw = (Method::POST, "/v1/events/e1/withdraw", Value::Null);
    assert_eq!(tried(&rig, &withdraw), concerns(2, 2, 0), "what inboxes show");
    assert_eq!(tried(&rig, &withdraw), concerns(0, 0, 0));
    let key = || json!({"cancellation_key": "k"});
    assert_eq!(tried(&rig, &(Method::POST, "/v1/cancel", key())), concerns(2, 2, 0));
    assert_eq!(tried(&rig, &(Method::POST, "/v1/withdraw", key())), concerns(2, 2, 0));
    // Unknown: it is remembered, which a dry run is not.
    let ahead = (Method::POST, "/v1/events/later/cancel", Value::Null);
    assert_eq!(send(&rig, &ahead, "dry=true").json()["status"], "remembered");
    assert_eq!(publish(&rig, "later", "note", &["ada"])["status"], "accepted");
    assert_eq!(tried(&rig, &ahead), concerns(1, 1, 0));
}

#[test]
fn a_dry_flush_counts_lanes_and_a_dry_erasure_what_waits() {
    let rig = with_people();
    let flush = (Method::POST, "/v1/recipients/ada/flush", json!({}));
    assert_eq!(tried(&rig, &flush), concerns(0, 0, 0));
    for id in ["e1", "e2"] {
        publish(&rig, id, "note", &["ada", "bob"]);
    }
    publish(&rig, "w1", "weekly", &["ada", "bob"]);
    let narrow = (Method::POST, "/v1/recipients/ada/flush", json!({"lane": "cooldown"}));
    let of_lane = send(&rig, &narrow, "dry=true").json();
    assert_eq!((&of_lane["lanes"], &of_lane["concerns"]), (&json!(1), &concerns(1, 2, 1)));
    assert_eq!(tried(&rig, &flush), concerns(1, 3, 2));
    // Without a provider both messages fail.
    awaited(&rig, "state=failed", 2);
    let erase = (Method::DELETE, "/v1/recipients/bob", Value::Null);
    assert_eq!(tried(&rig, &erase), concerns(1, 3, 0));
    // Nobody is left to erase.
    assert_eq!(tried(&rig, &erase), concerns(0, 0, 0));
}

#[test]
fn a_dry_retry_resend_or_cancel_of_a_message_sends_and_stops_nothing() {
    let (rig, wire) = wired();
    wire.says([deferred(), refused()]);
    note(&rig, "e1", "ada");
    let retrying = id_of(&awaited(&rig, "state=retrying", 1)[0]);
    note(&rig, "e2", "bob");
    let failed = id_of(&awaited(&rig, "state=failed", 1)[0]);
    note(&rig, "e3", "cy");
    let sent = id_of(&awaited(&rig, "state=sent", 1)[0]);
    let call = |id: &str, verb: &str| format!("/v1/messages/{id}/{verb}");
    let one = concerns(1, 1, 1);
    let cases = [
        (&failed, "retry", &one),
        (&failed, "resend", &one),
        (&failed, "cancel", &concerns(0, 0, 0)),
        (&retrying, "retry", &one),
        (&retrying, "cancel", &one),
        (&sent, "resend", &one),
        (&sent, "cancel", &concerns(0, 0, 0)),
    ];
    let before = stored(&rig);
    for (id, verb, expected) in cases {
        let path = call(id, verb);
        let dry = send(&rig, &(Method::POST, &path, Value::Null), "dry=true").json();
        assert_eq!(dry["concerns"], *expected, "{path}");
    }
    for (id, verb) in [(&sent, "retry"), (&retrying, "resend")] {
        let path = call(id, verb);
        let answer = send(&rig, &(Method::POST, &path, Value::Null), "dry=true");
        assert_eq!(problem(&answer, StatusCode::CONFLICT), "message_state");
    }
    assert!(stored(&rig) == before);
    assert_eq!(wire.recipients(), ["ada", "bob", "cy"]);
    let path = call(&retrying, "cancel");
    assert_eq!(tried(&rig, &(Method::POST, &path, Value::Null)), one);
    let path = call(&failed, "retry");
    assert_eq!(tried(&rig, &(Method::POST, &path, Value::Null)), one);
    awaited(&rig, "state=sent", 2);
    assert_eq!(wire.recipients(), ["ada", "bob", "cy", "bob"]);
}

/// A message that is built is stopped with the event's last entry: the senders know which can still be.
#[test]
fn a_dry_cancel_counts_the_built_messages_that_it_would_stop() {
    let (rig, wire) = wired();
    wire.says([deferred()]);
    note(&rig, "e1", "ada");
    awaited(&rig, "state=retrying", 1);
    let cancel = (Method::POST, "/v1/events/e1/cancel", Value::Null);
    let dry = send(&rig, &cancel, "dry=true").json();
    assert_eq!(
        (&dry["status"], &dry["removed_from_batch"]),
        (&json!("removed_from_batch"), &json!(1))
    );
    awaited(&rig, "state=retrying", 1);
    assert_eq!(tried(&rig, &cancel), concerns(1, 1, 1));
    awaited(&rig, "state=cancelled", 1);
}

#[test]
fn more_people_than_expected_are_refused_and_nothing_changes() {
    let rig = with_people();
    let publish = (Method::POST, "/v1/events", event("e1", "note", &["ada", "bob"]));
    let before = stored(&rig);
    for query in ["expect=1", "expect=0", "dry=true&expect=1"] {
        let grown = send(&rig, &publish, query);
        assert_eq!(problem(&grown, StatusCode::CONFLICT), "grew");
        assert_eq!(grown.json()["concerns"], concerns(2, 4, 0));
    }
    assert!(stored(&rig) == before);
    let expected = send(&rig, &publish, "dry=true&expect=2");
    assert_eq!(expected.json()["concerns"], concerns(2, 4, 0));
    let accepted = send(&rig, &publish, "expect=2");
    assert_eq!(accepted.status, StatusCode::ACCEPTED);
    assert_eq!(accepted.json().get("concerns"), None);
    let calls = [
        (Method::POST, "/v1/events/e1/cancel", Value::Null),
        (Method::POST, "/v1/events/e1/withdraw", Value::Null),
        (Method::POST, "/v1/recipients/ada/flush", json!({})),
        (Method::DELETE, "/v1/recipients/ada", Value::Null),
    ];
    let before = stored(&rig);
    for call in &calls {
        assert_eq!(problem(&send(&rig, call, "expect=0"), StatusCode::CONFLICT), "grew");
    }
    assert!(stored(&rig) == before);
    for call in &calls {
        assert!(send(&rig, call, "expect=2").status.is_success(), "{call:?}");
    }
    // Refused for another reason, it is told that.
    let gone = send(&rig, &calls[2], "expect=0");
    assert_eq!(problem(&gone, StatusCode::NOT_FOUND), "recipient_not_found");
}

#[test]
fn a_key_is_not_looked_at_by_a_dry_run_and_not_used_up_by_a_refusal() {
    let rig = with_people();
    let body = event("e1", "note", &["ada", "bob"]).to_string();
    let headers = [("content-type", "application/json"), ("idempotency-key", "k")];
    let send = |query: &str| {
        let path = format!("/v1/events?{query}");
        rig.send(Method::POST, &path, &headers, body.clone())
    };
    let odd = [headers[0], ("idempotency-key", "")];
    let dry = rig.send(Method::POST, "/v1/events?dry=true", &odd, body.clone());
    assert_eq!(dry.status, StatusCode::OK);
    assert_eq!(send("dry=true").status, StatusCode::OK);
    assert_eq!(problem(&send("expect=1"), StatusCode::CONFLICT), "grew");
    let first = send("expect=2");
    assert_eq!((first.status, &first.json()["status"]), (StatusCode::ACCEPTED, &json!("accepted")));
    let again = send("expect=2");
    assert_eq!((&again.bytes, again.status), (&first.bytes, first.status));
    assert_eq!(again.headers["idempotency-replayed"], "true");
    // Of an event that is known there is nothing to touch.
    assert_eq!(send("dry=true").json()["concerns"], concerns(0, 0, 0));
}

#[test]
fn what_is_asked_before_a_change_has_to_be_read() {
    let rig = with_people();
    publish(&rig, "e1", "note", &["ada"]);
    let before = stored(&rig);
    let cancel = (Method::POST, "/v1/events/e1/cancel", Value::Null);
    let odd = ["dry=yes", "dry=", "expect=many", "dru=true", "dry=true&dry=true", "expect=-1"];
    for query in odd {
        let answer = send(&rig, &cancel, query);
        assert_eq!(problem(&answer, StatusCode::BAD_REQUEST), "invalid_query", "{query}");
    }
    assert_eq!(send(&rig, &cancel, "dru=true").json()["hint"], "did you mean `dry`?");
    let many = (Method::POST, "/v1/events", json!([event("e2", "note", &["ada"])]));
    let put = (Method::PUT, "/v1/recipients/ada", json!({"name": "Ada"}));
    for query in ["dry=true", "dry=false", "expect=1"] {
        for call in [&many, &put] {
            assert_eq!(problem(&send(&rig, call, query), StatusCode::BAD_REQUEST), "no_dry");
        }
    }
    let line = event("e2", "note", &["ada"]).to_string();
    let lines = rig.send(Method::POST, "/v1/events?dry=true", NDJSON, line);
    assert_eq!(problem(&lines, StatusCode::BAD_REQUEST), "no_dry");
    assert!(stored(&rig) == before);
    let undone = send(&rig, &cancel, "dry=false");
    assert_eq!(undone.json()["cancelled"], 1, "{}", undone.json());
    done(&rig.call(put.0, put.1, &put.2));
}
