//! Webhooks: a signed call to an address of the recipient ([Standard Webhooks](https://www.standardwebhooks.com)).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::hmac;
use serde_json::{Value, json};
use tidings_core::Instant;
use tidings_core::suppression::SuppressedFor;

use super::super::{Outcome, ProviderError, Rendered};
use super::{Answer, Detour, ProviderUrl, Reach, Request, Shape};

/// The form of its address.
pub(crate) const FORM: &str = "webhook://${SECRET}";

/// The prefix of a secret in the form that the specification gives it; the rest is base64.
const SECRET_PREFIX: &str = "whsec_";
/// The fewest and the most bytes of a secret, by the specification.
const SECRET_BYTES: std::ops::RangeInclusive<usize> = 24..=64;

/// Calls that are signed by a secret.
pub(crate) struct Webhook {
    key: hmac::Key,
    detour: Detour,
}

impl Webhook {
    pub(crate) fn parse(mut url: ProviderUrl<'_>) -> Result<Self, ProviderError> {
        let secret = url.secret_place()?;
        let shape = Self {
            key: key_of(&secret).map_err(|why| ProviderError::Address(why.to_owned()))?,
            detour: url.detour()?,
        };
        url.done().map(|()| shape)
    }
}

/// The key of a secret; an empty one stands for one that is not looked up.
fn key_of(secret: &str) -> Result<hmac::Key, &'static str> {
    let bytes = match secret.strip_prefix(SECRET_PREFIX) {
        Some(text) => STANDARD
            .decode(text)
            .map_err(|_| "its secret is not base64 after `whsec_`")?,
        None => secret.as_bytes().to_vec(),
    };
    if !secret.is_empty() && !SECRET_BYTES.contains(&bytes.len()) {
        return Err("its secret wants 24 to 64 bytes");
    }
    Ok(hmac::Key::new(hmac::HMAC_SHA256, &bytes))
}

/// The signature of a call (Standard Webhooks, version 1).
fn signature(key: &hmac::Key, id: &str, unix_s: i64, body: &str) -> String {
    let signed = hmac::sign(key, format!("{id}.{unix_s}.{body}").as_bytes());
    format!("v1,{}", STANDARD.encode(signed))
}

impl Shape for Webhook {
    fn shown(&self) -> String {
        format!("webhook {}", self.detour.shown())
    }

    fn reach(&self) -> Reach {
        self.detour.reach()
    }

    fn answers_for_all(&self) -> bool {
        false
    }

    fn request(&self, message: &Rendered, to: &str, now: Instant) -> Result<Request, Outcome> {
        let data: Value = serde_json::from_slice(&message.bytes).unwrap_or_default();
        let body = json!({
            "type": "notification.message",
            "timestamp": data["at"],
            "data": data,
        })
        .to_string();
        // The same for every attempt, so that the receiver knows what it has had.
        let id = format!("msg_{}", message.head.id);
        let unix_s = now.0.div_euclid(1_000);
        let signature = signature(&self.key, &id, unix_s, &body);
        let request = Request {
            url: self.detour.to(to),
            headers: vec![("content-type", "application/json".to_owned())],
            body: body.into_bytes(),
        };
        Ok(request
            .with("webhook-id", id)
            .with("webhook-timestamp", unix_s.to_string())
            .with("webhook-signature", signature))
    }

    fn outcome(&self, answer: &Answer, now: Instant) -> Outcome {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The case of the specification's libraries (`standard_webhooks.json`).
    #[test]
    fn a_signature_is_that_of_the_specifications_libraries() {
        let key = key_of("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let signed = signature(
            &key,
            "msg_p5jXN8AQM9LWM0D4loKWxJek",
            1_614_265_330,
            "{\"test\": 2432232314}",
        );
        assert_eq!(signed, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn a_secret_is_neither_short_nor_broken() {
        assert!(key_of("").is_ok(), "not looked up");
        assert!(key_of(&"k".repeat(24)).is_ok());
        for bad in ["short", "whsec_c2hvcnQ=", "whsec_!", &"k".repeat(65)] {
            assert!(key_of(bad).is_err(), "{bad}");
        }
    }
}
