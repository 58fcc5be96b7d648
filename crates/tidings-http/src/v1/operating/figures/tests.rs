//! Figures, asked as operators ask.

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::rig::{CONFIG, Rig, user_token};
use crate::{Access, Settings};

const FIGURES: &str = "/v1/admin/figures";

/// A server at noon of the first day of 2024: `ada` and `bo`, who follow `x`.
fn rig() -> Rig {
    let config = format!(
        "{CONFIG}[users]\n[tenants]\non = true\n[figures]\nkeep = \"40d\"\ntenants = \"3d\"\n"
    );
    let rig = Rig::with(&config, Access::Open, Settings::default());
    for id in ["ada", "bo"] {
        done(&rig, Method::PUT, &format!("/v1/recipients/{id}"), &json!({}));
        done(&rig, Method::PUT, &format!("/v1/recipients/{id}/subscriptions/x"), &Value::Null);
    }
    done(&rig, Method::PUT, "/v1/tenants/acme", &json!({}));
    rig
}

fn done(rig: &Rig, method: Method, path: &str, body: &Value) -> Value {
    let answer = rig.call(method, path, body);
    assert!(answer.status.is_success(), "{path}: {answer:?}");
    if answer.bytes.is_empty() { Value::Null } else { answer.json() }
}

fn note(rig: &Rig, id: &str, more: &Value) {
    let mut event =
        json!({"id": id, "type": "note", "object": {"id": "o"}, "to": {"topics": ["x"]}});
    let more = more.as_object().unwrap().clone();
    event.as_object_mut().unwrap().extend(more);
    done(rig, Method::POST, "/v1/events", &event);
}

fn figures(rig: &Rig, query: &str) -> Value {
    done(rig, Method::GET, &format!("{FIGURES}{query}"), &Value::Null)
}

#[test]
fn each_measure_counts_on_its_own_day() {
    let rig = rig();
    note(&rig, "e1", &json!({}));
    note(&rig, "e2", &json!({"deliver_at": "2024-01-03T08:00:00Z"}));
    note(&rig, "e3", &json!({"deliver_at": "2024-01-03T08:00:00Z"}));
    rig.at("2024-01-02T12:00:00Z");
    done(&rig, Method::POST, "/v1/recipients/ada/inbox/seen", &json!({"event": "e1"}));
    done(&rig, Method::POST, "/v1/events/e3/cancel", &json!({}));
    rig.at("2024-01-03T12:00:00Z");
    done(
        &rig,
        Method::POST,
        "/v1/recipients/ada/inbox/read",
        &json!({"up_to": "2024-01-03T12:00:00Z"}),
    );
    // Messages are built beside the calls.
    let are_built = || {
        std::thread::yield_now();
        let built = figures(&rig, "?from=2024-01-01&to=2024-01-02&measure=messages");
        built["rows"][0]["messages"]["suppressed"] == 2
    };
    assert!((0..100_000).any(|_| are_built()));
    let answer = figures(&rig, "?from=2024-01-01&to=2024-01-04&by=day,channel");
    assert_eq!((&answer["from"], &answer["to"]), (&json!("2024-01-01"), &json!("2024-01-04")));
    assert_eq!((&answer["zone"], &answer["days_without"]), (&json!("UTC"), &json!([])));
    let complete_to = answer["complete_to"].as_str().unwrap();
    assert!(complete_to.starts_with("2024-01-03T12:00:0"), "{complete_to}");
    let rows = answer["rows"].as_array().unwrap();
    let row = |day: &str, channel: &str| {
        rows.iter().find(|row| row["day"] == day && row["channel"] == channel).unwrap()
    };
    // The cancelled event never entered a lane: it counts on the day of its arrival.
    let first = row("2024-01-01", "inbox");
    assert_eq!(first["entries"], 4);
    assert_eq!(
        (&first["ended"]["delivered"], &first["ended"]["cancelled"]),
        (&json!(2), &json!(2))
    );
    assert_eq!(first["reasons"], json!({"event": 2}));
    assert_eq!((&first["items"], &first["messages"]["sent"]), (&json!(2), &json!(2)));
    // Seen on the second day, of an entry of the first, 24 hours after it was told.
    assert_eq!((&first["seen"], &first["read"]), (&json!(1), &json!(1)));
    assert_eq!(first["told_to_seen"]["n"], 1);
    let day_ms = 24 * 60 * 60 * 1_000;
    let told_to_seen = first["told_to_seen"]["p50_ms"].as_i64().unwrap();
    assert!((told_to_seen - day_ms).abs() * 20 <= day_ms, "{told_to_seen}");
    assert!(!rows.iter().any(|row| row["day"] == "2024-01-02"), "{rows:?}");
    let third = row("2024-01-03", "inbox");
    assert_eq!(
        (&third["entries"], &third["seen"], &third["read"]),
        (&json!(2), &json!(1), &json!(1))
    );
    // They are not counted by channel.
    assert_eq!((&third["events"], &third["notifications"]), (&Value::Null, &Value::Null));
    // E-mail has no provider: what is skipped tells nothing.
    assert_eq!(row("2024-01-01", "email")["reasons"], json!({"event": 2, "no_address": 2}));
    assert_eq!(row("2024-01-01", "email")["messages"]["suppressed"], 2);
    let all = figures(&rig, "?from=2024-01-01&to=2024-01-04&measure=events,notifications");
    assert_eq!(all["rows"], json!([{"events": 3, "notifications": 6}]));
    let by_type = figures(&rig, "?from=2024-01-01&to=2024-01-04&by=type,category&measure=events");
    assert_eq!(by_type["rows"], json!([{"type": "note", "category": "news", "events": 3}]));
}

#[test]
fn hours_add_up_to_their_day_and_are_kept_for_seven() {
    let rig = rig();
    note(&rig, "e1", &json!({}));
    rig.at("2024-01-01T15:30:00Z");
    note(&rig, "e2", &json!({}));
    let by_hour = figures(&rig, "?by=hour&measure=events,items&from=2024-01-01");
    let rows = json!([
        {"hour": "2024-01-01T12:00:00Z", "events": 1, "items": 2},
        {"hour": "2024-01-01T15:00:00Z", "events": 1, "items": 2},
    ]);
    assert_eq!((&by_hour["rows"], &by_hour["days_without"]), (&rows, &json!([])));
    rig.at("2024-01-08T00:00:00Z");
    let by_hour = figures(&rig, "?by=hour&measure=events&from=2024-01-01");
    assert_eq!((&by_hour["rows"], &by_hour["days_without"]), (&json!([]), &json!(["2024-01-01"])));
    let by_day = figures(&rig, "?by=day&measure=events,items&from=2024-01-01");
    assert_eq!(by_day["rows"], json!([{"day": "2024-01-01", "events": 2, "items": 4}]));
    assert_eq!(by_day["to"], "2024-01-09");
}

#[test]
fn rows_outlive_their_day_for_as_long_as_they_are_kept() {
    let rig = rig();
    note(&rig, "e1", &json!({"tenant": "acme", "to": {"recipients": ["ada"]}}));
    let of_tenant = "?by=tenant,day&measure=events,items&from=2024-01-01";
    let rows = json!([{"tenant": "acme", "day": "2024-01-01", "events": 1, "items": 1}]);
    assert_eq!(figures(&rig, of_tenant)["rows"], rows);
    assert_eq!(figures(&rig, "?tenant=acme&measure=items")["rows"], json!([{"items": 1}]));
    rig.at("2024-01-06T00:00:00Z");
    let gone = figures(&rig, of_tenant);
    assert_eq!(gone["rows"], json!([]));
    assert_eq!(gone["days_without"], json!(["2024-01-01", "2024-01-02"]));
    // The day is forgotten after 35 days, its figures after 40.
    rig.at("2024-02-07T00:00:00Z");
    let row = json!([{"day": "2024-01-01", "type": "note", "events": 1}]);
    let forgotten = figures(&rig, "?by=day,type&measure=events&from=2024-01-01");
    assert_eq!((&forgotten["rows"], &forgotten["days_without"]), (&row, &json!([])));
    rig.at("2024-02-11T00:00:00Z");
    let gone = figures(&rig, "?by=day,type&measure=events&from=2023-12-31");
    assert_eq!(
        (&gone["rows"], &gone["days_without"]),
        (&json!([]), &json!(["2023-12-31", "2024-01-01"]))
    );
}

#[test]
fn before_the_first_day_there_are_none_and_the_usual_days_are_28() {
    let rig = rig();
    let usual = figures(&rig, "");
    assert_eq!((&usual["from"], &usual["to"]), (&json!("2023-12-05"), &json!("2024-01-02")));
    assert_eq!(usual["days_without"].as_array().unwrap().len(), 27);
    assert_eq!(usual["rows"], json!([]));
}

#[test]
fn a_user_mutes_each_type_that_a_never_reaches_once() {
    let rig = rig();
    rig.make_signing_key("k1");
    let token = format!("Bearer {}", user_token("k1", "ada", None));
    let headers = [("authorization", &*token), ("content-type", "application/json")];
    let never = json!([{"category": "news", "channel": "email", "mode": "never"}]);
    done(&rig, Method::PATCH, "/v1/recipients/bo/preferences", &never);
    for _ in 0..2 {
        let answer = rig.send(Method::PATCH, "/v1/me/preferences", &headers, never.to_string());
        assert!(answer.status.is_success(), "{answer:?}");
    }
    let muted = figures(&rig, "?by=type,channel&measure=muted");
    assert_eq!(
        muted["rows"],
        json!([{"type": "note", "channel": "email", "muted": 1}, {"type": "weekly", "channel": "email", "muted": 1}])
    );
}

#[test]
fn a_table_is_the_same_rows() {
    let rig = rig();
    note(&rig, "e1", &json!({}));
    let path = format!("{FIGURES}?by=type&measure=events,messages");
    let answer = rig.send(Method::GET, &path, &[("accept", "text/csv")], "");
    assert_eq!(answer.headers["content-type"], "text/csv; charset=utf-8");
    let table = String::from_utf8(answer.bytes).unwrap();
    assert_eq!(
        table,
        "type,events,messages.sent,messages.failed,messages.unknown,messages.suppressed,messages.cancelled\r\n\
         note,1,2,0,0,0,0\r\n"
    );
}

#[test]
fn a_wrong_question_is_refused_with_the_nearest_word() {
    let rig = rig();
    for (query, hint) in [
        ("by=typ", "type"),
        ("measure=message", "messages"),
        ("by=day,day", "keep one"),
        ("by=day,hour", "keep one"),
        ("by=", "leave it out"),
        ("type=nots", "note"),
        ("channel=emial", "email"),
        ("by=tenant,type", "leave `tenant` out"),
        ("tenant=acme&by=hour", "leave `tenant` out"),
        ("from=2024-01-02&to=2024-01-02", "the day after the last"),
        ("day=2024-01-02", ""),
    ] {
        let answer = rig.call(Method::GET, &format!("{FIGURES}?{query}"), &Value::Null);
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{query}");
        let problem = answer.json();
        assert_eq!(problem["code"], "invalid_query", "{query}");
        assert!(problem["hint"].as_str().unwrap().contains(hint), "{query}: {problem}");
    }
    let answer = rig.call(Method::GET, &format!("{FIGURES}?from=soon"), &Value::Null);
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    let answer = rig.call(Method::GET, &format!("{FIGURES}?tenant=acne"), &Value::Null);
    assert_eq!(answer.json()["code"], "unknown_tenant");
}
