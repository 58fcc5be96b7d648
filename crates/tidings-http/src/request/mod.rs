//! Parsing of requests: parts of the path, the body, the `Idempotency-Key`. Faults in them are problems
//! like any other.

pub(super) mod array;
pub(super) mod caller;
pub(super) mod catch_up;
pub(super) mod check;
pub(super) mod extract;
pub(super) mod gather;
pub(super) mod lines;
pub(super) mod list;
pub(super) mod logged;
pub(super) mod masked_values;
pub(super) mod query;
pub(super) mod reader;
pub(super) mod roles;
pub(super) mod tenants;
pub(super) mod traces;

use std::fmt::Display;
use std::time::Duration;

use axum::http::{HeaderMap, HeaderValue, Method, Uri, header};
use ring::digest::{Context, SHA256};
use tidings_config::wording::one_of;
use tidings_node::Once;

use super::error::{Code, Problem};

/// The most bytes of an `Idempotency-Key`.
pub(super) const KEY_BYTES_MAX: usize = 255;

/// Parts of the path: `InPath<Id>`, or `InPath<(Id, Id)>` for two.
pub(super) struct InPath<T>(pub(super) T);

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

/// Refuses a body whose content type is given and is none of these.
pub(super) fn expect(headers: &HeaderMap, media: &[&str]) -> Result<(), Problem> {
    match content_type(headers)?.as_deref() {
        Some(kind) if !media.contains(&kind) => {
            let detail = format!("the content type is not {}", one_of(media));
            Err(Problem::new(Code::UnsupportedMediaType, detail))
        }
        _ => Ok(()),
    }
}

pub(super) fn late(patience: Duration) -> Problem {
    let seconds = patience.as_secs_f32();
    Problem::new(Code::RequestTimeout, format!("no data of the body arrived within {seconds} s"))
}

pub(super) fn broken(fault: impl Display) -> Problem {
    Problem::new(Code::InvalidRequest, format!("the body is incomplete: {fault}"))
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

/// The identity of a request with a key. API keys share one space of keys, each end user (`user`) has one of their own,
/// apart from all others.
pub(super) fn named(
    user: Option<&str>,
    key: &str,
    method: &Method,
    uri: &Uri,
    content: [&[u8]; 2],
) -> Once {
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
    content.iter().for_each(|part| request.update(part));
    let mut once = Context::new(&SHA256);
    if let Some(user) = user {
        // No `Idempotency-Key` has a control character.
        once.update(user.as_bytes());
        once.update(b"\n");
    }
    once.update(key.as_bytes());
    Once { key: half(once.finish().as_ref()), request: half(request.finish().as_ref()) }
}
