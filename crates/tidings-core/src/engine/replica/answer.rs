//! The answers of shards on several nodes to acts, until those of all shards are there.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::engine::acts::applied::AppliedAct;
use crate::engine::acts::log_entry::{LogEntry, LogNo, StoredEntry};
use crate::engine::replies::reply::{Reply, TakenBackEntries};
use crate::model::changes::Origin;

/// The answers of an engine's shards to the acts of one number, to be added to those of others.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Answers {
    /// Number of the shards that have applied them.
    pub(crate) shards: usize,
    pub(crate) of_acts: Vec<AppliedAct>,
}

/// A command of a step whose answer is not whole: shards on other nodes have not applied its act yet.
#[derive(Clone, Debug)]
pub struct OpenReply {
    /// Its index among the commands of the step.
    pub command: usize,
    pub(crate) logged: Arc<LogEntry>,
    /// The index of its act among those of its number.
    pub(crate) act: usize,
    pub(crate) applied: AppliedAct,
    /// Number of the shards of which `applied` has the answer.
    pub(crate) shards: usize,
    /// The origin of the command; `None` = its changes are not logged.
    pub(crate) origin: Option<Arc<Origin>>,
}

impl OpenReply {
    /// The number of its act.
    #[must_use]
    pub fn no(&self) -> LogNo {
        self.logged.no()
    }

    /// The acts to be applied by the shards on other nodes.
    pub(crate) fn entry(&self) -> &StoredEntry {
        self.logged.stored()
    }

    /// The reply by the answers that are there. `is_known` = the event of a cancel is known, or it names a key.
    pub(crate) fn reply(&self, is_known: bool) -> Reply {
        let Some(act) = self.logged.acts.get(self.act) else {
            return Reply::Done;
        };
        match self.applied.clone().reply(act).0 {
            Reply::Cancelled(taken) if !is_known && !taken.took_something() => {
                Reply::Cancelled(TakenBackEntries::REMEMBERED)
            }
            reply => reply,
        }
    }

    /// Adds what the shards of another node have answered to the acts of this number.
    pub fn add(&mut self, answers: &Answers) {
        if let Some(applied) = answers.of_acts.get(self.act) {
            self.applied.add(applied.clone());
            self.shards += answers.shards;
        }
    }
}
