//! Tests of the calls of hooks.

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::rig::Rig;

const CONFIG: &str = r#"
[categories.news]
[types.note]
category = "news"
channels = { inbox = { policy = "now" } }
[[hooks]]
url = "https://app.example.org/tidings"
secret = "${HOOK_SECRET}"
of = ["address.suppressed", "preference.changed"]
[[hooks]]
name = "other"
url = "https://app.example.org/other"
secret = "${HOOK_SECRET}"
of = ["preference.changed"]
"#;

fn backlogs(rig: &Rig) -> Vec<(String, u64)> {
    let hooks = rig.call(Method::GET, "/v1/hooks", &Value::Null).json();
    let hooks = hooks.as_array().unwrap().iter();
    let of = |hook: &Value| {
        assert_eq!(hook["state"], "on");
        (hook["name"].as_str().unwrap().to_owned(), hook["backlog"].as_u64().unwrap())
    };
    hooks.map(of).collect()
}

#[test]
fn hooks_are_listed_with_what_they_are_still_to_be_told() {
    let config = CONFIG.to_owned();
    let rig = Rig::with_channels(&config, Default::default());
    let counts =
        |first, second| vec![("app.example.org".to_owned(), first), ("other".to_owned(), second)];
    assert_eq!(backlogs(&rig), counts(0, 0));
    let done = rig.call(Method::PUT, "/v1/suppressions/email/ann@example.org", &json!({}));
    assert_eq!(done.status, StatusCode::NO_CONTENT, "{done:?}");
    rig.call(Method::PUT, "/v1/recipients/ann", &json!({}));
    let never = json!([{"category": "news", "channel": "inbox", "mode": "never"}]);
    for _ in 0..2 {
        // The second one changes nothing, and so nobody is told.
        rig.call(Method::PUT, "/v1/recipients/ann/preferences", &never);
    }
    rig.call(Method::PUT, "/v1/suppressions/email/ann@example.org", &json!({}));
    rig.at("2024-01-01T12:00:01Z");
    rig.at("2024-01-01T12:00:02Z");
    assert_eq!(backlogs(&rig), counts(2, 1));
    // Over a restart, and for who looks at the directory.
    let rig = rig.restart_with(CONFIG);
    rig.at("2024-01-01T12:00:03Z");
    rig.at("2024-01-01T12:00:04Z");
    assert_eq!(backlogs(&rig), counts(2, 1));
}

#[test]
fn a_hook_that_is_not_configured_is_not_found() {
    let rig = Rig::with_channels(CONFIG, Default::default());
    for (path, body) in
        [("/v1/hooks/none/resume", Value::Null), ("/v1/hooks/none/replay", json!({"since": "1h"}))]
    {
        let answered = rig.call(Method::POST, path, &body);
        assert_eq!(answered.status, StatusCode::NOT_FOUND, "{path}");
        assert_eq!(answered.json()["code"], "hook_not_found");
    }
    for (since, status) in [
        ("1h", StatusCode::NO_CONTENT),
        ("2024-01-01T00:00:00Z", StatusCode::NO_CONTENT),
        ("soon", StatusCode::UNPROCESSABLE_ENTITY),
    ] {
        let path = "/v1/hooks/other/replay";
        let answered = rig.call(Method::POST, path, &json!({"since": since}));
        assert_eq!(answered.status, status, "{since}");
    }
    let answered = rig.call(Method::POST, "/v1/hooks/other/resume", &Value::Null);
    assert_eq!(answered.status, StatusCode::NO_CONTENT);
}
