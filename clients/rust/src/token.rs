//! Tokens of end users: signed here, without asking the server.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::hmac;
use ring::signature::Ed25519KeyPair;
use serde_json::json;

use crate::generated::error::Error;

/// A signing key, with which an application lets its users' pages call `/v1/me`.
#[derive(Clone)]
pub struct SigningKey {
    id: String,
    secret: Secret,
    tenant: Option<String>,
}

#[derive(Clone)]
enum Secret {
    Hmac(hmac::Key),
    Ed25519(std::sync::Arc<Ed25519KeyPair>),
}

impl std::fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SigningKey").field("id", &self.id).finish_non_exhaustive()
    }
}

impl SigningKey {
    /// The key of a secret, `tsk_ID_RANDOM`, that `tidings signing-key new` printed.
    ///
    /// # Errors
    /// [`Error::Invalid`] where it is no such secret.
    pub fn new(secret: &str) -> Result<Self, Error> {
        let secret = secret.trim();
        let id = match secret.splitn(3, '_').collect::<Vec<_>>()[..] {
            ["tsk", id, random] if !id.is_empty() && !random.is_empty() => id.to_owned(),
            _ => {
                return Err(Error::invalid(
                    "the signing key is not `tsk_ID_RANDOM`: make one with `tidings signing-key new`",
                ));
            }
        };
        let secret = Secret::Hmac(hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes()));
        Ok(Self { id, secret, tenant: None })
    }

    /// The private half of a key of Ed25519, as PKCS #8 in PEM, with the id under which the server has its public half.
    ///
    /// # Errors
    /// [`Error::Invalid`] where it is no such key.
    pub fn ed25519(id: impl Into<String>, private: &str) -> Result<Self, Error> {
        let lines = private.lines().map(str::trim).filter(|line| !line.starts_with("-----"));
        let der = STANDARD.decode(lines.collect::<String>());
        let pair = der.ok().and_then(|der| Ed25519KeyPair::from_pkcs8_maybe_unchecked(&der).ok());
        let pair = pair
            .ok_or_else(|| Error::invalid("the private key is no Ed25519 key as PKCS #8 in PEM"))?;
        Ok(Self { id: id.into(), secret: Secret::Ed25519(pair.into()), tenant: None })
    }

    /// The same key for tokens of a tenant: each shows what is of that tenant and of none, and no other tenant's.
    #[must_use]
    pub fn for_tenant(&self, tenant: impl Into<String>) -> Self {
        Self { tenant: Some(tenant.into()), ..self.clone() }
    }

    /// Signs a token with which a recipient's page calls `/v1/me`.
    ///
    /// `ttl` is its life, in whole seconds; the server refuses more than its `[users] tokens`. `scope` is what it opens, of
    /// `inbox`, `inbox:read`, `preferences`, `subscriptions` and `push`, separated by spaces; without one, all that the key
    /// may.
    ///
    /// # Errors
    /// [`Error::Invalid`] where the recipient or the tenant is empty, or the life less than a second.
    pub fn sign_token(
        &self,
        recipient: &str,
        ttl: Duration,
        scope: Option<&str>,
    ) -> Result<String, Error> {
        self.sign_token_at(recipient, ttl, scope, SystemTime::now())
    }

    /// The same with the time from which it is good.
    ///
    /// # Errors
    /// As [`SigningKey::sign_token`].
    pub fn sign_token_at(
        &self,
        recipient: &str,
        ttl: Duration,
        scope: Option<&str>,
        from: SystemTime,
    ) -> Result<String, Error> {
        if recipient.is_empty() {
            return Err(Error::invalid("a token needs a recipient"));
        }
        if self.tenant.as_deref() == Some("") {
            return Err(Error::invalid("the tenant of a token is an id: leave it out for all"));
        }
        if ttl.as_secs() == 0 {
            return Err(Error::invalid("the life of a token is a second or more"));
        }
        let iat = from.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let alg = match self.secret {
            Secret::Hmac(_) => "HS256",
            Secret::Ed25519(_) => "EdDSA",
        };
        let head = json!({"alg": alg, "typ": "JWT", "kid": self.id});
        let mut claims =
            json!({"sub": recipient, "iat": iat, "exp": iat.saturating_add(ttl.as_secs())});
        if let Some(tenant) = &self.tenant {
            claims["tenant"] = tenant.as_str().into();
        }
        if let Some(scope) = scope {
            claims["scope"] = scope.into();
        }
        let part = |part: &serde_json::Value| URL_SAFE_NO_PAD.encode(part.to_string());
        let signed = format!("{}.{}", part(&head), part(&claims));
        let signature = match &self.secret {
            Secret::Hmac(key) => URL_SAFE_NO_PAD.encode(hmac::sign(key, signed.as_bytes())),
            Secret::Ed25519(pair) => URL_SAFE_NO_PAD.encode(pair.sign(signed.as_bytes())),
        };
        Ok(format!("{signed}.{signature}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use ring::signature::{ED25519, KeyPair as _, UnparsedPublicKey};
    use serde_json::Value;

    fn parts(token: &str) -> (Value, Value, String, Vec<u8>) {
        let parts: Vec<&str> = token.split('.').collect();
        let bytes = |part: &str| URL_SAFE_NO_PAD.decode(part).unwrap();
        let of = |part: &str| serde_json::from_slice(&bytes(part)).unwrap();
        (of(parts[0]), of(parts[1]), format!("{}.{}", parts[0], parts[1]), bytes(parts[2]))
    }

    #[test]
    fn a_token_says_whose_it_is_and_for_how_long() {
        let key = SigningKey::new("tsk_9b7e5c0f3d1a_secret_with_more").unwrap();
        let from = UNIX_EPOCH + Duration::from_millis(1_700_000_000_900);
        let token =
            key.sign_token_at("ana", Duration::from_secs(900), Some("inbox push"), from).unwrap();
        let (head, claims, signed, signature) = parts(&token);
        assert_eq!(head, json!({"alg": "HS256", "typ": "JWT", "kid": "9b7e5c0f3d1a"}));
        let expected = json!({"sub": "ana", "iat": 1_700_000_000, "exp": 1_700_000_900, "scope": "inbox push"});
        assert_eq!(claims, expected);
        let secret = hmac::Key::new(hmac::HMAC_SHA256, b"tsk_9b7e5c0f3d1a_secret_with_more");
        hmac::verify(&secret, signed.as_bytes(), &signature).unwrap();
        let (_, claims, ..) = parts(&key.sign_token("ana", Duration::from_secs(1), None).unwrap());
        assert!(claims.get("scope").is_none());
        assert!(key.sign_token("", Duration::from_secs(1), None).is_err());
        assert!(key.sign_token("ana", Duration::from_millis(900), None).is_err());
        for bad in ["", "tidings_a_b", "tsk_a", "tsk__b", "tsk_a_"] {
            assert!(SigningKey::new(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_token_of_a_tenant_says_so() {
        let key = SigningKey::new("tsk_a_b").unwrap();
        let life = Duration::from_secs(60);
        let of = |key: &SigningKey| key.sign_token_at("ana", life, None, UNIX_EPOCH).unwrap();
        let (_, claims, ..) = parts(&of(&key.for_tenant("acme")));
        assert_eq!(claims, json!({"sub": "ana", "iat": 0, "exp": 60, "tenant": "acme"}));
        let (_, claims, ..) = parts(&of(&key));
        assert!(claims.get("tenant").is_none());
        assert!(key.for_tenant("").sign_token("ana", life, None).is_err());
    }

    #[test]
    fn a_token_is_signed_with_ed25519_too() {
        let der = Ed25519KeyPair::generate_pkcs8(&ring::rand::SystemRandom::new()).unwrap();
        let text = STANDARD.encode(der.as_ref());
        let pem = format!("-----BEGIN PRIVATE KEY-----\n{text}\n-----END PRIVATE KEY-----\n");
        let key = SigningKey::ed25519("k1", &pem).unwrap();
        let token = key.sign_token("ana", Duration::from_secs(60), None).unwrap();
        let (head, _, signed, signature) = parts(&token);
        assert_eq!((&head["alg"], &head["kid"]), (&json!("EdDSA"), &json!("k1")));
        let pair = Ed25519KeyPair::from_pkcs8(der.as_ref()).unwrap();
        UnparsedPublicKey::new(&ED25519, pair.public_key().as_ref())
            .verify(signed.as_bytes(), &signature)
            .unwrap();
        assert!(SigningKey::ed25519("k1", "-----BEGIN PRIVATE KEY-----\nAAAA\n").is_err());
    }
}
