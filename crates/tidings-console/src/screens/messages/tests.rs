use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::fake::Fake;

/// A text that would end an attribute, an element and a script.
const HOSTILE: &str = "\"><script>alert('1')</script>";

fn row(id: &str, state: &str) -> Value {
    json!({
        "id": id, "recipient": HOSTILE, "channel": "email", "lane": "cooldown", "state": state,
        "reason": null, "due": "2026-11-28T21:00:00Z", "built": null, "ended": null, "entries": 2,
        "failed_attempts": 3, "next_try": null,
    })
}

fn message(state: &str) -> Value {
    let mut message = row("2026-11-28.1.2.3", state);
    message["recipient"] = "ana".into();
    message["batch"] = "5c0f".into();
    message["items"] = json!([{
        "event": HOSTILE, "type": "comment", "object": HOSTILE, "t": "2026-11-28T20:58:00Z", "reasons": ["named"],
    }]);
    message["left_out"] = json!([{"event": "e-2", "reason": "seen"}]);
    message["attempts"] = json!([{
        "at": "2026-11-28T21:00:01Z", "until": "2026-11-28T21:00:01Z", "count": 1,
        "provider": "smtp://a:25", "answer": "failed", "reply": format!("550 ana@example.org {HOSTILE}"),
    }]);
    message["timeline"] = json!([{
        "rule": "delivery", "at": "2026-11-28T21:00:01Z", "looked_at": HOSTILE, "result": "failed", "ends": false,
    }]);
    message
}

fn types() -> Value {
    json!({
        "types": {"comment": {}, "invoice": {}},
        "channels": {"email": {"configured": true}, "inbox": {"configured": true}, "sms": {"configured": false}},
    })
}

fn list(target: &str, answer: Value) -> Fake {
    Fake::default().on("GET /v1/types", types()).on(target, answer)
}

#[tokio::test]
async fn the_list_keeps_its_filters_in_links_and_escapes_what_others_wrote() {
    let target = "GET /v1/messages?state=failed&state=unknown&type=comment";
    let answer =
        json!({"messages": [row("m-1", "failed")], "next": "c+1", "missing": ["node <b>"]});
    let words = json!({"attempts": [{"reply": "550 to ana@example.org"}]});
    let page = list(target, answer)
        .on("GET /v1/messages/m-1", words)
        .page("operate", "/messages?state=failed&recipient=&state=unknown&type=comment", None)
        .await;
    assert_eq!(page.status, StatusCode::OK);
    page.has(&[
        "<h1>More than 1 messages match</h1>",
        "/console/messages?state=failed&amp;state=unknown&amp;type=comment&amp;cursor=c%2B1",
        "/console/messages/retry?state=failed&amp;state=unknown&amp;type=comment\"",
        "value=\"failed\" checked",
        "value=\"comment\" checked",
        "node &lt;b&gt;",
        "550 to a••@e••••••.org",
        "/console/messages/m-1\"",
        "1 h",
    ]);
    page.lacks(&["<script>alert", "ana@example.org", "\"sms\""]);
}

#[tokio::test]
async fn a_page_without_rows_says_what_was_looked_through() {
    let target = "GET /v1/messages?state=failed&from=2026-11-28T00%3A00%3A00Z";
    let path = "/messages?state=failed&from=2026-11-28T00:00:00Z";
    let none = json!({"messages": [], "next": null});
    let page = list(target, none).page("read", path, None).await;
    page.has(&["<h1>No message matches</h1>", "Looked through all messages of that time."]);
    let more = json!({"messages": [], "next": "c"});
    let page = list(target, more).page("read", path, None).await;
    page.has(&[
        "None among those that were looked through",
        "older ones were not looked through yet",
    ]);
    page.lacks(&["No message matches"]);
}

#[tokio::test]
async fn a_wrong_filter_is_shown_with_its_hint_and_stays_in_the_form() {
    let page = Fake::default()
        .on("GET /v1/types", types())
        .refuse(
            "GET /v1/messages?state=fialed&event=e-1",
            400,
            "invalid_query",
            "did you mean `failed`?",
        )
        .page("operate", "/messages?state=fialed&event=e-1", None)
        .await;
    assert_eq!(page.status, StatusCode::BAD_REQUEST);
    page.has(&["did you mean <code><bdi>failed</bdi></code>?", "name=\"event\" value=\"e-1\""]);
    page.lacks(&["Retry"]);
}

#[tokio::test]
async fn nobody_sees_a_button_for_what_their_role_may_not_do() {
    let target = "GET /v1/messages?state=sent";
    let answer = json!({"messages": [row("m-1", "sent")], "next": null});
    let page = list(target, answer.clone()).page("read", "/messages?state=sent", None).await;
    page.lacks(&["/messages/retry", "/messages/cancel", "/messages/resend"]);
    let page = list(target, answer).page("operate", "/messages?state=sent", None).await;
    page.has(&["/messages/retry?state=sent", "/messages/resend?state=sent"]);
    let page = Fake::default().page("read", "/messages/retry?state=sent", None).await;
    assert_eq!(page.status, StatusCode::FORBIDDEN);
    page.has(&["operate, admin"]);
    assert!(page.called.is_empty(), "{:?}", page.called);
    let one = Fake::default().on("GET /v1/messages/m-1", message("failed"));
    let page = one.page("read", "/messages/m-1", None).await;
    page.lacks(&["/m-1/retry", "/m-1/resend"]);
}

#[tokio::test]
async fn bulk_says_what_it_would_do_and_makes_a_job_that_expects_it() {
    let body = r#"{"filter":{"state":["failed","unknown"],"event":"e-1"}}"#;
    let dry = json!({
        "of": 14, "left_out": {"message_state": 2}, "dry": true,
        "concerns": {"people": 12, "entries": 20, "messages": 12},
    });
    let path = "/messages/retry?state=failed&state=unknown&event=e-1&cursor=x";
    let page = Fake::default()
        .on(&format!("POST /v1/messages/retry?dry=true {body}"), dry)
        .page("operate", path, None)
        .await;
    page.has(&[
        "<dt>messages</dt><dd>12</dd>",
        "<dt>people</dt><dd>12</dd>",
        "<dd>14</dd>",
        "message_state",
        "name=\"expect\" value=\"12\"",
        "action=\"/console/messages/retry?state=failed&amp;state=unknown&amp;event=e-1\"",
        "<title>Retry messages",
    ]);
    let page = Fake::default()
        .on(&format!("POST /v1/messages/retry?expect=12 {body}"), json!({"job": "17/9", "of": 14}))
        .page("operate", path, Some("expect=12"))
        .await;
    assert_eq!(
        (page.status, page.location.as_str()),
        (StatusCode::SEE_OTHER, "/console/system/jobs/17%2F9")
    );
}

#[tokio::test]
async fn bulk_that_grew_is_asked_again_and_nothing_is_done() {
    let dry = json!({"of": 13, "left_out": {}, "concerns": {"people": 13, "entries": 13, "messages": 13}});
    let page = Fake::default()
        .refuse("POST /v1/messages/cancel?expect=12", 409, "grew", "")
        .on("POST /v1/messages/cancel?dry=true", dry)
        .page("operate", "/messages/cancel?state=planned", Some("expect=12"))
        .await;
    assert_eq!(page.status, StatusCode::CONFLICT);
    page.has(&["more people than when you looked", "name=\"expect\" value=\"13\""]);
}

#[tokio::test]
async fn from_a_hundred_people_on_the_number_is_typed() {
    let dry = json!({"of": 100, "left_out": {}, "concerns": {"people": 100, "entries": 100, "messages": 100}});
    let fake = || {
        Fake::default()
            .on("POST /v1/messages/retry?dry=true", dry.clone())
            .on("POST /v1/messages/retry?expect=100", json!({"job": "1", "of": 100}))
    };
    let path = "/messages/retry?state=failed";
    fake().page("operate", path, None).await.has(&["Type 100 to go on"]);
    for form in ["expect=100", "expect=100&typed=99", "expect=100&typed="] {
        let page = fake().page("operate", path, Some(form)).await;
        assert_eq!(page.status, StatusCode::UNPROCESSABLE_ENTITY);
        assert!(!page.called.iter().any(|call| call.contains("expect")), "{:?}", page.called);
    }
    let page = fake().page("operate", path, Some("expect=100&typed=100")).await;
    assert_eq!(page.location, "/console/system/jobs/1");
}

#[tokio::test]
async fn a_message_begins_with_its_verdict_and_hides_what_it_says() {
    let preview = json!({"channel": "email", "subject": "Ana Ruiz wrote", "html": "<p>Ana</p>", "text": "Ana", "same": false});
    let fake = || {
        Fake::default()
            .on("GET /v1/messages/m-1", {
                let mut message = message("failed");
                message["reason"] = "refused".into();
                message
            })
            .on("GET /v1/messages/m-1/preview", preview.clone())
    };
    let page = fake().page("support", "/messages/m-1", None).await;
    page.has(&[
        "smtp://a:25 refused it for good",
        "a••@e••••••.org",
        "they saw it in the inbox first",
        "Names, titles and values are masked",
        "what was sent looked different",
    ]);
    page.lacks(&["ana@example.org", "Ana Ruiz", "<script>alert", "<iframe"]);
    let page = fake().opened("ana").page("support", "/messages/m-1", None).await;
    page.has(&[
        "Ana Ruiz wrote",
        "<iframe class=\"mail\" sandbox ",
        "src=\"/console/messages/m-1/html\"",
        "ana@example.org",
    ]);
    page.lacks(&["<script>alert"]);
    let page = fake().page("support", "/messages/m-1/html", None).await;
    page.lacks(&["Ana"]);
    let page = fake().opened("ben").page("support", "/messages/m-1/html", None).await;
    page.lacks(&["Ana"]);
    let page = fake().opened("ana").page("support", "/messages/m-1/html", None).await;
    assert_eq!(page.text, "<p>Ana</p>");
    assert!(
        page.policy
            .starts_with("sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:"),
        "{}",
        page.policy
    );
}

#[tokio::test]
async fn a_message_with_masked_values_is_shown_but_for_addresses() {
    let preview = json!({"channel": "email", "subject": "A•• wrote", "html": "<p>A•• to ben@example.org</p>",
        "text": "A•• wrote", "source": "To: ana@example.org\n", "same": true, "masked": true});
    let fake = || {
        Fake::default()
            .on("GET /v1/messages/m-1", message("sent"))
            .on("GET /v1/messages/m-1/preview", preview.clone())
    };
    let page = fake().page("support", "/messages/m-1", None).await;
    page.has(&["A•• wrote", "<iframe", "this is what was sent"]);
    page.lacks(&["ana@example.org"]);
    let page = fake().page("support", "/messages/m-1/html", None).await;
    assert_eq!(page.text, "<p>A•• to b••@e••••••.org</p>");
}

#[tokio::test]
async fn a_message_that_cant_be_built_again_says_why() {
    let page = Fake::default()
        .on("GET /v1/messages/m-1", message("sent"))
        .refuse("GET /v1/messages/m-1/preview", 409, "message_state", "")
        .page("read", "/messages/m-1", None)
        .await;
    assert_eq!(page.status, StatusCode::OK);
    page.has(&["message_state"]);
}

#[tokio::test]
async fn one_message_is_changed_in_two_steps() {
    let dry = json!({"status": "accepted", "cancelled": 0, "dry": true, "concerns": {"people": 1, "entries": 1, "messages": 1}});
    let page = Fake::default()
        .on("POST /v1/messages/m-1/retry?dry=true", dry)
        .page("admin", "/messages/m-1/retry", None)
        .await;
    page.has(&["<dt>message</dt><dd>1</dd>", "action=\"/console/messages/m-1/retry\""]);
    let page = Fake::default()
        .on("POST /v1/messages/m-1/retry?expect=1", json!({"status": "accepted", "cancelled": 0}))
        .page("admin", "/messages/m-1/retry", Some("expect=1"))
        .await;
    assert_eq!(
        (page.status, page.location.as_str()),
        (StatusCode::SEE_OTHER, "/console/messages/m-1")
    );
    let page = Fake::default().page("admin", "/messages/m-1/explode", None).await;
    assert_eq!(page.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn an_unknown_message_is_not_found_with_the_nearest() {
    let nearest = json!({"hits": [], "nearest": [{"kind": "message", "id": "m-1"}]});
    let page = Fake::default()
        .refuse("GET /v1/messages/m-2", 404, "message_not_found", "")
        .on("POST /v1/search", nearest)
        .page("read", "/messages/m-2", None)
        .await;
    assert_eq!(page.status, StatusCode::NOT_FOUND);
    page.has(&["/console/messages/m-1"]);
}
