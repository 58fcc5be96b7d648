//! Attacks on tokens, each with the one code that it gets; and what holds of any token.

use proptest::prelude::*;
use ring::signature::{Ed25519KeyPair, KeyPair as _};
use serde_json::{Value as Json, json};

use super::*;

const NOW: Instant = Instant(1_704_110_400_000);
const NOW_S: i64 = 1_704_110_400;
const HOUR_S: i64 = 3_600;

fn pair(seed: u8) -> Ed25519KeyPair {
    Ed25519KeyPair::from_seed_unchecked(&[seed; 32]).unwrap()
}

fn public(seed: u8) -> [u8; 32] {
    pair(seed).public_key().as_ref().try_into().unwrap()
}

fn key(id: &str, secret: SigningSecret) -> SigningKey {
    let (name, made) = (String::new(), Instant(0));
    SigningKey { id: id.to_owned(), name, made, scope: None, tenant: None, secret }
}

const SECRET: &str = "tsk_h1_0123456789";

/// One key of HS256, a second one, and one of Ed25519.
fn keys() -> [SigningKey; 3] {
    let of = |secret: &str| SigningSecret::Hs256(secret.to_owned());
    [
        key("h1", of(SECRET)),
        key("h2", of("tsk_h2_9876543210")),
        key("e1", SigningSecret::Ed25519(public(7))),
    ]
}

fn encoded(part: &str) -> String {
    URL_SAFE_NO_PAD.encode(part)
}

fn hs256(secret: &[u8], header: &str, payload: &str) -> String {
    let signed = format!("{}.{}", encoded(header), encoded(payload));
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret);
    let signature = hmac::sign(&key, signed.as_bytes());
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature.as_ref()))
}

fn eddsa(pair: &Ed25519KeyPair, header: &str, payload: &str) -> String {
    let signed = format!("{}.{}", encoded(header), encoded(payload));
    let signature = pair.sign(signed.as_bytes());
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature.as_ref()))
}

fn checked(token: &str) -> Result<Token, TokenRefusal> {
    check(token, &keys())
}

fn check(token: &str, keys: &[SigningKey]) -> Result<Token, TokenRefusal> {
    Token::check(token, keys, HOUR_S * 1_000, NOW, |id, _| (id.as_str() == "acme").then(acme))
}

fn acme() -> TenantNo {
    TenantNo::of_raw(1).unwrap()
}

/// The code with which a token is refused; `None` = it is accepted.
fn code(token: &str) -> Option<&'static str> {
    Some(match checked(token).err()? {
        TokenRefusal::Malformed(_) => "malformed",
        TokenRefusal::Key(_) => "key",
        TokenRefusal::Signature => "signature",
        TokenRefusal::Tenant(_) => "tenant",
        TokenRefusal::TooLong => "too_long",
        TokenRefusal::NotYet => "not_yet",
        TokenRefusal::Expired => "expired",
    })
}

const HEADER: &str = r#"{"alg":"HS256","kid":"h1"}"#;

fn claims() -> Json {
    json!({ "sub": "ana", "iat": NOW_S, "exp": NOW_S + HOUR_S })
}

/// A token whose header is this.
fn with_header(header: &str) -> String {
    hs256(SECRET.as_bytes(), header, &claims().to_string())
}

/// A token with these claims as they are written.
fn with_payload(payload: &str) -> String {
    hs256(SECRET.as_bytes(), HEADER, payload)
}

/// A token with a claim in place of the usual one.
fn with(name: &str, value: &str) -> String {
    let mut parts = vec![format!("{name:?}:{value}")];
    for (known, value) in claims().as_object().unwrap() {
        if known != name {
            parts.push(format!("{known:?}:{value}"));
        }
    }
    with_payload(&format!("{{{}}}", parts.join(",")))
}

fn without(name: &str) -> String {
    let mut claims = claims();
    claims.as_object_mut().unwrap().shift_remove(name);
    with_payload(&claims.to_string())
}

#[test]
fn a_token_that_is_signed_by_either_algorithm_is_accepted() {
    let token = checked(&with_payload(&claims().to_string())).unwrap();
    assert_eq!(token.recipient.as_str(), "ana");
    assert_eq!((token.key.as_str(), token.issued_s), ("h1", NOW_S));
    assert_eq!(token.expires, Instant(NOW.0 + HOUR_S * 1_000));
    assert_eq!(token.scope, Scope::ALL);
    // Ed25519 has two names (RFC 9864).
    for alg in ["EdDSA", "Ed25519"] {
        let header = format!(r#"{{"typ":"jWt","alg":"{alg}","kid":"e1","x5c":[],"jwk":{{}}}}"#);
        assert_eq!(code(&eddsa(&pair(7), &header, &claims().to_string())), None, "{alg}");
    }
}

/// Situation 5 of the acceptance, as far as a token can be looked at by itself.
#[test]
fn situation_5_forged_tokens_are_refused_with_the_reason() {
    let payload = claims().to_string();
    let good = with_payload(&payload);
    let (signed, signature) = good.rsplit_once('.').unwrap();
    let (header, body) = signed.split_once('.').unwrap();
    let table: Vec<(&str, String, Option<&str>)> = vec![
        ("as it should be", good.clone(), None),
        // Of another shape.
        ("nothing", String::new(), Some("malformed")),
        ("dots", "..".to_owned(), Some("malformed")),
        ("an API key", format!("tidings_{}", "0".repeat(64)), Some("malformed")),
        ("a signing key", SECRET.to_owned(), Some("malformed")),
        ("two parts", signed.to_owned(), Some("malformed")),
        ("four parts", format!("{good}.x"), Some("malformed")),
        ("five parts, as JWE", format!("{good}.x.x"), Some("malformed")),
        ("JSON", payload, Some("malformed")),
        ("padding", format!("{good}="), Some("malformed")),
        ("padding within", format!("{header}=.{body}.{signature}"), Some("malformed")),
        ("base64 of the other alphabet", format!("{header}.{body}.+/+/"), Some("malformed")),
        ("a space within", format!("{header}.{body} .{signature}"), Some("malformed")),
        ("a line break", format!("{header}.{body}.\n{signature}"), Some("malformed")),
        ("bits that are left over", format!("{header}.{body}.AB"), Some("malformed")),
        ("8 kB and more", with("x", &format!("{:?}", "x".repeat(6_200))), Some("malformed")),
        // The header.
        (
            "a header twice",
            with_header(r#"{"alg":"none","alg":"HS256","kid":"h1"}"#),
            Some("malformed"),
        ),
        (
            "the same, written differently",
            with_header(r#"{"kid":"h2","alg":"HS256","\u006bid":"h1"}"#),
            Some("malformed"),
        ),
        (
            "a member twice below",
            with_header(r#"{"alg":"HS256","kid":"h1","jwk":[{"k":1,"k":2}]}"#),
            Some("malformed"),
        ),
        ("a list", with_header(r#"["HS256"]"#), Some("malformed")),
        ("no JSON", with_header("alg: HS256"), Some("malformed")),
        ("more behind it", with_header(&format!("{HEADER}{{}}")), Some("malformed")),
        (
            "`crit`",
            with_header(r#"{"alg":"HS256","kid":"h1","crit":["b64"],"b64":false}"#),
            Some("malformed"),
        ),
        (
            "`crit` of nothing",
            with_header(r#"{"alg":"HS256","kid":"h1","crit":null}"#),
            Some("malformed"),
        ),
        (
            "another `typ`",
            with_header(r#"{"alg":"HS256","kid":"h1","typ":"JWE"}"#),
            Some("malformed"),
        ),
        (
            "a `typ` that is no text",
            with_header(r#"{"alg":"HS256","kid":"h1","typ":null}"#),
            Some("malformed"),
        ),
        ("no `alg`", with_header(r#"{"kid":"h1"}"#), Some("malformed")),
        ("an `alg` that is no text", with_header(r#"{"alg":256,"kid":"h1"}"#), Some("malformed")),
        (
            "levels",
            with_header(&format!("{{\"x\":{}{}}}", "[".repeat(2_000), "]".repeat(2_000))),
            Some("malformed"),
        ),
    ];
    for (what, token, expected) in table {
        assert_eq!(code(&token), expected, "{what}");
    }
}

#[test]
fn situation_5_the_key_says_how_a_token_is_signed() {
    let payload = claims().to_string();
    let good = with_payload(&payload);
    let (signed, signature) = good.rsplit_once('.').unwrap();
    let (header, _) = signed.split_once('.').unwrap();
    let of = |alg: &str, kid: &str| format!(r#"{{"alg":"{alg}","kid":"{kid}"}}"#);
    let by_public = |alg| hs256(&public(7), &of(alg, "e1"), &payload);
    let pem = "-----BEGIN PUBLIC KEY-----\n…";
    let none = |alg: &str| format!("{}.{}.", encoded(&of(alg, "h1")), encoded(&payload));
    let for_ben = encoded(&payload.replace("ana", "ben"));
    let table: Vec<(&str, String, Option<&str>)> = vec![
        // The key.
        ("no `kid`", with_header(r#"{"alg":"HS256"}"#), Some("key")),
        ("a `kid` that is no text", with_header(r#"{"alg":"HS256","kid":["h1"]}"#), Some("key")),
        ("an unknown `kid`", with_header(&of("HS256", "h3")), Some("key")),
        ("a `kid` with a path", with_header(&of("HS256", "../h1")), Some("key")),
        ("`none`", none("none"), Some("key")),
        ("`None`", none("None"), Some("key")),
        ("`none`, signed", with_header(&of("none", "h1")), Some("key")),
        ("the empty `alg`", with_header(&of("", "h1")), Some("key")),
        ("small letters", with_header(&of("hs256", "h1")), Some("key")),
        ("HS512", with_header(&of("HS512", "h1")), Some("key")),
        ("RS256", with_header(&of("RS256", "e1")), Some("key")),
        ("ES256", with_header(&of("ES256", "e1")), Some("key")),
        ("EdDSA of a key of HS256", eddsa(&pair(7), &of("EdDSA", "h1"), &payload), Some("key")),
        ("Ed25519 of a key of HS256", eddsa(&pair(7), &of("Ed25519", "h1"), &payload), Some("key")),
        ("Ed448", with_header(&of("Ed448", "e1")), Some("key")),
        ("HS256 by the public key", by_public("HS256"), Some("key")),
        ("HS256 by its PEM", hs256(pem.as_bytes(), &of("HS256", "e1"), &payload), Some("key")),
        // The signature.
        ("EdDSA by HMAC", by_public("EdDSA"), Some("signature")),
        ("no signature", format!("{signed}."), Some("signature")),
        ("half of it", format!("{signed}.{}", &signature[..20]), Some("signature")),
        ("another key's", with_header(&of("HS256", "h2")), Some("signature")),
        ("another pair's", eddsa(&pair(8), &of("EdDSA", "e1"), &payload), Some("signature")),
        ("ana's for ben", format!("{header}.{for_ben}.{signature}"), Some("signature")),
        ("by the empty secret", hs256(b"", HEADER, &payload), Some("signature")),
        (
            "by a part of the secret",
            hs256(&SECRET.as_bytes()[4..], HEADER, &payload),
            Some("signature"),
        ),
        // A payload that nobody signed is not opened.
        ("no payload", format!("{header}..{signature}"), Some("signature")),
        (
            "a payload of bytes",
            format!("{header}.{}.{signature}", encoded("\u{1}")),
            Some("signature"),
        ),
    ];
    for (what, token, expected) in table {
        assert_eq!(code(&token), expected, "{what}");
    }
}

#[test]
fn situation_5_claims_are_checked_in_their_order() {
    let at = |seconds: i64| seconds.to_string();
    let (soon, late) = (NOW_S + 60, NOW_S - HOUR_S - 60);
    let long = HOUR_S + 1;
    let times =
        |iat: &str, exp: &str| with_payload(&format!(r#"{{"sub":"ana","iat":{iat},"exp":{exp}}}"#));
    let table: Vec<(&str, String, Option<&str>)> = vec![
        ("no object", with_payload("[]"), Some("malformed")),
        ("no JSON", with_payload("sub=ana"), Some("malformed")),
        ("not UTF-8 by its escapes", with("sub", r#""\ud800""#), Some("malformed")),
        (
            "a claim twice",
            with_payload(r#"{"sub":"ana","sub":"ben","iat":1,"exp":2}"#),
            Some("malformed"),
        ),
        ("no `sub`", without("sub"), Some("malformed")),
        ("no `iat`", without("iat"), Some("malformed")),
        ("no `exp`", without("exp"), Some("malformed")),
        ("`sub` of nothing", with("sub", r#""""#), Some("malformed")),
        ("`sub` with a control character", with("sub", r#""a\u0000""#), Some("malformed")),
        ("`sub` too long", with("sub", &format!("{:?}", "x".repeat(257))), Some("malformed")),
        ("`sub` a number", with("sub", "1"), Some("malformed")),
        ("`sub` a list", with("sub", r#"["ana"]"#), Some("malformed")),
        ("`sub` null", with("sub", "null"), Some("malformed")),
        ("`iat` a text", with("iat", &format!("\"{NOW_S}\"")), Some("malformed")),
        ("`exp` null", with("exp", "null"), Some("malformed")),
        ("`exp` true", with("exp", "true"), Some("malformed")),
        ("`nbf` null", with("nbf", "null"), Some("malformed")),
        ("`nbf` a text", with("nbf", r#""0""#), Some("malformed")),
        ("`scope` null", with("scope", "null"), Some("malformed")),
        ("`scope` a list", with("scope", r#"["inbox"]"#), Some("malformed")),
        ("`exp` before `iat`", with("exp", &at(NOW_S - 1)), Some("malformed")),
        ("the same, far out", times("0", "-1e400"), Some("malformed")),
        ("a tenant", with("tenant", r#""acme""#), None),
        ("an unknown tenant", with("tenant", r#""other""#), Some("tenant")),
        ("an empty tenant", with("tenant", r#""""#), Some("tenant")),
        ("a tenant of another type", with("tenant", "[]"), Some("tenant")),
        (
            "a tenant and too long a life",
            with_payload(r#"{"sub":"a","iat":1,"exp":9e9,"tenant":""}"#),
            Some("tenant"),
        ),
        ("no tenant", with("tenant", "null"), None),
        ("too long", with("exp", &at(NOW_S + long)), Some("too_long")),
        ("too long, and over", times(&at(late - long), &at(late)), Some("too_long")),
        (
            "too long, and not yet",
            times(&at(NOW_S + 90), &at(NOW_S + 91 + HOUR_S)),
            Some("too_long"),
        ),
        ("for ever", with("exp", "1e400"), Some("too_long")),
        ("never", times("1e400", "1e400"), Some("too_long")),
        ("`nbf` out of range", with("nbf", "-1e400"), Some("too_long")),
        ("a number of many digits", times(&"9".repeat(40), &"9".repeat(40)), Some("too_long")),
        ("a fraction too long", with("exp", &format!("{}.001", NOW_S + HOUR_S)), Some("too_long")),
        ("issued a minute ahead", times(&at(soon), &at(soon)), None),
        ("more than that", times(&format!("{soon}.001"), &at(soon + 1)), Some("not_yet")),
        ("`nbf` a minute ahead", with("nbf", &at(soon)), None),
        ("`nbf` more than that", with("nbf", &format!("{soon}.5")), Some("not_yet")),
        ("over for less than a minute", times(&at(late + 1), &format!("{}.001", NOW_S - 60)), None),
        ("over for a minute", times(&at(late), &at(NOW_S - 60)), Some("expired")),
        ("over for long", times("1", "2"), Some("expired")),
        ("before 1970", times("-2", "-1"), Some("expired")),
        (
            "fractions",
            times(&format!("{NOW_S}.1234567"), &format!("{}.1234567", NOW_S + HOUR_S)),
            None,
        ),
        ("exponents", times("1.7041104e9", "17041140e2"), None),
        ("other claims", with("aud", r#"[{"x":[1e400]}]"#), None),
        ("another claim with a member twice", with("aud", r#"[{"x":1,"x":2}]"#), Some("malformed")),
    ];
    for (what, token, expected) in table {
        assert_eq!(code(&token), expected, "{what}");
    }
}

#[test]
fn a_key_that_was_revoked_is_unknown() {
    let token = with_payload(&claims().to_string());
    let without = &keys()[1..];
    let refused = check(&token, without);
    assert!(matches!(refused, Err(TokenRefusal::Key(_))));
}

#[test]
fn a_revocation_takes_the_tokens_of_its_second() {
    let of = |iat: &str| {
        let exp = NOW_S + 10;
        let payload = format!(r#"{{"sub":"ana","iat":{iat},"exp":{exp}}}"#);
        checked(&with_payload(&payload)).unwrap()
    };
    let before = Instant(NOW.0 + 700);
    assert!(of(&NOW_S.to_string()).is_revoked(before));
    assert!(of(&format!("{NOW_S}.9")).is_revoked(before));
    assert!(of(&(NOW_S - 5).to_string()).is_revoked(before));
    assert!(!of(&(NOW_S + 1).to_string()).is_revoked(before));
}

#[test]
fn a_token_opens_what_its_scope_and_its_key_allow() {
    let opened = |of_key: Option<&str>, scope: Option<&str>| {
        let mut keys = keys();
        keys[0].scope = of_key.map(str::to_owned);
        let mut claims = claims();
        if let Some(scope) = scope {
            claims["scope"] = scope.into();
        }
        let token = with_payload(&claims.to_string());
        check(&token, &keys).unwrap().scope
    };
    let each = |scope: Scope| {
        [Scope::INBOX_READ, Scope::INBOX, Scope::PREFERENCES, Scope::SUBSCRIPTIONS, Scope::PUSH]
            .map(|one| scope.opens(one))
    };
    assert_eq!(each(opened(None, None)), [true; 5]);
    assert_eq!(each(opened(None, Some(""))), [false; 5]);
    assert_eq!(each(opened(None, Some("everything Inbox"))), [false; 5]);
    assert_eq!(each(opened(None, Some("inbox"))), [true, true, false, false, false]);
    assert_eq!(each(opened(None, Some("inbox:read"))), [true, false, false, false, false]);
    let two = Some("  push  preferences x");
    assert_eq!(each(opened(None, two)), [false, false, true, false, true]);
    assert_eq!(each(opened(Some("inbox push"), None)), [true, true, false, false, true]);
    assert_eq!(
        each(opened(Some("inbox:read"), Some("inbox push"))),
        [true, false, false, false, false]
    );
    assert_eq!(each(opened(Some("push"), Some("inbox"))), [false; 5]);
}

#[test]
fn a_scope_that_somebody_writes_down_has_known_words() {
    assert!(Scope::check("inbox:read push").is_ok());
    assert!(Scope::check("").is_err() && Scope::check("  ").is_err());
    let fault = Scope::check("inbox preference").unwrap_err();
    assert!(fault.hint.contains("preferences"), "{fault:?}");
}

#[test]
fn what_is_signed_here_is_accepted_and_a_public_key_signs_nothing() {
    let ana = Id::new("ana").unwrap();
    let token = sign(&keys()[0], &ana, NOW_S, NOW_S + 60, Some("push"), None).unwrap();
    let token = checked(&token).unwrap();
    assert_eq!((token.recipient, token.scope), (ana.clone(), Scope::PUSH));
    assert_eq!(sign(&keys()[2], &ana, NOW_S, NOW_S + 60, None, None), None);
}

proptest! {
    /// Whatever is changed of a token, nobody else is let in by it.
    #[test]
    fn no_changed_token_is_accepted(at in 0usize..400, byte in any::<u8>()) {
        let good = with_payload(&claims().to_string());
        let mut bytes = good.clone().into_bytes();
        let at = at % bytes.len();
        bytes[at] = byte;
        if let Ok(changed) = String::from_utf8(bytes) && changed != good {
            prop_assert!(code(&changed).is_some(), "{changed}");
        }
    }

    /// A token is accepted exactly within its time, as wide as clocks may differ.
    #[test]
    fn a_token_is_accepted_within_its_time(iat in -100_000i64..100_000, life in 0i64..2 * HOUR_S) {
        let (iat, exp) = (NOW_S + iat, NOW_S + iat + life);
        let payload = json!({ "sub": "ana", "iat": iat, "exp": exp }).to_string();
        let expected = if life > HOUR_S {
            Some("too_long")
        } else if iat > NOW_S + 60 {
            Some("not_yet")
        } else if exp + 60 <= NOW_S {
            Some("expired")
        } else {
            None
        };
        prop_assert_eq!(code(&with_payload(&payload)), expected);
    }

    /// No bytes make the reader fail, signed or not.
    #[test]
    fn any_bytes_are_answered(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        read(&bytes);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let _ = code(&with_header(&text));
        let _ = code(&with_payload(&text));
    }
}
