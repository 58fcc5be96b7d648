//! Apple's push service: to devices, over HTTP/2, signed by a key of the developer's team.

use std::sync::{Mutex, MutexGuard, PoisonError};

use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair};
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::pki_types::pem::PemObject;
use serde_json::{Value, json};
use tidings_core::Instant;
use tidings_core::model::SuppressedFor;

use super::{fitted, sound, tag};
use crate::channel::http::note::Note;
use crate::channel::http::vouched::DeviceRefusals;
use crate::channel::http::{HttpAnswer, HttpRequest, ProviderUrl, Shape, Version, sent};
use crate::channel::jwt::jwt;
use crate::channel::{MessageHead, Outcome, ProviderOpenError, Rendered};
use crate::delivery::priority::Priority;

/// The form of its address.
pub(crate) const FORM: &str = "apns://KEY_ID:${KEY}@TEAM_ID?topic=org.example.app";

/// The milliseconds for which a token is used: Apple wants another one after 20 to 60 minutes.
const TOKEN_MS: i64 = 40 * 60_000;
/// The seconds for which Apple keeps a message for a device that is away.
const TTL_S: i64 = 86_400;
/// The most bytes of a message.
const BYTES_MAX: usize = 4_096;

/// An app of a developer's team.
pub(crate) struct Apns {
    key_id: String,
    team: String,
    /// The bundle id of the app.
    topic: String,
    /// The sound that is played; `None` = none.
    sound: Option<String>,
    /// `None` = it is not looked up.
    key: Option<EcdsaKeyPair>,
    base: String,
    token: Mutex<Option<(String, Instant)>>,
    vouched: DeviceRefusals,
    random: SystemRandom,
}

fn fault(why: &str) -> ProviderOpenError {
    ProviderOpenError::Address(why.to_owned())
}

impl Apns {
    pub(crate) fn parse(mut url: ProviderUrl<'_>) -> Result<Self, ProviderOpenError> {
        let random = SystemRandom::new();
        let (key_id, pem) = url.user()?;
        let own = match url.option("sandbox")?.as_deref() {
            None | Some("no") => "https://api.push.apple.com",
            Some("yes") => "https://api.sandbox.push.apple.com",
            Some(_) => return Err(fault("`sandbox` is `yes` or `no`")),
        };
        let topic = url.option("topic")?;
        let shape = Self {
            key_id,
            team: url.place("the id of the team")?,
            topic: topic.ok_or_else(|| {
                fault("`topic` is missing: write `?topic=` and the bundle id of the app")
            })?,
            sound: sound(&mut url)?,
            key: if pem.is_empty() { None } else { Some(key_of(&pem, &random)?) },
            base: url.base(own)?,
            token: Mutex::default(),
            vouched: DeviceRefusals::default(),
            random,
        };
        url.done().map(|()| shape)
    }

    fn content(&self, head: &MessageHead, note: &Note, chars_max: usize) -> Value {
        let cut = |text: &str| tidings_mail::cut(text, chars_max);
        let mut aps = json!({ "alert": { "title": cut(&note.title), "body": cut(&note.text) } });
        if let Some(sound) = &self.sound {
            aps["sound"] = Value::from(sound.as_str());
        }
        if let Some(badge) = head.badge {
            aps["badge"] = Value::from(badge);
        }
        let mut content = json!({ "aps": aps, "tidings_batch": head.id });
        if let Some(url) = &note.url {
            content["url"] = Value::from(url.as_str());
        }
        content
    }

    fn cached_token(&self) -> MutexGuard<'_, Option<(String, Instant)>> {
        self.token.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The token that identifies the sender: the one in use, or a new one once that is old.
    fn token(&self, now: Instant) -> Option<String> {
        let mut cached = self.cached_token();
        if let Some((token, since)) = &*cached
            && (since.0..since.0 + TOKEN_MS).contains(&now.0)
        {
            return Some(token.clone());
        }
        let header = json!({ "alg": "ES256", "kid": self.key_id });
        let claims = json!({ "iss": self.team, "iat": now.0.div_euclid(1_000) });
        let token = jwt(&header, &claims, self.key.as_ref()?, &self.random)?;
        *cached = Some((token.clone(), now));
        Some(token)
    }
}

fn key_of(pem: &str, random: &SystemRandom) -> Result<EcdsaKeyPair, ProviderOpenError> {
    let key = PrivatePkcs8KeyDer::from_pem_slice(pem.as_bytes())
        .map_err(|_| fault("its key is not the PEM of a `.p8` file"))?;
    EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, key.secret_pkcs8_der(), random)
        .map_err(|_| fault("its key is none of the curve P-256"))
}

/// A batch's id in the form of a UUID, if it is one of 32 hexadecimal digits.
fn uuid(id: &str) -> Option<String> {
    let is_hex = id.len() == 32 && id.bytes().all(|b| b.is_ascii_hexdigit());
    is_hex.then(|| {
        let parts = [&id[..8], &id[8..12], &id[12..16], &id[16..20], &id[20..]];
        parts.join("-")
    })
}

impl Shape for Apns {
    fn shown(&self) -> String {
        format!("apns {}", self.base)
    }

    fn version(&self) -> Version {
        Version::Two
    }

    fn request(&self, message: &Rendered, to: &str, now: Instant) -> Result<HttpRequest, Outcome> {
        let token = self.token(now).ok_or_else(|| Outcome::away("the key can't sign"))?;
        let note = Note::of(message)?;
        let id = &message.head.id;
        let content = fitted(BYTES_MAX, |chars_max| self.content(&message.head, &note, chars_max));
        let priority = match Priority::of(&message.head.lane) {
            Priority::Interactive => "10",
            Priority::Bulk => "5",
        };
        let expires = now.0.div_euclid(1_000) + TTL_S;
        let request = HttpRequest {
            method: "POST",
            url: format!("{}/3/device/{to}", self.base),
            headers: vec![("content-type", "application/json".to_owned())],
            body: content.into_bytes(),
        };
        let mut request = request
            .with("authorization", format!("bearer {token}"))
            .with("apns-topic", self.topic.as_str())
            .with("apns-push-type", "alert")
            .with("apns-priority", priority)
            .with("apns-expiration", expires.to_string())
            .with("apns-collapse-id", tag(&message.head));
        if let Some(uuid) = uuid(id) {
            request = request.with("apns-id", uuid);
        }
        Ok(request)
    }

    fn outcome(&self, answer: &HttpAnswer, now: Instant) -> Outcome {
        let json = answer.json();
        let reason = json["reason"].as_str();
        if matches!(reason, Some("ExpiredProviderToken" | "InvalidProviderToken")) {
            *self.cached_token() = None;
        }
        match (answer.of_provider(reason, now), reason) {
            (Outcome::Sent(_), _) => {
                self.vouched.taken();
                sent(answer.header("apns-id"))
            }
            (Outcome::Failed { why, .. }, Some("Unregistered" | "ExpiredToken")) => {
                Outcome::Failed { why, suppress: Some(SuppressedFor::Gone) }
            }
            // Also what Apple says of every token where `sandbox` is wrong.
            (Outcome::Failed { why, .. }, Some("BadDeviceToken")) => {
                if self.vouched.refused() {
                    Outcome::Failed { why, suppress: Some(SuppressedFor::Gone) }
                } else {
                    Outcome::away(why)
                }
            }
            // Our topic, our key.
            (
                Outcome::Failed { why, .. },
                Some(
                    "BadTopic"
                    | "MissingTopic"
                    | "TopicDisallowed"
                    | "DeviceTokenNotForTopic"
                    | "BadPath"
                    | "BadEnvironmentKeyInToken"
                    | "BadEnvironmentKeyIdInToken",
                ),
            ) => Outcome::away(why),
            // One device has too many while others have none.
            (Outcome::Away { why, after_ms, .. }, Some("TooManyRequests")) => {
                Outcome::Retry { why, after_ms }
            }
            (other, _) => other,
        }
    }
}
