use std::net::SocketAddr;

use axum::Extension;
use axum::body::Bytes;
use axum::routing::get;
use tidings_node::CallerId;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::*;
use crate::shares::answers::counted;
use crate::shares::bytes::{ByteBounds, ByteRoom};

const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nhost: here\r\n\r\n";

/// A server on loopback.
async fn listening(bounds: Bounds) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let router = Router::new().route("/", get(async || "here"));
    tokio::spawn(serve(listener, router, bounds, std::future::pending()));
    address
}

/// The answer to a request on an open connection.
async fn answer(stream: &mut TcpStream) -> String {
    stream.write_all(REQUEST).await.unwrap();
    let mut read = Vec::new();
    while !read.ends_with(b"here") {
        assert_ne!(stream.read_buf(&mut read).await.unwrap(), 0, "it is closed");
    }
    String::from_utf8(read).unwrap()
}

#[tokio::test]
async fn a5_a_first_head_that_does_not_come_is_not_waited_for() {
    let address =
        listening(Bounds { first_head_patience: Duration::from_millis(100), ..Bounds::default() })
            .await;
    let mut kept = TcpStream::connect(address).await.unwrap();
    assert!(answer(&mut kept).await.starts_with("HTTP/1.1 200"));
    // Those that come later are closed after the time that the kept one has outlived by then.
    for begun in [&b""[..], b"GET / HTTP/1.1\r\nhost: he"] {
        let mut silent = TcpStream::connect(address).await.unwrap();
        silent.write_all(begun).await.unwrap();
        let mut read = Vec::new();
        // It ends, whether by a reset or not.
        let _ = silent.read_to_end(&mut read).await;
        assert!(read.is_empty());
    }
    assert!(answer(&mut kept).await.starts_with("HTTP/1.1 200"));
}

#[tokio::test]
async fn b13_a_request_has_exactly_one_host() {
    let address = listening(Bounds::default()).await;
    let status = async |head: &str| {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut read = Vec::new();
        while !read.windows(2).any(|end| end == b"\r\n") {
            assert_ne!(stream.read_buf(&mut read).await.unwrap(), 0, "it is closed");
        }
        String::from_utf8(read[9..12].to_vec()).unwrap()
    };
    for refused in [
        "GET / HTTP/1.1\r\n\r\n",
        "GET http://here/ HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nhost: here\r\nhost: here\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: here\r\nhost: there\r\n\r\n",
        "GET / HTTP/1.0\r\nhost: here\r\nhost: there\r\n\r\n",
        "GET / HTTP/1.1\r\nhost: here, there\r\n\r\n",
        "GET / HTTP/1.1\r\nhost: me@here\r\n\r\n",
        "GET / HTTP/1.1\r\nhost: here/there\r\n\r\n",
    ] {
        assert_eq!(status(refused).await, "400", "{refused}");
    }
    for answered in [
        "GET / HTTP/1.1\r\nhost: here\r\n\r\n",
        "GET / HTTP/1.1\r\nhost: [::1]:8990\r\n\r\n",
        "GET / HTTP/1.1\r\nhost: a_service.local:80\r\n\r\n",
        "GET / HTTP/1.1\r\nhost:\r\n\r\n",
        "GET http://here/ HTTP/1.1\r\nhost: here\r\n\r\n",
        "GET / HTTP/1.0\r\n\r\n",
    ] {
        assert_eq!(status(answered).await, "200", "{answered}");
    }
}

#[tokio::test]
async fn i41_each_answer_has_the_name_of_its_request_and_a_version() {
    let version = format!("\r\nx-tidings-version: {}\r\n", env!("CARGO_PKG_VERSION"));
    for (status, request) in [
        ("200", "GET / HTTP/1.1\r\nhost: here\r\n"),
        ("404", "GET /none HTTP/1.1\r\nhost: here\r\n"),
        ("405", "PUT / HTTP/1.1\r\nhost: here\r\n"),
        ("400", "GET / HTTP/1.1\r\n"),
        ("200", "GET /live HTTP/1.1\r\nhost: here\r\n"),
    ] {
        for named in ["", "X-Request-Id: r-1\r\n", "X-Request-Id: a b\r\n"] {
            // Each has a stream of its own, and with it the piece that is sent.
            let (address, send, _open) = streaming().await;
            send.send("event: hello\n\n").await.unwrap();
            let mut stream = TcpStream::connect(address).await.unwrap();
            stream.write_all(format!("{request}{named}\r\n").as_bytes()).await.unwrap();
            let mut read = Vec::new();
            while !read.windows(4).any(|end| end == b"\r\n\r\n") {
                assert_ne!(stream.read_buf(&mut read).await.unwrap(), 0, "it is closed");
            }
            let read = String::from_utf8(read).unwrap();
            assert_eq!(&read[9..12], status, "{read}");
            assert!(read.contains(&version), "{read}");
            let ids: Vec<&str> =
                read.lines().filter_map(|line| line.strip_prefix("x-request-id: ")).collect();
            assert_eq!(ids.len(), 1, "{read}");
            assert_eq!(ids[0] == "r-1", named.contains("r-1"), "{read}");
            assert!(!ids[0].is_empty() && !ids[0].contains(' '), "{read}");
        }
    }
}

#[tokio::test]
async fn b5_a_request_has_the_address_of_its_peer() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let peer = async |Extension(Peer(peer)): Extension<Peer>| format!("{peer} is here");
    let router = Router::new().route("/", get(peer));
    let forever = std::future::pending();
    tokio::spawn(serve(listener, router, Bounds::default(), forever));
    let mut stream = TcpStream::connect(address).await.unwrap();
    assert!(answer(&mut stream).await.ends_with("127.0.0.1 is here"));
}

#[tokio::test]
async fn a5_a_connection_too_many_is_told_so_and_closed() {
    let address = listening(Bounds { loopback_connections_max: 1, ..Bounds::default() }).await;
    let mut first = TcpStream::connect(address).await.unwrap();
    answer(&mut first).await;
    let mut second = TcpStream::connect(address).await.unwrap();
    let mut read = Vec::new();
    second.read_to_end(&mut read).await.unwrap();
    let read = String::from_utf8(read).unwrap();
    assert!(read.starts_with("HTTP/1.1 503 ") && read.contains("retry-after: 1\r\n"), "{read}");
    assert!(read.contains("\r\nx-request-id: ") && read.ends_with("\r\n\r\n"), "{read}");
    answer(&mut first).await;
}

#[test]
fn a5_one_address_takes_a_share_and_loopback_has_its_own() {
    let bounds = Bounds {
        connections_max: 5,
        peer_connections_max: 2,
        loopback_connections_max: 1,
        ..Bounds::default()
    };
    let open = Arc::default();
    let take = |peer: &str| ConnectionSlot::take(&open, peer.parse().unwrap(), &bounds);
    let first = take("192.0.2.1");
    // The same address, written as IPv6.
    let second = take("::ffff:192.0.2.1");
    assert!(first.is_some() && second.is_some());
    assert!(take("192.0.2.1").is_none());
    // Addresses of one /64 are one peer's.
    let of_net = ["2001:db8::1", "2001:db8::2"].map(take);
    assert!(of_net.iter().all(Option::is_some));
    assert!(take("2001:db8::3").is_none());
    let last = take("2001:db8:0:1::1");
    assert!(last.is_some());
    // All are taken, but not those of this machine.
    assert!(take("192.0.2.9").is_none());
    let here = take("127.0.0.1");
    assert!(here.is_some());
    assert!(take("::1").is_none());
    drop((first, here));
    assert!(take("::1").is_some());
    assert!(take("192.0.2.1").is_some());
    drop((second, of_net, last));
    let left = open.lock().unwrap();
    assert_eq!((left.loopback, left.others, left.peers.len()), (0, 0, 0));
}

/// A server whose stream tells what is sent, and whose other call answers.
async fn streaming() -> (SocketAddr, tokio::sync::mpsc::Sender<&'static str>, Arc<Mutex<usize>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (send, sent) = tokio::sync::mpsc::channel(1);
    let (sent, open) = (Arc::new(tokio::sync::Mutex::new(sent)), Arc::new(Mutex::new(0)));
    let opened = Arc::clone(&open);
    let stream = async move || {
        *opened.lock().unwrap() += 1;
        let closes = Closes(Arc::clone(&opened));
        let pieces = futures_util::stream::unfold((sent, closes), async |(sent, closes)| {
            let piece: &'static str = sent.lock().await.recv().await?;
            Some((Ok::<_, Infallible>(piece), (sent, closes)))
        });
        let head = [(header::CONTENT_TYPE, "text/event-stream"), (header::VARY, "origin")];
        (head, axum::body::Body::from_stream(pieces))
    };
    let router = Router::new().route("/", get(async || "here")).route("/live", get(stream));
    tokio::spawn(serve(listener, router, Bounds::default(), std::future::pending()));
    (address, send, open)
}

struct Closes(Arc<Mutex<usize>>);

impl Drop for Closes {
    fn drop(&mut self) {
        *self.0.lock().unwrap() -= 1;
    }
}

#[tokio::test]
async fn i16_a_stream_is_handed_over_and_ends_with_its_reader() {
    let (address, send, open) = streaming().await;
    let mut socket = TcpStream::connect(address).await.unwrap();
    // It has answered before.
    assert!(answer(&mut socket).await.starts_with("HTTP/1.1 200"));
    socket.write_all(b"GET /live HTTP/1.1\r\nhost: here\r\n\r\n").await.unwrap();
    let mut read = Vec::new();
    let mut until = async |socket: &mut TcpStream, end: &[u8]| {
        while !read.ends_with(end) {
            assert_ne!(socket.read_buf(&mut read).await.unwrap(), 0, "it is closed");
        }
        String::from_utf8(std::mem::take(&mut read)).unwrap()
    };
    send.send("data: 1\n\n").await.unwrap();
    let head = until(&mut socket, b"\r\n9\r\ndata: 1\n\n\r\n").await;
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
    assert!(head.contains("content-type: text/event-stream\r\nvary: origin\r\n"), "{head}");
    assert!(head.contains("transfer-encoding: chunked\r\n\r\n"), "{head}");
    send.send("data: twelve\n\n").await.unwrap();
    assert_eq!(until(&mut socket, b"\n\n\r\n").await, "e\r\ndata: twelve\n\n\r\n");
    assert_eq!(*open.lock().unwrap(), 1);
    drop(socket);
    while *open.lock().unwrap() > 0 {
        tokio::task::yield_now().await;
    }
    // Its end is an end of the answer.
    let mut socket = TcpStream::connect(address).await.unwrap();
    socket.write_all(b"GET /live HTTP/1.1\r\nhost: here\r\n\r\n").await.unwrap();
    send.send("data: 2\n\n").await.unwrap();
    drop(send);
    let mut read = String::new();
    socket.read_to_string(&mut read).await.unwrap();
    assert!(read.ends_with("\r\n\r\n9\r\ndata: 2\n\n\r\n0\r\n\r\n"), "{read}");
}

#[tokio::test]
async fn c6_a_head_has_few_fields_and_few_bytes() {
    let address = listening(Bounds::default()).await;
    let head = |fields: usize, bytes: usize| {
        let fields: String = (1..fields).map(|no| format!("f{no}: {no}\r\n")).collect();
        format!("GET /?{} HTTP/1.1\r\nhost: here\r\n{fields}\r\n", "x".repeat(bytes))
    };
    for (fields, bytes, status) in [(100, 14_000, "200"), (101, 1, "431"), (1, 16_400, "431")] {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(head(fields, bytes).as_bytes()).await.unwrap();
        let mut read = [0; 12];
        stream.read_exact(&mut read).await.unwrap();
        assert_eq!(&read[9..], status.as_bytes(), "{fields} {bytes}");
    }
}

#[test]
fn c6_a_connection_without_a_key_has_few_requests_at_once() {
    let connection = Arc::new(Connection::new(32));
    let mut begun: Vec<_> = (0..32).map(|_| connection.begin().unwrap()).collect();
    assert!(connection.begin().is_none());
    begun.pop();
    begun.push(connection.begin().unwrap());
    assert!(connection.begin().is_none());
    connection.is_known();
    assert!(connection.begin().is_some());
}

/// A server whose answers are counted in this room, and end after a moment in which nobody reads.
async fn counting(room: &ByteRoom) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let room = room.clone();
    let large = move || {
        let answer = vec![b'x'; 5_000_000].into_response();
        std::future::ready(counted(&room, &CallerId::Key("k".into()), false, answer))
    };
    let bounds = Bounds { write_patience: Duration::from_millis(100), ..Bounds::default() };
    let router = Router::new().route("/", get(large));
    tokio::spawn(serve(listener, router, bounds, std::future::pending()));
    address
}

#[tokio::test]
async fn c4_an_answer_that_nobody_reads_is_counted_and_ends() {
    let patience = Duration::ZERO;
    let room = ByteRoom::new(ByteBounds { all_max: 20 << 20, of_one_max: 1, patience });
    let address = counting(&room).await;

    // Of HTTP/2 the stream ends, and the connection goes on.
    let socket = TcpStream::connect(address).await.unwrap();
    let client = h2::client::Builder::new().initial_window_size(0).handshake::<_, Bytes>(socket);
    let (mut client, connection) = client.await.unwrap();
    tokio::spawn(connection);
    for _ in 0..2 {
        let request = || Request::get("http://here/").body(()).unwrap();
        let (answer, _) = client.send_request(request(), true).unwrap();
        let mut answer = answer.await.unwrap().into_body();
        let reset = answer.data().await.unwrap().unwrap_err();
        assert_eq!(reset.reason(), Some(h2::Reason::CANCEL));
    }

    // Of HTTP/1.1 the connection does.
    let mut slow = TcpStream::connect(address).await.unwrap();
    slow.write_all(REQUEST).await.unwrap();
    while room.held() == 0 {
        tokio::task::yield_now().await;
    }
    while room.held() > 0 {
        tokio::task::yield_now().await;
    }
    let mut read = Vec::new();
    let whole = slow.read_to_end(&mut read).await.is_ok() && read.len() > 5_000_000;
    assert!(!whole, "it is cut off");
}

#[tokio::test]
async fn c4_who_reads_gets_the_whole_answer() {
    let patience = Duration::ZERO;
    let room = ByteRoom::new(ByteBounds { all_max: 20 << 20, of_one_max: 1, patience });
    let bounds = Bounds::default();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let of = room.clone();
    let large = move || {
        let answer = vec![b'x'; 5_000_000].into_response();
        std::future::ready(counted(&of, &CallerId::Host, false, answer))
    };
    let router = Router::new().route("/", get(large));
    tokio::spawn(serve(listener, router, bounds, std::future::pending()));
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = b"GET / HTTP/1.1\r\nhost: here\r\nconnection: close\r\n\r\n";
    stream.write_all(request).await.unwrap();
    let mut read = Vec::new();
    stream.read_to_end(&mut read).await.unwrap();
    let head = String::from_utf8_lossy(&read[..200]).to_lowercase();
    assert!(head.contains("content-length: 5000000\r\n"), "{head}");
    assert!(read.ends_with(&[b'x'; 1_000]) && read.len() > 5_000_000);
    while room.held() > 0 {
        tokio::task::yield_now().await;
    }
}
