//! The tenure of a node: the part of a store that it holds among others, and what it opens for it.

use std::collections::BTreeSet;

use tidings_store::lease::{Epoch, Membership, Share, TermNo};

/// The hold of a node on the store: the lease, with the intake and some parts, or a share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tenure {
    /// The lease, in an epoch.
    Lease(Epoch),
    /// A share, in its term.
    Share(TermNo),
}

/// Some parts of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts {
    /// Their numbers.
    pub numbers: BTreeSet<u16>,
    /// The number of parts that the store has.
    pub of: u16,
}

impl Parts {
    /// The parts of a share.
    pub(super) fn of_share(share: &Share) -> Self {
        Self { numbers: share.parts.iter().copied().collect(), of: share.of }
    }

    /// The parts that are in no share: those that are wanted, or all if none of them is.
    pub(super) fn in_no_share(view: &Membership, of: u16, wanted: &BTreeSet<u16>) -> Self {
        let mut numbers: BTreeSet<u16> = (0..of).collect();
        for part in view.shares.iter().flat_map(|share| &share.parts) {
            numbers.remove(part);
        }
        if !numbers.is_disjoint(wanted) {
            numbers.retain(|part| wanted.contains(part));
        }
        Self { numbers, of }
    }
}

/// An order to open the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opening {
    /// The tenure of the node.
    pub tenure: Tenure,
    /// The parts that it writes; `None` if it has the lease, and nobody has a share.
    pub parts: Option<Parts>,
}
