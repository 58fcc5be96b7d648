//! Catching up after a late clock.

use tidings_core::Instant;

use super::EventLoop;
use crate::error::{Error, RuntimeError};
use crate::handle::Request;
use crate::node::Node;

/// The most missed instants that are decided in one commit. Requests wait for one such slice.
const INSTANTS_AT_ONCE: usize = 1024;

/// Processes a slice of the missed instants, in order; returns whether there are more. After the last one
/// the lanes due now are closed, and the instant is open for arrivals.
pub(super) fn catch_up(node: &mut Node, now: Instant) -> Result<bool, Error> {
    let midnight = node.engine().next_forget().filter(|at| *at <= now);
    let next = midnight.unwrap_or(now);
    node.play_missed(next.plus_ms(-1), INSTANTS_AT_ONCE)?;
    if node.next_due().is_some_and(|due| due < next) {
        return Ok(true);
    }
    if node.next_due().is_some_and(|due| due <= next) {
        node.fall_due(next)?;
    }
    let Some(midnight) = midnight else {
        return Ok(false);
    };
    node.forget_due(midnight)?;
    if midnight < now {
        node.step(midnight, &[])?;
    }
    Ok(node.is_late(now))
}

/// Puts off the requests that have to wait for the missed instants, as many as may wait; returns the
/// rest.
pub(super) fn put_off(
    requests: Vec<Request>,
    put_off: &mut Vec<Request>,
    most: usize,
) -> Vec<Request> {
    let mut possible = Vec::new();
    for request in requests {
        match request {
            Request::Work(work) if put_off.len() >= most => work.fail(RuntimeError::Busy),
            Request::Configure(.., answer) if put_off.len() >= most => {
                drop(answer.send(Err(RuntimeError::Busy)));
            }
            Request::Work(_) | Request::Configure(..) => put_off.push(request),
            Request::Keys(_)
            | Request::Report(..)
            | Request::Told(_)
            | Request::ReadKeys
            | Request::Wake
            | Request::Stop(_) => {
                possible.push(request);
            }
        }
    }
    possible
}

impl EventLoop {
    /// The requests that were put off, and those that came since.
    pub(super) fn with_put_off(&mut self, requests: Vec<Request>) -> Vec<Request> {
        let mut all = std::mem::take(&mut self.put_off);
        all.extend(requests);
        all
    }

    /// Waits for the end of an instant that ended with a delivery, before commands are handled: later
    /// arrivals in it would need a second message of the same instant.
    pub(super) fn let_instant_pass(&self, requests: &[Request]) {
        let changes = |request: &Request| {
            matches!(
                request,
                Request::Work(_) | Request::Configure(..) | Request::Told(_)
            )
        };
        let spoke = self.node.as_ref().and_then(|node| node.engine().spoke_at());
        if let Some(spoke) = spoke.filter(|_| requests.iter().any(changes)) {
            self.clock.pass(spoke);
        }
    }

    /// Reads the clock and logs a step back.
    pub(super) fn look_at_the_clock(&mut self) -> Instant {
        let now = self.clock.now();
        if now < self.seen {
            self.vitals.stepped_back();
            let newest = self.node.as_ref().map(|node| node.engine().now());
            let newest_step = newest.unwrap_or(self.seen);
            tracing::warn!(
                from = %self.seen,
                to = %now,
                %newest_step,
                "the clock stepped back; the cool-downs and digests of what came since then wait until it has come to \
                 the newest step again"
            );
        }
        self.seen = now;
        now
    }
}
