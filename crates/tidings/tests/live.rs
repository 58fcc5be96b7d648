//! Streams of inboxes from the real process: over a socket, over HTTP/2, from several nodes, and through their ends.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]

mod serving;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};
use serving::{Api, Patience, Server};
use tempfile::TempDir;

const CONFIG: &str = r#"
[store]
parts = 8

[categories.news]
[types.note]
category = "news"
channels = { inbox = { policy = "now" } }
"#;

struct Place {
    dir: TempDir,
    config: PathBuf,
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let config = dir.path().join("tidings.toml");
        fs::write(&config, CONFIG).unwrap();
        Self { dir, config }
    }

    fn start(&self, log: &str) -> Server {
        let log = File::create(self.dir.path().join(log)).unwrap();
        Server::start_logging(&self.config, &self.dir.path().join("data"), log)
    }

    fn log(&self, log: &str) -> String {
        fs::read_to_string(self.dir.path().join(log)).unwrap()
    }
}

/// An event of a stream.
#[derive(Debug)]
struct Event {
    name: String,
    id: Option<String>,
    data: Value,
}

/// The reader of a stream.
struct Stream(BufReader<ureq::BodyReader<'static>>);

impl Stream {
    /// Opens a stream; `None` where the server refuses it.
    fn open(url: &str, recipient: &str, last: Option<&str>) -> Option<Self> {
        let config = ureq::Agent::config_builder().http_status_as_error(false);
        // Longer than a test takes.
        let agent: ureq::Agent =
            config.timeout_global(Some(Duration::from_secs(100))).build().into();
        let mut request = agent.get(format!("{url}/v1/recipients/{recipient}/live"));
        if let Some(last) = last {
            request = request.header("last-event-id", last);
        }
        let answer = request.call().ok().filter(|answer| answer.status() == 200)?;
        assert_eq!(answer.headers()["content-type"], "text/event-stream");
        let mut stream = Self(BufReader::new(answer.into_body().into_reader()));
        let hello = stream.next()?;
        // A node may have stopped meanwhile.
        (hello.name == "hello").then_some(stream)
    }

    /// As [`Stream::open`], as often as it takes.
    fn insist(url: &str, recipient: &str) -> Self {
        let patience = Patience::new();
        loop {
            if let Some(stream) = Self::open(url, recipient, None) {
                return stream;
            }
            patience.wait(|| format!("{url} has no stream of {recipient}"));
            std::thread::park_timeout(Duration::from_millis(50));
        }
    }

    /// The next event; `None` where the stream is over, in whatever way.
    fn next(&mut self) -> Option<Event> {
        let (mut name, mut id, mut data) = (String::new(), None, Value::Null);
        loop {
            let mut line = String::new();
            if self.0.read_line(&mut line).ok()? == 0 {
                return None;
            }
            let line = line.trim_end();
            match line.split_once(": ") {
                Some(("event", text)) => text.clone_into(&mut name),
                Some(("id", text)) => id = Some(text.to_owned()),
                Some(("data", text)) => data = serde_json::from_str(text).unwrap(),
                _ if line.is_empty() && !name.is_empty() => return Some(Event { name, id, data }),
                _ => {}
            }
        }
    }

    /// Reads until an event of this id is in a change; `None` where the stream is over before.
    fn until(&mut self, event: &str) -> Option<Event> {
        loop {
            let next = self.next().filter(|next| next.name == "inbox")?;
            if events(&next.data["changed"]).contains(event) {
                return Some(next);
            }
        }
    }
}

/// The events of groups.
fn events(groups: &Value) -> BTreeSet<String> {
    let groups = groups.as_array().unwrap().iter();
    let items = groups.flat_map(|group| group["items"].as_array().unwrap());
    items.map(|item| item["event"].as_str().unwrap().to_owned()).collect()
}

fn publish(api: &Api, id: &str, to: &Value) {
    let event = json!({"id": id, "type": "note", "object": {"id": id}, "to": to});
    let patience = Patience::new();
    loop {
        match api.post("/v1/events", &event) {
            Ok((202, _)) => return,
            Ok((429 | 503, _)) | Err(_) => patience.wait(|| format!("{id} is not accepted")),
            Ok((status, answer)) => panic!("{status} {answer}"),
        }
        std::thread::park_timeout(Duration::from_millis(50));
    }
}

fn make(api: &Api, id: &str) {
    let (status, answer) = api.put(&format!("/v1/recipients/{id}"), &json!({})).unwrap();
    assert_eq!(status, 204, "{answer}");
}

#[test]
fn i12_nothing_is_missed_through_a_kill_and_a_stop_ends_a_stream_at_once() {
    let place = Place::new();
    let server = place.start("first.log");
    let api = Api::new(&server.url);
    make(&api, "ana");
    let mut stream = Stream::open(&server.url, "ana", None).unwrap();
    publish(&api, "e1", &json!({"recipients": ["ana"]}));
    let last = stream.until("e1").unwrap().id.unwrap();
    server.kill();
    assert!(stream.next().is_none());
    // What was told is in the store, so the reader goes on where it was.
    let server = place.start("second.log");
    let api = Api::new(&server.url);
    let config = ureq::Agent::config_builder().timeout_global(Some(Duration::from_secs(60)));
    let agent: ureq::Agent = config.build().into();
    let path = format!("{}/v1/recipients/ana/live", server.url);
    let answer = agent.get(&path).header("last-event-id", &last).call().unwrap();
    let mut stream = Stream(BufReader::new(answer.into_body().into_reader()));
    let hello = stream.next().unwrap();
    assert!(hello.data.get("reset").is_none(), "{hello:?}");
    publish(&api, "e2", &json!({"everyone": true}));
    stream.until("e2").unwrap();
    // A reader who comes too late for that reads the page anew.
    let answer = agent.get(&path).header("last-event-id", &last).call().unwrap();
    let mut late = Stream(BufReader::new(answer.into_body().into_reader()));
    assert_eq!(late.next().unwrap().data["reset"], true);
    assert_eq!(api.inbox_events("ana"), ["e2", "e1"]);
    server.signal("TERM");
    for stream in [&mut stream, &mut late] {
        let end = stream.next().unwrap();
        assert_eq!((end.name.as_str(), &end.data["code"]), ("end", &json!("restart")));
        assert!(stream.next().is_none());
    }
    assert!(server.wait().success());
    let log = place.log("second.log");
    assert!(!log.contains("cut off"), "nobody is waited for: {log}");
}

#[test]
fn i13_streams_of_http_2_share_a_connection() {
    let place = Place::new();
    let server = place.start("server.log");
    let api = Api::new(&server.url);
    make(&api, "ana");
    make(&api, "ben");
    let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let port = server.port();
    let told = tokio.block_on(async {
        let socket = tokio::net::TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        let (mut client, connection) = h2::client::handshake(socket).await.unwrap();
        tokio::spawn(connection);
        let mut told = Vec::new();
        let mut streams = Vec::new();
        for recipient in ["ana", "ben"] {
            let uri = format!("http://localhost:{port}/v1/recipients/{recipient}/live");
            let request = axum::http::Request::get(uri).body(()).unwrap();
            let (answer, _) = client.send_request(request, true).unwrap();
            let answer = answer.await.unwrap();
            assert_eq!(answer.status(), 200);
            let mut body = answer.into_body();
            let hello = body.data().await.unwrap().unwrap();
            body.flow_control().release_capacity(hello.len()).unwrap();
            assert!(hello.starts_with(b"event: hello\n"));
            streams.push(body);
        }
        let publishing = tokio::task::spawn_blocking(move || {
            publish(&api, "e1", &json!({"everyone": true}));
        });
        for body in &mut streams {
            let frame = body.data().await.unwrap().unwrap();
            told.push(String::from_utf8(frame.to_vec()).unwrap());
        }
        publishing.await.unwrap();
        // A page of another site is told from this machine's by the name that it calls.
        let request = axum::http::Request::get("http://example.org/v1/types").body(()).unwrap();
        let (answer, _) = client.send_request(request, true).unwrap();
        assert_eq!(answer.await.unwrap().status(), 401);
        told
    });
    assert!(told.iter().all(|frame| frame.contains("\"event\":\"e1\"")), "{told:?}");
}

#[cfg(feature = "postgres")]
#[test]
fn i14_a_stream_is_told_by_the_node_that_has_its_recipient_and_ends_when_that_stops() {
    use serving::wire::Wire;
    use tidings_loopback::Postgres;

    if !Postgres::is_installed() {
        return serving::skip("PostgreSQL is not installed");
    }
    let place = Place::new();
    let database = Postgres::start(place.dir.path(), &["fsync=off"]).unwrap();
    database.run("postgres", "CREATE DATABASE tidings").unwrap();
    let store = database.url("tidings");
    let wires = [Wire::start(), Wire::start()];
    let mut nodes = [("a", &wires[0]), ("b", &wires[1])].map(|(name, wire)| {
        let log = File::create(place.dir.path().join(format!("{name}.log"))).unwrap();
        let node = Server::start_node(&place.config, &store, name, wire.port, log);
        wire.lead_to(node.port());
        Some(node)
    });
    let logs = || format!("{}\n{}", place.log("a.log"), place.log("b.log"));
    let urls: Vec<String> = nodes.iter().flatten().map(|node| node.url.clone()).collect();
    let apis: Vec<Api> = urls.iter().map(|url| Api::new(url).insisting()).collect();
    let patience = Patience::new();
    let is_spread = |api: &Api| {
        let answer = api.get("/v1/nodes");
        answer.is_ok_and(|(_, nodes)| nodes.to_string().matches("\"holding\"").count() == 2)
    };
    while !apis.iter().all(is_spread) {
        patience.wait(|| format!("the parts are not spread\n{}", logs()));
        std::thread::park_timeout(Duration::from_millis(100));
    }
    let names: Vec<String> = (0..12).map(|number| format!("r{number}")).collect();
    names.iter().for_each(|name| make(&apis[0], name));
    let open = |url: usize| {
        let open = |name: &String| (name.clone(), Stream::insist(&urls[url], name));
        names.iter().map(open).collect::<Vec<_>>()
    };
    let mut streams = [open(0), open(1)];
    publish(&apis[1], "e1", &json!({"everyone": true}));
    for (name, stream) in streams.iter_mut().flatten() {
        assert!(stream.until("e1").is_some(), "{name}\n{}", logs());
    }
    // The one that stops ends what is read there, and what it tells at the other one.
    let leaving = nodes[1].take().unwrap();
    leaving.signal("TERM");
    for (name, stream) in &mut streams[1] {
        let end = stream.next();
        let code = end.as_ref().map(|end| end.data["code"].clone());
        assert_eq!(code, Some(json!("restart")), "{name}: {end:?}\n{}", logs());
    }
    let mut ended = 0;
    publish(&apis[0], "e2", &json!({"everyone": true}));
    for (name, stream) in &mut streams[0] {
        match stream.next().unwrap_or_else(|| panic!("{name} broke\n{}", logs())) {
            Event { name, data, .. } if name == "end" => {
                assert_eq!(data["code"], "restart");
                ended += 1;
            }
            frame => {
                assert!(events(&frame.data["changed"]).contains("e2"), "{name}: {frame:?}");
            }
        }
    }
    assert!(ended > 0, "those whose recipients are at the other one");
    assert!(leaving.wait().success(), "{}", logs());
    let patience = Patience::new();
    while apis[0].find_metric("tidings_node_parts").is_none_or(|parts| parts < 8) {
        patience.wait(|| format!("the parts do not move\n{}", logs()));
        std::thread::park_timeout(Duration::from_millis(100));
    }
    // They go on at the node that has their recipients now, and nothing was missed.
    let mut again = open(0);
    publish(&apis[0], "e3", &json!({"everyone": true}));
    for (name, stream) in &mut again {
        assert!(stream.until("e3").is_some(), "{name}\n{}", logs());
        assert_eq!(apis[0].inbox_events(name), ["e3", "e2", "e1"], "{name}");
    }
}
