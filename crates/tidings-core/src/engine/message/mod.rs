//! Messages: plans from closings, presentation, and outcomes.

pub(super) mod attempt_row;
pub(super) mod closings;
pub(super) mod counted;
pub(super) mod index_old_messages;
pub(super) mod index_writer;
pub(super) mod made;
pub(super) mod message_index;
pub(super) mod message_row;
pub(super) mod message_turns;
pub(super) mod old_messages;
pub(super) mod operate;
pub(super) mod plan;
pub(super) mod present;
pub(super) mod sent;
pub(super) mod standing;
pub(super) mod touch;
