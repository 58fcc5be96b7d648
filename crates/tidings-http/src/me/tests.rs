//! Calls of end users: what a token opens, what it doesn't, and whom its pages may be of.

mod parameters;

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};
use tidings_api::keys::Secret;
use tidings_api::token::sign;
use tidings_node::{SigningKey, SigningSecret};

use crate::rig::{Answered, CONFIG, Rig};
use crate::{Access, Settings};

const USERS: &str = "[users]\norigins = [\"https://app.example.org\"]\ntopics = [\"artist/\"]\n";

const INBOX: &str = "/v1/me/inbox";

/// The second of noon of the first day of 2024.
const NOW_S: i64 = 1_704_110_400;

/// A server whose API key is `admin`.
struct Server {
    rig: Rig,
    admin: Secret,
}

impl Server {
    fn new() -> Self {
        Self::with(&format!("{CONFIG}{USERS}"))
    }

    fn with(config: &str) -> Self {
        let admin = Secret::random().unwrap();
        let access = Access::Keys { token: Some(admin.hash()) };
        Self { rig: Rig::with(config, access, Settings::default()), admin }
    }

    fn send(&self, method: Method, path: &str, bearer: &str, body: &Value) -> Answered {
        let authorization = format!("Bearer {bearer}");
        let headers = [("authorization", &*authorization), ("content-type", "application/json")];
        let body = if body.is_null() { String::new() } else { body.to_string() };
        self.rig.send(method, path, &headers, body)
    }

    fn host(&self, method: Method, path: &str, body: &Value) -> Answered {
        let answer = self.send(method, path, self.admin.text(), body);
        assert!(answer.status.is_success(), "{path}: {answer:?}");
        answer
    }

    fn make_recipient(&self, id: &str) {
        self.host(Method::PUT, &format!("/v1/recipients/{id}"), &json!({}));
    }

    fn publish(&self, event: &str, recipient: &str) {
        let to = json!({ "recipients": [recipient] });
        let body = json!({ "id": event, "type": "note", "object": { "id": event }, "to": to });
        self.host(Method::POST, "/v1/events", &body);
    }

    /// Makes a signing key by the API.
    fn signing_key(&self, body: &Value) -> SigningKey {
        let made = self.host(Method::POST, "/v1/admin/signing-keys", body).json();
        let text = |name: &str| made[name].as_str().unwrap_or_default().to_owned();
        SigningKey {
            id: text("id"),
            name: text("name"),
            made: tidings_core::Instant(0),
            tenant: None,
            scope: None,
            secret: SigningSecret::Hs256(text("secret")),
        }
    }

    /// A token by a key that is made for it.
    fn token(&self, recipient: &str) -> String {
        token(&self.signing_key(&json!({})), recipient, None)
    }

    fn get(&self, path: &str, token: &str) -> Answered {
        self.send(Method::GET, path, token, &Value::Null)
    }
}

fn token(key: &SigningKey, recipient: &str, scope: Option<&str>) -> String {
    let recipient = tidings_core::Id::new(recipient).unwrap();
    sign(key, &recipient, NOW_S, NOW_S + 900, scope, None).unwrap()
}

fn code(answer: &Answered) -> (u16, String) {
    let code = answer.json()["code"].as_str().unwrap_or_default().to_owned();
    (answer.status.as_u16(), code)
}

fn refused(status: u16, code: &str) -> (u16, String) {
    (status, code.to_owned())
}

#[test]
fn a_token_opens_the_calls_of_its_recipient() {
    let server = Server::new();
    server.make_recipient("ana");
    server.make_recipient("ben");
    server.publish("e1", "ana");
    server.publish("e2", "ben");
    let token = server.token("ana");
    let page = server.get(INBOX, &token).json();
    assert_eq!(page["groups"].as_array().unwrap().len(), 1);
    assert_eq!(page["groups"][0]["items"][0]["event"], "e1");
    let twin = server.host(Method::GET, "/v1/recipients/ana/inbox", &Value::Null);
    assert_eq!(twin.json(), page);

    let change = |method, path: &str, body: Value| {
        let answer = server.send(method, path, &token, &body);
        assert!(answer.status.is_success(), "{path}: {answer:?}");
    };
    change(Method::POST, "/v1/me/inbox/seen", json!({ "event": "e1" }));
    change(Method::POST, "/v1/me/inbox/read", json!({ "event": "e2" }));
    change(Method::PUT, "/v1/me/subscriptions/artist/42", Value::Null);
    change(Method::POST, "/v1/me/flush", Value::Null);
    let never = json!([{ "type": "note", "channel": "email", "mode": "never" }]);
    change(Method::PATCH, "/v1/me/preferences", never.clone());
    assert_eq!(server.get(INBOX, &token).json()["unseen"], 0);
    assert_eq!(server.get("/v1/me/subscriptions", &token).json()["topics"], json!(["artist/42"]));
    assert_eq!(server.get("/v1/me/preferences", &token).json()["preferences"], never);
    assert_eq!(server.get("/v1/me/pending", &token).json()["lanes"], json!([]));
    change(Method::DELETE, "/v1/me/subscriptions/artist%2F42", Value::Null);
    // What was ben's is as it was.
    let of_ben = |path: &str| {
        let path = format!("/v1/recipients/ben/{path}");
        server.host(Method::GET, &path, &Value::Null).json()
    };
    assert_eq!(of_ben("inbox")["unread"], 1);
    assert_eq!(of_ben("preferences"), json!([]));
}

/// Situation 5 of the acceptance: the reason is named, nothing is read, and no answer repeats a token.
#[test]
fn situation_5_a_page_with_the_wrong_secret_reads_nothing() {
    let server = Server::new();
    server.make_recipient("ana");
    server.publish("e1", "ana");
    let key = server.signing_key(&json!({}));
    let SigningSecret::Hs256(secret) = &key.secret else { panic!() };
    let good = token(&key, "ana", None);
    assert_eq!(server.get(INBOX, &good).status, StatusCode::OK);
    let parts: Vec<&str> = good.split('.').collect();
    let of_ben = token(&key, "ben", None);
    let swapped = format!("{}.{}.{}", parts[0], of_ben.split('.').nth(1).unwrap(), parts[2]);
    for (bearer, expected) in [
        (server.admin.text(), "token_malformed"),
        (secret, "token_malformed"),
        ("", "token_malformed"),
        (&format!("{}.{}", parts[0], parts[1]), "token_malformed"),
        (&swapped, "token_signature"),
    ] {
        let answer = server.get(INBOX, bearer);
        assert_eq!(code(&answer), refused(401, expected));
        assert_eq!(answer.headers["www-authenticate"], "Bearer realm=\"tidings\"");
        let text = String::from_utf8(answer.bytes).unwrap();
        assert!(bearer.is_empty() || !text.contains(bearer), "{text}");
        assert!(!text.contains("e1"), "{text}");
    }
    // No token but in the header.
    let cookie = format!("token={good}");
    for (path, header) in [
        (format!("{INBOX}?token={good}"), ("x", "y")),
        (format!("{INBOX}?access_token={good}"), ("x", "y")),
        (INBOX.to_owned(), ("cookie", &*cookie)),
        (INBOX.to_owned(), ("authorization", "Basic YW5hOng=")),
    ] {
        let answer = server.rig.send(Method::GET, &path, &[header], "");
        assert_eq!(code(&answer), refused(401, "token_missing"), "{path}");
    }
    let headers = [("authorization", &*format!("bEaReR {good}"))];
    assert_eq!(server.rig.send(Method::GET, INBOX, &headers, "").status, StatusCode::OK);
    // A token opens nothing else, and a signing key nothing at all.
    for path in ["/v1/recipients/ana/inbox", "/v1/types", "/v1/admin/keys", "/metrics"] {
        for bearer in [&good, secret] {
            let unknown = server.get(path, "tidings_0");
            let answer = server.get(path, bearer);
            assert_eq!(answer.bytes, unknown.bytes, "{path}");
            assert_eq!(code(&answer), refused(401, "unauthorized"));
        }
    }
    // Later it is over.
    server.rig.at("2024-01-01T12:15:59Z");
    assert_eq!(server.get(INBOX, &good).status, StatusCode::OK);
    server.rig.at("2024-01-01T12:16:00Z");
    assert_eq!(code(&server.get(INBOX, &good)), refused(401, "token_expired"));
}

#[test]
fn without_users_every_call_with_a_token_is_refused_before_anything_else() {
    let server = Server::with(CONFIG);
    for bearer in ["", "x", server.admin.text()] {
        for path in [INBOX, "/v1/me", "/v1/me/none"] {
            assert_eq!(code(&server.get(path, bearer)), refused(403, "users_off"), "{path}");
        }
    }
    let bare = server.rig.send(Method::GET, INBOX, &[], "");
    assert_eq!(code(&bare), refused(403, "users_off"));
    // With it, what is not there is told to those who may come.
    let server = Server::new();
    assert_eq!(code(&server.get("/v1/me/none", "x")), refused(401, "token_malformed"));
    let token = server.token("ana");
    assert_eq!(code(&server.get("/v1/me/none", &token)), refused(404, "not_found"));
    assert_eq!(code(&server.get("/v1/mess", &token)), refused(401, "unauthorized"));
}

#[test]
fn dev_opens_the_calls_of_end_users_to_nobody() {
    let rig = Rig::with(&format!("{CONFIG}{USERS}"), Access::Open, Settings::default());
    let bare = rig.send(Method::GET, INBOX, &[], "");
    assert_eq!(code(&bare), refused(401, "token_missing"));
    let made = rig.call(Method::POST, "/v1/admin/tokens", &json!({ "recipient": "ana" })).json();
    let bearer = format!("Bearer {}", made["token"].as_str().unwrap());
    // A page of an open origin may call, though it is of another site.
    let headers = [("authorization", &*bearer), ("origin", "https://app.example.org")];
    let page = rig.send(Method::GET, INBOX, &headers, "");
    assert_eq!(page.status, StatusCode::OK);
    assert_eq!(page.headers["access-control-allow-origin"], "https://app.example.org");
}

#[test]
fn each_call_needs_its_scope() {
    let server = Server::new();
    server.make_recipient("ana");
    let key = server.signing_key(&json!({}));
    let read = |path: &'static str| (Method::GET, path, Value::Null);
    let mark = json!({ "up_to": "2024-01-01T00:00:00Z" });
    let calls = [
        (read("/v1/me/inbox"), ["inbox", "inbox:read"].as_slice()),
        (read("/v1/me/pending"), &["inbox", "inbox:read"]),
        ((Method::POST, "/v1/me/inbox/seen", mark.clone()), &["inbox"]),
        ((Method::POST, "/v1/me/inbox/read", mark), &["inbox"]),
        ((Method::POST, "/v1/me/flush", json!({})), &["inbox"]),
        (read("/v1/me/preferences"), &["preferences"]),
        ((Method::PATCH, "/v1/me/preferences", json!([])), &["preferences"]),
        (read("/v1/me/subscriptions"), &["subscriptions"]),
        ((Method::PUT, "/v1/me/subscriptions/artist/1", Value::Null), &["subscriptions"]),
        ((Method::DELETE, "/v1/me/subscriptions/artist/1", Value::Null), &["subscriptions"]),
    ];
    let scopes = ["inbox", "inbox:read", "preferences", "subscriptions", "push", "", "admin"];
    for ((method, path, body), opened_by) in calls {
        for scope in scopes {
            let token = token(&key, "ana", Some(scope));
            let answer = server.send(method.clone(), path, &token, &body);
            if opened_by.contains(&scope) {
                assert!(answer.status.is_success(), "{path} {scope}: {answer:?}");
            } else {
                assert_eq!(code(&answer), refused(403, "scope"), "{path} {scope}");
            }
        }
    }
    // A key's scope bounds that of its tokens.
    let narrow = server.signing_key(&json!({ "scope": "push" }));
    let answer = server.get(INBOX, &token(&narrow, "ana", Some("inbox")));
    assert_eq!(code(&answer), refused(403, "scope"));
}

#[test]
fn whom_nobody_has_made_has_nothing_and_changes_nothing() {
    let server = Server::new();
    let token = server.token("nobody");
    let page = server.get(INBOX, &token).json();
    assert_eq!(page["groups"], json!([]));
    assert_eq!(
        (&page["unseen"], &page["unread"], &page["next"]),
        (&json!(0), &json!(0), &Value::Null)
    );
    assert_eq!(server.get("/v1/me/pending", &token).json()["lanes"], json!([]));
    assert_eq!(server.get("/v1/me/subscriptions", &token).json()["topics"], json!([]));
    assert_eq!(server.get("/v1/me/preferences", &token).json()["preferences"], json!([]));
    let mark = json!({ "up_to": "2024-01-01T00:00:00Z" });
    let choice = json!([{ "type": "note", "channel": "email", "mode": "never" }]);
    for (method, path, body) in [
        (Method::POST, "inbox/seen", mark.clone()),
        (Method::POST, "inbox/read", mark),
        (Method::POST, "flush", json!({})),
        (Method::PATCH, "preferences", choice),
        (Method::PUT, "subscriptions/artist/1", Value::Null),
        (Method::DELETE, "subscriptions/artist/1", Value::Null),
    ] {
        let answer = server.send(method, &format!("/v1/me/{path}"), &token, &body);
        assert_eq!(code(&answer), refused(404, "recipient_not_found"), "{path}");
    }
    let twin = server.get("/v1/recipients/nobody/inbox", server.admin.text());
    assert_eq!(code(&twin), refused(404, "recipient_not_found"));
}

#[test]
fn end_users_follow_what_is_open_to_them() {
    let server = Server::new();
    server.make_recipient("ana");
    let token = server.token("ana");
    for (topic, expected) in [
        ("artist/42", None),
        ("artist", Some(refused(403, "topic_not_open"))),
        ("staff/secrets", Some(refused(403, "topic_not_open"))),
        ("artists/42", Some(refused(403, "topic_not_open"))),
        ("artist/../staff", Some(refused(422, "invalid_body"))),
        ("artist%2F..%2Fstaff", Some(refused(422, "invalid_body"))),
        ("../staff", Some(refused(422, "invalid_body"))),
        ("artist//1", Some(refused(422, "invalid_body"))),
    ] {
        for method in [Method::PUT, Method::DELETE] {
            let path = format!("/v1/me/subscriptions/{topic}");
            let answer = server.send(method, &path, &token, &Value::Null);
            match &expected {
                None => assert!(answer.status.is_success(), "{topic}: {answer:?}"),
                Some(expected) => assert_eq!(code(&answer), *expected, "{topic}"),
            }
        }
    }
    // The host may.
    let staff = "/v1/recipients/ana/subscriptions/staff/1";
    server.host(Method::PUT, staff, &Value::Null);
}

#[test]
fn tokens_are_revoked_by_their_second_and_by_erasing() {
    let server = Server::new();
    server.make_recipient("ana");
    let key = server.signing_key(&json!({}));
    let issued_at = |recipient: &str, second: i64| {
        let id = tidings_core::Id::new(recipient).unwrap();
        sign(&key, &id, NOW_S + second, NOW_S + second + 900, None, None).unwrap()
    };
    let revoke = |recipient: &str, body: Value| {
        let path = format!("/v1/recipients/{recipient}/tokens/revoke");
        server.send(Method::POST, &path, server.admin.text(), &body)
    };
    let is_open = |token: &str| {
        let answer = server.get(INBOX, token);
        assert!(answer.status == StatusCode::OK || code(&answer) == refused(401, "token_revoked"));
        answer.status == StatusCode::OK
    };
    let (old, of_now, new) = (issued_at("ana", -60), issued_at("ana", 0), issued_at("ana", 1));
    assert!(is_open(&old) && is_open(&of_now) && is_open(&new));
    let done = revoke("ana", Value::Null);
    assert_eq!(
        (done.status, done.json()),
        (StatusCode::OK, json!({ "before": "2024-01-01T12:00:00Z" }))
    );
    assert!(!is_open(&old) && !is_open(&of_now) && is_open(&new));
    assert!(is_open(&issued_at("ben", 0)));
    // An older one takes nothing back.
    revoke("ana", json!({ "before": "2023-12-31T00:00:00Z" }));
    assert!(!is_open(&old));
    let ahead = revoke("ana", json!({ "before": "2024-01-01T12:05:00.001Z" }));
    assert_eq!(code(&ahead), refused(422, "invalid_body"));
    let ahead = revoke("ana", json!({ "before": "2024-01-01T12:05:00Z" }));
    assert_eq!(ahead.json()["before"], "2024-01-01T12:05:00Z");
    assert!(!is_open(&new));
    // One that isn't there, too.
    assert_eq!(revoke("nobody", json!({})).status, StatusCode::OK);
    assert!(!is_open(&issued_at("nobody", 0)));

    server.make_recipient("eve");
    assert!(is_open(&issued_at("eve", 0)));
    server.host(Method::DELETE, "/v1/recipients/eve", &Value::Null);
    assert!(!is_open(&issued_at("eve", 0)));
    assert!(is_open(&issued_at("eve", 1)));

    // A restart forgets nothing.
    let Server { rig, admin } = server;
    let rig = rig.restart_with(&format!("{CONFIG}{USERS}"));
    let server = Server { rig, admin };
    for token in [&of_now, &issued_at("nobody", 0), &issued_at("eve", 0)] {
        assert_eq!(code(&server.get(INBOX, token)), refused(401, "token_revoked"));
    }
    assert_eq!(server.get(INBOX, &issued_at("eve", 1)).status, StatusCode::OK);
}

#[test]
fn a_signing_key_is_made_listed_and_revoked() {
    let server = Server::new();
    const KEYS: &str = "/v1/admin/signing-keys";
    let made = server.host(Method::POST, KEYS, &json!({ "name": "site", "scope": "inbox" }));
    assert_eq!(made.status, StatusCode::CREATED);
    let mut made = made.json();
    let secret = made.as_object_mut().unwrap().shift_remove("secret").unwrap();
    let id = made["id"].as_str().unwrap().to_owned();
    assert!(secret.as_str().unwrap().starts_with(&format!("tsk_{id}_")));
    let rest = json!({ "id": id, "name": "site", "alg": "HS256", "scope": "inbox", "made": "2024-01-01T12:00:00Z" });
    assert_eq!(made, rest);
    let pem = "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n-----END PUBLIC KEY-----\n";
    let public = server.host(Method::POST, KEYS, &json!({ "public": pem })).json();
    assert_eq!((&public["alg"], &public["scope"]), (&json!("EdDSA"), &Value::Null));
    assert!(public.get("secret").is_none());
    let listed = server.host(Method::GET, KEYS, &Value::Null);
    assert_eq!(listed.json()["keys"].as_array().unwrap().len(), 2);
    assert!(!String::from_utf8(listed.bytes).unwrap().contains("tsk_"));
    for (body, word) in [
        (json!({ "public": pem.replace("PUBLIC", "PRIVATE") }), "private"),
        (json!({ "public": "x" }), "PEM"),
        (json!({ "scope": "everything" }), "scope"),
        (json!({ "scope": "" }), "scope"),
        (json!({ "name": 7 }), "name"),
        (json!({ "secret": "x" }), "secret"),
    ] {
        let answer = server.send(Method::POST, KEYS, server.admin.text(), &body);
        assert_eq!(code(&answer), refused(422, "invalid_body"), "{body}");
        assert!(answer.json()["detail"].as_str().unwrap().contains(word), "{answer:?}");
    }

    let key = server.signing_key(&json!({}));
    let token = token(&key, "ana", None);
    assert_eq!(server.get(INBOX, &token).status, StatusCode::OK);
    let path = format!("{KEYS}/{}", key.id);
    assert_eq!(server.host(Method::DELETE, &path, &Value::Null).status, StatusCode::NO_CONTENT);
    assert_eq!(code(&server.get(INBOX, &token)), refused(401, "token_key"));
    let again = server.send(Method::DELETE, &path, server.admin.text(), &Value::Null);
    assert_eq!(code(&again), refused(404, "signing_key_not_found"));
}

#[test]
fn a_token_for_development_is_signed_by_a_key_of_that_name() {
    let server = Server::new();
    const TOKENS: &str = "/v1/admin/tokens";
    let sign = |body: Value| server.host(Method::POST, TOKENS, &body).json();
    let first = sign(json!({ "recipient": "ana", "scope": "inbox:read" }));
    assert_eq!(first["expires"], "2024-01-01T12:15:00Z");
    let first = first["token"].as_str().unwrap().to_owned();
    assert_eq!(server.get(INBOX, &first).status, StatusCode::OK);
    assert_eq!(code(&server.get("/v1/me/preferences", &first)), refused(403, "scope"));
    sign(json!({ "recipient": "ben", "for": "1h" }));
    let keys = server.host(Method::GET, "/v1/admin/signing-keys", &Value::Null).json();
    assert_eq!(keys["keys"].as_array().unwrap().len(), 1);
    assert_eq!(keys["keys"][0]["name"], "development");
    let long = json!({ "recipient": "ana", "for": "2h" });
    let long = server.send(Method::POST, TOKENS, server.admin.text(), &long);
    assert_eq!(code(&long), refused(422, "invalid_body"));
    assert!(long.json()["detail"].as_str().unwrap().contains("1h"));
    let off = Server::with(CONFIG);
    let body = json!({ "recipient": "ana" });
    let off = off.send(Method::POST, TOKENS, off.admin.text(), &body);
    assert_eq!(code(&off), refused(403, "users_off"));
}

/// End users can't see by an `Idempotency-Key` what others did.
#[test]
fn an_idempotency_key_is_its_users_own() {
    let server = Server::new();
    server.make_recipient("ana");
    server.make_recipient("ben");
    let key = server.signing_key(&json!({}));
    let flush = |recipient: &str| {
        let bearer = format!("Bearer {}", token(&key, recipient, None));
        let headers = [("authorization", &*bearer), ("idempotency-key", "1")];
        server.rig.send(Method::POST, "/v1/me/flush", &headers, "")
    };
    assert!(!flush("ana").headers.contains_key("idempotency-replayed"));
    assert_eq!(flush("ana").headers["idempotency-replayed"], "true");
    let of_ben = flush("ben");
    assert_eq!(of_ben.status, StatusCode::OK);
    assert!(!of_ben.headers.contains_key("idempotency-replayed"));
}

#[test]
fn the_body_of_an_end_user_is_small() {
    let server = Server::new();
    server.make_recipient("ana");
    let token = server.token("ana");
    let body = json!({ "event": "x".repeat(70 << 10) });
    let answer = server.send(Method::POST, "/v1/me/inbox/seen", &token, &body);
    assert_eq!(code(&answer), refused(413, "body_too_large"));
}

#[test]
fn pages_of_open_origins_may_call_and_no_others() {
    let server = Server::new();
    let token = server.token("ana");
    let bearer = format!("Bearer {token}");
    let allowed = |answer: &Answered| {
        let header = answer.headers.get("access-control-allow-origin");
        header.map(|value| value.to_str().unwrap().to_owned())
    };
    let get = |path: &str, origin: &str, bearer: &str| {
        let headers = [("origin", origin), ("authorization", bearer)];
        server.rig.send(Method::GET, path, &headers, "")
    };
    let app = "https://app.example.org";
    // On every answer, those of refusals too.
    for (path, bearer, status) in [
        (INBOX, &*bearer, 200),
        (INBOX, "Bearer x", 401),
        ("/v1/me/none", &*bearer, 404),
        ("/v1/me/inbox?limit=x", &*bearer, 400),
        ("/v1/me", &*bearer, 404),
    ] {
        let answer = get(path, app, bearer);
        assert_eq!(answer.status.as_u16(), status, "{path}");
        assert_eq!(allowed(&answer).as_deref(), Some(app), "{path}");
        assert_eq!(answer.headers["access-control-expose-headers"], "Retry-After, X-Request-Id");
        assert_eq!(answer.headers["vary"], "Origin");
        assert!(!answer.headers.contains_key("access-control-allow-credentials"));
    }
    for other in [
        "https://evil.example",
        "http://app.example.org",
        "https://app.example.org.evil.example",
        "null",
        "*",
    ] {
        let answer = get(INBOX, other, &bearer);
        assert_eq!(allowed(&answer), None);
        assert_eq!(answer.headers["vary"], "Origin");
    }
    // Of other calls no page reads an answer.
    assert_eq!(allowed(&get("/v1/types", app, &bearer)), None);

    let preflight = |path: &str, origin: &str| {
        let headers = [
            ("origin", origin),
            ("access-control-request-method", "PATCH"),
            ("access-control-request-headers", "authorization,content-type"),
        ];
        server.rig.send(Method::OPTIONS, path, &headers, "")
    };
    let asked = preflight("/v1/me/preferences", app);
    assert_eq!((asked.status, allowed(&asked).as_deref()), (StatusCode::NO_CONTENT, Some(app)));
    assert_eq!(asked.headers["access-control-max-age"], "600");
    let headers = asked.headers["access-control-allow-headers"].to_str().unwrap();
    assert_eq!(headers, "Authorization, Content-Type, Last-Event-ID, Idempotency-Key");
    let methods = asked.headers["access-control-allow-methods"].to_str().unwrap();
    for method in ["GET", "PUT", "POST", "PATCH", "DELETE"] {
        assert!(methods.contains(method), "{methods}");
    }
    let asked = preflight("/v1/me/inbox", "https://evil.example");
    assert_eq!((asked.status, allowed(&asked)), (StatusCode::NO_CONTENT, None));
    assert!(!asked.headers.contains_key("access-control-allow-methods"));
    let asked = preflight("/v1/types", app);
    assert_eq!((asked.status, allowed(&asked)), (StatusCode::UNAUTHORIZED, None));
    // Scripts are for every page, and need no key.
    let script = get("/ui/none.js", "https://any.example", "Bearer x");
    assert_eq!(script.status, StatusCode::NOT_FOUND);
    assert_eq!(allowed(&script).as_deref(), Some("*"));
}

#[test]
fn f17_the_page_of_tokens_has_each_call() {
    let page = include_str!("../../../../docs/tokens.md");
    for (path, item) in &crate::document().paths.paths {
        let Some(path) = path.strip_prefix("/v1/me").filter(|path| path.starts_with('/')) else {
            continue;
        };
        for method in crate::call::methods(item) {
            let is_there = page.lines().any(|line| {
                line.contains(method)
                    && (line.contains(&format!(" {path}`")) || line.contains(&format!("`{path}`")))
            });
            assert!(is_there, "{method} {path}");
        }
    }
}
