//! CORS: which pages may call `/v1/me`, and read its answers. The scripts of `/ui/` are open to every page.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse as _, Response};

use super::{ME, is_mine};

/// The path of what every page may load.
pub(crate) const UI: &str = "/ui/";

const METHODS: HeaderValue =
    HeaderValue::from_static("GET, HEAD, PUT, POST, PATCH, DELETE, OPTIONS");
const HEADERS: HeaderValue =
    HeaderValue::from_static("Authorization, Content-Type, Last-Event-ID, Idempotency-Key");
const EXPOSED: HeaderValue = HeaderValue::from_static("Retry-After, X-Request-Id");
/// Seconds for which a browser remembers a preflight.
const MAX_AGE: HeaderValue = HeaderValue::from_static("600");
const EVERY_ORIGIN: HeaderValue = HeaderValue::from_static("*");
const ORIGIN: HeaderValue = HeaderValue::from_static("Origin");

/// The refused origins that the log names already.
static REFUSED: RefusedOrigins = RefusedOrigins::new();

/// The origins of pages that may not call. Each is new once, so that a page that tries again and again fills no log.
struct RefusedOrigins(Mutex<BTreeSet<String>>);

impl RefusedOrigins {
    /// Bounds on what strangers can make the server remember.
    const ORIGINS_MAX: usize = 100;
    const BYTES_MAX: usize = 300;

    const fn new() -> Self {
        Self(Mutex::new(BTreeSet::new()))
    }

    /// Takes an origin in, and returns true if it is a new one.
    fn is_new(&self, origin: &str) -> bool {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let has_place = known.len() < Self::ORIGINS_MAX && origin.len() <= Self::BYTES_MAX;
        has_place && known.insert(origin.to_owned())
    }
}

/// A call that pages of other origins may make.
struct CrossOriginCall {
    /// The origin that may read the answer; `None` = that of the page may not.
    allowed: Option<HeaderValue>,
    is_preflight: bool,
    /// True if the answer differs by the page's origin.
    varies: bool,
}

impl CrossOriginCall {
    /// The kind of a request for CORS, with these origins allowed; `None` if CORS does not apply.
    fn of(request: &Request, origins: &[String]) -> Option<Self> {
        let path = request.uri().path();
        let origin = request.headers().get(header::ORIGIN);
        let asks = request.headers().contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
        let is_preflight = request.method() == Method::OPTIONS && origin.is_some() && asks;
        if path.starts_with(UI) {
            return Some(Self { allowed: Some(EVERY_ORIGIN), is_preflight, varies: false });
        }
        if !is_mine(path) {
            return None;
        }
        let is_known = |origin: &&HeaderValue| {
            origins.iter().any(|known| known.as_bytes() == origin.as_bytes())
        };
        let allowed = origin.filter(is_known).cloned();
        // A page of the server itself names its origin too, but asks no leave.
        let refused = origin.filter(|_| is_preflight && allowed.is_none());
        let refused = refused.and_then(|origin| origin.to_str().ok());
        if let Some(origin) = refused.filter(|origin| REFUSED.is_new(origin)) {
            tracing::warn!(
                "the origin {origin} is not in `[users] origins`: its pages can't call {ME}"
            );
        }
        Some(Self { allowed, is_preflight, varies: true })
    }

    /// The answer to a preflight, which asks nothing else; `None` if it is none.
    fn preflight(&self) -> Option<Response> {
        if !self.is_preflight {
            return None;
        }
        let mut response = StatusCode::NO_CONTENT.into_response();
        if self.allowed.is_some() {
            let headers = response.headers_mut();
            headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, METHODS);
            headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, HEADERS);
            headers.insert(header::ACCESS_CONTROL_MAX_AGE, MAX_AGE);
        }
        self.mark(response.headers_mut());
        Some(response)
    }

    /// Says in an answer who may read it.
    fn mark(&self, headers: &mut HeaderMap) {
        if let Some(allowed) = &self.allowed {
            headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, allowed.clone());
            headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
        }
        if self.varies && !headers.get_all(header::VARY).iter().any(|of| *of == ORIGIN) {
            headers.append(header::VARY, ORIGIN);
        }
    }
}

/// Answers preflights, and lets pages of these origins read the other answers.
pub(crate) async fn open_to(
    origins: &[String],
    request: Request,
    answer: impl AsyncFnOnce(Request) -> Response,
) -> Response {
    let Some(visit) = CrossOriginCall::of(&request, origins) else {
        return answer(request).await;
    };
    if let Some(response) = visit.preflight() {
        return response;
    }
    let mut response = answer(request).await;
    visit.mark(response.headers_mut());
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_origin_is_told_once_and_their_number_is_bounded() {
        let refused = RefusedOrigins::new();
        assert!(refused.is_new("http://localhost:8080"));
        assert!(!refused.is_new("http://localhost:8080"));
        assert!(!refused.is_new(&"a".repeat(RefusedOrigins::BYTES_MAX + 1)));
        let new = (0..1000).filter(|n| refused.is_new(&format!("http://host-{n}")));
        assert_eq!(new.count(), RefusedOrigins::ORIGINS_MAX - 1);
    }
}
