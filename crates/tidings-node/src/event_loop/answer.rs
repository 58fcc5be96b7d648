//! Handling of the requests between two waits of the loop.

use std::time::Duration;

use tidings_core::engine::Commands;
use tidings_core::{Instant, Rules};

use super::origins::of_configuration;
use super::step::step;
use crate::channel::ActiveChannels;
use crate::delivery::sending::SenderInterface;
use crate::error::{Error, RuntimeError, unavailable};
use crate::handle::log::LogRequest;
use crate::handle::request::{Request, StopFlag};
use crate::handle::shares::CallerId;
use crate::keys::{KeyRequest, Keys};
use crate::node::Node;
use crate::node::dry_run::DryRequest;

/// The state of a node that requests read and replace.
pub(super) struct NodeState<'a> {
    pub(super) channels: &'a ActiveChannels,
    pub(super) rules: &'a mut Rules,
    pub(super) keys: &'a Keys,
    /// The time that the requests of recipients took.
    pub(super) spent: &'a mut Vec<(CallerId, Duration)>,
}

/// A request about rows beside the engine's.
enum NodeRequest {
    Keys(KeyRequest),
    Log(LogRequest),
}

impl NodeRequest {
    fn work(self, node: &mut Node, now: Instant) -> Result<(), Error> {
        match self {
            Self::Keys(request) => request.work(node),
            Self::Log(request) => request.work(node, now),
        }
    }

    fn fail(self, fault: RuntimeError) {
        match self {
            Self::Keys(request) => request.fail(fault),
            Self::Log(request) => request.fail(fault),
        }
    }
}

/// Handles the requests, all commands in one step, and answers when it is durable.
pub(super) fn answer(
    node: &mut Node,
    now: Instant,
    requests: Vec<Request>,
    stopping: &mut StopFlag,
    state: &mut NodeState<'_>,
    sending: &dyn SenderInterface,
) -> Result<(), Error> {
    let mut waiting = Vec::new();
    let mut keys = Vec::new();
    let mut dry: Vec<DryRequest> = Vec::new();
    let mut fault = None;
    let mut reads_keys = false;
    for request in requests {
        match request {
            // The shard moved to another node while the request was on its way.
            Request::Work(work) if !node.is_home_of(&work) => work.fail(unavailable()),
            Request::Work(work) => waiting.push(work),
            Request::DryRun(request) if !request.is_at_home(node.engine()) => {
                request.fail(unavailable());
            }
            Request::DryRun(request) => dry.push(request),
            Request::Keys(request) => keys.push(NodeRequest::Keys(request)),
            Request::ReadKeys => reads_keys = true,
            // The log was applied before.
            Request::CatchUp(then) => node.ahead().answer(then),
            Request::Report(..) | Request::Apply(_) => {}
            Request::Configure(.., answer) if fault.is_some() => {
                let _ = answer.send(Err(unavailable()));
            }
            Request::Configure(rules, others, answer) => {
                let done = node
                    .set_rules_with(sending, now, of_configuration((*rules).clone()))
                    .and_then(|()| node.step_with(sending, now, Commands::default()))
                    .and_then(|_| node.flush());
                if done.is_ok() {
                    // Follows the commit: where it fails, channels and rules both stay as they were.
                    state.channels.replace(others);
                    *state.rules = *rules;
                }
                let _ = answer.send(done.as_ref().map(|_| ()).map_err(RuntimeError::of_commit));
                fault = done.err();
            }
            Request::Log(request) => keys.push(NodeRequest::Log(request)),
            Request::Wake => {}
            Request::Stop(stop) => *stopping = Some(stop),
        }
    }
    if let Some(fault) = fault {
        waiting.into_iter().for_each(|work| work.fail(unavailable()));
        keys.into_iter().for_each(|request| request.fail(unavailable()));
        dry.into_iter().for_each(|request| request.fail(unavailable()));
        return Err(fault);
    }
    // All commands of a turn are of one instant, so that they share a commit and a sync.
    let mut done = step(node, sending, now, waiting, state.spent);
    for request in keys {
        match done {
            Ok(()) => done = request.work(node, now),
            Err(_) => request.fail(unavailable()),
        }
    }
    for request in dry {
        match done {
            Ok(()) => done = request.answer(node, sending, now),
            Err(_) => request.fail(unavailable()),
        }
    }
    if reads_keys && done.is_ok() {
        done = state.keys.load_keys(&node.view()?).map_err(Error::from);
    }
    done
}

/// Answers requests while there is no store.
pub(super) fn refuse(requests: Vec<Request>, stopping: &mut StopFlag) {
    for request in requests {
        match request {
            Request::Work(work) => work.fail(unavailable()),
            Request::DryRun(request) => request.fail(unavailable()),
            Request::Keys(request) => request.fail(unavailable()),
            Request::Log(request) => request.fail(unavailable()),
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
