//! Triggers as the clients of Knock and Novu send them.

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};
use tidings_api::keys::Secret;
use tidings_node::{ApiKey, KeyChange, Role};

use crate::rig::{Answered, CONFIG, Rig};
use crate::{Access, Settings};

const KNOCK: &str = "/v1/workflows/note/trigger";
const NOVU: &str = super::names::NOVU_PATH;

fn rig(compat: &str) -> Rig {
    Rig::with(&format!("{CONFIG}{compat}"), Access::Open, Settings::default())
}

fn both() -> Rig {
    rig("[compat]\nknock = true\nnovu = true\n")
}

fn post(rig: &Rig, path: &str, body: &Value) -> Answered {
    rig.call(Method::POST, path, body)
}

fn get(rig: &Rig, path: &str) -> Value {
    rig.call(Method::GET, path, &Value::Null).json()
}

#[track_caller]
fn refused(answered: &Answered, detail: &str, hint: &str) {
    let problem = answered.json();
    assert_eq!(problem["code"], "invalid_body", "{problem}");
    let said = |key: &str| problem[key].as_str().unwrap().to_owned();
    assert!(said("detail").contains(detail), "{problem} should say {detail}");
    assert!(said("hint").contains(hint), "{problem} should hint at {hint}");
}

/// The event of this id as it was published.
fn event(rig: &Rig, id: &str) -> Value {
    get(rig, &format!("/v1/events/{id}"))["event"].clone()
}

#[test]
fn compat_is_off_by_default() {
    for (rig, off) in [
        (Rig::new(), &[KNOCK, NOVU][..]),
        (rig("[compat]\nknock = true\n"), &[NOVU]),
        (rig("[compat]\nnovu = true\n"), &[KNOCK]),
    ] {
        for path in off {
            let answered = post(&rig, path, &json!({}));
            assert_eq!(answered.status, StatusCode::NOT_FOUND, "{path}");
            assert!(answered.json()["hint"].as_str().unwrap().contains("[compat]"));
        }
    }
    // Whatever is on, an event may be called so, and has no more methods than before.
    let rig = both();
    let named = json!({ "id": "trigger", "type": "note", "object": { "id": "o" }, "to": {} });
    assert_eq!(post(&rig, "/v1/events", &named).status, StatusCode::ACCEPTED);
    assert_eq!(event(&rig, "trigger")["id"], "trigger");
    let other = post(&rig, "/v1/events/e1", &json!({}));
    assert_eq!(other.json()["code"], "method_not_allowed");
    assert_eq!(other.headers["allow"], "GET,HEAD");
}

#[test]
fn compat_knock_trigger_is_an_event_for_its_recipients() {
    let rig = both();
    let made = rig.call(Method::PUT, "/v1/recipients/bob", &json!({ "email": "bob@example.org" }));
    assert!(made.status.is_success());
    let follows = rig.call(Method::PUT, "/v1/recipients/cy", &json!({}));
    assert!(follows.status.is_success());
    let path = "/v1/recipients/cy/subscriptions/projects%2Fp1";
    assert!(rig.call(Method::PUT, path, &Value::Null).status.is_success());
    let body = json!({
        "recipients": [
            "bob",
            { "id": "ann", "name": "Ann", "email": "ann@example.org", "timezone": "Europe/Paris",
              "phone_number": "+15550100", "avatar": "https://example.org/ann.png", "plan": "pro" },
            { "collection": "projects", "id": "p1", "name": "Apollo" },
        ],
        "actor": { "id": "dan", "name": "Dan", "avatar": "https://example.org/dan.png" },
        "data": { "object": { "id": "notes/7", "name": "Frames" }, "amount": 7 },
        "cancellation_key": "frames",
        "tenant": null,
    });
    let answered = post(&rig, KNOCK, &body);
    assert_eq!(answered.status, StatusCode::OK, "{answered:?}");
    let told = answered.json();
    let id = told["workflow_run_id"].as_str().unwrap();
    assert_eq!(told.as_object().unwrap().len(), 1);
    let event = event(&rig, id);
    assert_eq!(event["type"], "note");
    assert_eq!(event["data"]["amount"], 7);
    assert_eq!(event["cancellation_key"], "frames");
    let inbox = get(&rig, "/v1/recipients/ann/inbox");
    let item = &inbox["groups"][0]["items"][0];
    assert_eq!(item["object"]["title"], "Frames");
    assert_eq!(item["actor"]["title"], "Dan");
    let ann = get(&rig, "/v1/recipients/ann");
    assert_eq!((&ann["email"], &ann["tz"]), (&json!("ann@example.org"), &json!("Europe/Paris")));
    assert_eq!(ann["addresses"]["sms"], "+15550100");
    assert_eq!(ann["data"]["plan"], "pro");
    for who in ["bob", "cy"] {
        assert_eq!(get(&rig, &format!("/v1/recipients/{who}/inbox"))["unseen"], 1, "{who}");
    }
    let cancelled = post(&rig, "/v1/cancel", &json!({ "cancellation_key": "frames" })).json();
    assert_eq!(cancelled["status"], "cancelled", "{cancelled}");
}

#[test]
fn compat_knock_triggers_are_told_apart_and_a_key_makes_them_one() {
    let rig = both();
    let body = json!({ "recipients": [{ "id": "ann" }], "data": { "excerpt": "Hello" } });
    let keyed = |key: &str| {
        let headers = [("content-type", "application/json"), ("idempotency-key", key)];
        rig.send(Method::POST, KNOCK, &headers, body.to_string()).json()
    };
    let first = keyed("a");
    assert_eq!(keyed("a"), first);
    assert_ne!(keyed("b"), first);
    // Each has an object of its own, or they would be shown as one.
    let inbox = get(&rig, "/v1/recipients/ann/inbox");
    assert_eq!((inbox["groups"].as_array().unwrap().len(), &inbox["unseen"]), (2, &json!(2)));
    let id = first["workflow_run_id"].as_str().unwrap();
    assert_eq!(event(&rig, id)["object"]["id"], id);
}

#[test]
fn compat_knock_refuses_what_it_can_not_map() {
    let rig = both();
    let with = |key: &str, value: Value| {
        let mut body = json!({ "recipients": ["ann"] });
        body[key] = value;
        post(&rig, KNOCK, &body)
    };
    let of_tenant = with("tenant", json!({ "id": "acme", "name": "Acme" }));
    refused(&of_tenant, "`tenant.name` can't be mapped", "/v1/tenants/{id}");
    refused(&with("tenant", json!({ "name": "Acme" })), "`tenant.id` is missing", "add");
    refused(&with("tenant", json!(7)), "`tenant` must be a string or an object", "moving.md");
    refused(&with("recipient", json!("ann")), "unknown field `recipient`", "did you mean");
    refused(&with("recipients", json!(null)), "`recipients` is missing", "add");
    refused(&with("recipients", json!([7])), "`recipients[0]`", "moving.md");
    let inline = |fields: Value| with("recipients", json!([fields]));
    let channel_data = json!({ "id": "ann", "channel_data": { "c": { "tokens": ["t"] } } });
    refused(&inline(channel_data), "`channel_data` can't be mapped", "PUT");
    refused(&inline(json!({ "name": "Ann" })), "`id` is missing", "add");
    refused(&inline(json!({ "id": "ann", "timezone": "Mars" })), "Mars", "");
    refused(&inline(json!({ "id": "ann", "email": "none" })), "`to.recipients[0].email`", "");
    refused(&with("data", json!("x")), "`data` must be an object", "");
    let unknown = post(&rig, "/v1/workflows/nope/trigger", &json!({ "recipients": ["ann"] }));
    assert_eq!(unknown.json()["code"], "unknown_type");
}

#[test]
fn compat_novu_trigger_is_an_event_for_its_subscribers() {
    let rig = both();
    assert!(rig.call(Method::PUT, "/v1/recipients/cy", &json!({})).status.is_success());
    let path = "/v1/recipients/cy/subscriptions/project:p1";
    assert!(rig.call(Method::PUT, path, &Value::Null).status.is_success());
    let body = json!({
        "name": "note",
        "to": [
            { "subscriberId": "ann", "firstName": "Ann", "lastName": "Lee", "phone": "+15550100",
              "email": "ann@example.org", "locale": "de_DE", "timezone": "Europe/Berlin",
              "avatar": "https://example.org/ann.png", "data": { "plan": "pro" } },
            { "type": "Topic", "topicKey": "project:p1" },
        ],
        "payload": { "object": "notes/7", "amount": 7 },
        "actor": { "subscriberId": "dan", "firstName": "Dan" },
        "transactionId": "t-1",
        "overrides": {},
    });
    let answered = post(&rig, NOVU, &body);
    assert_eq!(answered.status, StatusCode::CREATED, "{answered:?}");
    let told = json!({ "acknowledged": true, "status": "processed", "transactionId": "t-1" });
    assert_eq!(answered.json(), json!({ "data": told }));
    // The same transaction again changes nothing.
    assert_eq!(post(&rig, NOVU, &body).json(), answered.json());
    let ann = get(&rig, "/v1/recipients/ann");
    assert_eq!((&ann["name"], &ann["locale"]), (&json!("Ann Lee"), &json!("de-DE")));
    assert_eq!(ann["data"], json!({ "plan": "pro", "avatar": "https://example.org/ann.png" }));
    for who in ["ann", "cy"] {
        assert_eq!(get(&rig, &format!("/v1/recipients/{who}/inbox"))["unseen"], 1, "{who}");
    }
    let event = event(&rig, "t-1");
    assert_eq!((&event["object"]["id"], &event["data"]["amount"]), (&json!("notes/7"), &json!(7)));
    // One recipient alone, without an id of its own.
    let one = post(&rig, NOVU, &json!({ "name": "note", "to": "ann", "payload": {} })).json();
    assert!(one["data"]["transactionId"].as_str().unwrap().len() > 10, "{one}");
    assert_eq!(get(&rig, "/v1/recipients/ann/inbox")["unseen"], 2);
}

#[test]
fn compat_novu_refuses_what_it_can_not_map() {
    let rig = both();
    let with = |key: &str, value: Value| {
        let mut body = json!({ "name": "note", "to": "ann" });
        body[key] = value;
        post(&rig, NOVU, &body)
    };
    let of_tenant = with("tenant", json!({ "identifier": "acme", "data": { "plan": "pro" } }));
    refused(&of_tenant, "`tenant.data` can't be mapped", "/v1/tenants/{id}");
    refused(&with("context", json!({ "app": "shop" })), "`context.app` can't be mapped", "tenant");
    let of_tenant = with("context", json!({ "tenant": { "id": "acme", "data": { "a": 1 } } }));
    refused(&of_tenant, "`context`: `tenant.data` can't be mapped", "/v1/tenants/{id}");
    refused(&with("overrides", json!({ "email": {} })), "`overrides` can't", "configuration");
    refused(&with("paylod", json!({})), "unknown field `paylod`", "did you mean `payload`?");
    refused(&with("to", json!([{ "subscriberId": "a", "mail": "x" }])), "`to[0]`", "email");
    let excluding = json!([{ "type": "Topic", "topicKey": "t", "exclude": ["ann"] }]);
    refused(&with("to", excluding), "`exclude` can't be mapped", "");
    refused(&with("transactionId", json!("")), "`transactionId`", "another");
    refused(&with("name", json!(null)), "`name` is missing", "add");
    assert_eq!(with("name", json!("nope")).json()["code"], "unknown_type");
}

#[test]
fn f4_compat_triggers_name_the_tenant_of_their_event() {
    let with_tenants = rig("[tenants]\non = true\n[compat]\nknock = true\nnovu = true\n");
    let made = with_tenants.call(Method::PUT, "/v1/tenants/acme", &json!({ "name": "Acme" }));
    assert!(made.status.is_success(), "{made:?}");
    let knock = |rig: &Rig, tenant: Value| {
        post(rig, KNOCK, &json!({ "recipients": [{ "id": "ann" }], "tenant": tenant }))
    };
    let novu = |rig: &Rig, name: &str, tenant: Value| {
        let mut body = json!({ "name": "note", "to": { "subscriberId": "ann" } });
        body[name] = tenant;
        post(rig, NOVU, &body)
    };
    let rig = &with_tenants;
    for tenant in [json!("acme"), json!({ "id": "acme" }), json!({ "id": "acme", "name": null })] {
        let told = knock(rig, tenant.clone()).json();
        let id = told["workflow_run_id"].as_str().unwrap_or_else(|| panic!("{tenant}: {told}"));
        assert_eq!(event(rig, id)["tenant"], "acme", "{tenant}");
    }
    for (name, tenant) in [
        ("tenant", json!("acme")),
        ("tenant", json!({ "identifier": "acme" })),
        ("context", json!({ "tenant": "acme" })),
        ("context", json!({ "tenant": { "id": "acme", "data": {} } })),
    ] {
        let told = novu(rig, name, tenant.clone()).json();
        let id = told["data"]["transactionId"].as_str();
        let id = id.unwrap_or_else(|| panic!("{name}: {tenant}: {told}"));
        assert_eq!(event(rig, id)["tenant"], "acme", "{name}: {tenant}");
    }
    assert_eq!(knock(rig, json!("acne")).json()["code"], "unknown_tenant");
    // Where there are no tenants the answer says how there are.
    let rig = both();
    for answered in [knock(&rig, json!("acme")), novu(&rig, "context", json!({ "tenant": "acme" }))]
    {
        let problem = answered.json();
        assert_eq!(problem["code"], "tenants_off", "{problem}");
        assert!(problem["hint"].as_str().unwrap().contains("[tenants]"), "{problem}");
    }
}

#[test]
fn f5_compat_refuses_their_other_calls_by_what_to_use() {
    let config = format!("{CONFIG}[compat]\nknock = true\nnovu = true\n");
    let keyed = Rig::with(&config, Access::Keys { token: None }, Settings::default());
    let send = |rig: &Rig, method: Method, path: &str, authorization: &str| {
        let headers = [("content-type", "application/json"), ("authorization", authorization)];
        rig.send(method, path, &headers, "{}".to_owned())
    };
    for (method, path, call) in [
        (Method::POST, "/v1/events/trigger/bulk", "POST /v1/events"),
        (Method::POST, "/v1/events/trigger/broadcast", "everyone"),
        (Method::DELETE, "/v1/events/trigger/tx-1", "POST /v1/events/{id}/cancel"),
        (Method::POST, "/v2/subscribers", "/v1/recipients"),
        (Method::GET, "/v1/messages", "Bearer"),
        (Method::GET, "/v1/integrations", "/v1/openapi.json"),
    ] {
        let answered = send(&keyed, method, path, "ApiKey tidings_x");
        assert_eq!(answered.status, StatusCode::NOT_FOUND, "{path}");
        let problem = answered.json();
        let said = "Of Novu's calls only `POST /v1/events/trigger` is taken.";
        assert_eq!((&problem["code"], &problem["detail"]), (&json!("not_found"), &json!(said)));
        assert!(problem["hint"].as_str().unwrap().contains(call), "{problem}");
    }
    let rig = both();
    for (path, product, call) in [
        ("/v1/workflows/note/cancel", "Knock", "POST /v1/cancel"),
        ("/v1/users/ann", "Knock", "/v1/recipients"),
        ("/v1/objects/projects/p1", "Knock", "subscriptions"),
        ("/v1/events/trigger/bulk", "Novu", "POST /v1/events"),
    ] {
        let problem = post(&rig, path, &json!({})).json();
        assert_eq!(problem["code"], "not_found", "{path}: {problem}");
        assert!(problem["detail"].as_str().unwrap().contains(product), "{path}: {problem}");
        assert!(problem["hint"].as_str().unwrap().contains(call), "{path}: {problem}");
    }
    // Without `[compat]` they are paths like any other.
    let problem = post(&Rig::new(), "/v1/users/ann", &json!({})).json();
    assert!(!problem["detail"].as_str().unwrap().contains("Knock"), "{problem}");
    let off = Rig::with(CONFIG, Access::Keys { token: None }, Settings::default());
    let answered = send(&off, Method::POST, "/v1/events/trigger/bulk", "ApiKey tidings_x");
    assert_eq!(answered.json()["code"], "unauthorized");
}

#[test]
fn compat_triggers_need_a_key_that_may_publish() {
    let config = format!("{CONFIG}[compat]\nknock = true\nnovu = true\n");
    let rig = Rig::with(&config, Access::Keys { token: None }, Settings::default());
    let make = |role: Role, id: &str| {
        let secret = Secret::random().unwrap();
        let made = tidings_core::Instant(0);
        let (hash, id) = (secret.hash(), id.to_owned());
        rig.change_keys(KeyChange::Make(ApiKey { hash, id, name: String::new(), made, role }));
        secret.text().to_owned()
    };
    let (publish, read) = (make(Role::Publish, "p"), make(Role::Read, "r"));
    let send = |path: &str, authorization: &str, body: &Value| {
        let headers = [("content-type", "application/json"), ("authorization", authorization)];
        rig.send(Method::POST, path, &headers, body.to_string())
    };
    let (knock, novu) = (json!({ "recipients": ["ann"] }), json!({ "name": "note", "to": "ann" }));
    assert_eq!(send(KNOCK, &format!("Bearer {publish}"), &knock).status, StatusCode::OK);
    assert_eq!(send(NOVU, &format!("ApiKey {publish}"), &novu).status, StatusCode::CREATED);
    assert_eq!(send(NOVU, &format!("Bearer {publish}"), &novu).status, StatusCode::CREATED);
    assert_eq!(send(KNOCK, &format!("Bearer {read}"), &knock).json()["code"], "role");
    assert_eq!(send(NOVU, &format!("ApiKey {read}"), &novu).json()["code"], "role");
    for (path, key) in [(KNOCK, "Bearer x".to_owned()), (NOVU, "ApiKey x".to_owned())] {
        assert_eq!(send(path, &key, &novu).json()["code"], "unauthorized", "{path}");
    }
    // The scheme of Novu opens its own path alone.
    let elsewhere = send("/v1/events", &format!("ApiKey {publish}"), &novu);
    assert_eq!(elsewhere.json()["code"], "not_found");
}
