//! Calls over HTTP/1.1.

use std::io::{self, Read};
use std::sync::Arc;
use std::time::Duration;

use tidings_tls::{Proxies, Proxy};
use ureq::Agent;
use ureq::config::Config;
use ureq::http::{HeaderMap, Request, Uri};
use ureq::unversioned::transport::{
    ConnectProxyConnector, ConnectionDetails, Connector, DefaultConnector, Either, RustlsConnector,
    TcpConnector, Transport,
};

use crate::channel::ProviderOpenError;
use crate::channel::http::guard::{GuardedResolver, PRIVATE};
use crate::channel::http::wire::{ANSWER_BYTES_MAX, CallEnd, Wire};
use crate::channel::http::{AllowedHosts, HttpAnswer, HttpRequest};
use crate::channel::patience::ServerTimeouts;

/// Bytes of the buffers of a connection, which it keeps: heads have to fit in.
const BUFFER_BYTES: usize = 64 << 10;

/// A client that keeps connections for a while.
pub(in crate::channel::http) struct Http1 {
    /// The agent of direct calls.
    direct: Agent,
    /// The agents of calls through proxies.
    through: Vec<(Proxy, Agent)>,
    proxies: Proxies,
}

impl Http1 {
    /// Prepares a client, without connecting.
    /// `strangers` = recipients name what it calls.
    ///
    /// # Errors
    /// [`ProviderOpenError::Http`] where the environment names a proxy that is none.
    pub(in crate::channel::http) fn new(
        reach: AllowedHosts,
        patience: ServerTimeouts,
        strangers: bool,
    ) -> Result<Self, ProviderOpenError> {
        let proxies = Proxies::of_environment();
        let proxies = proxies.map_err(|why| ProviderOpenError::Http(io::Error::other(why)))?;
        Ok(Self::by(proxies, reach, patience, strangers))
    }

    /// The same by these proxies.
    pub(in crate::channel::http) fn by(
        proxies: Proxies,
        reach: AllowedHosts,
        patience: ServerTimeouts,
        strangers: bool,
    ) -> Self {
        let agent = |proxy: Option<&Proxy>| Self::agent(proxy, reach, patience, strangers);
        let through = proxies.all().map(|proxy| (proxy.clone(), agent(Some(proxy)))).collect();
        Self { direct: agent(None), through, proxies }
    }

    fn agent(
        proxy: Option<&Proxy>,
        reach: AllowedHosts,
        patience: ServerTimeouts,
        strangers: bool,
    ) -> Agent {
        // What recipients name is looked up here all the same, and the proxy is asked for the address that was found.
        let resolves = reach == AllowedHosts::Public;
        let through = |resolves| proxy.map(|proxy| proxy.resolving(resolves));
        let guard =
            GuardedResolver { reach, proxy: through(resolves).map(|proxy| proxy.uri().clone()) };
        let config = |resolves| Self::config(through(resolves), patience, strangers);
        if proxy.is_some() && resolves {
            let tunnel =
                ProxyTunnel { inner: ConnectProxyConnector::default(), config: config(false) };
            let connector =
                ().chain(tunnel).chain(TcpConnector::default()).chain(RustlsConnector::default());
            return Agent::with_parts(config(true), connector, guard);
        }
        Agent::with_parts(config(false), DefaultConnector::default(), guard)
    }

    fn config(proxy: Option<ureq::Proxy>, patience: ServerTimeouts, strangers: bool) -> Config {
        let limit = |ms: u64| Some(Duration::from_millis(ms));
        Agent::config_builder()
            .timeout_global(limit(patience.stranger_ms).filter(|_| strangers))
            .timeout_resolve(limit(patience.answer_ms))
            .timeout_connect(limit(patience.answer_ms))
            .timeout_send_request(limit(patience.answer_ms))
            .timeout_send_body(limit(patience.begin_ms))
            .timeout_recv_response(limit(patience.delivery_ms))
            .timeout_recv_body(limit(patience.answer_ms))
            .max_redirects(0)
            .input_buffer_size(BUFFER_BYTES)
            .output_buffer_size(BUFFER_BYTES)
            .http_status_as_error(false)
            .proxy(proxy)
            .tls_config(tidings_tls::http_client())
            .user_agent(concat!("tidings/", env!("CARGO_PKG_VERSION")))
            .build()
    }

    /// The agent that calls an address.
    fn agent_of(&self, url: &Uri) -> &Agent {
        let proxy = self.proxies.of(url);
        let through = self.through.iter().find(|(known, _)| Some(known) == proxy);
        through.map_or(&self.direct, |(_, agent)| agent)
    }
}

/// The connection through a proxy to the address of a host, which was resolved here, and not to its name.
#[derive(Debug)]
struct ProxyTunnel {
    inner: ConnectProxyConnector,
    /// The settings of a client whose proxy resolves names.
    config: Config,
}

impl<In: Transport> Connector<In> for ProxyTunnel {
    type Out = Either<In, Box<dyn Transport>>;

    fn connect(
        &self,
        details: &ConnectionDetails<'_>,
        chained: Option<In>,
    ) -> Result<Option<Self::Out>, ureq::Error> {
        // The connection to the proxy itself.
        if details.config.proxy().is_none() {
            return self.inner.connect(details, chained);
        }
        let address = details.addrs.first().ok_or(ureq::Error::HostNotFound)?;
        let scheme = details.uri.scheme_str().unwrap_or("https");
        let uri: Uri = format!("{scheme}://{address}/")
            .parse()
            .map_err(|_| ureq::Error::BadUri("the address of a host".to_owned()))?;
        let by_address = ConnectionDetails {
            uri: &uri,
            addrs: details.addrs.clone(),
            config: &self.config,
            request_level: details.request_level,
            resolver: details.resolver,
            now: details.now,
            timeout: details.timeout,
            current_time: Arc::clone(&details.current_time),
            run_connector: Arc::clone(&details.run_connector),
            register_shutdown: Arc::clone(&details.register_shutdown),
        };
        self.inner.connect(&by_address, chained)
    }
}

impl Wire for Http1 {
    fn call(&self, request: &HttpRequest, go: &dyn Fn() -> bool) -> CallEnd {
        let is_get = request.method == "GET";
        let mut builder = Request::builder().method(request.method).uri(&request.url);
        if !is_get {
            builder = builder.header("content-length", request.body.len());
        }
        for (name, value) in &request.headers {
            builder = builder.header(*name, value);
        }
        let mut body = GatedBody { bytes: &request.body, go, allowed: None };
        let answered = if is_get {
            builder.body(()).map(|built| self.agent_of(built.uri()).run(built))
        } else {
            let built = builder.body(ureq::SendBody::from_reader(&mut body));
            built.map(|built| self.agent_of(built.uri()).run(built))
        };
        let answered = match answered {
            Ok(answered) => answered,
            Err(fault) => return CallEnd::Broken(format!("request: {fault}"), false),
        };
        let has_begun = match body.allowed {
            Some(false) => return CallEnd::Withheld,
            Some(true) => true,
            None => false,
        };
        match answered {
            Ok(mut answer) => {
                let status = answer.status().as_u16();
                let headers: HeaderMap = answer.headers().clone();
                let body = answer.body_mut().with_config().limit(ANSWER_BYTES_MAX as u64);
                // The status says what became of the message, with or without the rest.
                let body = body.read_to_vec().unwrap_or_default();
                CallEnd::Answered(HttpAnswer { status, headers, body })
            }
            Err(ureq::Error::BadUri(why)) if why == PRIVATE => CallEnd::Barred,
            Err(fault) => {
                let stage = if has_begun { "answer" } else { "connect" };
                let is_incomplete = matches!(
                    &fault,
                    ureq::Error::Io(fault) if fault.kind() == io::ErrorKind::BrokenPipe
                );
                let why = format!("{stage}: {}", words_of(&fault));
                CallEnd::Broken(why, has_begun && !is_incomplete)
            }
        }
    }
}

/// The fault of a connection in words without an address.
fn words_of(fault: &ureq::Error) -> String {
    match fault {
        ureq::Error::Timeout(_) => "it took too long".to_owned(),
        ureq::Error::HostNotFound => "the host is not known".to_owned(),
        ureq::Error::Io(fault) => super::words_of(fault),
        ureq::Error::ConnectProxyFailed(why) => format!("the proxy of the environment: {why}"),
        ureq::Error::Rustls(fault) => fault.to_string(),
        ureq::Error::BadUri(_) => "the address is not one".to_owned(),
        _ => "the connection failed".to_owned(),
    }
}

/// A request's body, which asks before its first byte goes.
struct GatedBody<'a> {
    bytes: &'a [u8],
    go: &'a dyn Fn() -> bool,
    allowed: Option<bool>,
}

impl Read for GatedBody<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !*self.allowed.get_or_insert_with(self.go) {
            return Err(io::Error::other("withheld"));
        }
        self.bytes.read(buffer)
    }
}
