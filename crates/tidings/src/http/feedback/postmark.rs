//! The calls of Postmark's webhooks. They are not signed; their address has a user and a password, which it sends as
//! Basic authentication.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use subtle::ConstantTimeEq as _;
use tidings_mail::Event;

use super::{Call, Reported, not_signed};
use crate::http::error::Problem;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Line {
    record_type: String,
    #[serde(rename = "Type")]
    kind: Option<String>,
    #[serde(default)]
    metadata: Metadata,
}

#[derive(Default, Deserialize)]
struct Metadata {
    tidings_message: Option<String>,
}

/// The reports of a call with a login, `USER:PASSWORD`.
pub(super) fn read(call: &Call<'_>, login: &str) -> Result<Vec<Reported>, Problem> {
    let wanted = format!("Basic {}", STANDARD.encode(login));
    let got = call.header("authorization").unwrap_or_default();
    if !bool::from(got.as_bytes().ct_eq(wanted.as_bytes())) {
        return Err(not_signed("the user or the password is another one"));
    }
    let line: Line = call.json()?;
    let kind = line.kind.unwrap_or_default();
    let event = match (&*line.record_type, &*kind) {
        ("Delivery", _) => Event::Delivered,
        ("Bounce", "HardBounce" | "BadEmailAddress") => Event::Gone,
        ("Bounce", "SpamComplaint") | ("SpamComplaint", _) => Event::Complained,
        ("Bounce", "Unsubscribe") => Event::OptedOut,
        ("Bounce", "Transient") => Event::Delayed,
        ("Bounce", _) => Event::Bounced,
        ("Open", _) => Event::Opened,
        ("Click", _) => Event::Clicked,
        _ => return Ok(Vec::new()),
    };
    Ok(vec![Reported {
        at: None,
        event,
        by: "postmark",
        hints: line.metadata.tidings_message.into_iter().collect(),
        words: kind,
    }])
}
