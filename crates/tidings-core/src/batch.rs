//! What a message is rendered from: plain data, so that templates are pure functions of it.

use std::sync::Arc;

use crate::event::Object;
use crate::id::Id;
use crate::recipient::Recipient;
use crate::time::Instant;

/// Everything that one message on one channel tells one recipient.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    /// Derived from recipient, channel, lane, closing instant and first entry: 32 lower-case hex
    /// digits. The idempotency key and the e-mail's Message-ID.
    pub id: String,
    /// Who is told.
    pub recipient: Recipient,
    /// The recipient's effective IANA zone.
    pub tz: String,
    /// The recipient's effective locale.
    pub locale: String,
    /// On which channel.
    pub channel: String,
    /// The lane's name.
    pub lane: String,
    /// The instant of the closing.
    pub at: Instant,
    /// How many entries it tells.
    pub entries: usize,
    /// What is told, grouped, in the order of their newest line, newest first.
    pub groups: Vec<Group>,
    /// The topics among the reasons of its lines that have a title: that of the object with the
    /// topic's id. Sorted by id.
    pub topics: Vec<Arc<Object>>,
}

impl Batch {
    /// The types that it tells of, some more than once.
    pub fn kinds(&self) -> impl Iterator<Item = &Id> {
        let lines = self.groups.iter().flat_map(|group| &group.lines);
        lines.flat_map(|line| &line.kinds)
    }
}

/// Lines that share a pivot, such as "5 works by one artist" or "3 people commented on X".
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// The type of its lines.
    pub kind: Id,
    /// Title of the type's category.
    pub category: String,
    /// What the lines have in common.
    pub pivot: Pivot,
    /// What the lines have in common, as it is now; `None` where they lack that role.
    pub key: Option<Arc<Object>>,
    /// Actors of all lines, each once, newest first.
    pub actors: Vec<Arc<Object>>,
    /// The lines, newest first; equal objects stand once.
    pub lines: Vec<Line>,
}

/// The role by which lines are grouped.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Pivot {
    /// The same object: several actors did the same to it.
    Object,
    /// The same actor: one actor did it to several objects.
    Actor,
    /// The same target: several objects in one place.
    Target,
}

impl Pivot {
    /// The role as it is written in a configuration.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Object => "object",
            Self::Actor => "actor",
            Self::Target => "target",
        }
    }
}

/// One object, shown once however many entries tell it.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// The object as it is now. Shared, as is `data`: one event is told in thousands of mails.
    pub object: Arc<Object>,
    /// All types that told it, in order of first appearance.
    pub kinds: Vec<Id>,
    /// Who did it, as they are now, each once, newest first.
    pub actors: Vec<Arc<Object>>,
    /// What it was done in or for, as it is now.
    pub target: Option<Arc<Object>>,
    /// Why this recipient is concerned, sorted by bytes.
    pub reasons: Vec<String>,
    /// The newest entry's time.
    pub t: Instant,
    /// The newest event's `data`.
    pub data: Option<Arc<serde_json::Map<String, serde_json::Value>>>,
    /// How many entries it stands for.
    pub entries: usize,
}
