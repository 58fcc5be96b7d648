//! Jobs: one change of many messages, as operators make, watch and stop it.

use std::sync::Arc;

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};

use super::messages::{Wire, awaited, listed, note, refused, wired};
use super::{get, post, problem, put};
use crate::rig::Rig;

/// A server with three messages that failed and one that was sent.
fn failed() -> (Rig, Arc<Wire>) {
    let (rig, wire) = wired();
    put(&rig, "/v1/recipients/dan", &json!({"email": "dan@example.org"}));
    wire.says([refused(), refused(), refused()]);
    for (count, (event, to)) in [("e1", "ada"), ("e2", "bob"), ("e3", "cy")].iter().enumerate() {
        note(&rig, event, to);
        awaited(&rig, "state=failed", count + 1);
    }
    note(&rig, "e4", "dan");
    awaited(&rig, "state=sent", 1);
    (rig, wire)
}

fn job(rig: &Rig, id: &str) -> Value {
    get(rig, &format!("/v1/admin/jobs/{id}"))
}

/// The job once it is in a state.
fn awaited_job(rig: &Rig, id: &str, state: &str) -> Value {
    for _ in 0..100_000 {
        let job = job(rig, id);
        if job["state"] == state {
            return job;
        }
        std::thread::yield_now();
    }
    panic!("{}", job(rig, id));
}

fn made(rig: &Rig, verb: &str, body: &Value) -> String {
    let answer = rig.call(Method::POST, &format!("/v1/messages/{verb}"), body);
    assert_eq!(answer.status, StatusCode::ACCEPTED, "{answer:?}");
    answer.json()["job"].as_str().unwrap().to_owned()
}

#[test]
fn bulk_a_job_begins_after_ten_seconds_and_acts_once_on_each_message() {
    let (rig, wire) = failed();
    rig.at("2024-01-01T13:00:00Z");
    let filter = json!({"channel": "email"});
    let dry = post(&rig, "/v1/messages/retry?dry=true", &json!({"filter": filter}));
    let expected = json!({
        "of": 4, "left_out": {"message_state": 1}, "dry": true,
        "concerns": {"people": 3, "entries": 3, "messages": 3},
    });
    assert_eq!(dry, expected);
    assert_eq!(get(&rig, "/v1/admin/jobs"), json!({"jobs": [], "next": null}));

    let body = json!({"filter": filter, "expect": 2});
    let grown = rig.call(Method::POST, "/v1/messages/retry", &body);
    assert_eq!(problem(&grown, StatusCode::CONFLICT), "grew");
    let id = made(&rig, "retry", &json!({"filter": filter, "expect": 3}));
    let waiting = job(&rig, &id);
    assert_eq!((&waiting["state"], &waiting["of"]), (&json!("waiting"), &json!(4)));
    assert_eq!((&waiting["verb"], &waiting["filter"]), (&json!("retry"), &filter));
    assert_eq!(waiting["by"], json!({"kind": "key", "id": "dev", "role": "admin"}));
    assert_eq!(waiting["began"], Value::Null);
    rig.at("2024-01-01T13:00:09Z");
    assert_eq!(job(&rig, &id)["state"], "waiting");
    assert_eq!(wire.recipients().len(), 4);

    rig.at("2024-01-01T13:00:10Z");
    let done = awaited_job(&rig, &id, "done");
    assert_eq!((&done["done"], &done["left_out"]), (&json!(3), &json!({"message_state": 1})));
    assert_eq!(done["began"], "2024-01-01T13:00:10Z");
    assert_eq!(done["ended"], "2024-01-01T13:00:10Z");
    awaited(&rig, "state=sent", 4);
    assert_eq!(wire.recipients().len(), 7);
    assert_eq!(listed(&rig, &format!("job={id}")).len(), 4);
    assert_eq!(listed(&rig, &format!("job={id}&recipient=ada")).len(), 1);
    assert_eq!(listed(&rig, "job=none").len(), 0);
    assert_eq!(get(&rig, "/v1/admin/jobs")["jobs"], json!([done]));
}

#[test]
fn bulk_a_stopped_job_leaves_the_rest_and_says_so() {
    let (rig, wire) = failed();
    rig.at("2024-01-01T13:00:00Z");
    let id = made(&rig, "resend", &json!({"filter": {"state": ["failed", "sent"]}, "expect": 9}));
    let path = format!("/v1/admin/jobs/{id}");
    let stopped = rig.call(Method::DELETE, &path, &Value::Null);
    assert_eq!(
        (stopped.status, stopped.json()["state"].clone()),
        (StatusCode::OK, json!("stopped"))
    );
    assert_eq!(stopped.json()["ended"], "2024-01-01T13:00:00Z");
    rig.at("2024-01-01T14:00:00Z");
    assert_eq!(job(&rig, &id)["done"], 0);
    assert_eq!(wire.recipients().len(), 4);

    // At once, and only what can be cancelled.
    let body = json!({"filter": {"event": "e1"}, "expect": 0, "now": true});
    let cancel = made(&rig, "cancel", &body);
    let done = awaited_job(&rig, &cancel, "done");
    assert_eq!((&done["done"], &done["left_out"]), (&json!(0), &json!({"nothing_left": 1})));
    let newest_first = get(&rig, "/v1/admin/jobs?limit=1");
    assert_eq!(newest_first["jobs"][0]["id"], json!(cancel));
    let next = newest_first["next"].as_str().unwrap();
    let older = get(&rig, &format!("/v1/admin/jobs?limit=1&cursor={next}"));
    assert_eq!((&older["jobs"][0]["id"], &older["next"]), (&json!(id), &Value::Null));
}

#[test]
fn bulk_a_wrong_filter_makes_no_job() {
    let (rig, _) = failed();
    let answer = |body: &Value| rig.call(Method::POST, "/v1/messages/retry", body);
    for filter in
        [json!({"state": "gone"}), json!({"limit": "1"}), json!({"type": ["note", "none"]})]
    {
        let answer = answer(&json!({"filter": filter, "expect": 9}));
        assert_eq!(problem(&answer, StatusCode::BAD_REQUEST), "invalid_query");
    }
    for body in [json!({"filter": {}, "expect": 9}), json!({"filter": {"state": "failed"}})] {
        let answer = answer(&body);
        assert_eq!(problem(&answer, StatusCode::UNPROCESSABLE_ENTITY), "invalid_body");
    }
    for (method, id) in [(Method::GET, "1"), (Method::GET, "none"), (Method::DELETE, "1")] {
        let answer = rig.call(method, &format!("/v1/admin/jobs/{id}"), &Value::Null);
        assert_eq!(problem(&answer, StatusCode::NOT_FOUND), "job_not_found");
    }
    assert_eq!(get(&rig, "/v1/admin/jobs")["jobs"], json!([]));
}

/// The lines of the log about jobs, newest first: action, id, result, and the fields with their last values.
fn lines(rig: &Rig) -> Vec<Value> {
    let page = get(rig, "/v1/admin/log");
    let lines = page["log"].as_array().unwrap().iter();
    let about_jobs = lines.filter(|line| line["subject"]["kind"] == "job");
    let short = |line: &Value| {
        let fields = line["fields"].as_array().unwrap().iter();
        let fields: Vec<Value> = fields.map(|field| json!([field["name"], field["to"]])).collect();
        json!([line["action"], line["subject"]["id"], line["by"]["id"], line["result"], fields])
    };
    about_jobs.map(short).collect()
}

#[test]
fn bulk_a_job_has_two_lines_in_the_log_of_changes() {
    let (rig, _) = failed();
    rig.at("2024-01-01T13:00:00Z");
    let all = json!({"filter": {"channel": "email"}, "expect": 9});
    let stopped = made(&rig, "resend", &all);
    let path = format!("/v1/admin/jobs/{stopped}");
    rig.at("2024-01-01T13:00:01Z");
    rig.call(Method::DELETE, &path, &Value::Null);
    // Stopping what has ended changes nothing.
    rig.call(Method::DELETE, &path, &Value::Null);
    let first = [
        json!(["job.ended", stopped, "dev", "stopped", []]),
        json!(["job.begun", stopped, "dev", "done", [["verb", "resend"], ["of", 4]]]),
    ];
    assert_eq!(lines(&rig), first);

    rig.at("2024-01-01T13:00:02Z");
    let job =
        made(&rig, "retry", &json!({"filter": {"channel": "email"}, "expect": 9, "now": true}));
    awaited_job(&rig, &job, "done");
    rig.at("2024-01-01T13:00:04Z");
    let ended = json!(["job.ended", job, "dev", "done", [["done", 3]]]);
    for _ in 0..100_000 {
        if lines(&rig)[0] == ended {
            break;
        }
        std::thread::yield_now();
    }
    let begun = json!(["job.begun", job, "dev", "done", [["verb", "retry"], ["of", 4]]]);
    assert_eq!(lines(&rig)[..2], [ended, begun]);
    rig.call(Method::DELETE, &format!("/v1/admin/jobs/{job}"), &Value::Null);
    assert_eq!(lines(&rig).len(), 4);
}
