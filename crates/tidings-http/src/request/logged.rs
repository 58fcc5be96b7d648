//! Calls whose changes are logged, with the id of their request.

use axum::extract::Request;
use axum::http::HeaderMap;

use super::traces;
use crate::change::origin::{Logged, Requester, with_origin};

/// Answers a call whose changes are logged.
pub(crate) async fn logged<F: Future>(
    what: Logged,
    request: Request,
    answer: impl FnOnce(Request) -> F,
) -> F::Output {
    let requester = request.extensions().get::<Requester>();
    let origin = requester.and_then(|requester| requester.origin(what, request_id(&request)));
    with_origin(origin, answer(request)).await
}

/// The most bytes of the id of a request.
const ID_BYTES_MAX: usize = 64;

/// The id of a request: that of its `X-Request-Id`, or of the trace that it is of.
fn request_id(request: &Request) -> Option<String> {
    let trace =
        || traces::context(request.extensions()).map(|trace| format!("{:032x}", trace.trace_id));
    given_id(request.headers()).map(str::to_owned).or_else(trace)
}

/// The `X-Request-Id`, if it is an id: whatever may be an address or a sentence is not.
fn given_id(headers: &HeaderMap) -> Option<&str> {
    let id = headers.get("x-request-id")?.to_str().ok()?;
    let is_id = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    ((1..=ID_BYTES_MAX).contains(&id.len()) && id.bytes().all(is_id)).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_id_is_letters_digits_and_a_few_signs() {
        let of = |id: &'static str| {
            let headers = [("x-request-id".parse().unwrap(), id.parse().unwrap())];
            given_id(&HeaderMap::from_iter(headers)).map(str::to_owned)
        };
        assert_eq!(of("7f3a-Q_1.b"), Some("7f3a-Q_1.b".to_owned()));
        for other in ["", "ada@example.org", "a b", &"a".repeat(65)] {
            assert_eq!(of(String::leak(other.to_owned())), None, "{other}");
        }
    }
}
