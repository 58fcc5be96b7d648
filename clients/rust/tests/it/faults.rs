//! Broken connections, refusals and slow answers: one event each, and the right error.

use std::fs;
use std::time::{Duration, Instant};

use tidings_client::Error;
use tidings_client::api::InboxQuery;
use tidings_client::types::{Audience, Event, EventLineAnswer, PublishedStatus, RecipientChange};

use crate::proxy::{Harm, Proxy, answer};
use crate::server::Server;

/// An event without an id of its own.
fn event(object: &str) -> Event {
    Event::new("comment", object, Audience::new().recipients(["ana"]))
}

fn busy() -> Harm {
    let body = r#"{"type": "/errors/too_busy", "title": "Too many", "status": 429, "detail": "too many", "code": "too_busy", "hint": "wait"}"#;
    answer(
        "429 Too Many Requests",
        "retry-after: 1\r\ncontent-type: application/problem+json\r\n",
        body,
    )
}

fn starting() -> Harm {
    let body = r#"{"type": "/errors/starting", "title": "Starting", "status": 503, "detail": "starting", "code": "starting", "hint": "wait"}"#;
    answer("503 Service Unavailable", "content-type: application/problem+json\r\n", body)
}

fn of_a_proxy() -> Harm {
    answer("502 Bad Gateway", "", "<h1>502 Bad Gateway</h1>")
}

/// The number of notifications in the inbox of Ana.
async fn items(tidings: &tidings_client::Client) -> u64 {
    let groups = tidings.inbox().list("ana", &InboxQuery::new().limit(100)).all().await.unwrap();
    groups.iter().map(|group| group.count).sum()
}

#[tokio::test(flavor = "multi_thread")]
async fn situation_15_a_broken_call_makes_one_event() {
    let Some(server) = Server::start() else { return };
    let proxy = Proxy::start(&server.url).await;
    let direct = server.client();
    direct.recipients().upsert("ana", &RecipientChange::new()).await.unwrap();
    let tidings = server.through(&proxy.url).timeout(Duration::from_secs(2)).build().unwrap();
    let harms = [
        vec![Harm::CutBefore],
        vec![Harm::CutIn],
        vec![Harm::CutAfter],
        vec![Harm::CutInAnswer],
        vec![Harm::Slow],
        vec![busy()],
        vec![starting()],
        vec![of_a_proxy()],
        vec![Harm::CutAfter, Harm::CutIn, Harm::CutInAnswer],
    ];
    for (at, harm) in harms.into_iter().enumerate() {
        let (tries, is_busy) = (harm.len() + 1, harm == [busy()]);
        // The tries before the request is seen leave no head.
        let seen = tries - harm.iter().filter(|harm| **harm == Harm::CutBefore).count();
        proxy.harm(harm.clone());
        let begun = Instant::now();
        let published = tidings.events().publish(&event(&format!("note-{at}"))).await.unwrap();
        assert_eq!(published.status, PublishedStatus::Accepted, "{harm:?}");
        assert!(!is_busy || begun.elapsed() >= Duration::from_secs(1), "Retry-After is heeded");
        assert_eq!(items(&direct).await, at as u64 + 1, "{harm:?}");
        let heads = proxy.heads.lock().unwrap().clone();
        for header in ["idempotency-key", "x-request-id"] {
            *proxy.heads.lock().unwrap() = heads.clone();
            let values = proxy.take(header);
            assert_eq!(values.len(), seen, "{harm:?}");
            assert!(
                !values[0].is_empty() && values.iter().all(|value| *value == values[0]),
                "{values:?}"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn situation_15_what_stays_broken_is_the_right_error() {
    let Some(server) = Server::start() else { return };
    let proxy = Proxy::start(&server.url).await;
    server.client().recipients().upsert("ana", &RecipientChange::new()).await.unwrap();
    let tidings = server.through(&proxy.url).build().unwrap();
    for (at, harm) in
        [Harm::CutBefore, Harm::CutIn, Harm::CutAfter, Harm::CutInAnswer].into_iter().enumerate()
    {
        proxy.harm(std::iter::repeat_n(harm.clone(), 4));
        let error = tidings.events().publish(&event(&format!("a-{at}"))).await.unwrap_err();
        assert!(matches!(error, Error::Connection { .. }), "{harm:?}: {error}");
        assert!(error.is_temporary() && error.request_id().is_some());
        assert!(proxy.harms.lock().unwrap().is_empty(), "there are three retries");
    }
    proxy.take("");
    proxy.harm([Harm::Slow, Harm::Slow]);
    let slow = tidings.events().publish(&event("b")).timeout(Duration::from_millis(200)).retries(1);
    let error = slow.request_id("mine").await.unwrap_err();
    assert!(matches!(error, Error::Timeout { .. }), "{error}");
    assert_eq!(error.request_id(), Some("mine"));
    assert_eq!(proxy.take("x-request-id"), ["mine", "mine"]);
    for (harm, is_right) in [
        (busy(), (|error| matches!(error, Error::TooBusy(_))) as fn(&Error) -> bool),
        (starting(), |error| matches!(error, Error::Starting(_))),
        (of_a_proxy(), |error| matches!(error, Error::Unexpected { status: 502, .. })),
    ] {
        proxy.harm([harm]);
        let error = tidings.events().publish(&event("c")).retries(0).await.unwrap_err();
        assert!(is_right(&error), "{error}");
        assert!(error.is_temporary());
    }
    // A wait of an hour is the caller's to decide.
    proxy.harm([answer("503 Service Unavailable", "retry-after: 3600\r\n", "")]);
    let error = tidings.events().publish(&event("d")).await.unwrap_err();
    assert_eq!(error.status(), Some(503));
}

#[tokio::test(flavor = "multi_thread")]
async fn situation_15_a_refusal_is_never_tried_again() {
    let Some(server) = Server::start() else { return };
    let proxy = Proxy::start(&server.url).await;
    let tidings = server.through(&proxy.url).build().unwrap();
    let error = tidings
        .events()
        .publish(&Event::new("commnt", "o", Audience::new().recipients(["ana"])))
        .await;
    let Err(Error::UnknownType(problem)) = error else { panic!("{error:?}") };
    assert!(problem.hint.contains("comment"), "{problem}");
    assert_eq!((problem.status, proxy.take("idempotency-key").len()), (422, 1));
    let body = r#"{"code": "request_timeout", "detail": "late"}"#;
    for (status, more) in [
        ("408 Request Timeout", "retry-after: 1\r\n"),
        ("409 Conflict", ""),
        ("500 Internal Server Error", ""),
    ] {
        proxy.harm([answer(status, more, body)]);
        let error = tidings.recipients().get("ana").await.unwrap_err();
        assert!(matches!(error, Error::RequestTimeout(_)), "{error}");
        assert_eq!(proxy.take("idempotency-key"), [""], "what changes nothing has no key");
    }
    let wrong = tidings_client::Client::new(&proxy.url, "tidings_wrong").unwrap();
    let error = wrong.recipients().get("ana").await.unwrap_err();
    assert!(matches!(error, Error::Unauthorized(_)), "{error}");
    assert_eq!(proxy.take("").len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn situation_15_a_broken_import_makes_each_event_once() {
    let Some(server) = Server::start() else { return };
    let proxy = Proxy::start(&server.url).await;
    let direct = server.client();
    direct.recipients().upsert("ana", &RecipientChange::new()).await.unwrap();
    let tidings = server.through(&proxy.url).build().unwrap();
    proxy.harm([Harm::CutInAnswer, Harm::CutIn, starting(), Harm::CutAfter, Harm::CutInAnswer]);
    let events = (0..1_500).map(|n| event(&format!("o/{}", n % 10)));
    let answers = tidings.events().import(events).answers().all().await.unwrap();
    assert_eq!(answers.len(), 1_500);
    for (at, answer) in (1..).zip(&answers) {
        let EventLineAnswer::PublishedEvent(published) = answer else { panic!("{answer:?}") };
        assert_eq!(published.line, Some(at));
    }
    assert!(proxy.harms.lock().unwrap().is_empty());
    assert_eq!(items(&direct).await, 1_500);
}

#[tokio::test(flavor = "multi_thread")]
async fn situation_15_a_stream_that_breaks_is_not_taken_for_whole() {
    let Some(server) = Server::start() else { return };
    let proxy = Proxy::start(&server.url).await;
    let tidings = server.through(&proxy.url).build().unwrap();
    tidings.recipients().upsert("ana", &RecipientChange::new()).await.unwrap();
    proxy.harm([Harm::CutBefore, Harm::CutInAnswer]);
    let lines = tidings.admin().export(&tidings_client::api::ExportQuery::new()).all().await;
    assert!(matches!(lines, Err(Error::Connection { .. })), "{lines:?}");
    let lines =
        tidings.admin().export(&tidings_client::api::ExportQuery::new()).all().await.unwrap();
    assert!(lines.iter().any(|line| line["id"] == "ana"), "{lines:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn situation_15_descriptors_are_constant_over_10_000_calls() {
    let Some(server) = Server::start() else { return };
    let tidings = server.client();
    let Ok(_) = fs::read_dir("/proc/self/fd") else {
        eprintln!("skipped: descriptors are counted in /proc");
        return;
    };
    tidings.recipients().upsert("ana", &RecipientChange::new()).await.unwrap();
    let descriptors = || fs::read_dir("/proc/self/fd").unwrap().count();
    let calls = async |calls: usize| {
        for at in 0..calls {
            match at % 10 {
                // What is refused gives its connection back too.
                0 => assert!(tidings.recipients().get("nobody").await.is_err()),
                1 => assert_eq!(tidings.server().health().await.unwrap().trim(), "ok"),
                2 => tidings
                    .recipients()
                    .patch("ana", &RecipientChange::new().tz("UTC"))
                    .await
                    .unwrap(),
                _ => drop(
                    tidings
                        .inbox()
                        .counts("ana", &tidings_client::api::CountsQuery::new())
                        .await
                        .unwrap(),
                ),
            }
        }
    };
    calls(100).await;
    let before = descriptors();
    calls(10_000).await;
    // Other tests run in this process: what this one loses would be hundreds.
    let after = descriptors();
    assert!(after < before + 50, "{before} before, {after} after");
}
