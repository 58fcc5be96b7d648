//! The pages over a story of some days and some hundred people.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request};
use tidings_core::Day;
use tidings_demo::play::Afterwards;
use tidings_demo::{Scenario, scenario};
use tidings_node::channel::CAUGHT_MAX;
use tidings_store::StoreId;
use tower::ServiceExt as _;

use super::*;

/// The server of a story, and its directory.
struct Pages {
    server: DemoServer,
    runtime: Runtime,
    dir: tempfile::TempDir,
}

/// An answer.
struct Answered {
    status: StatusCode,
    headers: HeaderMap,
    text: String,
}

impl Pages {
    fn of(scenario: &Scenario) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut rules = tidings_config::parse(play::RULES, play::RULES_FILE).unwrap();
        rules.presentation.brand.url = Some("http://127.0.0.1:8990".to_owned());
        let (id, removed) = (StoreId([1; 16]), Afterwards::Removed);
        let on = &mut |_| ControlFlow::Continue(());
        let played = play::play(scenario, rules, dir.path(), id, removed, on).unwrap();
        let story = Story::of(scenario, &played.telling, &played.mailbox);
        let server = DemoServer::start(played, story, scenario.ends, dir.path()).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        Self { server, runtime, dir }
    }

    /// Fifteen days, and two Monday mails.
    fn short() -> Self {
        Self::of(&scenario().excerpt(100, Day::parse("1967-12-18").unwrap()))
    }

    fn ask(&self, path: &str) -> Answered {
        let request = Request::get(path).header("host", "127.0.0.1:8990");
        let request = request.header("accept", "text/html");
        let answer = self.server.router().oneshot(request.body(Body::empty()).unwrap());
        self.runtime.block_on(async {
            let (head, body) = answer.await.unwrap().into_parts();
            let body = to_bytes(body, usize::MAX).await.unwrap();
            let text = String::from_utf8_lossy(&body).into_owned();
            Answered { status: head.status, headers: head.headers, text }
        })
    }

    fn page(&self, path: &str) -> String {
        let Answered { status, text, .. } = self.ask(path);
        assert_eq!(status, StatusCode::OK, "{path}: {text}");
        text
    }

    fn end(self) {
        self.server.stop();
        drop(self.dir);
    }
}

/// The targets of links to this server.
fn links(html: &str) -> BTreeSet<String> {
    let targets = html.split(" href=\"").skip(1).filter_map(|rest| rest.split('"').next());
    let targets = targets.map(|target| target.replace("&#x2f;", "/").replace("&amp;", "&"));
    targets.filter(|target| target.starts_with('/')).collect()
}

#[test]
fn the_story_tells_its_numbers_and_each_of_its_links_leads_to_a_page() {
    let pages = Pages::short();
    let Answered { status, headers, text: html } = pages.ask("/");
    assert_eq!(status, StatusCode::OK);
    let story = &pages.server.story;
    for number in [story.books.notifications, story.books.entries, story.mails] {
        assert!(html.contains(&tidings_mail::grouped(number, ",")), "{number} in {html}");
    }
    assert!(html.contains("The books balance") && html.matches("<h1").count() == 1, "{html}");
    // It has no script, and loads nothing but the sheet of the console.
    assert!(!html.contains("<script") && !html.contains(" src=") && !html.contains(" style="));
    let policy = headers["content-security-policy"].to_str().unwrap();
    assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
    let links = links(&html);
    for link in &links {
        pages.page(link);
    }
    let titles: Vec<&str> = story.sights.iter().map(|sight| sight.title.as_str()).collect();
    assert_eq!(titles, ["A Monday morning", "Somebody who looks often"]);
    let all = ["/console/console.css", "/console/", "/console/people", "/_mail", "/_inbox"];
    assert!(all.iter().all(|link| links.contains(*link)), "{links:?}");
    pages.end();
}

#[test]
fn the_console_and_the_mailbox_show_what_the_story_has_sent() {
    let pages = Pages::short();
    let story = &pages.server.story;
    // Of a hundred people all mails are kept.
    assert!((1..=CAUGHT_MAX as u64).contains(&story.mails), "{}", story.mails);
    let list = pages.page("/_mail");
    assert!(list.contains(&format!("{} messages", story.mails)), "{list}");
    assert!(list.contains("@readers.example.org") && list.contains("1967-12-18"), "{list}");
    let console = pages.page("/console/");
    let [people, entries] = [100, story.books.entries].map(|n| tidings_mail::grouped(n, ","));
    assert!(console.contains(&format!("{people} people")), "{console}");
    assert!(console.contains(&format!("{entries} entries")), "{console}");
    // Mails lead to pages that are there: what they do not show, and the way out.
    let mut largest = pages.server.service.caught.newest_first();
    largest.sort_by_key(|caught| std::cmp::Reverse(caught.message.head.entries));
    let head = &largest[0].message.head;
    let reader = head.recipient.as_ref().unwrap();
    let theirs = pages.page(&format!("/console/people/{reader}?tab=messages"));
    assert!(theirs.contains("1967-12-1") && theirs.contains("email"), "{theirs}");
    let entries = head.entries;
    let mail = pages.page(&format!("/_mail/caught-{}/html", largest[0].number));
    let path = |begin: &str| {
        let (_, rest) = mail.split_once(&format!("http://127.0.0.1:8990{begin}")).expect(begin);
        format!("{begin}{}", rest.split('"').next().unwrap())
    };
    assert!(pages.page(&path("/more/")).contains(&format!("{} more", entries - 20)));
    pages.page(&path("/u/"));
    // The server's clock goes on from the end of the story.
    let now = pages.server.service.now();
    assert!(now.day() == Day::parse("1967-12-19").unwrap(), "{now}");
    pages.end();
}

#[test]
fn hostile_text_stays_text_and_books_that_do_not_balance_are_not_called_balanced() {
    let title = "<script>alert(1)</script>\"'{{ 7*7 }}&";
    let day = Day::parse("1967-12-11").unwrap();
    let scenario = scenario().excerpt(100, day).entitled(title, "javascript:alert(1)");
    let mut pages = Pages::of(&scenario);
    pages.server.story.books.delivered -= 1;
    pages.server.story.warhol = pages.server.story.largest.clone();
    let html = pages.page("/");
    assert!(html.contains("The books do not balance"), "{html}");
    assert!(html.contains("&lt;script&gt;") && html.contains("{{ 7*7 }}"), "{html}");
    assert!(!html.contains("<script") && !html.contains("\"javascript:"), "{html}");
    pages.end();
}
