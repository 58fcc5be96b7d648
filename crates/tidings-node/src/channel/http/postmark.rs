//! Postmark: mails in parts.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tidings_core::Instant;
use tidings_core::suppression::SuppressedFor;

use super::super::{Outcome, ProviderError, Rendered};
use super::mime::{Parts, known_by};
use super::{Answer, ProviderUrl, Request, Shape, sent};

/// The form of its address.
pub(crate) const FORM: &str = "postmark://${TOKEN}";

/// A server of a Postmark account.
pub(crate) struct Postmark {
    token: String,
    stream: Option<String>,
    base: String,
}

impl Postmark {
    pub(crate) fn parse(mut url: ProviderUrl<'_>) -> Result<Self, ProviderError> {
        let shape = Self {
            token: url.secret_place()?,
            stream: url.option("stream")?,
            base: url.base("https://api.postmarkapp.com")?,
        };
        url.done().map(|()| shape)
    }
}

impl Shape for Postmark {
    fn shown(&self) -> String {
        format!("postmark {}", self.base)
    }

    fn request(&self, message: &Rendered, to: &str, _now: Instant) -> Result<Request, Outcome> {
        let parts = Parts::of(message)?;
        let from = match parts.from_name {
            Some(name) => {
                let name = name.replace(['"', '\\'], "");
                format!("\"{name}\" <{}>", message.from)
            }
            None => message.from.clone(),
        };
        let headers = parts
            .headers
            .into_iter()
            // Without it Postmark writes a Message-ID of its own.
            .chain([("X-PM-KeepID", "true".to_owned())])
            .map(|(name, value)| json!({ "Name": name, "Value": value }));
        let mut body = json!({
            "From": from,
            "To": to,
            "Subject": parts.subject,
            "TextBody": parts.text,
            "HtmlBody": parts.html,
            "Headers": headers.collect::<Vec<_>>(),
            "Metadata": known_by(message).into_iter().collect::<BTreeMap<_, _>>(),
        });
        if let Some(stream) = &self.stream {
            body["MessageStream"] = Value::from(stream.as_str());
        }
        let request = Request::json(format!("{}/email", self.base), &body)
            .with("accept", "application/json")
            .with("x-postmark-server-token", self.token.as_str());
        Ok(request)
    }

    fn outcome(&self, answer: &Answer, now: Instant) -> Outcome {
        let json = answer.json();
        let code = json["ErrorCode"].as_i64().unwrap_or_default();
        let shown = (code != 0).then(|| code.to_string());
        match (answer.of_provider(shown.as_deref(), now), code) {
            (Outcome::Sent(_), 0) => sent(json["MessageID"].as_str()),
            // An inactive recipient: one that bounced or complained before.
            (Outcome::Failed { why, .. }, 406) => Outcome::Failed {
                why,
                suppress: Some(SuppressedFor::Bounce),
            },
            (Outcome::Failed { why, .. }, code) if is_of_account(code) => Outcome::away(why),
            (other, _) => other,
        }
    }
}

/// Tells whether an error is about the account: its token, senders, credits, approval, streams.
fn is_of_account(code: i64) -> bool {
    matches!(code, 10 | 400 | 401 | 405 | 412 | 413 | 1235 | 1236)
}
