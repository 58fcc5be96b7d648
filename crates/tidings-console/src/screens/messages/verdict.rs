//! The state of a message in a sentence.

use serde_json::Value;

use crate::sentence::Sentence;

/// The sentence about a message, as `GET /v1/messages/{id}` answers.
pub(crate) fn verdict(message: &Value) -> Sentence {
    let at = |name: &str| message[name].as_str();
    let reason = at("reason");
    let last = message["attempts"].as_array().and_then(|attempts| attempts.last());
    let provider = last.and_then(|last| last["provider"].as_str());
    let failed = message["failed_attempts"].as_u64().unwrap_or_default();
    match at("state").unwrap_or_default() {
        "planned" => Sentence::new("Due").at(" ", at("due")).text(", and not built yet."),
        "sending" => Sentence::new("On its way").at(" since ", at("built")).text("."),
        "retrying" => retrying(message, failed).text(said(last)),
        "sent" => {
            Sentence::new("Sent").at(" ", at("ended")).text(by(provider)).text(tries(message))
        }
        "failed" => Sentence::new("Failed")
            .at(" ", at("ended"))
            .text(why_failed(reason, provider, message))
            .text(said(last)),
        "unknown" => Sentence::new(
            "Nobody knows whether it was handed over: the last attempt ended without an answer. \
             Sending it again may reach the recipient twice.",
        ),
        "suppressed" => {
            Sentence::new("Not sent: the checks before sending left out everything in it")
                .text(because(message, reason))
        }
        "cancelled" => {
            Sentence::new("Not sent: everything in it was taken out before it was handed over")
                .text(because(message, reason))
        }
        state => Sentence::new(format!("It is {state}.")),
    }
}

/// The class of the colour of a state.
pub(super) fn tone(state: &str) -> &'static str {
    match state {
        "sent" => "state-ok",
        "failed" | "unknown" => "state-failed",
        "planned" | "sending" | "retrying" => "state-wait",
        _ => "state-off",
    }
}

/// The reason why it waits: its destination, or its next attempt.
fn retrying(message: &Value, failed: u64) -> Sentence {
    let held = &message["held"];
    if let Some(until) = held["until"].as_str() {
        let away = match (held["destination"].as_str(), held["channel"].as_str()) {
            (Some(destination), _) => format!("{destination} takes nothing"),
            (None, Some(channel)) => format!("no provider of {channel} takes anything"),
            (None, None) => "nobody takes it".to_owned(),
        };
        return Sentence::new("Waits until").at(" ", Some(until)).text(format!(", since {away}"));
    }
    let times = match failed {
        0 | 1 => "an attempt failed".to_owned(),
        failed => format!("{failed} attempts failed"),
    };
    Sentence::new("Waits")
        .at(" until ", message["next_try"].as_str())
        .text(format!(" for its next try: {times}"))
}

fn why_failed(reason: Option<&str>, provider: Option<&str>, message: &Value) -> String {
    match reason {
        Some("refused") => format!(": {} refused it for good", provider.unwrap_or("the provider")),
        Some("unreachable") => {
            let count: u64 = attempts(message);
            format!(": none of {count} attempts succeeded")
        }
        Some("template") => {
            ": a template of yours failed over it. Mend the template, then retry".to_owned()
        }
        Some(reason) => format!(": {}", words(reason)),
        None => String::new(),
    }
}

/// The last words of the provider, and the full stop.
fn said(last: Option<&Value>) -> String {
    match last.and_then(|last| last["reply"].as_str()) {
        Some(reply) if !reply.is_empty() => format!(" (“{reply}”)."),
        _ => ".".to_owned(),
    }
}

fn by(provider: Option<&str>) -> String {
    provider.map(|provider| format!(" by {provider}")).unwrap_or_default()
}

fn attempts(message: &Value) -> u64 {
    let attempts = message["attempts"].as_array().into_iter().flatten();
    attempts.map(|attempt| attempt["count"].as_u64().unwrap_or(1)).sum()
}

fn tries(message: &Value) -> String {
    match attempts(message) {
        0 | 1 => ".".to_owned(),
        count => format!(", at attempt {count}."),
    }
}

/// The reasons of what was left out, each once.
fn because(message: &Value, reason: Option<&str>) -> String {
    let left_out = message["left_out"].as_array().into_iter().flatten();
    let mut reasons: Vec<&str> = left_out.filter_map(|left| left["reason"].as_str()).collect();
    reasons.extend(reason.filter(|_| reasons.is_empty()));
    reasons.sort_unstable();
    reasons.dedup();
    let reasons: Vec<&str> = reasons.into_iter().map(words).collect();
    if reasons.is_empty() { ".".to_owned() } else { format!(", since {}.", reasons.join("; ")) }
}

/// A reason in words; as it is where there are none for it.
pub(crate) fn words(reason: &str) -> &str {
    match reason {
        "preference" => "they don't want it (a preference or a mute)",
        "no_address" => "they have no address on this channel",
        "suppressed" => "their address is suppressed",
        "seen" => "they saw it in the inbox first",
        "stale" => "it was too old by then",
        "expired" => "the event had expired",
        "not_applicable" => "its object was withdrawn",
        "condition" => "its condition no longer held",
        "condition_error" => "its condition could not be evaluated",
        "recipient_gone" => "the recipient is erased or disabled",
        "tenant_gone" => "the tenant is deleted or disabled",
        "unknown_type" => "its type is no longer configured",
        "event" => "the event was cancelled",
        "message" => "an operator cancelled the message",
        "replaced" => "a newer event replaced it",
        "forgotten" => "its day is no longer kept",
        "not_allowed" => "its address is not on the channel's `allow` list",
        "refused" => "the provider refused it for good",
        "unreachable" => "no attempt succeeded",
        "template" => "a template failed over it",
        reason => reason,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Answers of a server, shortened to what the sentence looks at.
    #[test]
    fn a_verdict_says_what_became_of_a_message_and_why() {
        let attempt = |answer: &str, reply: &str, count: u64| json!([{"at": "T0", "until": "T1", "count": count, "provider": "smtp://a:25", "answer": answer, "reply": reply}]);
        let cases = [
            (json!({"state": "planned", "due": "T"}), "Due T, and not built yet."),
            (json!({"state": "sending", "built": "T"}), "On its way since T."),
            (
                json!({"state": "retrying", "failed_attempts": 1, "next_try": "T", "attempts": attempt("retry", "RCPT: 451 4.7.0", 1)}),
                "Waits until T for its next try: an attempt failed (“RCPT: 451 4.7.0”).",
            ),
            (
                json!({"state": "retrying", "failed_attempts": 3, "held": {"until": "T", "destination": "example.org", "reason": "x"},
                       "attempts": attempt("retry", "421", 3)}),
                "Waits until T, since example.org takes nothing (“421”).",
            ),
            (
                json!({"state": "sent", "ended": "T", "attempts": attempt("sent", "queued", 1)}),
                "Sent T by smtp://a:25.",
            ),
            (
                json!({"state": "sent", "ended": "T", "attempts": attempt("sent", "queued", 3)}),
                "Sent T by smtp://a:25, at attempt 3.",
            ),
            (
                json!({"state": "failed", "reason": "refused", "ended": "T", "attempts": attempt("failed", "RCPT: 550 5.1.1", 1)}),
                "Failed T: smtp://a:25 refused it for good (“RCPT: 550 5.1.1”).",
            ),
            (
                json!({"state": "failed", "reason": "unreachable", "ended": "T", "attempts": attempt("retry", "", 36)}),
                "Failed T: none of 36 attempts succeeded.",
            ),
            (
                json!({"state": "failed", "reason": "template", "ended": "T", "attempts": []}),
                "Failed T: a template of yours failed over it. Mend the template, then retry.",
            ),
            (
                json!({"state": "suppressed", "reason": "suppressed", "left_out": [{"event": "e", "reason": "suppressed"}]}),
                "Not sent: the checks before sending left out everything in it, since their address is suppressed.",
            ),
            (
                json!({"state": "cancelled", "reason": "preference", "left_out": []}),
                "Not sent: everything in it was taken out before it was handed over, since they don't want it (a preference or a mute).",
            ),
        ];
        for (message, sentence) in cases {
            assert_eq!(verdict(&message).plain(), sentence);
        }
    }
}
