//! Missed instants of a node, a slice at a time, and the requests that wait for them.

use tidings_core::Instant;

use crate::error::{Error, RuntimeError};
use crate::handle::request::Request;
use crate::handle::shares::CallerId;
use crate::node::Node;

/// The most missed instants that are decided in one commit. Requests wait for one such slice.
const INSTANTS_AT_ONCE: usize = 1024;

/// Processes a slice of the missed instants, in order; returns whether there are more. After the last one
/// the lanes due now are closed, and the instant is open for arrivals. Days that are to be forgotten after
/// `forgets_until` wait: see [`ClockWatch`](super::clock_watch::ClockWatch).
pub(super) fn catch_up(
    node: &mut Node,
    now: Instant,
    forgets_until: Instant,
) -> Result<bool, Error> {
    let due = node.engine().next_forget().filter(|at| *at <= now);
    let midnight = due.filter(|at| *at <= forgets_until);
    let next = midnight.unwrap_or(now);
    // A midnight ends the slice: what is due until then goes out before its days are deleted.
    node.play_missed(next.plus_ms(-1), INSTANTS_AT_ONCE)?;
    if node.next_due().is_some_and(|due| due < next) {
        return Ok(true);
    }
    if node.next_due().is_some_and(|due| due <= next) {
        node.fall_due(next)?;
    }
    let Some(midnight) = midnight else {
        if due.is_some() {
            node.put_off_forgetting(now);
            node.step(now, &[])?;
        }
        return Ok(false);
    };
    node.forget_due(midnight)?;
    // A missed midnight gets the end of its instant here. That of now comes with the arrivals.
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
            Request::Work(work) if has_share(put_off, &work.caller, most) => {
                work.fail(RuntimeError::OverShare);
            }
            Request::DryRun(request) if put_off.len() >= most => request.fail(RuntimeError::Busy),
            Request::Configure(.., answer) if put_off.len() >= most => {
                let _ = answer.send(Err(RuntimeError::Busy));
            }
            Request::Work(_) | Request::DryRun(_) | Request::Configure(..) => put_off.push(request),
            Request::Keys(_)
            | Request::Log(_)
            | Request::Report(..)
            | Request::Apply(_)
            | Request::CatchUp(_)
            | Request::ReadKeys
            | Request::Wake
            | Request::Stop(_) => {
                possible.push(request);
            }
        }
    }
    possible
}

/// Returns true if a recipient has their share of what is put off. That of others is bounded by the queue before.
fn has_share(put_off: &[Request], caller: &CallerId, most: usize) -> bool {
    let is_theirs =
        |request: &&Request| matches!(request, Request::Work(work) if work.caller == *caller);
    matches!(caller, CallerId::Recipient(_))
        && put_off.iter().filter(is_theirs).count() >= caller.places(most)
}

/// Adapts a node to a clock that was put back; returns by how many milliseconds, if it was.
pub(super) fn put_back(node: &mut Node, now: Instant) -> Result<Option<i64>, Error> {
    let newest_step = node.engine().newest_step();
    let put_back = node.put_back(now)?;
    if let Some(by_ms) = put_back {
        tracing::warn!(
            by_s = by_ms / 1_000,
            %now,
            %newest_step,
            "the clock was ahead and was put right: what waits is due by it again, and what came meanwhile waits as if \
             it came now"
        );
    }
    Ok(put_back)
}
