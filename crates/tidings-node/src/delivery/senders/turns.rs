//! The messages of a channel that may leave, of each tenant in turn.
//!
//! A tenant with a million messages waits for its own. What is of no tenant has a turn as if it were of one.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use tidings_core::Id;

use crate::delivery::priority::Priority;

/// The place of a message in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    pub(super) priority: Priority,
    pub(super) is_new: bool,
    pub(super) number: u64,
}

/// The messages by priority.
#[derive(Default)]
pub(super) struct Turns {
    interactive: PriorityMessages,
    bulk: PriorityMessages,
}

/// The messages of a priority.
#[derive(Default)]
struct PriorityMessages {
    /// Those of a tenant by rank; no set is empty.
    ranks: BTreeMap<Option<Id>, BTreeSet<Rank>>,
    /// The tenants of those, the one that has its turn first.
    order: VecDeque<Option<Id>>,
}

impl Turns {
    fn of(&mut self, priority: Priority) -> &mut PriorityMessages {
        match priority {
            Priority::Interactive => &mut self.interactive,
            Priority::Bulk => &mut self.bulk,
        }
    }

    /// Adds a message. A tenant without any other has its turn after all who wait.
    pub(super) fn insert(&mut self, tenant: Option<Id>, rank: Rank) {
        let PriorityMessages { ranks, order } = self.of(rank.priority);
        if !ranks.contains_key(&tenant) {
            order.push_back(tenant.clone());
        }
        ranks.entry(tenant).or_default().insert(rank);
    }

    /// Removes a message. Returns true if it was there.
    pub(super) fn remove(&mut self, tenant: Option<&Id>, rank: Rank) -> bool {
        let tenant = tenant.cloned();
        let PriorityMessages { ranks, order } = self.of(rank.priority);
        let Some(of_tenant) = ranks.get_mut(&tenant) else {
            return false;
        };
        let was_there = of_tenant.remove(&rank);
        if of_tenant.is_empty() {
            ranks.remove(&tenant);
            order.retain(|other| *other != tenant);
        }
        was_there
    }

    /// The next message.
    pub(super) fn first(&self, interactive_only: bool) -> Option<Rank> {
        let bulk = Some(&self.bulk).filter(|_| !interactive_only);
        let mut all = [&self.interactive].into_iter().chain(bulk);
        all.find_map(|PriorityMessages { ranks, order }| {
            ranks.get(order.front()?).and_then(BTreeSet::first).copied()
        })
    }

    /// Passes the turn of a tenant, of which a message leaves, to the next one.
    pub(super) fn end_turn(&mut self, tenant: Option<&Id>, priority: Priority) {
        let order = &mut self.of(priority).order;
        if order.front().is_some_and(|first| first.as_ref() == tenant) {
            order.rotate_left(1);
        }
    }

    /// Number of messages of a tenant.
    pub(super) fn len_of(&self, tenant: Option<&Id>, priority: Priority) -> usize {
        let of_priority = match priority {
            Priority::Interactive => &self.interactive,
            Priority::Bulk => &self.bulk,
        };
        of_priority.ranks.get(&tenant.cloned()).map_or(0, BTreeSet::len)
    }
}
