//! The state of a connection: until it has shown a key or a token, it may have few requests at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// A connection, as its requests see it.
pub(crate) struct Connection {
    /// True once one of its requests has shown a key or a token that is valid.
    is_known: AtomicBool,
    /// Requests in progress that have shown none.
    strangers: AtomicUsize,
    strangers_max: usize,
}

impl Connection {
    /// A connection, with its maximum number of requests at once without a key or a token.
    pub(crate) fn new(strangers_max: usize) -> Self {
        Self { is_known: AtomicBool::new(false), strangers: AtomicUsize::new(0), strangers_max }
    }

    /// Notes that a request has shown a key or a token that is valid.
    pub(crate) fn is_known(&self) {
        self.is_known.store(true, Ordering::Relaxed);
    }

    /// Begins a request without a key or a token; `None` = the connection has too many of them.
    pub(crate) fn begin(self: &Arc<Self>) -> Option<Begun> {
        let before = self.strangers.fetch_add(1, Ordering::Relaxed);
        let begun = Begun(Arc::clone(self));
        let may = before < self.strangers_max || self.is_known.load(Ordering::Relaxed);
        may.then_some(begun)
    }
}

/// A request without a key or a token, until it is answered.
pub(crate) struct Begun(Arc<Connection>);

impl Drop for Begun {
    fn drop(&mut self) {
        self.0.strangers.fetch_sub(1, Ordering::Relaxed);
    }
}
