//! Assertions of a proxy: JWTs that say who a person is, checked by the keys that the proxy publishes (RFC 7517).
//!
//! The key says which algorithm its signatures have, and never the assertion. Claims are read once the signature is right.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents,
    UnparsedPublicKey,
};
use serde::Deserialize;
use tidings_core::Instant;

use super::json::UniqueMembers;
use super::{SECOND_MAX, SKEW_MS, TokenParts, has_ended, ms};

/// The claims that an assertion must have.
#[derive(Clone, Copy, Debug)]
pub struct AssertionRules<'r> {
    /// The issuer.
    pub issuer: &'r str,
    /// The audience.
    pub audience: &'r str,
    /// The claim that names the person.
    pub claim: &'r str,
    /// The claim with their groups; `None` = none has them.
    pub groups: Option<&'r str>,
}

/// A person, as an assertion names them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssertedPerson {
    /// The name.
    pub name: String,
    /// The groups.
    pub groups: Vec<String>,
}

/// The reason why an assertion says nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AssertionRefusal {
    /// None of the keys has its `kid`: the proxy may have new ones.
    UnknownKey,
    /// It is malformed, not signed by its key, of or for others, or not valid now.
    Refused,
}

/// The keys that a proxy publishes. Those of other kinds are left out.
#[derive(Clone, Debug, Default)]
pub struct ProxyKeys(Vec<ProxyKey>);

#[derive(Clone, Debug)]
struct ProxyKey {
    kid: Option<String>,
    of: KeyOf,
}

/// A public key by its algorithm.
#[derive(Clone, Debug)]
enum KeyOf {
    Rs256 {
        n: Vec<u8>,
        e: Vec<u8>,
    },
    /// The point, uncompressed.
    Es256(Vec<u8>),
    EdDsa(Vec<u8>),
}

/// A key as it is published.
#[derive(Deserialize)]
struct Published {
    kty: String,
    kid: Option<String>,
    alg: Option<String>,
    #[serde(rename = "use")]
    used_for: Option<String>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
}

#[derive(Deserialize)]
struct PublishedKeys {
    keys: Vec<serde_json::Value>,
}

impl ProxyKeys {
    /// Reads published keys; `None` = it is no list of them.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let published: PublishedKeys = serde_json::from_slice(bytes).ok()?;
        let keys = published.keys.into_iter().filter_map(|key| {
            let key: Published = serde_json::from_value(key).ok()?;
            let is_for_signatures = key.used_for.as_deref().is_none_or(|used| used == "sig");
            let of = KeyOf::read(&key).filter(|_| is_for_signatures)?;
            let is_its_alg = key.alg.as_deref().is_none_or(|alg| alg == of.alg());
            is_its_alg.then_some(ProxyKey { kid: key.kid, of })
        });
        Some(Self(keys.collect()))
    }
}

impl KeyOf {
    fn read(key: &Published) -> Option<Self> {
        let part = |part: &Option<String>| URL_SAFE_NO_PAD.decode(part.as_deref()?).ok();
        match (key.kty.as_str(), key.crv.as_deref()) {
            ("RSA", None) => Some(Self::Rs256 { n: part(&key.n)?, e: part(&key.e)? }),
            ("EC", Some("P-256")) => {
                let (x, y) = (part(&key.x)?, part(&key.y)?);
                let is_point = x.len() == 32 && y.len() == 32;
                is_point.then(|| Self::Es256([&[4], &x[..], &y[..]].concat()))
            }
            ("OKP", Some("Ed25519")) => Some(Self::EdDsa(part(&key.x)?)),
            _ => None,
        }
    }

    fn alg(&self) -> &'static str {
        match self {
            Self::Rs256 { .. } => "RS256",
            Self::Es256(_) => "ES256",
            Self::EdDsa(_) => "EdDSA",
        }
    }

    fn has_signed(&self, signed: &[u8], signature: &[u8]) -> bool {
        match self {
            Self::Rs256 { n, e } => {
                let key = RsaPublicKeyComponents { n, e };
                key.verify(&RSA_PKCS1_2048_8192_SHA256, signed, signature).is_ok()
            }
            Self::Es256(point) => {
                let key = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point);
                key.verify(signed, signature).is_ok()
            }
            Self::EdDsa(public) => {
                UnparsedPublicKey::new(&ED25519, public).verify(signed, signature).is_ok()
            }
        }
    }
}

impl AssertedPerson {
    /// Checks an assertion.
    ///
    /// # Errors
    /// [`AssertionRefusal`].
    pub fn check(
        text: &str,
        keys: &ProxyKeys,
        rules: AssertionRules<'_>,
        now: Instant,
    ) -> Result<Self, AssertionRefusal> {
        let refused = AssertionRefusal::Refused;
        let parts = TokenParts::of(text).map_err(|_| refused)?;
        let key = match &parts.kid {
            Some(kid) => keys.0.iter().find(|key| key.kid.as_ref() == Some(kid)),
            // Without a name it can only be that of the only key.
            None => keys.0.first().filter(|_| keys.0.len() == 1),
        };
        let key = key.ok_or(AssertionRefusal::UnknownKey)?;
        if key.of.alg() != parts.alg
            || !key.of.has_signed(parts.signed.as_bytes(), &parts.signature)
        {
            return Err(refused);
        }
        let claims = UniqueMembers::read(&parts.payload, "").map_err(|_| refused)?;
        let text = |name: &str| claims.get(name).and_then(super::json::Value::text);
        let texts = |name: &str| claims.get(name).and_then(super::json::Value::texts);
        let number = |name: &str| match claims.get(name) {
            None => Ok(None),
            Some(value) => {
                let number = value.number().filter(|number| number.abs() <= SECOND_MAX);
                number.map(Some).ok_or(refused)
            }
        };
        let audience = texts("aud").or_else(|| Some(vec![text("aud")?])).unwrap_or_default();
        let expires = number("exp")?.ok_or(refused)?;
        let is_ahead = |at: f64| ms(at) > now.0.saturating_add(SKEW_MS);
        if text("iss").as_deref() != Some(rules.issuer)
            || !audience.iter().any(|audience| audience == rules.audience)
            || has_ended(Instant(ms(expires)), now)
            || number("nbf")?.is_some_and(is_ahead)
            || number("iat")?.is_some_and(is_ahead)
        {
            return Err(refused);
        }
        let name = text(rules.claim).map(|name| name.trim().to_owned());
        let name = name.filter(|name| !name.is_empty()).ok_or(refused)?;
        let groups = rules.groups.and_then(texts).unwrap_or_default();
        Ok(Self { name, groups })
    }
}

#[cfg(test)]
mod tests {
    use ring::rand::SystemRandom;
    use ring::signature::{
        ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _,
    };
    use serde_json::{Value, json};

    use super::*;

    /// The modulus of a key, and an assertion that it has signed, by openssl.
    const RSA: (&str, &str) = (
        "o4ZeArid_19RKxl5YDM8e5S1VRv8mj3KqPDDBIPicbjThoby9SX8fzKcu0XvioZktOECm39hpvXcM9zB1Q8VfQivyZWKsLdM_nN5WnHGSp-Ej0A6oNjgatGAGdBJEvI9ZirSDVbBheAOqDVHgcfmML9rV3AVhkm2tKM2bjYLDflukjKczuZJc0JLcE1B-PnlSoDnU8mCLx85-ZO9CwlR9L4glMj6CvUy04hbW1O_CejigzzmUguMen_-59R5NzHfsJ4YBncRmjmsWCR0C9nMyOta1m1rzhgwt0un_xWnxO_wO9lTtWMg9E5DudP9FDTZPMfMmD9rnvvLxIgOBN62nw",
        "eyJhbGciOiAiUlMyNTYiLCAia2lkIjogInIxIn0.eyJpc3MiOiAiaHR0cHM6Ly9pZHAuZXhhbXBsZS5vcmciLCAiYXVkIjogWyJvdGhlciIsICJ0aWRpbmdzIl0sICJleHAiOiAyMDAwMDAwMDAwLCAiaWF0IjogMTcwMDAwMDAwMCwgImVtYWlsIjogIm1hcmFAZXhhbXBsZS5vcmciLCAiZ3JvdXBzIjogWyJzdXBwb3J0IiwgIm9wcyJdfQ.WDsKM5ROwHKuUqBWe7g93JB7F7o8a5RP_t9Ps8fZkNU-JydDVqiw1ICXDASmUJRM46ATJk8DV4IJdL9tQFc59ORN47X2RZa4OFz9dYTUXFWXhssD9u6IgHFQJIliDUkBkX5t1Vc8mYTUkB9wuIfMfGF6u2QPKEo4bZqiaYz3qAmi8so0rIsSqSwDeekbhjvNsqlKmbVfdmS81mi57NerM38vzeMhejI8fO9YtlgdJV0fVv0mJ9LNZaEFxRv4RMdFiZZBS8dWZjQ7OVdjVrR26BQz7CWlIXtz_O1R51G1xAiwy_gMrYXzeZhamKV45YK6e5GvEYEn5UEOUIe5q47H4g",
    );

    const RULES: AssertionRules<'static> = AssertionRules {
        issuer: "https://idp.example.org",
        audience: "tidings",
        claim: "email",
        groups: Some("groups"),
    };

    const NOW: Instant = Instant(1_800_000_000_000);

    fn mara() -> AssertedPerson {
        let groups = vec!["support".to_owned(), "ops".to_owned()];
        AssertedPerson { name: "mara@example.org".to_owned(), groups }
    }

    fn keys(keys: &Value) -> ProxyKeys {
        ProxyKeys::read(json!({ "keys": keys }).to_string().as_bytes()).unwrap()
    }

    fn claims() -> Value {
        json!({
            "iss": "https://idp.example.org", "aud": "tidings", "exp": 1_800_000_300,
            "email": "mara@example.org", "groups": ["support", "ops"],
        })
    }

    /// A key of Ed25519 with the id `e1`, and its published form.
    struct Signer {
        pair: Ed25519KeyPair,
        keys: ProxyKeys,
    }

    impl Signer {
        fn new() -> Self {
            let pair = Ed25519KeyPair::from_seed_unchecked(&[7; 32]).unwrap();
            let x = URL_SAFE_NO_PAD.encode(pair.public_key());
            let published = json!([{"kty": "OKP", "crv": "Ed25519", "kid": "e1", "x": x}]);
            Self { pair, keys: keys(&published) }
        }

        fn sign(&self, header: &Value, claims: &Value) -> String {
            let part = |part: &Value| URL_SAFE_NO_PAD.encode(part.to_string());
            let signed = format!("{}.{}", part(header), part(claims));
            let signature = URL_SAFE_NO_PAD.encode(self.pair.sign(signed.as_bytes()));
            format!("{signed}.{signature}")
        }

        fn check(&self, claims: &Value) -> Result<AssertedPerson, AssertionRefusal> {
            let text = self.sign(&json!({"alg": "EdDSA", "kid": "e1"}), claims);
            AssertedPerson::check(&text, &self.keys, RULES, NOW)
        }
    }

    #[test]
    fn an_assertion_of_each_algorithm_names_a_person() {
        let (n, text) = RSA;
        let rsa = keys(
            &json!([{"kty": "RSA", "kid": "r1", "alg": "RS256", "use": "sig", "n": n, "e": "AQAB"}]),
        );
        assert_eq!(AssertedPerson::check(text, &rsa, RULES, NOW), Ok(mara()));
        assert_eq!(Signer::new().check(&claims()), Ok(mara()));

        let random = SystemRandom::new();
        let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let document = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
        let pair = EcdsaKeyPair::from_pkcs8(algorithm, document.as_ref(), &random).unwrap();
        let point = pair.public_key().as_ref();
        let part = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        let (x, y) = (part(&point[1..33]), part(&point[33..]));
        let published = keys(&json!([{"kty": "EC", "crv": "P-256", "x": x, "y": y}]));
        let header = part(json!({"alg": "ES256", "typ": "JWT"}).to_string().as_bytes());
        let signed = format!("{header}.{}", part(claims().to_string().as_bytes()));
        let signature = part(pair.sign(&random, signed.as_bytes()).unwrap().as_ref());
        let text = format!("{signed}.{signature}");
        assert_eq!(AssertedPerson::check(&text, &published, RULES, NOW), Ok(mara()));
    }

    #[test]
    fn what_is_of_others_for_others_or_not_of_now_is_refused() {
        let signer = Signer::new();
        for (name, value) in [
            ("iss", json!("https://evil.example")),
            ("iss", json!(null)),
            ("aud", json!("another")),
            ("aud", json!(["another"])),
            ("aud", json!({"tidings": 1})),
            ("exp", json!(1_799_999_000)),
            ("exp", json!(null)),
            ("exp", json!("1800000300")),
            ("exp", json!(1e300)),
            ("nbf", json!(1_800_000_200)),
            ("iat", json!(1_800_000_200)),
            ("email", json!("")),
            ("email", json!(["mara@example.org"])),
        ] {
            let mut claims = claims();
            claims[name] = value.clone();
            assert_eq!(signer.check(&claims), Err(AssertionRefusal::Refused), "{name} {value}");
        }
    }

    #[test]
    fn the_key_says_the_algorithm_and_the_assertion_does_not() {
        let signer = Signer::new();
        let check = |text: &str| AssertedPerson::check(text, &signer.keys, RULES, NOW);
        for alg in ["none", "HS256", "RS256", "ES256", "eddsa", ""] {
            let text = signer.sign(&json!({"alg": alg, "kid": "e1"}), &claims());
            assert_eq!(check(&text), Err(AssertionRefusal::Refused), "{alg}");
        }
        let other = signer.sign(&json!({"alg": "EdDSA", "kid": "e2"}), &claims());
        assert_eq!(check(&other), Err(AssertionRefusal::UnknownKey));
        let text = signer.sign(&json!({"alg": "EdDSA", "kid": "e1"}), &claims());
        let unsigned = format!("{}.", text.rsplit_once('.').unwrap().0);
        for bad in [&unsigned, &text[1..], "", "a.b.c", &format!("{text}.{text}")] {
            assert_eq!(check(bad), Err(AssertionRefusal::Refused), "{bad}");
        }
        let twice = format!(
            "{}, \"email\": \"eve@example.org\"}}",
            claims().to_string().trim_end_matches('}')
        );
        let part = |part: &str| URL_SAFE_NO_PAD.encode(part);
        let signed = format!("{}.{}", part(r#"{"alg":"EdDSA","kid":"e1"}"#), part(&twice));
        let text =
            format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signer.pair.sign(signed.as_bytes())));
        assert_eq!(check(&text), Err(AssertionRefusal::Refused), "a claim twice");
    }
}
