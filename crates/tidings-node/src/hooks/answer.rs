//! A call of a hook, and what its answer means.

use std::collections::BTreeSet;
use std::sync::Arc;

use tidings_core::Instant;
use tidings_core::content::ContentHash;
use tidings_core::model::{BatchKey, SuppressedFor};

use crate::channel::{MessageHead, Outcome, Rendered, hook_channel};

/// The call of a hook about an occurrence with an id.
pub(super) fn call_of(hook: &str, url: &str, id: String, at: Instant, body: String) -> Rendered {
    let head = MessageHead {
        id,
        recipient: None,
        channel: hook_channel(hook),
        lane: String::new(),
        tenant: None,
        key: BatchKey::default(),
        at,
        entries: 1,
        types: BTreeSet::new(),
        destinations: Vec::new(),
        is_redirected: false,
        traces: Vec::new(),
        badge: None,
    };
    Rendered {
        message_id: head.id.clone(),
        head: Arc::new(head),
        from: String::new(),
        return_path: None,
        to: vec![url.to_owned()],
        bytes: body.into_bytes(),
        content: ContentHash::default(),
    }
}

/// The meaning of an answer to a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum HookAnswer {
    /// The host took it, with a status.
    Taken(u16),
    /// The host wants no more.
    Gone(u16),
    /// It is called again, after at least this wait in milliseconds. The status is 0 if the host did not answer.
    Again { status: u16, after_ms: Option<i64>, why: String },
    /// This node may not call now.
    Withheld,
}

impl HookAnswer {
    /// Returns true if the host is up and refuses this occurrence.
    pub(super) fn is_refusal(&self) -> bool {
        let Self::Again { status, .. } = self else {
            return false;
        };
        (300..500).contains(status) && !matches!(status, 408 | 425 | 429)
    }

    pub(crate) fn of(outcome: &Outcome) -> Self {
        let status = |why: &str| {
            let status = why.strip_prefix("reply: ").and_then(|text| text.get(..3));
            status.and_then(|status| status.parse().ok()).unwrap_or(0)
        };
        match outcome {
            Outcome::Withheld => Self::Withheld,
            Outcome::Sent(receipt) => {
                let status = receipt.reference.as_ref().and_then(|text| text.parse().ok());
                Self::Taken(status.unwrap_or(200))
            }
            Outcome::Failed { why, suppress: Some(SuppressedFor::Gone) } => Self::Gone(status(why)),
            Outcome::Retry { why, after_ms } | Outcome::Away { why, after_ms, .. } => {
                Self::Again { status: status(why), after_ms: *after_ms, why: why.clone() }
            }
            Outcome::Failed { why, .. }
            | Outcome::SoftBounce { why, .. }
            | Outcome::Template { why }
            | Outcome::Unknown { why } => {
                Self::Again { status: status(why), after_ms: None, why: why.clone() }
            }
        }
    }
}
