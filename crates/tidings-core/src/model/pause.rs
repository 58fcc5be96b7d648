//! Paused types and channels: nothing of them closes or is sent until they are resumed.
//!
//! A channel keeps its windows: their deadlines pass, but no lane closes. A type shares its lanes
//! with others, which go on; its own entries wait apart, in a lane that is never due
//! ([`LaneKind::Paused`](crate::rules::lane_kind::LaneKind::Paused)). So do those of a paused inbox, which has no
//! windows.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::model::channel::{CHANNELS, ChannelNo, INBOX_NO};
use crate::model::id::Id;
use crate::rules::Rules;

/// The set of paused types and channels.
///
/// # Examples
/// ```
/// use tidings_core::model::Paused;
///
/// // As stored: types by name, channels by number.
/// let paused: Paused = serde_json::from_str(r#"{"types": ["comment"], "channels": [1, 99]}"#)?;
/// assert!(paused.has_type("comment") && paused.has_channel("email"));
/// // A channel of a later version is not known here.
/// assert_eq!(paused.channels().collect::<Vec<_>>(), ["email"]);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Paused {
    pub(crate) types: BTreeSet<String>,
    pub(crate) channels: BTreeSet<ChannelNo>,
}

impl Paused {
    /// Returns true if a type is paused.
    #[must_use]
    pub fn has_type(&self, event_type: &str) -> bool {
        self.types.contains(event_type)
    }

    /// Returns true if a channel is paused.
    #[must_use]
    pub fn has_channel(&self, channel: &str) -> bool {
        self.channels().any(|paused| paused == channel)
    }

    /// The paused channels by name.
    pub fn channels(&self) -> impl Iterator<Item = &'static str> {
        self.channels.iter().filter_map(|no| CHANNELS.get(usize::from(*no)).copied())
    }

    /// The paused types by name.
    pub fn types(&self) -> impl Iterator<Item = &str> {
        self.types.iter().map(String::as_str)
    }

    /// Drops the types that are not configured; returns whether there were any.
    pub(crate) fn keep_types(&mut self, rules: &Rules) -> bool {
        let before = self.types.len();
        self.types.retain(|name| rules.types.contains_key(name));
        self.types.len() < before
    }

    /// Returns true if a built message has to wait: its channel is paused, or a type of its entries.
    #[must_use]
    pub fn holds<'a>(&self, channel: &str, types: impl IntoIterator<Item = &'a Id>) -> bool {
        let has_type = |event_type: &Id| self.has_type(event_type.as_str());
        self.has_channel(channel) || (!self.types.is_empty() && types.into_iter().any(has_type))
    }

    /// Returns true if entries of a type on a channel wait in the lane of paused types.
    pub(crate) fn sets_apart(&self, event_type: &str, channel: ChannelNo) -> bool {
        self.types.contains(event_type)
            || (channel == INBOX_NO && self.channels.contains(&INBOX_NO))
    }
}
