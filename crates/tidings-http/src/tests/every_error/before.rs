//! Errors of what is asked before a change.

use std::sync::Arc;

use axum::http::Method;
use serde_json::{Value, json};
use tidings_node::channel::{Channel, MailRenderer, Outcome, Rendered, RenderingChannel};

use super::{Call, MESSAGES, message_in, open};
use crate::rig::{Answered, CONFIG, Rig};

/// A channel that is tried again for `bob`, and refuses everybody else.
struct Away;

impl Channel for Away {
    fn send(&self, message: &Rendered, go: &dyn Fn() -> bool) -> Outcome {
        if !go() {
            return Outcome::Withheld;
        }
        let why = "RCPT: 550".to_owned();
        match message.head.recipient.as_ref().map(|id| id.as_str()) {
            Some("bob") => Outcome::Retry { why, after_ms: None },
            _ => Outcome::Failed { why, suppress: None },
        }
    }
}

/// The answers of calls where an error comes from what is asked before a change; `None` = the error is another.
pub(super) fn answers(code: &str, calls: &[&Call]) -> Option<Vec<Answered>> {
    match code {
        "no_dry" => {
            let (rig, _) = open();
            let asked = |call: &&Call| {
                let asked = call.at(format!("{}?dry=true", call.path));
                match &*call.name {
                    "POST /v1/events" => asked.with_body("[]").send(&rig),
                    _ => asked.send(&rig),
                }
            };
            Some(calls.iter().map(asked).collect())
        }
        "grew" => Some(calls.iter().map(|call| grown(call)).collect()),
        _ => None,
    }
}

/// The answer of a call that would touch somebody, which it does not expect.
fn grown(call: &Call) -> Answered {
    let rig = with_messages();
    let state = if call.path.ends_with("/cancel") { "retrying" } else { "failed" };
    let message = message_in(&rig, state).unwrap();
    let path = call.path.replace(&MESSAGES.failed, &message);
    call.at(format!("{path}?expect=0")).send(&rig)
}

/// A server with an event that waits, a message that is tried again, and one that failed.
fn with_messages() -> Rig {
    let from = tidings_mail::Sender::parse("Art <art@example.org>").unwrap();
    let outlet = RenderingChannel::new(Arc::new(MailRenderer::plain(from)), Arc::new(Away));
    let rig = Rig::with_channels(CONFIG, [("email".to_owned(), outlet)].into());
    let call = |method: Method, path: &str, body: &Value| {
        let done = rig.call(method, path, body);
        assert!(done.status.is_success(), "{done:?}");
    };
    for (event, who) in [("e8", "bob"), ("e9", "cy"), ("e1", "ann")] {
        let address = json!({ "email": format!("{who}@example.org") });
        call(Method::PUT, &format!("/v1/recipients/{who}"), &address);
        let event = json!({
            "id": event, "type": "note", "object": { "id": "works/1" },
            "to": { "recipients": [who] }, "cancellation_key": "k",
        });
        call(Method::POST, "/v1/events", &event);
    }
    for who in ["bob", "cy"] {
        call(Method::POST, &format!("/v1/recipients/{who}/flush"), &json!({}));
    }
    for state in ["failed", "retrying"] {
        while message_in(&rig, state).is_none() {
            std::thread::yield_now();
        }
    }
    rig
}
