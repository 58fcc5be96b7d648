//! The socket: a bounded number of connections, and a stop that finishes requests in progress.
//!
//! HTTP/1.1, and HTTP/2 with prior knowledge: a proxy carries many streams over one connection.

mod handed;
mod named;

use std::collections::HashMap;
use std::convert::Infallible;
use std::error::Error;
use std::future::Future;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::http::uri::Authority;
use axum::http::{HeaderValue, StatusCode, Version, header};
use axum::response::IntoResponse as _;
use hyper::body::Incoming;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, mpsc};
use tokio::time::{sleep, timeout};

use self::handed::{ConnectionHandOver, LentSocket};
use self::named::RequestIdentity;
use super::error::{Code, Problem};
use super::shares::Peer;
use super::shares::connection::Connection;
use super::shares::patience::{AnswerWriter, StreamExecutor, WRITE_PATIENCE};

/// The bounds of connections.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Maximum number of open connections from other machines; one more is answered 503 and closed.
    pub connections_max: usize,
    /// Maximum number of open connections from one address of another machine; of IPv6, from one /64.
    pub peer_connections_max: usize,
    /// Number of connections kept for this machine: `tidings status`, or a proxy.
    pub loopback_connections_max: usize,
    /// Time limit of the first head of a connection.
    pub first_head_patience: Duration,
    /// Time limit of every other head, and of an idle connection.
    pub head_patience: Duration,
    /// Time limit of a reader who accepts nothing of an answer.
    pub write_patience: Duration,
    /// Maximum number of bytes of a request's head: of its target, and of the names and values of its fields.
    pub head_bytes_max: usize,
    /// Maximum number of fields of a head.
    pub fields_max: usize,
    /// Maximum number of requests in progress on a connection of HTTP/2.
    pub requests_max: u32,
    /// Maximum number of those without a key or a token, until the connection has shown one.
    pub strangers_requests_max: usize,
    /// Time limit of requests in progress once the server stops.
    pub drain_patience: Duration,
}

impl Bounds {
    /// The same with connections for a number of open streams beside the others.
    #[must_use]
    pub fn with_streams(self, streams: usize) -> Self {
        Self {
            connections_max: self.connections_max.saturating_add(streams),
            loopback_connections_max: self.loopback_connections_max.saturating_add(streams),
            ..self
        }
    }
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            connections_max: 4_096,
            peer_connections_max: 1_024,
            loopback_connections_max: 4_096,
            first_head_patience: Duration::from_secs(10),
            head_patience: Duration::from_secs(60),
            write_patience: WRITE_PATIENCE,
            head_bytes_max: 16 << 10,
            fields_max: 100,
            requests_max: 256,
            strangers_requests_max: 32,
            drain_patience: Duration::from_secs(30),
        }
    }
}

/// The most bytes that a connection of HTTP/1.1 reads ahead.
const READ_BYTES_MAX: usize = 64 << 10;

/// The wait if the system is out of connections: a moment, so that some end.
const OUT_OF_FILES_WAIT: Duration = Duration::from_millis(100);

/// The answer to a connection that there is no room for.
fn no_room() -> String {
    let named = named::lines_of_a_head();
    format!(
        "HTTP/1.1 503 Service Unavailable\r\n{named}retry-after: 1\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
    )
}

/// The open connections.
#[derive(Debug, Default)]
struct OpenConnections {
    loopback: usize,
    others: usize,
    /// Connections of other machines, by address.
    peers: HashMap<IpAddr, usize>,
}

/// The place of one connection, until it is dropped.
struct ConnectionSlot {
    open: Arc<Mutex<OpenConnections>>,
    peer: IpAddr,
}

impl ConnectionSlot {
    /// A place for a connection of an address, unless there is no room for it.
    fn take(open: &Arc<Mutex<OpenConnections>>, peer: IpAddr, bounds: &Bounds) -> Option<Self> {
        let peer = counted_as(peer);
        let mut now = open.lock().unwrap_or_else(PoisonError::into_inner);
        if peer.is_loopback() {
            if now.loopback >= bounds.loopback_connections_max {
                return None;
            }
            now.loopback += 1;
        } else {
            let of_peer = now.peers.get(&peer).copied().unwrap_or_default();
            if now.others >= bounds.connections_max || of_peer >= bounds.peer_connections_max {
                return None;
            }
            now.others += 1;
            now.peers.insert(peer, of_peer + 1);
        }
        drop(now);
        let open = Arc::clone(open);
        Some(Self { open, peer })
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        let mut now = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if self.peer.is_loopback() {
            now.loopback -= 1;
            return;
        }
        now.others -= 1;
        if let Some(of_peer) = now.peers.get_mut(&self.peer) {
            *of_peer -= 1;
            if *of_peer == 0 {
                now.peers.remove(&self.peer);
            }
        }
    }
}

/// The address by which a peer's connections are counted: the owner of an IPv6 address has its whole /64.
fn counted_as(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V6(peer) if !peer.is_loopback() => {
            IpAddr::V6(Ipv6Addr::from_bits(peer.to_bits() & (u128::MAX << 64)))
        }
        peer => peer,
    }
}

/// Serves until `stop`; then accepts no connection, and finishes requests in progress within bounds.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    bounds: Bounds,
    stop: impl Future<Output = ()>,
) {
    let graceful = GracefulShutdown::new();
    let builder = builder(&bounds);
    let (streaming, mut streams) = mpsc::channel::<Infallible>(1);
    let open = Arc::default();
    let mut stop = std::pin::pin!(stop);
    loop {
        let (stream, place) = tokio::select! {
            accepted = accept(&listener, &open, &bounds) => accepted,
            () = &mut stop => break,
        };
        let (began, peer) = (Arc::new(Notify::new()), Peer(place.peer));
        let address = stream.peer_addr().map_or(place.peer, |address| address.ip());
        let address = tidings_console::PeerAddress(address);
        let hand = Arc::new(ConnectionHandOver::default());
        let connection = Arc::new(Connection::new(bounds.strangers_requests_max));
        let service = {
            let (router, began) = (TowerToHyperService::new(router.clone()), Arc::clone(&began));
            let hand = Arc::clone(&hand);
            service_fn(move |mut request: Request<Incoming>| {
                // From here on the connection has begun: only its first head has a patience of its own.
                began.notify_one();
                request.extensions_mut().insert(peer);
                request.extensions_mut().insert(address);
                request.extensions_mut().insert(Arc::clone(&connection));
                name_host(&mut request);
                let (router, hand) = (router.clone(), Arc::clone(&hand));
                async move {
                    let is_too_large = is_too_large(&request, &bounds);
                    let named = RequestIdentity::of(request.headers_mut());
                    if is_too_large {
                        drop(request);
                        let refused = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
                        let refused = async { Ok(refused.into_response()) };
                        return named.answer::<Infallible>(refused).await;
                    }
                    if let Some(why) = unclear_host(&request) {
                        let refused =
                            async { Ok(Problem::new(Code::InvalidRequest, why).into_response()) };
                        return named.answer::<Infallible>(refused).await;
                    }
                    let may_be_handed = handed::may_be(&request);
                    let answer = named.answer(router.call(request)).await?;
                    match if may_be_handed { hand.take_over(answer) } else { Some(answer) } {
                        Some(answer) => Ok(answer),
                        // The connection is dropped.
                        None => std::future::pending().await,
                    }
                }
            })
        };
        let io = TokioIo::new(LentSocket::new(stream, &hand));
        let connection = graceful.watch(builder.serve_connection(io, service).into_owned());
        let (patience, streaming) = (bounds.first_head_patience, streaming.clone());
        tokio::spawn(async move {
            let served = serve_connection(connection, (&began, patience), &hand);
            // The reader of an answer of HTTP/1.1 accepts nothing more; those of HTTP/2 are given up one by one.
            let is_handed =
                AnswerWriter::run(bounds.write_patience, served).await.unwrap_or_default();
            // A task of its own: this one has the size of a connection.
            if is_handed {
                tokio::spawn(async move {
                    hand.write().await;
                    drop((place, streaming));
                });
            }
        });
    }
    drop(listener);
    // The loop's own sender must go, or the channel would never close.
    drop(streaming);
    let ended = async {
        graceful.shutdown().await;
        // Nothing is sent: the last stream that ends closes it.
        streams.recv().await;
    };
    if timeout(bounds.drain_patience, ended).await.is_err() {
        let seconds = bounds.drain_patience.as_secs();
        tracing::warn!(seconds, "requests still in progress were cut off");
    }
}

/// Serves a connection to its end, or until a stream of events is all that it is for. Returns true in the latter case.
async fn serve_connection(
    connection: impl Future<Output = Result<(), Box<dyn Error + Send + Sync>>>,
    (began, first_head_patience): (&Notify, Duration),
    hand: &ConnectionHandOver,
) -> bool {
    let mut connection = std::pin::pin!(connection);
    let ended = tokio::select! {
        ended = &mut connection => Some(ended),
        () = began.notified() => None,
        () = sleep(first_head_patience) => Some(Ok(())),
    };
    let ended = match ended {
        Some(ended) => ended,
        None => tokio::select! {
            ended = connection => ended,
            () = hand.wanted() => return true,
        },
    };
    // A connection that breaks is the client's matter.
    if let Err(fault) = ended {
        tracing::debug!(error = %fault, "a connection broke");
    }
    false
}

/// The protocols, within the bounds.
fn builder(bounds: &Bounds) -> auto::Builder<StreamExecutor> {
    let mut builder = auto::Builder::new(StreamExecutor { patience: bounds.write_patience });
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(bounds.head_patience)
        .max_headers(bounds.fields_max)
        .max_buf_size(READ_BYTES_MAX);
    let head_bytes_max = u32::try_from(bounds.head_bytes_max).unwrap_or(u32::MAX);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(bounds.requests_max)
        .max_header_list_size(head_bytes_max)
        // A peer that is gone without a word is found out.
        .keep_alive_interval(bounds.head_patience)
        .keep_alive_timeout(bounds.first_head_patience);
    builder
}

/// Returns true if the head of a request is larger than it may be.
fn is_too_large(request: &Request<Incoming>, bounds: &Bounds) -> bool {
    let (fields, target) = (request.headers(), request.uri());
    let target = target.path().len() + target.query().map_or(0, str::len);
    let bytes = fields.iter().map(|(name, value)| name.as_str().len() + value.len()).sum::<usize>();
    fields.len() > bounds.fields_max || target + bytes > bounds.head_bytes_max
}

/// Gives a request of HTTP/2 a `Host` header, from its authority.
fn name_host(request: &mut Request<Incoming>) {
    if request.version() != Version::HTTP_2 || request.headers().contains_key(header::HOST) {
        return;
    }
    let host = request.uri().authority().and_then(|host| HeaderValue::try_from(host.as_str()).ok());
    if let Some(host) = host {
        request.headers_mut().insert(header::HOST, host);
    }
}

/// The reason why the host of a request is ambiguous (RFC 9112, section 3.2). A proxy in front of the server may have
/// read another one.
fn unclear_host(request: &Request<Incoming>) -> Option<&'static str> {
    let mut hosts = request.headers().get_all(header::HOST).iter();
    match (hosts.next(), hosts.next()) {
        (Some(_), Some(_)) => Some("the request has several `Host` headers"),
        (Some(host), None) => {
            let is_host = host.is_empty() || is_host(host);
            (!is_host).then_some("the `Host` of the request is no host")
        }
        (None, _) if request.version() == Version::HTTP_11 => {
            Some("the request has no `Host` header, which HTTP/1.1 requires")
        }
        (None, _) => None,
    }
}

fn is_host(value: &HeaderValue) -> bool {
    let host = Authority::try_from(value.as_bytes());
    host.is_ok_and(|host| !host.as_str().contains('@'))
}

/// The next connection that there is a place for. Others are closed, so that they don't take places of other callers.
async fn accept(
    listener: &TcpListener,
    open: &Arc<Mutex<OpenConnections>>,
    bounds: &Bounds,
) -> (TcpStream, ConnectionSlot) {
    loop {
        let (stream, peer) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(fault) => {
                tracing::warn!(error = %fault, "accepting a connection failed");
                sleep(OUT_OF_FILES_WAIT).await;
                continue;
            }
        };
        let Some(place) = ConnectionSlot::take(open, peer.ip(), bounds) else {
            tracing::debug!("a connection was refused: too many are open");
            // The buffer of a new connection is empty: this is all written, or the client is gone.
            let _ = stream.try_write(no_room().as_bytes());
            continue;
        };
        // Answers are whole: there is nothing to wait for.
        if let Err(fault) = stream.set_nodelay(true) {
            tracing::debug!(error = %fault, "a connection broke");
        }
        return (stream, place);
    }
}

#[cfg(test)]
mod tests;
