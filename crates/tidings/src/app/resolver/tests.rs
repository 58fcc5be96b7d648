//! The client of the host's service, against a server that answers as it is told.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};

use tidings_core::Instant;
use tidings_core::model::SECOND_MS;
use tidings_node::VirtualClock;

use super::*;

/// The secret of the specification's example.
const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

fn rules(url: String) -> ResolverRules {
    ResolverRules {
        url,
        secret: Some("HOST".to_owned()),
        timeout_ms: 5 * SECOND_MS,
        batch: 10,
        wait_ms: 0,
    }
}

/// A server that gives one answer, and the request that it got.
fn server(status: &'static str, body: String) -> (String, Receiver<(Vec<String>, String)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/objects", listener.local_addr().unwrap());
    let (tell, told) = channel();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let mut head = Vec::new();
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            if line.trim().is_empty() {
                break;
            }
            head.push(line.trim().to_owned());
        }
        let length = head
            .iter()
            .find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
        let mut question = vec![0; length.unwrap()];
        reader.read_exact(&mut question).unwrap();
        let length = body.len();
        write!(stream, "HTTP/1.1 {status}\r\ncontent-length: {length}\r\n\r\n{body}").unwrap();
        tell.send((head, String::from_utf8(question).unwrap())).unwrap();
    });
    (url, told)
}

fn client(url: String) -> ObjectStateClient {
    let service = ResolverService::new(&rules(url), &|_| Ok(SECRET.to_owned())).unwrap();
    let clock = VirtualClock::default();
    clock.set(Instant(1_614_265_330_000));
    ObjectStateClient::new(Some(service), Arc::new(clock))
}

fn works() -> [Id; 2] {
    ["works/1", "works/2"].map(|id| Id::new(id).unwrap())
}

#[test]
fn a_question_is_signed_and_its_answer_is_read() {
    let answer = serde_json::json!({
        "objects": [{"id": "works/1", "title": "Water Lilies", "notifiable": false}],
        "retracted": ["works/2"],
    });
    let (url, told) = server("200 OK", answer.to_string());
    let resolved = client(url).resolve(&works()).unwrap();
    assert_eq!(resolved.retracted, works()[1..]);
    let [object] = &resolved.objects[..] else {
        panic!("{resolved:?}");
    };
    assert_eq!(object.title, Some("Water Lilies".into()));
    assert_eq!(object.notifiable, Some(false));

    let (head, question) = told.recv().unwrap();
    assert_eq!(head[0], "POST /objects HTTP/1.1");
    assert_eq!(question, r#"{"objects":["works/1","works/2"]}"#);
    let header = |name: &str| {
        let mut found = head.iter().filter_map(|line| line.split_once(": "));
        let found = found.find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.unwrap_or_else(|| panic!("no {name}: {head:?}")).1
    };
    assert_eq!(header("webhook-timestamp"), "1614265330");
    let (id, key) = (header("webhook-id"), WebhookKey::parse(SECRET).unwrap());
    let expected = key.sign(id, 1_614_265_330, &question);
    assert_eq!(header("webhook-signature"), expected);
}

#[test]
fn an_answer_that_cannot_be_used_says_why() {
    for (status, body, part) in [
        ("500 Oops", "{}", "500"),
        ("204 No Content", "", "204"),
        ("302 Found", "{}", "302"),
        ("200 OK", "<html>", "JSON"),
        ("200 OK", "[]", "object"),
        ("200 OK", r#"{"object": []}"#, "`object`"),
        ("200 OK", r#"{"objects": [{"title": "x"}]}"#, "`id` is missing"),
        ("200 OK", r#"{"objects": [{"id": "a", "url": 7}]}"#, "`objects[0].url`"),
        ("200 OK", r#"{"retracted": [""]}"#, "`retracted[0]`"),
    ] {
        let (url, _told) = server(status, body.to_owned());
        let why = client(url).resolve(&works()).unwrap_err();
        assert!(why.contains(part), "{status} {body}: {why}");
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    drop(listener);
    assert!(client(url).resolve(&works()).is_err());
}

#[test]
fn a_secret_that_is_missing_or_short_is_refused() {
    let rules = rules("http://h/".to_owned());
    let missing = ResolverService::new(&rules, &|_| Err("set HOST".to_owned())).err();
    assert_eq!(missing.as_deref(), Some("the secret `HOST`: set HOST"));
    let short = ResolverService::new(&rules, &|_| Ok("short".to_owned())).err();
    let why = "the secret `HOST` has fewer than 16 bytes";
    assert_eq!(short.as_deref(), Some(why));
}

#[test]
fn settings_can_be_replaced() {
    let resolver = client("http://h/".to_owned());
    let bounds = ResolverBounds { batch: 10, wait_ms: 0 };
    assert_eq!(resolver.bounds(), Some(bounds));
    resolver.replace(None);
    assert_eq!(resolver.bounds(), None);
    assert!(resolver.resolve(&works()).is_err());
}
