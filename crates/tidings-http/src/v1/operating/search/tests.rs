//! Searches by everything that identifies somebody or something, asked as operators ask.

use std::io;
use std::sync::{Arc, Mutex};

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};
use tracing_subscriber::fmt::MakeWriter;

use crate::tests::rig::{CONFIG, Rig};
use crate::{Access, Settings};

const DAY: &str = "2024-01-01";

fn rig() -> Rig {
    let config = format!("{CONFIG}[tenants]\non = true\n[store]\nkeep = \"10d\"\n");
    Rig::with(&config, Access::Open, Settings::default())
}

fn done(rig: &Rig, method: Method, path: &str, body: &Value) {
    let answer = rig.call(method, path, body);
    assert!(answer.status.is_success(), "{path}: {answer:?}");
}

fn search(rig: &Rig, q: &str) -> Value {
    let answer = rig.call(Method::POST, "/v1/search", &json!({ "q": q }));
    assert_eq!(answer.status, StatusCode::OK, "{q}: {}", answer.json());
    answer.json()
}

/// The hits as `kind id way`.
fn hits(rig: &Rig, q: &str) -> Vec<String> {
    let found = search(rig, q);
    let hits = found["hits"].as_array().unwrap();
    assert_eq!(found.get("nearest").is_none(), !hits.is_empty(), "{found}");
    let text = |hit: &Value, field: &str| hit[field].as_str().unwrap().to_owned();
    let line = |hit| ["kind", "id", "matched"].map(|field| text(hit, field)).join(" ");
    hits.iter().map(line).collect()
}

#[test]
fn an_address_in_any_spelling_finds_all_who_have_it() {
    let rig = rig();
    let people = json!([
        {"id": "zoe", "email": "Ana+news@bücher.example"},
        {"id": "ana", "addresses": {"email": "ana+NEWS@xn--bcher-kva.example", "sms": "+34600111212"}},
        {"id": "bob", "email": "ana@bücher.example"},
    ]);
    done(&rig, Method::POST, "/v1/recipients", &people);
    let both = ["recipient ana address", "recipient zoe address"];
    for q in
        ["ANA+news@BÜCHER.example", "ana+news@xn--bcher-kva.example", "ana+news@bücher.example"]
    {
        assert_eq!(hits(&rig, q), both, "{q}");
    }
    // Without its tag it is another mailbox, as suppressions see it.
    assert_eq!(hits(&rig, "Ana@Bücher.example"), ["recipient bob address"]);
    assert_eq!(hits(&rig, "+34 600 11 12 12"), ["recipient ana address"]);
}

#[test]
fn a_former_address_is_found_for_keep_and_nobody_who_is_erased() {
    let rig = rig();
    done(&rig, Method::PUT, "/v1/recipients/ana", &json!({"email": "old@example.org"}));
    done(&rig, Method::PUT, "/v1/recipients/bob", &json!({"email": "old@example.org"}));
    rig.at(&format!("{DAY}T13:00:00Z"));
    done(&rig, Method::PATCH, "/v1/recipients/ana", &json!({"email": "new@example.org"}));
    assert_eq!(
        hits(&rig, "Old@example.org"),
        ["recipient ana former_address", "recipient bob address"]
    );
    assert_eq!(hits(&rig, "new@example.org"), ["recipient ana address"]);
    done(&rig, Method::DELETE, "/v1/recipients/bob", &Value::Null);
    rig.at("2024-01-11T12:59:59Z");
    assert_eq!(hits(&rig, "old@example.org"), ["recipient ana former_address"]);
    rig.at("2024-01-11T13:00:00Z");
    assert_eq!(hits(&rig, "old@example.org"), [""; 0]);
    done(&rig, Method::PATCH, "/v1/recipients/ana", &json!({"email": null}));
    assert_eq!(hits(&rig, "new@example.org"), ["recipient ana former_address"]);
    done(&rig, Method::DELETE, "/v1/recipients/ana", &Value::Null);
    assert_eq!(hits(&rig, "new@example.org"), [""; 0]);
    done(&rig, Method::PUT, "/v1/recipients/ana", &json!({}));
    assert_eq!(hits(&rig, "new@example.org"), [""; 0]);
}

#[test]
fn hits_are_in_the_order_of_kinds_and_then_by_id() {
    let rig = rig();
    done(&rig, Method::PUT, "/v1/tenants/x", &json!({}));
    done(&rig, Method::PUT, "/v1/recipients/x", &json!({}));
    done(&rig, Method::PUT, "/v1/recipients/x/subscriptions/x?tenant=x", &Value::Null);
    done(&rig, Method::PUT, "/v1/objects/x", &json!({"title": "X"}));
    let event = |id: &str, key: &str, more: Value| {
        let mut event = json!({"id": id, "type": "note", "object": {"id": "x"},
            "to": {"recipients": ["x"]}, "cancellation_key": key});
        event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        done(&rig, Method::POST, "/v1/events", &event);
    };
    event("x", "order-7", json!({}));
    event("e-2", "order-7", json!({"tenant": "x"}));
    event("e-1", "order-7", json!({"deliver_at": "2024-01-02T00:00:00Z"}));
    assert_eq!(
        hits(&rig, "x"),
        ["recipient x id", "event x id", "object x id", "topic x id", "tenant x id"]
    );
    let by_key =
        ["event e-1 cancellation_key", "event e-2 cancellation_key", "event x cancellation_key"];
    assert_eq!(hits(&rig, "order-7"), by_key);
    assert_eq!(hits(&rig, "weekly"), ["type weekly id"]);
    // A deleted tenant is there no more, and a withdrawn event still is.
    done(&rig, Method::DELETE, "/v1/tenants/x", &Value::Null);
    rig.at(&format!("{DAY}T12:01:00Z"));
    assert_eq!(hits(&rig, "x"), ["recipient x id", "event x id", "object x id"]);
}

#[test]
fn at_most_fifty_hits_are_shown_in_order() {
    let rig = rig();
    let people: Vec<Value> =
        (0..60).map(|n| json!({"id": format!("p{n:02}"), "email": "all@example.org"})).collect();
    done(&rig, Method::POST, "/v1/recipients", &people.into());
    let found = hits(&rig, "all@example.org");
    let expected: Vec<_> = (0..50).map(|n| format!("recipient p{n:02} address")).collect();
    assert_eq!(found, expected);
}

#[test]
fn what_is_unknown_answers_what_is_spelled_alike() {
    let rig = rig();
    for id in ["ana-1", "ana-2", "ana-3", "ana-4", "bob"] {
        done(
            &rig,
            Method::PUT,
            &format!("/v1/recipients/{id}"),
            &json!({"email": "a@example.org"}),
        );
    }
    done(&rig, Method::PUT, "/v1/recipients/bob/subscriptions/artist%2F42", &Value::Null);
    let near = |q: &str| -> Vec<String> {
        let found = search(&rig, q);
        assert_eq!(found["hits"], json!([]), "{q}");
        let near = found["nearest"].as_array().unwrap().iter();
        near.map(|near| format!("{} {}", near["kind"], near["id"]).replace('"', "")).collect()
    };
    assert_eq!(near("ana-22"), ["recipient ana-2", "recipient ana-1", "recipient ana-3"]);
    assert_eq!(
        near("anatol@example.org"),
        ["recipient ana-1", "recipient ana-2", "recipient ana-3"]
    );
    assert_eq!(near("artist/4"), ["topic artist/42"]);
    assert_eq!(near("wekly"), ["type weekly"]);
    for far in ["an", "zoe", "+34600"] {
        assert_eq!(near(far), [""; 0], "{far}");
    }
}

#[test]
fn a_search_has_one_to_512_bytes_and_nothing_else() {
    let rig = rig();
    for (body, status) in [
        (json!({"q": "x".repeat(512)}), 200),
        (json!({"q": "ä".repeat(257)}), 422),
        (json!({"q": ""}), 422),
        (json!({}), 422),
        (json!({"q": 7}), 422),
        (json!({"q": "x", "kind": "event"}), 422),
    ] {
        let answer = rig.call(Method::POST, "/v1/search", &body);
        assert_eq!(answer.status.as_u16(), status, "{body} {}", answer.json());
    }
    assert_eq!(rig.call(Method::GET, "/v1/search?q=x", &Value::Null).status.as_u16(), 405);
}

/// The lines of a log.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'w> MakeWriter<'w> for Lines {
    type Writer = Self;

    fn make_writer(&'w self) -> Self {
        self.clone()
    }
}

#[test]
fn no_address_is_in_a_log_line_a_header_or_a_metric() {
    let lines = Lines::default();
    let log = tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE);
    let log = log.with_writer(lines.clone()).finish();
    tracing::subscriber::with_default(log, || {
        tracing::info!("the log is read");
        let rig = rig();
        done(&rig, Method::PUT, "/v1/recipients/r1", &json!({"email": "planted@example.org"}));
        assert_eq!(hits(&rig, "Planted@example.org"), ["recipient r1 address"]);
        assert_eq!(hits(&rig, "planted@example.net"), [""; 0]);
        let too_long = "planted@example.org".repeat(40);
        for body in [json!({"q": too_long}), json!({"q": "planted@example.org", "p": 1})] {
            let refused = rig.call(Method::POST, "/v1/search", &body);
            assert!(refused.status.is_client_error());
            assert!(!format!("{} {:?}", refused.json(), refused.headers).contains("planted"));
        }
        let metrics = rig.call(Method::GET, "/metrics", &Value::Null);
        let metrics = String::from_utf8(metrics.bytes).unwrap();
        assert!(!metrics.contains("planted") && metrics.contains("tidings_"));
    });
    let logged = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
    assert!(logged.contains("the log is read") && !logged.contains("lanted@"), "{logged}");
}
