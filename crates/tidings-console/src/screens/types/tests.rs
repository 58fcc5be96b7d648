use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::fake::Fake;

const HOSTILE: &str = "\"><script>alert('1')</script>";

fn types() -> Value {
    json!({
        "types": {
            "comment": {
                "category": "work", "paused": false, "urgent": true, "required": false, "include_actor": false,
                "condition": HOSTILE, "admission": "always", "look_back": null, "drop_if_seen": null,
                "give_up_after": null, "unknown_outcome": "resend",
                "channels": {
                    "email": {"policy": "cooldown", "lane": "cooldown", "quiet": "4m", "max_wait": "15m"},
                    "inbox": {"policy": "now", "lane": "now"},
                },
            },
            HOSTILE: {"category": "work", "paused": true, "channels": {}},
        },
        "categories": {"work": {"title": "Work to do"}},
        "digests": {},
        "channels": {},
    })
}

fn figures() -> Value {
    let row = |day: &str, sent: u64| {
        json!({"day": day, "type": "comment", "events": sent, "messages": {"sent": sent, "failed": 1}, "muted": 0,
               "delay": {"n": sent, "p50_ms": 1, "p95_ms": 61_000}})
    };
    json!({
        "from": "2026-11-26", "to": "2026-11-29", "days_without": [],
        "rows": [row("2026-11-26", 1_000), row("2026-11-27", 234)],
    })
}

fn fake() -> Fake {
    let log =
        json!({"log": [{"at": "2026-11-28T21:00:00Z", "by": {"kind": "person", "id": "mara"}}]});
    Fake::default()
        .on("GET /v1/types", types())
        .on("GET /v1/admin/figures?by=type%2Cday&measure=events", figures())
        .on("GET /v1/admin/figures?type=comment&by=day", figures())
        .on(
            "GET /v1/admin/log?action=pause_type&subject=type%3A%22%3E%3Cscript%3Ealert%28%271%27%29%3C%2Fscript%3E&limit=1",
            log,
        )
}

#[tokio::test]
async fn types_are_listed_with_their_policies_and_who_paused_them() {
    let page = fake().page("admin", "/types", None).await;
    assert_eq!(page.status, StatusCode::OK);
    page.has(&[
        "1 of 2 types is paused.",
        "email: waits for 4 quiet minutes, 15 at most",
        "Work to do",
        "paused by person mara, <time",
        "1,234",
        "<svg class=\"spark\"",
        "/console/types/%22%3E%3Cscript",
    ]);
    page.lacks(&["<script>alert"]);
}

#[tokio::test]
async fn a_type_shows_its_policies_drawn_and_its_last_days() {
    let page = fake().page("operate", "/types/comment", None).await;
    assert_eq!(page.status, StatusCode::OK);
    page.has(&[
        "comment goes out on 2 channels.",
        "waits for 4 quiet minutes, 15 at most",
        "<rect class=\"f-1\"",
        "1,234",
        "1 min 1 s at worst",
        "/console/types/comment/pause",
        "/console/types/comment/try",
        "urgent",
    ]);
    page.lacks(&["<script>alert", "/console/types/comment/resume"]);
    let page = fake().page("read", "/types/comment", None).await;
    page.lacks(&["/pause\"", "/try\""]);
    let page = fake().page("read", "/types/coment", None).await;
    assert_eq!(page.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_type_is_paused_in_two_steps() {
    let page = fake().page("operate", "/types/comment/pause", None).await;
    page.has(&["Pause type comment?", "action=\"/console/types/comment/pause\""]);
    assert!(!page.called.iter().any(|call| call.starts_with("POST")), "{:?}", page.called);
    let page = fake()
        .on("POST /v1/types/comment/pause", json!({}))
        .page("operate", "/types/comment/pause", Some(""))
        .await;
    assert_eq!(
        (page.status, page.location.as_str()),
        (StatusCode::SEE_OTHER, "/console/types/comment")
    );
    let page = fake().page("read", "/types/comment/resume", None).await;
    assert_eq!(page.status, StatusCode::FORBIDDEN);
}

const QUIET: &str = "types.comment.channels.email.quiet";

#[tokio::test]
async fn a_change_is_checked_and_shown_as_a_difference() {
    let page = fake().page("operate", "/types/comment/try", None).await;
    page.has(&[&format!("name=\"{QUIET}\" value=\"4m\""), "max=\"28\""]);
    let body = format!(r#"{{"edits":[{{"key":"{QUIET}","value":"10m"}}]}}"#);
    let answer = json!({
        "faults": [{"file": "tidings.toml", "line": 12, "column": 1, "reason": HOSTILE, "hint": "write less"}],
        "diff": "-quiet = \"4m\"\n+quiet = \"10m\"\n",
    });
    let form = format!("{QUIET}=10m&types.comment.channels.email.max_wait=15m&days=7&do=check");
    let page = fake()
        .on(&format!("POST /v1/admin/check {body}"), answer)
        .page("operate", "/types/comment/try", Some(&form))
        .await;
    assert_eq!(page.status, StatusCode::OK, "{:?}", page.called);
    page.has(&[
        "1 fault",
        "tidings.toml:12",
        "+quiet = &quot;10m&quot;",
        "write less",
        "value=\"10m\"",
        "now 4m",
    ]);
    page.lacks(&["<script>alert"]);
    let page =
        fake().page("operate", "/types/comment/try", Some(&format!("{QUIET}=4m&do=check"))).await;
    assert_eq!(page.status, StatusCode::UNPROCESSABLE_ENTITY);
    page.has(&["Change a number first"]);
}

#[tokio::test]
async fn a_comparison_runs_as_a_job_and_keeps_the_numbers_in_the_url() {
    let body = format!(r#"{{"edits":[{{"key":"{QUIET}","value":"10m"}}],"days":3}}"#);
    let form = format!("{QUIET}=10m&days=3&do=compare");
    let page = fake()
        .on(&format!("POST /v1/admin/compare {body}"), json!({"job": "compare-1"}))
        .page("operate", "/types/comment/try", Some(&form))
        .await;
    let url = format!("/types/comment/try?{QUIET}=10m&days=3&job=compare-1");
    assert_eq!((page.status, page.location), (StatusCode::SEE_OTHER, format!("/console{url}")));
    let job = |state: &str| json!({"id": "compare-1", "verb": "compare", "state": state, "of": 10, "done": 4, "left_out": {}});
    let page =
        fake().on("GET /v1/admin/jobs/compare-1", job("running")).page("operate", &url, None).await;
    page.has(&["Playing what happened: 4 of 10 lines", "value=\"10m\""]);
    let line = |messages: u64, most: u64| {
        json!({"config": "x", "messages": messages, "recipients": 40, "recipient_days": 80,
               "messages_per_day": {"mean": 0.5, "p50": 1, "p95": 3, "max": most},
               "delay_ms": {"mean": 1.0, "p50": 60_000, "p95": 780_000, "max": 900_000},
               "items_per_message": {"mean": 1.5, "p50": 1, "p95": 2, "max": 2}, "pending": 0, "suppressed": 0, "left_out": {}})
    };
    let mut done = job("done");
    done["result"] = json!([line(12_384, 12), line(8_911, 8)]);
    let page =
        fake().on("GET /v1/admin/jobs/compare-1", done.clone()).page("operate", &url, None).await;
    page.has(&[
        "8,911 messages instead of 12,384",
        "Nobody gets more than 8 a day with the change",
        "<rect class=\"f-0\"",
        "On the last 3 days",
    ]);
    let odd = url.replace("days=3", "days=x");
    let page = fake().on("GET /v1/admin/jobs/compare-1", done).page("operate", &odd, None).await;
    assert_eq!(page.status, StatusCode::OK);
    let mut stopped = job("stopped");
    stopped["problem"] = HOSTILE.into();
    let page = fake().on("GET /v1/admin/jobs/compare-1", stopped).page("operate", &url, None).await;
    page.has(&["The comparison is stopped"]);
    page.lacks(&["<script>alert"]);
}

#[tokio::test]
async fn a_refused_comparison_keeps_what_was_typed() {
    let page = fake()
        .refuse("POST /v1/admin/compare", 429, "too_busy", "try again in a minute")
        .page("operate", "/types/comment/try", Some(&format!("{QUIET}=10m&days=3&do=compare")))
        .await;
    assert_eq!(page.status, StatusCode::TOO_MANY_REQUESTS);
    page.has(&["try again in a minute", "value=\"10m\"", "value=\"3\""]);
    let page = fake()
        .page("operate", "/types/comment/try", Some(&format!("{QUIET}=10m&days=x&do=compare")))
        .await;
    assert_eq!(page.status, StatusCode::UNPROCESSABLE_ENTITY);
}
