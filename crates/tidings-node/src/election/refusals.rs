//! The nodes that can't use what they are granted: others are to have it meanwhile.

use std::collections::{BTreeMap, BTreeSet};

use tidings_store::lease::{Membership, NodeId, Role, TermNo};

use super::timing::Timing;
use super::watch::Watches;

/// The nodes that gave a share back without a request, as the holder of the lease sees them.
#[derive(Default)]
pub(super) struct Refusals {
    /// The shares that were recalled or revoked.
    recalled: BTreeSet<TermNo>,
    /// The nodes, with the number of answered heartbeats through which they are granted nothing.
    nodes: BTreeMap<NodeId, u32>,
}

impl Refusals {
    /// Notes that a share was recalled or revoked.
    pub(super) fn ask(&mut self, term: TermNo) {
        self.recalled.insert(term);
    }

    /// Returns true if a node is granted nothing for now.
    pub(super) fn contains(&self, node: NodeId) -> bool {
        self.nodes.contains_key(&node)
    }

    /// Counts an answered heartbeat, by which shares of the one before may be gone.
    pub(super) fn observe(
        &mut self,
        before: &Membership,
        view: &Membership,
        watches: &Watches,
        timing: &Timing,
    ) {
        self.nodes.retain(|_, heartbeats| {
            *heartbeats = heartbeats.saturating_sub(1);
            *heartbeats > 0
        });
        for share in &before.shares {
            let is_recalled = share.ends || self.recalled.contains(&share.term);
            let stays = |node| {
                let member = view.member(node);
                member.is_some_and(|member| member.role != Role::Draining)
                    && !watches.is_silent(node, timing)
            };
            let is_idle = view.share_of(share.node).is_none();
            if is_idle && !is_recalled && stays(share.node) {
                self.nodes.insert(share.node, timing.spared);
            }
        }
        self.recalled.retain(|term| view.shares.iter().any(|share| share.term == *term));
    }
}
