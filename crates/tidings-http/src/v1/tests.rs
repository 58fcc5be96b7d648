//! The calls that hosts and operators steer by, asked as clients ask them.

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::rig::{Answered, CONFIG, Rig};
use crate::{Access, Settings};

mod as_it_looks;
mod before;
mod cancel;
mod choice;
mod explain;
mod export;
mod export_person;
mod jobs;
mod log;
mod many;
mod messages;
mod operators;
mod preview;
mod quiet;
mod sessions;
mod soft_refusals;
mod suppressions;

const NDJSON: &[(&str, &str)] = &[("content-type", "application/x-ndjson")];

fn get(rig: &Rig, path: &str) -> Value {
    let answer = rig.call(Method::GET, path, &Value::Null);
    assert_eq!(answer.status, StatusCode::OK, "{path}: {}", answer.json());
    answer.json()
}

fn done(answer: &Answered) {
    assert_eq!(answer.status, StatusCode::NO_CONTENT, "{}", answer.json());
}

fn put(rig: &Rig, path: &str, body: &Value) {
    done(&rig.call(Method::PUT, path, body));
}

fn post(rig: &Rig, path: &str, body: &Value) -> Value {
    let answer = rig.call(Method::POST, path, body);
    assert!(answer.status.is_success(), "{path}: {}", answer.json());
    answer.json()
}

/// The code of a problem.
fn problem(answer: &Answered, status: StatusCode) -> String {
    assert_eq!(answer.status, status, "{}", answer.json());
    assert_eq!(answer.headers["content-type"], "application/problem+json");
    answer.json()["code"].as_str().unwrap().to_owned()
}

/// `ada` and `bob`, who have addresses.
fn with_people() -> Rig {
    let rig = Rig::new();
    for name in ["ada", "bob"] {
        let body = json!({"email": format!("{name}@example.org")});
        put(&rig, &format!("/v1/recipients/{name}"), &body);
    }
    rig
}

fn event(id: &str, kind: &str, to: &[&str]) -> Value {
    json!({"id": id, "type": kind, "object": {"id": format!("of/{id}")}, "to": {"recipients": to}})
}

fn publish(rig: &Rig, id: &str, kind: &str, to: &[&str]) -> Value {
    post(rig, "/v1/events", &event(id, kind, to))
}

#[test]
fn put_takes_the_whole_profile_and_patch_a_part_of_it() {
    let rig = Rig::new();
    let whole = json!({"name": "Ada", "email": "ada@example.org", "tz": "Europe/Paris", "lat": 48.9, "lon": 2.4, "state": "unconfirmed"});
    put(&rig, "/v1/recipients/ada", &whole);
    let part = json!({"tz": null, "locale": "fr"});
    done(&rig.call(Method::PATCH, "/v1/recipients/ada", &part));
    let profile = get(&rig, "/v1/recipients/ada");
    let expected = json!({"id": "ada", "name": "Ada", "email": "ada@example.org", "addresses": {"email": "ada@example.org"}, "tz": null, "locale": "fr", "lat": 48.9, "lon": 2.4, "state": "unconfirmed", "data": null, "quiet_hours": "default"});
    assert_eq!(profile, expected);
    // What was got can be put.
    put(&rig, "/v1/recipients/ada", &profile);
    assert_eq!(get(&rig, "/v1/recipients/ada"), expected);
    put(&rig, "/v1/recipients/ada", &json!({"locale": "de"}));
    let by_channel = json!({"addresses": {"email": "a@example.org"}});
    done(&rig.call(Method::PATCH, "/v1/recipients/ada", &by_channel));
    let profile = get(&rig, "/v1/recipients/ada");
    assert_eq!(profile["email"], json!("a@example.org"));
    put(&rig, "/v1/recipients/ada", &json!({"locale": "de"}));
    let bare = json!({"id": "ada", "name": null, "email": null, "addresses": {}, "tz": null, "locale": "de", "lat": null, "lon": null, "state": "active", "data": null, "quiet_hours": "default"});
    assert_eq!(get(&rig, "/v1/recipients/ada"), bare);
    assert_eq!(get(&rig.restart(), "/v1/recipients/ada"), bare);
}

#[test]
fn a_profile_that_cannot_be_is_refused() {
    let rig = Rig::new();
    let refused = [
        (json!({"email": "nobody"}), "invalid_body"),
        (json!({"tz": "Mars/Olympus"}), "invalid_body"),
        (json!({"locale": "german"}), "invalid_body"),
        (json!({"locale": "de_AT"}), "invalid_body"),
        (json!({"lat": 1.0}), "invalid_body"),
        (json!({"mail": "a@example.org"}), "invalid_body"),
        (json!({"id": "bob"}), "invalid_body"),
    ];
    for (body, code) in refused {
        for method in [Method::PUT, Method::PATCH] {
            let answer = rig.call(method, "/v1/recipients/ada", &body);
            assert_eq!(problem(&answer, StatusCode::UNPROCESSABLE_ENTITY), code, "{body}");
        }
    }
    let json = [("content-type", "application/json")];
    let broken = rig.send(Method::PUT, "/v1/recipients/ada", &json, "{");
    assert_eq!(problem(&broken, StatusCode::BAD_REQUEST), "invalid_json");
    let text = [("content-type", "text/plain")];
    let other = rig.send(Method::PUT, "/v1/recipients/ada", &text, "{}");
    let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
    assert_eq!(problem(&other, status), "unsupported_media_type");
    let odd = rig.call(Method::GET, "/v1/recipients/a%0Ab", &Value::Null);
    assert_eq!(problem(&odd, StatusCode::BAD_REQUEST), "invalid_path");
}

#[test]
fn whoever_is_not_there_is_not_found() {
    let rig = Rig::new();
    let nobody = [
        (Method::GET, "", Value::Null),
        (Method::GET, "/subscriptions", Value::Null),
        (Method::PUT, "/subscriptions/a/b", Value::Null),
        (Method::DELETE, "/subscriptions/a", Value::Null),
        (Method::GET, "/preferences", Value::Null),
        (Method::PUT, "/preferences", json!([])),
        (Method::PATCH, "/preferences", json!([])),
        (Method::GET, "/pending", Value::Null),
        (Method::POST, "/flush", Value::Null),
    ];
    for (method, rest, body) in nobody {
        let answer = rig.call(method.clone(), &format!("/v1/recipients/x{rest}"), &body);
        let code = problem(&answer, StatusCode::NOT_FOUND);
        assert_eq!(code, "recipient_not_found", "{method} {rest}");
    }
}

#[test]
fn topics_have_slashes() {
    let rig = with_people();
    let path = |topic: &str| format!("/v1/recipients/ada/subscriptions/{topic}");
    for topic in ["artist/42", "b%2Fc", "caf%C3%A9", "artist/42"] {
        put(&rig, &path(topic), &Value::Null);
    }
    let topics = json!({"topics": ["artist/42", "b/c", "café"]});
    assert_eq!(get(&rig, "/v1/recipients/ada/subscriptions"), topics);
    done(&rig.call(Method::DELETE, &path("b/c"), &Value::Null));
    done(&rig.call(Method::DELETE, &path("never/followed"), &Value::Null));
    let topics = json!({"topics": ["artist/42", "café"]});
    assert_eq!(get(&rig, "/v1/recipients/ada/subscriptions"), topics);
    let event =
        json!({"type": "note", "object": {"id": "o"}, "to": {"topics": ["artist/42/works"]}});
    assert_eq!(post(&rig, "/v1/events", &event)["notifications"], 1);
    assert_eq!(rig.call(Method::DELETE, "/v1/recipients/ada", &Value::Null).status, StatusCode::OK);
    assert_eq!(post(&rig, "/v1/events", &event)["notifications"], 0);
}

/// Acceptance H19: what waits ends with `never`, and the whole list counts.
#[test]
fn h19_preferences_are_one_list() {
    let rig = with_people();
    let path = "/v1/recipients/ada/preferences";
    publish(&rig, "e1", "note", &["ada"]);
    let never = json!([
        {"type": "note", "channel": "email", "mode": "never"},
        {"category": "news", "channel": "inbox", "mode": "immediate"},
    ]);
    put(&rig, path, &never);
    assert_eq!(get(&rig, path).as_array().unwrap().len(), 2);
    let event = get(&rig, "/v1/events/e1");
    let email = json!({"entries": 1, "pending": 0, "outcomes": {"cancelled": 1}, "reasons": {"preference": 1}});
    assert_eq!(event["channels"]["email"], email);
    publish(&rig, "e2", "note", &["ada"]);
    assert_eq!(get(&rig, "/v1/events/e2")["channels"]["email"], Value::Null);

    let daily = json!([{"category": "news", "channel": "email", "mode": "daily"}]);
    put(&rig, path, &daily);
    assert_eq!(get(&rig, path), daily);
    publish(&rig, "e3", "note", &["ada"]);
    let lanes = get(&rig, "/v1/recipients/ada/pending");
    assert_eq!(lanes["lanes"][0]["lane"], "digest:daily");

    // One item is wrong: nothing is taken.
    let wrong = [
        (
            json!([{"type": "note", "channel": "email", "mode": "never"}, {"type": "x", "channel": "email", "mode": "never"}]),
            "unknown_type",
        ),
        (json!([{"type": "note", "channel": "inbox", "mode": "daily"}]), "unknown_preference"),
        (json!([{"type": "note", "channel": "email", "mode": "sometimes"}]), "unknown_preference"),
        (json!([{"type": "note", "channel": "fax", "mode": "never"}]), "unknown_channel"),
        (json!([1]), "invalid_body"),
        (json!({}), "invalid_body"),
    ];
    for (list, code) in wrong {
        let answer = rig.call(Method::PUT, path, &list);
        assert_eq!(problem(&answer, StatusCode::UNPROCESSABLE_ENTITY), code, "{list}");
    }
    assert_eq!(get(&rig, path), daily);
    put(&rig, path, &json!([]));
    assert_eq!(get(&rig, path), json!([]));
}

/// Acceptance H18, H19: PATCH sets the choices that are given and leaves the others.
#[test]
fn h18_a_part_of_the_preferences_is_set() {
    let rig = with_people();
    let path = "/v1/recipients/ada/preferences";
    let patch = |list: &Value| rig.call(Method::PATCH, path, list);
    let never = json!({"type": "note", "channel": "email", "mode": "never"});
    let daily = json!({"category": "news", "channel": "email", "mode": "daily"});
    let inbox = json!({"category": "news", "channel": "inbox", "mode": "immediate"});
    put(&rig, path, &json!([never, inbox]));
    done(&patch(&json!([daily])));
    let mut all = get(&rig, path);
    let sort = |list: &mut Value| {
        let list = list.as_array_mut().unwrap();
        list.sort_by_key(Value::to_string);
    };
    let mut expected = json!([never, daily, inbox]);
    sort(&mut all);
    sort(&mut expected);
    assert_eq!(all, expected);
    // `default` removes one, and what waits goes where it now belongs.
    let default = json!({"type": "note", "channel": "email", "mode": "default"});
    done(&patch(&json!([default])));
    assert_eq!(get(&rig, path).as_array().unwrap().len(), 2);
    publish(&rig, "e1", "note", &["ada"]);
    let lane = |rig: &Rig| get(rig, "/v1/recipients/ada/pending")["lanes"][0]["lane"].clone();
    assert_eq!(lane(&rig), "digest:daily");
    let immediate = json!({"category": "news", "channel": "email", "mode": "immediate"});
    done(&patch(&json!([immediate])));
    assert_eq!(lane(&rig), "cooldown");
    // One item is wrong: nothing is set.
    let wrong = json!([never, {"type": "note", "channel": "fax", "mode": "never"}]);
    let refused = patch(&wrong);
    assert_eq!(problem(&refused, StatusCode::UNPROCESSABLE_ENTITY), "unknown_channel");
    done(&patch(&json!([])));
    assert_eq!(lane(&rig), "cooldown");
    assert_eq!(get(&rig.restart(), path).as_array().unwrap().len(), 2);
}

/// Acceptance T12: what is published for later is nothing yet, and can be seen to be scheduled.
#[test]
fn t12_what_is_scheduled_can_be_seen() {
    let rig = with_people();
    let later = json!({
        "id": "e1", "type": "note", "object": {"id": "o"}, "to": {"recipients": ["ada", "bob"]},
        "deliver_at": "2024-01-03T12:00:00Z",
    });
    post(&rig, "/v1/events", &later);
    let waiting =
        json!([{"event": "e1", "type": "note", "object": "o", "t": "2024-01-03T12:00:00Z"}]);
    let due = get(&rig, "/v1/admin/due");
    assert_eq!(due["lanes"], json!([]));
    assert_eq!(due["scheduled"], json!({"events": 1, "next": waiting}));
    let pending = get(&rig, "/v1/recipients/ada/pending");
    assert_eq!(pending, json!({"lanes": [], "messages": [], "scheduled": waiting}));
    let event = get(&rig, "/v1/events/e1");
    assert_eq!(event["scheduled_for"], "2024-01-03T12:00:00Z");
    assert_eq!(event["arrived_at"], "2024-01-01T12:00:00Z");
    assert_eq!(event["channels"]["email"]["pending"], 2);

    rig.at("2024-01-03T12:01:00Z");
    assert_eq!(get(&rig, "/v1/events/e1")["scheduled_for"], Value::Null);
    let due = get(&rig, "/v1/admin/due");
    let lane = json!({"hour": "2024-01-03T12:00:00Z", "channel": "email", "lane": "cooldown", "recipients": 2, "held": 0});
    assert_eq!(due["lanes"], json!([lane]));
    assert_eq!(due["scheduled"]["events"], 0);
    let answer = rig.call(Method::GET, "/v1/admin/due?scheduled=5000", &Value::Null);
    assert_eq!(problem(&answer, StatusCode::BAD_REQUEST), "invalid_query");
}

/// An event that is scheduled by the recipients' clocks comes at several instants, and is one event.
#[test]
fn what_is_scheduled_by_wall_clocks_can_be_seen() {
    let rig = with_people();
    let zone = json!({"tz": "Asia/Kolkata"});
    done(&rig.call(Method::PATCH, "/v1/recipients/bob", &zone));
    let later = json!({
        "id": "e1", "type": "note", "object": {"id": "o"}, "to": {"recipients": ["ada", "bob"]},
        "deliver_local": "2024-01-03T09:00",
    });
    let published = post(&rig, "/v1/events", &later);
    assert_eq!(published["notifications"], 2);
    let event = get(&rig, "/v1/events/e1");
    assert_eq!(event["event"]["deliver_local"], "2024-01-03T09:00:00");
    assert_eq!(event["scheduled_for"], "2024-01-03T03:30:00Z");
    assert_eq!(event["channels"]["email"]["pending"], 2);
    let due = get(&rig, "/v1/admin/due");
    assert_eq!(due["scheduled"]["events"], 1);
    assert_eq!(due["scheduled"]["next"].as_array().unwrap().len(), 2);
    let again = post(&rig, "/v1/events", &later);
    assert_eq!((&again["status"], &again["warnings"]), (&json!("duplicate"), &json!([])));
    let rig = rig.restart();
    rig.at("2024-01-03T03:31:00Z");
    let event = get(&rig, "/v1/events/e1");
    assert_eq!(event["scheduled_for"], "2024-01-03T09:00:00Z");
    assert_eq!(event["channels"]["inbox"]["outcomes"], json!({"delivered": 1}));
    let inbox = get(&rig, "/v1/recipients/bob/inbox");
    assert_eq!(inbox["groups"][0]["items"][0]["t"], "2024-01-03T03:30:00Z");
    let cancelled = post(&rig, "/v1/events/e1/cancel", &Value::Null);
    assert_eq!(cancelled["status"], "cancelled", "{cancelled}");
    let event = get(&rig, "/v1/events/e1");
    assert_eq!((&event["scheduled_for"], &event["notifications"]), (&Value::Null, &json!(2)));
    assert_eq!(event["channels"]["email"]["reasons"], json!({"event": 2}));
    assert_eq!(get(&rig, "/v1/admin/due")["scheduled"]["events"], 0);
}

/// Acceptance A15: an audience of nobody is taken, and says so.
#[test]
fn a15_an_event_for_nobody_has_an_outcome() {
    let rig = Rig::new();
    let published = publish(&rig, "e1", "note", &[]);
    assert_eq!(published["warnings"][0]["code"], "nobody_concerned");
    let event = get(&rig, "/v1/events/e1");
    assert_eq!(event["event"]["type"], "note");
    assert_eq!((&event["notifications"], &event["channels"]), (&json!(0), &json!({})));
    let none = rig.call(Method::GET, "/v1/events/e2", &Value::Null);
    assert_eq!(problem(&none, StatusCode::NOT_FOUND), "event_not_found");
}

#[test]
fn what_waits_is_seen_and_flushed() {
    let rig = with_people();
    publish(&rig, "e1", "note", &["ada"]);
    publish(&rig, "w1", "weekly", &["ada"]);
    let pending = get(&rig, "/v1/recipients/ada/pending");
    let lane = |lane: &str, (event, t): (&str, &str), kind: &str, due: &str| {
        let entry = json!({"event": event, "type": kind, "object": format!("of/{event}"), "t": t});
        json!({"channel": "email", "lane": lane, "due": due, "held_by": null, "entries": [entry]})
    };
    let cooldown = lane("cooldown", ("e1", "2024-01-01T12:00:00Z"), "note", "2024-01-01T12:04:00Z");
    let digest =
        lane("digest:daily", ("w1", "2024-01-01T12:00:00.001Z"), "weekly", "2024-01-02T09:00:00Z");
    assert_eq!(pending["lanes"], json!([cooldown, digest]));
    let limits = json!({"channel": "email", "lane": "digest:daily"});
    let flushed = post(&rig, "/v1/recipients/ada/flush", &limits);
    assert!(flushed["marker"].is_string());
    let pending = get(&rig, "/v1/recipients/ada/pending");
    assert_eq!(pending["lanes"], json!([cooldown]));
    post(&rig, "/v1/recipients/ada/flush", &Value::Null);
    let pending = get(&rig, "/v1/recipients/ada/pending");
    assert_eq!(pending, json!({"lanes": [], "messages": [], "scheduled": []}));
    let odd = rig.call(Method::POST, "/v1/recipients/ada/flush", &json!({"channel": "fax"}));
    assert_eq!(problem(&odd, StatusCode::UNPROCESSABLE_ENTITY), "unknown_channel");
}

/// Acceptance M8: what somebody unconfirmed is told waits, and goes as one on confirmation.
#[test]
fn m8_who_has_not_confirmed_is_held() {
    let rig = with_people();
    let state = |state: &str| {
        let body = json!({"state": state});
        done(&rig.call(Method::PATCH, "/v1/recipients/ada", &body));
    };
    state("unconfirmed");
    publish(&rig, "e1", "note", &["ada"]);
    rig.at("2024-01-01T13:00:00Z");
    publish(&rig, "e2", "note", &["ada"]);
    let due = get(&rig, "/v1/admin/due");
    let lane = json!({"hour": "2024-01-01T12:00:00Z", "channel": "email", "lane": "cooldown", "recipients": 1, "held": 1});
    assert_eq!(due["lanes"], json!([lane]));
    let lanes = get(&rig, "/v1/recipients/ada/pending");
    assert_eq!(lanes["lanes"][0]["entries"].as_array().unwrap().len(), 2);
    state("active");
    assert_eq!(get(&rig, "/v1/recipients/ada/pending")["lanes"], json!([]));
}

#[test]
fn a_type_is_paused_and_resumed() {
    let rig = with_people();
    publish(&rig, "e1", "note", &["ada"]);
    done(&rig.call(Method::POST, "/v1/types/note/pause", &Value::Null));
    done(&rig.call(Method::POST, "/v1/types/note/pause", &Value::Null));
    publish(&rig, "e2", "note", &["ada"]);
    rig.at("2024-01-01T13:00:00Z");
    let rig = rig.restart();
    let types = get(&rig, "/v1/types");
    assert_eq!(types["types"]["note"]["paused"], true);
    assert_eq!(types["types"]["weekly"]["paused"], false);
    assert_eq!(get(&rig, "/v1/admin/status")["paused"]["types"], json!(["note"]));
    let pending = get(&rig, "/v1/recipients/ada/pending");
    let shown: Vec<(&str, &str, usize)> = pending["lanes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|lane| {
            assert_eq!((&lane["held_by"], &lane["due"]), (&json!("paused"), &Value::Null));
            let entries = lane["entries"].as_array().unwrap().len();
            (lane["channel"].as_str().unwrap(), lane["lane"].as_str().unwrap(), entries)
        })
        .collect();
    // The inbox had been told of the first already.
    assert_eq!(shown, [("email", "paused", 2), ("inbox", "paused", 1)]);
    let event = get(&rig, "/v1/events/e2");
    assert_eq!(event["channels"]["inbox"]["pending"], 1);
    assert_eq!(get(&rig, "/v1/recipients/ada/inbox")["unseen"], 1);
    done(&rig.call(Method::POST, "/v1/types/note/resume", &Value::Null));
    assert_eq!(get(&rig, "/v1/recipients/ada/pending")["lanes"], json!([]));
    let event = get(&rig, "/v1/events/e2");
    assert_eq!(event["channels"]["inbox"]["outcomes"], json!({"delivered": 1}));
    assert_eq!(get(&rig, "/v1/recipients/ada/inbox")["unseen"], 2);
}

#[test]
fn m8_a_lane_of_an_unconfirmed_recipient_says_what_holds_it() {
    let rig = with_people();
    let state = json!({"state": "unconfirmed"});
    rig.call(Method::PATCH, "/v1/recipients/ada", &state);
    publish(&rig, "e1", "note", &["ada"]);
    rig.at("2024-01-01T13:00:00Z");
    let lane = get(&rig, "/v1/recipients/ada/pending")["lanes"][0].clone();
    assert_eq!(
        (&lane["due"], &lane["held_by"]),
        (&json!("2024-01-01T12:04:00Z"), &json!("unconfirmed"))
    );
}

#[test]
fn a_channel_is_paused_and_resumed() {
    let rig = with_people();
    publish(&rig, "e1", "note", &["ada"]);
    done(&rig.call(Method::POST, "/v1/channels/email/pause", &Value::Null));
    rig.at("2024-01-01T13:00:00Z");
    assert_eq!(get(&rig, "/v1/types")["channels"]["email"]["paused"], true);
    let lane = get(&rig, "/v1/recipients/ada/pending")["lanes"][0].clone();
    assert_eq!(
        (&lane["due"], &lane["held_by"]),
        (&json!("2024-01-01T12:04:00Z"), &json!("paused"))
    );
    let due = get(&rig, "/v1/admin/due");
    assert_eq!((&due["lanes"][0]["held"], &due["unmade"]), (&json!(1), &json!(0)));
    let rig = rig.restart();
    assert_eq!(get(&rig, "/v1/admin/status")["paused"]["channels"], json!(["email"]));
    done(&rig.call(Method::POST, "/v1/channels/email/resume", &Value::Null));
    assert_eq!(get(&rig, "/v1/recipients/ada/pending")["lanes"], json!([]));
    for (path, code) in [
        ("/v1/types/none/pause", "type_not_found"),
        ("/v1/types/none/resume", "type_not_found"),
        ("/v1/channels/fax/pause", "channel_not_found"),
        ("/v1/channels/fax/resume", "channel_not_found"),
    ] {
        let answer = rig.call(Method::POST, path, &Value::Null);
        assert_eq!(problem(&answer, StatusCode::NOT_FOUND), code, "{path}");
    }
}

#[test]
fn types_are_told_as_they_are_configured() {
    let types = get(&Rig::new(), "/v1/types");
    let cooldown =
        json!({"policy": "cooldown", "lane": "cooldown", "quiet": "4m", "max_wait": "16m"});
    assert_eq!(types["types"]["note"]["channels"]["email"], cooldown);
    assert_eq!(types["categories"]["news"]["title"], "news");
    let daily = json!({"every": "day", "on": null, "at": "09:00", "tz": null});
    assert_eq!(types["digests"]["daily"], daily);
    let inbox = json!({"configured": true, "paused": false});
    assert_eq!(types["channels"]["inbox"], inbox);
    assert_eq!(types["channels"]["email"]["configured"], false);
}

#[test]
fn days_are_forgotten_when_asked() {
    let rig = with_people();
    publish(&rig, "e1", "weekly", &["ada"]);
    rig.at("2024-01-01T12:00:01Z");
    done(&rig.call(Method::POST, "/v1/channels/email/pause", &Value::Null));
    rig.at("2024-01-03T12:00:00Z");
    let dropped = post(&rig, "/v1/admin/forget", &json!({"before": "2024-01-03"}));
    assert_eq!(dropped, json!({"days": 1, "expired": 1}));
    let status = get(&rig, "/v1/admin/status");
    assert_eq!(status["forgotten_before"], "2024-01-03");
    assert_eq!(status["recipients"], 2);
    let entries = json!({"all": 2, "pending": 0, "outcomes": {"delivered": 1, "expired": 1}, "reasons": {"forgotten": 1}});
    assert_eq!(status["entries"], entries);
    let gone = rig.call(Method::GET, "/v1/events/e1", &Value::Null);
    assert_eq!(problem(&gone, StatusCode::NOT_FOUND), "event_not_found");
    let odd = rig.call(Method::POST, "/v1/admin/forget", &json!({"before": "yesterday"}));
    assert_eq!(problem(&odd, StatusCode::UNPROCESSABLE_ENTITY), "invalid_body");
}

#[test]
fn a_key_that_is_none_is_refused_with_lines_as_well() {
    let rig = Rig::new();
    let headers = [NDJSON[0], ("idempotency-key", "")];
    for path in ["/v1/events", "/v1/objects", "/v1/subscriptions"] {
        let answer = rig.send(Method::POST, path, &headers, "{}");
        assert_eq!(problem(&answer, StatusCode::BAD_REQUEST), "invalid_header");
    }
}
