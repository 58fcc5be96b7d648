//! The checks of an entry before it is sent.

pub(super) mod addresses;
pub(super) mod condition;
pub(super) mod look;
