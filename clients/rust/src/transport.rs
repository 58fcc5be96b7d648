//! One try of a call over HTTP, and the tries of a whole one.

use std::fmt::{Display, Write as _};
use std::time::Duration;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, USER_AGENT};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use crate::client::version_of;
use crate::error::Problem;
use crate::generated::error::Error;
use crate::request::Call;
use crate::retry::{Fault, id};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");
const AGENT: HeaderValue =
    HeaderValue::from_static(concat!("tidings-client-rust/", env!("CARGO_PKG_VERSION")));

/// The characters that stay as they are in paths and queries. A dot does not: `..` would be another path.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'~');

/// The largest body of a refusal that is read, in bytes.
const REFUSAL_BYTES_MAX: usize = 1 << 20;

/// A part of a path.
pub(crate) fn segment(text: &str) -> impl Display + '_ {
    utf8_percent_encode(text, ESCAPED)
}

/// The query of a call.
#[derive(Clone, Debug, Default)]
pub(crate) struct Query(String);

impl Query {
    pub(crate) fn of(name: &str, value: &str) -> Self {
        let mut query = Self::default();
        query.add(name, value);
        query
    }

    pub(crate) fn add(&mut self, name: &str, value: impl Display) {
        let value = value.to_string();
        let begin = if self.0.is_empty() { '?' } else { '&' };
        // Writing into a text can't fail.
        let _ = write!(self.0, "{begin}{name}={}", utf8_percent_encode(&value, ESCAPED));
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        let kept: Vec<&str> = self
            .0
            .trim_start_matches('?')
            .split('&')
            .filter(|pair| !pair.is_empty() && pair.split('=').next() != Some(name))
            .collect();
        let kept = kept.join("&");
        self.0 = if kept.is_empty() { kept } else { format!("?{kept}") };
        self
    }
}

/// The parts of a call that are the same for all tries.
pub(crate) struct Names {
    pub(crate) request_id: String,
    pub(crate) key: Option<String>,
}

impl Names {
    pub(crate) fn of(call: &Call) -> Self {
        let request_id = call.request_id.clone().unwrap_or_else(id);
        let key = call.once.then(|| call.key.clone().unwrap_or_else(id));
        Self { request_id, key }
    }
}

/// An answer whose body is still to come.
pub(crate) struct Opened {
    status: StatusCode,
    body: Incoming,
    pub(crate) request_id: String,
    server_version: Option<String>,
}

/// A whole answer of success.
pub(crate) struct Whole {
    status: StatusCode,
    bytes: Bytes,
    request_id: String,
    server_version: Option<String>,
}

/// Makes a call and reads its whole answer, tried again as the client's settings say.
pub(crate) async fn whole(call: &Call) -> Result<Whole, Error> {
    let (names, mut retry, limit) = (Names::of(call), call.retry(), call.timeout());
    loop {
        let tried = async { Ok::<_, Fault>(open_once(call, &names).await?.whole().await?) };
        let tried = timeout(limit, tried).await;
        match tried.unwrap_or_else(|_| Err(late(limit, &names.request_id).into())) {
            Ok(whole) => return Ok(whole),
            Err(fault) => retry.after(fault).await?,
        }
    }
}

/// Makes a call up to the head of its answer, tried again as the client's settings say.
pub(crate) async fn open(call: &Call) -> Result<Opened, Error> {
    let (names, mut retry) = (Names::of(call), call.retry());
    loop {
        match try_to_open(call, &names).await {
            Ok(opened) => return Ok(opened),
            Err(fault) => retry.after(fault).await?,
        }
    }
}

/// One try of it.
pub(crate) async fn try_to_open(call: &Call, names: &Names) -> Result<Opened, Fault> {
    let limit = call.timeout();
    let tried = timeout(limit, open_once(call, names)).await;
    tried.unwrap_or_else(|_| Err(late(limit, &names.request_id).into()))
}

fn late(after: Duration, request_id: &str) -> Error {
    Error::Timeout { after, request_id: request_id.to_owned() }
}

async fn open_once(call: &Call, names: &Names) -> Result<Opened, Fault> {
    let inner = &call.client.inner;
    let answered = inner.http.request(request_of(call, names)?).await;
    let answer = answered.map_err(|fault| broken(&fault, &names.request_id))?;
    let (head, body) = answer.into_parts();
    call.client.compare(&head.headers);
    let text = |name: &HeaderName| Some(head.headers.get(name)?.to_str().ok()?.to_owned());
    let opened = Opened {
        status: head.status,
        body,
        request_id: text(&REQUEST_ID).unwrap_or_else(|| names.request_id.clone()),
        server_version: version_of(&head.headers).map(str::to_owned),
    };
    if head.status.is_success() || head.status == StatusCode::NOT_MODIFIED {
        return Ok(opened);
    }
    Err(opened.refusal(&head.headers).await)
}

fn request_of(call: &Call, names: &Names) -> Result<http::Request<Full<Bytes>>, Error> {
    let inner = &call.client.inner;
    let uri = format!("{}{}{}", inner.url, call.path, call.query.0);
    let mut request = http::Request::builder().method(call.method.clone()).uri(uri);
    request = request.header(USER_AGENT, AGENT).header(REQUEST_ID, &names.request_id);
    if let Some(key) = &inner.key {
        request = request.header(AUTHORIZATION, key);
    }
    if let Some(key) = &names.key {
        request = request.header(IDEMPOTENCY_KEY, key);
    }
    if let Some(last) = &call.last_event {
        request = request.header(LAST_EVENT, last);
    }
    let body = call.body.clone().map_err(Error::invalid)?;
    if body.is_some() {
        request = request.header(CONTENT_TYPE, call.content_type);
    }
    let request = request.body(Full::new(body.unwrap_or_default()));
    request.map_err(|fault| Error::invalid(format!("the request can't be sent: {fault}")))
}

/// A connection that broke, with all that is said about why.
fn broken(fault: &dyn std::error::Error, request_id: &str) -> Error {
    let mut detail = fault.to_string();
    let mut cause = fault.source();
    while let Some(fault) = cause {
        let said = fault.to_string();
        if !detail.ends_with(&said) {
            detail = format!("{detail}: {said}");
        }
        cause = fault.source();
    }
    Error::Connection { detail, request_id: request_id.to_owned() }
}

/// The seconds of `Retry-After`.
fn wish_of(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers.get("retry-after")?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}

impl Opened {
    /// The next piece of the body; `None` = it is over.
    pub(crate) async fn piece(&mut self, limit: Duration) -> Result<Option<Bytes>, Error> {
        loop {
            let read = timeout(limit, self.body.frame()).await;
            match read.map_err(|_| late(limit, &self.request_id))? {
                None => return Ok(None),
                Some(Err(fault)) => return Err(broken(&fault, &self.request_id)),
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(bytes) if !bytes.is_empty() => return Ok(Some(bytes)),
                    // Trailers say nothing.
                    _ => {}
                },
            }
        }
    }

    async fn whole(self) -> Result<Whole, Error> {
        let Self { status, body, request_id, server_version } = self;
        let bytes = body.collect().await.map_err(|fault| broken(&fault, &request_id))?.to_bytes();
        Ok(Whole { status, bytes, request_id, server_version })
    }

    async fn refusal(self, headers: &HeaderMap) -> Fault {
        let Self { status, body, request_id, server_version } = self;
        let wish = wish_of(headers);
        // A refusal that can't be read is one all the same.
        let body = Limited::new(body, REFUSAL_BYTES_MAX).collect().await;
        let bytes = body.map(|body| body.to_bytes()).unwrap_or_default();
        let error = match serde_json::from_slice::<Problem>(&bytes) {
            Ok(mut problem) => {
                // What a proxy made of it is not what was said.
                problem.status = status.as_u16();
                problem.request_id = Some(request_id);
                problem.retry_after = wish;
                problem.server_version = server_version;
                Error::from(problem)
            }
            Err(_) => Error::Unexpected {
                status: status.as_u16(),
                detail: begin_of(&bytes),
                request_id,
                server_version,
            },
        };
        Fault { error, wish }
    }
}

/// The first words of something that is not what it should be.
fn begin_of(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(200)]);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.is_empty() { "it has no body".to_owned() } else { format!("it begins with `{text}`") }
}

impl Whole {
    fn unexpected(self, detail: String) -> Error {
        let Self { status, request_id, server_version, .. } = self;
        Error::Unexpected { status: status.as_u16(), detail, request_id, server_version }
    }

    fn is_empty(&self) -> bool {
        matches!(self.status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED)
    }

    pub(crate) fn json<T: DeserializeOwned>(self) -> Result<T, Error> {
        serde_json::from_slice(&self.bytes).map_err(|fault| {
            let detail = format!("{fault}; {}", begin_of(&self.bytes));
            self.unexpected(detail)
        })
    }

    pub(crate) fn maybe<T: DeserializeOwned>(self) -> Result<Option<T>, Error> {
        if self.is_empty() { Ok(None) } else { self.json().map(Some) }
    }

    pub(crate) fn nothing(self) -> Result<(), Error> {
        Ok(())
    }

    pub(crate) fn text(self) -> Result<String, Error> {
        String::from_utf8(self.bytes.to_vec()).map_err(|fault| self.unexpected(fault.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_queries_are_escaped() {
        assert_eq!(segment("a/b ü..").to_string(), "a%2Fb%20%C3%BC%2E%2E");
        let mut query = Query::of("cursor", "a+b=");
        query.add("limit", 5);
        assert_eq!(query.0, "?cursor=a%2Bb%3D&limit=5");
        assert_eq!(query.clone().without("cursor").0, "?limit=5");
        assert_eq!(query.without("cursor").without("limit").0, "");
    }
}
