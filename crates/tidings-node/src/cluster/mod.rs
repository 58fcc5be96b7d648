//! The work of a node as one of several: it stands for the lease and for shards, and follows the log of the intake.

pub(super) mod candidate;
pub(super) mod follower;
pub(super) mod log_feed;
