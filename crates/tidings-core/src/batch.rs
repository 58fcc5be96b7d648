//! The content of a message before it is rendered: plain data, so that templates are pure functions of
//! it.

use std::sync::Arc;

use crate::batch_key::BatchKey;
use crate::event::{Object, Pivot};
use crate::id::Id;
use crate::number::MessageId;
use crate::recipient::Recipient;
use crate::time::Instant;

/// The content of one message to one recipient on one channel.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    /// The id, derived from recipient, channel, lane, closing instant and first entry: 32 lower-case hex
    /// digits. The idempotency key and the e-mail's Message-ID.
    pub id: String,
    /// The message in the store.
    pub message: MessageId,
    /// The recipient.
    pub recipient: Recipient,
    /// The recipient's effective IANA zone.
    pub tz: String,
    /// The recipient's effective locale.
    pub locale: String,
    /// The channel.
    pub channel: String,
    /// The lane's name.
    pub lane: String,
    /// The lane's batch key.
    pub key: BatchKey,
    /// The instant of the closing.
    pub at: Instant,
    /// Number of entries in the message.
    pub entries: usize,
    /// The groups, by their first line.
    pub groups: Vec<Group>,
    /// The topics among the reasons of its lines that have a title: that of the object with the
    /// topic's id. Sorted by id.
    pub topics: Vec<Arc<Object>>,
}

impl Batch {
    /// The types of the entries, some more than once.
    pub fn types(&self) -> impl Iterator<Item = &Id> {
        let lines = self.groups.iter().flat_map(|group| &group.lines);
        lines.flat_map(|line| &line.types)
    }
}

/// Lines that share a pivot, such as "5 works by one artist" or "3 people commented on X".
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// The type of its lines.
    pub event_type: Id,
    /// Title of the type's category.
    pub category: String,
    /// The role that the lines share.
    pub pivot: Pivot,
    /// The shared object as it is now; `None` if the lines lack that role.
    pub key: Option<Arc<Object>>,
    /// Actors of all lines, each once, newest first.
    pub actors: Vec<Arc<Object>>,
    /// The lines, one per object: the highest score first, then the newest.
    pub lines: Vec<Line>,
}

/// A line: one object, however many entries are about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// The object as it is now. Shared, as is `data`: one event is told in thousands of mails.
    pub object: Arc<Object>,
    /// The types of its entries, in order of first appearance.
    pub types: Vec<Id>,
    /// The actors as they are now, each once, newest first.
    pub actors: Vec<Arc<Object>>,
    /// The target as it is now.
    pub target: Option<Arc<Object>>,
    /// The recipient's reasons, sorted by bytes.
    pub reasons: Arc<[String]>,
    /// The newest entry's time.
    pub t: Instant,
    /// The newest event's `data`.
    pub data: Option<Arc<serde_json::Map<String, serde_json::Value>>>,
    /// Number of entries in the line.
    pub entries: usize,
    /// Place among the lines of the message; 0 is shown first.
    pub order: usize,
}
