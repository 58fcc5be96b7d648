//! Who may call: whoever has a key, or whoever is on this machine where the server was started with
//! `--dev`.

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
        let origin = request.headers().get(header::ORIGIN)?;
        let is_ours = origin.to_str().is_ok_and(is_of_this_machine);
        let detail = "a page of another machine can't call a server that asks for no key";
        return (!is_ours).then(|| Problem::new(Code::Unauthorized, detail));
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

/// Whether a page (the `Origin` of RFC 6454) comes from this machine. A developer's browser sends what any
/// page asks it to, and listening on loopback does not keep that out.
fn is_of_this_machine(origin: &str) -> bool {
    let Some((_, place)) = origin.split_once("://") else {
        return false;
    };
    let host = match place.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => place,
    };
    matches!(host, "localhost" | "127.0.0.1" | "[::1]") || host.ends_with(".localhost")
}

fn key(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, key) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| key.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_this_machine_are_told_from_others() {
        for ours in [
            "http://localhost:3000",
            "http://127.0.0.1",
            "https://[::1]:8990",
            "http://app.localhost:80",
        ] {
            assert!(is_of_this_machine(ours), "{ours}");
        }
        for other in [
            "null",
            "",
            "https://example.org",
            "https://localhost.example.org",
            "http://127.0.0.1.example.org:80",
            "http://[::1].example.org",
        ] {
            assert!(!is_of_this_machine(other), "{other}");
        }
    }
}
