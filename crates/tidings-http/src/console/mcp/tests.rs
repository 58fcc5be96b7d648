//! The tools over a real server: who is let in, what they may do, and what the log has of it.

use std::collections::BTreeMap;

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};
use tidings_api::keys::NewKey;
use tidings_core::Instant;
use tidings_core::model::Role;
use tidings_node::KeyChange;

use crate::rig::{Answered, CONFIG, Rig};

const HOST: (&str, &str) = ("host", "localhost");
const JSON: (&str, &str) = ("content-type", "application/json");

/// A server with `[console]`, which is known as `tidings.example.org`.
fn server() -> Rig {
    let console = "[console]\nurl = \"https://tidings.example.org/console\"\n";
    Rig::with_keys(&format!("{console}{CONFIG}"), BTreeMap::new())
}

/// The header of a new key of a role.
fn key(rig: &Rig, role: Role) -> String {
    let new = NewKey::make(format!("{} key", role.name()), role, Instant(0)).unwrap();
    let secret = new.secret.text().to_owned();
    rig.change_keys(KeyChange::Make(new.stored));
    format!("Bearer {secret}")
}

/// Makes a request of the stateless protocol.
fn request(rig: &Rig, key: Option<&str>, method: &str, mut params: Value) -> Answered {
    let name = params["name"].as_str().unwrap_or_default().to_owned();
    let mut headers = vec![
        HOST,
        JSON,
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", method),
        ("mcp-name", name.as_str()),
    ];
    headers.extend(key.map(|key| ("authorization", key)));
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    rig.send(Method::POST, "/mcp", &headers, body.to_string())
}

/// The result of a call of a tool.
fn tool(rig: &Rig, key: Option<&str>, name: &str, arguments: &Value) -> Value {
    let answered = request(rig, key, "tools/call", json!({"name": name, "arguments": arguments}));
    assert_eq!(answered.status, StatusCode::OK, "{answered:?}");
    answered.json()["result"].clone()
}

/// The lines of the log of an action, the newest first.
fn lines(rig: &Rig, key: &str, action: &str) -> Vec<Value> {
    let path = format!("/v1/admin/log?action={action}");
    let log = rig.send(Method::GET, &path, &[("authorization", key)], String::new());
    log.json()["log"].as_array().unwrap().clone()
}

#[test]
fn without_a_section_there_are_no_tools() {
    let rig = Rig::with_keys(CONFIG, BTreeMap::new());
    let admin = key(&rig, Role::Admin);
    let answered = request(&rig, Some(&admin), "tools/list", json!({}));
    assert_eq!(answered.status, StatusCode::NOT_FOUND);
}

#[test]
fn only_a_key_opens_the_tools_and_only_by_post_under_a_known_name() {
    let rig = server();
    let read = key(&rig, Role::Read);
    let ours = ("authorization", read.as_str());
    let list = r#"{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}"#;
    let send = |method: Method, headers: &[(&str, &str)]| {
        rig.send(method, "/mcp", headers, list.to_owned())
    };
    assert_eq!(send(Method::POST, &[HOST, JSON, ours]).status, StatusCode::OK);
    let known = ("host", "tidings.example.org");
    let page = ("origin", "https://tidings.example.org");
    assert_eq!(send(Method::POST, &[known, JSON, ours, page]).status, StatusCode::OK);

    let unknown = send(Method::POST, &[HOST, JSON]);
    assert_eq!(unknown.status, StatusCode::UNAUTHORIZED);
    assert_eq!(unknown.headers["www-authenticate"], "Bearer realm=\"tidings\"");
    let wrong = send(Method::POST, &[HOST, JSON, ("authorization", "Bearer tdg_none")]);
    assert_eq!(wrong.status, StatusCode::UNAUTHORIZED);
    for method in [Method::GET, Method::DELETE, Method::PUT, Method::OPTIONS] {
        let refused = send(method, &[HOST, JSON, ours]);
        assert_eq!(refused.status, StatusCode::METHOD_NOT_ALLOWED);
        assert_eq!(refused.headers["allow"], "POST");
    }
    let foreign = send(Method::POST, &[("host", "evil.example"), JSON, ours]);
    assert_eq!(foreign.status, StatusCode::MISDIRECTED_REQUEST);
    let elsewhere = send(Method::POST, &[HOST, JSON, ours, ("origin", "https://evil.example")]);
    assert_eq!(elsewhere.status, StatusCode::FORBIDDEN);

    // A session of the console opens its pages alone.
    let secret = read.strip_prefix("Bearer ").unwrap();
    let form = [
        HOST,
        ("content-type", "application/x-www-form-urlencoded"),
        ("sec-fetch-site", "same-origin"),
    ];
    let signed_in = rig.send(Method::POST, "/console/sign-in", &form, format!("key={secret}"));
    let cookie = signed_in.headers["set-cookie"].to_str().unwrap().split(';').next().unwrap();
    let refused = send(Method::POST, &[HOST, JSON, ("cookie", cookie)]);
    assert_eq!(refused.status, StatusCode::UNAUTHORIZED);

    let long = "x".repeat(300_000);
    let large = rig.send(Method::POST, "/mcp", &[HOST, JSON, ours], long);
    assert_eq!(large.status, StatusCode::PAYLOAD_TOO_LARGE);
}

#[test]
fn roles_have_the_tools_of_their_calls() {
    let rig = server();
    for (role, count, last) in [
        (Role::Figures, 2, "types"),
        (Role::Read, 11, "status"),
        (Role::Publish, 11, "status"),
        (Role::Support, 12, "act"),
        (Role::Operate, 12, "act"),
        (Role::Admin, 12, "act"),
    ] {
        let key = key(&rig, role);
        let list = request(&rig, Some(&key), "tools/list", json!({})).json();
        let tools = list["result"]["tools"].as_array().unwrap();
        assert_eq!(
            (tools.len(), &tools[count - 1]["name"]),
            (count, &json!(last)),
            "{}",
            role.name()
        );
    }
    let support = key(&rig, Role::Support);
    let list = request(&rig, Some(&support), "tools/list", json!({})).json();
    let act = &list["result"]["tools"][11]["inputSchema"]["properties"]["verb"]["enum"];
    assert_eq!(*act, json!(["flush", "retry", "resend", "cancel"]));
}

#[test]
fn a_change_is_confirmed_and_the_log_has_its_calls_and_its_way() {
    let rig = server();
    let (operate, admin) = (key(&rig, Role::Operate), key(&rig, Role::Admin));
    let pause = json!({"verb": "pause", "type": "note"});
    let asked = tool(&rig, Some(&operate), "act", &pause);
    assert_eq!(asked["structuredContent"]["concerns"], Value::Null);
    assert!(lines(&rig, &admin, "pause_type").is_empty());
    let confirmed = |asked: &Value| {
        let mut confirmed = pause.clone();
        confirmed["confirm"] = asked["structuredContent"]["confirm"].clone();
        confirmed
    };
    // Another key can't confirm it, and after five minutes nobody can.
    assert_eq!(tool(&rig, Some(&admin), "act", &confirmed(&asked))["isError"], true);
    rig.clock.set(rig.service.now().plus_ms(5 * 60_000));
    assert_eq!(tool(&rig, Some(&operate), "act", &confirmed(&asked))["isError"], true);
    assert!(lines(&rig, &admin, "pause_type").is_empty());

    let asked = tool(&rig, Some(&operate), "act", &pause);
    let made = tool(&rig, Some(&operate), "act", &confirmed(&asked));
    assert_eq!(made["isError"], false, "{made}");
    let paused = lines(&rig, &admin, "pause_type");
    assert_eq!(paused.len(), 1);
    assert_eq!((&paused[0]["via"], &paused[0]["by"]["role"]), (&json!("mcp"), &json!("operate")));
    assert_eq!(paused[0]["subject"], json!({"kind": "type", "id": "note"}));

    let called = lines(&rig, &admin, "mcp.called");
    assert_eq!(called.len(), 5);
    for line in &called {
        assert_eq!((&line["via"], &line["by"]["kind"]), (&json!("mcp"), &json!("key")));
        assert_eq!(line["fields"], json!([{"name": "tool", "from": null, "to": "act"}]));
    }
}

#[test]
fn a_key_that_may_only_read_changes_nothing() {
    let rig = server();
    let (read, admin) = (key(&rig, Role::Read), key(&rig, Role::Admin));
    let pause = json!({"name": "act", "arguments": {"verb": "pause", "type": "note"}});
    let refused = request(&rig, Some(&read), "tools/call", pause).json();
    assert_eq!(refused["error"]["code"], -32602);
    assert!(lines(&rig, &admin, "pause_type").is_empty());
    assert_eq!(lines(&rig, &admin, "mcp.called").len(), 1);
}

#[test]
fn a_developer_needs_no_key_and_no_tool_shows_a_name_or_an_address() {
    let rig = Rig::new();
    for (id, name) in [("ada", "Ada Quillfeather"), ("bob", "Bob \u{202e}Planted")] {
        let profile = json!({"name": name, "email": format!("{id}@planted.example.org"),
            "data": {"note": "Planted secret"}});
        let put = rig.call(Method::PUT, &format!("/v1/recipients/{id}"), &profile);
        assert!(put.status.is_success(), "{put:?}");
    }
    let event = json!({
        "id": "e1", "type": "note", "to": {"recipients": ["ada", "bob"]}, "body": "Planted body",
        "actor": {"id": "bob", "title": "Planted Title"}, "object": {"id": "works/1"},
        "data": {"text": "Planted data"},
    });
    assert!(rig.call(Method::POST, "/v1/events", &event).status.is_success());
    for (name, arguments) in [
        ("search", json!({"q": "ada@planted.example.org"})),
        ("person", json!({"id": "ada"})),
        ("event", json!({"id": "e1", "who": {}})),
        ("explain", json!({"event": "e1", "recipient": "ada"})),
        ("explain", json!({"event": "e1"})),
        ("messages", json!({"recipient": "ada"})),
        ("waiting", json!({})),
        ("waiting", json!({"recipient": "ada"})),
        ("preview", json!({"recipient": "ada", "channel": "email"})),
        ("figures", json!({"by": "type,day"})),
        ("types", json!({})),
        ("status", json!({})),
        ("act", json!({"verb": "flush", "recipient": "ada"})),
    ] {
        let result = tool(&rig, None, name, &arguments);
        let text = result.to_string();
        assert_eq!(result["isError"], false, "{name} {arguments}: {text}");
        for planted in ["Quillfeather", "planted.example.org", "Planted", "\u{202e}"] {
            assert!(!text.contains(planted), "{name} {arguments} shows {planted}: {text}");
        }
    }
    let unknown = tool(&rig, None, "person", &json!({"id": "nobody"}));
    assert!(unknown["content"][0]["text"].as_str().unwrap().contains("recipient_not_found"));
    let log = rig.call(Method::GET, "/v1/admin/log?action=mcp.called", &Value::Null).json();
    assert_eq!(log["log"].as_array().unwrap().len(), 14);
    assert_eq!(log["log"][0]["by"], json!({"kind": "key", "id": "dev", "role": "admin"}));
}
