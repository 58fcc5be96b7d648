//! The calls of SendGrid's Event Webhook, signed by ECDSA.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::signature::{ECDSA_P256_SHA256_ASN1, UnparsedPublicKey};
use serde::Deserialize;
use tidings_core::Instant;
use tidings_core::model::EMAIL_NO;
use tidings_mail::{EnhancedStatus, MailEvent};

use super::call::{Call, not_signed};
use super::reported::Reported;
use crate::error::Problem;

/// The bytes of an uncompressed point of P-256, with which a key in DER ends.
const POINT_BYTES: usize = 65;

#[derive(Deserialize)]
struct SendGridEvent {
    event: String,
    #[serde(rename = "type")]
    kind: Option<String>,
    status: Option<String>,
    reason: Option<String>,
    tidings_message: Option<String>,
    /// The second of the event.
    timestamp: Option<i64>,
}

/// The reports of a call that a key signed: that of the webhook's settings, DER in base64.
pub(crate) fn read(call: &Call<'_>, key: &str) -> Result<Vec<Reported>, Problem> {
    let header = |name| call.header(name).ok_or_else(|| not_signed(name));
    let time = header("x-twilio-email-event-webhook-timestamp")?;
    let signature = header("x-twilio-email-event-webhook-signature")?;
    if !is_signed(call, time, signature, key) {
        return Err(not_signed("the signature is another one"));
    }
    let signed = call.of_second(time)?;
    let lines: Vec<SendGridEvent> = call.json()?;
    let reports = lines.into_iter();
    Ok(reports.filter_map(|line| reported(line, signed)).collect())
}

fn is_signed(call: &Call<'_>, time: &str, signature: &str, key: &str) -> bool {
    let (Ok(key), Ok(signature)) = (STANDARD.decode(key.trim()), STANDARD.decode(signature)) else {
        return false;
    };
    let Some(point) = key.last_chunk::<POINT_BYTES>() else {
        return false;
    };
    let signed = [time.as_bytes(), call.body].concat();
    let key = UnparsedPublicKey::new(&ECDSA_P256_SHA256_ASN1, point);
    key.verify(&signed, &signature).is_ok()
}

fn reported(line: SendGridEvent, signed: Instant) -> Option<Reported> {
    let status = line.status.as_deref().and_then(EnhancedStatus::find);
    let words = line.reason.as_deref().unwrap_or_default();
    let event = match &*line.event {
        "delivered" => MailEvent::Delivered,
        "deferred" => MailEvent::Delayed,
        // Refused by policy, and not for the address.
        "bounce" if line.kind.as_deref() == Some("blocked") => MailEvent::Blocked,
        "bounce" => MailEvent::of_refusal(words, status),
        "spamreport" => MailEvent::Complained,
        "unsubscribe" | "group_unsubscribe" => MailEvent::OptedOut,
        "group_resubscribe" => MailEvent::OptedIn,
        "open" => MailEvent::Opened,
        "click" => MailEvent::Clicked,
        _ => return None,
    };
    let at = line.timestamp.and_then(|second| second.checked_mul(1_000));
    Some(Reported {
        at: Some(at.map_or(signed, |at| Instant(at).min(signed))),
        address: None,
        named: Vec::new(),
        event,
        channel: EMAIL_NO,
        by: "sendgrid",
        hints: line.tidings_message.into_iter().collect(),
        words: status.map(|status| status.to_string()).unwrap_or_default(),
    })
}
