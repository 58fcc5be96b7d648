//! Firebase: a login, messages, a login again.

use ring::signature::{RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey};

use super::super::super::super::patience::ServerTimeouts;
use super::super::super::{Http, ProviderUrl};
use super::*;
use crate::channel::http::push::fcm::Fcm;
use crate::clock::Clock;
use crate::clock::virtual_clock::VirtualClock;

/// A key that signs nothing but tests.
const KEY: &str = include_str!("../../../../../../tidings-mail/tests/mail/rsa.pem");

fn message_with_badge(message: &Rendered, badge: u64) -> Rendered {
    let head = MessageHead { badge: Some(badge), ..(*message.head).clone() };
    Rendered { head: head.into(), ..message.clone() }
}

fn channel(server: &Server, clock: &Arc<VirtualClock>) -> Http {
    channel_with(server, clock, "")
}

fn channel_with(server: &Server, clock: &Arc<VirtualClock>, options: &str) -> Http {
    let account = json!({
        "type": "service_account",
        "project_id": "art-1",
        "client_email": "push@art-1.iam.gserviceaccount.com",
        "private_key": KEY,
        "token_uri": format!("{}/token", server.base),
    });
    let rest = format!("${{ACCOUNT}}?base={}{options}", server.base);
    let secrets = |_: &str| Ok(account.to_string());
    let url = ProviderUrl::parse("fcm", &rest, &secrets).unwrap();
    let shape = Fcm::parse(url).unwrap();
    let clock: Arc<dyn Clock> = Arc::clone(clock) as _;
    Http::new(Arc::new(shape), ServerTimeouts::default(), clock).unwrap()
}

fn decoded(text: &str) -> Vec<u8> {
    use base64::Engine as _;
    let url_safe = base64::engine::general_purpose::URL_SAFE_NO_PAD;
    url_safe.decode(text).unwrap()
}

/// Checks what the service account says of itself (RFC 7523).
fn check_login(heard: &Heard) {
    assert_eq!(heard.line, "POST /token HTTP/1.1");
    let body = String::from_utf8(heard.body.clone()).unwrap();
    let start = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant%2Dtype%3Ajwt%2Dbearer&assertion=";
    let assertion = body.strip_prefix(start).expect(&body);
    let (signed, signature) = assertion.rsplit_once('.').unwrap();
    let (_, claims) = signed.split_once('.').unwrap();
    let claims: Value = serde_json::from_slice(&decoded(claims)).unwrap();
    assert_eq!(claims["iss"], "push@art-1.iam.gserviceaccount.com");
    let scope = "https://www.googleapis.com/auth/firebase.messaging";
    assert_eq!(claims["scope"], scope);
    assert!(claims["aud"].as_str().unwrap().ends_with("/token"));
    assert_eq!(claims["exp"].as_i64().unwrap() - claims["iat"].as_i64().unwrap(), 3_600);
    let key = {
        use rustls::pki_types::PrivatePkcs8KeyDer;
        use rustls::pki_types::pem::PemObject;
        let der = PrivatePkcs8KeyDer::from_pem_slice(KEY.as_bytes()).unwrap();
        ring::signature::RsaKeyPair::from_pkcs8(der.secret_pkcs8_der()).unwrap()
    };
    let public = UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, key.public());
    let checked = public.verify(signed.as_bytes(), &decoded(signature));
    assert!(checked.is_ok());
}

const LOGGED_IN: &str = r#"{"access_token":"ya29.token","expires_in":3599,"token_type":"Bearer"}"#;
const TAKEN: &str = r#"{"name":"projects/art-1/messages/0:150"}"#;

/// The errors that it documents, with the class of each. The last one ends the login.
fn errors() -> Vec<(Says, &'static str)> {
    vec![
        (
            says(
                404,
                "",
                r#"{"error":{"code":404,"status":"NOT_FOUND","details":[{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"UNREGISTERED"}]}}"#,
            ),
            "dead",
        ),
        (
            says(
                400,
                "",
                r#"{"error":{"code":400,"status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"message.token"}]}]}}"#,
            ),
            "dead",
        ),
        (
            says(
                400,
                "",
                r#"{"error":{"code":400,"status":"INVALID_ARGUMENT","details":[{"errorCode":"INVALID_ARGUMENT"}]}}"#,
            ),
            "failed",
        ),
        (
            says(
                400,
                "",
                r#"{"error":{"code":400,"status":"INVALID_ARGUMENT","message":"The registration token is not a valid FCM registration token","details":[{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"INVALID_ARGUMENT"}]}}"#,
            ),
            "dead",
        ),
        (
            says(
                403,
                "",
                r#"{"error":{"code":403,"status":"PERMISSION_DENIED","details":[{"errorCode":"SENDER_ID_MISMATCH"}]}}"#,
            ),
            "dead",
        ),
        (says(403, "", r#"{"error":{"code":403,"status":"PERMISSION_DENIED"}}"#), "away"),
        (says(404, "", r#"{"error":{"code":404,"status":"NOT_FOUND"}}"#), "away"),
        (
            says(
                429,
                "retry-after: 60\r\n",
                r#"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","details":[{"errorCode":"QUOTA_EXCEEDED"}]}}"#,
            ),
            "away, with a wait",
        ),
        (says(500, "", r#"{"error":{"code":500,"status":"INTERNAL"}}"#), "away"),
        (
            says(503, "retry-after: 10\r\n", r#"{"error":{"code":503,"status":"UNAVAILABLE"}}"#),
            "away, with a wait",
        ),
        (says(401, "", r#"{"error":{"code":401,"status":"UNAUTHENTICATED"}}"#), "away"),
    ]
}

#[test]
fn fcm_takes_messages_after_a_login() {
    let server = Server::start();
    let clock = Arc::new(VirtualClock::default());
    clock.set(super::super::super::super::sample::NOW);
    let channel = channel(&server, &clock);
    let message = note("fcm", &["dXp:APA91b"], None);
    for body in [LOGGED_IN, TAKEN] {
        server.answer(Some(says(200, "", body)));
    }
    let outcome = channel.send(&message, GO);
    assert_eq!(class(&outcome), "sent", "{outcome:?}");
    check_login(&server.heard.recv().unwrap());
    let heard = server.heard.recv().unwrap();
    assert_eq!(heard.line, "POST /v1/projects/art-1/messages:send HTTP/1.1");
    assert_eq!(heard.header("authorization"), "Bearer ya29.token");
    let body = &heard.json()["message"];
    assert_eq!(body["token"], "dXp:APA91b");
    assert_eq!(body["notification"]["title"], "A <title> & more");
    assert_eq!(body["data"]["tidings_batch"], "b1");
    assert_eq!(body["data"]["url"], "https://example.org");
    assert_eq!(body["apns"]["payload"]["aps"], json!({"sound": "default"}));
    assert_eq!(body["android"]["notification"], json!({"tag": "b1", "default_sound": true}));
    // What an icon shows, and no sound where none is wanted.
    let silent = message_with_badge(&message, 3);
    let quiet = self::channel_with(&server, &clock, "&sound=none");
    for body in [LOGGED_IN, TAKEN] {
        server.answer(Some(says(200, "", body)));
    }
    assert_eq!(class(&quiet.send(&silent, GO)), "sent");
    server.heard.recv().unwrap();
    let body = &server.heard.recv().unwrap().json()["message"];
    assert_eq!(body["apns"]["payload"]["aps"], json!({"badge": 3}));
    assert_eq!(body["android"]["notification"], json!({"tag": "b1", "notification_count": 3}));

    // The login is good for the next ones.
    for (answer, expected) in errors() {
        server.answer(Some(answer));
        let outcome = channel.send(&message, GO);
        assert_eq!(class(&outcome), expected, "{outcome:?}");
        server.heard.recv().unwrap();
    }
    // A login that is refused is an operator's to mend, and nothing was handed over.
    server.answer(Some(says(400, "", r#"{"error":"invalid_grant"}"#)));
    let refused = channel.send(&message, &|| panic!("there is no login"));
    assert_eq!(class(&refused), "away");
    assert_eq!(refused.words(), Some("login: reply: 400 invalid_grant"));
    check_login(&server.heard.recv().unwrap());
    // One that has run out is asked for again.
    for body in [LOGGED_IN, TAKEN, LOGGED_IN, TAKEN] {
        server.answer(Some(says(200, "", body)));
    }
    assert_eq!(class(&channel.send(&message, GO)), "sent");
    clock.set(clock.now().plus_ms(3_600_000));
    assert_eq!(class(&channel.send(&message, GO)), "sent");
    let lines: Vec<_> = server.heard.try_iter().map(|heard| heard.line).collect();
    assert_eq!(lines.iter().filter(|line| line.contains("/token")).count(), 2);
}

#[test]
fn a_service_account_that_is_none_is_told() {
    for (account, told) in
        [("{", "JSON"), ("{}", "`private_key`"), (r#"{"private_key":"x"}"#, "PEM")]
    {
        let secrets = |_: &str| Ok(account.to_owned());
        let url = ProviderUrl::parse("fcm", "${ACCOUNT}", &secrets).unwrap();
        let fault = Fcm::parse(url).err().unwrap().to_string();
        assert!(fault.contains(told), "{fault}");
    }
}
