//! HTTP calls to a running server.

use std::time::Duration;

use axum::http::{StatusCode, Uri};
use ureq::Agent;

use super::{CallAnswer, CallFault, Request};

/// Time limit of a connection.
const CONNECT_PATIENCE: Duration = Duration::from_secs(10);

/// Time limit of an answer; a slice of many rows is durable long before.
const ANSWER_PATIENCE: Duration = Duration::from_secs(120);

/// The largest answer that is read into memory, in bytes.
const ANSWER_BYTES_MAX: u64 = 256 << 20;

/// A server at an address.
pub struct Server {
    url: String,
    key: Option<String>,
    agent: Agent,
}

impl Server {
    /// The server at an address, `http://HOST:PORT` or `https://HOST`. It is not called yet.
    ///
    /// # Errors
    /// [`CallFault::Address`].
    pub fn new(url: &str, key: Option<&str>) -> Result<Self, CallFault> {
        let address = |why: &str| CallFault::Address { url: url.to_owned(), why: why.to_owned() };
        let parsed: Uri = url.parse().map_err(|_| address("it is not an address"))?;
        if !matches!(parsed.scheme_str(), Some("http" | "https")) || parsed.host().is_none() {
            return Err(address("it is not the address of a server"));
        }
        let agent = Agent::config_builder()
            .http_status_as_error(false)
            .timeout_connect(Some(CONNECT_PATIENCE))
            .timeout_recv_response(Some(ANSWER_PATIENCE))
            .tls_config(tidings_tls::http_client())
            .proxy(tidings_tls::Proxies::to(url))
            .user_agent(concat!("tidings/", env!("CARGO_PKG_VERSION")))
            .build();
        Ok(Self {
            url: url.trim_end_matches('/').to_owned(),
            key: key.map(str::to_owned),
            agent: agent.into(),
        })
    }

    /// Its address.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Makes a call and reads the whole answer.
    ///
    /// # Errors
    /// [`CallFault::NoServer`], [`CallFault::NoAnswer`] or [`CallFault::Address`].
    pub fn ask(&mut self, request: &Request) -> Result<CallAnswer, CallFault> {
        let mut response = self.call(request)?;
        let body = response.body_mut().with_config().limit(ANSWER_BYTES_MAX);
        let bytes = body.read_to_vec().map_err(|fault| self.fault(&fault))?;
        Ok(CallAnswer { status: response.status(), bytes })
    }

    /// Makes a call whose answer is read as it comes.
    ///
    /// # Errors
    /// As [`Server::ask`], and [`CallFault::Refused`] where it is none of success.
    pub fn stream(&mut self, request: &Request) -> Result<impl std::io::Read + use<>, CallFault> {
        let response = self.call(request)?;
        if response.status() != StatusCode::OK {
            let status = response.status();
            let body = response.into_body().into_with_config();
            let bytes =
                body.limit(ANSWER_BYTES_MAX).read_to_vec().map_err(|fault| self.fault(&fault))?;
            CallAnswer { status, bytes }.success()?;
            return Err(CallFault::Odd(format!("the status is {status}")));
        }
        Ok(response.into_body().into_reader())
    }

    fn call(&self, request: &Request) -> Result<axum::http::Response<ureq::Body>, CallFault> {
        let mut head = axum::http::Request::builder()
            .method(request.method.clone())
            .uri(format!("{}{}", self.url, request.path));
        if let Some(key) = &self.key {
            head = head.header("authorization", format!("Bearer {key}"));
        }
        let odd = |fault: axum::http::Error| CallFault::Address {
            url: self.url.clone(),
            why: fault.to_string(),
        };
        let answered = match &request.body {
            None => self.agent.run(head.body(()).map_err(odd)?),
            Some((content, body)) => {
                let request = head.header("content-type", *content);
                self.agent.run(request.body(body.as_slice()).map_err(odd)?)
            }
        };
        answered.map_err(|fault| self.fault(&fault))
    }

    fn fault(&self, fault: &ureq::Error) -> CallFault {
        let (url, why) = (self.url.clone(), fault.to_string());
        match fault {
            ureq::Error::ConnectionFailed | ureq::Error::HostNotFound => {
                CallFault::NoServer { url, why }
            }
            ureq::Error::Timeout(ureq::Timeout::Connect | ureq::Timeout::Resolve) => {
                CallFault::NoServer { url, why }
            }
            ureq::Error::Io(fault) if fault.kind() == std::io::ErrorKind::ConnectionRefused => {
                CallFault::NoServer { url, why }
            }
            // What a server says that speaks no TLS is none.
            _ if self.url.starts_with("https:") && why.contains("InvalidContentType") => {
                let plain = self.url.replacen("https:", "http:", 1);
                let why = format!("the server does not speak TLS; is this plain http? Try {plain}");
                CallFault::Address { url, why }
            }
            _ if why.contains("UnknownIssuer") => CallFault::Untrusted { url },
            ureq::Error::BadUri(_) | ureq::Error::Tls(_) => CallFault::Address { url, why },
            _ => CallFault::NoAnswer { url, why },
        }
    }
}
