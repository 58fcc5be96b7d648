//! The tenure of a node: the lease or a share of a store, and what it opens for it.

use std::collections::BTreeSet;

use tidings_store::lease::{Epoch, Membership, Share, TermNo};

/// The hold of a node on the store: the lease, with the intake and some shards, or a share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tenure {
    /// The lease, in an epoch.
    Lease(Epoch),
    /// A share, in its term.
    Share(TermNo),
}

/// Some shards of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shards {
    /// Their numbers.
    pub numbers: BTreeSet<u16>,
    /// The number of shards that the store has.
    pub of: u16,
}

impl Shards {
    /// The shards of a share.
    pub(super) fn of_share(share: &Share) -> Self {
        Self { numbers: share.shards.iter().copied().collect(), of: share.of }
    }

    /// The shards that are in no share: those that are wanted, or all if none of them is.
    pub(super) fn in_no_share(view: &Membership, of: u16, wanted: &BTreeSet<u16>) -> Self {
        let mut numbers: BTreeSet<u16> = (0..of).collect();
        for shard in view.shares.iter().flat_map(|share| &share.shards) {
            numbers.remove(shard);
        }
        if !numbers.is_disjoint(wanted) {
            numbers.retain(|shard| wanted.contains(shard));
        }
        Self { numbers, of }
    }
}

/// An order to open the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opening {
    /// The tenure of the node.
    pub tenure: Tenure,
    /// The shards that it writes; `None` if it has the lease, and no node has a share.
    pub shards: Option<Shards>,
}
