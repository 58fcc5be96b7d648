//! Rows of a bucket beside its journal: checkpoints, and the maintenance that writes them.

pub(crate) mod checkpoint;
pub(super) mod chore;
pub(super) mod drop_days;
pub(super) mod known;
pub(crate) mod options;
pub(crate) mod recovery;
pub(super) mod work;
