//! Responses to changes, as they are kept under an `Idempotency-Key` and given again.

use axum::body::Bytes;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use tidings_core::engine::Reply;
use tidings_node::IdempotencyHit;

use super::error::{Code, Problem};

/// A response that can be kept and given again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The status of a success.
    pub status: StatusCode,
    /// JSON; empty for a status without a body.
    pub body: Bytes,
    /// True if it was kept under an `Idempotency-Key` and is given again.
    pub again: bool,
}

impl Answer {
    /// An answer with a body.
    ///
    /// # Errors
    /// [`Code::Internal`] where the value is none of JSON's: a defect.
    pub fn json(status: StatusCode, body: &impl Serialize) -> Result<Self, Problem> {
        match serde_json::to_vec(body) {
            Ok(body) => Ok(Self { status, body: body.into(), again: false }),
            Err(fault) => Err(Problem::new(Code::Internal, fault.to_string())),
        }
    }

    /// The answer 204, which has no body.
    #[must_use]
    pub fn done() -> Self {
        Self { status: StatusCode::NO_CONTENT, body: Bytes::new(), again: false }
    }

    /// The answer 304: nothing is newer than what the caller has.
    pub(super) fn not_modified() -> Self {
        Self { status: StatusCode::NOT_MODIFIED, body: Bytes::new(), again: false }
    }

    /// The status as two bytes, then the body.
    pub(super) fn to_kept(&self) -> Vec<u8> {
        let mut kept = self.status.as_u16().to_be_bytes().to_vec();
        kept.extend_from_slice(&self.body);
        kept
    }

    pub(super) fn of_kept(kept: &[u8]) -> Option<Self> {
        let (status, body) = kept.split_first_chunk()?;
        Some(Self {
            status: StatusCode::from_u16(u16::from_be_bytes(*status)).ok()?,
            body: Bytes::copy_from_slice(body),
            again: true,
        })
    }
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        let mut response = (self.status, self.body).into_response();
        if matches!(self.status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED) {
            response.headers_mut().remove(header::CONTENT_TYPE);
        } else {
            let json = HeaderValue::from_static("application/json");
            response.headers_mut().insert(header::CONTENT_TYPE, json);
        }
        if self.again {
            let yes = HeaderValue::from_static("true");
            response.headers_mut().insert("idempotency-replayed", yes);
        }
        response
    }
}

/// The only answer of a call that gave the node one command.
///
/// # Errors
/// The [`Problem`] of the command.
pub fn only(replies: Vec<Result<Reply, Problem>>) -> Result<Reply, Problem> {
    match replies.into_iter().next() {
        Some(reply) => reply,
        None => Err(Problem::new(Code::Internal, "the node gave no answer")),
    }
}

/// The answer to a request that is done once; `made` gives it if it was done now.
///
/// # Errors
/// The [`Problem`] of `made`, [`Code::IdempotencyKeyReused`], or [`Code::Internal`] where what was kept is no answer.
pub(super) fn answer_of(
    kept: IdempotencyHit,
    made: impl FnOnce() -> Result<Answer, Problem>,
) -> Result<Answer, Problem> {
    match kept {
        IdempotencyHit::Fresh => made(),
        IdempotencyHit::Replayed(kept) => Answer::of_kept(&kept).ok_or_else(not_made),
        IdempotencyHit::Mismatch => Err(Problem::new(
            Code::IdempotencyKeyReused,
            "the key was used with a different method, path or body",
        )),
    }
}

/// The problem of a key under which no answer is.
pub(super) fn not_made() -> Problem {
    Problem::new(Code::Internal, "the key has no stored answer")
}
