//! Taking events back, and what the answer says of it.

use std::sync::Arc;

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};
use tidings_core::model::EMAIL;
use tidings_node::channel::{Channel, Channels, MailRenderer, Outcome, Rendered, RenderingChannel};

use super::{event, get, post, problem, publish, with_people};
use crate::rig::CONFIG;

/// Acceptance T26: cancelled while it waits, too late once it was told, and what there was to cancel.
#[test]
fn t26_a_cancel_says_how_far_it_went() {
    let rig = with_people();
    let answer = |status: &str, counts: [u64; 4]| {
        let [cancelled, removed, late, events] = counts;
        json!({
            "status": status, "cancelled": cancelled, "removed_from_batch": removed,
            "too_late": late, "withdrawn": 0, "events": events, "warnings": [],
        })
    };
    let cancel = |event: &str| {
        let path = format!("/v1/events/{event}/cancel");
        post(&rig, &path, &Value::Null)
    };
    publish(&rig, "e1", "note", &["ada", "bob"]);
    // The inboxes were told at once.
    assert_eq!(cancel("e1"), answer("cancelled", [2, 0, 2, 1]));
    assert_eq!(cancel("e1"), answer("too_late", [0, 0, 2, 1]));
    publish(&rig, "nobody", "note", &[]);
    assert_eq!(cancel("nobody"), answer("nothing_left", [0, 0, 0, 1]));
    let unknown = cancel("none");
    let detail = "no event `none` in the last 35 days; it is cancelled if it comes within 24 hours";
    let warning = json!([{"code": "unknown_event", "detail": detail}]);
    assert_eq!(unknown["warnings"], warning);
    let mut counted = answer("remembered", [0; 4]);
    counted["warnings"] = warning;
    assert_eq!(unknown, counted);

    let keyed = |event: &str, deliver_at: Option<&str>| {
        json!({
            "id": event, "type": "note", "object": {"id": "o"}, "to": {"recipients": ["ada"]},
            "channels": ["email"], "cancellation_key": "k", "deliver_at": deliver_at,
        })
    };
    let cancel = || post(&rig, "/v1/cancel", &json!({"cancellation_key": "k"}));
    post(&rig, "/v1/events", &keyed("k1", Some("2024-01-02T00:00:00Z")));
    post(&rig, "/v1/events", &keyed("k2", None));
    assert_eq!(cancel(), answer("cancelled", [2, 0, 0, 2]));
    assert_eq!(cancel(), answer("nothing_left", [0, 0, 0, 2]));
    let event = get(&rig, "/v1/events/k2");
    let email =
        json!({"entries": 1, "pending": 0, "outcomes": {"cancelled": 1}, "reasons": {"event": 1}});
    assert_eq!(event["channels"], json!({"email": email}));
    let none = post(&rig, "/v1/cancel", &json!({"cancellation_key": "other"}));
    assert_eq!(
        (&none["status"], &none["warnings"][0]["code"]),
        (&json!("unknown"), &json!("unknown_cancellation_key"))
    );
    let odd = rig.call(Method::POST, "/v1/cancel", &json!({"event": "e1"}));
    assert_eq!(problem(&odd, StatusCode::UNPROCESSABLE_ENTITY), "invalid_body");
}

/// A cancel that comes before its event is remembered for a day, and over a restart.
#[test]
fn what_is_cancelled_ahead_is_accepted_and_told_to_nobody() {
    let rig = with_people();
    let cancel = |rig: &crate::rig::Rig, event: &str| {
        let path = format!("/v1/events/{event}/cancel");
        post(rig, &path, &Value::Null)["status"].clone()
    };
    assert_eq!(cancel(&rig, "e1"), "remembered");
    assert_eq!(cancel(&rig, "e2"), "remembered");
    let rig = rig.restart();
    rig.at("2024-01-02T11:59:00Z");
    let published = publish(&rig, "e1", "note", &["ada", "nobody"]);
    assert_eq!(
        (&published["status"], &published["notifications"], &published["warnings"]),
        (&json!("cancelled"), &json!(0), &json!([]))
    );
    let event = get(&rig, "/v1/events/e1");
    assert_eq!((&event["notifications"], &event["channels"]), (&json!(0), &json!({})));
    assert_eq!(cancel(&rig, "e1"), "nothing_left");
    assert_eq!(publish(&rig, "e1", "note", &["ada"])["status"], "duplicate");
    rig.at("2024-01-02T12:00:01Z");
    assert_eq!(publish(&rig, "e2", "note", &["ada"])["status"], "accepted");
    let refused = event_of_no_type(&rig);
    assert_eq!(refused, "unknown_type");
}

fn event_of_no_type(rig: &crate::rig::Rig) -> String {
    post(rig, "/v1/events/e3/cancel", &Value::Null);
    let answer = rig.call(Method::POST, "/v1/events", &event("e3", "none", &["ada"]));
    problem(&answer, StatusCode::UNPROCESSABLE_ENTITY)
}

/// A withdrawn event is in no inbox any more, and counted as before.
#[test]
fn what_is_withdrawn_is_out_of_inboxes() {
    let rig = with_people();
    publish(&rig, "e1", "note", &["ada", "bob"]);
    publish(&rig, "e2", "note", &["ada"]);
    let inbox = |rig: &crate::rig::Rig| {
        let page = get(rig, "/v1/recipients/ada/inbox");
        let events: Vec<Value> = page["groups"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|group| group["items"].as_array().unwrap())
            .map(|item| item["event"].clone())
            .collect();
        (events, page["unseen"].clone(), page["rev"].as_u64())
    };
    let (events, unseen, before) = inbox(&rig);
    assert_eq!((events.len(), unseen), (2, json!(2)));
    let withdrawn = post(&rig, "/v1/events/e1/withdraw", &Value::Null);
    let expected = json!({
        "status": "cancelled", "cancelled": 2, "removed_from_batch": 0, "too_late": 0,
        "withdrawn": 2, "events": 1, "warnings": [],
    });
    assert_eq!(withdrawn, expected);
    let (events, unseen, after) = inbox(&rig);
    assert_eq!((events, unseen), (vec![json!("e2")], json!(1)));
    assert!(before < after, "a page from before is older");
    let rig = rig.restart();
    assert_eq!(inbox(&rig).0, [json!("e2")]);
    let event = get(&rig, "/v1/events/e1");
    let delivered =
        json!({"entries": 2, "pending": 0, "outcomes": {"delivered": 2}, "reasons": {}});
    assert_eq!(event["channels"]["inbox"], delivered);
    let again = post(&rig, "/v1/events/e1/withdraw", &Value::Null);
    assert_eq!(again["status"], "nothing_left", "{again}");
    let mut keyed = event_with_key();
    post(&rig, "/v1/events", &keyed);
    keyed["id"] = json!("k2");
    post(&rig, "/v1/events", &keyed);
    let all = post(&rig, "/v1/withdraw", &json!({"cancellation_key": "k"}));
    assert_eq!((&all["status"], &all["withdrawn"]), (&json!("withdrawn"), &json!(2)));
    let none = post(&rig, "/v1/events/none/withdraw", &Value::Null);
    assert_eq!(none["status"], "remembered");
    assert_eq!(publish(&rig, "none", "note", &["ada"])["status"], "cancelled");
    let named = post(&rig, "/v1/withdraw", &json!({"event": "e2"}));
    assert_eq!((&named["status"], &named["withdrawn"]), (&json!("cancelled"), &json!(1)));
    let odd = rig.call(Method::POST, "/v1/withdraw", &json!({}));
    let code = problem(&odd, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(code, "invalid_body");
}

fn event_with_key() -> Value {
    json!({
        "id": "k1", "type": "note", "object": {"id": "o"}, "to": {"recipients": ["bob"]},
        "channels": ["inbox"], "cancellation_key": "k",
    })
}

/// A mail server that is away: what it is handed is to be tried again.
struct Away;

impl Channel for Away {
    fn send(&self, _: &Rendered, _: &dyn Fn() -> bool) -> Outcome {
        Outcome::Retry { why: "away".to_owned(), after_ms: None }
    }
}

/// Acceptance T26: what stands in a message that was surely not handed over is taken out of it.
#[test]
fn t26_a_cancel_takes_out_of_a_message_that_is_not_handed_over() {
    let rig = with_people();
    let rules = tidings_config::parse(CONFIG, "tidings.toml").unwrap();
    let sender = tidings_mail::Sender::parse("Art <art@example.org>").unwrap();
    let outlet = RenderingChannel::new(Arc::new(MailRenderer::plain(sender)), Arc::new(Away));
    let channels = Channels::from([(EMAIL.to_owned(), outlet)]);
    rig.service.configure(rules, channels).unwrap();
    let mut mail = event("e1", "note", &["ada"]);
    mail["channels"] = json!(["email"]);
    post(&rig, "/v1/events", &mail);
    rig.at("2024-01-01T12:04:00Z");
    while get(&rig, "/v1/admin/due")["sending"] != 1 {
        std::thread::yield_now();
    }
    // While a sender has it, and until its answer is in, it is too late.
    let taken = loop {
        let taken = post(&rig, "/v1/events/e1/cancel", &Value::Null);
        if taken["status"] != "too_late" {
            break taken;
        }
        std::thread::yield_now();
    };
    assert_eq!(taken["status"], "removed_from_batch");
    assert_eq!((&taken["cancelled"], &taken["removed_from_batch"]), (&json!(0), &json!(1)));
    let again = post(&rig, "/v1/events/e1/cancel", &Value::Null);
    assert_eq!(again["status"], "nothing_left");
}
