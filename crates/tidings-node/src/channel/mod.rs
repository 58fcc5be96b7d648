//! Channels: how a message leaves the house. A channel can't see the store.

use tidings_core::Batch;
use tidings_core::time::Instant;

pub use outcome::{Outcome, Receipt};

mod outcome;

/// Hands one batch over to a provider. Called from several threads at once.
pub trait Channel: Send + Sync {
    /// Sends; the batch's id is the idempotency key. `now` is the node's clock. Blocks until the
    /// outcome is known or the channel's own time-out has passed.
    fn send(&self, batch: &Batch, now: Instant) -> Outcome;
}
