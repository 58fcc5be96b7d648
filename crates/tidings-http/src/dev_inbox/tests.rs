//! The page of a developer's server.

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::rig::{Answered, CONFIG, Rig};
use crate::{Access, Settings};

fn rig(config: &str, access: Access) -> Rig {
    Rig::with(&format!("{CONFIG}{config}"), access, Settings::default())
}

fn get(rig: &Rig, path: &str) -> (Answered, String) {
    let answer = rig.send(Method::GET, path, &[("host", "127.0.0.1:8990")], "");
    let text = String::from_utf8(answer.bytes.clone()).unwrap();
    (answer, text)
}

#[test]
fn a_developers_server_shows_the_inbox_of_anybody() {
    let rig = rig("[users]\n", Access::Open);
    let (page, html) = get(&rig, "/_inbox?recipient=%3Cb%3Eana");
    assert_eq!(page.status, StatusCode::OK);
    for part in [
        "data-recipient=\"&lt;b&gt;ana\"",
        "<tidings-inbox></tidings-inbox>",
        "<tidings-inbox mode=\"page\" tabs=\"category\">",
        "<tidings-preferences>",
        "<option value=\"note\">Note</option><option value=\"weekly\">Weekly</option>",
        "Publish one more",
    ] {
        assert!(html.contains(part), "{part} in {html}");
    }
    let policy = page.headers["content-security-policy"].to_str().unwrap();
    assert!(policy.contains("script-src 'self'") && !policy.contains("unsafe"), "{policy}");
    assert!(get(&rig, "/_inbox").1.contains("data-recipient=\"ana\""));
    // All that it loads is there.
    for (path, kind) in [
        ("/console/console.css", "text/css; charset=utf-8"),
        ("/_inbox/-/inbox.css", "text/css"),
        ("/_inbox/-/inbox.js", "text/javascript"),
        ("/ui/inbox.js", "text/javascript; charset=utf-8"),
        ("/ui/preferences.js", "text/javascript; charset=utf-8"),
    ] {
        let (answer, _) = get(&rig, path);
        assert_eq!(
            (answer.status, &answer.headers["content-type"]),
            (StatusCode::OK, &kind.parse().unwrap())
        );
    }
    // What its script does: a token of the development key opens the recipient's inbox.
    let asked = json!({ "recipient": "ana" });
    let token = rig.call(Method::POST, "/v1/admin/tokens", &asked).json()["token"].clone();
    let bearer = format!("Bearer {}", token.as_str().unwrap());
    let inbox = rig.send(Method::GET, "/v1/me/inbox", &[("authorization", &bearer)], "");
    assert_eq!(inbox.status, StatusCode::OK);
    assert_eq!(get(&rig, "/_inbox?recipient=%00").0.status, StatusCode::BAD_REQUEST);
}

#[test]
fn without_users_the_page_says_what_to_add() {
    let rig = rig("", Access::Open);
    let (page, html) = get(&rig, "/_inbox");
    assert_eq!(page.status, StatusCode::OK);
    assert!(html.contains(">[users]") && !html.contains("<script"), "{html}");
    let token = rig.call(Method::POST, "/v1/admin/tokens", &json!({ "recipient": "ana" }));
    assert_eq!(token.json()["code"], "users_off");
}

#[test]
fn only_a_developers_server_has_the_page() {
    let keys = rig("[users]\n", Access::Keys { token: None });
    assert_eq!(get(&keys, "/_inbox").0.status, StatusCode::UNAUTHORIZED);
    // A page of another site gets neither the page nor a token.
    let open = rig("[users]\n", Access::Open);
    let foreign = [("origin", "https://evil.example"), ("content-type", "application/json")];
    for (method, path) in [(Method::GET, "/_inbox"), (Method::POST, "/v1/admin/tokens")] {
        let answer = open.send(method, path, &foreign, json!({ "recipient": "ana" }).to_string());
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{path}");
        assert_eq!(answer.json()["token"], Value::Null, "{path}");
    }
}
