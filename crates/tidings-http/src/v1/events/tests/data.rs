//! `data` that is held to the schema of its type, however it comes.

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};
use tidings_api::timeline::read_line;

use super::{NDJSON, lines, person, publish};
use crate::rig::Rig;
use crate::{Access, Settings};

const CONFIG: &str = r#"
[categories.sales]
[types.paid]
category = "sales"
channels = { inbox = { policy = "now" } }
schema = { type = "object", required = ["amount"], additionalProperties = false, properties = { amount = { type = "number" }, lines = { type = "array", items = { type = "object", properties = { "a/b" = { type = "string", format = "date" } } } } } }
[types.free]
category = "sales"
channels = { inbox = { policy = "now" } }
"#;

fn rig() -> Rig {
    let rig = Rig::with(CONFIG, Access::Open, Settings::default());
    person(&rig, "ann");
    rig
}

fn paid(data: Option<Value>) -> Value {
    let mut event =
        json!({ "type": "paid", "object": { "id": "o" }, "to": { "recipients": ["ann"] } });
    if let Some(data) = data {
        event["data"] = data;
    }
    event
}

#[test]
fn schema_of_data_is_held_to_by_one_event_an_array_lines_and_a_timeline() {
    let rig = rig();
    let good = paid(Some(json!({ "amount": 9.5, "lines": [{ "a/b": "2024-05-01" }] })));
    assert_eq!(publish(&rig, &good).status, StatusCode::ACCEPTED);
    let bad = paid(Some(json!({ "amount": 1, "lines": [{}, { "a/b": "soon" }] })));
    let refused = publish(&rig, &bad);
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    let problem = refused.json();
    assert_eq!(problem["code"], "invalid_data");
    assert_eq!(problem["pointer"], "/data/lines/1/a~1b");
    assert_eq!(problem["detail"], "`data.lines[1].a/b` must be a date such as 2024-05-01");
    assert_eq!(problem["hint"], "its schema has `format = \"date\"`");

    let many = publish(&rig, &json!([good, bad])).json();
    assert_eq!(many[0]["status"], "accepted");
    assert_eq!(many[1]["problem"], problem);

    let text = format!("{good}\n{bad}\n");
    let told = lines(&rig.send(Method::POST, "/v1/events", &[NDJSON], text));
    assert_eq!(told[0]["status"], "accepted");
    assert_eq!(told[1]["problem"], problem);

    let mut line = bad.clone();
    line["at"] = "2024-01-01T00:00:00Z".into();
    line["op"] = "publish".into();
    let rules = rig.service.rules();
    let fault = read_line(&rules, 3, line.to_string().as_bytes()).unwrap_err();
    assert_eq!(fault.pointer.as_deref(), Some("/data/lines/1/a~1b"));
    assert_eq!(fault.line, Some(3));

    let explained = json!({ "event": bad, "recipient": "ann" });
    let explained = rig.call(Method::POST, "/v1/explain", &explained).json();
    assert_eq!(explained["code"], "invalid_data");
}

#[test]
fn schema_of_data_tells_each_fault_with_its_place_and_a_hint() {
    let rig = rig();
    let told = |data: Option<Value>| {
        let problem = publish(&rig, &paid(data)).json();
        assert_eq!(problem["code"], "invalid_data", "{problem}");
        let of = |key: &str| problem[key].as_str().unwrap().to_owned();
        (of("pointer"), of("detail"), of("hint"))
    };
    let is = |pointer: &str, detail: &str, hint: &str| {
        (pointer.to_owned(), detail.to_owned(), hint.to_owned())
    };
    // An event without `data` is held as one with none in it.
    let lacking = is("/data", "`data` lacks `amount`", "add `amount`");
    assert_eq!(told(None), lacking);
    assert_eq!(told(Some(json!({}))), lacking);
    let wrong = told(Some(json!({ "amount": "9.50" })));
    let reason = "`data.amount` must be a number, got a string";
    assert_eq!(wrong, is("/data/amount", reason, "see `schema` of the type"));
    let unknown = told(Some(json!({ "amount": 1, "line": [] })));
    let reason = "`data.line` is not among the fields of the schema";
    assert_eq!(unknown, is("/data/line", reason, "did you mean `lines`?"));
}

#[test]
fn schema_of_data_concerns_its_type_alone_and_changes_with_the_configuration() {
    let rig = rig();
    let mut free = paid(Some(json!({ "any": ["thing"] })));
    free["type"] = "free".into();
    assert_eq!(publish(&rig, &free).status, StatusCode::ACCEPTED);
    // After a restart with other rules the store's own say nothing about what comes.
    let rig = rig.restart_with(&CONFIG.replace("\"number\"", "\"string\""));
    let words = paid(Some(json!({ "amount": "9.50" })));
    assert_eq!(publish(&rig, &words).status, StatusCode::ACCEPTED);
    assert_eq!(publish(&rig, &paid(Some(json!({ "amount": 1 })))).json()["code"], "invalid_data");
}
