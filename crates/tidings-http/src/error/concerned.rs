//! The people, entries and messages that a change touches, or would touch.

use serde::Serialize;
use tidings_core::engine::CommandConcerns;
use utoipa::ToSchema;

/// The number of people, entries and messages that a change touches, or would touch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
#[schema(example = json!({"people": 2, "entries": 4, "messages": 0}))]
pub(crate) struct Concerned {
    /// Number of recipients that it would touch.
    people: u64,
    /// Number of entries that it would make, end, send or take back.
    entries: u64,
    /// Number of built messages that it would send, change or stop; of `flush` the number of lanes.
    messages: u64,
}

impl From<CommandConcerns> for Concerned {
    fn from(CommandConcerns { people, entries, messages }: CommandConcerns) -> Self {
        Self { people, entries, messages }
    }
}
