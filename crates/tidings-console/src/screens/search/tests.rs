use serde_json::json;

use super::*;
use crate::fake::Fake;

async fn searched(hits: Value, form: &str) -> crate::fake::Shown {
    let answer = json!({"hits": hits, "nearest": []});
    Fake::default().on("POST /v1/search", answer).page("read", "/search", Some(form)).await
}

#[tokio::test]
async fn the_one_hit_leads_to_its_page_and_no_url_has_the_address() {
    for (kind, id, to) in [
        ("recipient", "ana", "/console/people/ana"),
        ("recipient", "a/b?c", "/console/people/a%2Fb%3Fc"),
        ("recipient", "..", "/console/people/%2E%2E"),
        ("event", "e-1", "/console/events/e-1"),
        ("message", "2026-11-28.1.0.2", "/console/messages/2026-11-28.1.0.2"),
        ("type", "comment", "/console/types/comment"),
        ("tenant", "acme", "/console/system/tenants?tenant=acme"),
        ("object", "works/1", "/console/events?object=works%2F1"),
        ("topic", "artist/rob", "/console/events?object=artist%2Frob"),
    ] {
        let hits = json!([{"kind": kind, "id": id, "matched": "address"}]);
        let shown = searched(hits, "q=+ana%40example.org").await;
        assert_eq!((shown.status, shown.location.as_str()), (StatusCode::SEE_OTHER, to));
        assert_eq!(shown.called, [r#"POST /v1/search {"q":"ana@example.org"}"#]);
    }
}

#[tokio::test]
async fn several_hits_are_listed_with_why_each_matched_and_without_the_address() {
    let hits = json!([
        {"kind": "recipient", "id": "ana", "matched": "address"},
        {"kind": "recipient", "id": "<b>ben", "matched": "former_address"},
    ]);
    let shown = searched(hits, "q=shared%40example.org").await;
    assert_eq!((shown.status, shown.location.as_str()), (StatusCode::OK, ""));
    shown.has(&[
        "2 things match",
        r#"href="/console/people/ana""#,
        "has this address",
        "had this address",
        "&lt;b&gt;ben",
    ]);
    shown.lacks(&["shared@example.org", "<b>ben"]);
}

#[tokio::test]
async fn nothing_found_says_what_was_looked_through_and_the_nearest() {
    let nearest = json!([{"kind": "type", "id": "artwork"}]);
    let answer = json!({"hits": [], "nearest": nearest});
    let fake = Fake::default().on("POST /v1/search", answer);
    let shown = fake.page("read", "/search", Some("q=artwrk")).await;
    shown.has(&["Nothing has <code>artwrk</code>", "/console/types/artwork", "addresses"]);
    let shown = searched(json!([]), "q=%2B34+612").await;
    shown.has(&["Nothing was found"]);
    shown.lacks(&["612"]);
}

#[tokio::test]
async fn a_url_searches_for_ids_alone() {
    for query in ["q=ana%40example.org", "q=ana+ruiz", "q=%2B34612345612", "q=", ""] {
        let shown = Fake::default().page("read", &format!("/search?{query}"), None).await;
        assert_eq!((shown.status, shown.called.len()), (StatusCode::OK, 0), "{query}");
        shown.lacks(&["ana", "612"]);
    }
    let hits = json!({"hits": [{"kind": "event", "id": "e-1", "matched": "id"}]});
    let fake = Fake::default().on("POST /v1/search", hits);
    let shown = fake.page("read", "/search?q=e-1", None).await;
    assert_eq!(shown.location, "/console/events/e-1");
}

#[tokio::test]
async fn a_refused_search_keeps_its_page_and_says_why() {
    let fake = Fake::default().refuse("POST /v1/search", 422, "invalid_body", "shorten it");
    let shown = fake.page("read", "/search", Some("q=x")).await;
    assert_eq!(shown.status, StatusCode::UNPROCESSABLE_ENTITY);
    shown.has(&["shorten it", r#"name="q""#]);
}
