//! Measurements and spans of a running node, for operators. No decision depends on them.

pub(crate) mod logged_reply;
pub(super) mod spans;
pub(super) mod vitals;
