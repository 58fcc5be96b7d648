use axum::http::StatusCode;
use serde_json::json;

use crate::fake::Fake;

/// An event with hostile texts, and whom it reached.
fn fake() -> Fake {
    let event = json!({"event": {"id": "e-1", "type": "artwork", "actor": {"id": "dana", "title": "Dana <u>Cohen</u>"},
        "object": {"id": "work-39", "title": "Plan for spring", "url": "https://example.org/w"}, "target": null,
        "data": {"amount": 199, "note": "for ana@example.org"}, "body": "Secret", "score": 0.0, "to": {"topics": ["artist/<kim>"]},
        "channels": null, "occurred_at": null, "deliver_at": null, "delay": null, "deliver_local": null, "expires_at": null,
        "cancellation_key": "order-7", "trace": null},
        "arrived_at": "2026-11-28T21:37:23.237Z", "scheduled_for": null, "notifications": 45, "suppressed": {},
        "channels": {"email": {"entries": 45, "pending": 44, "outcomes": {"cancelled": 1}, "reasons": {"preference": 1}}}});
    let counts = json!({"event": "e-1", "concerned": 46, "notifications": 45, "channels": {"email": {"entries": 45, "pending": 44,
        "outcomes": {"cancelled": 1}, "reasons": {"preference": 1}, "left_out": {"preference": 1}}}});
    let people = json!({"recipients": [{"recipient": "ana", "channels": {
        "email": {"state": "sending", "message": "2026-11-28.13.0.179"}}}], "next": "c"});
    Fake::default()
        .on("GET /v1/events/e-1", event)
        .on("POST /v1/explain", counts)
        .on("GET /v1/events/e-1/recipients", people)
}

#[tokio::test]
async fn an_event_says_whom_it_reached_with_links_to_who_they_are() {
    let page = fake().page("read", "/events/e-1", None).await;
    page.has(&[
        "It reached 45 of 46 people.",
        "followers of artist/&lt;kim&gt;",
        "/console/events/e-1?channel=email&amp;outcome=pending",
        "/console/events/e-1?channel=email&amp;outcome=sending",
        "/console/events/e-1?channel=email&amp;reason=preference",
        "/console/events/e-1?channel=email&amp;outcome=left_out&amp;reason=preference",
        "/console/people/ana/why/e-1",
        "/console/messages/2026-11-28.13.0.179",
        "/console/events/e-1?cursor=c",
        "D••",
        "amount",
    ]);
    page.lacks(&["Cohen", "spring", "199", "ana@example.org", "Secret", "<kim>", "Cancel…", "<u>"]);
}

#[tokio::test]
async fn the_list_of_people_has_the_filters_of_the_url() {
    let call = "GET /v1/events/e-1/recipients?channel=email&reason=preference";
    let fake = fake().on(call, json!({"recipients": [], "next": null}));
    let page = fake.page("read", "/events/e-1?channel=email&reason=preference", None).await;
    assert!(page.called.iter().any(|called| called == call));
    page.has(&["Nobody matches"]);
    let wrong = self::fake().refuse(
        "GET /v1/events/e-1/recipients?channel=mail",
        400,
        "invalid_query",
        "did you mean `email`?",
    );
    let page = wrong.page("read", "/events/e-1?channel=mail", None).await;
    assert_eq!(page.status, StatusCode::BAD_REQUEST);
    page.has(&["did you mean <code><bdi>email</bdi></code>?", "It reached 45 of 46 people."]);
}

#[tokio::test]
async fn an_unknown_event_is_404_with_the_nearest() {
    let fake = Fake::default()
        .refuse(
            "GET /v1/events/e-9",
            404,
            "event_not_found",
            "An event is known as long as its day is kept.",
        )
        .on("POST /v1/search", json!({"hits": [], "nearest": [{"kind": "type", "id": "artwork"}]}));
    let page = fake.page("read", "/events/e-9", None).await;
    assert_eq!(page.status, StatusCode::NOT_FOUND);
    page.has(&["/console/types/artwork", "as long as its day is kept"]);
}

#[tokio::test]
async fn from_a_hundred_people_on_the_number_is_typed() {
    let concerns = json!({"people": 12_000, "entries": 12_000, "messages": 15});
    let dry = "POST /v1/events/e-1/cancel?dry=true";
    let fake = || fake().on(dry, json!({"too_late": 45, "dry": true, "concerns": concerns}));
    let asked = fake().page("operate", "/events/e-1/cancel", None).await;
    asked.has(&["12,000", r#"name="expect" value="12000""#, r#"name="typed""#, "too_late", "45"]);
    for form in ["expect=12000", "expect=12000&typed=12", "typed=12000"] {
        let page = fake().page("operate", "/events/e-1/cancel", Some(form)).await;
        assert_eq!(page.status, StatusCode::UNPROCESSABLE_ENTITY, "{form}");
        assert!(page.called.iter().all(|called| called.contains("dry=true")), "{form}");
    }
    let fake = fake().on("POST /v1/events/e-1/cancel?expect=12000", json!({"status": "cancelled"}));
    let form = Some("expect=12000&typed=12%2C000");
    let done = fake.page("operate", "/events/e-1/cancel", form).await;
    assert_eq!(
        (done.status, done.location.as_str()),
        (StatusCode::SEE_OTHER, "/console/events/e-1")
    );
}

#[tokio::test]
async fn who_may_not_cancel_sees_no_button_and_can_do_nothing() {
    fake().page("operate", "/events/e-1", None).await.has(&["Cancel…", "Withdraw…"]);
    for verb in ["cancel", "withdraw"] {
        let page = fake().page("support", &format!("/events/e-1/{verb}"), Some("expect=1")).await;
        assert_eq!((page.status, page.called.len()), (StatusCode::FORBIDDEN, 0));
    }
}

#[tokio::test]
async fn the_list_hands_on_its_filters_and_shows_what_became_of_it_for_a_person() {
    let events = json!({"events": [{"id": "<e>", "type": "artwork", "actor": null, "object": "work-7", "target": null,
        "arrived_at": "2026-11-28T21:37:11Z", "channels": {"email": {"state": "left_out", "reason": "preference"}}}], "next": "c"});
    let fake = Fake::default().on("GET /v1/events?recipient=ana&type=artwork", events);
    let page = fake.page("read", "/events?recipient=ana&type=artwork&actor=", None).await;
    page.has(&[
        "left out: preference",
        "/console/people/ana/why/%3Ce%3E",
        "recipient=ana&amp;type=artwork&amp;cursor=c",
        r#"name="type" value="artwork""#,
    ]);
    page.lacks(&["<e>"]);
    let hint = "did you mean `artwork`?";
    let fake = Fake::default().refuse("GET /v1/events?type=artwrk", 400, "invalid_query", hint);
    let page = fake.page("read", "/events?type=artwrk", None).await;
    assert_eq!(page.status, StatusCode::BAD_REQUEST);
    page.has(&["did you mean <code><bdi>artwork</bdi></code>?", r#"name="type" value="artwrk""#]);
}
