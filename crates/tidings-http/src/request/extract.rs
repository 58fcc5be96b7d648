//! Extraction of requests as calls take them, within the server's bounds.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::path::ErrorKind;
use axum::extract::rejection::PathRejection;
use axum::extract::{FromRequest, FromRequestParts, Path, Request};
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap, header};
use http_body_util::BodyExt as _;
use serde::de::DeserializeOwned;
use tidings_api::token::Token;
use tokio::time::timeout;

use crate::change::Change;
use crate::change::before::Before;
use crate::error::{Code, Problem};
use crate::request::{InPath, broken, expect, idempotency_key, late, named};
use crate::service::Service;
use crate::shares::bytes::{ByteReservation, ByteRoom};
use crate::shares::caller;

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
    /// Reads the JSON body of a request that has come apart already.
    pub(crate) async fn read(
        parts: &Parts,
        body: Body,
        service: &Arc<Service>,
    ) -> Result<Self, Problem> {
        Self::read_as(parts, body, service, &["application/json"], "").await
    }

    /// The same for a body with a maximum number of bytes.
    pub(crate) async fn read_within(
        parts: &Parts,
        body: Body,
        service: &Arc<Service>,
        bytes_max: usize,
    ) -> Result<Self, Problem> {
        let bound = bytes_max.min(service.settings.body_bytes_max);
        Self::read_bounded(parts, body, service, (&["application/json"], bound), "").await
    }

    /// The same for a body of these content types. `extra` has further parts of the request's identity.
    pub(crate) async fn read_as(
        parts: &Parts,
        body: Body,
        service: &Arc<Service>,
        media: &[&str],
        extra: &str,
    ) -> Result<Self, Problem> {
        let bound = service.settings.body_bytes_max;
        Self::read_bounded(parts, body, service, (media, bound), extra).await
    }

    async fn read_bounded(
        parts: &Parts,
        body: Body,
        service: &Arc<Service>,
        (media, bound): (&[&str], usize),
        extra: &str,
    ) -> Result<Self, Problem> {
        let before = Before::of(&parts.uri)?;
        let key = if before.dry { None } else { idempotency_key(&parts.headers)? };
        let user = parts.extensions.get::<Arc<Token>>();
        let (share, bound) = match user {
            Some(_) => (&service.user_bodies, user_bytes_max(service)),
            None => (&service.bodies, bound),
        };
        let (body, room) = whole(parts, body, share, bound).await?;
        if !body.is_empty() {
            expect(&parts.headers, media)?;
        }
        let user = user_of(&parts.extensions);
        let content = [&body, extra.as_bytes()];
        let once = key.map(|key| named(user.as_deref(), key, &parts.method, &parts.uri, content));
        let change = Self::new(body, once, Some(room)).preferring(&parts.headers);
        Ok(change.asking(before))
    }
}

/// The name of the space of keys that a request of an end user is in; `None` = the host calls. No id of a recipient has a
/// control character, with which tenants of tokens begin: what is done in one view is not done in another.
fn user_of(extensions: &Extensions) -> Option<String> {
    let token = extensions.get::<Arc<Token>>()?;
    let recipient = token.recipient.as_str();
    Some(match token.tenant_no {
        None => recipient.to_owned(),
        Some(tenant) => format!("{recipient}\n{tenant}"),
    })
}

impl FromRequest<Arc<Service>> for Change {
    type Rejection = Problem;

    async fn from_request(request: Request, service: &Arc<Service>) -> Result<Self, Problem> {
        let (parts, body) = request.into_parts();
        Self::read(&parts, body, service).await
    }
}

/// The most bytes of the body of an end user's call.
const USER_BYTES_MAX: usize = 64 << 10;

/// The most bytes of one body of an end user.
pub(crate) fn user_bytes_max(service: &Service) -> usize {
    USER_BYTES_MAX.min(service.settings.body_bytes_max)
}

/// Reads a body of up to `bound` bytes to its end. A body that there is no room for is refused before its first byte is
/// read; it takes room as it arrives, so that an announced body holds none.
///
/// # Errors
/// [`Code::TooBusy`], [`Code::Busy`], [`Code::BodyTooLarge`], [`Code::RequestTimeout`], or what broke the connection.
pub(crate) async fn whole(
    parts: &Parts,
    body: Body,
    share: &ByteRoom,
    bound: usize,
) -> Result<(Bytes, ByteReservation), Problem> {
    let room = share.of(caller());
    let patience = share.patience();
    match timeout(patience, within(&parts.headers, body, room, bound)).await {
        Ok(read) => read,
        Err(_) => Err(late(patience)),
    }
}

async fn within(
    headers: &HeaderMap,
    mut body: Body,
    mut room: ByteReservation,
    bound: usize,
) -> Result<(Bytes, ByteReservation), Problem> {
    let declared: Option<usize> =
        headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
    let too_large = || {
        let detail = format!("the body has more than {bound} bytes");
        Problem::new(Code::BodyTooLarge, detail)
    };
    // A client that asked whether to continue has sent nothing yet, and reads the refusal.
    let asks = headers.contains_key(header::EXPECT);
    if declared.is_some_and(|bytes| bytes > bound) {
        if !asks {
            // Many clients write on before they look for an answer: closing now would cost them the
            // refusal.
            discard(body).await;
        }
        return Err(too_large());
    }
    if let Some(declared) = declared {
        // Is refused before the first byte, if there can be no room for all of it.
        room.expect(declared)?;
    }
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
        // Most bodies come in one piece, which needs no copy.
        let is_first = read.is_empty() && first.is_empty();
        if is_first || bytes > read.capacity() {
            // No more is allocated than there is room for: twice as much each time, up to the end.
            let next = (read.capacity() * 2).min(declared.unwrap_or(bound)).max(bytes);
            room.hold(next)?;
            if is_first {
                first = data;
                continue;
            }
            read.reserve_exact(next - read.len());
        }
        read.extend_from_slice(&std::mem::take(&mut first));
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
