use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::LazyLock;

use super::sample::Sample;
use super::*;

static SITE: LazyLock<(Arc<Sample>, Site)> = LazyLock::new(|| {
    let sample = Arc::new(Sample::new());
    (sample.clone(), Site::new(sample))
});

fn page(answer: Answer) -> String {
    match answer {
        Answer::Page(html) => html,
        other => panic!("{other:?}"),
    }
}

/// A view in which every text is hostile.
struct Hostile;

const HOSTILE: &str = "<script>alert(1)</script>\"'{{ 7*7 }}&";

impl View for Hostile {
    fn summary(&self) -> view::Summary {
        let mut summary = SITE.0.summary();
        summary.warhol.title = HOSTILE.to_owned();
        summary.picks[0].title = HOSTILE.to_owned();
        summary.lanes = vec![HOSTILE.to_owned()];
        summary
    }

    fn mails(&self, _: &MailQuery, slice: view::Slice) -> view::Listing<view::MailLine> {
        let mut listing = SITE.0.mails(&MailQuery::default(), slice);
        for line in &mut listing.rows {
            line.subject = HOSTILE.to_owned();
            line.id = HOSTILE.to_owned();
        }
        listing
    }

    fn mail(&self, _: &str) -> Option<view::Mail> {
        let mut mail = SITE.0.first_mail().clone();
        mail.line.subject = HOSTILE.to_owned();
        mail.text = HOSTILE.to_owned();
        mail.headers = vec![(HOSTILE.to_owned(), HOSTILE.to_owned())];
        Some(mail)
    }

    fn rest(&self, token: &str, from: usize) -> Option<String> {
        SITE.0.rest(token, from)
    }

    fn picture(&self, work: u32) -> Option<String> {
        SITE.0.picture(work)
    }

    fn people(&self, search: &str, slice: view::Slice) -> view::Listing<view::PersonLine> {
        SITE.0.people(search, slice)
    }

    fn person(&self, _: &str, slice: view::Slice) -> Option<view::PersonPage> {
        let id = &SITE.0.summary().picks[2];
        let view::PickTarget::Person(id) = &id.to else {
            panic!("{id:?}")
        };
        let mut person = SITE.0.person(id, slice)?;
        person.inbox.rows[0].title = HOSTILE.to_owned();
        person.inbox.rows[0].items[0].title = HOSTILE.to_owned();
        person.inbox.rows[0].items[0].url = Some("javascript:alert(1)".to_owned());
        Some(person)
    }
}

#[test]
fn the_front_page_tells_the_story_and_balanced_books() {
    let html = page(SITE.1.front());
    for text in [
        "12,004 people, 3.2 ms",
        "Marilyn Monroe",
        "2,871,204",
        "The books balance",
        "6,192",
    ] {
        assert!(html.contains(text), "{text} is not in the page");
    }
    assert!(!html.contains("do not balance"));
    assert_eq!(html.matches("<h1").count(), 1);
}

#[test]
fn books_that_do_not_balance_are_not_called_balanced() {
    struct Unbalanced;
    impl View for Unbalanced {
        fn summary(&self) -> view::Summary {
            let mut summary = SITE.0.summary();
            summary.books.delivered -= 1;
            summary
        }
        fn mails(&self, which: &MailQuery, slice: view::Slice) -> view::Listing<view::MailLine> {
            SITE.0.mails(which, slice)
        }
        fn mail(&self, id: &str) -> Option<view::Mail> {
            SITE.0.mail(id)
        }
        fn rest(&self, token: &str, from: usize) -> Option<String> {
            SITE.0.rest(token, from)
        }
        fn picture(&self, work: u32) -> Option<String> {
            SITE.0.picture(work)
        }
        fn people(&self, search: &str, slice: view::Slice) -> view::Listing<view::PersonLine> {
            SITE.0.people(search, slice)
        }
        fn person(&self, id: &str, slice: view::Slice) -> Option<view::PersonPage> {
            SITE.0.person(id, slice)
        }
    }
    let html = page(Site::new(Arc::new(Unbalanced)).front());
    assert!(html.contains("The books do not balance"));
}

#[test]
fn lists_lead_to_what_they_list() {
    let first = SITE.0.first_mail();
    let which = MailQuery {
        recipient: Some(first.line.recipient.clone()),
        lane: None,
    };
    let html = page(SITE.1.mails(&which, 1));
    assert!(html.contains(&format!("href=\"/mails/{}\"", first.line.id)));
    assert!(page(SITE.1.mail(&first.line.id)).contains("sandbox=\"allow-popups"));
    assert!(page(SITE.1.mails(&MailQuery::default(), 2)).contains("?page=3"));
    let person = page(SITE.1.person(&first.line.recipient, 1));
    assert!(person.contains(&first.line.recipient) && person.contains("you follow "));
    assert!(page(SITE.1.people("", 1)).contains("r00001"));
    assert!(page(SITE.1.people("nowhere at all", 1)).contains("Nobody by that name"));
}

#[test]
fn a_page_beyond_the_last_is_empty_and_not_an_error() {
    assert!(page(SITE.1.mails(&MailQuery::default(), usize::MAX)).contains("No mail like that"));
    assert!(matches!(SITE.1.mail("nothing"), Answer::Absent(_)));
    assert!(matches!(SITE.1.person("r99999", 1), Answer::Absent(_)));
}

#[test]
fn hostile_text_stays_text() {
    let site = Site::new(Arc::new(Hostile));
    let pages = [
        site.front(),
        site.mails(&MailQuery::default(), 1),
        site.mail("x"),
        site.person("x", 1),
    ];
    for html in pages.map(page) {
        assert!(!html.contains("<script"), "a script came through");
        assert!(!html.contains("javascript:"), "a script link came through");
        assert!(html.contains("&lt;script"), "the text itself is to be seen");
        assert!(
            html.contains("{{ 7*7 }}"),
            "a template in a text is not run"
        );
    }
}

#[test]
fn nothing_is_fetched_from_elsewhere() {
    let first = SITE.0.first_mail();
    let pages = [
        SITE.1.front(),
        SITE.1.mail(&first.line.id),
        SITE.1.person(&first.line.recipient, 1),
    ];
    for html in pages.map(page) {
        assert!(!html.contains("src=\"http"));
        assert_eq!(
            html.matches("<link rel=\"stylesheet\" href=\"/style.css\">")
                .count(),
            1
        );
    }
    assert!(!include_str!("style.css").contains("url("));
    assert!(!include_str!("style.css").contains("@import"));
}

#[test]
fn mails_are_served_into_a_sandbox() {
    let id = &SITE.0.first_mail().line.id;
    let answer = ask(&format!("/mails/{id}/html"));
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let head = answer.split("\r\n\r\n").next().unwrap().to_lowercase();
    assert!(
        head.contains("default-src 'none'") && head.contains("sandbox allow-popups"),
        "{head}"
    );
    assert!(head.contains("x-content-type-options: nosniff"), "{head}");
    assert!(
        ask("/style.css")
            .to_lowercase()
            .contains("content-type: text/css")
    );
    let drawn = ask("/pictures/61240.svg");
    assert!(drawn.to_lowercase().contains("content-type: image/svg+xml"));
    assert!(drawn.contains("</svg>"));
    assert!(ask("/pictures/0.svg").starts_with("HTTP/1.1 404"));
    assert!(ask("/more/nothing").starts_with("HTTP/1.1 404"));
    assert!(ask("/mails?page=many").starts_with("HTTP/1.1 200"));
    assert!(ask("/nothing/here").starts_with("HTTP/1.1 404"));
    assert!(
        ask(&format!("/mails/{id}/raw"))
            .to_lowercase()
            .contains("content-type: text/plain")
    );
}

/// Asks a server of its own over a real connection.
fn ask(path: &str) -> String {
    let runtime = runtime();
    let listener = runtime
        .block_on(tokio::net::TcpListener::bind("127.0.0.1:0"))
        .unwrap();
    let mut stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    runtime.spawn(async move { axum::serve(listener, router(SITE.0.clone())).await });
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap()
}

/// `cargo test -p tidings --lib -- --ignored look_at_the_page`, then http://127.0.0.1:8990/.
#[test]
#[ignore = "serves the page until it is stopped, for looking at it"]
fn look_at_the_page() {
    runtime().block_on(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:8990")
            .await
            .unwrap();
        axum::serve(listener, router(SITE.0.clone())).await.unwrap();
    });
}
