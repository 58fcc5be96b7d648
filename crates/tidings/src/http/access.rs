//! Who may call: whoever has a key, or anybody where the server was started with `--dev`.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::error::{Code, Problem};
use super::service::{Access, Service};

/// What is open to everybody: whether the server is up, and what its errors mean.
fn is_open(path: &str) -> bool {
    matches!(path, "/healthz" | "/readyz") || path.starts_with("/errors/")
}

/// Lets a request pass or answers it.
pub(super) async fn check(
    State(service): State<Arc<Service>>,
    request: Request,
    next: Next,
) -> Response {
    let Access::Keys(keys) = &service.access else {
        return next.run(request).await;
    };
    if is_open(request.uri().path()) {
        return next.run(request).await;
    }
    match key(request.headers()) {
        Some(key) if keys.admit(key, service.now()) => next.run(request).await,
        Some(_) => Problem::new(Code::Unauthorized, "the key is not known").into_response(),
        None => Problem::new(Code::Unauthorized, "the request has no key").into_response(),
    }
}

fn key(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, key) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| key.trim())
}
