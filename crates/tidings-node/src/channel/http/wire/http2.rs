//! Calls over HTTP/2, for the one provider that takes no other: many at once over one connection.
//!
//! Threads that send block until their call is over; a thread of the client's own drives the connection.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use h2::client::SendRequest;
use rustls::pki_types::ServerName;
use tidings_tls::{Authorities, Proxies, Proxy};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use ureq::http::{Request, Uri};

use crate::channel::ProviderOpenError;
use crate::channel::http::wire::{ANSWER_BYTES_MAX, CallEnd, Wire};
use crate::channel::http::{HttpAnswer, HttpRequest};
use crate::channel::patience::ServerTimeouts;

/// The content of a frame.
type FrameBytes = std::io::Cursor<Vec<u8>>;

/// A client with one connection.
pub(in crate::channel::http) struct Http2 {
    /// Set until the client is dropped.
    runtime: Option<Runtime>,
    tls: TlsConnector,
    /// The connection, and the place to which it leads.
    open: Mutex<Option<(String, SendRequest<FrameBytes>)>>,
    patience: ServerTimeouts,
    proxies: Proxies,
}

/// A call that failed: the reason, and whether the provider may have the request.
struct ExchangeFault(String, bool);

impl ExchangeFault {
    fn before(stage: &str, why: impl std::fmt::Display) -> Self {
        Self(format!("{stage}: {why}"), false)
    }
}

impl Http2 {
    /// Prepares a client, without connecting.
    ///
    /// # Errors
    /// [`ProviderOpenError::Http`] where its thread can't be started.
    pub(in crate::channel::http) fn new(
        patience: ServerTimeouts,
    ) -> Result<Self, ProviderOpenError> {
        let proxies = Proxies::of_environment();
        let proxies = proxies.map_err(|why| ProviderOpenError::Http(io::Error::other(why)))?;
        Self::by(proxies, patience)
    }

    /// The same by these proxies.
    pub(in crate::channel::http) fn by(
        proxies: Proxies,
        patience: ServerTimeouts,
    ) -> Result<Self, ProviderOpenError> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("tidings-http2")
            .enable_all()
            .build()
            .map_err(ProviderOpenError::Http)?;
        let mut config = tidings_tls::client(Authorities::Machine)
            .map_err(|why| ProviderOpenError::Http(io::Error::other(why)))?;
        config.alpn_protocols = vec![b"h2".to_vec()];
        Ok(Self {
            runtime: Some(runtime),
            tls: TlsConnector::from(Arc::new(config)),
            open: Mutex::default(),
            patience,
            proxies,
        })
    }

    fn open(&self) -> MutexGuard<'_, Option<(String, SendRequest<FrameBytes>)>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A connection that takes a request: the one there is, or a new one.
    async fn ready(&self, uri: &Uri) -> Result<SendRequest<FrameBytes>, ExchangeFault> {
        let place = format!("{:?} {:?}", uri.scheme_str(), uri.authority());
        let open = self.open().clone();
        if let Some((_, sender)) = open.filter(|(open, _)| *open == place)
            && let Ok(ready) = sender.ready().await
        {
            return Ok(ready);
        }
        let sender = self.connect(uri).await?;
        *self.open() = Some((place, sender.clone()));
        sender.ready().await.map_err(|fault| ExchangeFault::before("connect", fault))
    }

    async fn connect(&self, uri: &Uri) -> Result<SendRequest<FrameBytes>, ExchangeFault> {
        let broken = |fault: io::Error| ExchangeFault::before("connect", super::words_of(&fault));
        let host = uri.host().ok_or_else(|| ExchangeFault::before("connect", "no host"))?;
        let is_tls = uri.scheme_str() != Some("http");
        let port = uri.port_u16().unwrap_or(if is_tls { 443 } else { 80 });
        let stream = match self.proxies.of(uri) {
            None => TcpStream::connect((host, port)).await.map_err(broken)?,
            Some(proxy) => tunnel(proxy, host, port).await.map_err(broken)?,
        };
        if !is_tls {
            return self.shake_hands(stream).await;
        }
        let name = ServerName::try_from(host.to_owned())
            .map_err(|_| ExchangeFault::before("connect", "no name of a host"))?;
        let stream = self.tls.connect(name, stream).await.map_err(broken)?;
        self.shake_hands(stream).await
    }

    async fn shake_hands<S>(&self, stream: S) -> Result<SendRequest<FrameBytes>, ExchangeFault>
    where
        S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Send + Unpin + 'static,
    {
        let shaken = h2::client::Builder::new().handshake(stream).await;
        let (sender, connection) =
            shaken.map_err(|fault| ExchangeFault::before("connect", fault))?;
        // The next request on the connection finds out that it has ended.
        tokio::spawn(async move { drop(connection.await) });
        Ok(sender)
    }

    async fn call(
        &self,
        request: &HttpRequest,
        go: &dyn Fn() -> bool,
    ) -> Result<CallEnd, ExchangeFault> {
        let [begin, answer] =
            [self.patience.begin_ms, self.patience.delivery_ms].map(Duration::from_millis);
        let late = |stage: &'static str| move |_| ExchangeFault::before(stage, "it took too long");
        let mut builder = Request::builder().method("POST").uri(&request.url);
        for (name, value) in &request.headers {
            builder = builder.header(*name, value);
        }
        let head = builder
            .header("content-length", request.body.len())
            .body(())
            .map_err(|fault| ExchangeFault::before("request", fault))?;
        let ready = timeout(begin, self.ready(head.uri())).await;
        let mut sender = ready.map_err(late("connect"))??;
        let sent = sender.send_request(head, false);
        let (response, mut stream) =
            sent.map_err(|fault| ExchangeFault::before("request", fault))?;
        if !go() {
            stream.send_reset(h2::Reason::CANCEL);
            return Ok(CallEnd::Withheld);
        }
        let body = FrameBytes::new(request.body.clone());
        let after = |fault: h2::Error| {
            // What was refused so was not looked at (RFC 9113, section 8.7).
            let is_refused = fault.reason() == Some(h2::Reason::REFUSED_STREAM);
            ExchangeFault(format!("answer: {fault}"), !is_refused)
        };
        // A stream that was closed before the body says why in its answer.
        let _ = stream.send_data(body, true);
        let response = timeout(answer, response)
            .await
            .map_err(|_| ExchangeFault("answer: it took too long".to_owned(), true))?;
        let (head, mut content) = response.map_err(after)?.into_parts();
        let mut body = Vec::new();
        // The status says what became of the message, with or without the rest.
        while let Ok(Some(Ok(part))) = timeout(begin, content.data()).await {
            let room = ANSWER_BYTES_MAX.saturating_sub(body.len());
            body.extend_from_slice(&part[..part.len().min(room)]);
            if room == 0 || content.flow_control().release_capacity(part.len()).is_err() {
                break;
            }
        }
        Ok(CallEnd::Answered(HttpAnswer {
            status: head.status.as_u16(),
            headers: head.headers,
            body,
        }))
    }
}

/// The most bytes of a proxy's answer.
const PROXY_ANSWER_BYTES_MAX: usize = 8 << 10;

/// A way to a host through a proxy (RFC 9110, section 9.3.6).
async fn tunnel(proxy: &Proxy, host: &str, port: u16) -> io::Result<TcpStream> {
    let refused = |why: String| io::Error::other(format!("the proxy of the environment: {why}"));
    let (proxy_host, proxy_port) = proxy
        .plain_place()
        .ok_or_else(|| refused("HTTP/2 goes through `http://` proxies alone".to_owned()))?;
    let mut stream = TcpStream::connect((proxy_host, proxy_port)).await?;
    let login = proxy.basic().map(|basic| format!("proxy-authorization: Basic {basic}\r\n"));
    let ask = format!(
        "CONNECT {host}:{port} HTTP/1.1\r\nhost: {host}:{port}\r\n{}\r\n",
        login.unwrap_or_default()
    );
    stream.write_all(ask.as_bytes()).await?;
    let mut answer = Vec::new();
    while !answer.ends_with(b"\r\n\r\n") {
        if answer.len() == PROXY_ANSWER_BYTES_MAX {
            return Err(refused("its answer is too long".to_owned()));
        }
        // What follows the head is the host's.
        answer.push(stream.read_u8().await?);
    }
    let answer = String::from_utf8_lossy(&answer);
    let status = answer.split(' ').nth(1).unwrap_or_default();
    if status.starts_with('2') { Ok(stream) } else { Err(refused(format!("it answered {status}"))) }
}

impl Wire for Http2 {
    fn call(&self, request: &HttpRequest, go: &dyn Fn() -> bool) -> CallEnd {
        let Some(runtime) = &self.runtime else {
            return CallEnd::Broken("the client has ended".to_owned(), false);
        };
        match runtime.block_on(Self::call(self, request, go)) {
            Ok(called) => called,
            Err(ExchangeFault(why, may_have_it)) => {
                // The next call makes a connection of its own.
                self.open().take();
                CallEnd::Broken(why, may_have_it)
            }
        }
    }
}

impl Drop for Http2 {
    /// Ends the thread without waiting for it: a reload of the configuration must not wait.
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
