//! Twilio: text messages.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use tidings_core::Instant;
use tidings_core::model::SuppressedFor;

use crate::channel::http::note::Note;
use crate::channel::http::{HttpAnswer, HttpRequest, ProviderUrl, Shape, sent, sms};
use crate::channel::{Outcome, ProviderOpenError, Rendered};

/// The form of its address.
pub(crate) const FORM: &str = "twilio://ACCOUNT_SID:${AUTH_TOKEN}";

/// An account of Twilio.
pub(crate) struct Twilio {
    account: String,
    token: String,
    base: String,
}

impl Twilio {
    pub(crate) fn parse(mut url: ProviderUrl<'_>) -> Result<Self, ProviderOpenError> {
        let (account, token) = url.user()?;
        let shape = Self { account, token, base: url.base("https://api.twilio.com")? };
        url.done().map(|()| shape)
    }
}

impl Shape for Twilio {
    fn shown(&self) -> String {
        format!("twilio {}", self.base)
    }

    fn request(&self, message: &Rendered, to: &str, _now: Instant) -> Result<HttpRequest, Outcome> {
        let text = sms::text_of(&Note::of(message)?);
        // A messaging service has an id in place of a number.
        let sender = if message.from.starts_with("MG") { "MessagingServiceSid" } else { "From" };
        let fields = [("To", to), (sender, &message.from), ("Body", &text)];
        let form = fields.map(|(name, value)| {
            format!("{name}={}", utf8_percent_encode(value, NON_ALPHANUMERIC))
        });
        let login = STANDARD.encode(format!("{}:{}", self.account, self.token));
        Ok(HttpRequest {
            method: "POST",
            url: format!("{}/2010-04-01/Accounts/{}/Messages.json", self.base, self.account),
            headers: vec![
                ("content-type", "application/x-www-form-urlencoded".to_owned()),
                ("authorization", format!("Basic {login}")),
            ],
            body: form.join("&").into_bytes(),
        })
    }

    fn outcome(&self, answer: &HttpAnswer, now: Instant) -> Outcome {
        let json = answer.json();
        let code = json["code"].as_i64().unwrap_or_default();
        let shown = (code != 0).then(|| code.to_string());
        match (answer.of_provider(shown.as_deref(), now), code) {
            (Outcome::Sent(_), _) => {
                // The parts that are paid for, where it knows them yet.
                let parts = json["num_segments"].as_str().filter(|parts| *parts != "0");
                let sid = json["sid"].as_str();
                let shown = sid.zip(parts).map(|(sid, parts)| format!("{sid}, parts: {parts}"));
                sent(shown.as_deref().or(sid))
            }
            // No number, and one that can't have texts.
            (Outcome::Failed { why, .. }, 21211 | 21214 | 21217 | 21614) => {
                Outcome::Failed { why, suppress: Some(SuppressedFor::Gone) }
            }
            // Its owner has answered STOP.
            (Outcome::Failed { why, .. }, 21610) => {
                Outcome::Failed { why, suppress: Some(SuppressedFor::Stop) }
            }
            // Our numbers, our messaging service, our account.
            (
                Outcome::Failed { why, .. },
                20404 | 21212 | 21603 | 21606 | 21659 | 21660 | 21703 | 21704 | 21705 | 63038,
            ) => Outcome::away(why),
            (other, _) => other,
        }
    }
}
