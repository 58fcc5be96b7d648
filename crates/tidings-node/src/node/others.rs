//! Shards on other nodes, as the node with the intake knows them.
//!
//! The progress of other nodes is known from their reports. The days and the acts that a shard still needs are
//! kept until every shard has gone further.

use std::collections::BTreeMap;

use tidings_core::Day;
use tidings_core::engine::{Engine, LogNo};

/// The shards that other nodes have.
#[derive(Debug, Default)]
pub(super) struct OtherNodesShards {
    /// Executor shard, the newest acts that it has applied, and the first day that its entries need.
    pub(super) shards: BTreeMap<u16, OtherShard>,
    /// The acts that deleted days, each with the first day that is kept, until every shard has applied them.
    pub(super) deletions: Vec<(LogNo, Day)>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct OtherShard {
    pub(super) applied: LogNo,
    pub(super) needed_from: Option<Day>,
    pub(super) oldest_day: Option<Day>,
}

impl OtherNodesShards {
    /// The first day that entries on other nodes need.
    pub(super) fn needed_from(&self) -> Option<Day> {
        self.shards.values().filter_map(|shard| shard.needed_from).min()
    }

    /// The newest acts that all other shards have applied.
    pub(super) fn applied(&self) -> Option<LogNo> {
        self.shards.values().map(|shard| shard.applied).min()
    }

    /// The days that may be deleted once the decisions are durable; none if shards on other nodes must apply them
    /// first.
    pub(super) fn forgotten_now(&mut self, engine: &Engine, forgotten: Vec<Day>) -> Vec<Day> {
        if forgotten.is_empty() || !engine.replica().has_followers() {
            return forgotten;
        }
        let before = engine.forgotten_before();
        let deletion = before.map(|before| (engine.replica().newest(), before));
        self.deletions.extend(deletion);
        Vec::new()
    }
}
