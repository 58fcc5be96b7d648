//! A body that only commits: a row of each shard, ten times a second.

use std::collections::BTreeMap;
use std::sync::Arc;

use tidings_core::journal::{Partition, Write};
use tidings_node::election::{Input, Opening, Tenure};
use tidings_store::Store;
use tidings_store::lease::{Leases as _, MemoryLeases};

use super::{BodyProcess, BodySurroundings, Net, NodeBody, NodeProcess};

/// A node that commits, and nothing else.
pub struct CommittingNode {
    store: Arc<dyn Store>,
    tenure: Tenure,
    shards: Vec<u16>,
}

/// A commit of a tenure to a shard, which is on its way.
#[derive(Clone, Copy, Debug)]
pub struct TenureCommit(Tenure, u16);

/// For each shard, in what tenures the database took commits, the last one at the end; and how many it took.
#[derive(Debug, Default)]
pub struct CommittedTenures {
    tenures: BTreeMap<u16, Vec<Tenure>>,
    commits: u64,
}

impl NodeBody for CommittingNode {
    type Message = TenureCommit;
    type Outside = CommittedTenures;

    const ALWAYS_OPENS: bool = true;

    fn prepare(_: &mut Net<TenureCommit>) -> CommittedTenures {
        CommittedTenures::default()
    }

    fn open(
        _: &BodyProcess<'_>,
        opening: &Opening,
        (net, _): BodySurroundings<'_, Self>,
    ) -> Option<Self> {
        let tenure = opening.tenure;
        let store = match tenure {
            Tenure::Lease(epoch) => net.leases.open(epoch),
            Tenure::Share(term) => net.leases.open_share(term),
        };
        let all = 0..net.world.shards;
        let shards = opening.shards.as_ref();
        Some(Self {
            store: store.ok()?,
            tenure,
            shards: shards
                .map_or_else(|| all.collect(), |shards| shards.numbers.iter().copied().collect()),
        })
    }

    fn tick(&mut self, me: &BodyProcess<'_>, (net, _): BodySurroundings<'_, Self>) {
        // Commits need no licence. They may be late, too.
        for shard in &self.shards {
            let late = net.roll(300);
            net.remind_at_once(me.address(), late, TenureCommit(self.tenure, *shard));
        }
    }

    /// Handles a commit that arrives: terms must not go back.
    fn receive(
        &mut self,
        me: &BodyProcess<'_>,
        TenureCommit(tenure, shard): TenureCommit,
        (_, committed): BodySurroundings<'_, Self>,
    ) -> Option<Input> {
        if tenure != self.tenure {
            return None;
        }
        let write = Write {
            partition: Partition::Base,
            key: shard.to_be_bytes().to_vec(),
            value: Some(me.election.id().0.to_be_bytes().to_vec()),
        };
        if self.store.commit(vec![write].into()).is_err() {
            return Some(Input::Ended(tenure));
        }
        let before = committed.tenures.entry(shard).or_default();
        if before.last() != Some(&tenure) {
            assert!(!before.contains(&tenure), "{tenure:?} wrote after {before:?}");
            before.push(tenure);
        }
        committed.commits += 1;
        None
    }

    fn close(self) {}

    fn die(self) {}

    fn ask(_: &[Option<NodeProcess<Self>>], _: BodySurroundings<'_, Self>) {}

    fn deliver(_: TenureCommit, _: &mut CommittedTenures) {}

    fn is_applied(_: &MemoryLeases, _: &CommittedTenures) {}

    fn is_well(_: &MemoryLeases, committed: &CommittedTenures) {
        assert!(committed.commits > 20);
    }
}
