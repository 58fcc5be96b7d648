//! Requests for a line in the log of changes about what changes nothing in the store.

use std::sync::Arc;

use tidings_core::Instant;
use tidings_core::engine::LoggedChange;
use tidings_core::model::Origin;

use crate::commit::WhenDurable;
use crate::error::{Error, RuntimeError};
use crate::node::{ChangeToLog, Node};

/// A line of the log of changes about what changed nothing in the store.
pub(crate) struct LogRequest {
    pub(crate) origin: Arc<Origin>,
    pub(crate) change: LoggedChange,
    pub(crate) then: WhenDurable,
}

impl LogRequest {
    /// Answers that it failed.
    pub(crate) fn fail(self, fault: RuntimeError) {
        (self.then)(Err(fault));
    }

    /// Adds the line to the commit.
    ///
    /// # Errors
    /// [`Error`]; the request is answered then too, and the node is poisoned.
    pub(crate) fn work(self, node: &mut Node, now: Instant) -> Result<(), Error> {
        let Self { origin, change, then } = self;
        let line = ChangeToLog { origin: &origin, change }.writes(node, now);
        match line.and_then(|line| node.write(line)) {
            Ok(()) => {
                node.ahead().answer(then);
                Ok(())
            }
            Err(fault) => {
                then(Err(RuntimeError::of_commit(&fault)));
                Err(fault)
            }
        }
    }
}
