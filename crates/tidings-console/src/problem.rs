//! Refusals of calls (RFC 9457), as pages show them.

use std::fmt;

use axum::http::StatusCode;
use serde_json::Value;

/// The refusal of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct CallProblem {
    /// The status of the answer.
    pub status: StatusCode,
    /// The whole problem: `code`, `title`, `detail`, `hint` and what belongs to the code.
    pub body: Value,
}

impl CallProblem {
    /// A problem of the console's own, in the form of the API's.
    #[must_use]
    pub fn new(status: StatusCode, code: &str, detail: impl Into<String>) -> Self {
        let detail = detail.into();
        let body = serde_json::json!({
            "status": status.as_u16(), "code": code, "title": detail, "detail": detail,
        });
        Self { status, body }
    }

    /// One of its texts, or nothing.
    #[must_use]
    pub fn text(&self, name: &str) -> &str {
        self.body[name].as_str().unwrap_or_default()
    }

    /// The code.
    #[must_use]
    pub fn code(&self) -> &str {
        self.text("code")
    }
}

impl fmt::Display for CallProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code(), self.text("detail"))
    }
}

impl std::error::Error for CallProblem {}
