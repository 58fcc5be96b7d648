//! Webhooks: a signed call to an address of the recipient ([Standard Webhooks](https://www.standardwebhooks.com)).

use serde_json::{Value, json};
use tidings_core::Instant;
use tidings_core::model::SuppressedFor;

use super::super::{Outcome, ProviderOpenError, Rendered, WebhookKey};
use super::{AllowedHosts, EndpointRoute, HttpAnswer, HttpRequest, ProviderUrl, Shape};

/// The form of its address.
pub(crate) const FORM: &str = "webhook://${SECRET}";

/// The header with the call's id.
pub(crate) const ID: &str = "webhook-id";
/// The header with the time of the signature.
pub(crate) const TIMESTAMP: &str = "webhook-timestamp";

/// The id of the call for a message: the same for every attempt, so that the receiver knows what it has had.
pub(crate) fn id_of(message: &Rendered) -> String {
    format!("msg_{}", message.head.id)
}

/// The body of the call for a message.
pub(crate) fn body_of(message: &Rendered) -> Value {
    let data: Value = serde_json::from_slice(&message.bytes).unwrap_or_default();
    json!({ "type": "notification.message", "timestamp": data["at"], "data": data })
}

/// Calls that are signed by a secret.
pub(crate) struct Webhook {
    /// `None` = its secret is not looked up.
    key: Option<WebhookKey>,
    detour: EndpointRoute,
}

impl Webhook {
    pub(crate) fn parse(mut url: ProviderUrl<'_>) -> Result<Self, ProviderOpenError> {
        let secret = url.secret_place()?;
        let fault = |why| ProviderOpenError::Address(format!("its secret {why}"));
        let shape = Self {
            key: if secret.is_empty() {
                None
            } else {
                Some(WebhookKey::parse(&secret).map_err(fault)?)
            },
            detour: url.detour()?,
        };
        url.done().map(|()| shape)
    }
}

impl Shape for Webhook {
    fn shown(&self) -> String {
        format!("webhook {}", self.detour.shown())
    }

    fn reach(&self) -> AllowedHosts {
        self.detour.reach()
    }

    fn answers_for_all(&self) -> bool {
        false
    }

    fn request(&self, message: &Rendered, to: &str, now: Instant) -> Result<HttpRequest, Outcome> {
        let body = body_of(message).to_string();
        let id = id_of(message);
        let unix_s = now.0.div_euclid(1_000);
        let key =
            self.key.as_ref().ok_or_else(|| Outcome::away("there is no secret to sign with"))?;
        let signature = key.sign(&id, unix_s, &body);
        let request = HttpRequest {
            method: "POST",
            url: self.detour.to(to),
            headers: vec![("content-type", "application/json".to_owned())],
            body: body.into_bytes(),
        };
        Ok(request
            .with(ID, id)
            .with(TIMESTAMP, unix_s.to_string())
            .with("webhook-signature", signature))
    }

    fn outcome(&self, answer: &HttpAnswer, now: Instant) -> Outcome {
        match answer.of_address(None, now) {
            // It is gone only where it says so.
            Outcome::Failed { why, .. } => Outcome::Failed {
                why,
                suppress: (answer.status == 410).then_some(SuppressedFor::Gone),
            },
            other => other,
        }
    }
}
