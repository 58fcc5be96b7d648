//! What is taken from a request: parts of the path, the query, the body, the `Idempotency-Key`.
//! Whatever is wrong with them is a problem as any other.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use serde::de::DeserializeOwned;

use super::error::{Code, Problem};
use super::service::Service;
use crate::timeline::{Fields, json};

/// The most bytes of an `Idempotency-Key`.
const KEY_BYTES_MAX: usize = 255;

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
            Err(rejection) => Err(Problem::new(Code::InvalidPath, rejection.body_text())),
        }
    }
}

/// The query, as the fields of `T`.
pub(super) struct InQuery<T>(pub(super) T);

impl<T: DeserializeOwned> FromRequestParts<Arc<Service>> for InQuery<T> {
    type Rejection = Problem;

    async fn from_request_parts(
        parts: &mut Parts,
        service: &Arc<Service>,
    ) -> Result<Self, Problem> {
        match Query::from_request_parts(parts, service).await {
            Ok(Query(value)) => Ok(Self(value)),
            Err(rejection) => Err(Problem::new(Code::InvalidQuery, rejection.body_text())),
        }
    }
}

/// A request that may be sent twice and be done once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Once {
    /// The client's key.
    pub key: String,
}

/// A request that changes something, read as a whole.
#[derive(Debug)]
pub struct Change {
    /// The body; empty where there is none.
    pub body: Bytes,
    /// The `Idempotency-Key`, where there is one.
    pub once: Option<Once>,
}

impl Change {
    /// The fields of a body that is one JSON object.
    ///
    /// # Errors
    /// [`Code::InvalidJson`], [`Code::InvalidBody`].
    pub fn fields(&self) -> Result<Fields<'_>, Problem> {
        Ok(Fields::new(json::object(&self.body)?))
    }
}

impl FromRequest<Arc<Service>> for Change {
    type Rejection = Problem;

    async fn from_request(request: Request, service: &Arc<Service>) -> Result<Self, Problem> {
        let (parts, body) = request.into_parts();
        let once = once(&parts.headers)?;
        let body = whole(&parts.headers, body, service).await?;
        if !body.is_empty() {
            expect_json(&parts.headers)?;
        }
        Ok(Self { body, once })
    }
}

/// The content type without its parameters, in small letters; `None` where none is given.
pub(super) fn content_type(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(header::CONTENT_TYPE)?;
    let text = String::from_utf8_lossy(value.as_bytes());
    let essence = text.split(';').next().unwrap_or_default();
    Some(essence.trim().to_ascii_lowercase())
}

fn expect_json(headers: &HeaderMap) -> Result<(), Problem> {
    match content_type(headers).as_deref() {
        None | Some("application/json") => Ok(()),
        Some(_) => Err(Problem::new(
            Code::UnsupportedMediaType,
            "the content type is not `application/json`",
        )),
    }
}

/// Reads a body to its end, within the server's bounds.
async fn whole(headers: &HeaderMap, body: Body, service: &Service) -> Result<Bytes, Problem> {
    let bound = service.settings.body_bytes_max;
    let too_large = || {
        Problem::new(
            Code::BodyTooLarge,
            format!("the body has more than {bound} bytes"),
        )
    };
    let told = headers.get(header::CONTENT_LENGTH);
    let told = told.and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
    if told.is_some_and(|bytes| bytes > bound) {
        return Err(too_large());
    }
    let read = axum::body::to_bytes(body, bound);
    match tokio::time::timeout(service.settings.body_patience, read).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(_)) if told.is_none() => Err(too_large()),
        Ok(Err(fault)) => Err(Problem::new(Code::InvalidRequest, fault.to_string())),
        Err(_) => Err(Problem::new(
            Code::RequestTimeout,
            format!(
                "the body was not there after {} s",
                service.settings.body_patience.as_secs()
            ),
        )),
    }
}

/// The `Idempotency-Key` of a request.
pub(super) fn once(headers: &HeaderMap) -> Result<Option<Once>, Problem> {
    let Some(value) = headers.get("idempotency-key") else {
        return Ok(None);
    };
    match value.to_str() {
        Ok(key) if (1..=KEY_BYTES_MAX).contains(&key.len()) => Ok(Some(Once {
            key: key.to_owned(),
        })),
        _ => Err(Problem::new(
            Code::InvalidHeader,
            format!("the `Idempotency-Key` is not 1 to {KEY_BYTES_MAX} visible ASCII characters"),
        )),
    }
}
