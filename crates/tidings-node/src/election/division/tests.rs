use tidings_store::lease::{Epoch, Lease, Member, MemberStatus, NodeToken, Role};

use super::*;

const ME: NodeId = NodeId(1);

/// A store whose holder of the lease divides it, and nodes that do at once what they are asked for.
struct World {
    held: Shards,
    view: Membership,
    living: Vec<NodeId>,
    terms: i64,
    /// Shards that were granted, or given to the holder's own store.
    moved: usize,
}

impl World {
    fn new(of: u16) -> Self {
        Self {
            held: Shards { numbers: (0..of).collect(), of },
            view: Membership {
                lease: Lease { epoch: Epoch(1), holder: Some(ME) },
                members: vec![member(ME)],
                shares: Vec::new(),
            },
            living: Vec::new(),
            terms: 0,
            moved: 0,
        }
    }

    fn join(&mut self, node: NodeId) {
        self.view.members.push(member(node));
        self.living.push(node);
    }

    /// A node falls silent.
    fn fail(&mut self, node: NodeId) {
        self.living.retain(|living| *living != node);
    }

    fn changes(&self) -> Vec<DivisionStep> {
        let members = self.view.members.iter().map(|seen| seen.member.id);
        let is_living = |node: &NodeId| *node == ME || self.living.contains(node);
        divide(&NodesSight {
            me: ME,
            held: &self.held,
            view: &self.view,
            living: self.living.clone(),
            silent: members.filter(|node| !is_living(node)).collect(),
        })
    }

    /// Does what is asked for until there is nothing more to do.
    fn settle(&mut self) {
        for _ in 0..10 {
            let changes = self.changes();
            let is_asked = self.view.shares.iter().any(|share| share.ends);
            if changes.is_empty() && !is_asked {
                return;
            }
            // What a node was asked for before this round it has given back by now.
            self.view.shares.retain(|share| !share.ends);
            for change in changes {
                self.change(change);
            }
            self.check();
        }
        panic!("there is always something to do: {:?}", self.changes());
    }

    fn change(&mut self, change: DivisionStep) {
        match change {
            DivisionStep::Revoke(term, _) => self.view.shares.retain(|share| share.term != term),
            DivisionStep::Recall(term) => {
                let mut shares = self.view.shares.iter_mut();
                shares.find(|share| share.term == term).unwrap().ends = true;
            }
            DivisionStep::Grant(node, shards) => {
                self.terms += 1;
                self.moved += shards.len();
                self.view.shares.push(Share {
                    term: TermNo(self.terms),
                    node,
                    shards,
                    of: self.held.of,
                    ends: false,
                });
            }
            DivisionStep::Reopen(shards) => {
                self.moved += shards.difference(&self.held.numbers).count();
                self.held.numbers = shards;
            }
        }
    }

    /// Nobody has what somebody else has, and nobody has two shares.
    fn check(&self) {
        let mut seen = self.held.numbers.clone();
        assert!(!seen.is_empty(), "who has the lease has a part");
        for share in &self.view.shares {
            assert!(!share.shards.is_empty(), "{share:?} is empty");
            for shard in &share.shards {
                assert!(seen.insert(*shard), "two have {shard}: {:?}", self.view.shares);
            }
            let of_node = self.view.shares.iter().filter(|other| other.node == share.node);
            assert_eq!(of_node.count(), 1, "{:?} has two shares", share.node);
        }
    }

    /// The number of shards of each living node, the holder's first.
    fn sizes(&self) -> Vec<usize> {
        let share = |node: &NodeId| self.view.share_of(*node).map_or(0, |share| share.shards.len());
        let others = self.living.iter().map(share);
        [self.held.numbers.len()].into_iter().chain(others).collect()
    }

    fn assert_even(&self) {
        let sizes = self.sizes();
        let of = usize::from(self.held.of);
        assert_eq!(sizes.iter().sum::<usize>(), of, "somebody has each part: {sizes:?}");
        let even = of / sizes.len();
        for (at, size) in sizes.iter().enumerate() {
            let least = if at == 0 { even.max(1) } else { even };
            assert!(
                (least.saturating_sub(1)..=even + 2).contains(size) && (*size > 0 || even == 0),
                "{sizes:?} of {of}"
            );
        }
    }
}

fn member(id: NodeId) -> MemberStatus {
    MemberStatus {
        member: Member {
            id,
            name: format!("{id:?}"),
            address: String::new(),
            token: NodeToken(String::new()),
            heartbeat: 1,
            unanswered: false,
            role: Role::Standby,
            lag_ms: 0,
            config: String::new(),
        },
        silent_ms: 0,
        since_ms: 0,
    }
}

#[test]
fn shards_are_even_whoever_comes_and_goes() {
    for of in 1..=16 {
        for first in 0..=4 {
            let mut world = World::new(of);
            let mut next = 2;
            let mut join = |world: &mut World| {
                world.join(NodeId(next));
                next += 1;
            };
            for _ in 0..first {
                join(&mut world);
            }
            world.settle();
            world.assert_even();
            // One by one more nodes come, and every second time the one that has been there longest goes.
            for step in 0..6 {
                if step % 2 == 1 && !world.living.is_empty() {
                    let oldest = world.living[0];
                    world.fail(oldest);
                    world.settle();
                    world.assert_even();
                }
                join(&mut world);
                world.settle();
                world.assert_even();
            }
            while let Some(node) = world.living.first().copied() {
                world.fail(node);
                world.settle();
                world.assert_even();
            }
            assert_eq!(world.held.numbers.len(), usize::from(of));
        }
    }
}

#[test]
fn three_nodes_have_a_third_each_and_the_holder_no_more_than_others() {
    for (of, sizes) in [(3, [1, 1, 1]), (8, [2, 3, 3]), (9, [3, 3, 3]), (16, [5, 6, 5])] {
        let mut world = World::new(of);
        world.join(NodeId(2));
        world.join(NodeId(3));
        world.settle();
        assert_eq!(world.sizes(), sizes, "{of}");
    }
}

#[test]
fn what_a_node_had_is_all_that_moves_when_it_is_replaced() {
    let mut world = World::new(9);
    world.join(NodeId(2));
    world.join(NodeId(3));
    world.settle();
    let (moved, held) = (world.moved, world.held.clone());
    let stays = world.view.share_of(NodeId(3)).cloned();
    world.fail(NodeId(2));
    world.join(NodeId(4));
    world.settle();
    assert_eq!((world.moved - moved, &world.held), (3, &held));
    assert_eq!(world.view.share_of(NodeId(3)).cloned(), stays);
}

#[test]
fn a_share_is_asked_for_once() {
    let mut world = World::new(8);
    world.join(NodeId(2));
    world.settle();
    world.join(NodeId(3));
    let asked = world.changes();
    let term = world.view.shares[0].term;
    assert!(
        asked.contains(&DivisionStep::Recall(term))
            || asked.iter().any(|change| matches!(change, DivisionStep::Reopen(_))),
        "{asked:?}"
    );
    world.view.shares[0].ends = true;
    assert!(!world.changes().contains(&DivisionStep::Recall(term)));
}
