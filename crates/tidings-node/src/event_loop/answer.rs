//! Handling of the requests between two waits of the loop.

use std::time::Duration;

use tidings_core::{Instant, Rules};

use super::step::step;
use crate::channel::InForce;
use crate::delivery::sending::Sending;
use crate::error::{Error, RuntimeError, unavailable};
use crate::handle::shares::CallerId;
use crate::handle::{Request, Stopping};
use crate::keys::Keys;
use crate::node::Node;

/// The state of a node that requests read and replace.
pub(super) struct NodeState<'a> {
    pub(super) channels: &'a InForce,
    pub(super) rules: &'a mut Rules,
    pub(super) keys: &'a Keys,
    /// The time that the requests of recipients took.
    pub(super) spent: &'a mut Vec<(CallerId, Duration)>,
}

/// Handles the requests, all commands in one step, and answers when it is durable.
pub(super) fn answer(
    node: &mut Node,
    now: Instant,
    requests: Vec<Request>,
    stopping: &mut Stopping,
    known: &mut NodeState<'_>,
    sending: &dyn Sending,
) -> Result<(), Error> {
    let mut waiting = Vec::new();
    let mut keys = Vec::new();
    let mut fault = None;
    let mut reads_keys = false;
    for request in requests {
        match request {
            // The shard moved to another node while the request was on its way.
            Request::Work(work) if !node.is_home_of(&work) => work.fail(unavailable()),
            Request::Work(work) => waiting.push(work),
            Request::Keys(request) => keys.push(request),
            Request::ReadKeys => reads_keys = true,
            // The log was applied before.
            Request::CatchUp(then) => node.ahead().answer(then),
            Request::Report(..) | Request::Apply(_) => {}
            Request::Configure(.., answer) if fault.is_some() => {
                let _ = answer.send(Err(unavailable()));
            }
            Request::Configure(rules, others, answer) => {
                let done = node
                    .set_rules_with(sending, now, (*rules).clone())
                    .and_then(|()| node.step_with(sending, now, &[]))
                    .and_then(|_| node.flush());
                if done.is_ok() {
                    // Follows the commit: where it fails, channels and rules both stay as they were.
                    known.channels.replace(others);
                    *known.rules = *rules;
                }
                let _ = answer.send(done.as_ref().map(|_| ()).map_err(RuntimeError::of_commit));
                fault = done.err();
            }
            Request::Wake => {}
            Request::Stop(stop) => *stopping = Some(stop),
        }
    }
    if let Some(fault) = fault {
        waiting.into_iter().for_each(|work| work.fail(unavailable()));
        keys.into_iter().for_each(|request| request.fail(unavailable()));
        return Err(fault);
    }
    // All commands of a turn are of one instant, so that they share a commit and a sync.
    let mut done = step(node, sending, now, waiting, known.spent);
    for request in keys {
        match done {
            Ok(()) => done = request.work(node),
            Err(_) => request.fail(unavailable()),
        }
    }
    if reads_keys && done.is_ok() {
        done = known.keys.load_keys(&node.view()?).map_err(Error::from);
    }
    done
}

/// Answers requests while there is no store.
pub(super) fn refuse(requests: Vec<Request>, stopping: &mut Stopping) {
    for request in requests {
        match request {
            Request::Work(work) => work.fail(unavailable()),
            Request::Keys(request) => request.fail(unavailable()),
            Request::Configure(.., answer) => {
                let _ = answer.send(Err(unavailable()));
            }
            Request::Apply(request) => (request.then)(Err(unavailable())),
            Request::CatchUp(then) => then(Err(unavailable())),
            Request::Report(..) | Request::ReadKeys | Request::Wake => {}
            Request::Stop(stop) => *stopping = Some(stop),
        }
    }
}
