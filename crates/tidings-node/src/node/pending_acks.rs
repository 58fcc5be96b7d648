//! Requests whose acts shards on other nodes have to apply before their answers are whole.
//!
//! They are answered when all shards have answered, or after a second with the answers so far, and marked so (`applied`
//! of a published event). A shard that is silent for long is not waited for.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use tidings_core::Instant;
use tidings_core::engine::{LogNo, OpenReply};

use crate::commit::work::StepWork;
use crate::error::RuntimeError;

/// The longest wait for shards on other nodes.
pub(super) const WAIT_MS: i64 = 1_000;

/// The time after which a silent shard is not waited for.
pub(super) const SILENT_MS: i64 = 2_000;

/// The requests that wait, by the number of their acts.
#[derive(Default)]
pub(super) struct PendingAcks {
    /// Behind a lock without contention: callbacks run in one thread, and readers share the node.
    waiting: Mutex<BTreeMap<AckCount, PendingStep>>,
    /// The instant of the last report of each shard of another node.
    pub(super) reported_at: BTreeMap<u16, Instant>,
}

/// The number of acts, and whether their requests wait at all.
pub(super) type AckCount = (LogNo, bool);

/// The requests of one step.
pub(super) struct PendingStep {
    pub(super) since: Instant,
    /// The shards that have not applied the acts yet.
    pub(super) shards: BTreeSet<u16>,
    pub(super) requests: Vec<PendingRequest>,
}

/// A request with the replies that are not whole, and its copies, which get its answer.
pub(super) struct PendingRequest {
    pub(super) work: StepWork,
    pub(super) open: Vec<OpenReply>,
    pub(super) copies: Vec<StepWork>,
}

impl PendingRequest {
    pub(super) fn fail(self, why: impl Fn() -> RuntimeError) {
        self.copies.into_iter().chain([self.work]).for_each(|work| work.fail(why()));
    }
}

impl Drop for PendingAcks {
    fn drop(&mut self) {
        for waiting in std::mem::take(self.waiting()).into_values() {
            for request in waiting.requests {
                let why = "the node ended while shards on other nodes applied it";
                request.fail(|| RuntimeError::Unknown(why.to_owned()));
            }
        }
    }
}

impl PendingAcks {
    pub(super) fn waiting(&mut self) -> &mut BTreeMap<AckCount, PendingStep> {
        let waiting = self.waiting.get_mut();
        waiting.unwrap_or_else(PoisonError::into_inner)
    }

    /// The instant at which the first of them is answered, whatever is missing.
    pub(super) fn next(&mut self) -> Option<Instant> {
        let first = self.waiting().values().map(|waiting| waiting.since).min();
        first.map(|since| since.plus_ms(WAIT_MS))
    }

    /// Adapts to a clock that was put back: no wait becomes longer by it.
    pub(super) fn put_back(&mut self, now: Instant) {
        let instants = self.reported_at.values_mut();
        instants.for_each(|at| *at = (*at).min(now));
        for waiting in self.waiting().values_mut() {
            waiting.since = waiting.since.min(now);
        }
    }
}
