//! The answers of a step: replies, warnings and refusals of commands, and reports to the node and its log.

pub(super) mod concerns;
pub(super) mod erasure;
pub(super) mod going;
pub(super) mod refused;
pub(super) mod reply;
pub(super) mod unanswered;
pub(super) mod warning;
