//! SendGrid, API v3: mails in parts.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tidings_core::Instant;
use tidings_mail::{OperatorFault, RefusalStage, Verdict};

use super::mime::{Parts, known_by};
use super::refused::MailAnswer;
use crate::channel::http::{HttpAnswer, HttpRequest, ProviderUrl, Shape, sent};
use crate::channel::{Outcome, ProviderOpenError, Rendered};

/// The form of its address.
pub(crate) const FORM: &str = "sendgrid://${KEY}";

/// A SendGrid account.
pub(crate) struct SendGrid {
    key: String,
    base: String,
}

impl SendGrid {
    pub(crate) fn parse(mut url: ProviderUrl<'_>) -> Result<Self, ProviderOpenError> {
        let shape = Self { key: url.secret_place()?, base: url.base("https://api.sendgrid.com")? };
        url.done().map(|()| shape)
    }
}

/// The instant in seconds at which a limit ends.
fn reset_ms(answer: &HttpAnswer, now: Instant) -> Option<i64> {
    let at_s: i64 = answer.header("x-ratelimit-reset")?.parse().ok()?;
    let wait_ms = at_s.checked_mul(1_000)? - now.0;
    (1..=3_600_000).contains(&wait_ms).then_some(wait_ms)
}

impl Shape for SendGrid {
    fn shown(&self) -> String {
        format!("sendgrid {}", self.base)
    }

    fn request(&self, message: &Rendered, to: &str, _now: Instant) -> Result<HttpRequest, Outcome> {
        let parts = Parts::of(message)?;
        let mut from = json!({ "email": message.from });
        if let Some(name) = parts.from_name {
            from["name"] = Value::from(name);
        }
        let headers: serde_json::Map<String, Value> = parts
            .headers
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value.into()))
            .collect();
        let body = json!({
            "personalizations": [{ "to": [{ "email": to }] }],
            "from": from,
            "subject": parts.subject,
            "content": [
                { "type": "text/plain", "value": parts.text },
                { "type": "text/html", "value": parts.html },
            ],
            "headers": headers,
            "custom_args": known_by(message).into_iter().collect::<BTreeMap<_, _>>(),
        });
        let url = format!("{}/v3/mail/send", self.base);
        let key = format!("Bearer {}", self.key);
        Ok(HttpRequest::json(url, &body).with("authorization", key))
    }

    fn outcome(&self, answer: &HttpAnswer, now: Instant) -> Outcome {
        let json = answer.json();
        let field = json["errors"][0]["field"].as_str();
        let text = json["errors"][0]["message"].as_str().unwrap_or_default();
        let is_of = |begin: &str| field.is_some_and(|field| field.starts_with(begin));
        let is_recipient =
            is_of("personalizations.") && field.is_some_and(|field| field.ends_with(".email"));
        let (stage, verdict) = if is_recipient {
            (RefusalStage::Recipient, Some(Verdict::Gone))
        } else if is_of("from") || is_of("reply_to") {
            (RefusalStage::Mail, Some(Verdict::Ours(OperatorFault::Sender)))
        } else if text.contains("credits exceeded") {
            (RefusalStage::Connect, Some(Verdict::Ours(OperatorFault::Quota)))
        } else {
            (RefusalStage::Data, None)
        };
        let mail_answer = MailAnswer { code: field, text, stage, verdict };
        match answer.of_mail(mail_answer, now) {
            Outcome::Sent(_) => sent(answer.header("x-message-id")),
            Outcome::Away { scope, why, after_ms: None } if answer.status == 429 => {
                Outcome::Away { scope, why, after_ms: reset_ms(answer, now) }
            }
            other => other,
        }
    }
}
