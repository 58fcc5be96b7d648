//! The pages over what was played.

#![allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]

use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request, StatusCode};
use tidings_demo::page::router;
use tidings_demo::page::view::MailLine;
use tower::ServiceExt as _;

use super::*;

/// The played demo, and its directory.
struct Site {
    shown: Arc<Shown>,
    _dir: tempfile::TempDir,
}

impl Site {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let shown = Arc::new(Shown::new(played(dir.path()), short()));
        Self { shown, _dir: dir }
    }

    fn page(&self, path: &str) -> String {
        let (status, _, html) = ask_of(&self.shown, path);
        assert_eq!(status, StatusCode::OK, "{path}");
        html
    }
}

fn ask_of(shown: &Arc<Shown>, path: &str) -> (StatusCode, HeaderMap, String) {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let request = Request::get(path).body(Body::empty()).unwrap();
    let answer = async {
        let answer = router(Arc::clone(shown)).oneshot(request).await.unwrap();
        let (head, body) = answer.into_parts();
        let body = to_bytes(body, usize::MAX).await.unwrap();
        let text = String::from_utf8_lossy(&body).into_owned();
        (head.status, head.headers, text)
    };
    runtime.unwrap().block_on(answer)
}

/// The mail with the most in it.
fn largest(shown: &Shown) -> MailLine {
    shown
        .mails(&MailQuery::default(), ALL)
        .rows
        .into_iter()
        .max_by_key(|line| line.entries)
        .unwrap()
}

#[test]
fn the_front_page_tells_the_story_and_balanced_books() {
    let site = Site::new();
    let html = site.page("/");
    let summary = site.shown.summary();
    for text in [
        &tidings_mail::grouped(summary.books.entries, ","),
        &tidings_mail::grouped(summary.mails, ","),
        "The books balance",
    ] {
        assert!(html.contains(text), "{text} is not in the page");
    }
    assert!(!html.contains("do not balance"));
    assert_eq!(html.matches("<h1").count(), 1);
}

#[test]
fn lists_lead_to_what_they_list() {
    let site = Site::new();
    let line = largest(&site.shown);
    let (id, recipient) = (&line.id, &line.recipient);
    let mails = site.page(&format!("/mails?recipient={recipient}"));
    assert!(mails.contains(&format!("href=\"/mails/{id}\"")));
    assert!(site.page(&format!("/mails/{id}")).contains("sandbox=\"allow-popups"));
    assert!(site.page("/mails?page=1").contains("?page=2"));
    let person = site.page(&format!("/people/{recipient}"));
    assert!(person.contains(recipient) && person.contains("you follow "));
    assert!(site.page("/people").contains(site.shown.people("", ALL).rows[0].id.as_str()));
    assert!(site.page("/people?q=nowhere+at+all").contains("Nobody by that name"));
}

#[test]
fn a_page_beyond_the_last_is_empty_and_not_an_error() {
    let site = Site::new();
    let beyond = site.page(&format!("/mails?page={}", usize::MAX));
    assert!(beyond.contains("No mail like that"));
    site.page("/mails?page=many");
    for absent in
        ["/mails/nothing", "/people/r99999", "/pictures/0.svg", "/more/nothing", "/nothing/here"]
    {
        let (status, _, _) = ask_of(&site.shown, absent);
        assert_eq!(status, StatusCode::NOT_FOUND, "{absent}");
    }
}

#[test]
fn hostile_text_stays_text_and_books_that_do_not_balance_are_not_called_balanced() {
    let dir = tempfile::tempdir().unwrap();
    let title = "<script>alert(1)</script>\"'{{ 7*7 }}&";
    let scenario = scenario()
        .excerpt(100, Day::parse("1967-12-11").unwrap())
        .entitled(title, "javascript:alert(1)");
    let played = play(&scenario, rules(), dir.path(), STORE, Afterwards::Removed, &mut |_| {
        ControlFlow::Continue(())
    });
    let mut played = played.unwrap();
    played.telling.books.delivered -= 1;
    let shown = Arc::new(Shown::new(played, scenario));
    let line = largest(&shown);
    for path in
        ["/".to_owned(), format!("/mails/{}", line.id), format!("/people/{}", line.recipient)]
    {
        let (_, _, html) = ask_of(&shown, &path);
        assert!(!html.contains("<script"), "a script came through: {path}");
        let link = html.contains("\"javascript:");
        assert!(!link, "a script link came through: {path}");
        assert!(html.contains("&lt;script"), "the text itself: {path}");
        assert!(html.contains("{{ 7*7 }}"), "no template is run: {path}");
    }
    let (_, _, mails) = ask_of(&shown, &format!("/mails?recipient={}", line.recipient));
    assert!(mails.contains(&line.id) && !mails.contains("<script"));
    let (_, _, front) = ask_of(&shown, "/");
    assert!(front.contains("The books do not balance"));
}

#[test]
fn nothing_is_fetched_from_elsewhere() {
    let site = Site::new();
    let line = largest(&site.shown);
    for path in
        ["/".to_owned(), format!("/mails/{}", line.id), format!("/people/{}", line.recipient)]
    {
        let html = site.page(&path);
        assert!(!html.contains("src=\"http"));
        let style = "<link rel=\"stylesheet\" href=\"/style.css\">";
        assert_eq!(html.matches(style).count(), 1);
    }
    let style = site.page("/style.css");
    assert!(!style.contains("url(") && !style.contains("@import"));
}

#[test]
fn mails_are_served_into_a_sandbox() {
    let site = Site::new();
    let id = largest(&site.shown).id;
    let (status, headers, _) = ask_of(&site.shown, &format!("/mails/{id}/html"));
    assert_eq!(status, StatusCode::OK);
    let policy = headers["content-security-policy"].to_str().unwrap();
    assert!(policy.contains("default-src 'none'") && policy.contains("sandbox allow-popups"));
    assert_eq!(headers["x-content-type-options"], "nosniff");
    let kind = |path: &str| ask_of(&site.shown, path).1["content-type"].clone();
    assert_eq!(kind("/style.css"), "text/css; charset=utf-8");
    assert_eq!(kind("/pictures/61240.svg"), "image/svg+xml");
    assert!(site.page("/pictures/61240.svg").contains("</svg>"));
    let raw = kind(&format!("/mails/{id}/raw"));
    assert_eq!(raw, "text/plain; charset=utf-8");
}

#[test]
fn the_way_out_of_a_mail_leads_to_a_page_that_says_what_a_server_shows() {
    let site = Site::new();
    let mail = site.page(&format!("/mails/{}/html", largest(&site.shown).id));
    let (_, link) = mail.split_once("/u/").expect("a way out");
    let page = site.page(&format!("/u/{}", link.split('"').next().unwrap()));
    assert!(page.contains("chooses what to hear of"), "{page}");
}
