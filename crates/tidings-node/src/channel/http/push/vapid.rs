//! Web Push: to browsers, through their push services, encrypted (RFC 8291) and signed (VAPID, RFC 8292).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use ring::agreement::{self, ECDH_P256, EphemeralPrivateKey, UnparsedPublicKey};
use ring::hkdf::{HKDF_SHA256, KeyType, Salt};
use ring::rand::{SecureRandom, SystemRandom};
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair};
use serde_json::{Value, json};
use tidings_core::Instant;
use tidings_core::model::{AddressKind, Subscription, SuppressedFor};

use super::{fitted, tag};
use crate::channel::http::note::Note;
use crate::channel::http::{
    AllowedHosts, EndpointRoute, HttpAnswer, HttpRequest, ProviderUrl, Shape,
};
use crate::channel::jwt::jwt;
use crate::channel::{MessageHead, Outcome, ProviderOpenError, Rendered, Scope};
use crate::delivery::priority::Priority;

/// The form of its address.
pub(crate) const FORM: &str = "vapid://PUBLIC_KEY:${PRIVATE_KEY}?subject=mailto:ops@example.org";

/// The seconds for which a push service keeps a message for a browser that is away.
const TTL_S: u32 = 86_400;
/// The seconds for which a token is good; a day at most (RFC 8292, section 2).
const TOKEN_S: i64 = 12 * 3_600;
/// The size of a record, which holds the whole message (RFC 8291, section 4).
const RECORD_BYTES: u32 = 4_096;
/// The most bytes of a message in the clear: what a record holds beside its head, its end and its tag.
const CONTENT_BYTES_MAX: usize = RECORD_BYTES as usize - (SALT_BYTES + 5 + POINT_BYTES) - 17;
/// The mark of a declarative message (Push API, "declarative push message").
const DECLARATIVE: u32 = 8030;
/// The bytes of a point of P-256, uncompressed, and of the other parts.
const POINT_BYTES: usize = 65;
const SALT_BYTES: usize = 16;

/// The keys of an application server.
pub(crate) struct Vapid {
    /// `None` = it is not looked up.
    pair: Option<EcdsaKeyPair>,
    public: String,
    subject: String,
    detour: EndpointRoute,
    random: SystemRandom,
}

fn fault(why: &str) -> ProviderOpenError {
    ProviderOpenError::Address(why.to_owned())
}

/// Returns true if push services accept a subject: Apple's want one that they could contact.
fn is_subject(text: &str) -> bool {
    let domain = match (text.strip_prefix("mailto:"), text.strip_prefix("https://")) {
        (Some(mailbox), _) if !mailbox.contains('%') && AddressKind::Email.accepts(mailbox) => {
            mailbox.rsplit_once('@')
        }
        (None, Some(_)) if AddressKind::Webhook.accepts(text) => {
            return AddressKind::Webhook
                .destination(text)
                .is_some_and(|host| is_public_name(&host));
        }
        _ => None,
    };
    domain.is_some_and(|(_, domain)| is_public_name(domain))
}

fn is_public_name(host: &str) -> bool {
    let last = host.rsplit_once('.').map(|(_, last)| last.to_ascii_lowercase());
    last.is_some_and(|last| !["localhost", "local", "internal", "invalid"].contains(&&*last))
}

fn decoded(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')).ok()
}

impl Vapid {
    pub(crate) fn parse(mut url: ProviderUrl<'_>) -> Result<Self, ProviderOpenError> {
        let (public, private) = url.user()?;
        let subject = url.option("subject")?.ok_or_else(|| {
            fault("`subject` is missing: write `?subject=mailto:ops@example.org`, whom push services may ask")
        })?;
        if !is_subject(&subject) {
            return Err(fault(
                "`subject` is whom push services may ask: write `mailto:ops@example.org` or `https://example.org`, with \
                 a domain of the public network; Apple refuses others such as `localhost`",
            ));
        }
        let random = SystemRandom::new();
        let pair = if private.is_empty() || public.is_empty() {
            None
        } else {
            Some(pair_of(&public, &private, &random)?)
        };
        let shape = Self { pair, public, subject, detour: url.detour()?, random };
        url.done().map(|()| shape)
    }

    /// The header that identifies the sender to a push service.
    fn authorization(&self, endpoint: &str, now: Instant) -> Option<String> {
        let host = endpoint.find("://").map(|at| at + 3)?;
        let end = endpoint[host..].find('/').map_or(endpoint.len(), |at| host + at);
        let claims = json!({
            "aud": &endpoint[..end],
            "exp": now.0.div_euclid(1_000) + TOKEN_S,
            "sub": self.subject,
        });
        let header = json!({ "typ": "JWT", "alg": "ES256" });
        let token = jwt(&header, &claims, self.pair.as_ref()?, &self.random)?;
        let public = self.public.trim_end_matches('=');
        Some(format!("vapid t={token}, k={public}"))
    }
}

fn pair_of(
    public: &str,
    private: &str,
    random: &SystemRandom,
) -> Result<EcdsaKeyPair, ProviderOpenError> {
    let (private, public) = decoded(private)
        .zip(decoded(public))
        .ok_or_else(|| fault("its keys are not base64url, as `generate-vapid-keys` writes them"))?;
    EcdsaKeyPair::from_private_key_and_public_key(
        &ECDSA_P256_SHA256_FIXED_SIGNING,
        &private,
        &public,
        random,
    )
    .map_err(|_| fault("its keys are no pair of the curve P-256"))
}

impl Shape for Vapid {
    fn shown(&self) -> String {
        format!("vapid {}", self.detour.shown())
    }

    fn reach(&self) -> AllowedHosts {
        self.detour.reach()
    }

    fn answers_for_all(&self) -> bool {
        false
    }

    fn request(&self, message: &Rendered, to: &str, now: Instant) -> Result<HttpRequest, Outcome> {
        let broken = |why: &str| Outcome::Failed {
            why: format!("render: {why}"),
            suppress: Some(SuppressedFor::Gone),
        };
        let subscription =
            Subscription::parse(to).ok_or_else(|| broken("the subscription is none"))?;
        let content = content(&message.head, &Note::of(message)?);
        if content.len() > CONTENT_BYTES_MAX {
            return Err(Outcome::Failed {
                why: "render: the link is too long".to_owned(),
                suppress: None,
            });
        }
        let body = sealed(&self.random, &subscription, content.as_bytes())
            .ok_or_else(|| broken("the keys of the subscription are none"))?;
        let authorization = self
            .authorization(&subscription.endpoint, now)
            .ok_or_else(|| Outcome::away("the keys can't sign"))?;
        let urgency = match Priority::of(&message.head.lane) {
            Priority::Interactive => "normal",
            Priority::Bulk => "low",
        };
        let request = HttpRequest {
            method: "POST",
            url: self.detour.to(&subscription.endpoint),
            headers: vec![("content-type", "application/octet-stream".to_owned())],
            body,
        };
        Ok(request
            .with("content-encoding", "aes128gcm")
            .with("ttl", TTL_S.to_string())
            .with("urgency", urgency)
            .with("topic", tag(&message.head))
            .with("authorization", authorization))
    }

    fn outcome(&self, answer: &HttpAnswer, now: Instant) -> Outcome {
        let json = answer.json();
        let reason = json["reason"].as_str();
        match answer.of_address(reason, now) {
            // Our keys or our subject, at this push service, which says nothing about the browser.
            Outcome::Failed { why, .. } if matches!(answer.status, 401 | 403) => {
                Outcome::Away { scope: Scope::Destination, why, after_ms: None }
            }
            other => other,
        }
    }
}

/// The content of a message: a declarative one, which newer browsers show without a worker, and the worker of `/ui/`
/// elsewhere.
fn content(head: &MessageHead, note: &Note) -> String {
    fitted(CONTENT_BYTES_MAX, |chars_max| {
        let cut = |text: &str| tidings_mail::cut(text, chars_max);
        let tag = tag(head);
        let mut shown = json!({
            "title": cut(&note.title),
            "body": cut(&note.text),
            // It has to be there. Without a link it is the site itself.
            "navigate": note.url.as_deref().unwrap_or("/"),
            // In place of an earlier one it is noticed all the same.
            "renotify": !head.key.is_empty(),
            "tag": tag,
        });
        let mut content = json!({ "web_push": DECLARATIVE, "id": head.id });
        if let Some(badge) = head.badge {
            // Where the Push API has it, and where the first browsers look for it.
            content["app_badge"] = Value::from(badge);
            shown["app_badge"] = Value::from(badge.to_string());
        }
        content["notification"] = shown;
        content
    })
}

/// A message that only the browser of a subscription can read.
fn sealed(
    random: &dyn SecureRandom,
    subscription: &Subscription,
    content: &[u8],
) -> Option<Vec<u8>> {
    let browser = decoded(&subscription.keys.p256dh)?;
    let auth = decoded(&subscription.keys.auth)?;
    let own = EphemeralPrivateKey::generate(&ECDH_P256, random).ok()?;
    let public = own.compute_public_key().ok()?;
    let mut salt = [0; SALT_BYTES];
    random.fill(&mut salt).ok()?;
    let peer = UnparsedPublicKey::new(&ECDH_P256, &browser);
    agreement::agree_ephemeral(own, &peer, |shared| {
        let keys = PushMessageKeys {
            shared,
            auth: &auth,
            browser: &browser,
            sender: public.as_ref(),
            salt: &salt,
        };
        keys.seal(content)
    })
    .ok()?
}

/// The keys of one message (RFC 8291, section 3).
struct PushMessageKeys<'a> {
    /// The secret on which the two have agreed.
    shared: &'a [u8],
    auth: &'a [u8],
    browser: &'a [u8],
    sender: &'a [u8],
    salt: &'a [u8; SALT_BYTES],
}

/// A length in bytes of what HKDF gives.
struct HkdfLength(usize);

impl KeyType for HkdfLength {
    fn len(&self) -> usize {
        self.0
    }
}

fn derived<const N: usize>(salt: &[u8], secret: &[u8], info: &[&[u8]]) -> Option<[u8; N]> {
    let mut out = [0; N];
    let key = Salt::new(HKDF_SHA256, salt).extract(secret);
    key.expand(info, HkdfLength(N)).ok()?.fill(&mut out).ok()?;
    Some(out)
}

impl PushMessageKeys<'_> {
    /// The body of the request: a header, and one record (RFC 8188).
    fn seal(&self, content: &[u8]) -> Option<Vec<u8>> {
        let info: [&[u8]; 3] = [b"WebPush: info\0", self.browser, self.sender];
        let secret: [u8; 32] = derived(self.auth, self.shared, &info)?;
        let key: [u8; 16] = derived(self.salt, &secret, &[b"Content-Encoding: aes128gcm\0"])?;
        let nonce: [u8; 12] = derived(self.salt, &secret, &[b"Content-Encoding: nonce\0"])?;
        let mut record = content.to_vec();
        // It is the last record, without padding.
        record.push(2);
        let key = LessSafeKey::new(UnboundKey::new(&AES_128_GCM, &key).ok()?);
        let nonce = Nonce::assume_unique_for_key(nonce);
        key.seal_in_place_append_tag(nonce, Aad::empty(), &mut record).ok()?;
        let mut body = self.salt.to_vec();
        body.extend_from_slice(&RECORD_BYTES.to_be_bytes());
        body.push(u8::try_from(POINT_BYTES).ok()?);
        body.extend_from_slice(self.sender);
        body.append(&mut record);
        (body.len() <= RECORD_BYTES as usize).then_some(body)
    }
}

#[cfg(test)]
mod tests {
    use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey as Verifier};

    use super::*;
    use crate::channel::sample;

    fn bytes(text: &str) -> Vec<u8> {
        decoded(text).unwrap()
    }

    /// Messages as others seal them, of which one is that of RFC 8291, appendix A. A line has the plaintext, the
    /// browser's secret, its public key and the sender's, the secret on which they agree, the salt, and the body.
    const VECTORS: &str = include_str!("vapid.tsv");

    #[test]
    fn messages_are_sealed_as_others_do() {
        for line in VECTORS.lines() {
            let columns: Vec<Vec<u8>> = line.split('\t').map(bytes).collect();
            let [text, auth, browser, sender, shared, salt, body] = &columns[..] else {
                panic!("{line}");
            };
            let keys = PushMessageKeys {
                shared,
                auth,
                browser,
                sender,
                salt: salt.as_slice().try_into().unwrap(),
            };
            assert_eq!(keys.seal(text).unwrap(), *body, "{line}");
        }
        let of_rfc = "V2hlbiBJIGdyb3cgdXAsIEkgd2FudCB0byBiZSBhIHdhdGVybWVsb24";
        assert!(VECTORS.contains(of_rfc));
    }

    /// A browser with keys of its own, and a message to it: what it reads.
    #[test]
    fn the_browser_reads_what_was_sealed() {
        let random = SystemRandom::new();
        let own = EphemeralPrivateKey::generate(&ECDH_P256, &random).unwrap();
        let public = own.compute_public_key().unwrap();
        let auth = [7; 16];
        let subscription = Subscription {
            endpoint: "https://push.example.net/x".to_owned(),
            keys: tidings_core::model::SubscriptionKeys {
                p256dh: URL_SAFE_NO_PAD.encode(public.as_ref()),
                auth: URL_SAFE_NO_PAD.encode(auth),
            },
        };
        let body = sealed(&random, &subscription, b"hello").unwrap();
        let (salt, rest) = body.split_at(SALT_BYTES);
        let (head, rest) = rest.split_at(5);
        assert_eq!(head, [0, 0, 16, 0, 65]);
        let (sender, record) = rest.split_at(POINT_BYTES);
        let peer = UnparsedPublicKey::new(&ECDH_P256, sender);
        let info: [&[u8]; 3] = [b"WebPush: info\0", public.as_ref(), sender];
        let secret: [u8; 32] =
            agreement::agree_ephemeral(own, &peer, |shared| derived(&auth, shared, &info))
                .unwrap()
                .unwrap();
        let key: [u8; 16] = derived(salt, &secret, &[b"Content-Encoding: aes128gcm\0"]).unwrap();
        let nonce: [u8; 12] = derived(salt, &secret, &[b"Content-Encoding: nonce\0"]).unwrap();
        let key = LessSafeKey::new(UnboundKey::new(&AES_128_GCM, &key).unwrap());
        let mut record = record.to_vec();
        let nonce = Nonce::assume_unique_for_key(nonce);
        let read = key.open_in_place(nonce, Aad::empty(), &mut record).unwrap();
        assert_eq!(read, b"hello\x02");
        let too_long = vec![b'x'; RECORD_BYTES as usize];
        assert_eq!(sealed(&random, &subscription, &too_long), None);
    }

    #[test]
    fn field_4_a_browser_without_a_worker_shows_a_message() {
        let note = |url: Option<&str>| Note {
            title: "Ann wrote".to_owned(),
            text: "Hello".to_owned(),
            url: url.map(str::to_owned),
        };
        let head = MessageHead { badge: Some(3), ..MessageHead::of(&sample::batch("b1", "One")) };
        let json = |content: String| serde_json::from_str::<Value>(&content).unwrap();
        let with_link = json(content(&head, &note(Some("https://a.example/x"))));
        assert_eq!(
            with_link,
            json!({
                "web_push": 8030,
                "id": "b1",
                "app_badge": 3,
                "notification": {
                    "title": "Ann wrote",
                    "body": "Hello",
                    "navigate": "https://a.example/x",
                    "renotify": false,
                    "tag": "b1",
                    "app_badge": "3",
                },
            })
        );
        assert_eq!(json(content(&head, &note(None)))["notification"]["navigate"], "/");
    }

    #[test]
    fn field_4_a_message_fits_into_its_record_in_any_script() {
        let head = MessageHead::of(&sample::batch(&"b".repeat(32), "One"));
        for letter in ["a", "\"", "я", "漢", "🎨", "\u{1}"] {
            let words = letter.repeat(5_000);
            let url = format!("https://a.example/{}", "x".repeat(500));
            let note = Note { title: words.clone(), text: words, url: Some(url) };
            assert!(content(&head, &note).len() <= CONTENT_BYTES_MAX, "{letter}");
        }
    }

    /// A key pair of P-256: (public, private).
    pub(crate) fn pair() -> (String, String) {
        // The keys of the example in RFC 8291, appendix A, which are a pair of any use.
        let public = "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8";
        (public.to_owned(), "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw".to_owned())
    }

    #[test]
    fn field_5_subjects_that_apple_refuses_are_refused() {
        for good in ["mailto:ops@example.org", "https://example.org", "https://example.org/contact"]
        {
            assert!(is_subject(good), "{good}");
        }
        for bad in [
            "mailto:x@localhost",
            "mailto:",
            "mailto:%20x@example.org",
            "mailto: x@example.org",
            "https://localhost",
            "https://localhost:8443/x",
            "https://push.localhost",
            "https://",
            "http://example.org",
            "ops@example.org",
        ] {
            assert!(!is_subject(bad), "{bad}");
        }
    }

    #[test]
    fn a_push_service_can_tell_who_sends() {
        let (public, private) = pair();
        let rest = format!("{public}:${{KEY}}?subject=mailto:ops@example.org");
        let secrets = |_: &str| Ok(private.clone());
        let url = ProviderUrl::parse("vapid", &rest, &secrets).unwrap();
        let vapid = Vapid::parse(url).unwrap();
        let now = Instant(1_453_000_000_000);
        let header = vapid.authorization("https://push.example.net:8443/x/y", now).unwrap();
        let (token, key) = header.strip_prefix("vapid t=").unwrap().split_once(", k=").unwrap();
        assert_eq!(key, public);
        let (signed, signature) = token.rsplit_once('.').unwrap();
        let (head, claims) = signed.split_once('.').unwrap();
        let json = |text: &str| serde_json::from_slice::<Value>(&bytes(text)).unwrap();
        assert_eq!(json(head), json!({"typ": "JWT", "alg": "ES256"}));
        assert_eq!(
            json(claims),
            json!({
                "aud": "https://push.example.net:8443",
                "exp": 1_453_000_000 + TOKEN_S,
                "sub": "mailto:ops@example.org",
            })
        );
        let verifier = Verifier::new(&ECDSA_P256_SHA256_FIXED, bytes(&public));
        let checked = verifier.verify(signed.as_bytes(), &bytes(signature));
        assert!(checked.is_ok());
    }
}
