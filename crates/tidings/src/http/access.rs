//! Who may call: whoever has a key, or anybody where the server was started with `--dev`.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::call::CallName;
use super::error::{Code, Problem};
use super::metrics::NO_CALL;
use super::service::{Access, Service};

/// What is open to everybody: whether the server is up, and what its errors mean.
fn is_open(path: &str) -> bool {
    matches!(path, "/healthz" | "/readyz") || path.starts_with("/errors/")
}

/// Lets a request pass or answers it, and counts it either way.
pub(super) async fn check(
    State(service): State<Arc<Service>>,
    request: Request,
    next: Next,
) -> Response {
    let response = match refusal(&service, &request) {
        None => next.run(request).await,
        Some(refusal) => refusal.into_response(),
    };
    let call = response.extensions().get::<CallName>();
    let call = call.map_or(NO_CALL, |call| call.0);
    service.requests.count(call, response.status());
    response
}

fn refusal(service: &Service, request: &Request) -> Option<Problem> {
    let Access::Keys(keys) = &service.access else {
        return None;
    };
    if is_open(request.uri().path()) {
        return None;
    }
    let detail = match key(request.headers()) {
        Some(key) if keys.admit(key, service.now()) => return None,
        Some(_) => "the key is not known",
        None => "the request has no key",
    };
    Some(Problem::new(Code::Unauthorized, detail))
}

fn key(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, key) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| key.trim())
}
