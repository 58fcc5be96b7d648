use axum::http::StatusCode;
use serde_json::json;

use crate::fake::Fake;

#[tokio::test]
async fn the_page_answers_first_and_then_shows_every_rule() {
    let explained = json!({"event": "e<1>", "type": "artwork", "recipient": "ana", "as_of": "2026-11-28T21:49:25Z", "supposed": false,
        "steps": [{"rule": "audience", "at": null, "looked_at": "1 topic", "result": "reached: topic:artist/<kim>", "ends": false}],
        "channels": [
            {"channel": "inbox", "state": "delivered", "reason": null, "at": "2026-11-28T21:37:23Z", "steps": []},
            {"channel": "email", "state": "cancelled", "reason": "preference", "at": "2026-11-28T21:37:24Z", "steps": [
                {"rule": "lane", "at": "2026-11-28T21:37:23Z", "looked_at": "digest:weekly", "result": "entered it", "ends": false},
                {"rule": "preference", "at": "2026-11-28T21:37:24Z", "looked_at": "category `following`: never",
                 "result": "ends it: cancelled (preference)", "ends": true}]},
            {"channel": "sms", "state": "failed", "reason": "refused", "at": "2026-11-28T21:37:24Z", "steps": [
                {"rule": "delivery", "at": null, "looked_at": "550 <ana@example.org> unknown", "result": "failed", "ends": true}]}]});
    let call = r#"POST /v1/explain {"event":"e<1>","recipient":"ana"}"#;
    let page =
        Fake::default().on(call, explained).page("read", "/people/ana/why/e%3C1%3E", None).await;
    assert_eq!(page.status, StatusCode::OK);
    page.has(&[
        "No email: they chose so (category “following”: never)",
        "With another preference it goes by the type’s policy.",
        "← this decided",
        "reached: topic:artist/&lt;kim&gt;",
        "/console/people/ana?tab=preferences",
        "/console/messages?recipient=ana&amp;event=e%3C1%3E&amp;channel=sms",
        "550 &lt;a••@e••••••.org&gt; unknown",
    ]);
    page.lacks(&["ana@example.org", "<kim>", "e<1>"]);
}

#[tokio::test]
async fn an_unknown_event_or_person_is_404_with_what_is_near() {
    for (code, sought) in [("event_not_found", "nope"), ("recipient_not_found", "ana")] {
        let search = format!(r#"POST /v1/search {{"q":"{sought}"}}"#);
        let near = json!({"hits": [], "nearest": [{"kind": "event", "id": "nope-1"}]});
        let fake = Fake::default().refuse("POST /v1/explain", 404, code, "").on(&search, near);
        let page = fake.page("read", "/people/ana/why/nope", None).await;
        assert_eq!(page.status, StatusCode::NOT_FOUND);
        page.has(&["/console/events/nope-1"]);
    }
}
