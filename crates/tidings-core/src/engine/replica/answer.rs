//! The answers of shards on several nodes to acts, until those of all shards are there.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::engine::rows::act::{Applied, LogEntry, LogNo};

/// The answers of an engine's shards to the acts of one number, to be added to those of others.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Answers {
    /// Number of the shards that have applied them.
    pub(crate) shards: usize,
    pub(crate) of_acts: Vec<Applied>,
}

/// A command of a step whose answer is not whole: shards on other nodes have not applied its act yet.
#[derive(Clone, Debug)]
pub struct OpenReply {
    /// Its index among the commands of the step.
    pub command: usize,
    pub(crate) logged: Arc<LogEntry>,
    /// The index of its act among those of its number.
    pub(crate) act: usize,
    pub(crate) applied: Applied,
    /// Number of the shards of which `applied` has the answer.
    pub(crate) shards: usize,
}

impl OpenReply {
    /// The number of its act.
    #[must_use]
    pub fn no(&self) -> LogNo {
        self.logged.no()
    }

    /// Adds what the shards of another node have answered to the acts of this number.
    pub fn add(&mut self, answers: &Answers) {
        if let Some(applied) = answers.of_acts.get(self.act) {
            self.applied.add(applied.clone());
            self.shards += answers.shards;
        }
    }
}
