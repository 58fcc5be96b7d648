use serde_json::json;

use super::*;

/// The sentences about a person, joined; instants are as the API writes them.
fn said(profile: &Value, choices: &Value, suppressions: &Value, pending: &Value) -> String {
    said_with(profile, choices, suppressions, pending, &Value::Null)
}

fn said_with(
    profile: &Value,
    choices: &Value,
    suppressions: &Value,
    pending: &Value,
    leaving: &Value,
) -> String {
    let zone = TimeZone::get("Europe/Madrid").unwrap();
    let facts = Facts {
        profile,
        choices,
        suppressions,
        pending,
        leaving,
        now: "2026-11-28T22:00:00Z".parse().unwrap(),
        zone: Some(&zone),
    };
    let sentences: Vec<String> = verdict(&facts).iter().map(Sentence::plain).collect();
    sentences.join(" ")
}

/// Choices of one type, as `GET /v1/recipients/{id}/preferences?choices=true` has them: channel, mode, level, connected.
fn choices(channels: &[(&str, &str, &str, bool)]) -> Value {
    let channels: Vec<Value> = channels
        .iter()
        .map(|(channel, mode, from, connected)| {
            json!({"channel": channel, "modes": ["never", mode], "mode": mode, "from": from, "connected": connected})
        })
        .collect();
    json!([{"category": "work", "title": "Work", "required": false, "channels": channels,
        "types": [{"type": "comment", "title": "Comment", "required": false, "channels": channels}]}])
}

fn active() -> Value {
    json!({"id": "ana", "addresses": {"email": "a••@e••••••.org"}, "state": "active", "tz": "Europe/Madrid"})
}

const NOTHING: &str = r#"{"lanes": [], "messages": [], "scheduled": []}"#;

#[test]
fn what_reaches_a_person_and_what_does_not() {
    let nothing: Value = serde_json::from_str(NOTHING).unwrap();
    let bounced = json!([{"channel": "email", "address": "a••@e••••••.org", "reason": "bounce", "since": "T", "expires_at": null}]);
    for (channels, suppressions, sentence) in [
        (
            vec![("inbox", "immediate", "default", true), ("email", "weekly", "default", true)],
            json!([]),
            "Reached by the inbox and email. Nothing waits.",
        ),
        (
            vec![
                ("inbox", "immediate", "default", true),
                ("email", "never", "category", true),
                ("sms", "immediate", "default", false),
                ("fcm", "immediate", "default", false),
            ],
            json!([]),
            "Reached by the inbox. No Android push and SMS: there is no address. No email: by their preferences. Nothing waits.",
        ),
        (
            vec![("email", "never", "default", true)],
            json!([]),
            "No channel reaches them. No email: by the types’ own policies. Nothing waits.",
        ),
        (
            vec![("email", "immediate", "default", true), ("sms", "immediate", "default", true)],
            bounced.clone(),
            "Reached by SMS. No email: their address is suppressed (messages came back, T). Nothing waits.",
        ),
        (
            vec![("email", "never", "*", true)],
            bounced,
            "No channel reaches them. No email: by their preferences. Nothing waits.",
        ),
    ] {
        assert_eq!(said(&active(), &choices(&channels), &suppressions, &nothing), sentence);
    }
}

#[test]
fn one_of_two_suppressed_devices_leaves_the_channel_open() {
    let nothing: Value = serde_json::from_str(NOTHING).unwrap();
    let profile = json!({"state": "active", "addresses": {"fcm": ["••••", "••••"]}});
    let fcm = choices(&[("fcm", "immediate", "default", true)]);
    let gone = json!({"channel": "fcm", "address": "••••", "reason": "gone", "since": "T"});
    assert_eq!(
        said(&profile, &fcm, &json!([gone]), &nothing),
        "Reached by Android push. Nothing waits."
    );
    assert_eq!(
        said(&profile, &fcm, &json!([gone, gone]), &nothing),
        "No channel reaches them. No Android push: their address is suppressed (it no longer exists, T). Nothing waits."
    );
}

#[test]
fn states_that_stop_everything_come_first() {
    let nothing: Value = serde_json::from_str(NOTHING).unwrap();
    for (state, sentence) in [
        (
            "unconfirmed",
            "Unconfirmed: all but the inbox waits until they confirm their address. Nothing waits.",
        ),
        (
            "disabled",
            "Disabled: nothing is sent, and what waits ends when it is due. Nothing waits.",
        ),
    ] {
        let profile = json!({"state": state, "addresses": {}});
        let email = choices(&[("email", "immediate", "default", true)]);
        assert_eq!(said(&profile, &email, &json!([]), &nothing), sentence);
    }
}

#[test]
fn what_comes_next_and_when_in_both_clocks() {
    let entry =
        json!({"event": "e", "type": "comment", "object": "o", "t": "2026-11-28T21:37:11.625Z"});
    let lane = |lane: &str, due: Value, held_by: Value, entries: usize| json!({"channel": "email", "lane": lane, "due": due, "held_by": held_by, "entries": vec![&entry; entries]});
    let message = json!({"id": "m", "next_try": "2026-11-28T22:09:00Z"});
    let away = json!({"id": "m", "next_try": "2026-11-28T21:40:00Z", "held": {"until": "2026-11-28T22:12:00Z"}});
    for (lanes, messages, scheduled, sentence) in [
        (
            vec![lane("digest:weekly", json!("2026-11-30T08:00:00Z"), json!(null), 4)],
            vec![],
            vec![],
            "Next by email: 4 notifications, 2026-11-30T08:00:00Z (Mon 09:00 there).",
        ),
        (
            vec![
                lane("digest:weekly", json!("2026-12-07T08:00:00Z"), json!(null), 4),
                lane("cooldown", json!("2026-11-28T22:03:00Z"), json!(null), 1),
                lane("paused", json!(null), json!("paused"), 31),
            ],
            vec![],
            vec![],
            "Next by email: 1 notification, 2026-11-28T22:03:00Z (Sat 23:03 there); 1 open lane behind it. \
             31 notifications wait while a type or channel is paused.",
        ),
        (
            vec![lane("now", json!("2026-11-28T20:00:00Z"), json!("unconfirmed"), 1)],
            vec![],
            vec![],
            "1 notification waits for their confirmation.",
        ),
        (
            vec![lane("digest:weekly", json!(null), json!(null), 2)],
            vec![],
            vec![],
            "2 notifications wait without a due time.",
        ),
        (
            vec![],
            vec![message],
            vec![],
            "1 message is being tried again, next 2026-11-28T22:09:00Z.",
        ),
        (
            vec![],
            vec![away.clone(), away],
            vec![],
            "2 messages are being tried again, next 2026-11-28T22:12:00Z.",
        ),
        (
            vec![],
            vec![],
            vec![
                json!({"event": "e", "type": "comment", "object": "o", "t": "2026-11-29T07:00:00Z"}),
            ],
            "1 event is scheduled, the first for 2026-11-29T07:00:00Z (Sun 08:00 there).",
        ),
    ] {
        let pending = json!({"lanes": lanes, "messages": messages, "scheduled": scheduled});
        assert_eq!(said(&active(), &Value::Null, &json!([]), &pending), sentence);
    }
}

#[test]
fn a_message_that_is_due_and_not_sent_yet_is_not_nothing() {
    let nothing: Value = serde_json::from_str(NOTHING).unwrap();
    let planned = json!({"id": "m", "state": "planned", "due": "2026-11-28T21:37:23.289Z"});
    let newer = json!({"id": "n", "state": "sending", "due": "2026-11-28T21:40:00Z"});
    for (messages, next, sentence) in [
        (
            json!([planned]),
            json!(null),
            "1 message is being made or sent, due since 2026-11-28T21:37:23.289Z.",
        ),
        (
            json!([newer, planned]),
            json!("c"),
            "More than 2 messages are being made or sent, due since 2026-11-28T21:37:23.289Z.",
        ),
    ] {
        let leaving = json!({"messages": messages, "next": next});
        assert_eq!(said_with(&active(), &Value::Null, &json!([]), &nothing, &leaving), sentence);
    }
}
