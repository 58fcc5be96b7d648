//! A clock that is late: what it has missed is made up for.

use tidings_core::Instant;

use super::Loop;
use crate::Error;
use crate::node::Node;

/// Plays the instants that a late clock has missed, in their order.
pub(super) fn catch_up(node: &mut Node, now: Instant) -> Result<(), Error> {
    loop {
        let due = node.next_due().into_iter();
        let due = due.chain(node.engine().next_forget()).min();
        let Some(due) = due.filter(|due| *due <= now) else {
            return Ok(());
        };
        let at = due.max(node.engine().now());
        node.fall_due(at)?;
        node.forget_due(at)?;
        node.step(at, &[])?;
    }
}

impl Loop {
    /// What the clock says; that it stepped back is worth a word.
    pub(super) fn look_at_the_clock(&mut self) -> Instant {
        let now = self.clock.now();
        if now < self.seen {
            self.vitals.stepped_back();
            tracing::warn!(
                from = %self.seen,
                to = %now,
                "the clock stepped back; what is due waits until it has come there again"
            );
        }
        self.seen = now;
        now
    }
}
