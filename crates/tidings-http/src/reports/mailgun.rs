//! The calls of Mailgun's webhooks, signed by HMAC.

use ring::hmac;
use serde::Deserialize;
use subtle::ConstantTimeEq as _;
use tidings_core::Instant;
use tidings_core::model::EMAIL_NO;
use tidings_mail::{EnhancedStatus, MailEvent, hex};

use super::call::{Call, not_signed};
use super::reported::Reported;
use crate::error::Problem;

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Body {
    signature: Signature,
    event_data: MailgunEvent,
}

#[derive(Deserialize)]
struct Signature {
    timestamp: String,
    token: String,
    signature: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct MailgunEvent {
    event: String,
    severity: Option<String>,
    #[serde(default)]
    delivery_status: DeliveryStatus,
    #[serde(default)]
    user_variables: Variables,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
struct DeliveryStatus {
    code: Option<i64>,
    enhanced_code: Option<String>,
    message: Option<String>,
    description: Option<String>,
}

#[derive(Default, Deserialize)]
struct Variables {
    tidings_message: Option<String>,
}

/// The reports of a call that a key signed: the HTTP webhook signing key of the account.
pub(crate) fn read(call: &Call<'_>, key: &str) -> Result<Vec<Reported>, Problem> {
    let Body { signature, event_data } = call.json()?;
    let key = hmac::Key::new(hmac::HMAC_SHA256, key.as_bytes());
    let signed = format!("{}{}", signature.timestamp, signature.token);
    let wanted = hex(hmac::sign(&key, signed.as_bytes()).as_ref());
    let is_signed = wanted.as_bytes().ct_eq(signature.signature.as_bytes());
    if !bool::from(is_signed) {
        return Err(not_signed("the signature is another one"));
    }
    // The event is not signed, so its own time says nothing.
    let signed = call.of_second(&signature.timestamp)?;
    Ok(reported(event_data, signed).into_iter().collect())
}

fn reported(line: MailgunEvent, signed: Instant) -> Option<Reported> {
    let DeliveryStatus { code, enhanced_code, message, description } = line.delivery_status;
    let words = [message, description].map(Option::unwrap_or_default).join(" ");
    let status = enhanced_code
        .as_deref()
        .and_then(EnhancedStatus::find)
        .or_else(|| EnhancedStatus::find(&words));
    let event = match (&*line.event, line.severity.as_deref()) {
        ("delivered", _) => MailEvent::Delivered,
        ("failed", Some("temporary")) => MailEvent::Delayed,
        ("failed", _) => MailEvent::of_refusal(&words, status),
        ("complained", _) => MailEvent::Complained,
        ("unsubscribed", _) => MailEvent::OptedOut,
        ("opened", _) => MailEvent::Opened,
        ("clicked", _) => MailEvent::Clicked,
        _ => return None,
    };
    let code = code.map(|code| code.to_string());
    let status = status.map(|status| status.to_string());
    Some(Reported {
        at: Some(signed),
        address: None,
        named: Vec::new(),
        event,
        channel: EMAIL_NO,
        by: "mailgun",
        hints: line.user_variables.tidings_message.into_iter().collect(),
        words: code.into_iter().chain(status).collect::<Vec<_>>().join(" "),
    })
}
