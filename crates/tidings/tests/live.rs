//! Streams of inboxes from the real process: over a socket, over HTTP/2, from several nodes, and through their ends.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]

mod serving;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
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

/// Makes a recipient. Nodes that are slow move what they hold meanwhile, so it is asked as often as it takes.
fn make(api: &Api, id: &str) {
    let patience = Patience::new();
    loop {
        match api.put(&format!("/v1/recipients/{id}"), &json!({})) {
            Ok((204, _)) => return,
            Ok((429 | 503, _)) | Err(_) => patience.wait(|| format!("{id} is not made")),
            Ok((status, answer)) => panic!("{status} {answer}"),
        }
        std::thread::park_timeout(Duration::from_millis(50));
    }
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

/// A stream over HTTP/2, whose pieces need not be events: one may have a part of an event, several, or a comment.
struct Http2Stream {
    body: h2::RecvStream,
    /// Text that came and was not returned yet.
    read: String,
}

impl Http2Stream {
    /// Returns the text of the next event. Comments, which come where nothing else does, are passed over.
    async fn next(&mut self) -> String {
        loop {
            while let Some((event, rest)) = self.read.split_once("\n\n") {
                let (event, rest) = (event.to_owned(), rest.to_owned());
                self.read = rest;
                if !event.starts_with(':') {
                    return event;
                }
            }
            let piece = self.body.data().await.unwrap().unwrap();
            self.body.flow_control().release_capacity(piece.len()).unwrap();
            self.read.push_str(std::str::from_utf8(&piece).unwrap());
        }
    }
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
            let mut stream = Http2Stream { body: answer.into_body(), read: String::new() };
            let hello = stream.next().await;
            assert!(hello.starts_with("event: hello\n"), "{hello}");
            streams.push(stream);
        }
        let publishing = tokio::task::spawn_blocking(move || {
            publish(&api, "e1", &json!({"everyone": true}));
        });
        for stream in &mut streams {
            told.push(stream.next().await);
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

/// The status and the headers of an answer, in small letters.
fn head(server: &Server, request: &str) -> (u16, BTreeMap<String, String>, BufReader<TcpStream>) {
    let mut socket = TcpStream::connect(("127.0.0.1", server.port())).unwrap();
    let request = format!("{request}Host: localhost\r\nOrigin: https://app.example.org\r\n\r\n");
    socket.write_all(request.as_bytes()).unwrap();
    let mut lines = BufReader::new(socket);
    let mut line = || {
        let mut line = String::new();
        lines.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    };
    let status = line().split(' ').nth(1).unwrap().parse().unwrap();
    let headers = std::iter::from_fn(|| {
        line().split_once(": ").map(|(name, value)| (name.to_lowercase(), value.to_owned()))
    });
    let headers = headers.collect();
    (status, headers, lines)
}

#[test]
fn i15_a_page_of_an_open_origin_may_read_every_answer_with_its_retry_after_and_request_id() {
    let place = Place::new();
    let users = "[users]\norigins = [\"https://app.example.org\"]\nstreams = 1\n";
    fs::write(&place.config, format!("{users}{CONFIG}")).unwrap();
    let server = place.start("server.log");
    let api = Api::new(&server.url);
    make(&api, "ana");
    let token = Signs::make(&api).token("ana");
    let get = |path: &str, token: &str| {
        head(&server, &format!("GET /v1/me/{path} HTTP/1.1\r\nAuthorization: Bearer {token}\r\n"))
    };
    let is_open = |what: &str, headers: &BTreeMap<String, String>| {
        let header = |name: &str| headers.get(name).map(String::as_str);
        assert_eq!(
            header("access-control-allow-origin"),
            Some("https://app.example.org"),
            "{what}"
        );
        let exposed = header("access-control-expose-headers");
        assert_eq!(exposed, Some("Retry-After, X-Request-Id"), "{what}");
        assert!(header("x-request-id").is_some_and(|id| !id.is_empty()), "{what}");
        assert_eq!(header("access-control-allow-credentials"), None, "{what}");
        assert_eq!(header("vary"), Some("Origin"), "{what}");
    };
    let (status, headers, _stream) = get("live", &token);
    assert_eq!((status, &*headers["content-type"]), (200, "text/event-stream"));
    is_open("a stream", &headers);
    let (status, headers, _) = get("live", &Signs::make(&api).token("ben"));
    assert_eq!(status, 503);
    is_open("one stream too many", &headers);
    assert!(headers["retry-after"].parse::<u32>().is_ok(), "{headers:?}");
    for (path, token, expected) in [
        ("inbox", &*token, 200),
        ("inbox", "x", 401),
        ("none", &token, 404),
        ("inbox?limit=x", &token, 400),
    ] {
        let (status, headers, _) = get(path, token);
        assert_eq!(status, expected, "{path}");
        is_open(path, &headers);
    }
    let preflight = "OPTIONS /v1/me/live HTTP/1.1\r\nAccess-Control-Request-Method: GET\r\n\
                     Access-Control-Request-Headers: authorization,last-event-id\r\n";
    let (status, headers, _) = head(&server, preflight);
    assert_eq!((status, &*headers["access-control-max-age"]), (204, "600"));
    is_open("a preflight", &headers);
}

/// Open streams of as many recipients.
const STREAMS: usize = 1_000;

/// Seconds since 1970.
#[expect(clippy::disallowed_methods, reason = "a token is dated by the clock of its host")]
fn now_s() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.unwrap().as_secs()
}

#[expect(clippy::disallowed_methods, reason = "what is measured is the time that pages wait")]
fn now() -> std::time::Instant {
    std::time::Instant::now()
}

/// A signing key as its host has it, with the number of tokens that were asked for.
struct Signs {
    id: String,
    key: ring::hmac::Key,
}

impl Signs {
    fn make(api: &Api) -> Self {
        let (status, made) = api.post("/v1/admin/signing-keys", &json!({})).unwrap();
        assert_eq!(status, 201, "{made}");
        let secret = made["secret"].as_str().unwrap();
        let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, secret.as_bytes());
        Self { id: made["id"].as_str().unwrap().to_owned(), key }
    }

    fn token(&self, recipient: &str) -> String {
        use base64::Engine as _;
        let part = |bytes: &[u8]| base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(bytes);
        let head = json!({"alg": "HS256", "kid": self.id}).to_string();
        let claims = json!({"sub": recipient, "iat": now_s(), "exp": now_s() + 3_000}).to_string();
        let signed = format!("{}.{}", part(head.as_bytes()), part(claims.as_bytes()));
        let signature = ring::hmac::sign(&self.key, signed.as_bytes());
        format!("{signed}.{}", part(signature.as_ref()))
    }
}

/// A page's stream over a connection of its own.
struct Page {
    lines: tokio::io::Lines<tokio::io::BufReader<tokio::net::TcpStream>>,
    /// The cursor of its newest frame.
    last: Option<String>,
}

impl Page {
    /// Opens a stream; the status of an answer that is none.
    async fn open(port: u16, token: &str, last: Option<String>) -> Result<(Self, Value), u16> {
        use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _};
        let mut socket =
            tokio::net::TcpStream::connect(("127.0.0.1", port)).await.map_err(|_| 0_u16)?;
        let last_id =
            last.as_ref().map_or_else(String::new, |id| format!("Last-Event-ID: {id}\r\n"));
        let request = format!(
            "GET /v1/me/live HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\
             Authorization: Bearer {token}\r\n{last_id}\r\n"
        );
        socket.write_all(request.as_bytes()).await.map_err(|_| 0_u16)?;
        let mut page = Self { lines: tokio::io::BufReader::new(socket).lines(), last };
        let head = page.lines.next_line().await.ok().flatten().ok_or(0_u16)?;
        let status: u16 = head.split(' ').nth(1).unwrap().parse().unwrap();
        if status != 200 {
            return Err(status);
        }
        let (name, hello) = page.next().await.ok_or(0_u16)?;
        assert_eq!(name, "hello");
        Ok((page, hello))
    }

    /// The next event. What frames chunks has no colon, and is passed over with comments.
    async fn next(&mut self) -> Option<(String, Value)> {
        let mut name = String::new();
        loop {
            let line = self.lines.next_line().await.ok()??;
            match line.split_once(": ") {
                Some(("event", text)) => text.clone_into(&mut name),
                Some(("id", text)) => self.last = Some(text.to_owned()),
                Some(("data", text)) if !name.is_empty() => {
                    return Some((name, serde_json::from_str(text).unwrap()));
                }
                _ => {}
            }
        }
    }
}

/// Runs something for every page at once; returns the results and the longest time that one took.
async fn all<T: Send + 'static, F: Future<Output = T> + Send + 'static>(
    each: impl IntoIterator<Item = F>,
) -> (Vec<T>, Duration) {
    let began = now();
    let tasks: Vec<_> = each.into_iter().map(tokio::spawn).collect();
    let mut results = Vec::with_capacity(tasks.len());
    for task in tasks {
        results.push(task.await.unwrap());
    }
    (results, began.elapsed())
}

fn signing(config: &str) -> String {
    format!("[users]\norigins = [\"https://app.example.org\"]\n{config}")
}

#[test]
fn situation_3_of_1_000_open_streams_each_is_back_after_a_rotation_of_the_key_and_a_restart() {
    let place = Place::new();
    fs::write(&place.config, signing(CONFIG)).unwrap();
    let address = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let data = place.dir.path().join("data");
    let server = Server::start_at(&address.to_string(), &place.config, &data);
    let (api, port) = (Api::new(&server.url), address.port());
    let names: Vec<String> = (0..STREAMS).map(|number| format!("r{number}")).collect();
    names.iter().for_each(|name| make(&api, name));
    let tokio = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let tokio = tokio.unwrap();
    let open = |tokens: Vec<String>, lasts: Vec<Option<String>>| {
        let pages = tokens.into_iter().zip(lasts);
        let open = |(token, last): (String, _)| async move { Page::open(port, &token, last).await };
        tokio.block_on(all(pages.map(open)))
    };
    let tokens =
        |key: &Signs| -> Vec<String> { names.iter().map(|name| key.token(name)).collect() };
    let none = || vec![None; STREAMS];
    let old = Signs::make(&api);
    let (pages, opened) = open(tokens(&old), none());
    let mut pages: Vec<Page> = pages.into_iter().map(|page| page.unwrap().0).collect();

    // The key is another one: each stream ends within a second, and its token opens no other.
    let new = Signs::make(&api);
    let revoked = format!("/v1/admin/signing-keys/{}", old.id);
    assert_eq!(api.delete(&revoked).unwrap().0, 204);
    let ends = |pages: Vec<Page>| {
        tokio.block_on(all(pages.into_iter().map(|mut page| async move {
            let end = page.next().await;
            (end, page.last)
        })))
    };
    let (ended, within) = ends(pages);
    let code = |end: &Option<(String, Value)>| end.as_ref().map(|(_, data)| data["code"].clone());
    assert!(ended.iter().all(|(end, _)| code(end) == Some(json!("token_key"))), "{:?}", ended[0]);
    let (refused, _) = open(tokens(&old), none());
    assert!(refused.iter().all(|page| page.as_ref().err() == Some(&401)));
    // Each asks its host once, and is back.
    let (pages_again, back) = open(tokens(&new), ended.into_iter().map(|(_, last)| last).collect());
    pages = pages_again.into_iter().map(|page| page.unwrap().0).collect();
    println!(
        "{STREAMS} streams opened in {opened:?}; revoked: ended in {within:?}, back in {back:?}"
    );
    publish(&api, "e1", &json!({"everyone": true}));
    let (frames, _) = tokio.block_on(all(pages.into_iter().map(|mut page| async move {
        let frame = page.next().await;
        (frame, page)
    })));
    for (frame, _) in &frames {
        let (name, data) = frame.as_ref().unwrap();
        assert!(name == "inbox" && events(&data["changed"]).contains("e1"), "{name} {data}");
    }
    pages = frames.into_iter().map(|(_, page)| page).collect();

    // A stop in order ends them at once, and says to each when to come back.
    server.signal("TERM");
    let (ended, within) = ends(pages);
    assert!(server.wait().success());
    println!("stopped: ended in {within:?}");
    let mut waits = Vec::new();
    for (end, _) in &ended {
        let (name, data) = end.as_ref().unwrap();
        assert_eq!((name.as_str(), &data["code"]), ("end", &json!("restart")));
        waits.push(data["retry_ms"].as_u64().unwrap());
    }
    let mut spread: BTreeMap<u64, usize> = BTreeMap::new();
    waits.iter().for_each(|wait| *spread.entry((*wait).min(9_999) / 1_000).or_default() += 1);
    assert!(waits.iter().all(|wait| *wait <= 10_000), "{spread:?}");
    let is_even = |count: &usize| (STREAMS / 20..=STREAMS / 20 * 3).contains(count);
    assert!(spread.len() == 10 && spread.values().all(is_even), "{spread:?}");
    // They come back when they were told to, and go on where they were: what was published meanwhile is missed by none.
    let server = Server::start_at(&address.to_string(), &place.config, &data);
    let api = Api::new(&server.url);
    publish(&api, "e2", &json!({"everyone": true}));
    let again = ended.into_iter().zip(tokens(&new)).zip(waits).map(|(((_, last), token), wait)| {
        async move {
            tokio::time::sleep(Duration::from_millis(wait)).await;
            let (mut page, hello) = Page::open(port, &token, last).await.unwrap();
            // It goes on with a frame, or says that the page is to be read anew.
            let frame = if hello["reset"] == true { None } else { page.next().await };
            (hello, frame)
        }
    });
    let (back, within) = tokio.block_on(all(again));
    println!("restarted: back in {within:?}, by seconds of their waits {spread:?}");
    for (hello, frame) in &back {
        assert_eq!(hello["unseen"], 2, "{hello}");
        if let Some((name, data)) = frame {
            assert!(name == "inbox" && events(&data["changed"]).contains("e2"), "{name} {data}");
        }
    }
    assert_eq!(api.inbox_events("r7"), ["e2", "e1"]);
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
    while apis[0].find_metric("tidings_node_shards").is_none_or(|parts| parts < 8) {
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
