//! The content of a message before it is rendered: plain data, so that templates are pure functions of
//! it.

use std::sync::Arc;

use serde_json::Value;

use crate::model::batch_key::BatchKey;
use crate::model::event::host_text::HostText;
use crate::model::event::trace::Trace;
use crate::model::event::{Object, Pivot};
use crate::model::id::Id;
use crate::model::number::MessageId;
use crate::model::recipient::Recipient;
use crate::model::tenant::KnownTenant;
use crate::model::time::Instant;

/// The `data` of an event.
pub type EventData = serde_json::Map<String, serde_json::Value>;

/// The content of one message to one recipient on one channel.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    /// The id, derived from recipient, channel, lane, closing instant and first entry: 32 lower-case hex
    /// digits. The idempotency key and the e-mail's Message-ID.
    pub id: String,
    /// The message in the store.
    pub message: MessageId,
    /// The recipient, with the addresses to which the message goes.
    pub recipient: Recipient,
    /// The recipient's own address, where the channel's `redirect` has the message go elsewhere.
    pub meant_for: Option<String>,
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
    /// The tenant of its entries, as it is now; `None` = they are of none.
    pub tenant: Option<Arc<KnownTenant>>,
    /// The instant of the closing.
    pub at: Instant,
    /// Number of entries in the message.
    pub entries: usize,
    /// The groups, by their first line.
    pub groups: Vec<Group>,
    /// The topics among the reasons of its lines that have a title: that of the object with the
    /// topic's id. Sorted by id.
    pub topics: Vec<Arc<Object>>,
    /// The spans that published its first events, at most [`TRACES_MAX`], each once.
    pub traces: Vec<Trace>,
    /// The badge of the recipient's whole inbox, of a message to devices; `None` = nothing in it is unseen, or the
    /// channel shows none.
    pub badge: Option<u64>,
}

/// The most spans that a message links to: collectors keep as many links of a span by default.
///
/// A message has many events, and hours may lie between a publish and its mail, so the span of an attempt has no parent
/// but links to the spans that published its events.
pub const TRACES_MAX: usize = 128;

impl Batch {
    /// The types of the entries, some more than once.
    pub fn types(&self) -> impl Iterator<Item = &Id> {
        self.groups.iter().flat_map(|group| &group.lines).flat_map(|line| &line.types)
    }
}

/// Lines that share a pivot, such as "5 works by one artist" or "3 people commented on X".
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// The type of its lines.
    pub event_type: Id,
    /// The type's category.
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

/// The common part of two events' `data`: the members that have the same value in both, and of objects their members.
#[must_use]
pub fn common_data(
    one: Option<Arc<EventData>>,
    other: Option<&Arc<EventData>>,
) -> Option<Arc<EventData>> {
    let (one, other) = (one?, other?);
    if Arc::ptr_eq(&one, other) || one.is_empty() || one == *other {
        return Some(one);
    }
    Some(Arc::new(common_members(&one, other)))
}

fn common_members(one: &EventData, other: &EventData) -> EventData {
    let mut common = EventData::new();
    for (name, value) in one {
        match (value, other.get(name)) {
            (value, Some(same)) if value == same => {
                common.insert(name.clone(), value.clone());
            }
            // Depth is bounded where events are read.
            (Value::Object(value), Some(Value::Object(other))) => {
                common.insert(name.clone(), common_members(value, other).into());
            }
            _ => {}
        }
    }
    common
}

/// A line: one object, however many entries are about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// The object as it is now. Shared, as is `data`: one event is in thousands of mails.
    pub object: Arc<Object>,
    /// The types of its entries, in order of first appearance.
    pub types: Vec<Id>,
    /// The actors as they are now, each once, newest first.
    pub actors: Vec<Arc<Object>>,
    /// True unless each of its entries has an actor: then its actors are not those of all.
    pub lacks_actor: bool,
    /// The target that all of its entries have, as it is now.
    pub target: Option<Arc<Object>>,
    /// The recipient's reasons, sorted by bytes.
    pub reasons: Arc<[String]>,
    /// The newest entry's time.
    pub t: Instant,
    /// The members that the `data` of all its events share. The words of one event are not those of the others.
    pub data: Option<Arc<EventData>>,
    /// The `body` that all its events have: what a person wrote. One of several is never shown for all.
    pub body: Option<HostText>,
    /// Number of entries in the line.
    pub entries: usize,
    /// Place among the lines of the message; 0 is shown first.
    pub order: usize,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn data_in_common_is_what_both_say() {
        let data = |value: Value| value.as_object().cloned().map(Arc::new);
        for (one, other, common) in [
            (json!({"a": 1}), json!({"a": 1}), json!({"a": 1})),
            (json!({"a": 1, "b": 2}), json!({"a": 1, "b": 3, "c": 4}), json!({"a": 1})),
            (
                json!({"a": {"b": 1, "c": 2}, "d": [1]}),
                json!({"a": {"b": 1, "c": 3}, "d": [2]}),
                json!({"a": {"b": 1}}),
            ),
            (json!({"a": {"b": 1}}), json!({"a": 1}), json!({})),
            (json!({"a": 1}), json!({"a": 1.0}), json!({})),
        ] {
            assert_eq!(
                common_data(data(one.clone()), data(other.clone()).as_ref()),
                data(common.clone())
            );
            assert_eq!(common_data(data(other), data(one).as_ref()), data(common));
        }
        assert_eq!(common_data(None, data(json!({"a": 1})).as_ref()), None);
        assert_eq!(common_data(data(json!({"a": 1})), None), None);
    }
}
