//! Quiet hours of a recipient.

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};

use super::{Rig, done, event, get, post, problem, put};

const ADA: &str = "/v1/recipients/ada";

fn hours(rig: &Rig) -> Value {
    get(rig, ADA)["quiet_hours"].clone()
}

#[test]
fn quiet_hours_are_put_patched_and_shown() {
    let rig = Rig::new();
    let night = json!({"from": "22:00", "to": "07:00"});
    put(&rig, ADA, &json!({"quiet_hours": night}));
    assert_eq!(hours(&rig), night);
    // What is not given stays.
    done(&rig.call(Method::PATCH, ADA, &json!({"name": "Ada"})));
    assert_eq!(hours(&rig), night);
    let some =
        json!({"from": "12:00", "to": "13:30", "days": ["mon", "sun"], "channels": ["email"]});
    done(&rig.call(Method::PATCH, ADA, &json!({"quiet_hours": some})));
    assert_eq!(hours(&rig), some);
    // What was got can be put.
    let profile = get(&rig, ADA);
    put(&rig, ADA, &profile);
    assert_eq!(hours(&rig), some);
    done(&rig.call(Method::PATCH, ADA, &json!({"quiet_hours": null})));
    assert_eq!(hours(&rig), Value::Null);
    let profile = get(&rig, ADA);
    put(&rig, ADA, &profile);
    assert_eq!(hours(&rig), Value::Null);
    let rig = rig.restart();
    assert_eq!(hours(&rig), Value::Null);
    done(&rig.call(Method::PATCH, ADA, &json!({"quiet_hours": "default"})));
    assert_eq!(hours(&rig), json!("default"));
    put(&rig, ADA, &json!({"quiet_hours": night}));
    // A whole profile without them has those of each channel.
    put(&rig, ADA, &json!({"name": "Ada"}));
    assert_eq!(hours(&rig), json!("default"));
    let many = json!([{"id": "ada", "quiet_hours": night}]);
    assert_eq!(post(&rig, "/v1/recipients", &many)[0]["status"], "done");
    assert_eq!(hours(&rig), night);
}

#[test]
fn quiet_hours_that_cannot_be_are_refused() {
    let rig = Rig::new();
    for (hours, part) in [
        (json!({"from": "22:00"}), "`quiet_hours.to`"),
        (json!({"to": "22:00"}), "`quiet_hours.from`"),
        (json!({"from": "22:00", "to": "22:00"}), "same time"),
        (json!({"from": "24:00", "to": "07:00"}), "time of day"),
        (json!({"from": "22:00", "to": "7:00"}), "time of day"),
        (json!({"from": "22:00", "to": 7}), ""),
        (json!({"from": "22:00", "to": "07:00", "days": []}), "`quiet_hours.days`"),
        (json!({"from": "22:00", "to": "07:00", "days": ["monday"]}), "monday"),
        (json!({"from": "22:00", "to": "07:00", "days": "mon"}), ""),
        (json!({"from": "22:00", "to": "07:00", "channels": []}), "`quiet_hours.channels`"),
        (json!({"from": "22:00", "to": "07:00", "channels": ["inbox"]}), "inbox"),
        (json!({"from": "22:00", "to": "07:00", "tz": "UTC"}), "`tz`"),
        (json!("never"), "never"),
        (json!(7), ""),
        (json!([]), ""),
    ] {
        for method in [Method::PUT, Method::PATCH] {
            let body = json!({"quiet_hours": hours});
            let answer = rig.call(method, ADA, &body);
            let code = problem(&answer, StatusCode::UNPROCESSABLE_ENTITY);
            assert_eq!(code, "invalid_body", "{hours}");
            let told = answer.json();
            assert!(!told["hint"].as_str().unwrap_or_default().is_empty(), "{told}");
            assert!(told["detail"].as_str().unwrap_or_default().contains(part), "{told}");
        }
    }
    let hours = json!({"from": "22:00", "to": "07:00", "channels": ["fax"]});
    let answer = rig.call(Method::PATCH, ADA, &json!({ "quiet_hours": hours }));
    let code = problem(&answer, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(code, "unknown_channel");
}

#[test]
fn p8_what_is_due_in_quiet_hours_waits_for_their_end() {
    let rig = Rig::new();
    let night = json!({"from": "22:00", "to": "07:00"});
    let profile = json!({"email": "ada@example.org", "quiet_hours": night});
    rig.at("2024-01-01T23:00:00Z");
    put(&rig, ADA, &profile);
    post(&rig, "/v1/events", &event("e1", "note", &["ada"]));
    let lanes = get(&rig, &format!("{ADA}/pending"));
    assert_eq!(lanes["lanes"][0]["due"], "2024-01-02T07:00:00Z", "{lanes}");
    // A flush passes them.
    post(&rig, &format!("{ADA}/flush"), &json!({}));
    assert_eq!(get(&rig, &format!("{ADA}/pending"))["lanes"], json!([]));
}
