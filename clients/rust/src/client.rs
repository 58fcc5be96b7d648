//! The client: where the server is, who calls, and how patiently.

use std::fmt::{self, Debug, Display, Formatter};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Uri};
use http_body_util::Full;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::{ClientConfig, RootCertStore};

use crate::generated::error::{API_VERSION, Error};
use crate::request::Call;
use crate::token::SigningKey;

/// Time limit of a try.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Time limit of a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Time for which an unused connection is kept: the server closes its own after a minute.
const IDLE: Duration = Duration::from_secs(30);
const RETRIES: u32 = 3;
const FIRST_WAIT: Duration = Duration::from_millis(200);

/// The client of a server. It is cheap to clone: make one, and use it everywhere.
///
/// Calls need a tokio runtime with time and I/O.
#[derive(Clone)]
pub struct Client {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) url: String,
    pub(crate) key: Option<HeaderValue>,
    pub(crate) http: legacy::Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    pub(crate) timeout: Duration,
    pub(crate) retries: u32,
    pub(crate) first_wait: Duration,
    signing_key: Option<SigningKey>,
    compared: AtomicBool,
}

/// The settings of a [`Client`].
#[derive(Clone)]
#[must_use]
pub struct Builder {
    url: String,
    key: Option<String>,
    signing_key: Option<SigningKey>,
    timeout: Duration,
    retries: u32,
    first_wait: Duration,
}

impl Client {
    /// A client with an API key, or with a token for `/v1/me`.
    ///
    /// # Errors
    /// [`Error::Invalid`] where the address is none, or the machine's certificates can't be read.
    pub fn new(url: impl Into<String>, key: impl Into<String>) -> Result<Self, Error> {
        Self::builder(url).key(key).build()
    }

    /// A client of the server at `TIDINGS_URL`, with the key `TIDINGS_KEY` of the environment.
    ///
    /// # Errors
    /// [`Error::Invalid`] where `TIDINGS_URL` is not set or no address, or the machine's certificates can't be read.
    pub fn from_env() -> Result<Self, Error> {
        let variable = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        let url = variable("TIDINGS_URL").ok_or_else(|| {
            Error::invalid(
                "the address of the server is missing: set TIDINGS_URL, or call `Client::new`",
            )
        })?;
        let builder = Self::builder(url);
        let key = variable("TIDINGS_KEY");
        match key {
            Some(key) => builder.key(key).build(),
            None => builder.build(),
        }
    }

    /// The settings of a client of the server at an address, `http://HOST:PORT` or `https://HOST`.
    pub fn builder(url: impl Into<String>) -> Builder {
        Builder {
            url: url.into(),
            key: None,
            signing_key: None,
            timeout: TIMEOUT,
            retries: RETRIES,
            first_wait: FIRST_WAIT,
        }
    }

    /// The address of the server.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.inner.url
    }

    /// Signs a token of a recipient with the client's signing key ([`Builder::signing_key`]); see
    /// [`SigningKey::sign_token`].
    ///
    /// # Errors
    /// [`Error::Invalid`] where there is no signing key, or the recipient or the life is none.
    pub fn sign_token(
        &self,
        recipient: &str,
        ttl: Duration,
        scope: Option<&str>,
    ) -> Result<String, Error> {
        self.signing_key()?.sign_token(recipient, ttl, scope)
    }

    /// The client's signing key, for tokens of a tenant: `client.signing_key()?.for_tenant("acme")`.
    ///
    /// # Errors
    /// [`Error::Invalid`] where there is none.
    pub fn signing_key(&self) -> Result<&SigningKey, Error> {
        self.inner.signing_key.as_ref().ok_or_else(|| {
            Error::invalid("the client has no signing key: set it with Builder::signing_key")
        })
    }

    /// A call of which this client has no method yet: its path begins with a slash, and may have a query.
    pub fn call(&self, method: Method, path: String) -> Call {
        Call::new(self, method, path)
    }

    /// Compares the version of the server with that of this client, once.
    pub(crate) fn compare(&self, headers: &HeaderMap) {
        let Some(server) = version_of(headers) else { return };
        if self.inner.compared.swap(true, Ordering::Relaxed) || major(server) == major(API_VERSION)
        {
            return;
        }
        tracing::warn!(
            server,
            client = API_VERSION,
            "the server of tidings is of another major version than its client"
        );
    }
}

/// The version of the server that says it.
pub(crate) fn version_of(headers: &HeaderMap) -> Option<&str> {
    headers.get("x-tidings-version")?.to_str().ok()
}

fn major(version: &str) -> &str {
    version.split('.').next().unwrap_or_default()
}

impl Builder {
    /// Sets the API key, or a token for `/v1/me`.
    pub fn key(self, key: impl Into<String>) -> Self {
        Self { key: Some(key.into()), ..self }
    }

    /// Sets the signing key with which [`Client::sign_token`] signs.
    pub fn signing_key(self, key: SigningKey) -> Self {
        Self { signing_key: Some(key), ..self }
    }

    /// Sets the time limit of a try, its answer included; 30 s by default. Of a stream it is that of each piece.
    pub fn timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// Sets how often a call is tried again; 3 by default.
    pub fn retries(self, retries: u32) -> Self {
        Self { retries, ..self }
    }

    /// Sets the longest wait before the first retry; 200 ms by default. It doubles with each, up to 5 s.
    pub fn first_wait(self, first_wait: Duration) -> Self {
        Self { first_wait, ..self }
    }

    /// Makes the client. Nothing is called yet.
    ///
    /// # Errors
    /// [`Error::Invalid`] where the address or the key is none, or the machine's certificates can't be read.
    pub fn build(self) -> Result<Client, Error> {
        let url = self.url.trim().trim_end_matches('/').to_owned();
        let parsed: Uri = url.parse().map_err(|fault| {
            Error::invalid(format!("`{url}` is not the address of a server: {fault}"))
        })?;
        let is_tls = match (parsed.scheme_str(), parsed.host(), parsed.query()) {
            (Some("https"), Some(_), None) => true,
            (Some("http"), Some(_), None) => false,
            _ => {
                let detail = format!(
                    "`{url}` is not the address of a server: write http://HOST:PORT or https://HOST"
                );
                return Err(Error::invalid(detail));
            }
        };
        let key = self.key.map(|key| {
            let mut key = HeaderValue::try_from(format!("Bearer {}", key.trim()))
                .map_err(|_| Error::invalid("the key has characters that no key has"))?;
            key.set_sensitive(true);
            Ok::<_, Error>(key)
        });
        let http = legacy::Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE)
            .build(connector(is_tls)?);
        let inner = Inner {
            url,
            key: key.transpose()?,
            http,
            timeout: self.timeout,
            retries: self.retries,
            first_wait: self.first_wait,
            signing_key: self.signing_key,
            compared: AtomicBool::new(false),
        };
        Ok(Client { inner: Arc::new(inner) })
    }
}

fn connector(is_tls: bool) -> Result<HttpsConnector<HttpConnector>, Error> {
    let ring = Arc::new(rustls::crypto::ring::default_provider());
    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    tcp.set_connect_timeout(Some(CONNECT_TIMEOUT));
    let builder = HttpsConnectorBuilder::new();
    let builder = if is_tls {
        builder.with_provider_and_platform_verifier(ring).map_err(|fault| untrusted(&fault))?
    } else {
        // Nothing is trusted, and nothing read: a plain address never becomes one of TLS.
        let nobody = ClientConfig::builder_with_provider(ring)
            .with_safe_default_protocol_versions()
            .map_err(|fault| untrusted(&fault))?
            .with_root_certificates(RootCertStore::empty())
            .with_no_client_auth();
        builder.with_tls_config(nobody)
    };
    Ok(builder.https_or_http().enable_http1().wrap_connector(tcp))
}

fn untrusted(fault: &dyn Display) -> Error {
    Error::invalid(format!("the machine's certificates can't be read: {fault}"))
}

impl Debug for Client {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("url", &self.inner.url).finish_non_exhaustive()
    }
}

impl Debug for Builder {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder").field("url", &self.url).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_checked_and_lose_their_trailing_slash() {
        let url = |url: &str| Client::builder(url).build().map(|client| client.url().to_owned());
        assert_eq!(url("http://127.0.0.1:8990/").unwrap(), "http://127.0.0.1:8990");
        assert_eq!(url("https://example.org/notify//").unwrap(), "https://example.org/notify");
        for bad in ["", "127.0.0.1:8990", "ftp://example.org", "http://", "http://a/?x=1"] {
            assert!(matches!(url(bad), Err(Error::Invalid { .. })), "{bad}");
        }
        assert!(Client::new("http://a", "k\n1").is_err());
    }

    #[test]
    fn a_key_is_not_shown() {
        let client = Client::new("http://127.0.0.1:8990", "tidings_secret").unwrap();
        assert!(!format!("{client:?}").contains("secret"));
        assert!(!format!("{:?}", Client::builder("http://a").key("secret")).contains("secret"));
    }
}
