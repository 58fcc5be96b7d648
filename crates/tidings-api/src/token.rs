//! Tokens of end users: JWTs that the host signs without asking the server, and the order of their checks (contract,
//! section 9).
//!
//! The claims of a token are read only once its signature is right, and in the strictest form: a text that two readers
//! could read differently is no token. Pure: keys and the instant are passed in.

mod assertion;
mod json;
mod scope;
#[cfg(test)]
mod tests;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;
use ring::signature::{ED25519, UnparsedPublicKey};
use tidings_core::model::{MINUTE_MS, SECOND_MS, TenantNo};
use tidings_core::{Id, Instant};
use tidings_node::{SigningKey, SigningSecret};

pub use self::assertion::{AssertedPerson, AssertionRefusal, AssertionRules, ProxyKeys};
use self::json::{UniqueMembers, Value};
pub use self::scope::Scope;

/// The most bytes of a token.
pub const TOKEN_BYTES_MAX: usize = 8 << 10;

/// The most that the clocks of the host and of the server may differ, in milliseconds.
pub const SKEW_MS: i64 = MINUTE_MS;

/// The last second that an instant can have: the end of the year 9999.
const SECOND_MAX: f64 = 253_402_300_799.0;

/// A reason to refuse a token, in the order in which they are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenRefusal {
    /// It is no token, or lacks what one has; what exactly.
    Malformed(&'static str),
    /// It is of no signing key.
    Key(&'static str),
    /// Its signature is not its key's.
    Signature,
    /// Its tenant is unknown, or not that of its signing key.
    Tenant(&'static str),
    /// It lives longer than tokens may.
    TooLong,
    /// It is valid later.
    NotYet,
    /// It was valid earlier.
    Expired,
}

/// A token that was checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// The recipient who has it.
    pub recipient: Id,
    /// The id of the key that signed it.
    pub key: String,
    /// The scopes that it opens.
    pub scope: Scope,
    /// The second in which it was issued, since 1970.
    pub issued_s: i64,
    /// The instant at which it ends by the host's clock.
    pub expires: Instant,
    /// The tenant whose entries it shows beside those of none; `None` = it shows all.
    pub tenant: Option<Id>,
    /// The number of that tenant.
    pub tenant_no: Option<TenantNo>,
}

impl Token {
    /// Checks a token: keys are those in force, `longest_ms` the longest life of a token; `tenant` knows the
    /// number of a tenant, for tokens that were issued in a second.
    ///
    /// # Errors
    /// The first [`TokenRefusal`] that applies. That a token was revoked is looked at after these ([`Token::is_revoked`]).
    pub fn check(
        text: &str,
        keys: &[SigningKey],
        longest_ms: i64,
        now: Instant,
        tenant: impl FnOnce(&Id, i64) -> Option<TenantNo>,
    ) -> Result<Self, TokenRefusal> {
        let parts = TokenParts::of(text)?;
        let key = parts.key(keys)?;
        if !is_signed(&key.secret, parts.signed.as_bytes(), &parts.signature) {
            return Err(TokenRefusal::Signature);
        }
        let claims = Claims::read(&parts.payload)?;
        let tenant_no = claims.tenant_no(key.tenant, tenant)?;
        claims.check(longest_ms, now)?;
        let of_key = key.scope.as_deref().map_or(Scope::ALL, Scope::of);
        Ok(Self {
            recipient: claims.sub,
            key: key.id.clone(),
            scope: claims.scope.as_deref().map_or(Scope::ALL, Scope::of).within(of_key),
            issued_s: whole(claims.iat.floor()),
            expires: Instant(ms(claims.exp)),
            tenant: claims.tenant.and_then(Result::ok),
            tenant_no,
        })
    }

    /// Returns true if it is among the tokens that were issued up to the second of an instant.
    #[must_use]
    pub fn is_revoked(&self, before: Instant) -> bool {
        self.issued_s <= before.0.div_euclid(SECOND_MS)
    }

    /// Returns true if it has ended, whatever the clocks differ by.
    #[must_use]
    pub fn is_expired(&self, now: Instant) -> bool {
        has_ended(self.expires, now)
    }
}

fn has_ended(expires: Instant, now: Instant) -> bool {
    now.0 >= expires.0.saturating_add(SKEW_MS)
}

/// A token in its parts, of which the payload is not opened yet.
struct TokenParts<'t> {
    /// The signed bytes: header and payload as they came.
    signed: &'t str,
    alg: String,
    /// The key's id; `None` = there is none, or it is no text.
    kid: Option<String>,
    payload: Vec<u8>,
    signature: Vec<u8>,
}

impl<'t> TokenParts<'t> {
    fn of(text: &'t str) -> Result<Self, TokenRefusal> {
        if text.len() > TOKEN_BYTES_MAX {
            return Err(TokenRefusal::Malformed("it has more than 8 kB"));
        }
        let no_jwt = || {
            TokenRefusal::Malformed(
                "it is not a JWT in compact form: three parts with dots between",
            )
        };
        let (signed, signature) = text.rsplit_once('.').ok_or_else(no_jwt)?;
        let (header, payload) = signed.split_once('.').ok_or_else(no_jwt)?;
        if payload.contains('.') {
            return Err(no_jwt());
        }
        let decode = |part: &str| {
            let not_strict = |_| TokenRefusal::Malformed("a part is not base64url without padding");
            URL_SAFE_NO_PAD.decode(part).map_err(not_strict)
        };
        let (header, payload) = (decode(header)?, decode(payload)?);
        let signature = decode(signature)?;
        let header =
            UniqueMembers::read(&header, "the header is not a JSON object, or has a member twice")?;
        if header.get("crit").is_some() {
            return Err(TokenRefusal::Malformed("the header has `crit`"));
        }
        match header.get("typ").map(Value::text) {
            None => {}
            Some(Some(typ)) if typ.eq_ignore_ascii_case("JWT") => {}
            Some(_) => return Err(TokenRefusal::Malformed("the header's `typ` is not `JWT`")),
        }
        let alg = header.get("alg").and_then(|alg| alg.text());
        let alg = alg.ok_or(TokenRefusal::Malformed("the header has no `alg`"))?;
        let kid = header.get("kid").and_then(|kid| kid.text());
        Ok(Self { signed, alg, kid, payload, signature })
    }

    /// The key by which the token is to be checked; the token has no say in how.
    fn key<'k>(&self, keys: &'k [SigningKey]) -> Result<&'k SigningKey, TokenRefusal> {
        let Some(kid) = &self.kid else {
            return Err(TokenRefusal::Key("the header names no `kid`"));
        };
        let key = keys.iter().find(|key| key.id == *kid);
        let key =
            key.ok_or(TokenRefusal::Key("no signing key has its `kid`; it may have been revoked"))?;
        if !key.secret.has_alg(&self.alg) {
            return Err(TokenRefusal::Key("its `alg` is not that of the signing key"));
        }
        Ok(key)
    }
}

fn is_signed(secret: &SigningSecret, signed: &[u8], signature: &[u8]) -> bool {
    match secret {
        SigningSecret::Hs256(secret) => {
            // Compares in the same time wherever they differ.
            hmac::verify(&hmac_key(secret), signed, signature).is_ok()
        }
        SigningSecret::Ed25519(public) => {
            UnparsedPublicKey::new(&ED25519, public).verify(signed, signature).is_ok()
        }
    }
}

fn hmac_key(secret: &str) -> hmac::Key {
    hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes())
}

/// The claims of a token.
struct Claims {
    sub: Id,
    /// In seconds since 1970, as the next ones.
    iat: f64,
    exp: f64,
    nbf: Option<f64>,
    scope: Option<String>,
    /// The claim `tenant`; an error = it is not an id.
    tenant: Option<Result<Id, ()>>,
}

impl Claims {
    fn read(payload: &[u8]) -> Result<Self, TokenRefusal> {
        let what = "the payload is not a JSON object, or has a member twice";
        let members = UniqueMembers::read(payload, what)?;
        let number = |name, fault| match members.get(name) {
            None => Ok(None),
            Some(value) => value.number().map(Some).ok_or(TokenRefusal::Malformed(fault)),
        };
        let sub = members.get("sub").and_then(|sub| Id::new(&sub.text()?).ok());
        let sub =
            sub.ok_or(TokenRefusal::Malformed("`sub` is missing, or is no id of a recipient"))?;
        let iat = number("iat", "`iat` is no number")?;
        let iat = iat.ok_or(TokenRefusal::Malformed("`iat` is missing"))?;
        let exp = number("exp", "`exp` is no number")?;
        let exp = exp.ok_or(TokenRefusal::Malformed("`exp` is missing"))?;
        let nbf = number("nbf", "`nbf` is no number")?;
        let scope = match members.get("scope") {
            None => None,
            Some(scope) => Some(scope.text().ok_or(TokenRefusal::Malformed("`scope` is no text"))?),
        };
        if exp < iat {
            return Err(TokenRefusal::Malformed("`exp` is before `iat`"));
        }
        let tenant = members.get("tenant").filter(|tenant| !tenant.is_null());
        let tenant = tenant.map(|tenant| Id::new(&tenant.text().ok_or(())?).map_err(drop));
        Ok(Self { sub, iat, exp, nbf, scope, tenant })
    }

    /// The number of the tenant that it names; it must be that of the signing key, if the key has one.
    fn tenant_no(
        &self,
        of_key: Option<TenantNo>,
        number: impl FnOnce(&Id, i64) -> Option<TenantNo>,
    ) -> Result<Option<TenantNo>, TokenRefusal> {
        let said = match &self.tenant {
            None => None,
            Some(Err(())) => return Err(TokenRefusal::Tenant("the claim `tenant` is not an id")),
            Some(Ok(id)) => {
                let unknown = TokenRefusal::Tenant("the claim `tenant` names an unknown tenant");
                Some(number(id, whole(self.iat.floor())).ok_or(unknown)?)
            }
        };
        match of_key {
            Some(_) if said != of_key => {
                Err(TokenRefusal::Tenant("its signing key is for tokens of another tenant"))
            }
            _ => Ok(said),
        }
    }

    fn check(&self, longest_ms: i64, now: Instant) -> Result<(), TokenRefusal> {
        let numbers = [Some(self.iat), Some(self.exp), self.nbf];
        let is_out_of_range = |number: f64| number.abs() > SECOND_MAX;
        // Of the difference, which is exact where both have the same fraction.
        if numbers.into_iter().flatten().any(is_out_of_range)
            || ms(self.exp - self.iat) > longest_ms
        {
            return Err(TokenRefusal::TooLong);
        }
        let is_ahead = |number: f64| ms(number) > now.0.saturating_add(SKEW_MS);
        if is_ahead(self.iat) || self.nbf.is_some_and(is_ahead) {
            return Err(TokenRefusal::NotYet);
        }
        if has_ended(Instant(ms(self.exp)), now) {
            return Err(TokenRefusal::Expired);
        }
        Ok(())
    }
}

/// Seconds within the years of instants, in milliseconds.
fn ms(seconds: f64) -> i64 {
    whole((seconds * 1_000.0).round())
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "what is out of range becomes the end of the range"
)]
fn whole(number: f64) -> i64 {
    number as i64
}

/// Signs a token; `None` if the key can't sign, as a public key can't.
#[must_use]
pub fn sign(
    key: &SigningKey,
    recipient: &Id,
    issued_s: i64,
    expires_s: i64,
    scope: Option<&str>,
    tenant: Option<&Id>,
) -> Option<String> {
    let SigningSecret::Hs256(secret) = &key.secret else {
        return None;
    };
    let header = serde_json::json!({ "alg": key.secret.alg(), "typ": "JWT", "kid": key.id });
    let mut claims =
        serde_json::json!({ "sub": recipient.as_str(), "iat": issued_s, "exp": expires_s });
    if let Some(scope) = scope {
        claims["scope"] = scope.into();
    }
    if let Some(tenant) = tenant {
        claims["tenant"] = tenant.as_str().into();
    }
    let encode = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
    let signed = format!(
        "{}.{}",
        encode(header.to_string().as_bytes()),
        encode(claims.to_string().as_bytes())
    );
    let signature = hmac::sign(&hmac_key(secret), signed.as_bytes());
    Some(format!("{signed}.{}", encode(signature.as_ref())))
}

/// Reads a token of any bytes, signed or not, for fuzzing.
#[doc(hidden)]
pub fn read(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else {
        return;
    };
    let secret = SigningSecret::Hs256("tsk_k_s".to_owned());
    let key = SigningKey {
        id: "k".to_owned(),
        name: String::new(),
        made: Instant(0),
        scope: Some("inbox".to_owned()),
        tenant: None,
        secret,
    };
    let keys = [key];
    let check = |text: &str| Token::check(text, &keys, MINUTE_MS, Instant(0), |_, _| None);
    let refused = check(text);
    if let Ok(parts) = TokenParts::of(text)
        && refused == Err(TokenRefusal::Signature)
    {
        // What is behind a right signature.
        let signature = hmac::sign(&hmac_key("tsk_k_s"), parts.signed.as_bytes());
        let signed = format!("{}.{}", parts.signed, URL_SAFE_NO_PAD.encode(signature.as_ref()));
        assert_ne!(check(&signed), Err(TokenRefusal::Signature));
    }
}
