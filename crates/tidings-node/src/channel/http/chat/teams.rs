//! Microsoft Teams: to webhooks of workflows, as adaptive cards.

use serde_json::{Value, json};
use tidings_core::Instant;

use crate::channel::http::note::Note;
use crate::channel::http::{
    AllowedHosts, EndpointRoute, HttpAnswer, HttpRequest, ProviderUrl, Shape,
};
use crate::channel::{Outcome, ProviderOpenError, Rendered};

/// The form of its address.
pub(crate) const FORM: &str = "teams://";

/// Webhooks of Teams.
pub(crate) struct Teams(EndpointRoute);

impl Teams {
    pub(crate) fn parse(mut url: ProviderUrl<'_>) -> Result<Self, ProviderOpenError> {
        url.nowhere()?;
        let shape = Self(url.detour()?);
        url.done().map(|()| shape)
    }
}

/// A paragraph in which nothing is markup.
fn paragraph(text: &str, weight: &str) -> Value {
    json!({
        "type": "RichTextBlock",
        "inlines": [{ "type": "TextRun", "text": text, "weight": weight }],
    })
}

impl Shape for Teams {
    fn shown(&self) -> String {
        format!("teams {}", self.0.shown())
    }

    fn reach(&self) -> AllowedHosts {
        self.0.reach()
    }

    fn answers_for_all(&self) -> bool {
        false
    }

    fn request(&self, message: &Rendered, to: &str, _now: Instant) -> Result<HttpRequest, Outcome> {
        let Note { title, text, url } = Note::of(message)?;
        let mut paragraphs = vec![paragraph(&title, "Bolder")];
        if !text.is_empty() {
            paragraphs.push(paragraph(&text, "Default"));
        }
        let mut card = json!({
            "type": "AdaptiveCard",
            "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
            "version": "1.4",
            "fallbackText": title,
            "body": paragraphs,
        });
        if let Some(url) = url {
            card["actions"] = json!([{ "type": "Action.OpenUrl", "title": title, "url": url }]);
        }
        let body = json!({
            "type": "message",
            "attachments": [{
                "contentType": "application/vnd.microsoft.card.adaptive",
                "content": card,
            }],
        });
        Ok(HttpRequest::json(self.0.to(to), &body))
    }

    fn outcome(&self, answer: &HttpAnswer, now: Instant) -> Outcome {
        answer.of_address(answer.json()["error"]["code"].as_str(), now)
    }
}
