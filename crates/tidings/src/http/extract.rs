//! Extraction of requests as calls take them, within the server's bounds.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::path::ErrorKind;
use axum::extract::rejection::PathRejection;
use axum::extract::{FromRequest, FromRequestParts, Path, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use http_body_util::BodyExt as _;
use serde::de::DeserializeOwned;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::error::{Code, Problem};
use super::request::{Change, InPath, broken, expect_json, idempotency_key, late, named};
use super::service::Service;

/// A body of up to this many bytes is read without asking for room: connections are bounded too.
const SMALL_BYTES: usize = 16 << 10;
/// The unit of the memory for bodies, in bytes.
const ROOM_UNIT: usize = 1 << 10;

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

impl Change {
    /// Reads the body of a request that has come apart already.
    pub(super) async fn read(
        parts: &Parts,
        body: Body,
        service: &Arc<Service>,
    ) -> Result<Self, Problem> {
        let key = idempotency_key(&parts.headers)?;
        let bound = service.settings.body_bytes_max;
        let read = whole(service, &parts.headers, body, (&service.bodies, bound));
        let (body, room) = read.await?;
        if !body.is_empty() {
            expect_json(&parts.headers)?;
        }
        let once = key.map(|key| named(key, &parts.method, &parts.uri, &body));
        Ok(Self::new(body, once, room).preferring(&parts.headers))
    }
}

impl FromRequest<Arc<Service>> for Change {
    type Rejection = Problem;

    async fn from_request(request: Request, service: &Arc<Service>) -> Result<Self, Problem> {
        let (parts, body) = request.into_parts();
        Self::read(&parts, body, service).await
    }
}

/// The memory for bodies of one kind of caller: of those with a key, or of everybody else.
#[derive(Debug)]
pub(super) struct BodyRoom(Arc<Semaphore>);

impl BodyRoom {
    /// Room for this many bytes of all bodies together.
    pub(super) fn of(bytes: usize) -> Self {
        Self(Arc::new(Semaphore::new(bytes / ROOM_UNIT)))
    }

    /// Room for a body of this many bytes; one of up to `free` needs none.
    ///
    /// # Errors
    /// [`Code::TooBusy`] where the bodies that are here take all the room.
    pub(super) fn take(
        &self,
        bytes: usize,
        free: usize,
    ) -> Result<Option<OwnedSemaphorePermit>, Problem> {
        if bytes <= free {
            return Ok(None);
        }
        let units = u32::try_from(bytes.div_ceil(ROOM_UNIT)).unwrap_or(u32::MAX);
        match Arc::clone(&self.0).try_acquire_many_owned(units) {
            Ok(permit) => Ok(Some(permit)),
            Err(_) => Err(Problem::new(
                Code::TooBusy,
                "the bodies of requests in progress use all the memory reserved for them",
            )),
        }
    }
}

/// Reads a body of up to `bound` bytes to its end. It takes its room before its first byte is read.
///
/// # Errors
/// [`Code::TooBusy`], [`Code::BodyTooLarge`], [`Code::RequestTimeout`], or what broke the connection.
pub(super) async fn whole(
    service: &Service,
    headers: &HeaderMap,
    body: Body,
    (room, bound): (&BodyRoom, usize),
) -> Result<(Bytes, Option<OwnedSemaphorePermit>), Problem> {
    let patience = service.settings.body_patience;
    match timeout(patience, within(headers, body, (room, bound))).await {
        Ok(read) => read,
        Err(_) => Err(late(patience)),
    }
}

async fn within(
    headers: &HeaderMap,
    mut body: Body,
    (share, bound): (&BodyRoom, usize),
) -> Result<(Bytes, Option<OwnedSemaphorePermit>), Problem> {
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
    let mut room = share.take(told.unwrap_or_default(), SMALL_BYTES)?;
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
            room = share.take(bytes, SMALL_BYTES)?;
        }
        // Most bodies come in one piece, which needs no copy.
        if read.is_empty() && first.is_empty() {
            first = data;
            continue;
        }
        if read.is_empty() {
            // A vector that grows takes more than its content, and the room is for no more.
            read.reserve_exact(told.unwrap_or_default());
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
