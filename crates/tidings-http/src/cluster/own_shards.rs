//! The shards that this node serves, and the nodes that serve the others.
//!
//! A node alone has all shards and no cluster; every question here is then answered by "here".

use std::sync::Arc;

use tidings_core::model::BucketNo;
use tidings_core::{Command, Id};

use super::Cluster;
use super::split::SplitCommands;
use crate::error::Problem;
use crate::owners::{Owner, Owners};

/// The shards of this node within its cluster.
#[derive(Default)]
pub(crate) struct OwnShards {
    /// The nodes over the store, where several share it.
    pub(crate) cluster: Option<Arc<Cluster>>,
    /// The shards that the node has; `None` = it has everything.
    pub(crate) owners: Option<Arc<Owners>>,
}

impl OwnShards {
    /// The owners of shards and the cluster; `None` on a node that has all shards.
    pub(crate) fn cluster_view(&self) -> Option<(&Owners, &Arc<Cluster>)> {
        let owners = self.owners.as_deref().filter(|owners| !owners.is_whole())?;
        Some((owners, self.cluster.as_ref()?))
    }

    /// Checks that a recipient is of this node.
    ///
    /// # Errors
    /// A [`Problem`] with which the call is forwarded to the node that has the recipient.
    pub(crate) fn at_home(&self, recipient: &Id) -> Result<(), Problem> {
        self.has_home(|owners| owners.of_recipient(recipient))
    }

    /// Checks that a bucket is of this node.
    ///
    /// # Errors
    /// As [`Self::at_home`].
    pub(crate) fn at_home_of(&self, bucket: BucketNo) -> Result<(), Problem> {
        self.has_home(|owners| owners.of_bucket(bucket))
    }

    fn has_home(&self, home: impl FnOnce(&Owners) -> Owner) -> Result<(), Problem> {
        let Some((owners, _)) = self.cluster_view() else {
            return Ok(());
        };
        let home = home(owners);
        if owners.has(home) { Ok(()) } else { Err(Problem::elsewhere(home)) }
    }

    /// Splits commands; those that are all of this node come back as they are.
    pub(crate) fn split_by_owner(
        &self,
        commands: Vec<Command>,
    ) -> Result<Vec<Command>, (SplitCommands, Arc<Cluster>)> {
        let Some((owners, cluster)) = self.cluster_view() else {
            return Ok(commands);
        };
        let split = SplitCommands::of(commands, owners, |home| cluster.peer(home));
        if split.is_here() { Ok(split.here) } else { Err((split, Arc::clone(cluster))) }
    }
}
