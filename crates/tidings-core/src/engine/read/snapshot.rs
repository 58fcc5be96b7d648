//! The engine as it was after a step, so that readers need not wait for the next one.
//!
//! It has everything that reads ask for and shares it with the engine, which copies what it changes from then
//! on: entries with their neighbours, pages, sets. It has no chores, and nobody writes to it.

use std::ops::Deref;

use crate::engine::part::state::Part;
use crate::engine::parts::Parts;
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
            of_parts: self.of_parts,
            oldest_elsewhere: self.oldest_elsewhere,
            parts: Parts::new(self.parts.iter_mut().map(snapshot).collect()),
        })
    }
}

fn snapshot(part: &mut Part) -> Part {
    let mut snapshot = part.clone();
    snapshot.buckets = part.buckets.snapshot();
    snapshot
}
