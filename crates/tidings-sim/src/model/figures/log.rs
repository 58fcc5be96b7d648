//! Things that figures count and that nothing else remembers.

use tidings_core::Instant;
use tidings_core::model::MarkKind;

/// The instants at which an item was first seen and read.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::model) struct FirstMarks {
    pub(super) seen: Option<Instant>,
    pub(super) read: Option<Instant>,
    /// It was seen, or read, when it came to the inbox.
    was_seen: bool,
    was_read: bool,
}

impl FirstMarks {
    /// It comes to an inbox, marked already or not.
    pub(in crate::model) fn begin(&mut self, seen: bool, read: bool) {
        (self.was_seen, self.was_read) = (seen, read);
    }

    /// It is marked; reading is seeing.
    pub(in crate::model) fn note(&mut self, kind: MarkKind, now: Instant) {
        if !self.was_seen {
            self.seen.get_or_insert(now);
        }
        if kind == MarkKind::Read && !self.was_read {
            self.read.get_or_insert(now);
        }
    }
}

/// A closing whose message was suppressed, since all its entries ended.
#[derive(Clone, Debug)]
pub(in crate::model) struct SuppressedMessage {
    pub(in crate::model) at: Instant,
    /// The event of its first entry.
    pub(in crate::model) event: usize,
    pub(in crate::model) channel: String,
}

/// A type that a user does not receive any more on a channel.
#[derive(Clone, Debug)]
pub(super) struct MutedType {
    pub(super) at: Instant,
    pub(super) tenant: Option<usize>,
    pub(super) event_type: String,
    pub(super) channel: String,
}

/// The log of a world.
#[derive(Clone, Debug, Default)]
pub(in crate::model) struct FiguresLog {
    /// The instant of the first step.
    pub(in crate::model) began: Option<Instant>,
    pub(in crate::model) suppressed: Vec<SuppressedMessage>,
    pub(super) muted: Vec<MutedType>,
}
