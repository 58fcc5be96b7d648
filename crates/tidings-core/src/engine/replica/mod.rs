//! Acts: what the intake has accepted for everybody, as shards here and on other nodes apply it.

pub(super) mod answer;
pub(super) mod apply;
pub(super) mod log_rows;
pub(super) mod progress;
pub(super) mod view;
