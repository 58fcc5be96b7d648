//! Errors of requests whose head or body is wrong, and of those that ask for an explanation.

use std::time::Duration;

use axum::body::{Body, Bytes};
use futures_util::{StreamExt as _, stream};
use serde_json::json;

use super::{Call, open, server, tenants};
use crate::rig::Answered;
use crate::{Access, Settings};

/// The answers of calls where an error comes from the way a request is sent; `None` = the error is another.
pub(super) fn answers(code: &str, calls: &[&Call]) -> Option<Vec<Answered>> {
    let all = |send: &dyn Fn(&Call) -> Answered| calls.iter().map(|call| send(call)).collect();
    Some(match code {
        "invalid_header" => {
            let (rig, _) = open();
            all(&|call| call.send_with(&rig, ("idempotency-key", "")))
        }
        "body_too_large" => {
            let (rig, _) = open();
            all(&|call| call.send_with(&rig, ("content-length", "999999999999")))
        }
        "request_timeout" => {
            let settings = Settings {
                body_patience: Duration::ZERO,
                open_body_patience: Duration::ZERO,
                ..Settings::default()
            };
            let (rig, _) = server(Access::Open, settings);
            tenants::make_tenant(&rig);
            all(&|call| {
                let never = stream::pending::<Result<Bytes, std::io::Error>>();
                call.send_body(&rig, Body::from_stream(never))
            })
        }
        "invalid_request" => {
            let (rig, _) = open();
            all(&|call| {
                let torn = stream::iter([Err::<Bytes, _>(std::io::Error::other("gone"))]);
                let begun = stream::iter([Ok(Bytes::from(" "))]).chain(torn);
                call.send_body(&rig, Body::from_stream(begun))
            })
        }
        _ => return None,
    })
}

/// A call for an explanation, so changed that a server that is well answers this error; `None` = the change is that of
/// other calls.
pub(super) fn wrong_explain(code: &str, call: &Call) -> Option<Call> {
    let body = match code {
        "recipient_not_found" => call.body.replace("ann", "nobody"),
        "event_not_found" => call.body.replace("e1", "none"),
        "unknown_channel" => {
            let event =
                json!({ "type": "note", "object": { "id": "o" }, "to": {}, "channels": ["none"] });
            json!({ "event": event, "recipient": "ann" }).to_string()
        }
        _ => return None,
    };
    Some(call.with_body(&body))
}
