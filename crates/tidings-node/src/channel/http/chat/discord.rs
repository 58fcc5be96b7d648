//! Discord: to channels by a bot, and to webhooks.

use serde_json::json;
use tidings_core::Instant;
use tidings_core::model::SuppressedFor;

use crate::channel::http::note::Note;
use crate::channel::http::{
    AllowedHosts, EndpointRoute, HttpAnswer, HttpRequest, ProviderUrl, Shape, sent,
};
use crate::channel::{Outcome, ProviderOpenError, Rendered, Scope};

/// The form of its address.
pub(crate) const FORM: &str = "discord://${BOT_TOKEN}";

/// The most characters of a message.
pub(crate) const CHARS_MAX: usize = 2_000;

/// A bot of Discord.
pub(crate) struct Discord {
    /// The bot's token; without one only webhooks are called.
    token: Option<String>,
    base: String,
    detour: EndpointRoute,
}

impl Discord {
    pub(crate) fn parse(mut url: ProviderUrl<'_>) -> Result<Self, ProviderOpenError> {
        let token = url.secret_place_or_none()?;
        let detour = url.detour()?;
        let shape = Self { token, base: detour.to("https://discord.com"), detour };
        url.done().map(|()| shape)
    }
}

/// A text in which nothing is markup.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if "\\*_~`|>#-[]()<@".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

impl Shape for Discord {
    fn shown(&self) -> String {
        format!("discord {}", self.base)
    }

    /// Anywhere: the addresses that recipients give are of Discord's own hosts.
    fn reach(&self) -> AllowedHosts {
        AllowedHosts::Anywhere
    }

    fn request(&self, message: &Rendered, to: &str, _now: Instant) -> Result<HttpRequest, Outcome> {
        let Note { title, text, url } = Note::of(message)?;
        let words = Note { title: escaped(&title), text: escaped(&text), url };
        let body = json!({
            "content": words.lines(CHARS_MAX),
            // Nobody is called by what a title says.
            "allowed_mentions": { "parse": [] },
        });
        if to.starts_with("https://") {
            let query = if to.contains('?') { '&' } else { '?' };
            let url = format!("{}{query}wait=true", self.detour.to(to));
            return Ok(HttpRequest::json(url, &body));
        }
        let Some(token) = &self.token else {
            return Err(Outcome::Failed {
                why: "`discord://` has no bot's token, so it calls webhooks only".to_owned(),
                suppress: None,
            });
        };
        let url = format!("{}/api/v10/channels/{to}/messages", self.base);
        Ok(HttpRequest::json(url, &body).with("authorization", format!("Bot {token}")))
    }

    fn outcome(&self, answer: &HttpAnswer, now: Instant) -> Outcome {
        let json = answer.json();
        let code = json["code"].as_i64().unwrap_or_default();
        let shown = (code != 0).then(|| code.to_string());
        match (answer.of_address(shown.as_deref(), now), code) {
            (Outcome::Sent(_), _) => sent(json["id"].as_str()),
            // The bot's own token.
            (Outcome::Failed { why, .. }, 0 | 40001) if answer.status == 401 => Outcome::away(why),
            // A channel, a webhook or a member that is no more, or does not want us.
            (Outcome::Failed { why, .. }, 10003 | 10013 | 10015 | 50001 | 50007 | 50027) => {
                Outcome::Failed { why, suppress: Some(SuppressedFor::Gone) }
            }
            (Outcome::Retry { why, after_ms }, _) if answer.status == 429 => {
                let retry_after_s = json["retry_after"].as_f64();
                #[expect(
                    clippy::cast_possible_truncation,
                    reason = "seconds, and a cast stops at the bounds"
                )]
                let after_ms = after_ms.or(retry_after_s.map(|s| (s * 1_000.0).ceil() as i64));
                match json["global"].as_bool() {
                    Some(true) => Outcome::Away { scope: Scope::Provider, why, after_ms },
                    _ => Outcome::Retry { why, after_ms },
                }
            }
            (other, _) => other,
        }
    }
}
