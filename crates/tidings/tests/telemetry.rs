//! The spans of a real process, as a collector gets them over OTLP.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]

mod serving;

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message as _;
use serde_json::json;
use serving::{Api, Server};

const CONFIG: &str = r#"
[categories.news]
[digests.weekly]
every = "week"
on = "mon"
at = "09:00"
[types.note]
category = "news"
channels = { inbox = { policy = "never" }, email = { policy = "digest", digest = "weekly" } }

[channels.email]
provider = "file://MAILS"
from = "News <news@example.org>"

[telemetry]
otlp = "URL"
ratio = 0
"#;

/// A collector that keeps every span.
struct Collector {
    url: String,
    spans: Arc<Mutex<Vec<Span>>>,
}

impl Collector {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let spans = Arc::<Mutex<Vec<Span>>>::default();
        let kept = Arc::clone(&spans);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                answer(stream.unwrap(), &kept);
            }
        });
        Self { url, spans }
    }

    fn named(&self, name: &str) -> Vec<Span> {
        let spans = self.spans.lock().unwrap();
        spans.iter().filter(|span| span.name == name).cloned().collect()
    }
}

fn answer(stream: TcpStream, kept: &Mutex<Vec<Span>>) {
    let mut stream = BufReader::new(stream);
    let (mut length, mut line) = (0, String::new());
    stream.read_line(&mut line).unwrap();
    assert_eq!(line, "POST /v1/traces HTTP/1.1\r\n");
    while line != "\r\n" {
        if let Some(bytes) = line.to_lowercase().strip_prefix("content-length: ") {
            length = bytes.trim().parse().unwrap();
        }
        line.clear();
        stream.read_line(&mut line).unwrap();
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).unwrap();
    let request = ExportTraceServiceRequest::decode(body.as_slice()).unwrap();
    let of_scopes = request.resource_spans.into_iter().flat_map(|spans| spans.scope_spans);
    kept.lock().unwrap().extend(of_scopes.flat_map(|scope| scope.spans));
    let head = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
    stream.get_mut().write_all(head.as_bytes()).unwrap();
}

fn server(dir: &Path, collector: &Collector) -> Server {
    let config = dir.join("tidings.toml");
    let text = CONFIG.replace("MAILS", &dir.join("mails").display().to_string());
    fs::write(&config, text.replace("URL", &collector.url)).unwrap();
    Server::start(&config, &dir.join("data"))
}

/// Publishes an event for ann in a request with these headers, or with a trace of its own.
fn publish(server: &Server, number: u64, traceparent: Option<&str>, trace: Option<&str>) {
    let mut event = json!({
        "id": format!("e{number}"),
        "type": "note",
        "object": {"id": format!("works/{number}")},
        "to": {"recipients": ["ann"]},
    });
    if let Some(trace) = trace {
        event["trace"] = json!(trace);
    }
    let mut request = ureq::post(format!("{}/v1/events", server.url));
    if let Some(traceparent) = traceparent {
        request = request.header("traceparent", traceparent);
    }
    let answer = request.header("content-type", "application/json").send(event.to_string());
    assert_eq!(answer.unwrap().status(), 202);
}

/// Has what waits for ann sent, and stops the server, which sends the rest of its spans before it ends.
fn send_and_stop(server: Server) {
    let api = Api::new(&server.url);
    assert_eq!(api.post("/v1/recipients/ann/flush", &json!({})).unwrap().0, 200);
    server.signal("TERM");
    assert!(server.wait().success());
}

#[test]
fn a_collector_sees_a_digest_linked_to_its_forty_publishes() {
    let dir = tempfile::tempdir().unwrap();
    let collector = Collector::start();
    let server = server(dir.path(), &collector);
    let api = Api::new(&server.url);
    api.put("/v1/recipients/ann", &json!({"email": "ann@example.org"})).unwrap();
    let caller =
        |number: u64, flags: u8| format!("00-{:032x}-{number:016x}-{flags:02x}", 1_000 + number);
    for number in 1..=40 {
        publish(&server, number, Some(&caller(number, 1)), None);
    }
    // Neither a caller who records nothing nor one who says nothing is recorded at a ratio of 0.
    publish(&server, 41, Some(&caller(41, 0)), None);
    publish(&server, 42, None, None);
    send_and_stop(server);

    let requests = collector.named("POST /v1/events");
    let parents: BTreeSet<u64> = requests.iter().map(|span| number(&span.parent_span_id)).collect();
    assert_eq!(parents, (1..=40).collect());
    let sent = collector.named("send");
    let [sent] = sent.as_slice() else { panic!("not one message: {sent:?}") };
    let recorded = |flags: u32| flags & 1 == 1;
    let links = sent.links.iter().filter(|link| recorded(link.flags));
    let linked: BTreeSet<(&[u8], &[u8])> =
        links.map(|link| (link.trace_id.as_slice(), link.span_id.as_slice())).collect();
    let published: BTreeSet<(&[u8], &[u8])> =
        requests.iter().map(|span| (span.trace_id.as_slice(), span.span_id.as_slice())).collect();
    assert_eq!(linked, published);
    assert_eq!(sent.links.len(), 41, "and the caller who records nothing");
    let rendered = collector.named("render");
    assert_eq!(rendered.len(), 1);
    assert_eq!(rendered[0].parent_span_id, sent.span_id);
    let steps = collector.named("step");
    let of_steps: BTreeSet<&[u8]> =
        steps.iter().flat_map(|step| &step.links).map(|link| link.span_id.as_slice()).collect();
    assert!(published.iter().all(|(_, span)| of_steps.contains(span)));
}

#[test]
fn an_event_with_a_trace_of_its_own_keeps_it_over_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let collector = Collector::start();
    let first = server(dir.path(), &collector);
    let api = Api::new(&first.url);
    api.put("/v1/recipients/ann", &json!({"email": "ann@example.org"})).unwrap();
    let own = "00-0000000000000000000000000000abcd-0000000000001234-01";
    publish(&first, 1, None, Some(own));
    let event = api.get("/v1/events/e1").unwrap().1;
    assert_eq!(event["event"]["trace"], own);
    let again = json!({
        "id": "e1",
        "type": "note",
        "object": {"id": "works/1"},
        "to": {"recipients": ["ann"]},
        "trace": own.replace("abcd", "abce"),
    });
    let again = api.post("/v1/events", &again).unwrap().1;
    assert_eq!((&again["status"], &again["warnings"]), (&json!("duplicate"), &json!([])));
    first.signal("TERM");
    assert!(first.wait().success());
    send_and_stop(server(dir.path(), &collector));
    let sent = collector.named("send");
    assert_eq!(sent.len(), 1);
    let links: Vec<u64> = sent[0].links.iter().map(|link| number(&link.span_id)).collect();
    assert_eq!(links, [0x1234]);
}

fn number(id: &[u8]) -> u64 {
    id.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}
