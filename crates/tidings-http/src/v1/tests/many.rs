//! Calls that take many bodies: streams of lines, and arrays.

use super::*;

#[test]
fn many_at_once_are_answered_line_by_line() {
    let rig = Rig::new();
    let lines = |path: &str, body: &'static str| -> Vec<Value> {
        let answer = rig.send(Method::POST, path, NDJSON, body);
        assert_eq!(answer.status, StatusCode::OK);
        let text = String::from_utf8(answer.bytes).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let people = "{\"id\":\"ada\",\"email\":\"ada@example.org\"}\n{\"id\":\"bob\",\"tz\":\"x\"}\n{\"id\":\"cy\"}\n";
    let answers = lines("/v1/recipients", people);
    assert_eq!(answers[0], json!({"line": 1, "status": "done"}));
    assert_eq!(
        (&answers[1]["line"], &answers[1]["problem"]["code"]),
        (&json!(2), &json!("invalid_body"))
    );
    assert_eq!(answers[2]["status"], "done");
    let follows =
        "{\"recipient\":\"ada\",\"topic\":\"a/b\"}\n{\"recipient\":\"bob\",\"topic\":\"a\"}";
    let answers = lines("/v1/subscriptions", follows);
    assert_eq!(
        (&answers[0]["status"], &answers[1]["problem"]["code"]),
        (&json!("done"), &json!("recipient_not_found"))
    );
    let objects = "{\"id\":\"works/1\",\"title\":\"Water Lilies\"}";
    assert_eq!(lines("/v1/objects", objects).len(), 1);
    assert_eq!(get(&rig, "/v1/recipients/ada/subscriptions"), json!({"topics": ["a/b"]}));
    for path in ["/v1/recipients", "/v1/subscriptions", "/v1/objects"] {
        let answer = rig.call(Method::POST, path, &json!({"id": "x"}));
        let status = StatusCode::UNPROCESSABLE_ENTITY;
        assert_eq!(problem(&answer, status), "invalid_body", "{path}");
        let detail = &answer.json()["detail"];
        assert_eq!(detail, "the body must be an array, got an object", "{path}");
        let answer = rig.send(Method::POST, &format!("{path}?answers=some"), NDJSON, "");
        assert_eq!(problem(&answer, StatusCode::BAD_REQUEST), "invalid_query", "{path}");
    }
}

#[test]
fn many_at_once_are_taken_as_an_array() {
    let rig = Rig::new();
    let done = json!({"status": "done"});
    let people = json!([{"id": "ada"}, {"id": "bob", "tz": "x"}, 7, {"id": "cy"}]);
    let answers = post(&rig, "/v1/recipients", &people);
    assert_eq!(answers.as_array().unwrap().len(), 4);
    assert_eq!((&answers[0], &answers[3]), (&done, &done));
    for (at, id) in [(1, json!("bob")), (2, Value::Null)] {
        assert_eq!(answers[at]["status"], "rejected");
        assert_eq!(answers[at]["problem"]["code"], "invalid_body");
        assert_eq!(answers[at]["id"], id);
    }
    let follows = json!([
        {"recipient": "ada", "topic": "a/b"},
        {"recipient": "bob", "topic": "a"},
        {"recipient": "ada", "topic": "c", "unsubscribe": false},
    ]);
    let answers = post(&rig, "/v1/subscriptions", &follows);
    assert_eq!(answers[0], done);
    assert_eq!(answers[1]["problem"]["code"], "recipient_not_found");
    let topics = |rig: &Rig| get(rig, "/v1/recipients/ada/subscriptions")["topics"].clone();
    assert_eq!(topics(&rig), json!(["a/b", "c"]));
    let ends = json!([{"recipient": "ada", "topic": "a/b", "unsubscribe": true}]);
    assert_eq!(post(&rig, "/v1/subscriptions", &ends), json!([done]));
    let ends = r#"{"recipient": "ada", "topic": "c", "unsubscribe": true}"#;
    rig.send(Method::POST, "/v1/subscriptions", NDJSON, ends);
    assert_eq!(topics(&rig), json!([]));
    let objects = json!([{"id": "works/1", "title": "Water Lilies"}]);
    assert_eq!(post(&rig, "/v1/objects", &objects), json!([done]));
    assert_eq!(post(&rig, "/v1/objects", &json!([])), json!([]));
}

#[test]
fn an_array_is_bounded_and_done_once_under_a_key() {
    let settings = Settings { array_items_max: 2, ..Settings::default() };
    let rig = Rig::with(CONFIG, Access::Open, settings);
    let three = json!([{"id": "a"}, {"id": "b"}, {"id": "c"}]);
    let many = rig.call(Method::POST, "/v1/recipients", &three);
    assert_eq!(problem(&many, StatusCode::PAYLOAD_TOO_LARGE), "body_too_large");
    assert_eq!(get(&rig, "/v1/admin/status")["recipients"], 0);
    let keyed = || {
        let headers = [("idempotency-key", "k")];
        let body = json!([{"id": "a"}]).to_string();
        rig.send(Method::POST, "/v1/recipients", &headers, body)
    };
    let first = keyed();
    assert!(!first.headers.contains_key("idempotency-replayed"));
    assert_eq!(rig.call(Method::DELETE, "/v1/recipients/a", &Value::Null).status, StatusCode::OK);
    let again = keyed();
    assert_eq!(again.headers["idempotency-replayed"], "true");
    assert_eq!(again.bytes, first.bytes);
    assert_eq!(get(&rig, "/v1/admin/status")["recipients"], 0);
}
