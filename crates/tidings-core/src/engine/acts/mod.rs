//! Acts: the changes that the intake accepted for everybody, and the answers of the shards that apply them.

pub(super) mod act;
pub(super) mod applied;
pub(super) mod log_entry;
