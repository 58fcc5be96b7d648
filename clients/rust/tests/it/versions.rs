//! Servers one version older and newer.

use std::io;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tidings_client::types::{Audience, Event, PublishedStatus, RecipientChange, RoleName};
use tidings_client::{API_VERSION, Client, Error};

use crate::stub::Stub;

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn event() -> Event {
    Event::new("comment", "o", Audience::new().recipients(["ana"]))
}

#[tokio::test(flavor = "current_thread")]
async fn situation_15_a_newer_server_works_and_is_warned_of_once() {
    let published = json!({"id": "e", "status": "parked", "notifications": 1, "suppressed": 0, "warnings": [], "shard": 7});
    let key = json!({"keys": [{"id": "k", "name": "n", "made": "2027-01-01T00:00:00Z", "role": "auditor", "region": "a"}]});
    let refused = json!({"type": "/errors/quota", "title": "Quota", "status": 409, "detail": "no more", "code": "quota_of_tomorrow", "hint": "buy", "left": 0});
    let stub = Stub::start(
        "1.0.0",
        vec![
            ("POST /v1/events", "202 Accepted", published.to_string()),
            ("GET /v1/admin/keys", "200 OK", key.to_string()),
            ("PUT /v1/recipients/ana", "409 Conflict", refused.to_string()),
        ],
    )
    .await;
    let log = Log::default();
    let to = log.clone();
    let subscriber =
        tracing_subscriber::fmt().with_ansi(false).with_writer(move || to.clone()).finish();
    let _set = tracing::subscriber::set_default(subscriber);
    let tidings = Client::new(format!("{}/", stub.url), "k").unwrap();
    let one = tidings.events().publish(&event()).await.unwrap();
    assert_eq!(one.status, PublishedStatus::Other("parked".to_owned()));
    assert_eq!(one.extra["shard"], 7);
    let keys = tidings.admin().list_keys().await.unwrap().keys;
    assert_eq!(keys[0].role, RoleName::Other("auditor".to_owned()));
    assert_eq!(keys[0].extra["region"], "a");
    let error = tidings.recipients().upsert("ana", &RecipientChange::new()).await.unwrap_err();
    let Error::UnknownCode(problem) = &error else { panic!("{error}") };
    assert_eq!(
        (problem.code.as_str(), &problem.extra["left"]),
        ("quota_of_tomorrow", &Value::from(0))
    );
    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert_eq!(log.matches("another major version").count(), 1, "{log}");
    assert!(log.contains("WARN") && log.contains("1.0.0") && log.contains(API_VERSION), "{log}");
    let requests = stub.requests.lock().unwrap();
    assert!(requests.iter().all(|request| request.contains("user-agent: tidings-client-rust/")));
    assert!(
        requests[0].starts_with("POST /v1/events HTTP/1.1"),
        "the slash at the end is stripped"
    );
}

#[tokio::test(flavor = "current_thread")]
async fn situation_15_an_older_server_is_named_where_it_lacks_something() {
    let published = json!({"id": "e", "status": "accepted"});
    let stub =
        Stub::start("0.0.9", vec![("POST /v1/events", "202 Accepted", published.to_string())])
            .await;
    let tidings = Client::new(&stub.url, "k").unwrap();
    // A call that it doesn't have.
    let error =
        tidings.inbox().counts("ana", &tidings_client::api::CountsQuery::new()).await.unwrap_err();
    assert!(matches!(error, Error::NotFound(_)), "{error}");
    assert!(
        error.to_string().contains("tidings 0.0.9") && error.to_string().contains(API_VERSION),
        "{error}"
    );
    // A field that it doesn't have.
    let error = tidings.events().publish(&event()).await.unwrap_err();
    assert!(matches!(error, Error::Unexpected { .. }), "{error}");
    let text = error.to_string();
    assert!(text.contains("tidings 0.0.9") && text.contains("`notifications`"), "{text}");
    // What it has works, whatever else it lacks.
    let health = Stub::start("0.0.9", vec![("GET /healthz", "200 OK", "ok".to_owned())]).await;
    assert_eq!(Client::new(&health.url, "k").unwrap().server().health().await.unwrap(), "ok");
}
