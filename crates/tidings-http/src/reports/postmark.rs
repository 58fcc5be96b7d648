//! The calls of Postmark's webhooks. They are not signed; their address has a user and a password, which it sends as
//! Basic authentication.

use axum::http::{HeaderMap, HeaderValue, header};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use subtle::ConstantTimeEq as _;
use tidings_core::Instant;
use tidings_core::model::EMAIL_NO;
use tidings_mail::MailEvent;

use super::call::{Call, not_signed};
use super::reported::{Reported, permanent};
use crate::error::Problem;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct PostmarkEvent {
    record_type: String,
    #[serde(rename = "Type")]
    kind: Option<String>,
    #[serde(default)]
    metadata: Metadata,
    recipient: Option<String>,
    /// The time of a change of a suppression.
    changed_at: Option<String>,
    /// True if the recipient is suppressed now; false if they are not any more.
    suppress_sending: Option<bool>,
    suppression_reason: Option<String>,
    /// The words of the server that refused.
    details: Option<String>,
}

#[derive(Default, Deserialize)]
struct Metadata {
    tidings_message: Option<String>,
}

/// Checks the login of a call, `USER:PASSWORD`.
///
/// # Errors
/// [`Code::Unauthorized`](crate::error::Code::Unauthorized).
pub(crate) fn check(headers: &HeaderMap, login: &str) -> Result<(), Problem> {
    let wanted = format!("Basic {}", STANDARD.encode(login));
    let got = headers.get(header::AUTHORIZATION).map_or(&[][..], HeaderValue::as_bytes);
    if bool::from(got.ct_eq(wanted.as_bytes())) {
        return Ok(());
    }
    Err(not_signed("the user or the password is another one"))
}

/// The reports of a call whose login was checked.
pub(crate) fn read(call: &Call<'_>) -> Result<Vec<Reported>, Problem> {
    let line: PostmarkEvent = call.json()?;
    let is_change = line.record_type == "SubscriptionChange";
    let kind = line.kind.or(line.suppression_reason).unwrap_or_default();
    let event = match (&*line.record_type, &*kind) {
        ("Delivery", _) => MailEvent::Delivered,
        ("Bounce", "HardBounce") => permanent(&line.details.unwrap_or_default()),
        ("Bounce", "BadEmailAddress") => MailEvent::Gone,
        ("Bounce", "SpamComplaint") | ("SpamComplaint", _) => MailEvent::Complained,
        ("Bounce", "Unsubscribe") => MailEvent::OptedOut,
        ("Bounce", "Transient") => MailEvent::Delayed,
        ("Bounce", "SoftBounce" | "Undeliverable") => MailEvent::Bounced,
        ("Bounce", _) => MailEvent::Blocked,
        ("SubscriptionChange", _) if line.suppress_sending == Some(false) => MailEvent::OptedIn,
        ("SubscriptionChange", "HardBounce") => MailEvent::Gone,
        ("SubscriptionChange", "SpamComplaint") => MailEvent::Complained,
        // By the reader, or by somebody who has the account: either way Postmark sends no more.
        ("SubscriptionChange", _) => MailEvent::OptedOut,
        ("Open", _) => MailEvent::Opened,
        ("Click", _) => MailEvent::Clicked,
        _ => return Ok(Vec::new()),
    };
    Ok(vec![Reported {
        at: line.changed_at.and_then(|at| Instant::parse(&at).ok()),
        address: line.recipient.filter(|_| is_change),
        named: Vec::new(),
        event,
        channel: EMAIL_NO,
        by: "postmark",
        hints: line.metadata.tidings_message.into_iter().collect(),
        words: kind,
    }])
}
