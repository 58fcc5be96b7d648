//! The interface of a service of the host that is told what occurs.

use std::sync::Arc;

use tidings_core::Instant;
use tidings_core::occurrence::OccurrencePlace;

/// A call that tells a hook of an occurrence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookCall {
    /// The name of the hook.
    pub hook: Arc<str>,
    /// The place of the occurrence.
    pub place: OccurrencePlace,
    /// Its id, the same at each hook and at each try.
    pub id: String,
    /// The body.
    pub body: String,
}

/// The answer to a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HookAnswer {
    /// The host answered.
    Status {
        /// The status.
        status: u16,
        /// The wait in milliseconds that it asks for.
        after_ms: Option<i64>,
    },
    /// There was no answer.
    Broken(String),
    /// This node may not call now.
    Withheld,
}

/// The services of the host, called over HTTP.
pub trait HookCaller: Send + Sync {
    /// Calls a hook at an instant. It asks `go` before the first byte of the body goes.
    fn call(&self, call: &HookCall, now: Instant, go: &dyn Fn() -> bool) -> HookAnswer;
}
