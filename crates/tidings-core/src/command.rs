//! What can be asked of the engine: plain data that can be logged and replayed.

use serde::{Deserialize, Serialize};

use crate::event::{Event, Object};
use crate::id::Id;
use crate::recipient::{Mode, PreferenceScope, RecipientChange};
use crate::time::{Day, Instant};

/// A command with the instant at which it takes effect.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Timed {
    /// When.
    pub at: Instant,
    /// What.
    pub command: Command,
}

/// One change that the outside asks for (contract, section 3).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Command {
    /// Make or change a recipient.
    Recipient(Box<RecipientChange>),
    /// Erase a recipient: what waits ends as cancelled(recipient_gone) at its time.
    Erase {
        /// Who.
        recipient: Id,
    },
    /// Follow a topic and everything below it.
    Subscribe {
        /// Who.
        recipient: Id,
        /// What.
        topic: Id,
    },
    /// Unfollow; takes nothing back.
    Unsubscribe {
        /// Who.
        recipient: Id,
        /// What.
        topic: Id,
    },
    /// Say what happened.
    Publish(Box<Event>),
    /// Make or change an object; lifts a retraction.
    Object(Object),
    /// Take an object back: it is skipped from now on.
    Retract {
        /// Which.
        object: Id,
    },
    /// Tell what a recipient has seen or read; reading is seeing.
    Mark {
        /// Who.
        recipient: Id,
        /// What.
        what: Marked,
        /// Seen, or read as well.
        kind: MarkKind,
    },
    /// Take an event back where it still waits.
    Cancel(Cancelled),
    /// Choose never, immediate, a digest, or the default.
    Preference {
        /// Who.
        recipient: Id,
        /// A type or a category.
        scope: PreferenceScope,
        /// On which channel.
        channel: String,
        /// What.
        mode: Mode,
    },
    /// The open lanes are due now (the inbox apart).
    Flush {
        /// Whose.
        recipient: Id,
        /// Only on this channel.
        channel: Option<String>,
        /// Only the lane of this name.
        lane: Option<String>,
    },
    /// Choose several things at once, all of them or, where one is refused, none.
    Preferences {
        /// Who.
        recipient: Id,
        /// What is chosen; where two speak of the same, the later counts.
        chosen: Vec<Choice>,
        /// Whether this is all: what is not in the list goes back to the default, or stays as it is.
        whole: bool,
    },
    /// Let nothing of this close or leave; what comes waits.
    Pause(Pausable),
    /// Let it go on: what is due goes out at once.
    Resume(Pausable),
    /// Drop every day before this one.
    Forget {
        /// The first day that stays.
        before: Day,
    },
}

/// One choice among a recipient's preferences.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// A type or a category.
    pub scope: PreferenceScope,
    /// On which channel.
    pub channel: String,
    /// What.
    pub mode: Mode,
}

/// What can be paused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Pausable {
    /// The entries of a type, on all channels.
    Type(Id),
    /// A channel.
    Channel(String),
}

/// What a mark speaks of; it covers what had entered its lane by then, never what enters later.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Marked {
    /// Entries with `t` at or before this instant, of types that have an inbox.
    UpTo(Instant),
    /// All entries about this object.
    Object(Id),
    /// The entries of this event.
    Event(Id),
}

/// Whether a mark says seen or read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum MarkKind {
    /// Was shown.
    Seen,
    /// Was opened; implies seen.
    Read,
}

/// What is taken back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Cancelled {
    /// One event.
    Event(Id),
    /// All that were published with this key so far.
    Key(Id),
}
