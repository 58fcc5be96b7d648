//! Browsers that join and leave a recipient's addresses.

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};
use tidings_core::{Command, Id};

use crate::rig::{Answered, CONFIG, Rig, user_token};
use crate::{Access, Settings};

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

/// A server with two tenants and `ana`, for whom a browser joined with each of these.
fn with_tenants(tenants: &[Option<&str>]) -> Rig {
    let rig = Rig::with(
        &format!("{CONFIG}[users]\n[tenants]\non = true\n"),
        Access::Open,
        Settings::default(),
    );
    rig.make_signing_key("k1");
    for path in ["/v1/tenants/acme", "/v1/tenants/bolt"] {
        rig.call(Method::PUT, path, &json!({}));
    }
    rig.call(Method::PUT, "/v1/recipients/ana", &json!({ "email": "ana@example.org" }));
    for tenant in tenants {
        let query = tenant.map(|tenant| format!("?tenant={tenant}")).unwrap_or_default();
        let path = format!("/v1/recipients/ana/push{query}");
        let answer = rig.call(Method::PUT, &path, &browser(1, 'a'));
        assert_eq!(answer.status, StatusCode::NO_CONTENT, "{path}: {answer:?}");
    }
    rig
}

/// The tenants of ana's browsers; null is all.
fn tenants(rig: &Rig) -> Vec<Value> {
    let profile = rig.call(Method::GET, "/v1/recipients/ana", &Value::Null).json();
    let all = profile["addresses"]["webpush"].as_array().cloned().unwrap_or_default();
    all.iter().map(|browser| browser.get("tenant").cloned().unwrap_or_default()).collect()
}

#[test]
fn t42_profiles_lists_and_exports_keep_the_tenants_of_browsers() {
    let all = [Some("acme"), Some("bolt"), None];
    let rig = with_tenants(&all);
    assert_eq!(tenants(&rig), [json!("acme"), json!("bolt"), Value::Null]);
    let profile = rig.call(Method::GET, "/v1/recipients/ana", &Value::Null).json();
    let put = rig.call(Method::PUT, "/v1/recipients/ana", &profile);
    assert_eq!(put.status, StatusCode::NO_CONTENT, "{put:?}");
    assert_eq!(rig.call(Method::GET, "/v1/recipients/ana", &Value::Null).json(), profile);
    let export = rig.call(Method::GET, "/v1/export", &Value::Null);
    let text = String::from_utf8(export.bytes).unwrap();
    let line = text.lines().find(|line| line.contains(r#""op":"recipient""#)).unwrap();
    let read =
        tidings_api::timeline::read_line(&rig.service.rules(), 1, line.as_bytes()).unwrap().command;
    let Command::Recipient(change) = read else { panic!("{line}") };
    let known: Vec<_> = change.addresses[&super::WEBPUSH_NO].iter().collect();
    let of = known.iter().map(|address| address.tenant.as_ref().map(Id::as_str));
    assert_eq!(of.collect::<Vec<_>>(), all);
    // Many at once, as imports give them.
    let one = json!({ "id": "ana", "addresses": profile["addresses"] });
    let answer = rig.call(Method::POST, "/v1/recipients", &json!([one]));
    assert_eq!(answer.json(), json!([{ "status": "done" }]));
    assert_eq!(tenants(&rig), [json!("acme"), json!("bolt"), Value::Null]);
    // Of a tenant that is deleted nothing is shown from then on.
    rig.call(Method::DELETE, "/v1/tenants/bolt", &Value::Null);
    assert_eq!(tenants(&rig), [json!("acme"), Value::Null]);
    assert_eq!(rig.call(Method::DELETE, "/v1/recipients/ana", &Value::Null).status, 200);
    rig.call(Method::PUT, "/v1/recipients/ana", &json!({}));
    assert_eq!(tenants(&rig), [Value::Null; 0]);
}

#[test]
fn t42_a_browser_of_a_tenant_that_is_not_there_changes_nothing() {
    let rig = with_tenants(&[Some("acme")]);
    let of = |tenant: Value| {
        let mut browser = browser(2, 'b');
        browser["tenant"] = tenant;
        json!({ "name": "Ana", "addresses": { "webpush": browser } })
    };
    for (tenant, code) in
        [(json!("none"), "unknown_tenant"), (json!(""), "invalid_body"), (json!(7), "invalid_body")]
    {
        let answer = rig.call(Method::PATCH, "/v1/recipients/ana", &of(tenant.clone()));
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{tenant}: {answer:?}");
        assert_eq!(answer.json()["code"], code, "{tenant}");
    }
    let answer = rig.call(Method::PUT, "/v1/recipients/ana/push?tenant=none", &browser(2, 'b'));
    assert_eq!(answer.json()["code"], "unknown_tenant");
    assert_eq!(tenants(&rig), [json!("acme")]);
    // What a browser's own JSON says of a tenant is passed over: who asks decides.
    let mut other = browser(2, 'b');
    other["tenant"] = json!("bolt");
    rig.call(Method::PUT, "/v1/recipients/ana/push?tenant=acme", &other);
    assert_eq!(tenants(&rig), [json!("acme"), json!("acme")]);
    let off = self::rig();
    let answer = off.call(Method::PATCH, "/v1/recipients/ana", &of(json!("acme")));
    assert_eq!(answer.json()["code"], "tenants_off");
}

#[test]
fn t42_each_tenant_has_room_for_twenty_browsers() {
    let rig = with_tenants(&[]);
    let browsers = |count: usize, tenant: Value| {
        (0..count).map(move |number| {
            let mut browser = browser(number, 'a');
            browser["tenant"] = tenant.clone();
            browser
        })
    };
    let given = |all: Vec<Value>| {
        let body = json!({ "addresses": { "webpush": all } });
        rig.call(Method::PATCH, "/v1/recipients/ana", &body).status
    };
    let whole = || {
        let of_acme = browsers(20, json!("acme"));
        of_acme.chain(browsers(18, Value::Null)).chain(browsers(1, json!("bolt")))
    };
    // Of a profile there are 40 at most.
    assert_eq!(given(whole().chain(browsers(2, json!("bolt"))).collect()), 204);
    assert_eq!(given(whole().chain(browsers(3, json!("bolt"))).collect()), 422);
    assert_eq!(given(browsers(21, json!("acme")).collect()), 422);
    assert_eq!(tenants(&rig).len(), 40);
}
