//! The rows that a step writes, and the draft that gathers them.

pub(super) mod act;
pub(super) mod draft;
pub(super) mod ends;
pub(super) mod event_row;
pub(super) mod going;
pub(super) mod inbox_delivery;
pub(super) mod ledger;
pub(super) mod left_out;
pub(super) mod named;
pub(super) mod not_entered;
pub(super) mod occurred;
pub(super) mod reach;
pub(super) mod record_size;
pub(super) mod reply;
pub(super) mod sent;
pub(super) mod suppression_row;
pub(super) mod unanswered;
