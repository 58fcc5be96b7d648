//! The jobs of support, on-call engineers, developers and product people, each as one walk over the calls: every step
//! uses what the one before has answered.

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};

use super::messages::{awaited, deferred, id_of, note, refused, wired};
use super::{done, event, get, post, problem, publish, put};
use crate::rig::{CONFIG, Rig};
use crate::{Access, Settings};

fn texts(rows: &Value, field: &str) -> Vec<String> {
    let rows = rows.as_array().unwrap().iter();
    rows.map(|row| row[field].as_str().unwrap().to_owned()).collect()
}

/// The ids that a search for a text finds.
fn found(rig: &Rig, q: &str) -> Vec<String> {
    texts(&post(rig, "/v1/search", &json!({ "q": q }))["hits"], "id")
}

/// "Ana says that she got nothing", and all that is known is her address.
#[test]
fn j1_an_address_leads_to_what_somebody_got_and_missed_and_why() {
    let (rig, wire) = wired();
    wire.says([refused()]);
    note(&rig, "lost", "ada");
    awaited(&rig, "recipient=ada&state=failed", 1);
    note(&rig, "told", "ada");
    awaited(&rig, "recipient=ada&state=sent", 1);
    let never = json!([{"type": "note", "channel": "email", "mode": "never"}]);
    put(&rig, "/v1/recipients/ada/preferences", &never);
    rig.at("2024-01-01T12:00:01Z");
    publish(&rig, "unwanted", "note", &["ada", "bob"]);
    publish(&rig, "not-hers", "note", &["bob"]);

    assert_eq!(found(&rig, " ADA@Example.ORG"), ["ada"]);
    let events = get(&rig, "/v1/events?recipient=ada")["events"].take();
    assert_eq!(texts(&events, "id"), ["unwanted", "told", "lost"]);
    let mail = |index: usize| events[index]["channels"]["email"].clone();
    let state = |index: usize| (mail(index)["state"].clone(), mail(index)["reason"].clone());
    assert_eq!(state(0), (json!("left_out"), json!("preference")));
    assert_eq!(state(1), (json!("delivered"), Value::Null));
    assert_eq!(state(2), (json!("failed"), json!("refused")));
    // What the provider said stands in the message that the list names.
    let message = mail(2)["message"].as_str().unwrap().to_owned();
    let message = get(&rig, &format!("/v1/messages/{message}"));
    assert!(message["attempts"].to_string().contains("550 5.7.1"), "{message}");
    // And the rule that left her out.
    let why = post(&rig, "/v1/explain", &json!({"event": "unwanted", "recipient": "ada"}));
    assert!(why.to_string().contains("type `note`: never"), "{why}");
}

#[test]
fn j3_an_address_is_changed_a_suppression_lifted_and_a_message_sent_again() {
    let (rig, wire) = wired();
    put(&rig, "/v1/suppressions/email/ada%40example.org", &json!({"reason": "manual"}));
    note(&rig, "e1", "ada");
    let held = awaited(&rig, "recipient=ada&state=suppressed", 1);
    assert_eq!(held[0]["reason"], json!("suppressed"));
    let all = get(&rig, "/v1/suppressions?recipient=ada")["suppressions"].take();
    assert_eq!(texts(&all, "address"), ["ada@example.org"]);
    let none = get(&rig, "/v1/suppressions?recipient=bob")["suppressions"].take();
    assert_eq!(none, json!([]));
    done(&rig.call(Method::DELETE, "/v1/suppressions/email/ada%40example.org", &Value::Null));

    wire.says([refused()]);
    note(&rig, "e2", "ada");
    let failed = id_of(&awaited(&rig, "recipient=ada&state=failed", 1)[0]);
    done(&rig.call(Method::PATCH, "/v1/recipients/ada", &json!({"email": "ada@new.example"})));
    let dry = post(&rig, &format!("/v1/messages/{failed}/retry?dry=true"), &Value::Null);
    assert_eq!(dry["concerns"], json!({"people": 1, "entries": 1, "messages": 1}));
    post(&rig, &format!("/v1/messages/{failed}/retry?expect=1"), &Value::Null);
    assert_eq!(id_of(&awaited(&rig, "recipient=ada&state=sent", 1)[0]), failed);
    // "Stop this": of what waits for another try nothing more is sent.
    wire.says([deferred()]);
    note(&rig, "e3", "ada");
    let waiting = id_of(&awaited(&rig, "recipient=ada&state=retrying", 1)[0]);
    post(&rig, &format!("/v1/messages/{waiting}/cancel"), &Value::Null);
    awaited(&rig, "recipient=ada&state=cancelled", 1);
    assert_eq!(found(&rig, "ada@new.example"), ["ada"]);
}

#[test]
fn j4_what_comes_next_is_shown_before_it_comes() {
    let (rig, _) = wired();
    publish(&rig, "w1", "weekly", &["ada"]);
    let mut later = event("w2", "weekly", &["ada"]);
    later["deliver_at"] = json!("2024-01-03T00:00:00Z");
    post(&rig, "/v1/events", &later);
    let pending = get(&rig, "/v1/recipients/ada/pending");
    assert!(pending.to_string().contains("2024-01-02"), "{pending}");
    let next = get(&rig, "/v1/recipients/ada/preview?channel=email");
    let message = &next["message"];
    assert_eq!(message["channel"], json!("email"), "{next}");
    assert!(message["at"].as_str().unwrap().starts_with("2024-01-02"), "{next}");
    assert_eq!(message["entries"], json!(1), "{next}");
    assert!(!next["scheduled"].is_null(), "{next}");
}

#[test]
fn j5_who_waits_too_long_and_since_when_is_told_at_once() {
    let (rig, wire) = wired();
    wire.says([deferred()]);
    note(&rig, "e1", "ada");
    awaited(&rig, "state=retrying", 1);
    let status = get(&rig, "/v1/admin/status");
    assert!(status.to_string().contains("email"), "{status}");
    let due = get(&rig, "/v1/admin/due");
    assert!(due.is_object(), "{due}");
    let waiting = awaited(&rig, "state=retrying&channel=email", 1);
    assert_eq!(waiting[0]["recipient"], json!("ada"));
    let by_hour = get(&rig, "/v1/admin/figures?by=hour,channel&measure=entries&from=2024-01-01");
    assert!(by_hour["rows"].to_string().contains("2024-01-01T12:00:00Z"), "{by_hour}");
    let metrics = rig.call(Method::GET, "/metrics", &Value::Null);
    let metrics = String::from_utf8(metrics.bytes).unwrap();
    assert!(metrics.contains("tidings_oldest_due_age_seconds"));
}

#[test]
fn j6_all_that_failed_while_a_provider_was_down_are_found_and_go_again() {
    let (rig, wire) = wired();
    wire.says([refused(), refused(), refused()]);
    for (id, to) in [("e1", "ada"), ("e2", "bob"), ("e3", "cy")] {
        note(&rig, id, to);
    }
    let filter = "state=failed&channel=email&from=2024-01-01T12:00:00Z&to=2024-01-01T12:40:00Z";
    let failed = awaited(&rig, filter, 3);
    // A filter by something that is not there is refused, and not left out.
    let odd = rig.call(Method::GET, &format!("/v1/messages?{filter}&sate=failed"), &Value::Null);
    assert_eq!(problem(&odd, StatusCode::BAD_REQUEST), "invalid_query");
    assert!(odd.json()["hint"].as_str().unwrap().contains("state"));
    for message in &failed {
        post(&rig, &format!("/v1/messages/{}/retry", id_of(message)), &Value::Null);
    }
    awaited(&rig, "state=sent", 3);
    awaited(&rig, filter, 0);
    assert_eq!(wire.recipients().len(), 6);
}

#[test]
fn j7_a_flood_is_paused_counted_and_cancelled() {
    let (rig, wire) = wired();
    post_empty(&rig, "/v1/types/note/pause");
    publish(&rig, "flood", "note", &["ada", "bob", "cy"]);
    assert_eq!(get(&rig, "/v1/types")["types"]["note"]["paused"], json!(true));
    let path = "/v1/events/flood/cancel";
    let dry = post(&rig, &format!("{path}?dry=true"), &Value::Null);
    assert_eq!(dry["concerns"]["people"], json!(3), "{dry}");
    let grew = rig.call(Method::POST, &format!("{path}?expect=2"), &Value::Null);
    assert_eq!(problem(&grew, StatusCode::CONFLICT), "grew");
    let cancelled = post(&rig, &format!("{path}?expect=3"), &Value::Null);
    assert_eq!(cancelled["status"], dry["status"]);
    post_empty(&rig, "/v1/types/note/resume");
    rig.at("2024-01-01T13:00:00Z");
    let all = get(&rig, "/v1/events/flood/recipients?channel=email&outcome=cancelled");
    assert_eq!(texts(&all["recipients"], "recipient"), ["ada", "bob", "cy"]);
    assert!(wire.recipients().is_empty());
}

fn post_empty(rig: &Rig, path: &str) {
    done(&rig.call(Method::POST, path, &Value::Null));
}

#[test]
fn j8_an_event_says_whom_it_reached_and_why_so_few() {
    let (rig, wire) = wired();
    let never = json!([{"type": "note", "channel": "email", "mode": "never"}]);
    put(&rig, "/v1/recipients/bob/preferences", &never);
    let to = ["ada", "bob", "cy", "nowhere"];
    let supposed = post(&rig, "/v1/explain", &json!({"event": event("e1", "note", &to)}));
    assert_eq!(supposed["channels"]["email"]["left_out"], json!({"preference": 1}));
    publish(&rig, "e1", "note", &to);
    let mut published = post(&rig, "/v1/explain", &json!({"event": "e1"}));
    assert_eq!(published["supposed"].take(), json!(false));
    let mut expected = supposed;
    expected["supposed"].take();
    assert_eq!(published, expected, "what was told before is what publishing shows");

    wire.says([refused()]);
    for who in ["ada", "cy", "nowhere"] {
        post(&rig, &format!("/v1/recipients/{who}/flush"), &json!({}));
    }
    awaited(&rig, "event=e1&state=failed", 1);
    awaited(&rig, "event=e1&state=sent", 1);
    awaited(&rig, "event=e1&state=suppressed", 1);
    let whom = |query: &str| {
        let page = get(&rig, &format!("/v1/events/e1/recipients?channel=email&{query}"));
        texts(&page["recipients"], "recipient")
    };
    assert_eq!(whom("outcome=delivered"), ["cy"]);
    assert_eq!(whom("outcome=failed&reason=refused"), ["ada"]);
    assert_eq!(whom("outcome=left_out"), ["bob"]);
    assert_eq!(whom("reason=no_address"), ["nowhere"]);
    let all = get(&rig, "/v1/events/e1/recipients")["recipients"].take();
    assert_eq!(texts(&all, "recipient"), ["ada", "bob", "cy", "nowhere"]);
}

/// Rows that are parked need a database: the tests of outboxes have them. Attempts of hooks have no call.
#[test]
fn j9_feeds_and_hooks_say_where_they_stand() {
    let config = format!("{CONFIG}[feeds.app]\nurl = \"${{APP_DATABASE}}\"\n");
    let rig = Rig::with(&config, Access::Open, Settings::default());
    let feeds = get(&rig, "/v1/feeds");
    assert_eq!(feeds[0]["name"], json!("app"));
    // Nobody reads its database: the list says whose rows it lacks.
    let parked = get(&rig, "/v1/feeds/app/parked");
    assert_eq!((&parked["parked"], &parked["next"]), (&json!([]), &Value::Null), "{parked}");
    assert!(parked["missing"].to_string().contains("app"), "{parked}");
    let none = rig.call(Method::GET, "/v1/feeds/other/parked", &Value::Null);
    assert_eq!(problem(&none, StatusCode::NOT_FOUND), "feed_not_found");
    let hooks = get(&rig, "/v1/hooks");
    assert!(hooks.to_string().contains("name"), "{hooks}");
}

#[test]
fn j10_a_week_is_counted_by_type_and_given_as_a_table() {
    let (rig, _) = wired();
    note(&rig, "e1", "ada");
    publish(&rig, "e2", "weekly", &["ada", "bob"]);
    awaited(&rig, "state=sent", 1);
    let token = "/v1/admin/figures?by=type,channel&measure=entries,messages&from=2024-01-01";
    let rows = get(&rig, token)["rows"].take();
    let of = |kind: &str, channel: &str| {
        let all = rows.as_array().unwrap().iter();
        all.clone().find(|row| row["type"] == kind && row["channel"] == channel).unwrap().clone()
    };
    assert_eq!(of("note", "email")["entries"], json!(1));
    assert_eq!(of("note", "email")["messages"]["sent"], json!(1));
    assert_eq!(of("weekly", "inbox")["entries"], json!(2));
    let table = rig.send(Method::GET, token, &[("accept", "text/csv")], "");
    let table = String::from_utf8(table.bytes).unwrap();
    assert!(table.starts_with("type,channel,entries,messages.sent,"), "{table}");
    assert!(table.contains("\r\nnote,email,1,1,"), "{table}");
}

/// A link to a view opens the same view for a colleague, and its cursor is of that view alone.
#[test]
fn j16_a_view_is_its_address() {
    let (rig, _) = wired();
    for number in 0..5 {
        publish(&rig, &format!("e{number}"), "note", &["ada", "bob"]);
    }
    let view = "/v1/events?recipient=bob&type=note&limit=2";
    let first = get(&rig, view);
    let cursor = first["next"].as_str().unwrap().to_owned();
    let second = format!("{view}&cursor={cursor}");
    assert_eq!(get(&rig, &second), get(&rig, &second));
    assert_eq!(get(&rig, view), first);
    for other in [
        format!("/v1/events?recipient=ada&type=note&limit=2&cursor={cursor}"),
        format!("/v1/events?recipient=bob&limit=2&cursor={cursor}"),
        format!("/v1/messages?cursor={cursor}"),
        format!("{view}&cursor=x"),
    ] {
        let answer = rig.call(Method::GET, &other, &Value::Null);
        assert_eq!(problem(&answer, StatusCode::BAD_REQUEST), "bad_cursor", "{other}");
    }
}
