//! Replication of acts, which the intake accepts for everybody, to shards here and on other nodes.

pub(super) mod answer;
pub(super) mod apply;
pub(super) mod log_rows;
pub(super) mod progress;
pub(super) mod view;
