//! The assignment of shards to nodes: a pure function of the view of the lease holder.
//!
//! Each living node should have as many shards as the others; a difference of one moves nothing. A moving shard is
//! released first and unowned until it is granted anew. A shard that is being released counts as unowned already, so the
//! target stays the same until it is reached.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use tidings_store::lease::{Membership, NodeId, Share, TermNo};

use super::tenure::Shards;

#[cfg(test)]
mod tests;

/// The state of the nodes as the holder of the lease sees it.
pub(super) struct NodesSight<'a> {
    /// The holder.
    pub me: NodeId,
    /// The shards in its open store.
    pub held: &'a Shards,
    /// The members and shares.
    pub view: &'a Membership,
    /// The other nodes that may have shards, in order.
    pub living: Vec<NodeId>,
    /// The members from which others may take what they have.
    pub silent: BTreeSet<NodeId>,
}

/// A step towards what is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum DivisionStep {
    /// End the share of a silent node, with its last heartbeat.
    Revoke(TermNo, Option<i64>),
    /// Ask for a share.
    Recall(TermNo),
    /// Grant shards that are free.
    Grant(NodeId, Vec<u16>),
    /// Open the own store with these shards, and no others.
    Reopen(BTreeSet<u16>),
}

/// Tells what to do now. It is asked again with each answered heartbeat.
pub(super) fn divide(sight: &NodesSight<'_>) -> Vec<DivisionStep> {
    let mut changes = Vec::new();
    let wanted = ShardCounts::of(sight).wanted();
    let wants = |node: NodeId| wanted.get(&node).cloned().unwrap_or_default();
    for share in &sight.view.shares {
        let member = sight.view.member(share.node);
        let shards: BTreeSet<u16> = share.shards.iter().copied().collect();
        if member.is_none() || sight.silent.contains(&share.node) {
            let heartbeat = member.map(|member| member.heartbeat);
            // The heartbeat is handed in: the database revokes nothing of a node that has sent another one
            // since.
            changes.push(DivisionStep::Revoke(share.term, heartbeat));
        } else if !share.ends && share.node != sight.me && shards != wants(share.node) {
            changes.push(DivisionStep::Recall(share.term));
        }
    }
    let shared: BTreeSet<u16> = numbers(&sight.view.shares).collect();
    for node in &sight.living {
        let shards = wants(*node);
        // Grants all that a node is to have at once: a share never changes, so a second grant would need a
        // recall.
        let is_free = shards.is_disjoint(&shared) && shards.is_disjoint(&sight.held.numbers);
        if sight.view.share_of(*node).is_none() && is_free && !shards.is_empty() {
            changes.push(DivisionStep::Grant(*node, shards.into_iter().collect()));
        }
    }
    let mine = wants(sight.me);
    // Gives up at once what others wait for. Takes more only once all of it is free, since each opening
    // stops the intake.
    let is_less = !sight.held.numbers.is_subset(&mine);
    let is_more = mine.len() > sight.held.numbers.len() && mine.is_disjoint(&shared);
    if is_less || is_more {
        changes.push(DivisionStep::Reopen(mine));
    }
    changes
}

fn numbers(shares: &[Share]) -> impl Iterator<Item = u16> + '_ {
    shares.iter().flat_map(|share| share.shards.iter().copied())
}

/// The numbers of shards that each living node has, and should have.
struct ShardCounts {
    me: NodeId,
    /// The others, in order.
    others: Vec<NodeId>,
    has: BTreeMap<NodeId, BTreeSet<u16>>,
    targets: BTreeMap<NodeId, usize>,
    /// The shards that no node has, or that will be unowned once they are released.
    free: BTreeSet<u16>,
}

impl ShardCounts {
    fn of(sight: &NodesSight<'_>) -> Self {
        let of = usize::from(sight.held.of);
        let mut has = BTreeMap::from([(sight.me, sight.held.numbers.clone())]);
        for share in sight.view.shares.iter().filter(|share| !share.ends) {
            if sight.living.contains(&share.node) {
                let shards: &mut BTreeSet<u16> = has.entry(share.node).or_default();
                shards.extend(&share.shards);
            }
        }
        let had: BTreeSet<u16> = has.values().flatten().copied().collect();
        let mine = (of / (sight.living.len() + 1)).max(1);
        let mut count = Self {
            me: sight.me,
            others: sight.living.clone(),
            targets: BTreeMap::from([(sight.me, mine)]),
            has,
            free: (0..sight.held.of).filter(|shard| !had.contains(shard)).collect(),
        };
        // The node with the intake is not opened again for a difference of one, unless another would have nothing.
        let number = count.number(sight.me);
        let is_enough = number <= mine || of - number >= sight.living.len();
        if count.is_near(sight.me) && is_enough && !sight.living.is_empty() {
            count.targets.insert(sight.me, number);
        }
        let rest = of.saturating_sub(count.target(sight.me));
        let others = count.others.len().max(1);
        // The shards over go to nodes that have more already, so that none moves for them.
        let mut order = count.others.clone();
        order.sort_by_key(|node| Reverse(count.number(*node)));
        for (index, node) in order.into_iter().enumerate() {
            let target = rest / others + usize::from(index < rest % others);
            count.targets.insert(node, target);
        }
        count
    }

    fn number(&self, node: NodeId) -> usize {
        self.has.get(&node).map_or(0, BTreeSet::len)
    }

    fn target(&self, node: NodeId) -> usize {
        self.targets.get(&node).copied().unwrap_or_default()
    }

    /// Returns true if a node has enough shards, and not too many.
    fn is_near(&self, node: NodeId) -> bool {
        let (number, target) = (self.number(node), self.target(node));
        number.abs_diff(target) <= 1 && (number > 0 || target == 0)
    }

    /// The shards that each node should have in the end.
    fn wanted(self) -> BTreeMap<NodeId, BTreeSet<u16>> {
        match self.dealt() {
            Some(wanted) => wanted,
            None => self.evened(),
        }
    }

    /// The shards with those that are free at nodes that have none, so that no other node is touched; `None` if that is
    /// not enough.
    fn dealt(&self) -> Option<BTreeMap<NodeId, BTreeSet<u16>>> {
        let is_idle = |node: &NodeId| self.number(*node) == 0 && self.target(*node) > 0;
        let (idle, others): (Vec<NodeId>, Vec<NodeId>) =
            self.others.iter().copied().partition(is_idle);
        if !self.is_near(self.me) || !others.iter().all(|node| self.is_near(*node)) {
            return None;
        }
        let least = |node: &NodeId| (self.target(*node) - 1).max(1);
        let mut numbers: BTreeMap<NodeId, usize> =
            idle.iter().map(|node| (*node, least(node))).collect();
        let mut left = self.free.len().checked_sub(numbers.values().sum())?;
        for beyond in [0, 1] {
            for node in &idle {
                let number = numbers.entry(*node).or_default();
                let more = (self.target(*node) + beyond).saturating_sub(*number).min(left);
                *number += more;
                left -= more;
            }
        }
        if left > 0 {
            return None;
        }
        let mut wanted = self.has.clone();
        let mut free = self.free.iter().copied();
        for (node, number) in idle.iter().filter_map(|node| numbers.get_key_value(node)) {
            wanted.insert(*node, free.by_ref().take(*number).collect());
        }
        Some(wanted)
    }

    /// The shards where each node keeps what it has up to its target, and what is over fills the others.
    fn evened(self) -> BTreeMap<NodeId, BTreeSet<u16>> {
        let (mut free, mut wanted) = (self.free.clone(), BTreeMap::new());
        for (node, target) in &self.targets {
            let has = self.has.get(node).cloned().unwrap_or_default();
            let retained: BTreeSet<u16> = has.iter().copied().take(*target).collect();
            free.extend(has.difference(&retained));
            wanted.insert(*node, retained);
        }
        let mut free = free.into_iter();
        for node in self.others.iter().chain([&self.me]) {
            let assigned = wanted.entry(*node).or_default();
            let more = self.target(*node).saturating_sub(assigned.len());
            assigned.extend(free.by_ref().take(more));
        }
        wanted
    }
}
