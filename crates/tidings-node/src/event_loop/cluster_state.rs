//! The part of a loop in a cluster: its shards, and the log for the others.

use std::sync::Arc;

use tidings_core::engine::HeldShards;

use crate::cluster::log_feed::{Learnt, LogFeed};

/// The part of a loop in a cluster of nodes.
#[derive(Default)]
pub(super) struct ClusterState {
    /// The shards of the store that the node has; `None` = all.
    pub(super) held: Option<HeldShards>,
    /// The acts for nodes with other shards.
    pub(super) feed: Arc<LogFeed>,
    /// News for the node with the intake, where that is another one.
    pub(super) learnt: Vec<Learnt>,
}
