//! Slack: to channels and members by a bot, and to incoming webhooks.

use serde_json::json;
use tidings_core::Instant;
use tidings_core::model::SuppressedFor;

use crate::channel::http::note::Note;
use crate::channel::http::{
    AllowedHosts, EndpointRoute, HttpAnswer, HttpRequest, ProviderUrl, Shape, sent,
};
use crate::channel::{Outcome, ProviderOpenError, Rendered, Scope};

/// The form of its address.
pub(crate) const FORM: &str = "slack://${BOT_TOKEN}";

/// The most characters of a message, of 4,000 that Slack advises.
pub(crate) const CHARS_MAX: usize = 3_000;

/// A workspace of Slack.
pub(crate) struct Slack {
    /// The bot's token; without one only webhooks are called.
    token: Option<String>,
    base: String,
    detour: EndpointRoute,
}

impl Slack {
    pub(crate) fn parse(mut url: ProviderUrl<'_>) -> Result<Self, ProviderOpenError> {
        let token = url.secret_place_or_none()?;
        let detour = url.detour()?;
        let shape = Self { token, base: detour.to("https://slack.com"), detour };
        url.done().map(|()| shape)
    }
}

/// A text in which nothing is markup.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

impl Shape for Slack {
    fn shown(&self) -> String {
        format!("slack {}", self.base)
    }

    /// Anywhere: the addresses that recipients give are of Slack's own hosts.
    fn reach(&self) -> AllowedHosts {
        AllowedHosts::Anywhere
    }

    fn request(&self, message: &Rendered, to: &str, _now: Instant) -> Result<HttpRequest, Outcome> {
        let mut body = json!({
            "text": escaped(&Note::of(message)?.lines(CHARS_MAX)),
            "mrkdwn": false,
            // No preview of the link, on either way.
            "unfurl_links": false,
            "unfurl_media": false,
        });
        if to.starts_with("https://") {
            return Ok(HttpRequest::json(self.detour.to(to), &body));
        }
        let Some(token) = &self.token else {
            return Err(Outcome::Failed {
                why: "`slack://` has no bot's token, so it calls webhooks only".to_owned(),
                suppress: None,
            });
        };
        body["channel"] = json!(to);
        let url = format!("{}/api/chat.postMessage", self.base);
        Ok(HttpRequest::json(url, &body).with("authorization", format!("Bearer {token}")))
    }

    fn outcome(&self, answer: &HttpAnswer, now: Instant) -> Outcome {
        let json = answer.json();
        let Some(is_ok) = json["ok"].as_bool() else {
            return of_webhook(answer, now);
        };
        let error = json["error"].as_str().unwrap_or_default();
        if answer.status == 200 && is_ok {
            return sent(json["ts"].as_str());
        }
        if answer.status != 200 {
            return answer.of_provider(Some(error), now);
        }
        let why = answer.why(Some(error));
        match error {
            "channel_not_found" | "user_not_found" | "is_archived" | "users_not_found"
            | "cannot_dm_bot" | "user_disabled" => {
                Outcome::Failed { why, suppress: Some(SuppressedFor::Gone) }
            }
            "account_inactive"
            | "ekm_access_denied"
            | "invalid_auth"
            | "missing_scope"
            | "no_permission"
            | "not_authed"
            | "org_login_required"
            | "ratelimited"
            | "service_unavailable"
            | "team_added_to_org"
            | "token_expired"
            | "token_revoked" => {
                Outcome::Away { scope: Scope::Provider, why, after_ms: answer.retry_after_ms(now) }
            }
            // It may have succeeded in part.
            "fatal_error" | "internal_error" => Outcome::Unknown { why },
            "request_timeout" | "message_limit_exceeded" | "rate_limited" => {
                Outcome::Retry { why, after_ms: answer.retry_after_ms(now) }
            }
            _ => Outcome::Failed { why, suppress: None },
        }
    }
}

/// The outcome of an incoming webhook, whose answer has words beside the status.
fn of_webhook(answer: &HttpAnswer, now: Instant) -> Outcome {
    let text = String::from_utf8_lossy(&answer.body);
    let code = text.trim();
    let is_gone = matches!(
        code,
        "channel_not_found" | "channel_is_archived" | "no_service" | "no_service_id" | "no_team"
    );
    match answer.of_address(Some(code), now) {
        Outcome::Failed { why, .. } => {
            Outcome::Failed { why, suppress: is_gone.then_some(SuppressedFor::Gone) }
        }
        other => other,
    }
}
