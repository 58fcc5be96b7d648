//! Errors: what the server refused, and what kept a call from being answered.

use std::fmt::{self, Display, Formatter};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::generated::error::{API_VERSION, Error};

/// The answer to a call that failed (RFC 9457).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Problem {
    /// A path of the server that describes the code.
    #[serde(rename = "type", default)]
    pub type_: String,
    /// A short description of the code.
    #[serde(default)]
    pub title: String,
    /// The HTTP status.
    #[serde(default)]
    pub status: u16,
    /// The fault of this request.
    #[serde(default)]
    pub detail: String,
    /// The stable code: use it in programs.
    pub code: String,
    /// A way to fix it.
    #[serde(default)]
    pub hint: String,
    /// The id of the request, by which the server's log names it; `None` in a line of a stream.
    #[serde(skip)]
    pub request_id: Option<String>,
    /// The time after which it may be tried again.
    #[serde(skip)]
    pub retry_after: Option<Duration>,
    /// `X-Tidings-Version` of the answer.
    #[serde(skip)]
    pub server_version: Option<String>,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl Display for Problem {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let detail = if self.detail.is_empty() { &self.title } else { &self.detail };
        write!(f, "{detail} (`{}`, status {}", self.code, self.status)?;
        if let Some(id) = &self.request_id {
            write!(f, ", request {id}")?;
        }
        f.write_str(")")?;
        if !self.hint.is_empty() {
            write!(f, "; {}", self.hint)?;
        }
        // A call that the server lacks, or a field that it does not know.
        if matches!(
            self.code.as_str(),
            "not_found" | "method_not_allowed" | "invalid_body" | "invalid_query"
        ) {
            note_version(f, self.server_version.as_deref())?;
        }
        Ok(())
    }
}

/// Says that the server is of another version, where it is.
fn note_version(f: &mut Formatter<'_>, server: Option<&str>) -> fmt::Result {
    match server {
        Some(server) if server != API_VERSION => {
            write!(
                f,
                "; the server is tidings {server}, and this client was made for {API_VERSION}"
            )
        }
        _ => Ok(()),
    }
}

impl Display for Error {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(problem) = self.problem() {
            return problem.fmt(f);
        }
        match self {
            Self::Connection { detail, request_id } => write!(
                f,
                "no answer: {detail} (request {request_id}); what it asks for may or may not have been done"
            ),
            Self::Timeout { after, request_id } => write!(
                f,
                "no answer within {after:?} (request {request_id}); what it asks for may or may not have been done"
            ),
            Self::Unexpected { status, detail, request_id, server_version } => {
                write!(
                    f,
                    "the answer is none of tidings: {detail} (status {status}, request {request_id})"
                )?;
                note_version(f, server_version.as_deref())
            }
            Self::Invalid { detail } => f.write_str(detail),
            // The others are problems.
            _ => f.write_str("the call failed"),
        }
    }
}

impl std::error::Error for Error {}

impl Error {
    /// The code of the problem, if the server answered one.
    #[must_use]
    pub fn code(&self) -> Option<&str> {
        self.problem().map(|problem| problem.code.as_str())
    }

    /// The status of the answer, if there was one.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Unexpected { status, .. } => Some(*status),
            other => other.problem().map(|problem| problem.status),
        }
    }

    /// The id of the request, by which the server's log names it.
    #[must_use]
    pub fn request_id(&self) -> Option<&str> {
        match self {
            Self::Connection { request_id, .. }
            | Self::Timeout { request_id, .. }
            | Self::Unexpected { request_id, .. } => Some(request_id),
            other => other.problem()?.request_id.as_deref(),
        }
    }

    /// Returns true if the same call may succeed later: this client has tried it again already.
    #[must_use]
    pub fn is_temporary(&self) -> bool {
        match self {
            Self::Connection { .. } | Self::Timeout { .. } => true,
            other => other.status().is_some_and(|status| matches!(status, 429 | 502 | 503 | 504)),
        }
    }

    pub(crate) fn invalid(detail: impl Into<String>) -> Self {
        Self::Invalid { detail: detail.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_code_has_a_variant_and_others_are_kept() {
        let of = |code: &str| Error::from(Problem { code: code.to_owned(), ..Problem::default() });
        assert!(matches!(of("unknown_type"), Error::UnknownType(_)));
        assert!(matches!(of("timed_out"), Error::TimedOut(_)));
        assert!(matches!(of("of_tomorrow"), Error::UnknownCode(_)));
        assert_eq!(of("of_tomorrow").code(), Some("of_tomorrow"));
    }

    #[test]
    fn an_error_says_what_where_and_how_to_mend_it() {
        let problem = Problem {
            status: 404,
            code: "not_found".to_owned(),
            detail: "no call has the path `/v1/new`".to_owned(),
            hint: "look again".to_owned(),
            request_id: Some("r1".to_owned()),
            server_version: Some("0.0.9".to_owned()),
            ..Problem::default()
        };
        let text = Error::from(problem).to_string();
        for part in [
            "`/v1/new`",
            "`not_found`, status 404, request r1",
            "look again",
            "tidings 0.0.9",
            API_VERSION,
        ] {
            assert!(text.contains(part), "{text}");
        }
    }
}
