//! Errors of calls by whoever may not make them.

use axum::body::Body;
use axum::http::{Method, Request};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;
use serde_json::json;
use tidings_api::keys::NewKey;
use tidings_core::{Id, Instant};
use tidings_node::{CallerId, KeyChange, Role};

use super::{Call, KEY, open, server};
use crate::rig::{Answered, Rig, user_token};
use crate::{Access, Settings};

/// The answers of calls where an error comes about that has to do with who calls; `None` = the error is another.
pub(super) fn answers(code: &str, calls: &[&Call]) -> Option<Vec<Answered>> {
    let all = |send: &dyn Fn(&Call) -> Answered| calls.iter().map(|call| send(call)).collect();
    Some(match code {
        "unauthorized" => {
            let (rig, _) = server(Access::Keys { token: None }, Settings::default());
            all(&|call| call.send(&rig))
        }
        "role" => {
            let (rig, _) = server(Access::Keys { token: None }, Settings::default());
            let key = NewKey::make(String::new(), Role::Figures, Instant(0)).unwrap();
            let bearer = format!("Bearer {}", key.secret.text());
            rig.change_keys(KeyChange::Make(key.stored));
            all(&|call| call.send_with(&rig, ("authorization", &bearer)))
        }
        "busy" => {
            let (rig, _) = server(Access::Keys { token: None }, Settings::default());
            let key = NewKey::make(String::new(), Role::Admin, Instant(0)).unwrap();
            let bearer = format!("Bearer {}", key.secret.text());
            let ann = CallerId::Recipient(Id::new("ann").unwrap());
            let held = [CallerId::Key(key.stored.id.as_str().into()), ann].map(|caller| {
                let mut room = rig.service.answers.of(caller);
                room.hold_anyway(usize::MAX >> 2);
                room
            });
            rig.change_keys(KeyChange::Make(key.stored));
            let answers = all(&|call| match call.is_mine() {
                true => call.send(&rig),
                false => call.send_with(&rig, ("authorization", &bearer)),
            });
            drop(held);
            answers
        }
        "users_off" => {
            let rig = Rig::new();
            all(&|call| call.send(&rig))
        }
        "scope" => {
            let (rig, _) = open();
            all(&|call| call.send_by(&rig, &user_token(KEY, "ann", Some(""))))
        }
        "token_missing" => {
            let (rig, _) = open();
            all(&|call| {
                let request = Request::builder().method(&call.method).uri(&call.path);
                call.ask(&rig, request.body(Body::empty()).unwrap())
            })
        }
        "token_revoked" => {
            let (rig, _) = open();
            rig.call(Method::POST, "/v1/recipients/ann/tokens/revoke", &json!({}));
            all(&|call| call.send(&rig))
        }
        _ => {
            let token = refused(code)?;
            let (rig, _) = open();
            all(&|call| call.send_by(&rig, &token))
        }
    })
}

/// A token that is refused with this code.
fn refused(code: &str) -> Option<String> {
    let now = 1_704_110_400;
    Some(match code {
        "token_malformed" => "x".to_owned(),
        "token_key" => user_token("k2", "ann", None),
        "token_signature" => user_token(KEY, "ann", None) + "AAAA",
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
