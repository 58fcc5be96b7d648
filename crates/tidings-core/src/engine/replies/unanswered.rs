//! Conditions without an answer, as steps and plans report them.

use crate::cel::EvaluationFailure;
use crate::model::id::Id;

/// A condition without an answer, for the log: its entries are skipped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnansweredCondition {
    /// The event.
    pub event: Id,
    /// Its type.
    pub event_type: String,
    /// The condition as it was written.
    pub condition: String,
    /// The reason why there is no answer.
    pub why: EvaluationFailure,
    /// Number of entries that end.
    pub entries: u64,
}
