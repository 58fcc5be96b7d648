//! The protocol: versions, headers, errors, rates, and who is let in.

use super::*;

const STATELESS: (&str, &str) = ("mcp-protocol-version", "2026-07-28");

fn endpoint() -> Assistant {
    Assistant::new(Fake::default().on("POST /v1/search", json!({"hits": []})))
}

#[tokio::test]
async fn a_server_says_what_it_speaks_and_lists_tools_in_one_order() {
    let assistant = endpoint();
    let discovered = assistant.request(caller("k", "read"), "server/discover", json!({})).await;
    let result = &discovered.body["result"];
    assert_eq!(discovered.status, StatusCode::OK);
    assert_eq!(result["supportedVersions"][0], "2026-07-28");
    assert_eq!(result["resultType"], "complete");
    assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "tidings");
    assert_eq!(
        (&result["cacheScope"], &result["capabilities"]),
        (&json!("private"), &json!({"tools": {}}))
    );

    let list = |role| assistant.request(caller("k", role), "tools/list", json!({}));
    let read = list("read").await.body;
    assert_eq!(read, list("read").await.body);
    assert_eq!(
        (&read["result"]["cacheScope"], &read["result"]["ttlMs"]),
        (&json!("private"), &json!(300_000))
    );
    let names = |list: &Value| -> Vec<String> {
        let tools = list["result"]["tools"].as_array().unwrap();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    };
    assert!(!names(&read).contains(&"act".to_owned()), "{:?}", names(&read));
    for tool in read["result"]["tools"].as_array().unwrap() {
        assert_eq!(tool["annotations"]["readOnlyHint"], true);
        for schema in ["inputSchema", "outputSchema"] {
            assert_eq!(tool[schema]["type"], "object", "{tool}");
        }
    }
    let operate = list("operate").await.body;
    let all: Vec<&str> =
        super::super::Tool::ALL.iter().map(|tool| tool.definition().name).collect();
    assert_eq!(names(&operate), all);
    let act = &operate["result"]["tools"][11];
    assert_eq!(act["annotations"]["destructiveHint"], true);
    assert_eq!(act["annotations"]["readOnlyHint"], false);
    // The verbs are those of the role.
    let support = list("support").await.body;
    let verbs = &support["result"]["tools"].as_array().unwrap().last().unwrap()["inputSchema"];
    assert_eq!(verbs["properties"]["verb"]["enum"], json!(["flush"]));
    let paged = assistant.request(caller("k", "read"), "tools/list", json!({"cursor": "x"})).await;
    assert_eq!(paged.code(), -32602);
}

#[tokio::test]
async fn headers_say_the_same_as_the_body() {
    let assistant = endpoint();
    let meta = with_meta(json!({"name": "search", "arguments": {"q": "x"}}));
    let body =
        json!({"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": meta}).to_string();
    let method = ("mcp-method", "tools/call");
    for headers in [
        vec![],
        vec![STATELESS],
        vec![STATELESS, method],
        vec![("mcp-protocol-version", "2025-11-25"), method, ("mcp-name", "search")],
        vec![STATELESS, ("mcp-method", "tools/list"), ("mcp-name", "search")],
        vec![STATELESS, ("mcp-method", "TOOLS/CALL"), ("mcp-name", "search")],
        vec![STATELESS, method, ("mcp-name", "person")],
        vec![STATELESS, method, ("mcp-name", "=?base64?###?=")],
        vec![STATELESS, method, ("mcp-name", "search"), ("mcp-name", "search")],
        vec![STATELESS, STATELESS, method, ("mcp-name", "search")],
    ] {
        let answered = assistant.send(caller("k", "read"), &headers, &body).await;
        assert_eq!(
            (answered.status, answered.code()),
            (StatusCode::BAD_REQUEST, -32020),
            "{headers:?}"
        );
        assert_eq!(answered.body["id"], "a");
    }
    for name in ["search", "  search ", "=?base64?c2VhcmNo?="] {
        let headers = [STATELESS, method, ("mcp-name", name), ("mcp-session-id", "s")];
        let answered = assistant.send(caller("k", "read"), &headers, &body).await;
        assert_eq!(answered.status, StatusCode::OK, "{name}: {}", answered.body);
    }
    // The header of a method is compared before the body is said to be incomplete.
    let bare = r#"{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}"#;
    let other = [STATELESS, ("mcp-method", "prompts/list")];
    assert_eq!(assistant.send(caller("k", "read"), &other, bare).await.code(), -32020);
}

#[tokio::test]
async fn what_each_request_says_of_itself_has_to_be_there() {
    let assistant = endpoint();
    let headers = [STATELESS, ("mcp-method", "tools/list")];
    let version = "io.modelcontextprotocol/protocolVersion";
    for meta in [json!({}), json!({version: "2026-07-28"}), json!({version: 1}), json!([])] {
        let body =
            json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}});
        let answered = assistant.send(caller("k", "read"), &headers, &body.to_string()).await;
        assert_eq!((answered.status, answered.code()), (StatusCode::BAD_REQUEST, -32602), "{body}");
    }
    for header in ["1900-01-01", "2024-11-05"] {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list",
            "params": {"_meta": {version: header}}});
        for body in
            [body.to_string(), r#"{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}"#.to_owned()]
        {
            let headers = [("mcp-protocol-version", header), ("mcp-method", "tools/list")];
            let answered = assistant.send(caller("k", "read"), &headers, &body).await;
            assert_eq!((answered.status, answered.code()), (StatusCode::BAD_REQUEST, -32022));
            let data = &answered.body["error"]["data"];
            assert_eq!(data["requested"], header);
            assert_eq!(
                data["supported"],
                json!(["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"])
            );
        }
    }
}

#[tokio::test]
async fn methods_of_the_other_generation_are_unknown() {
    let assistant = endpoint();
    for method in ["initialize", "ping", "resources/list", "subscriptions/listen", "", "__proto__"]
    {
        let answered = assistant.request(caller("k", "read"), method, json!({})).await;
        assert_eq!((answered.status, answered.code()), (StatusCode::NOT_FOUND, -32601), "{method}");
    }
    let old = r#"{"jsonrpc": "2.0", "id": 1, "method": "server/discover"}"#;
    let answered = assistant.send(caller("k", "read"), &[], old).await;
    assert_eq!((answered.status, answered.code()), (StatusCode::OK, -32601));
}

#[tokio::test]
async fn clients_that_begin_with_a_handshake_are_answered_and_nothing_is_kept_of_them() {
    let assistant = endpoint();
    for (asked, spoken) in [
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2024-11-05", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
    ] {
        let body = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": asked, "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}});
        let answered = assistant.send(caller("k", "read"), &[], &body.to_string()).await;
        let result = &answered.body["result"];
        assert_eq!(result["protocolVersion"], spoken);
        assert_eq!(result["serverInfo"]["name"], "tidings");
        assert!(result.get("resultType").is_none());
    }
    let note = r#"{"jsonrpc": "2.0", "method": "notifications/initialized"}"#;
    let accepted = assistant.send(caller("k", "read"), &[], note).await;
    assert_eq!((accepted.status, accepted.body), (StatusCode::ACCEPTED, Value::Null));
    for version in [None, Some("2025-03-26"), Some("2025-06-18"), Some("2025-11-25")] {
        let headers: Vec<_> = version.map(|of| ("mcp-protocol-version", of)).into_iter().collect();
        for (method, params) in [
            ("ping", json!({})),
            ("tools/list", json!({})),
            ("tools/call", json!({"name": "search", "arguments": {"q": "x"}})),
        ] {
            let body = json!({"jsonrpc": "2.0", "id": 3, "method": method, "params": params});
            let answered = assistant.send(caller("k", "read"), &headers, &body.to_string()).await;
            assert_eq!(answered.status, StatusCode::OK);
            assert!(answered.body["result"].is_object(), "{method}: {}", answered.body);
        }
    }
}

#[tokio::test]
async fn what_is_no_message_is_refused_and_never_a_panic() {
    let assistant = endpoint();
    for (body, code) in [
        ("", -32700),
        ("{", -32700),
        ("\u{0}", -32700),
        ("[]", -32600),
        ("null", -32600),
        (r#"{"id": 1, "method": "ping"}"#, -32600),
        (r#"{"jsonrpc": "1.0", "id": 1, "method": "ping"}"#, -32600),
        (r#"{"jsonrpc": "2.0", "id": 1}"#, -32600),
        (r#"{"jsonrpc": "2.0", "id": 1, "result": {}}"#, -32600),
        (r#"{"jsonrpc": "2.0", "id": null, "method": "ping"}"#, -32600),
        (r#"{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}"#, -32600),
        (r#"{"jsonrpc": "2.0", "id": {}, "method": "ping"}"#, -32600),
        (r#"{"jsonrpc": "2.0", "id": 1, "method": 2}"#, -32600),
        (r#"{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": [1]}"#, -32600),
    ] {
        let answered = assistant.send(caller("k", "read"), &[], body).await;
        assert_eq!((answered.status, answered.code()), (StatusCode::BAD_REQUEST, code), "{body}");
    }
    for params in [json!({}), json!({"name": 1}), json!({"name": "search", "arguments": []})] {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let answered = assistant.send(caller("k", "read"), &[], &body.to_string()).await;
        assert_eq!((answered.status, answered.code()), (StatusCode::OK, -32602), "{params}");
    }
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(assistant.send(caller("k", "read"), &[], &deep).await.code(), -32700);
}

#[tokio::test]
async fn several_messages_come_at_once_by_the_oldest_version_alone() {
    let assistant = endpoint();
    let note = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let ping = |id: u64| json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
    let batch = json!([ping(1), note, {"jsonrpc": "2.0", "id": 2}, ping(3)]).to_string();
    for headers in [vec![], vec![("mcp-protocol-version", "2025-03-26")]] {
        let answered = assistant.send(caller("k", "read"), &headers, &batch).await;
        assert_eq!(answered.status, StatusCode::OK);
        let ids: Vec<&Value> =
            answered.body.as_array().unwrap().iter().map(|of| &of["id"]).collect();
        assert_eq!(ids, [&json!(1), &json!(2), &json!(3)]);
    }
    let notes = assistant.send(caller("k", "read"), &[], &json!([note]).to_string()).await;
    assert_eq!((notes.status, notes.body), (StatusCode::ACCEPTED, Value::Null));
    for (headers, body) in [
        (vec![("mcp-protocol-version", "2025-06-18")], batch),
        (vec![STATELESS, ("mcp-method", "ping")], json!([ping(1)]).to_string()),
        (vec![], json!(vec![ping(1); 21]).to_string()),
    ] {
        let answered = assistant.send(caller("k", "read"), &headers, &body).await;
        assert_eq!((answered.status, answered.code()), (StatusCode::BAD_REQUEST, -32600));
    }
    let search = json!({"name": "search", "arguments": {"q": "x"}});
    let search = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": search});
    let body = json!(vec![search; 20]).to_string();
    for status in [200, 200, 200, 429] {
        let answered = assistant.send(caller("k", "read"), &[], &body).await;
        assert_eq!(answered.status, status);
    }
}

#[tokio::test]
async fn a_tool_that_a_role_lacks_is_as_unknown_as_one_that_there_is_not() {
    let assistant = endpoint();
    for name in ["act", "status", "drop_tables", ""] {
        let answered = assistant.tool("read", name, json!({})).await;
        assert_eq!(answered.code(), -32602, "{name}");
        assert_eq!(answered.body["error"]["message"], format!("Unknown tool: {name}"));
    }
    let logged =
        ["act", "status", "unknown", "unknown"].map(|tool| format!("mcp.called read {tool}"));
    assert_eq!(assistant.called(), logged);
}

#[tokio::test]
async fn the_sixty_first_call_of_a_minute_is_refused_and_leaves_no_line() {
    let assistant = endpoint();
    for _ in 0..60 {
        let answered = assistant.tool("read", "search", json!({"q": "x"})).await;
        assert_eq!(answered.status, StatusCode::OK);
    }
    assistant.called();
    let refused = assistant.tool("read", "search", json!({"q": "x"})).await;
    assert_eq!(refused.status, StatusCode::TOO_MANY_REQUESTS);
    assert!(assistant.called().is_empty());
    // Lists are not calls, and another key has its own.
    let list = assistant.request(caller("read", "read"), "tools/list", json!({})).await;
    assert_eq!(list.status, StatusCode::OK);
    let other = assistant.tool("support", "search", json!({"q": "x"})).await;
    assert_eq!(other.status, StatusCode::OK);
}

#[tokio::test]
async fn the_door_looks_at_host_origin_method_key_and_kind_in_this_order() {
    let assistant = endpoint();
    let (host, key) = (("host", "tidings.example.org"), ("authorization", "Bearer read"));
    let json = ("content-type", "application/json");
    for (method, headers, status) in [
        ("POST", vec![host, key, json], None),
        ("POST", vec![("host", "127.0.0.1:8990"), ("authorization", "bearer  read "), json], None),
        ("POST", vec![host, key, json, ("origin", "https://tidings.example.org")], None),
        ("POST", vec![host, key, ("content-type", "application/json; charset=utf-8")], None),
        ("POST", vec![("host", "evil.example"), key, json], Some(421)),
        ("POST", vec![key, json], Some(421)),
        ("GET", vec![("host", "evil.example")], Some(421)),
        ("POST", vec![host, key, json, ("origin", "https://evil.example")], Some(403)),
        ("POST", vec![host, key, json, ("origin", "http://localhost:3000")], Some(403)),
        ("POST", vec![host, key, json, ("origin", "null")], Some(403)),
        ("GET", vec![host, key], Some(405)),
        ("DELETE", vec![host, key], Some(405)),
        ("POST", vec![host, json], Some(401)),
        ("POST", vec![host, json, ("cookie", "__Host-tidings=read")], Some(401)),
        ("POST", vec![host, json, ("authorization", "Bearer none")], Some(401)),
        ("POST", vec![host, json, ("authorization", "Basic read")], Some(401)),
        ("POST", vec![host, json, ("authorization", "Bearer")], Some(401)),
        ("POST", vec![host, json, key, key], Some(401)),
        ("POST", vec![host, key, ("content-type", "text/plain")], Some(415)),
        ("POST", vec![host, key], Some(415)),
    ] {
        let refused = assistant.refused(method, &headers).map(|status| status.as_u16());
        assert_eq!(refused, status, "{method} {headers:?}");
    }
}
