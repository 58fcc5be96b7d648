use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::fake::Fake;

const HOSTILE: &str = "\"><script>alert('1')</script>";

fn suppressions() -> Value {
    json!({"suppressions": [
        {"channel": "email", "address": "ana@example.org", "reason": "bounce", "since": "2026-11-28T21:00:00.001Z", "expires_at": null},
        {"channel": "email", "address": "ben@example.org", "reason": "bounce", "since": "2026-11-28T21:00:00.002Z", "expires_at": null},
    ], "next": "n+1"})
}

#[tokio::test]
async fn each_list_shows_what_its_call_answers_and_escapes_it() {
    for (name, call, answer, texts) in [
        (
            "feeds",
            "feeds",
            json!([{"name": HOSTILE, "state": "failing", "fault": HOSTILE, "lag_ms": 61_000, "parked": 2, "newest": null, "taken": 1_200}]),
            &["1 min 1 s", "1,200", "/parked\"", "/pause\""][..],
        ),
        (
            "hooks",
            "hooks",
            json!([{"name": "crm", "url": "https://a/secret", "state": "off", "backlog": 79, "last": {"at": "2026-11-28T21:00:00Z", "status": 0}}]),
            &["no answer", "/system/hooks/crm/resume"],
        ),
        (
            "tenants",
            "tenants",
            json!({"tenants": [{"id": "a&b", "name": HOSTILE, "disabled": true, "locale": null, "tz": null}], "next": null}),
            &["disabled", "/messages?tenant=a%26b"],
        ),
        (
            "keys",
            "admin/keys",
            json!({"keys": [{"id": "k-9", "name": HOSTILE, "made": "2026-11-28T21:00:00Z", "role": "admin"}]}),
            &["/system/keys/k-9/revoke", "/system/log?by=key%3Ak-9"],
        ),
        (
            "sessions",
            "admin/sessions",
            json!({"sessions": [{"id": "s-1", "by": {"kind": "person", "id": HOSTILE, "role": "operate"}, "began": "2026-11-28T20:00:00Z", "used": "2026-11-28T21:00:00Z", "until": "2026-11-29T08:00:00Z"}], "next": null}),
            &["/system/sessions/s-1/end", "(operate)"],
        ),
        (
            "nodes",
            "nodes",
            json!([{"node": "a", "address": "10.0.0.1:1", "state": "silent", "parts": [1, 2], "intake": true, "config": "c0", "epoch": 1, "lag_ms": 0, "silent_ms": 9_000, "since": "2026-11-28T21:00:00Z"}]),
            &["2 shards, intake", "9 s"],
        ),
        (
            "log",
            "admin/log",
            json!({"log": [{"id": "l", "at": "2026-11-28T21:00:00Z", "by": {"kind": "key", "id": "k1", "role": "admin"}, "via": "console", "action": "pause_type", "subject": {"kind": "type", "id": HOSTILE}, "fields": [{"name": "paused", "from": false, "to": true}], "result": "done"}], "next": "c"}),
            &["paused: no → yes", "key k1 (admin)", "/types/%22%3E", "cursor=c"],
        ),
    ] {
        let call = format!("GET /v1/{call}");
        let page =
            Fake::default().on(&call, answer).page("admin", &format!("/system/{name}"), None).await;
        assert_eq!(page.status, StatusCode::OK, "{name}: {}", page.text);
        page.has(texts);
        page.lacks(&["<script>alert", "https://a/secret"]);
    }
}

#[tokio::test]
async fn a_wrong_filter_of_a_list_is_shown_with_its_hint_and_stays() {
    let page = Fake::default()
        .refuse(
            "GET /v1/admin/log?action=pause_typ",
            400,
            "invalid_query",
            "did you mean `pause_type`?",
        )
        .page("admin", "/system/log?action=pause_typ", None)
        .await;
    assert_eq!(page.status, StatusCode::BAD_REQUEST);
    page.has(&["did you mean <code><bdi>pause_type</bdi></code>?", "value=\"pause_typ\""]);
    page.lacks(&["No change is logged"]);
}

#[tokio::test]
async fn an_address_is_unsuppressed_without_being_in_any_page_or_url() {
    let page = Fake::default()
        .on("GET /v1/suppressions?reason=bounce", suppressions())
        .page("support", "/system/suppressions?reason=bounce&channel=", None)
        .await;
    page.has(&[
        "More than 2 suppressed addresses",
        "a••@e••••••.org",
        "/system/suppressions/email/unsuppress?since=2026-11-28T21%3A00%3A00.001Z",
        "reason=bounce&amp;cursor=n%2B1",
    ]);
    page.lacks(&["ana@example.org"]);
    let path = "/system/suppressions/email/unsuppress?since=2026-11-28T21:00:00.001Z";
    let listed = "GET /v1/suppressions?channel=email&since=2026-11-28T21%3A00%3A00.001Z&limit=500";
    let mut first = suppressions();
    first["suppressions"].as_array_mut().unwrap().remove(0);
    let fake = || {
        let mut last = suppressions();
        last["next"] = Value::Null;
        Fake::default()
            .on(listed, first.clone())
            .on(&format!("{listed}&cursor=n%2B1"), last)
            .on("DELETE /v1/suppressions/email/ana%40example.org", Value::Null)
    };
    let page = fake().page("support", path, None).await;
    page.has(&["Unsuppress the address a••@e••••••.org on email?", "<title>Unsuppress an address"]);
    page.lacks(&["ana@example.org", "ana%40"]);
    assert!(!page.called.iter().any(|call| call.starts_with("DELETE")), "{:?}", page.called);
    let page = fake().page("support", path, Some("")).await;
    assert_eq!(
        (page.status, page.location.as_str()),
        (StatusCode::SEE_OTHER, "/console/system/suppressions")
    );
    assert!(page.called.iter().any(|call| call.starts_with("DELETE")), "{:?}", page.called);
    let page = fake().page("read", path, None).await;
    assert_eq!(page.status, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn of_several_addresses_of_one_instant_none_is_taken() {
    let listed = "GET /v1/suppressions?channel=email&since=T&limit=500";
    let rows = json!({"suppressions": [{"address": "a@b.c", "since": "T"}, {"address": "b@b.c", "since": "T"}], "next": null});
    let page = Fake::default()
        .on(listed, rows.clone())
        .page("admin", "/system/suppressions/email/unsuppress?since=T", Some(""))
        .await;
    assert_eq!(page.status, StatusCode::CONFLICT);
    assert!(!page.called.iter().any(|call| call.starts_with("DELETE")), "{:?}", page.called);
    let mark = super::lists::mark("b@b.c");
    let page = Fake::default()
        .on(listed, rows)
        .on("DELETE /v1/suppressions/email/b%40b.c", Value::Null)
        .page(
            "admin",
            &format!("/system/suppressions/email/unsuppress?since=T&mark={mark}"),
            Some(""),
        )
        .await;
    assert_eq!(page.location, "/console/system/suppressions");
}

#[tokio::test]
async fn rows_are_changed_in_two_steps_by_who_may() {
    for (path, call, back) in [
        ("/system/feeds/app/resume", "POST /v1/feeds/app/resume", "/console/system/feeds"),
        ("/system/hooks/crm/resume", "POST /v1/hooks/crm/resume", "/console/system/hooks"),
        ("/system/keys/k%2F1/revoke", "DELETE /v1/admin/keys/k%2F1", "/console/system/keys"),
        ("/system/sessions/s-1/end", "DELETE /v1/admin/sessions/s-1", "/console/system/sessions"),
        ("/system/jobs/17/stop", "DELETE /v1/admin/jobs/17", "/console/system/jobs/17"),
    ] {
        let page = Fake::default().page("admin", path, None).await;
        assert_eq!(page.status, StatusCode::OK, "{path}");
        assert!(page.called.is_empty(), "{path}: {:?}", page.called);
        page.has(&[&format!("action=\"/console{path}\"")]);
        let page = Fake::default().on(call, json!({})).page("admin", path, Some("")).await;
        assert_eq!((page.status, page.location.as_str()), (StatusCode::SEE_OTHER, back));
        let page = Fake::default().page("read", path, None).await;
        assert_eq!(page.status, StatusCode::FORBIDDEN, "{path}");
    }
    let page = Fake::default().page("admin", "/system/keys/k/explode", None).await;
    assert_eq!(page.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn nobody_sees_lists_and_buttons_of_other_roles() {
    let keys = json!({"keys": [{"id": "k-9", "name": "app", "made": "2026-11-28T21:00:00Z", "role": "admin"}]});
    let page =
        Fake::default().on("GET /v1/admin/keys", keys).page("read", "/system/keys", None).await;
    page.has(&["k-9"]);
    page.lacks(&["/revoke"]);
    let hooks = json!([{"name": "crm", "state": "off", "backlog": 1}]);
    let page = Fake::default().on("GET /v1/hooks", hooks).page("admin", "/system", None).await;
    page.has(&["1 of the parts does not run", "/system/log", "/system/jobs"]);
}

#[tokio::test]
async fn a_job_shows_its_progress_its_stop_and_its_messages() {
    let job = |state: &str| {
        json!({"id": "17", "verb": "retry", "filter": {"state": ["failed"], "event": HOSTILE}, "by": {"kind": "key", "id": HOSTILE},
               "state": state, "of": 300, "done": 100, "left_out": {"message_state": 20, "recipient_gone": 1}, "at": "2026-11-28T21:00:00Z"})
    };
    let page = Fake::default()
        .on("GET /v1/admin/jobs/17", job("running"))
        .page("operate", "/system/jobs/17", None)
        .await;
    page.has(&[
        "Running: 100 of 300 messages sent again so far.",
        "<progress max=\"300\" value=\"121\"",
        "/console/system/jobs/17/stop",
        "/console/messages?job=17",
        "message_state",
    ]);
    page.lacks(&["<script>alert"]);
    let page = Fake::default()
        .on("GET /v1/admin/jobs/17", job("running"))
        .page("read", "/system/jobs/17", None)
        .await;
    page.lacks(&["/stop"]);
    let page = Fake::default()
        .on("GET /v1/admin/jobs/17", job("done"))
        .page("operate", "/system/jobs/17", None)
        .await;
    page.lacks(&["/stop"]);
    let jobs = json!({"jobs": [job("done")], "next": "z"});
    let page =
        Fake::default().on("GET /v1/admin/jobs", jobs).page("read", "/system/jobs", None).await;
    page.has(&["state failed, event", "/console/system/jobs?cursor=z"]);
    page.lacks(&["<script>alert"]);
}
