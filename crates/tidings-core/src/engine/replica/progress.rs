//! Messages between nodes of one store beside log entries: progress, and objects to keep.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::engine::acts::log_entry::LogNo;
use crate::model::event::Event;
use crate::model::id::Id;
use crate::model::time::Day;

/// The shards of a store that an engine has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldShards {
    /// True if it has the intake.
    pub intake: bool,
    /// The numbers of its shards; at least one.
    pub shards: BTreeSet<u16>,
}

/// Objects to keep as long as a day, since entries of events that name them moved to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptObjects {
    /// The day.
    pub day: Day,
    /// The objects.
    pub objects: Vec<Id>,
}

impl KeptObjects {
    pub(crate) fn of(event: &Event, day: Day) -> Self {
        let objects = event
            .actor
            .iter()
            .chain(&event.target)
            .chain([&event.object])
            .map(|object| object.id.clone())
            .collect();
        Self { day, objects }
    }
}

/// The progress of an engine's shards, as reported to the node with the intake.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// Its shards.
    pub shards: Vec<u16>,
    /// The newest acts that all of them have applied.
    pub applied: LogNo,
    /// The first day that entries of theirs need.
    pub needed_from: Option<Day>,
    /// The oldest day that holds something.
    pub oldest_day: Option<Day>,
}
