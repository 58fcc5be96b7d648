//! Browsers that join and leave a recipient's addresses.

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::http::rig::{Answered, CONFIG, Rig, user_token};
use crate::http::{Access, Settings};

fn rig() -> Rig {
    let rig = Rig::with(&format!("{CONFIG}[users]\n"), Access::Open, Settings::default());
    rig.make_signing_key("k1");
    rig.call(Method::PUT, "/v1/recipients/ana", &json!({ "email": "ana@example.org" }));
    rig
}

/// A browser's subscription, as it writes it.
fn browser(number: usize, auth: char) -> Value {
    json!({
        "endpoint": format!("https://push.example.net/send/{number}"),
        "expirationTime": null,
        "keys": { "p256dh": "B".repeat(87), "auth": auth.to_string().repeat(22) },
    })
}

fn by_user(rig: &Rig, method: Method, scope: Option<&str>, body: &Value) -> Answered {
    let bearer = format!("Bearer {}", user_token("k1", "ana", scope));
    let headers = [("authorization", &*bearer), ("content-type", "application/json")];
    rig.send(method, "/v1/me/push", &headers, body.to_string())
}

/// The browsers of ana: the end of each endpoint, and the secret's letter.
fn browsers(rig: &Rig) -> Vec<String> {
    let profile = rig.call(Method::GET, "/v1/recipients/ana", &Value::Null).json();
    assert_eq!(profile["addresses"]["email"], "ana@example.org");
    let all = profile["addresses"]["webpush"].as_array().cloned().unwrap_or_default();
    let text = |browser: &Value| {
        let end = browser["endpoint"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
        end + &browser["keys"]["auth"].as_str().unwrap()[..1]
    };
    all.iter().map(text).collect()
}

#[test]
fn a_browser_joins_the_addresses_and_leaves_them() {
    let rig = rig();
    for (method, browser, expected) in [
        (Method::PUT, browser(1, 'a'), &["1a"][..]),
        (Method::PUT, browser(2, 'b'), &["1a", "2b"]),
        (Method::PUT, browser(1, 'a'), &["1a", "2b"]),
        // The keys of a browser may change.
        (Method::PUT, browser(1, 'c'), &["1c", "2b"]),
        (Method::DELETE, browser(3, 'd'), &["1c", "2b"]),
        (Method::DELETE, browser(1, 'a'), &["2b"]),
        (Method::DELETE, json!({ "endpoint": "https://push.example.net/send/2" }), &[]),
        (Method::DELETE, browser(2, 'b'), &[]),
    ] {
        let answer = by_user(&rig, method.clone(), Some("push"), &browser);
        assert_eq!(answer.status, StatusCode::NO_CONTENT, "{method} {browser}: {answer:?}");
        assert_eq!(browsers(&rig), expected, "{method} {browser}");
    }
    let twin = "/v1/recipients/ana/push";
    assert_eq!(rig.call(Method::PUT, twin, &browser(4, 'e')).status, StatusCode::NO_CONTENT);
    assert_eq!(browsers(&rig), ["4e"]);
    assert_eq!(rig.call(Method::DELETE, twin, &browser(4, 'e')).status, StatusCode::NO_CONTENT);
    assert_eq!(browsers(&rig), [""; 0]);
}

#[test]
fn of_too_many_browsers_the_oldest_leaves() {
    let rig = rig();
    for number in 0..22 {
        by_user(&rig, Method::PUT, None, &browser(number, 'a'));
    }
    let all = browsers(&rig);
    assert_eq!((all.len(), &*all[0], &*all[19]), (20, "2a", "21a"));
}

#[test]
fn browsers_that_join_at_once_all_join() {
    let rig = rig();
    let asked: Vec<_> = (0..10)
        .map(|number| {
            let request = axum::http::Request::put("/v1/recipients/ana/push")
                .header("content-type", "application/json")
                .body(browser(number, 'a').to_string().into())
                .unwrap();
            rig.tokio.spawn(rig.ask(request))
        })
        .collect();
    for answer in asked {
        assert_eq!(rig.tokio.block_on(answer).unwrap().status, StatusCode::NO_CONTENT);
    }
    assert_eq!(browsers(&rig).len(), 10);
}

#[test]
fn what_is_no_browser_and_who_is_not_there_are_refused() {
    let rig = rig();
    for body in [
        json!({}),
        json!({ "endpoint": "http://push.example.net/1", "keys": browser(1, 'a')["keys"] }),
        json!({ "endpoint": "https://push.example.net/1", "keys": { "p256dh": "x", "auth": "y" } }),
    ] {
        let answer = by_user(&rig, Method::PUT, None, &body);
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{body}: {answer:?}");
    }
    assert_eq!(by_user(&rig, Method::DELETE, None, &json!({})).status, 422);
    for scope in ["preferences", "inbox subscriptions"] {
        let answer = by_user(&rig, Method::PUT, Some(scope), &browser(1, 'a'));
        assert_eq!((answer.status.as_u16(), &answer.json()["code"]), (403, &json!("scope")));
    }
    for method in [Method::PUT, Method::DELETE] {
        let answer = rig.call(method, "/v1/recipients/nobody/push", &browser(1, 'a'));
        assert_eq!(answer.json()["code"], "recipient_not_found");
    }
    let nobody = rig.call(Method::GET, "/v1/recipients/nobody", &Value::Null);
    assert_eq!(nobody.status, StatusCode::NOT_FOUND, "nobody was made");
}
