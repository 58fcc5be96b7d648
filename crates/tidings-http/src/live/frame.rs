//! The text of a stream: server-sent events and comments.

use axum::body::Bytes;
use serde::Serialize;

use crate::live::shown::{Counts, Group};

/// A comment, which keeps the stream alive.
pub(super) const COMMENT: Bytes = Bytes::from_static(b":\n\n");

/// The time within which readers come again after a restart, in milliseconds.
pub(crate) const RETRY_MS_MAX: u64 = 10_000;

/// The data of the first event of a stream.
#[derive(Serialize)]
struct HelloFrame<'a> {
    #[serde(flatten)]
    counts: &'a Counts,
    /// True if the stream does not go on from where the reader was.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    reset: bool,
}

/// The data of a change.
#[derive(Serialize)]
struct InboxFrame<'a> {
    #[serde(flatten)]
    counts: &'a Counts,
    changed: Vec<Group>,
    gone: Vec<String>,
}

/// The reason why the server ends a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StreamEnd {
    /// The token has expired.
    TokenExpired,
    /// The token was taken back.
    TokenRevoked,
    /// The key that signed the token was taken back.
    TokenKey,
    /// The recipient has opened more streams than they may.
    Replaced,
    /// The server stops, or the recipient moves to another one.
    Restart {
        /// The time to wait, in milliseconds.
        retry_ms: u64,
    },
}

#[derive(Serialize)]
struct EndFrame {
    code: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_ms: Option<u64>,
}

/// The first event.
pub(super) fn hello(counts: &Counts, reset: bool) -> Bytes {
    event("hello", None, &HelloFrame { counts, reset })
}

/// A change; `id` is where a reader that has it is.
pub(super) fn inbox(
    counts: &Counts,
    (changed, gone): (Vec<Group>, Vec<String>),
    id: Option<&str>,
) -> Bytes {
    event("inbox", id, &InboxFrame { counts, changed, gone })
}

/// The last event.
pub(crate) fn end(end: StreamEnd) -> Bytes {
    let (code, retry_ms) = match end {
        StreamEnd::TokenExpired => ("token_expired", None),
        StreamEnd::TokenRevoked => ("token_revoked", None),
        StreamEnd::TokenKey => ("token_key", None),
        StreamEnd::Replaced => ("replaced", None),
        StreamEnd::Restart { retry_ms } => ("restart", Some(retry_ms)),
    };
    event("end", None, &EndFrame { code, retry_ms })
}

fn event(name: &str, id: Option<&str>, data: &impl Serialize) -> Bytes {
    let mut text = format!("event: {name}\n").into_bytes();
    if let Some(id) = id {
        text.extend_from_slice(format!("id: {id}\n").as_bytes());
    }
    text.extend_from_slice(b"data: ");
    // JSON on one line, of texts, numbers and lists: it can't fail.
    if let Err(fault) = serde_json::to_writer(&mut text, data) {
        tracing::error!(error = %fault, "a frame is no JSON");
    }
    text.extend_from_slice(b"\n\n");
    text.into()
}

#[cfg(test)]
mod tests {
    use tidings_core::engine::InboxCounts;

    use super::*;

    #[test]
    fn frames_are_events_of_one_line_of_data() {
        let counts = InboxCounts { rev: 7, unseen: 1, unread: 2, ..InboxCounts::default() };
        let counts = Counts::from(counts);
        let text = |frame: Bytes| String::from_utf8(frame.to_vec()).unwrap();
        let expected =
            "event: hello\ndata: {\"rev\":7,\"unseen\":1,\"unread\":2,\"categories\":{}}\n\n";
        assert_eq!(text(hello(&counts, false)), expected);
        assert!(text(hello(&counts, true)).ends_with(",\"reset\":true}\n\n"));
        let change = inbox(&counts, (Vec::new(), vec!["a\nb".to_owned()]), Some("c-7"));
        let expected = "event: inbox\nid: c-7\ndata: {\"rev\":7,\"unseen\":1,\"unread\":2,\"categories\":{},\"changed\":[],\"gone\":[\"a\\nb\"]}\n\n";
        assert_eq!(text(change), expected);
        let restart = text(end(StreamEnd::Restart { retry_ms: 5 }));
        assert_eq!(restart, "event: end\ndata: {\"code\":\"restart\",\"retry_ms\":5}\n\n");
        assert_eq!(text(end(StreamEnd::Replaced)), "event: end\ndata: {\"code\":\"replaced\"}\n\n");
    }
}
