//! A request to the loop, and the stop that comes after all of them.

use std::time::{self, Duration};

use crossbeam_channel::{Receiver, Sender, after, bounded};
use tidings_core::{Command, Rules};

use crate::channel::Channels;
use crate::cluster::log_feed::{ApplyRequest, FollowerReport, WaitingFollower};
use crate::commit::WhenDurable;
use crate::commit::work::StepWork;
use crate::error::RuntimeError;
use crate::handle::log::LogRequest;
use crate::keys::KeyRequest;
use crate::node::dry_run::DryRequest;

/// A request to the loop.
pub(crate) enum Request {
    Work(StepWork),
    /// A command, or acts of another node, to be decided and not done.
    DryRun(DryRequest),
    Keys(KeyRequest),
    /// Something beside the engine's commands is to be logged.
    Log(LogRequest),
    Configure(Box<Rules>, Channels, Sender<Result<(), RuntimeError>>),
    /// A report of a node with other shards, and its question for acts.
    Report(Box<FollowerReport>, WaitingFollower),
    /// Acts of the node with the intake, to be applied.
    Apply(ApplyRequest),
    /// The log is to be applied up to its current end.
    CatchUp(WhenDurable),
    /// The keys may have been changed by another node.
    ReadKeys,
    /// The clock was set: read it again.
    Wake,
    Stop(Stop),
}

/// A requested stop.
pub(crate) struct Stop {
    /// The requester, which learns that everything has stopped.
    pub(crate) answer: Sender<Result<(), RuntimeError>>,
    /// Signals the end of waiting for work in progress.
    pub(crate) drained: Receiver<time::Instant>,
}

/// The stop that was requested, if one was.
pub(crate) type StopFlag = Option<Stop>;

impl Stop {
    pub(crate) fn within(drain: Duration, answer: Sender<Result<(), RuntimeError>>) -> Self {
        Self { answer, drained: after(drain) }
    }

    /// The stop when no handle is left.
    pub(crate) fn unasked() -> Self {
        Self::within(Duration::MAX, bounded(1).0)
    }
}

impl Request {
    /// Returns true if it may change hooks.
    pub(crate) fn concerns_hooks(&self) -> bool {
        match self {
            Self::Work(work) => {
                work.commands.iter().any(|command| matches!(command, Command::Hook { .. }))
            }
            Self::Configure(..) => true,
            _ => false,
        }
    }

    /// Returns true if it can only be answered as of the end of the log: it names a tenant, which may be new.
    pub(crate) fn needs_log(&self) -> bool {
        match self {
            Self::Work(work) => work.commands.iter().any(Command::names_tenant),
            Self::DryRun(request) => request.needs_log(),
            Self::CatchUp(_) => true,
            _ => false,
        }
    }

    /// Answers the request with an error: nothing is done any more.
    pub(crate) fn turn_away(self) {
        match self {
            Self::Work(work) => work.fail(RuntimeError::Stopped),
            Self::DryRun(request) => request.fail(RuntimeError::Stopped),
            Self::Keys(request) => request.fail(RuntimeError::Stopped),
            Self::Log(request) => request.fail(RuntimeError::Stopped),
            Self::Configure(.., answer) | Self::Stop(Stop { answer, .. }) => {
                let _ = answer.send(Err(RuntimeError::Stopped));
            }
            Self::Apply(request) => (request.then)(Err(RuntimeError::Stopped)),
            Self::CatchUp(then) => then(Err(RuntimeError::Stopped)),
            // A follower asks again.
            Self::Report(..) | Self::ReadKeys | Self::Wake => {}
        }
    }
}
