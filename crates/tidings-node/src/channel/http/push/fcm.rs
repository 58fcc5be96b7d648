//! Firebase Cloud Messaging, API v1: to devices, by a service account that logs in once in a while.

use std::sync::{Mutex, MutexGuard, PoisonError};

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use ring::rand::SystemRandom;
use ring::signature::RsaKeyPair;
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::pki_types::pem::PemObject;
use serde_json::{Value, json};
use tidings_core::Instant;
use tidings_core::model::SuppressedFor;

use super::{fitted, sound, tag};
use crate::channel::http::note::Note;
use crate::channel::http::vouched::DeviceRefusals;
use crate::channel::http::{HttpAnswer, HttpRequest, ProviderUrl, Shape, sent};
use crate::channel::jwt::jwt;
use crate::channel::{MessageHead, Outcome, ProviderOpenError, Rendered, Scope};
use crate::delivery::priority::Priority;

/// The form of its address.
pub(crate) const FORM: &str = "fcm://${SERVICE_ACCOUNT}";

const SCOPE: &str = "https://www.googleapis.com/auth/firebase.messaging";
/// The seconds for which a login is asked.
const TOKEN_S: i64 = 3_600;
/// The milliseconds before its end in which a login is not used any more.
const MARGIN_MS: i64 = 300_000;
/// The most bytes of a message, of 4,096 that a device is sent.
const BYTES_MAX: usize = 4_000;

/// A project of Firebase.
pub(crate) struct Fcm {
    /// `None` = it is not looked up.
    account: Option<ServiceAccount>,
    /// The sound that an iPhone plays; `None` = none.
    sound: Option<String>,
    base: String,
    login: Mutex<Option<FcmLogin>>,
    vouched: DeviceRefusals,
    random: SystemRandom,
}

/// A service account, as its file has it.
struct ServiceAccount {
    project: String,
    email: String,
    token_url: String,
    key: RsaKeyPair,
}

struct FcmLogin {
    token: String,
    until: Instant,
}

fn fault(why: &str) -> ProviderOpenError {
    ProviderOpenError::Address(format!("its service account {why}"))
}

impl Fcm {
    pub(crate) fn parse(mut url: ProviderUrl<'_>) -> Result<Self, ProviderOpenError> {
        let file = url.secret_place()?;
        let shape = Self {
            account: if file.is_empty() { None } else { Some(ServiceAccount::read(&file)?) },
            sound: sound(&mut url)?,
            base: url.base("https://fcm.googleapis.com")?,
            login: Mutex::default(),
            vouched: DeviceRefusals::default(),
            random: SystemRandom::new(),
        };
        url.done().map(|()| shape)
    }

    fn content(&self, head: &MessageHead, note: &Note, to: &str, chars_max: usize) -> Value {
        let cut = |text: &str| tidings_mail::cut(text, chars_max);
        let priority = match Priority::of(&head.lane) {
            Priority::Interactive => "HIGH",
            Priority::Bulk => "NORMAL",
        };
        let mut data = json!({ "tidings_batch": head.id });
        if let Some(url) = &note.url {
            data["url"] = Value::from(url.as_str());
        }
        let tag = tag(head);
        let mut android = json!({ "tag": tag });
        let mut aps = json!({});
        if let Some(sound) = &self.sound {
            aps["sound"] = Value::from(sound.as_str());
            android["default_sound"] = Value::from(true);
        }
        if let Some(badge) = head.badge {
            aps["badge"] = Value::from(badge);
            android["notification_count"] = Value::from(badge);
        }
        json!({
            "token": to,
            "notification": { "title": cut(&note.title), "body": cut(&note.text) },
            "data": data,
            "android": { "priority": priority, "notification": android },
            "apns": { "headers": { "apns-collapse-id": tag }, "payload": { "aps": aps } },
        })
    }

    fn current_login(&self) -> MutexGuard<'_, Option<FcmLogin>> {
        self.login.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ServiceAccount {
    fn read(file: &str) -> Result<Self, ProviderOpenError> {
        let json: Value =
            serde_json::from_str(file).map_err(|_| fault("is not the JSON that Google gives"))?;
        let text = |name: &str| {
            json[name].as_str().map(str::to_owned).ok_or_else(|| fault(&format!("has no `{name}`")))
        };
        let pem = text("private_key")?;
        let key = PrivatePkcs8KeyDer::from_pem_slice(pem.as_bytes())
            .map_err(|_| fault("has a `private_key` that is not PEM"))?;
        let key = RsaKeyPair::from_pkcs8(key.secret_pkcs8_der())
            .map_err(|_| fault("has a `private_key` that is no RSA key"))?;
        Ok(Self {
            project: text("project_id")?,
            email: text("client_email")?,
            token_url: text("token_uri")?,
            key,
        })
    }

    /// The statement by which the account logs in (RFC 7523).
    fn assertion(&self, random: &SystemRandom, now: Instant) -> Option<String> {
        let unix_s = now.0.div_euclid(1_000);
        let claims = json!({
            "iss": self.email,
            "scope": SCOPE,
            "aud": self.token_url,
            "iat": unix_s,
            "exp": unix_s + TOKEN_S,
        });
        let header = json!({ "alg": "RS256", "typ": "JWT" });
        jwt(&header, &claims, &self.key, random)
    }
}

fn no_account() -> Outcome {
    Outcome::away("login: the service account can't sign")
}

impl Shape for Fcm {
    fn shown(&self) -> String {
        format!("fcm {}", self.base)
    }

    fn login(&self, now: Instant) -> Result<Option<HttpRequest>, Outcome> {
        if self.current_login().as_ref().is_some_and(|login| now < login.until) {
            return Ok(None);
        }
        let account = self.account.as_ref().ok_or_else(no_account)?;
        let assertion = account.assertion(&self.random, now).ok_or_else(no_account)?;
        let grant =
            utf8_percent_encode("urn:ietf:params:oauth:grant-type:jwt-bearer", NON_ALPHANUMERIC);
        Ok(Some(HttpRequest {
            method: "POST",
            url: account.token_url.clone(),
            headers: vec![("content-type", "application/x-www-form-urlencoded".to_owned())],
            body: format!("grant_type={grant}&assertion={assertion}").into_bytes(),
        }))
    }

    fn logged_in(&self, answer: &HttpAnswer, now: Instant) -> Result<(), Outcome> {
        let json = answer.json();
        let token = json["access_token"].as_str().filter(|_| answer.status == 200);
        let Some(token) = token else {
            return Err(Outcome::Away {
                scope: Scope::Provider,
                why: format!("login: {}", answer.why(json["error"].as_str())),
                after_ms: answer.retry_after_ms(now),
            });
        };
        let good_ms = json["expires_in"].as_i64().unwrap_or(TOKEN_S).min(TOKEN_S) * 1_000;
        *self.current_login() =
            Some(FcmLogin { token: token.to_owned(), until: now.plus_ms(good_ms - MARGIN_MS) });
        Ok(())
    }

    fn request(&self, message: &Rendered, to: &str, _now: Instant) -> Result<HttpRequest, Outcome> {
        let account = self.account.as_ref().ok_or_else(no_account)?;
        let token = self.current_login().as_ref().map(|login| login.token.clone());
        let token = token.ok_or_else(no_account)?;
        let note = Note::of(message)?;
        let content = fitted(
            BYTES_MAX,
            |chars_max| json!({ "message": self.content(&message.head, &note, to, chars_max) }),
        );
        let url = format!("{}/v1/projects/{}/messages:send", self.base, account.project);
        let request = HttpRequest {
            method: "POST",
            url,
            headers: vec![("content-type", "application/json".to_owned())],
            body: content.into_bytes(),
        };
        Ok(request.with("authorization", format!("Bearer {token}")))
    }

    fn outcome(&self, answer: &HttpAnswer, now: Instant) -> Outcome {
        let json = answer.json();
        let details = json["error"]["details"].as_array();
        let mut codes = details.into_iter().flatten();
        let code = codes
            .find_map(|detail| detail["errorCode"].as_str())
            .or_else(|| json["error"]["status"].as_str());
        if answer.status == 401 {
            *self.current_login() = None;
        }
        // In fields, or in words alone.
        let words = json["error"]["message"].as_str().unwrap_or_default();
        let is_of_token = words.to_ascii_lowercase().contains("registration token is not")
            || details.into_iter().flatten().any(|detail| {
                let broken = detail["fieldViolations"].as_array();
                let mut fields = broken.into_iter().flatten();
                fields.any(|field| field["field"] == "message.token")
            });
        match (answer.of_provider(code, now), code) {
            (Outcome::Sent(_), _) => {
                self.vouched.taken();
                sent(json["name"].as_str())
            }
            (Outcome::Failed { why, .. } | Outcome::Away { why, .. }, Some("UNREGISTERED")) => {
                Outcome::Failed { why, suppress: Some(SuppressedFor::Gone) }
            }
            // A token of another project, or the key of another project than the app's.
            (
                Outcome::Failed { why, .. } | Outcome::Away { why, .. },
                Some("SENDER_ID_MISMATCH"),
            ) => {
                if self.vouched.refused() {
                    Outcome::Failed { why, suppress: Some(SuppressedFor::Gone) }
                } else {
                    Outcome::away(why)
                }
            }
            (Outcome::Failed { why, .. }, Some("INVALID_ARGUMENT")) => {
                Outcome::Failed { why, suppress: is_of_token.then_some(SuppressedFor::Gone) }
            }
            // The project is not one.
            (Outcome::Failed { why, .. }, _) if answer.status == 404 => Outcome::away(why),
            (other, _) => other,
        }
    }
}
