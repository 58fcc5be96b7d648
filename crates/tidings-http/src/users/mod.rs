//! End users, who call with tokens: where their calls are, and what a request has of them.

pub(super) mod cors;
pub(super) mod preference_rate;

use axum::http::{HeaderMap, header};

use super::error::{Code, Problem};

/// The path under which end users call.
pub(super) const ME: &str = "/v1/me";

/// The path of the twins of these calls, which hosts make.
pub(super) const TWIN: &str = "/v1/recipients/{id}";

/// Returns true if a path is one of end users, whether it has a call or not.
pub(super) fn is_mine(path: &str) -> bool {
    path.strip_prefix(ME).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The token of an end user. Queries and cookies are not looked at.
///
/// # Errors
/// [`Code::TokenMissing`], [`Code::TokenMalformed`].
pub(super) fn bearer(headers: &HeaderMap) -> Result<&str, Problem> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let missing = || Problem::new(Code::TokenMissing, "the request has no `Authorization: Bearer`");
    let value = values.next().ok_or_else(missing)?;
    let bytes = value.as_bytes();
    let scheme = bytes.split(|byte| *byte == b' ').next().unwrap_or_default();
    if !scheme.eq_ignore_ascii_case(b"bearer") {
        return Err(missing());
    }
    if values.next().is_some() {
        return Err(Problem::new(Code::TokenMalformed, "the request has two `Authorization`"));
    }
    let token = str::from_utf8(bytes.get(scheme.len()..).unwrap_or_default()).ok();
    token.map(str::trim).ok_or_else(|| Problem::new(Code::TokenMalformed, "the token is not ASCII"))
}
