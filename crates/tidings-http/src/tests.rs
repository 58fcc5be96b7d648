//! Properties that all calls have in common: keys, problems, bounds, the document.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{Method, Request, StatusCode};
use serde_json::{Value, json};
use tidings_api::keys::Secret;

use super::{Access, Code, Settings, document, error, openapi};
use rig::{Answered, CONFIG, Rig};

mod deep;
mod every_error;
mod examples;
mod late;
mod leaks;
mod limits;
mod narrow_store;
mod open;
mod planted;
pub(crate) mod post;
pub(crate) mod rig;
mod shards;
mod shares;
mod told;

fn code(answered: &Answered) -> String {
    assert_eq!(answered.headers["content-type"], "application/problem+json");
    let problem = answered.json();
    assert_eq!(problem["status"], answered.status.as_u16());
    for field in ["type", "title", "detail", "hint"] {
        assert!(!problem[field].as_str().unwrap().is_empty(), "{problem}");
    }
    problem["code"].as_str().unwrap().to_owned()
}

/// Compares a generated page with the committed one, or writes it where that is asked for.
fn committed(path: &str, expected: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    if std::env::var_os("TIDINGS_BLESS").is_some() {
        std::fs::write(&path, expected).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == expected,
        "{} is not up to date: run the tests with TIDINGS_BLESS=1",
        path.display()
    );
}

#[test]
fn the_committed_document_is_the_served_one() {
    let rig = Rig::new();
    let served = rig.call(Method::GET, "/v1/openapi.json", &Value::Null);
    let text = openapi::text(&document());
    assert_eq!(String::from_utf8(served.bytes).unwrap(), text);
    committed("docs/openapi.json", &text);
}

#[test]
fn the_page_of_errors_is_that_of_the_table() {
    committed("docs/errors.md", &error::page());
    let codes: BTreeSet<&str> = Code::ALL.iter().map(|code| code.row().code).collect();
    assert_eq!(codes.len(), Code::ALL.len(), "a code stands twice");
    let rig = Rig::new();
    for code in Code::ALL {
        let row = code.row();
        let page = rig.call(Method::GET, &format!("/errors/{}", row.code), &Value::Null);
        let text = String::from_utf8(page.bytes).unwrap();
        assert!(text.contains(row.hint), "{text}");
    }
}

#[test]
fn whatever_no_call_answers_is_a_problem() {
    let rig = Rig::new();
    let answer = |method, path| code(&rig.call(method, path, &Value::Null));
    assert_eq!(answer(Method::GET, "/v2/events"), "not_found");
    assert_eq!(answer(Method::GET, "/errors/no_such"), "not_found");
    assert_eq!(answer(Method::DELETE, "/v1/events"), "method_not_allowed");
    assert_eq!(answer(Method::PUT, "/v1/objects/%ff"), "invalid_path");
    let long = format!("/v1/objects/{}", "x".repeat(257));
    assert_eq!(answer(Method::PUT, &long), "invalid_path");
    for path in [long.as_str(), "/v1/objects/%ff", "/v1/recipients/a/subscriptions/%00"] {
        let answer = rig.call(Method::PUT, path, &Value::Null).json();
        let detail = answer["detail"].as_str().unwrap();
        assert!(!detail.contains("Invalid URL"), "{detail}");
    }
    assert_eq!(answer(Method::POST, "/v1/events?answers=no"), "invalid_query");
    assert_eq!(answer(Method::POST, "/v1/events"), "invalid_json");
}

#[test]
fn a_wrong_method_is_told_which_there_are() {
    let rig = Rig::new();
    let said = |method, path| {
        let answer = rig.call(method, path, &Value::Null);
        assert_eq!(code(&answer), "method_not_allowed");
        let allow = answer.headers["allow"].to_str().unwrap().to_owned();
        (answer.json()["detail"].as_str().unwrap().to_owned(), allow)
    };
    let (detail, allow) = said(Method::DELETE, "/v1/events");
    assert_eq!(detail, "`/v1/events` has no method `DELETE`; it has `GET` and `POST`");
    assert_eq!(allow, "GET,HEAD,POST");
    let (detail, _) = said(Method::POST, "/v1/recipients/ada/preferences");
    for method in ["`GET`", "`PUT`", "`PATCH`"] {
        assert!(detail.contains(method), "{detail}");
    }
}

#[test]
fn s4_a_path_near_a_call_is_told_which_was_meant() {
    let rig = Rig::new();
    let hint = |path: &str| {
        let answer = rig.call(Method::POST, path, &Value::Null);
        assert_eq!(code(&answer), "not_found", "{path}");
        answer.json()["hint"].as_str().unwrap().to_owned()
    };
    for (path, meant) in [
        ("/events", "/v1/events"),
        ("/v1/event", "/v1/events"),
        ("/v1/events/", "/v1/events"),
        ("/recipients/ada/inbox", "/v1/recipients/{id}/inbox"),
        ("/v1/recipient/ada", "/v1/recipients/{id}"),
    ] {
        let expected = format!("did you mean `{meant}`?");
        assert!(hint(path).starts_with(&expected), "{path}: {}", hint(path));
    }
    for far in ["/x", "/v2/graphql", &format!("/{}", "x/".repeat(400))] {
        assert_eq!(hint(far), "`/v1/openapi.json` lists all calls.");
    }
}

#[test]
fn a_query_is_told_what_was_expected_and_what_was_got() {
    let rig = Rig::new();
    let said = |path: &str| {
        let answer = rig.call(Method::GET, path, &Value::Null);
        assert_eq!(code(&answer), "invalid_query", "{path}");
        let problem = answer.json();
        let text = |field: &str| problem[field].as_str().unwrap().to_owned();
        (text("detail"), text("hint"))
    };
    let inbox = "/v1/recipients/ada/inbox";
    for (query, got) in [("abc", "abc"), ("0", "0"), ("101", "101"), ("-1", "-1"), ("", "")] {
        let (detail, hint) = said(&format!("{inbox}?limit={query}"));
        let expected = format!("`limit` must be a whole number from 1 to 100, got `{got}`");
        assert_eq!((detail, hint.as_str()), (expected, "Example: `limit=100`"));
    }
    let (detail, hint) = said(&format!("{inbox}?limt=5"));
    assert_eq!(detail, "unknown parameter `limt`");
    assert_eq!(hint, "did you mean `limit`?");
    let (detail, _) = said(&format!("{inbox}?limit=5&limit=6"));
    assert_eq!(detail, "`limit` is given twice");
    let (detail, _) = said("/v1/admin/due?scheduled=1001");
    assert_eq!(detail, "`scheduled` must be a whole number from 0 to 1000, got `1001`");
    let events = rig.call(Method::POST, "/v1/events?answers=no", &json!([]));
    assert_eq!(events.json()["detail"], "`answers` must be `all` or `problems`, got `no`");
}

#[test]
fn a_body_is_told_what_was_expected_and_what_was_got() {
    let rig = Rig::new();
    let event = json!({"type": "note", "object": {"id": "o"}, "to": {"recipients": ["ada"]}});
    let said = |field: &str, value: Value| {
        let mut event = event.clone();
        event[field] = value;
        let answer = rig.call(Method::POST, "/v1/events", &event);
        assert_eq!(code(&answer), "invalid_body");
        let problem = answer.json();
        assert_eq!(problem["title"], "Invalid request body");
        let text = |field: &str| problem[field].as_str().unwrap().to_owned();
        (text("detail"), text("hint"))
    };
    let (detail, hint) = said("to", json!(["ada"]));
    assert_eq!(detail, "`to` must be an object, got an array");
    assert_eq!(hint, r#"Example: {"recipients": ["ada"]}"#);
    let (detail, hint) = said("to", json!({"topics": "artist/42"}));
    assert_eq!(detail, "`to.topics` must be an array, got a string");
    assert_eq!(hint, r#"Example: ["artist/42"]"#);
    let (detail, _) = said("id", json!(7));
    assert_eq!(detail, "`id` must be a string, got a number");
}

#[test]
fn every_call_but_health_and_descriptions_needs_a_key() {
    let token = Secret::random().unwrap();
    let access = Access::Keys { token: Some(token.hash()) };
    let rig = Rig::with(CONFIG, access, Settings::default());
    let get = |path: &str, headers: &[(&str, &str)]| rig.send(Method::GET, path, headers, "");

    for path in ["/v1/types", "/metrics", "/v1/no/such/call", "/v1/events"] {
        let answer = get(path, &[]);
        assert_eq!(code(&answer), "unauthorized");
        assert_eq!(answer.headers["www-authenticate"], "Bearer realm=\"tidings\"");
    }
    for path in ["/healthz", "/readyz", "/errors/unauthorized", "/v1/openapi.json", "/llms.txt"] {
        assert_eq!(get(path, &[]).status, StatusCode::OK, "{path}");
    }
    let bearer = |key: &str| format!("Bearer {key}");
    let with_key = |value: &str| get("/metrics", &[("authorization", value)]);
    let by_token = |method: Method, path: &str, body: &str| {
        let headers =
            [("authorization", &*bearer(token.text())), ("content-type", "application/json")];
        rig.send(method, path, &headers, body.to_owned())
    };
    // A key that is made while the server runs is accepted at once.
    let made = by_token(Method::POST, "/v1/admin/keys", r#"{"name": "site"}"#).json();
    let key = made["key"].as_str().unwrap();
    assert_eq!(with_key(&bearer(key)).status, StatusCode::OK);
    assert_eq!(with_key(&format!("bearer {key}")).status, StatusCode::OK);
    let made_up = bearer(Secret::random().unwrap().text());
    for wrong in [key, "Bearer", "Bearer x", &format!("Basic {key}"), &made_up] {
        assert_eq!(code(&with_key(wrong)), "unauthorized", "{wrong}");
    }
    // One that is revoked is refused at once.
    let path = format!("/v1/admin/keys/{}", made["id"].as_str().unwrap());
    let revoked = by_token(Method::DELETE, &path, "");
    assert_eq!(revoked.status, StatusCode::NO_CONTENT);
    assert_eq!(code(&with_key(&bearer(key))), "unauthorized");
    assert_eq!(with_key(&bearer(token.text())).status, StatusCode::OK);
}

/// A developer's browser sends what any page asks it to.
#[test]
fn a_page_from_elsewhere_can_not_use_a_server_without_keys() {
    let rig = Rig::new();
    let from = |origin| {
        let origin = [("origin", origin)];
        rig.send(Method::PUT, "/v1/objects/a", &origin, "{}").status
    };
    assert_eq!(from("https://example.org"), StatusCode::UNAUTHORIZED);
    assert_eq!(from("http://localhost:3000"), StatusCode::NO_CONTENT);
    // A page whose own name was made to point here needs no `Origin` to read.
    let under = |host| {
        let host = [("host", host)];
        rig.send(Method::GET, "/v1/types", &host, "").status
    };
    assert_eq!(under("evil.example:8990"), StatusCode::UNAUTHORIZED);
    assert_eq!(under("127.0.0.1:8990"), StatusCode::OK);
}

#[test]
fn bodies_are_bounded() {
    let settings = Settings {
        body_bytes_max: 40_000,
        bodies_bytes_max: 60_000,
        array_items_max: 2,
        ..Settings::default()
    };
    let rig = Rig::with(CONFIG, Access::Open, settings);
    let put = |headers: &[(&str, &str)], body: Body| {
        rig.send(Method::PUT, "/v1/objects/a", headers, body)
    };
    let title = |bytes: usize| format!("{}{}", json!({ "title": "x" }), " ".repeat(bytes));
    let done = put(&[], title(39_000).into());
    assert_eq!(done.status, StatusCode::NO_CONTENT);
    assert_eq!(code(&put(&[], title(41_000).into())), "body_too_large");
    let told = [("content-length", "41000")];
    assert_eq!(code(&put(&told, Body::empty())), "body_too_large");
    assert_eq!(
        code(&put(&[("content-type", "text/xml")], title(1).into())),
        "unsupported_media_type"
    );
    assert_eq!(
        code(&put(&[("content-encoding", "gzip")], title(1).into())),
        "unsupported_media_type"
    );
    let long_key = "k".repeat(256);
    for key in ["", long_key.as_str(), "schl\u{fc}ssel"] {
        assert_eq!(code(&put(&[("idempotency-key", key)], title(1).into())), "invalid_header");
    }
    let three = rig.call(Method::POST, "/v1/events", &json!([1, 2, 3]));
    assert_eq!(code(&three), "body_too_large");

    // Two that are under way at once have not the room for both.
    let (slow, feed) = fed(title(39_000).as_bytes());
    let first = rig.tokio.spawn(rig.ask(slow));
    feed.wait_until_read();
    assert_eq!(code(&put(&[], title(39_000).into())), "too_busy");
    drop(feed);
    let first = rig.tokio.block_on(first).unwrap();
    assert_eq!(first.status, StatusCode::NO_CONTENT);
    assert_eq!(put(&[], title(39_000).into()).status, StatusCode::NO_CONTENT);
}

/// A body that ends when the feed is dropped.
struct Feed {
    _end: tokio::sync::oneshot::Sender<()>,
    read: std::sync::mpsc::Receiver<()>,
}

impl Feed {
    fn wait_until_read(&self) {
        self.read.recv_timeout(Duration::from_secs(300)).unwrap();
    }
}

fn fed(body: &[u8]) -> (Request<Body>, Feed) {
    use futures_util::{StreamExt as _, stream};
    let (end, ended) = tokio::sync::oneshot::channel();
    let (tell, read) = std::sync::mpsc::channel();
    let pieces: Vec<Bytes> = body.chunks(10_000).map(Bytes::copy_from_slice).collect();
    let last = stream::once(async move {
        tell.send(()).unwrap();
        drop(ended.await);
        Ok::<_, std::io::Error>(Bytes::new())
    });
    let body = Body::from_stream(stream::iter(pieces.into_iter().map(Ok)).chain(last));
    let request = Request::put("/v1/objects/a").body(body).unwrap();
    (request, Feed { _end: end, read })
}

#[test]
fn a_body_that_does_not_come_is_not_waited_for() {
    let settings = Settings { body_patience: Duration::ZERO, ..Settings::default() };
    let rig = Rig::with(CONFIG, Access::Open, settings);
    let (slow, _feed) = fed(&[b' '; 10]);
    let answer = rig.tokio.block_on(rig.ask(slow));
    assert_eq!(code(&answer), "request_timeout");
    assert_eq!(answer.headers["retry-after"], "1");
}

#[test]
fn a_body_that_breaks_off_is_refused() {
    let rig = Rig::new();
    let pieces = [Ok(Bytes::from("{")), Err(std::io::Error::other("gone"))];
    let body = Body::from_stream(futures_util::stream::iter(pieces));
    assert_eq!(code(&rig.send(Method::PUT, "/v1/objects/a", &[], body)), "invalid_request");
}

#[test]
fn a_server_that_stops_says_so() {
    let mut rig = Rig::new();
    rig.service.stop();
    let ready = rig.call(Method::GET, "/readyz", &Value::Null);
    assert_eq!(code(&ready), "stopping");
    assert_eq!(ready.headers["retry-after"], "5");
    assert_eq!(rig.call(Method::GET, "/healthz", &Value::Null).status, StatusCode::OK);
    rig.stop();
    assert_eq!(code(&rig.call(Method::PUT, "/v1/objects/a", &json!({}))), "stopping");
}

#[test]
fn metrics_name_the_pages_of_the_console_that_show_what_they_count() {
    let console = "[console]\nurl = \"https://tidings.example.org/desk\"\n";
    let help = |config: &str| {
        let rig = Rig::with(config, Access::Open, Settings::default());
        let text = rig.call(Method::GET, "/metrics", &Value::Null).text().to_owned();
        let of = |name: &str| text.lines().find(|line| line.contains(name)).unwrap().to_owned();
        [of("HELP tidings_channel_oldest_due"), of("HELP tidings_provider_answers_total")]
    };
    let [oldest, answers] = help(&format!("{console}{CONFIG}"));
    let page = "https://tidings.example.org/desk/messages?state=";
    assert!(oldest.contains(&format!("{page}planned&state=sending")), "{oldest}");
    assert!(answers.ends_with(&format!("{page}failed&state=retrying shows them.")), "{answers}");
    assert!(!help(CONFIG).concat().contains("https://"));
}

#[test]
fn metrics_begin_with_the_number_to_watch() {
    let provided = "[channels.email]\nprovider = \"file://mail\"\nfrom = \"art@example.org\"\n";
    let config = format!("{CONFIG}{provided}");
    let rig = Rig::with(&config, Access::Open, Settings::default());
    rig.call(Method::PUT, "/v1/objects/a", &json!({}));
    rig.call(Method::PUT, "/v1/objects/b", &json!({"x": 1}));
    rig.call(Method::GET, "/nowhere", &Value::Null);
    let page = rig.call(Method::GET, "/metrics", &Value::Null);
    let text = String::from_utf8(page.bytes).unwrap();
    assert!(text.starts_with("# HELP tidings_oldest_due_age_seconds "), "{text}");
    for line in [
        "tidings_oldest_due_age_seconds 0.000",
        "tidings_up 1",
        "tidings_recipients 0",
        "tidings_step_duration_seconds_count 1",
        "tidings_http_requests_total{call=\"put_object\",status=\"2xx\"} 1",
        "tidings_http_requests_total{call=\"put_object\",status=\"4xx\"} 1",
        "tidings_http_requests_total{call=\"none\",status=\"4xx\"} 1",
        "tidings_channel_oldest_due_age_seconds{channel=\"email\"} 0.000",
        "tidings_messages_total{channel=\"email\",answer=\"sent\"} 0",
    ] {
        assert!(text.lines().any(|found| found == line), "{line} in\n{text}");
    }
    assert!(!text.contains("channel=\"sms\""), "{text}");
    // Each metric has its help and its type once, before its first sample.
    let mut known = BTreeSet::new();
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("# HELP ") {
            assert!(known.insert(name.split(' ').next().unwrap().to_owned()), "{line}");
        } else if !line.starts_with('#') {
            let name = line.split(['{', ' ']).next().unwrap();
            let base = ["_bucket", "_sum", "_count"].iter().find_map(|end| name.strip_suffix(end));
            let name = base.filter(|base| known.contains(*base)).unwrap_or(name);
            assert!(known.contains(name), "{line}");
        }
    }
}

#[test]
fn a_gate_answers_before_there_is_an_api() {
    use std::sync::{Arc, OnceLock};
    use tower::ServiceExt as _;
    let rig = Rig::new();
    let api = Arc::new(OnceLock::new());
    let gate = super::gate(Arc::clone(&api), Vec::new());
    let get = |path: &str| {
        let request = Request::get(path).body(Body::empty()).unwrap();
        rig.tokio.block_on(gate.clone().oneshot(request)).unwrap().status()
    };
    assert_eq!(
        (get("/healthz"), get("/readyz")),
        (StatusCode::OK, StatusCode::SERVICE_UNAVAILABLE)
    );
    api.set(super::router(Arc::clone(&rig.service))).unwrap();
    assert_eq!((get("/healthz"), get("/readyz")), (StatusCode::OK, StatusCode::OK));
}
