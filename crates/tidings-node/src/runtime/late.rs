//! A clock that is late: what it has missed is made up for.

use tidings_core::Instant;

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
