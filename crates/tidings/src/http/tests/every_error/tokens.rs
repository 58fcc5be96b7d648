//! Tokens that are refused, one for each code.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;

use crate::http::rig::user_token;

/// A token that is refused with this code.
pub(super) fn refused(code: &str) -> Option<String> {
    let now = 1_704_110_400;
    Some(match code {
        "token_malformed" => "x".to_owned(),
        "token_key" => user_token("k2", "ann", None),
        "token_signature" => user_token("k1", "ann", None) + "AAAA",
        "token_tenant" => claiming(now, now + 9, r#","tenant":"t""#),
        "token_too_long" => claiming(now, now + 9_000, ""),
        "token_not_yet" => claiming(now + 90, now + 99, ""),
        "token_expired" => claiming(now - 99, now - 90, ""),
        _ => return None,
    })
}

/// A token for this time, with more claims.
fn claiming(iat: i64, exp: i64, more: &str) -> String {
    let payload = format!(r#"{{"sub":"ann","iat":{iat},"exp":{exp}{more}}}"#);
    let signed = [r#"{"alg":"HS256","kid":"k1"}"#, &payload];
    let signed = signed.map(|part| URL_SAFE_NO_PAD.encode(part)).join(".");
    let secret = hmac::Key::new(hmac::HMAC_SHA256, b"tsk_k1_test");
    let signature = hmac::sign(&secret, signed.as_bytes());
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature.as_ref()))
}
