//! Every call of the document with the examples that the document gives: each is accepted.

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};
use tidings_node::SignedIn;

use crate::rig::{Rig, user_token};
use crate::{Access, Settings, document, openapi};

/// The configuration that the examples are about.
const CONFIG: &str = include_str!("../../../../examples/first/tidings.toml");

/// The object itself, where there is a reference to it.
pub(super) fn resolved<'d>(document: &'d Value, value: &'d Value) -> &'d Value {
    match value["$ref"].as_str() {
        Some(target) => document.pointer(&target[1..]).unwrap(),
        None => value,
    }
}

/// The signing key of the examples.
const SIGNING_KEY: &str = "9b7e5c0f3d1a";

/// A server that has what the examples name.
fn server() -> Rig {
    let more = "[users]\ntopics = [\"artist/\"]\n[feeds.app]\nurl = \"${APP_DATABASE}\"\n";
    let hook = "[[hooks]]\nurl = 'https://app.example.org/tidings'\nsecret = '${S}'\nof = ['message.failed']";
    let config = format!("{CONFIG}\n{more}[tenants]\non = true\n{hook}\n");
    let rig = Rig::with(&config, Access::Open, Settings::default());
    let person = json!({"email": "ada@example.org"});
    let made = rig.call(Method::PUT, "/v1/recipients/ada", &person);
    assert_eq!(made.status, StatusCode::NO_CONTENT);
    let event = json!({
        "id": "e-1", "type": "comment", "object": {"id": "works/1"}, "to": {"recipients": ["ada"]},
    });
    let published = rig.call(Method::POST, "/v1/events", &event);
    assert_eq!(published.status, StatusCode::ACCEPTED);
    for path in ["/v1/recipients/bob", "/v1/tenants/acme", "/v1/tenants/acme/members/ada"] {
        rig.call(Method::PUT, path, &json!({}));
    }
    rig.make_key("5c0f3d1a9b7e");
    rig.begin_session("5c0f3d1a9b7e", SignedIn::Person("mara@example.org".to_owned()));
    rig.make_signing_key(SIGNING_KEY);
    rig
}

/// The message of the examples.
const MESSAGE: &str = "2024-03-07.3.12.77";

/// The message that `e-1` leaves, which fails, since there is no provider.
fn message(rig: &Rig) -> String {
    let flushed = rig.call(Method::POST, "/v1/recipients/ada/flush", &json!({}));
    assert_eq!(flushed.status, StatusCode::OK);
    loop {
        let failed = rig.call(Method::GET, "/v1/messages?state=failed", &Value::Null);
        if let Some(id) = failed.json()["messages"][0]["id"].as_str() {
            return id.to_owned();
        }
        std::thread::yield_now();
    }
}

/// A job that waits.
fn job(rig: &Rig) -> String {
    let body = json!({"filter": {"state": "failed"}, "expect": 0});
    let made = rig.call(Method::POST, "/v1/messages/cancel", &body);
    assert_eq!(made.status, StatusCode::ACCEPTED);
    made.json()["job"].as_str().unwrap().to_owned()
}

fn headers<'h>(bearer: &'h str, media: &'h str) -> [(&'h str, &'h str); 2] {
    [("authorization", bearer), ("content-type", media)]
}

#[test]
fn each_example_of_a_request_is_accepted() {
    let document: Value = serde_json::from_str(&openapi::text(&document())).unwrap();
    let bearer = format!("Bearer {}", user_token(SIGNING_KEY, "ada", None));
    let mut bodies = 0;
    for (template, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let method = Method::from_bytes(method.to_uppercase().as_bytes()).unwrap();
            let mut path = template.clone();
            for parameter in operation["parameters"].as_array().into_iter().flatten() {
                if parameter["in"] == "path" {
                    let example = parameter["example"].as_str().unwrap();
                    let name = format!("{{{}}}", parameter["name"].as_str().unwrap());
                    path = path.replace(&name, &example.replace('/', "%2F"));
                }
            }
            let content = operation["requestBody"]["content"].as_object();
            let Some(content) = content else {
                let rig = server();
                if path.contains(MESSAGE) {
                    path = path.replace(MESSAGE, &message(&rig));
                }
                if path.starts_with("/v1/suppressions/") {
                    rig.call(Method::PUT, &path, &json!({}));
                }
                if path.starts_with("/v1/admin/jobs/") {
                    path = format!("/v1/admin/jobs/{}", job(&rig));
                }
                let headers = headers(&bearer, "application/json");
                let answer = rig.send(method.clone(), &path, &headers, "");
                assert!(answer.status.is_success(), "{method} {path}: {answer:?}");
                continue;
            };
            for (media, content) in content {
                let schema = resolved(&document, &content["schema"]);
                let example = content
                    .get("example")
                    .or_else(|| schema.get("example"))
                    .unwrap_or_else(|| panic!("{method} {path} {media}"));
                let headers = headers(&bearer, media);
                let answer = server().send(method.clone(), &path, &headers, example.to_string());
                let text = String::from_utf8(answer.bytes.clone()).unwrap();
                let is_taken = answer.status.is_success() && !text.contains("\"rejected\"");
                assert!(is_taken, "{method} {path} {example}: {answer:?}");
                bodies += 1;
            }
        }
    }
    assert!(bodies > 15, "{bodies}");
}
