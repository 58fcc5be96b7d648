//! Telegram: to chats by a bot.

use serde_json::json;
use tidings_core::Instant;
use tidings_core::model::{SuppressedFor, telegram_chat};

use crate::channel::http::note::Note;
use crate::channel::http::{HttpAnswer, HttpRequest, ProviderUrl, Shape, sent};
use crate::channel::{Outcome, ProviderOpenError, Rendered};

/// The form of its address.
pub(crate) const FORM: &str = "telegram://${BOT_TOKEN}";

/// The most characters of a message.
pub(crate) const CHARS_MAX: usize = 4_096;

/// Telegram's errors for a chat that is gone and for a deleted topic.
const GONE: [&str; 3] = ["chat not found", "PEER_ID_INVALID", "message thread not found"];

/// A bot of Telegram.
pub(crate) struct Telegram {
    token: String,
    base: String,
}

impl Telegram {
    pub(crate) fn parse(mut url: ProviderUrl<'_>) -> Result<Self, ProviderOpenError> {
        let shape =
            Self { token: url.secret_place()?, base: url.base("https://api.telegram.org")? };
        url.done().map(|()| shape)
    }
}

impl Shape for Telegram {
    fn shown(&self) -> String {
        format!("telegram {}", self.base)
    }

    fn request(&self, message: &Rendered, to: &str, _now: Instant) -> Result<HttpRequest, Outcome> {
        // Without `parse_mode` nothing in it is markup.
        let (chat, thread) = telegram_chat(to);
        let mut body = json!({
            "chat_id": chat,
            "text": Note::of(message)?.lines(CHARS_MAX),
            "link_preview_options": { "is_disabled": true },
        });
        if let Some(thread) = thread.and_then(|thread| thread.parse::<i64>().ok()) {
            body["message_thread_id"] = json!(thread);
        }
        let url = format!("{}/bot{}/sendMessage", self.base, self.token);
        Ok(HttpRequest::json(url, &body))
    }

    /// A group has another id once it has become a supergroup.
    fn moved_to(&self, answer: &HttpAnswer, from: &str) -> Option<String> {
        let new = answer.json()["parameters"]["migrate_to_chat_id"].as_i64()?.to_string();
        (answer.status == 400 && new != from).then_some(new)
    }

    fn outcome(&self, answer: &HttpAnswer, now: Instant) -> Outcome {
        let json = answer.json();
        let description = json["description"].as_str().unwrap_or_default();
        match (answer.of_provider(None, now), answer.status) {
            (Outcome::Sent(_), _) => {
                let id = json["result"]["message_id"].as_i64();
                sent(id.map(|id| id.to_string()).as_deref())
            }
            // The member has blocked the bot, or is no more.
            (Outcome::Away { why, .. }, 403) => {
                Outcome::Failed { why, suppress: Some(SuppressedFor::Gone) }
            }
            // The bot's token.
            (Outcome::Failed { why, .. }, 404) => Outcome::away(why),
            (Outcome::Failed { why, .. }, 400) => Outcome::Failed {
                why,
                suppress: GONE
                    .iter()
                    .any(|words| description.contains(words))
                    .then_some(SuppressedFor::Gone),
            },
            // One chat may have too many while others have none.
            (Outcome::Away { why, after_ms, .. }, 429) => {
                let retry_after_s = json["parameters"]["retry_after"].as_i64();
                Outcome::Retry {
                    why,
                    after_ms: after_ms.or(retry_after_s.and_then(|s| s.checked_mul(1_000))),
                }
            }
            (other, _) => other,
        }
    }
}
