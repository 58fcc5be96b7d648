use axum::http::StatusCode;
use serde_json::{Value, json};

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

#[tokio::test]
async fn a_supposed_event_is_explained_and_not_published() {
    let explained = json!({"event": "supposed", "type": "comment", "recipient": "ana", "as_of": "2026-11-28T21:49:25Z", "supposed": true,
        "steps": [{"rule": "audience", "at": null, "looked_at": "1 topic", "result": "reached: topic:artist/kim", "ends": false}],
        "channels": [
            {"channel": "email", "state": "none", "reason": "preference", "at": null, "steps": [
                {"rule": "preference", "at": null, "looked_at": "category `following`: never",
                 "result": "no entry", "ends": true}]}]});
    let types = json!({"types": {"comment": {}, "like": {}}});
    let path = "/people/ana/suppose?type=comment&topic=artist/kim&object=works/1&actor=";
    let fake = Fake::default().on("GET /v1/types", types).on("POST /v1/explain", explained);
    let page = fake.page("read", path, None).await;
    let sent = page.called.iter().find_map(|call| call.strip_prefix("POST /v1/explain "));
    let event =
        json!({"type": "comment", "to": {"topics": ["artist/kim"]}, "object": {"id": "works/1"}});
    let question: Value = serde_json::from_str(sent.unwrap_or_default()).unwrap();
    assert_eq!(question, json!({"event": event, "recipient": "ana"}));
    assert_eq!(page.status, StatusCode::OK, "{}", page.text);
    page.has(&[
        "No email: they chose so (category “following”: never)",
        "Nothing was published",
        "<option selected>comment</option>",
        "value=\"artist/kim\"",
        "/console/people/ana?tab=preferences",
    ]);
    // No message had it, and it has no page.
    page.lacks(&["/console/messages?", "/console/events/"]);
}

#[tokio::test]
async fn a_supposed_event_that_is_refused_stays_in_its_form() {
    let types = json!({"types": {"comment": {}}});
    let asks = |path: &'static str| {
        let fake = Fake::default().on("GET /v1/types", types.clone());
        let fake = fake.on("GET /v1/recipients/ana", json!({"id": "ana"}));
        let fake = fake.refuse("GET /v1/recipients/nobody", 404, "recipient_not_found", "");
        let fake = fake.on(r#"POST /v1/search {"q":"nobody"}"#, json!({"hits": []}));
        fake.refuse("POST /v1/explain", 422, "unknown_type", "did you mean `comment`?")
            .page("read", path, None)
    };
    let empty = asks("/people/ana/suppose").await;
    assert_eq!(empty.status, StatusCode::OK);
    empty.has(&["What would", "<option>comment</option>"]);
    let refused = asks("/people/ana/suppose?type=coment&object=%3Cb%3E").await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    refused.has(&["did you mean <code><bdi>comment</bdi></code>?", "value=\"&lt;b&gt;\""]);
    let unknown = asks("/people/ana/suppose?name=Ana").await;
    assert_eq!(unknown.status, StatusCode::BAD_REQUEST);
    let nobody = asks("/people/nobody/suppose").await;
    assert_eq!(nobody.status, StatusCode::NOT_FOUND);
}
