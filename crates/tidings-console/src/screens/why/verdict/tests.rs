use serde_json::json;

use super::*;

fn step(rule: &str, looked_at: &str, result: &str) -> Value {
    json!({"rule": rule, "at": "T1", "looked_at": looked_at, "result": result, "ends": false})
}

fn ends(rule: &str, looked_at: &str, result: &str) -> Value {
    json!({"rule": rule, "at": "T1", "looked_at": looked_at, "result": result, "ends": true})
}

fn path(channel: &str, state: &str, at: Option<&str>, steps: &[Value]) -> Value {
    json!({"channel": channel, "state": state, "reason": null, "at": at, "steps": steps})
}

/// The sentence about one channel.
fn said(path: &Value) -> String {
    let explained = json!({"recipient": "ana", "steps": [], "channels": [path]});
    answers(&explained)[0].sentence.plain()
}

#[test]
fn who_was_not_in_the_audience_is_told_by_which_rule() {
    for (last, sentence) in [
        (
            ends("audience", "2 named recipients", "not in the audience, as it is now"),
            "ana was not told: not in the audience, as it is now (2 named recipients).",
        ),
        (
            ends("audience", "ana", "left out by `except`"),
            "ana was not told: the event’s “except” names them.",
        ),
        (
            ends("actor", "ana", "actors are left out of their own events"),
            "ana was not told: they did it themselves, and actors are left out of their own events.",
        ),
        (
            ends("type", "comment", "it is not configured"),
            "ana was not told: the type comment is not configured.",
        ),
        (
            ends("admission", "once_pending per object", "left out: once_pending"),
            "ana was not told: the type admits once pending per object (left out: once_pending).",
        ),
    ] {
        let explained = json!({"recipient": "ana", "steps": [step("recipient", "ana", "active"), last], "channels": []});
        let answers = answers(&explained);
        assert_eq!(answers[0].sentence.plain(), sentence);
        assert!(answers[0].otherwise.is_some());
    }
}

#[test]
fn what_ended_a_notification_is_said_with_its_values() {
    let lane = || step("lane", "digest:weekly", "entered it");
    let ended = |rule, looked_at, state: &str, reason| {
        let step = ends(rule, looked_at, &format!("ends it: {state} ({reason})"));
        said(&path("email", state, Some("T1"), &[lane(), step]))
    };
    for (said, sentence) in [
        (
            ended("preference", "category `following`: never", "cancelled", "preference"),
            "No email: they chose so (category “following”: never), decided T1.",
        ),
        (
            ended("preference", "muted: topic `artist/rob`", "cancelled", "preference"),
            "No email: they muted topic “artist/rob”, decided T1.",
        ),
        (
            ended(
                "preference",
                "a preference or a mute that is another now",
                "cancelled",
                "preference",
            ),
            "No email: a preference or a mute ended it, which is another now, decided T1.",
        ),
        (
            ended("preference", "the type's policy is never", "cancelled", "preference"),
            "No email: the type’s own policy there is never, decided T1.",
        ),
        (
            ended(
                "seen",
                "seen in the inbox; `drop_if_seen = false` sends it anyway; seen by T0",
                "skipped",
                "seen",
            ),
            "No email: they saw it in the inbox first (by T0), decided T1.",
        ),
        (
            ended("seen", "after the inbox", "skipped", "seen"),
            "No email: they saw it in the inbox first, decided T1.",
        ),
        (
            ended("address", "none", "skipped", "no_address"),
            "No email: they have no address there, decided T1.",
        ),
        (
            ended("address", "`allow` leaves it out", "skipped", "not_allowed"),
            "No email: the channel’s “allow” list leaves their address out, decided T1.",
        ),
        (
            ended("suppression", "bounce since T0", "skipped", "suppressed"),
            "No email: their address was suppressed (bounce since T0), decided T1.",
        ),
        (
            ended("object", "work-7", "skipped", "not_applicable"),
            "No email: its object work-7 was withdrawn, or is not notifiable, decided T1.",
        ),
        (
            ended("look_back", "7d", "skipped", "stale"),
            "No email: it was older than “look_back” (7d) by then, decided T1.",
        ),
        (
            ended("expires_at", "T0", "expired", "expired"),
            "No email: it expired at T0, decided T1.",
        ),
        (
            ended("recipient", "disabled", "cancelled", "recipient_gone"),
            "No email: they are disabled, decided T1.",
        ),
        (
            ended("condition", "amount > 5", "cancelled", "condition"),
            "No email: the type’s condition did not hold (amount > 5), decided T1.",
        ),
    ] {
        assert_eq!(said, sentence);
    }
}

#[test]
fn a_channel_without_a_notification_says_which_choice_left_it_out() {
    for (last, sentence) in [
        (ends("preference", "type: never", "no entry"), "No email: they chose so (type: never)."),
        (
            ends("preference", "none is set", "the type's policy is never: no entry"),
            "No email: the type’s own policy there is never.",
        ),
        (ends("mute", "topic `a`", "no entry"), "No email: they muted topic “a”."),
        (
            ends(
                "audience",
                "what is stored of the event",
                "there was no entry when it arrived: an admission …",
            ),
            "No email: there was no notification when it arrived; audience, preferences or rules were others than now.",
        ),
    ] {
        assert_eq!(said(&path("email", "none", None, &[last])), sentence);
    }
}

#[test]
fn what_waits_says_where_and_until_when() {
    let lane = || step("lane", "digest:weekly", "entered it");
    let deadline = || step("deadline", "digest weekly", "due");
    for (steps, at, sentence) in [
        (vec![lane(), deadline()], Some("T2"), "The email waits in digest:weekly until T2."),
        (vec![], Some("T2"), "The email is due at T2."),
        (vec![lane()], None, "The email waits in digest:weekly, without a due time at present."),
        (
            vec![
                lane(),
                deadline(),
                step("hold", "the channel is paused", "waits until it is resumed"),
            ],
            Some("T2"),
            "The email is held: the channel is paused.",
        ),
        (
            vec![lane(), step("message", "the lane was due", "it is being made")],
            Some("T2"),
            "The email is being made, due since T2.",
        ),
        (
            vec![lane(), deadline(), ends("address", "none", "ends it: skipped (no_address)")],
            Some("T2"),
            "The email waits in digest:weekly until T2; as things are it will be left out: they have no address there.",
        ),
    ] {
        assert_eq!(said(&path("email", "pending", at, &steps)), sentence);
    }
    let failed = [lane(), step("delivery", "3 attempts failed", "it is tried again")];
    assert_eq!(
        said(&path("email", "sending", Some("T3"), &failed)),
        "Not sent by email yet: 3 attempts failed, the next is T3."
    );
    let first = [lane(), step("delivery", "no attempt that failed", "it is being sent")];
    assert_eq!(said(&path("sms", "sending", None, &first)), "Being sent by SMS now.");
    assert_eq!(said(&path("email", "scheduled", Some("T4"), &[])), "Scheduled for email, T4.");
}

#[test]
fn what_was_told_says_when_and_whether_it_was_seen() {
    let delivered = || step("delivery", "the inbox", "it is in the inbox");
    let mark = |result: &str| step("seen", "the marks of the inbox", result);
    for (steps, sentence) in [
        (vec![delivered()], "In the inbox since T, not seen yet."),
        (vec![delivered(), mark("it was seen by then")], "In the inbox since T, seen by T1."),
        (vec![delivered(), mark("it was read by then")], "In the inbox since T, read by T1."),
    ] {
        assert_eq!(said(&path("inbox", "delivered", Some("T"), &steps)), sentence);
    }
    let sent = [step("delivery", "smtp://a", "delivered")];
    assert_eq!(said(&path("sms", "delivered", Some("T"), &sent)), "Sent by SMS T.");
    let refused = [ends("delivery", "550 no such user", "failed")];
    assert_eq!(
        said(&path("email", "failed", Some("T"), &refused)),
        "The email failed T: 550 no such user."
    );
    let unknown = [ends("delivery", "the connection broke", "unknown")];
    assert_eq!(
        said(&path("email", "unknown", Some("T"), &unknown)),
        "It is not known whether the email arrived (T): the connection broke."
    );
}

#[test]
fn what_was_not_told_comes_first_and_the_rule_that_decided_is_found() {
    let inbox = path(
        "inbox",
        "delivered",
        Some("T"),
        &[step("delivery", "the inbox", "it is in the inbox")],
    );
    let email = path(
        "email",
        "skipped",
        Some("T"),
        &[step("lane", "now", "entered it"), ends("address", "none", "ends it")],
    );
    let explained = json!({"recipient": "ana", "steps": [], "channels": [inbox, email]});
    let answers = answers(&explained);
    assert!(answers[0].sentence.plain().starts_with("No email"));
    assert_eq!(answers[1].tone, "state-ok");
    assert_eq!((deciding(&email), deciding(&inbox)), (Some(1), Some(0)));
    let quiet = path(
        "email",
        "pending",
        Some("T2"),
        &[
            step("lane", "now", "entered it"),
            step("deadline", "now", "due"),
            step("quiet_hours", "22:00 to 07:00", "moves it to their end"),
            step("cap", "1 of 3 messages in the 24h before", "there is room"),
        ],
    );
    assert_eq!(deciding(&quiet), Some(2));
}
