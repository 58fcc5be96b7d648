//! The lanes of a bucket: their windows and when they are due.

pub(super) mod by_address;
pub(super) mod caps;
pub(super) mod counting;
pub(super) mod ended;
pub(super) mod lane;
pub(super) mod waiting;
pub(super) mod wheel;
