//! The status of hooks, for operators.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use tidings_core::Instant;

/// The status of a hook.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HookVitals {
    /// True if a 410 turned it off.
    pub is_off: bool,
    /// Number of occurrences that are still to be sent to it.
    pub backlog: u64,
    /// Number of occurrences in memory: about to be sent, or failed so far.
    pub open: u64,
    /// The instant and the status of the last answer.
    pub last: Option<(Instant, u16)>,
    /// Number of calls that it took.
    pub sent: u64,
    /// Number of calls that are tried again.
    pub retried: u64,
    /// Number of occurrences that were given up.
    pub failed: u64,
}

/// The status of all hooks, by name.
#[derive(Debug, Default)]
pub struct HooksVitals(Mutex<Option<BTreeMap<String, HookVitals>>>);

impl HooksVitals {
    /// Each hook of this node; `None` = no loop runs that calls hooks.
    #[must_use]
    pub fn all(&self) -> Option<BTreeMap<String, HookVitals>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn replace(&self, all: BTreeMap<String, HookVitals>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(all);
    }
}
