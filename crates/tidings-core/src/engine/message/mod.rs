//! Messages: plans from closings, presentation, and outcomes.

pub(super) mod attempt_row;
pub(super) mod closings;
pub(super) mod made;
pub(super) mod message_row;
pub(super) mod message_turns;
pub(super) mod operate;
pub(super) mod plan;
pub(super) mod present;
pub(super) mod touch;
