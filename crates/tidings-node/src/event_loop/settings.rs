//! Settings of a node's loop.

use std::sync::Arc;

use tidings_core::engine::Options;
use tidings_store::Store;

/// A function that opens the store, at the start and after a failure.
pub type OpenStore = Box<dyn FnMut() -> Result<Arc<dyn Store>, tidings_store::Error> + Send>;

/// The settings of a runtime.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Options of the engine.
    pub options: Options,
    /// True if messages are built and sent. If not, due lanes are closed nevertheless, and their messages
    /// wait for a node that sends.
    pub sends: bool,
    /// True if pending chores are done before a stop. If not, the next start does them, so that a takeover waits for
    /// less.
    pub chores_at_stop: bool,
    /// Length of the queue of requests; one more is refused.
    pub requests_max: usize,
    /// The most commands of one step.
    pub commands_max: usize,
    /// The wait in milliseconds between two attempts to open a failed store.
    pub reopen_ms: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            options: Options::default(),
            sends: true,
            chores_at_stop: true,
            requests_max: 1024,
            commands_max: 2_048,
            reopen_ms: 1_000,
        }
    }
}
