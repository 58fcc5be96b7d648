//! The content of a message: its items, gathered into lines and groups.

pub(crate) mod batch;
pub(crate) mod content_hash;
pub(crate) mod group;
pub(crate) mod message;

pub use batch::{Batch, EventData, Group, Line, TRACES_MAX, common_data};
pub use content_hash::ContentHash;
pub use group::{Entry, group};
pub use message::{Item, Message, SkippedEntry, Totals};
