//! Messages that are durable and can be sent.

use tidings_core::content::Batch;
use tidings_core::engine::Plan;

/// Messages that are durable and can be sent.
#[derive(Debug)]
pub struct ReadyMessages {
    /// The plan of the messages.
    pub plan: Plan,
    /// The batch of each message with entries: (index of the message, batch). Empty if they were not
    /// requested.
    pub batches: Vec<(usize, Batch)>,
}
