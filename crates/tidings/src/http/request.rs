//! Parsing of requests: parts of the path, the body, the `Idempotency-Key`. Faults in them are problems
//! like any other.

use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::path::ErrorKind;
use axum::extract::rejection::PathRejection;
use axum::extract::{FromRequest, FromRequestParts, Path, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, Uri, header};
use http_body_util::BodyExt as _;
use ring::digest::{Context, SHA256, digest};
use serde::de::{Deserialize, DeserializeOwned};
use tidings_node::Once;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;

use super::error::{Code, Problem};
use super::service::Service;
use crate::body::Fields;

/// The most bytes of an `Idempotency-Key`.
pub(super) const KEY_BYTES_MAX: usize = 255;

/// A body of up to this many bytes is read without asking for room: connections are bounded too.
const SMALL_BYTES: usize = 16 << 10;

/// The unit of the memory for bodies, in bytes.
pub(super) const ROOM_UNIT: usize = 1 << 10;

/// Parts of the path: `InPath<Id>`, or `InPath<(Id, Id)>` for two.
pub(super) struct InPath<T>(pub(super) T);

impl<T: DeserializeOwned + Send> FromRequestParts<Arc<Service>> for InPath<T> {
    type Rejection = Problem;

    async fn from_request_parts(
        parts: &mut Parts,
        service: &Arc<Service>,
    ) -> Result<Self, Problem> {
        match Path::from_request_parts(parts, service).await {
            Ok(Path(value)) => Ok(Self(value)),
            Err(rejection) => Err(Problem::new(Code::InvalidPath, in_own_words(&rejection))),
        }
    }
}

/// Words the fault of a part of the path.
fn in_own_words(rejection: &PathRejection) -> String {
    let PathRejection::FailedToDeserializePathParams(fault) = rejection else {
        return rejection.body_text();
    };
    match fault.kind() {
        ErrorKind::InvalidUtf8InPathParam { key } => format!("`{key}` is not UTF-8"),
        ErrorKind::DeserializeError { key, message, .. } => format!("`{key}`: {message}"),
        ErrorKind::Message(message) => message.clone(),
        other => other.to_string(),
    }
}

/// A request that makes a change, read as a whole.
#[derive(Debug)]
pub struct Change {
    /// The body; empty where there is none.
    pub body: Bytes,
    /// The identity of the request, if it has an `Idempotency-Key`.
    pub once: Option<Once>,
    /// The body's share of the room that all bodies have together.
    _room: Option<OwnedSemaphorePermit>,
}

impl Change {
    /// Reads a body that is one JSON object.
    ///
    /// # Errors
    /// [`Code::InvalidJson`], [`Code::InvalidBody`].
    pub(crate) fn parse<'b, T: Deserialize<'b>>(&'b self) -> Result<T, Problem> {
        Ok(Fields::parse(&self.body)?.body()?)
    }

    /// Reads the body of a request that has come apart already.
    pub(super) async fn read(
        parts: &Parts,
        body: Body,
        service: &Arc<Service>,
    ) -> Result<Self, Problem> {
        let key = idempotency_key(&parts.headers)?;
        let (body, room) = whole(&parts.headers, body, service).await?;
        if !body.is_empty() {
            expect_json(&parts.headers)?;
        }
        let once = key.map(|key| named(key, &parts.method, &parts.uri, &body));
        Ok(Self {
            body,
            once,
            _room: room,
        })
    }
}

impl FromRequest<Arc<Service>> for Change {
    type Rejection = Problem;

    async fn from_request(request: Request, service: &Arc<Service>) -> Result<Self, Problem> {
        let (parts, body) = request.into_parts();
        Self::read(&parts, body, service).await
    }
}

/// The content type without its parameters, in small letters; `None` where none is given.
///
/// # Errors
/// [`Code::UnsupportedMediaType`] where the body is compressed.
pub(super) fn content_type(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let small = |name| {
        let value = headers.get(name).map(HeaderValue::as_bytes);
        value.map(|value| String::from_utf8_lossy(value).to_ascii_lowercase())
    };
    if small(header::CONTENT_ENCODING).is_some_and(|encoding| encoding.trim() != "identity") {
        let detail = "the body is compressed; send it without a `Content-Encoding`";
        return Err(Problem::new(Code::UnsupportedMediaType, detail));
    }
    let kind = small(header::CONTENT_TYPE);
    Ok(kind.map(|kind| kind.split(';').next().unwrap_or_default().trim().to_owned()))
}

fn expect_json(headers: &HeaderMap) -> Result<(), Problem> {
    match content_type(headers)?.as_deref() {
        None | Some("application/json") => Ok(()),
        Some(_) => Err(Problem::new(
            Code::UnsupportedMediaType,
            "the content type is not `application/json`",
        )),
    }
}

/// Reads a body to its end, within the server's bounds.
async fn whole(
    headers: &HeaderMap,
    body: Body,
    service: &Arc<Service>,
) -> Result<(Bytes, Option<OwnedSemaphorePermit>), Problem> {
    let patience = service.settings.body_patience;
    match timeout(patience, within(headers, body, service)).await {
        Ok(read) => read,
        Err(_) => Err(late(patience)),
    }
}

pub(super) fn late(patience: Duration) -> Problem {
    let seconds = patience.as_secs_f32();
    Problem::new(
        Code::RequestTimeout,
        format!("no data of the body arrived within {seconds} s"),
    )
}

pub(super) fn broken(fault: impl Display) -> Problem {
    Problem::new(
        Code::InvalidRequest,
        format!("the body is incomplete: {fault}"),
    )
}

async fn within(
    headers: &HeaderMap,
    mut body: Body,
    service: &Arc<Service>,
) -> Result<(Bytes, Option<OwnedSemaphorePermit>), Problem> {
    let bound = service.settings.body_bytes_max;
    let told = headers.get(header::CONTENT_LENGTH);
    let told: Option<usize> = told.and_then(|value| value.to_str().ok()?.parse().ok());
    let too_large = || {
        let detail = format!("the body has more than {bound} bytes");
        Problem::new(Code::BodyTooLarge, detail)
    };
    // Who asked before sending it hears the answer in time.
    let asks = headers.contains_key(header::EXPECT);
    if told.is_some_and(|bytes| bytes > bound) {
        if !asks {
            discard(body).await;
        }
        return Err(too_large());
    }
    let mut room = service.room(told.unwrap_or_default(), SMALL_BYTES)?;
    let mut read = Vec::new();
    let mut first = Bytes::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(broken)?.into_data() else {
            continue;
        };
        let bytes = read.len() + first.len() + data.len();
        if bytes > bound {
            discard(body).await;
            return Err(too_large());
        }
        if told.is_none() {
            drop(room.take());
            room = service.room(bytes, SMALL_BYTES)?;
        }
        // Most bodies come in one piece, which needs no copy.
        if read.is_empty() && first.is_empty() {
            first = data;
            continue;
        }
        if read.is_empty() {
            read.extend_from_slice(&std::mem::take(&mut first));
        }
        read.extend_from_slice(&data);
    }
    let body = if read.is_empty() { first } else { read.into() };
    Ok((body, room))
}

/// So much of a body that is too large is read and thrown away.
const DISCARDED_BYTES_MAX: usize = 64 << 20;

/// Reads on for a while: many clients write the whole body before they look for an answer, and would see
/// nothing but a connection that broke.
async fn discard(mut body: Body) {
    let mut bytes = 0;
    while bytes < DISCARDED_BYTES_MAX
        && let Some(Ok(frame)) = body.frame().await
    {
        bytes += frame.data_ref().map_or(0, Bytes::len);
    }
}

/// The `Idempotency-Key` of a request.
pub(super) fn idempotency_key(headers: &HeaderMap) -> Result<Option<&str>, Problem> {
    let Some(value) = headers.get("idempotency-key") else {
        return Ok(None);
    };
    match value.to_str() {
        Ok(key) if (1..=KEY_BYTES_MAX).contains(&key.len()) => Ok(Some(key)),
        _ => Err(Problem::new(
            Code::InvalidHeader,
            format!("the `Idempotency-Key` is not 1 to {KEY_BYTES_MAX} visible ASCII characters"),
        )),
    }
}

fn named(key: &str, method: &Method, uri: &Uri, body: &[u8]) -> Once {
    let half = |hash: &[u8]| {
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&hash[..16]);
        bytes
    };
    let mut request = Context::new(&SHA256);
    for part in [method.as_str(), uri.path(), uri.query().unwrap_or_default()] {
        request.update(part.as_bytes());
        request.update(b"\n");
    }
    request.update(body);
    Once {
        key: half(digest(&SHA256, key.as_bytes()).as_ref()),
        request: half(request.finish().as_ref()),
    }
}
