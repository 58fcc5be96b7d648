//! Postmark: mails in parts.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tidings_core::Instant;
use tidings_mail::{OperatorFault, RefusalStage, Verdict};

use super::mime::{Parts, known_by};
use super::refused::MailAnswer;
use crate::channel::http::{HttpAnswer, HttpRequest, ProviderUrl, Shape, sent};
use crate::channel::{Outcome, ProviderOpenError, Rendered};

/// The form of its address.
pub(crate) const FORM: &str = "postmark://${TOKEN}";

/// A server of a Postmark account.
pub(crate) struct Postmark {
    token: String,
    stream: Option<String>,
    base: String,
}

impl Postmark {
    pub(crate) fn parse(mut url: ProviderUrl<'_>) -> Result<Self, ProviderOpenError> {
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

    fn request(&self, message: &Rendered, to: &str, _now: Instant) -> Result<HttpRequest, Outcome> {
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
        let request = HttpRequest::json(format!("{}/email", self.base), &body)
            .with("accept", "application/json")
            .with("x-postmark-server-token", self.token.as_str());
        Ok(request)
    }

    fn outcome(&self, answer: &HttpAnswer, now: Instant) -> Outcome {
        let json = answer.json();
        let code = json["ErrorCode"].as_i64().unwrap_or_default();
        let shown = (code != 0).then(|| code.to_string());
        let text = json["Message"].as_str().unwrap_or_default();
        // Only the faults of a request (300) name the field, and only there.
        let names = |field: &str| code == 300 && text.contains(field);
        let (stage, verdict) = match code {
            // An inactive recipient: one that bounced or complained before.
            406 => (RefusalStage::Recipient, Some(Verdict::Gone)),
            400 | 401 => (RefusalStage::Mail, Some(Verdict::Ours(OperatorFault::Sender))),
            // Out of credits.
            405 => (RefusalStage::Connect, Some(Verdict::Ours(OperatorFault::Quota))),
            // The token, the approval of the account, the stream.
            10 | 412 | 413 | 1235 | 1236 => {
                (RefusalStage::Connect, Some(Verdict::Ours(OperatorFault::Access)))
            }
            _ if names("'From'") || names("'ReplyTo'") => (RefusalStage::Mail, None),
            _ if names("'To'") => (RefusalStage::Recipient, None),
            _ => (RefusalStage::Data, None),
        };
        let mail_answer = MailAnswer { code: shown.as_deref(), text, stage, verdict };
        match answer.of_mail(mail_answer, now) {
            Outcome::Sent(_) if code == 0 => sent(json["MessageID"].as_str()),
            other => other,
        }
    }
}
