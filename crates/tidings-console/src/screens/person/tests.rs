use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::fake::{Fake, Shown};

/// A person with hostile texts in their fields.
fn ana() -> Value {
    json!({
        "id": "ana", "name": "Ana <u>Ruiz</u>", "email": "ana@example.org",
        "addresses": {"email": "ana@example.org", "sms": "+34612345612", "fcm": ["zz<en>1"]},
        "tz": "Europe/Madrid", "locale": "de-AT", "lat": null, "lon": null, "state": "active",
        "data": {"plan": "gold<script>"}, "quiet_hours": "default", "tenants": ["acme"],
    })
}

/// The answers to the calls of the first tab.
fn fake() -> Fake {
    let lane = json!({"channel": "email", "lane": "digest:weekly", "due": "2026-11-30T08:00:00Z", "held_by": null, "entries": [
        {"event": "e<1>", "type": "artwork", "object": "work-7", "t": "2026-11-28T21:37:11.625Z"},
    ]});
    let message = json!({"id": "2026-11-28.1.0.22", "channel": "email", "lane": "now", "state": "retrying", "reason": null,
        "due": "2026-11-28T21:37:11Z", "entries": 1, "failed_attempts": 3, "next_try": "2026-11-28T22:09:23Z", "held_by": null,
        "last": {"answer": "retry", "reply": "451 <ana@example.org> later", "provider": "smtp://127.0.0.1:2525"}});
    let pending = json!({"lanes": [lane], "messages": [message], "scheduled": []});
    let email =
        json!([{"channel": "email", "mode": "weekly", "from": "default", "connected": true}]);
    let choices = json!({"choices": [{"category": "work", "types": [{"type": "artwork", "channels": email}]}]});
    let events = json!({"events": [{"id": "e<1>", "type": "artwork", "actor": "ben", "object": "work-7", "target": null,
        "arrived_at": "2026-11-28T21:37:11.625Z", "channels": {
            "email": {"state": "failed", "reason": "refused", "message": "2026-11-28.1.0.9"}, "inbox": {"state": "delivered"}}}],
        "next": "more"});
    let suppressions = json!({"suppressions": [{"channel": "sms", "address": "+34612345612", "reason": "stop",
        "since": "2026-11-28T21:37:24.035Z", "expires_at": null}], "next": null});
    Fake::default()
        .on("GET /v1/recipients/ana", ana())
        .on("GET /v1/recipients/ana/pending", pending)
        .on("GET /v1/recipients/ana/preferences?choices=true", choices)
        .on(
            "GET /v1/messages?recipient=ana&state=planned&state=sending",
            json!({"messages": [], "next": null}),
        )
        .on("GET /v1/events?recipient=ana&limit=20", events)
        .on("GET /v1/suppressions?recipient=ana", suppressions.clone())
        .on("GET /v1/suppressions?recipient=ana&limit=500", suppressions)
}

async fn shown(fake: Fake, path: &str) -> Shown {
    fake.page("support", path, None).await
}

#[tokio::test]
async fn the_first_tab_has_the_verdict_what_waits_and_what_happened() {
    let page = shown(fake(), "/people/ana").await;
    assert_eq!(page.status, StatusCode::OK);
    page.has(&[
        "Reached by email.",
        "Next by email: 1 notification",
        "Mon 09:00 there",
        "1 message is being tried again",
        "<svg",
        "e&lt;1&gt;",
        "/console/people/ana/why/e%3C1%3E",
        "/console/messages/2026-11-28.1.0.9",
        "failed: refused",
        "/console/events?recipient=ana",
        "/console/people/ana/flush?channel=email&amp;lane=digest%3Aweekly",
        "<title>Person ana · tidings</title>",
    ]);
}

#[tokio::test]
async fn a_person_is_masked_on_every_tab_until_they_are_opened() {
    let hidden = ["Ruiz", "ana@example.org", "612345", "zz", "gold", "<u>", "e<1>"];
    let first = shown(fake(), "/people/ana").await;
    first.has(&["A••", "451 &lt;a••@e••••••.org&gt; later", "Show name, addresses and texts"]);
    first.lacks(&hidden);
    let addresses = shown(fake(), "/people/ana?tab=addresses").await;
    addresses.has(&["a••@e••••••.org", "+34•••••••12", "••••"]);
    addresses.lacks(&hidden);
    let opened = shown(fake().opened("ana"), "/people/ana?tab=addresses").await;
    opened.has(&[
        "Ana &lt;u&gt;Ruiz&lt;/u&gt;",
        "ana@example.org",
        "+34612345612",
        "zz&lt;en&gt;1",
        "Open to you until",
    ]);
    opened.lacks(&["<u>Ruiz", "Show name"]);
    // Somebody else who is open opens nobody.
    shown(fake().opened("ben"), "/people/ana?tab=addresses").await.lacks(&hidden);
}

#[tokio::test]
async fn a_tab_makes_the_calls_that_it_needs_and_no_more() {
    let topics = json!({"topics": ["artist/<rob>"]});
    let topics = fake().on("GET /v1/recipients/ana/subscriptions", topics);
    let page = shown(topics, "/people/ana?tab=topics").await;
    assert_eq!(page.called, ["GET /v1/recipients/ana", "GET /v1/recipients/ana/subscriptions"]);
    page.has(&["artist/&lt;rob&gt;", "/console/people?tenant=acme"]);
    let unknown = shown(fake(), "/people/ana?tab=money").await;
    assert_eq!((unknown.status, unknown.called.len()), (StatusCode::BAD_REQUEST, 0));
}

#[tokio::test]
async fn the_inbox_and_the_next_message_are_hidden_words_with_open_numbers() {
    let item = json!({"event": "e-1", "type": "comment", "text": "Ben commented on Plan", "t": "2026-11-28T21:37:11Z"});
    let inbox = json!({"groups": [{"key": "k", "type": "comment", "count": 5, "actors": ["ben"], "text": "Ben commented on Plan",
        "lang": "en", "newest_at": "2026-11-28T21:37:11Z", "seen": true, "read": false, "archived": false, "snoozed_until": null,
        "items": [item]}], "unseen": 1, "unread": 5, "next": "105-bc"});
    let fake = || {
        let preview = json!({"message": {"at": "2026-11-30T08:00:00Z", "channel": "email", "lane": "digest:weekly", "entries": 4,
            "subject": "New works: Marilyn", "text": "Marilyn", "html": "<p>Marilyn</p>"}});
        self::fake()
            .on("GET /v1/recipients/ana/inbox", inbox.clone())
            .on("GET /v1/recipients/ana/preview?channel=email", preview)
    };
    let page = shown(fake(), "/people/ana?tab=inbox").await;
    page.has(&[
        "1 item not seen, 5 not read",
        "why/e-1",
        "and 2 more",
        "tab=inbox&amp;cursor=105-bc",
    ]);
    page.lacks(&["Plan"]);
    shown(fake().opened("ana"), "/people/ana?tab=inbox").await.has(&["Ben commented on Plan"]);
    let page = shown(fake(), "/people/ana?tab=next").await;
    page.has(&["4 notifications, at", "digest:weekly"]);
    page.lacks(&["Marilyn"]);
    shown(fake().opened("ana"), "/people/ana?tab=next").await.has(&["New works: Marilyn"]);
    let masked = json!({"message": {"at": "2026-11-30T08:00:00Z", "channel": "email", "lane": "digest:weekly",
        "entries": 4, "subject": "New works: M••••••", "text": "M••••••"}, "masked": true});
    let fake = fake().on("GET /v1/recipients/ana/preview?channel=email", masked);
    shown(fake, "/people/ana?tab=next").await.has(&["New works: M••••••", "<pre"]);
}

#[tokio::test]
async fn an_unknown_person_is_404_with_the_nearest() {
    let fake = Fake::default()
        .refuse("GET /v1/recipients/anna", 404, "recipient_not_found", "Create it first.")
        .on(
            "POST /v1/search",
            json!({"hits": [], "nearest": [{"kind": "recipient", "id": "ana"}]}),
        );
    let page = shown(fake, "/people/anna").await;
    assert_eq!(page.status, StatusCode::NOT_FOUND);
    page.has(&["Create it first.", "/console/people/ana\""]);
}

#[tokio::test]
async fn a_role_sees_the_buttons_of_what_it_may_do_and_nothing_else_is_done() {
    let read = fake().page("read", "/people/ana", None).await;
    read.lacks(&["Send now", "Revoke", "Erase", "/show"]);
    let support = fake().page("support", "/people/ana", None).await;
    support.has(&["Send now", "Revoke tokens"]);
    support.lacks(&["Erase"]);
    fake().page("admin", "/people/ana", None).await.has(&["/console/people/ana/erase"]);
    for (role, path) in [
        ("read", "/people/ana/flush"),
        ("read", "/people/ana/show"),
        ("read", "/people/ana/unsuppress?channel=sms&since=2026-11-28T21:37:24.035Z"),
        ("support", "/people/ana/erase"),
    ] {
        let page = fake().page(role, path, Some("expect=1")).await;
        assert_eq!((page.status, page.called.len()), (StatusCode::FORBIDDEN, 0), "{path}");
    }
}

#[tokio::test]
async fn sending_now_asks_first_and_then_does_it_to_no_more_than_was_said() {
    let concerns = json!({"people": 1, "entries": 4, "messages": 1});
    let flush = "POST /v1/recipients/ana/flush?dry=true";
    let fake = || fake().on(flush, json!({"lanes": 1, "dry": true, "concerns": concerns}));
    let path = "/people/ana/flush?channel=email&lane=digest%3Aweekly";
    let asked = shown(fake(), path).await;
    asked.has(&[r#"name="expect" value="1""#, "flush?channel=email&amp;lane=digest%3Aweekly"]);
    let body = r#"{"channel":"email","lane":"digest:weekly"}"#;
    assert_eq!(asked.called, [format!("{flush} {body}")]);
    let done = fake().on("POST /v1/recipients/ana/flush?expect=1", json!({"lanes": 1}));
    let done = done.page("support", path, Some("expect=1")).await;
    assert_eq!(
        (done.status, done.location.as_str()),
        (StatusCode::SEE_OTHER, "/console/people/ana")
    );
    let grew = fake().refuse("POST /v1/recipients/ana/flush?expect=0", 409, "grew", "");
    let grew = grew.page("support", path, Some("expect=0")).await;
    assert_eq!(grew.status, StatusCode::CONFLICT);
    grew.has(&["more people than when you looked", r#"name="expect" value="1""#]);
    let none = fake().page("support", path, Some("")).await;
    assert_eq!((none.status, none.called.len()), (StatusCode::UNPROCESSABLE_ENTITY, 0));
}

#[tokio::test]
async fn an_erased_person_has_no_page_to_go_back_to() {
    let fake = fake().on("DELETE /v1/recipients/ana?expect=1", json!({"erased": {"profile": 1}}));
    let done = fake.page("admin", "/people/ana/erase", Some("expect=1")).await;
    assert_eq!((done.status, done.location.as_str()), (StatusCode::SEE_OTHER, "/console/people"));
}

#[tokio::test]
async fn a_suppression_is_lifted_without_its_address_in_any_url_or_page() {
    let path = "/people/ana/unsuppress?channel=sms&since=2026-11-28T21%3A37%3A24.035Z";
    let link = shown(fake(), "/people/ana?tab=addresses").await;
    link.has(&[&format!("/console{}", path.replace('&', "&amp;"))]);
    let asked = shown(fake(), path).await;
    asked.has(&["an address of ana on sms"]);
    asked.lacks(&["612345"]);
    let delete = "DELETE /v1/suppressions/sms/%2B34612345612";
    let done = fake().on(delete, Value::Null).page("support", path, Some("")).await;
    assert_eq!(done.called.last().map(String::as_str), Some(delete));
    assert_eq!(done.location, "/console/people/ana?tab=addresses");
    let other = "/people/ana/unsuppress?channel=sms&since=2020-01-01T00:00:00Z";
    let missing = fake().page("support", other, Some("")).await;
    assert_eq!((missing.status, missing.called.len()), (StatusCode::NOT_FOUND, 1));
}

#[tokio::test]
async fn opening_leads_back_to_the_tab_and_nowhere_else() {
    for (form, to) in [
        ("tab=addresses", "/console/people/ana?tab=addresses"),
        ("tab=", "/console/people/ana"),
        ("tab=%2F%2Fevil.example", "/console/people/ana"),
        ("", "/console/people/ana"),
    ] {
        let page = fake().page("support", "/people/ana/show", Some(form)).await;
        assert_eq!((page.status, page.location.as_str()), (StatusCode::SEE_OTHER, to));
        assert_eq!(page.called, ["open ana"]);
    }
}
