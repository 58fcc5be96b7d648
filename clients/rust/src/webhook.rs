//! Signatures of webhooks (Standard Webhooks): what hooks and the webhook channel send is from the server, and new.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::HeaderMap;
use ring::hmac;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::generated::error::Error;

/// The time by which that of a webhook may be off.
const TOLERANCE: Duration = Duration::from_secs(300);

/// The secrets with which webhooks are checked.
#[derive(Clone)]
pub struct Webhook {
    keys: Vec<hmac::Key>,
    tolerance: Duration,
}

impl std::fmt::Debug for Webhook {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Webhook").field("tolerance", &self.tolerance).finish_non_exhaustive()
    }
}

/// A webhook whose signature is right.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct Hook {
    /// The id of what has occurred, the same at every try (`webhook-id`): what was taken once is not taken again.
    #[serde(skip)]
    pub id: String,
    /// The name of what has occurred.
    #[serde(rename = "type", default)]
    pub type_: String,
    /// When it did.
    #[serde(default)]
    pub timestamp: String,
    /// The occurrence.
    #[serde(default)]
    pub data: Value,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// The reason why a webhook is not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WebhookError {
    /// A header is missing, or can't be read.
    #[error("the webhook has no header `{0}`")]
    Header(&'static str),
    /// It was sent too long ago, or is from the future.
    #[error("the webhook's time is too far from now")]
    Time,
    /// No signature is that of a secret.
    #[error("no signature of the webhook is that of the secret")]
    Signature,
    /// The body is none.
    #[error("the webhook's body is no JSON object: {0}")]
    Body(String),
}

impl Webhook {
    /// The check with the secret of `[[hooks]]` or of the webhook channel, `whsec_` and base64, or any text.
    ///
    /// # Errors
    /// [`Error::Invalid`] where what follows `whsec_` is no base64.
    pub fn new(secret: &str) -> Result<Self, Error> {
        Ok(Self { keys: vec![key(secret)?], tolerance: TOLERANCE })
    }

    /// Takes another secret too, while one is replaced.
    ///
    /// # Errors
    /// As [`Webhook::new`].
    pub fn or(mut self, secret: &str) -> Result<Self, Error> {
        self.keys.push(key(secret)?);
        Ok(self)
    }

    /// Sets the time by which a webhook's may be off; five minutes by default.
    #[must_use]
    pub fn tolerance(self, tolerance: Duration) -> Self {
        Self { tolerance, ..self }
    }

    /// Checks a webhook and reads it. `body` is the body as it came: JSON that was read and written again has another
    /// signature.
    ///
    /// # Errors
    /// [`WebhookError`]: answer 400, and do nothing.
    pub fn verify(&self, headers: &HeaderMap, body: &[u8]) -> Result<Hook, WebhookError> {
        self.verify_at(headers, body, SystemTime::now())
    }

    /// The same at another time.
    ///
    /// # Errors
    /// As [`Webhook::verify`].
    pub fn verify_at(
        &self,
        headers: &HeaderMap,
        body: &[u8],
        now: SystemTime,
    ) -> Result<Hook, WebhookError> {
        let header = |name: &'static str| {
            let value = headers.get(name).and_then(|value| value.to_str().ok());
            value.filter(|value| !value.is_empty()).ok_or(WebhookError::Header(name))
        };
        let (id, sent) = (header("webhook-id")?, header("webhook-timestamp")?);
        let signatures = header("webhook-signature")?;
        let at: u64 = sent.parse().map_err(|_| WebhookError::Time)?;
        let now = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        if now.abs_diff(at) > self.tolerance.as_secs() {
            return Err(WebhookError::Time);
        }
        let signed = [id.as_bytes(), b".", sent.as_bytes(), b".", body].concat();
        let is_ours =
            signatures.split(' ').filter_map(|one| one.strip_prefix("v1,")).any(|signature| {
                let signature = STANDARD.decode(signature).unwrap_or_default();
                self.keys.iter().any(|key| hmac::verify(key, &signed, &signature).is_ok())
            });
        if !is_ours {
            return Err(WebhookError::Signature);
        }
        let hook = serde_json::from_slice::<Hook>(body)
            .map_err(|fault| WebhookError::Body(fault.to_string()))?;
        Ok(Hook { id: id.to_owned(), ..hook })
    }
}

fn key(secret: &str) -> Result<hmac::Key, Error> {
    let secret = secret.trim();
    let bytes = match secret.strip_prefix("whsec_") {
        Some(text) => STANDARD
            .decode(text)
            .map_err(|_| Error::invalid("what follows `whsec_` is no base64"))?,
        None => secret.as_bytes().to_vec(),
    };
    if bytes.is_empty() {
        return Err(Error::invalid("the secret of the webhook is empty"));
    }
    Ok(hmac::Key::new(hmac::HMAC_SHA256, &bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the standard's own libraries.
    const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    const BODY: &[u8] = br#"{"test": 2432232314}"#;
    const SIGNATURE: &str = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
    const SENT: u64 = 1_614_265_330;

    fn headers(sent: &str, signature: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert("webhook-id", "msg_p5jXN8AQM9LWM0D4loKWxJek".parse().unwrap());
        headers.insert("webhook-timestamp", sent.parse().unwrap());
        headers.insert("webhook-signature", signature.parse().unwrap());
        headers
    }

    #[test]
    fn a_signature_is_checked_as_the_standard_says() {
        let webhook = Webhook::new(SECRET).unwrap();
        let at = |seconds: u64| UNIX_EPOCH + Duration::from_secs(seconds);
        let sent = SENT.to_string();
        let check =
            |headers: &HeaderMap, body: &[u8], now| webhook.verify_at(headers, body, at(now));
        let good = headers(&sent, SIGNATURE);
        let hook = check(&good, BODY, SENT).unwrap();
        assert_eq!(hook.id, "msg_p5jXN8AQM9LWM0D4loKWxJek");
        assert_eq!(hook.extra["test"], 2_432_232_314_u64);
        assert!(check(&good, BODY, SENT + 300).is_ok());
        for now in [SENT + 301, SENT - 301, 0] {
            assert_eq!(check(&good, BODY, now), Err(WebhookError::Time));
        }
        assert_eq!(check(&good, b"{}", SENT), Err(WebhookError::Signature));
        assert_eq!(check(&headers("yesterday", SIGNATURE), BODY, SENT), Err(WebhookError::Time));
        for bad in ["v1,", "v1,AAAA", "v2,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=", "x"] {
            assert_eq!(check(&headers(&sent, bad), BODY, SENT), Err(WebhookError::Signature));
        }
        assert!(check(&headers(&sent, &format!("v1a,x v1,AAAA {SIGNATURE}")), BODY, SENT).is_ok());
        let rotated = Webhook::new("another").unwrap().or(SECRET).unwrap();
        assert!(rotated.verify_at(&good, BODY, at(SENT)).is_ok());
        let mut without = good;
        without.remove("webhook-id");
        assert_eq!(check(&without, BODY, SENT), Err(WebhookError::Header("webhook-id")));
        assert!(Webhook::new("whsec_*").is_err() && Webhook::new("").is_err());
    }
}
