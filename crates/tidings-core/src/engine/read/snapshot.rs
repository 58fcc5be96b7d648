//! The engine as it was after a step, so that readers need not wait for the next one.
//!
//! It shares its data with the engine, which copies what it changes afterwards: entries with their neighbours, pages,
//! sets. It has no chores, and is never written.

use std::ops::Deref;

use crate::engine::shard::state::Shard;
use crate::engine::shards::Shards;
use crate::engine::state::Engine;

/// An engine as it was, for reading.
#[derive(Debug)]
pub struct EngineSnapshot(Engine);

impl Deref for EngineSnapshot {
    type Target = Engine;

    fn deref(&self) -> &Engine {
        &self.0
    }
}

impl Engine {
    /// The engine as it is now. Of what did not change since the last call nothing is copied.
    #[must_use]
    pub fn snapshot(&mut self) -> EngineSnapshot {
        EngineSnapshot(Self {
            intake: self.intake.clone(),
            holds_intake: self.holds_intake,
            of_shards: self.of_shards,
            oldest_elsewhere: self.oldest_elsewhere,
            shards: Shards::new(self.shards.iter_mut().map(snapshot).collect()),
        })
    }
}

fn snapshot(shard: &mut Shard) -> Shard {
    let mut snapshot = shard.clone();
    snapshot.buckets = shard.buckets.snapshot();
    snapshot
}
