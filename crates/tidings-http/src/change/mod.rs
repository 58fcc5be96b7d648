//! A request that makes a change, with its body and its identity.

pub(crate) mod before;
pub(crate) mod event_ids;
pub(crate) mod origin;

use axum::body::Bytes;
use axum::http::HeaderMap;
use serde::de::Deserialize;
use tidings_api::body::Fields;
use tidings_node::Once;

use self::before::Before;
use crate::error::Problem;
use crate::shares::bytes::ByteReservation;

/// A request that makes a change, read as a whole.
#[derive(Debug)]
pub struct Change {
    /// The body; empty where there is none.
    pub body: Bytes,
    /// The identity of the request, if it has an `Idempotency-Key`.
    pub once: Option<Once>,
    /// False with `Prefer: respond-async` (RFC 7240): the answer does not wait for parts on other nodes.
    pub waits: bool,
    /// The conditions under which the change is made.
    pub(super) before: Before,
    /// The body's share of the room that all bodies have together.
    _room: Option<ByteReservation>,
}

impl Change {
    pub(super) fn new(body: Bytes, once: Option<Once>, room: Option<ByteReservation>) -> Self {
        Self { body, once, waits: true, before: Before::default(), _room: room }
    }

    /// A change without a body that is made once.
    pub(super) fn bare() -> Self {
        Self::new(Bytes::new(), None, None)
    }

    /// A row of a feed, whose answer is not needed whole.
    #[cfg(feature = "postgres")]
    pub(super) fn of_feed(once: Option<Once>) -> Self {
        Self { waits: false, ..Self::new(Bytes::new(), once, None) }
    }

    /// The same, of which this is asked before it is made.
    pub(super) fn asking(self, before: Before) -> Self {
        Self { before, ..self }
    }

    /// The same, as the headers of its request prefer it.
    pub(super) fn preferring(self, headers: &HeaderMap) -> Self {
        let mut preferences = headers
            .get_all("prefer")
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(','));
        let waits = !preferences.any(|one| one.trim().eq_ignore_ascii_case("respond-async"));
        Self { waits, ..self }
    }

    /// Reads a body that is one JSON object.
    ///
    /// # Errors
    /// [`Code::InvalidJson`](crate::Code::InvalidJson), [`Code::InvalidBody`](crate::Code::InvalidBody).
    pub(crate) fn parse<'b, T: Deserialize<'b>>(&'b self) -> Result<T, Problem> {
        Ok(Fields::parse(&self.body)?.body()?)
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderName;

    use super::*;

    #[test]
    fn who_prefers_an_answer_at_once_does_not_wait() {
        let waits = |prefer: &'static str| {
            let headers = HeaderMap::from_iter([(
                HeaderName::from_static("prefer"),
                prefer.parse().unwrap(),
            )]);
            Change::new(Bytes::new(), None, None).preferring(&headers).waits
        };
        assert!(waits("wait=10") && waits("return=minimal, respond-asynchronously"));
        assert!(!waits("respond-async") && !waits("wait=10, Respond-Async"));
    }
}
