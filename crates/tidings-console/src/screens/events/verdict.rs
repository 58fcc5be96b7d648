//! The outcome of an event in sentences: how many it reached, and what became of them on each channel.

use serde_json::Value;

use crate::page::grouped;
use crate::sentence::Sentence;
use crate::words::{capital, channel, counted, listed};

/// The sentences about an event. `event` = `GET /v1/events/{id}`; `counts` = its audience by `POST /v1/explain`, or the
/// same again where that has no answer.
pub(crate) fn verdict(event: &Value, counts: &Value) -> Vec<Sentence> {
    let notifications = event["notifications"].as_u64().unwrap_or_default();
    let concerned = counts["concerned"].as_u64().unwrap_or(notifications);
    let reached = match (notifications, concerned) {
        (0, 0) => "It reached nobody: its audience was empty.".to_owned(),
        (0, all) => format!("It reached none of {}.", counted(all, "person", "people")),
        (some, all) if some < all => {
            format!("It reached {} of {}.", number(some), counted(all, "person", "people"))
        }
        (1, _) => "It reached the one person of its audience.".to_owned(),
        (some, _) => format!("It reached all {} people of its audience.", number(some)),
    };
    let mut sentences = Vec::new();
    if let Some(at) = event["scheduled_for"].as_str() {
        sentences.push(Sentence::new("It is scheduled").at(" for ", Some(at)).text("."));
    }
    sentences.push(Sentence::new(reached));
    for (name, fate) in counts["channels"].as_object().into_iter().flatten() {
        let mut parts: Vec<String> = Vec::new();
        let pending = fate["pending"].as_u64().unwrap_or_default();
        let outcomes = fate["outcomes"].as_object().into_iter().flatten();
        for (outcome, count) in outcomes {
            parts.push(format!("{} {outcome}", number(count.as_u64().unwrap_or_default())));
        }
        if pending > 0 {
            let verb =
                if pending == 1 { "waits or is being sent" } else { "wait or are being sent" };
            parts.push(format!("{} {verb}", number(pending)));
        }
        let left_out = fate["left_out"].as_object().into_iter().flatten();
        let left_out: u64 = left_out.filter_map(|(_, count)| count.as_u64()).sum();
        if left_out > 0 {
            parts.push(format!("{} left out", number(left_out)));
        }
        if !parts.is_empty() {
            let name = capital(channel(name));
            sentences.push(Sentence::new(format!("{name}: {}.", listed(&parts))));
        }
    }
    for (reason, count) in event["suppressed"].as_object().into_iter().flatten() {
        let count = count.as_u64().unwrap_or_default();
        let people = counted(count, "person was", "people were");
        let reason = reason.replace('_', " ");
        sentences
            .push(Sentence::new(format!("{people} left out by the type’s admission ({reason}).")));
    }
    sentences
}

/// The class of the colour of an event.
pub(super) fn tone(event: &Value, counts: &Value) -> &'static str {
    let fates = || counts["channels"].as_object().into_iter().flatten().map(|(_, fate)| fate);
    let has = |outcome: &str| fates().any(|fate| fate["outcomes"][outcome].as_u64() > Some(0));
    if has("failed") || has("unknown") {
        "state-failed"
    } else if event["scheduled_for"].is_string()
        || fates().any(|fate| fate["pending"].as_u64() > Some(0))
    {
        "state-wait"
    } else if has("delivered") {
        "state-ok"
    } else {
        "state-off"
    }
}

/// The audience of an event in words, without the ids of people.
pub(super) fn audience(to: &Value) -> String {
    let length = |name: &str| to[name].as_array().map_or(0, |named| named.len() as u64);
    let mut parts = Vec::new();
    if to["everyone"] == true {
        parts.push("everyone".to_owned());
    }
    for (name, one, many) in
        [("recipients", "named recipient", "named recipients"), ("near", "circle", "circles")]
    {
        if length(name) > 0 {
            parts.push(counted(length(name), one, many));
        }
    }
    let topics = to["topics"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let topics: Vec<&str> = topics.collect();
    match topics.as_slice() {
        [] => {}
        few if few.len() <= 5 => parts.push(format!("followers of {}", listed(few))),
        many => parts.push(format!("followers of {} topics", many.len())),
    }
    if length("except") > 0 {
        parts.push(format!("without {}", counted(length("except"), "recipient", "recipients")));
    }
    if parts.is_empty() { "nobody".to_owned() } else { parts.join(", ") }
}

fn number(count: u64) -> String {
    grouped(i64::try_from(count).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn said(event: &Value, counts: &Value) -> String {
        let sentences: Vec<String> = verdict(event, counts).iter().map(Sentence::plain).collect();
        sentences.join(" ")
    }

    fn event(notifications: u64) -> Value {
        json!({"notifications": notifications, "suppressed": {}, "scheduled_for": null, "channels": {}})
    }

    #[test]
    fn how_many_an_event_reached_and_what_became_of_them() {
        let fate = |entries: u64, pending: u64, outcomes: Value, left_out: Value| json!({"entries": entries, "pending": pending, "outcomes": outcomes, "reasons": {}, "left_out": left_out});
        for (event, counts, sentence, class) in [
            (
                event(45),
                json!({"concerned": 45, "channels": {
                    "email": fate(45, 44, json!({"cancelled": 1}), json!({})), "inbox": fate(45, 0, json!({"delivered": 45}), json!({}))}}),
                "It reached all 45 people of its audience. Email: 1 cancelled and 44 wait or are being sent. The inbox: 45 delivered.",
                "state-wait",
            ),
            (
                event(11_000),
                json!({"concerned": 12_000, "channels": {
                    "email": fate(11_000, 0, json!({"delivered": 10_990, "failed": 10}), json!({"preference": 1_000}))}}),
                "It reached 11,000 of 12,000 people. Email: 10,990 delivered, 10 failed and 1,000 left out.",
                "state-failed",
            ),
            (
                event(1),
                json!({"concerned": 1, "channels": {"sms": fate(1, 0, json!({"delivered": 1}), json!({}))}}),
                "It reached the one person of its audience. SMS: 1 delivered.",
                "state-ok",
            ),
            (
                event(0),
                json!({"concerned": 1, "channels": {"email": fate(0, 0, json!({}), json!({"preference": 1}))}}),
                "It reached none of 1 person. Email: 1 left out.",
                "state-off",
            ),
            (
                event(0),
                json!({"concerned": 0, "channels": {}}),
                "It reached nobody: its audience was empty.",
                "state-off",
            ),
        ] {
            assert_eq!(said(&event, &counts), sentence);
            assert_eq!(tone(&event, &counts), class, "{sentence}");
        }
    }

    #[test]
    fn a_scheduled_event_and_an_admission_are_said() {
        let mut event = event(3);
        event["scheduled_for"] = json!("T");
        event["suppressed"] = json!({"once_pending": 2});
        let counts = event.clone();
        assert_eq!(
            said(&event, &counts),
            "It is scheduled for T. It reached all 3 people of its audience. \
             2 people were left out by the type’s admission (once pending)."
        );
        assert_eq!(tone(&event, &counts), "state-wait");
    }

    #[test]
    fn an_audience_is_counted_and_its_topics_are_named() {
        for (to, words) in [
            (json!({"recipients": ["a", "b"]}), "2 named recipients"),
            (
                json!({"topics": ["a/b", "c"], "except": ["x"]}),
                "followers of a/b and c, without 1 recipient",
            ),
            (json!({"topics": ["1", "2", "3", "4", "5", "6"]}), "followers of 6 topics"),
            (json!({"everyone": true}), "everyone"),
            (json!({"near": [{"lat": 1}]}), "1 circle"),
            (json!({}), "nobody"),
        ] {
            assert_eq!(audience(&to), words);
        }
    }
}
