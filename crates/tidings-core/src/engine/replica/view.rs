//! An engine as one of several nodes that have shards of a store.

use crate::engine::acts::log_entry::LogNo;
use crate::engine::replica::progress::Progress;
use crate::engine::state::Engine;
use crate::model::command::Command;
use crate::model::id::Id;

/// The place of an engine among the nodes of its store.
#[derive(Clone, Copy, Debug)]
pub struct ReplicaPosition<'a> {
    engine: &'a Engine,
}

impl Engine {
    /// Its place among the nodes of its store.
    #[must_use]
    pub fn replica(&self) -> ReplicaPosition<'_> {
        ReplicaPosition { engine: self }
    }
}

impl ReplicaPosition<'_> {
    /// True if some shards of the store are on other nodes, so that acts are logged.
    #[must_use]
    pub fn has_followers(&self) -> bool {
        self.engine.holds_intake && self.engine.shards.len() < usize::from(self.engine.of_shards)
    }

    /// Returns true if the engine has the intake.
    #[must_use]
    pub fn holds_intake(&self) -> bool {
        self.engine.holds_intake
    }

    /// The number of shards that the store has.
    #[must_use]
    pub fn of_shards(&self) -> u16 {
        self.engine.of_shards
    }

    /// The number of buckets over which recipients are distributed.
    #[must_use]
    pub fn of_buckets(&self) -> u16 {
        self.engine.intake.buckets
    }

    /// The number of the newest acts of the intake, as far as this engine knows.
    #[must_use]
    pub fn newest(&self) -> LogNo {
        self.engine.intake.acts
    }

    /// The number of the newest acts that all shards of this engine have applied.
    #[must_use]
    pub fn applied(&self) -> LogNo {
        self.engine.shards.iter().map(|shard| shard.applied).min().unwrap_or_default()
    }

    /// The numbers of the shards that this engine has.
    #[must_use]
    pub fn shard_numbers(&self) -> Vec<u16> {
        self.engine.shards.iter().map(|shard| shard.no).collect()
    }

    /// The progress of the shards.
    #[must_use]
    pub fn progress(&self) -> Progress {
        Progress {
            shards: self.shard_numbers(),
            applied: self.applied(),
            needed_from: self.engine.needed_from(),
            oldest_day: self.engine.oldest_day(),
        }
    }

    /// Returns true if a recipient would be of a shard that this engine has.
    #[must_use]
    pub fn has_home_of(&self, recipient: &Id) -> bool {
        let mut buckets = self.engine.shards.iter().map(|shard| &shard.buckets);
        buckets.any(|buckets| buckets.of(recipient.as_str()).is_some())
    }

    /// Returns true if a command is for this engine to decide: of a recipient or a message of its shards, or for the
    /// intake that it has.
    #[must_use]
    pub fn is_home_of(&self, command: &Command) -> bool {
        match command {
            Command::Message { message, .. } | Command::Report { message, .. } => {
                let bucket = message.id.closing.bucket;
                let is_none = bucket.0 >= self.engine.intake.buckets;
                self.engine.shards.held_bucket(bucket).is_some()
                    || (is_none && self.engine.holds_intake)
            }
            command => match command.recipient() {
                Some(recipient) => self.has_home_of(recipient),
                None => self.engine.holds_intake,
            },
        }
    }

    /// Number of the acts that are stored, of those up to one.
    #[must_use]
    pub fn stored_log(&self, until: LogNo) -> u64 {
        self.engine.intake.log_rows.count_until(until)
    }
}
