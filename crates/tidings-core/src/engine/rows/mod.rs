//! The rows that a step writes, and the draft that gathers them.

pub(super) mod arrived;
pub(super) mod concerned;
pub(super) mod draft;
pub(super) mod ends;
pub(super) mod event_row;
pub(super) mod ledger;
pub(super) mod left_out;
pub(super) mod named;
pub(super) mod not_reached;
pub(super) mod occurred;
pub(super) mod suppression_row;
