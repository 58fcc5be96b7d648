//! The log between nodes: the loop of the node with the intake appends to it and takes reports; the loops of followers
//! apply its entries.

use std::sync::Arc;

use tidings_core::engine::{Commands, CommandsOrigin, Engine, read_log};
use tidings_core::{Command, Instant};

use super::EventLoop;
use super::answer::refuse;
use crate::cluster::log_feed::{ApplyRequest, FollowerReport, Learnt, WaitingFollower};
use crate::delivery::sending::SenderInterface;
use crate::error::{Error, RuntimeError, unavailable};
use crate::handle::request::{Request, StopFlag};
use crate::node::{AppliedEntries, Node};
use crate::resolver::resolving::log_refused;

/// The most entries that are read from the store at once.
const READ_AT_ONCE: usize = 256;

impl EventLoop {
    /// Takes the requests of other nodes out of all.
    pub(super) fn of_nodes(
        requests: Vec<Request>,
    ) -> (Vec<(FollowerReport, WaitingFollower)>, Vec<ApplyRequest>, Vec<Request>) {
        let (mut reports, mut logged, mut rest) = (Vec::new(), Vec::new(), Vec::new());
        for request in requests {
            match request {
                Request::Report(report, reporter) => reports.push((*report, reporter)),
                Request::Apply(request) => logged.push(request),
                request => rest.push(request),
            }
        }
        (reports, logged, rest)
    }

    /// Takes over the reports of followers, and lets them wait for newer entries.
    pub(super) fn take_reports(
        &mut self,
        now: Instant,
        reports: Vec<(FollowerReport, WaitingFollower)>,
    ) -> Result<(), Error> {
        for (report, WaitingFollower { acknowledged, then }) in reports {
            self.run_decision(now, |node, sending, _| {
                node.replication().take_report(now, &report)?;
                if report.learnt.is_empty() {
                    return Ok(());
                }
                Learnt::take_in(&report.learnt, node, sending, now)
            })?;
            // Precedes the wait below, which acts of this very report end at once.
            self.feed_followers();
            let Some(node) = &mut self.node else {
                return Ok(());
            };
            // Is acknowledged once it is durable: the follower forgets what it has reported then.
            let (feed, progress) = (Arc::clone(&self.cluster.feed), report.progress);
            let first_shard = progress.shards.first().copied().unwrap_or(0);
            node.ahead().answer(Box::new(move |durable| {
                if durable.is_ok() {
                    acknowledged();
                    feed.wait(first_shard, progress.applied, then);
                }
            }));
        }
        Ok(())
    }

    /// Applies acts of the node with the intake, as the store has them.
    pub(super) fn apply_log(
        &mut self,
        now: Instant,
        requests: Vec<ApplyRequest>,
    ) -> Result<(), Error> {
        for ApplyRequest { confirms, then } in requests {
            let applied = self.run_decision(now, |node, sending, _| {
                let engine = node.engine();
                let logged = read_log(&node.view()?, engine.replica().applied(), READ_AT_ONCE)?;
                let answers = node.replication().take_answers_ahead();
                let mut applied = AppliedEntries { answers, ..AppliedEntries::default() };
                if !logged.is_empty() {
                    let more = node.replication().apply_log(sending, now, &logged)?;
                    applied.answers.extend(more.answers);
                    applied.kept_objects.extend(more.kept_objects);
                    // Ends the instant: inbox entries of the log are delivered, and lanes that it made due
                    // close.
                    node.step_with(sending, now, Commands::default())?;
                }
                applied.kept_objects.extend(node.replication().take_kept_objects());
                Ok(applied)
            });
            let applied = match applied {
                Ok(applied) => applied,
                Err(fault) => {
                    then(Err(RuntimeError::of_commit(&fault)));
                    return Err(fault);
                }
            };
            // What was learnt since is reported next.
            if confirms && self.cluster.learnt.is_empty() {
                self.resolving.confirm();
            }
            let Some(node) = &mut self.node else {
                then(Err(unavailable()));
                return Ok(());
            };
            let report = FollowerReport {
                progress: node.engine().replica().progress(),
                answers: applied.answers,
                kept_objects: applied.kept_objects,
                learnt: std::mem::take(&mut self.cluster.learnt),
            };
            node.ahead().answer(Box::new(move |durable| then(durable.map(|()| report))));
        }
        Ok(())
    }

    /// Applies the log up to its current end if a request names a tenant: one that the intake has made since is known
    /// then, and one that it has deleted is not. Requests are turned away where the node is too far behind.
    pub(super) fn catch_up(
        &mut self,
        now: Instant,
        requests: Vec<Request>,
        stopping: &mut StopFlag,
    ) -> Result<Vec<Request>, Error> {
        if !requests.iter().any(Request::needs_log) {
            return Ok(requests);
        }
        let caught_up = self.run_decision(now, |node, sending, _| {
            let applied = node.engine().replica().applied();
            let caught_up = node.replication().catch_up(sending, now)?;
            if node.engine().replica().applied() != applied {
                node.step_with(sending, now, Commands::default())?;
            }
            Ok(caught_up)
        });
        let is_at_end = match caught_up {
            Ok(is_at_end) => is_at_end,
            Err(fault) => {
                refuse(requests, stopping);
                return Err(fault);
            }
        };
        let mut rest = Vec::with_capacity(requests.len());
        for request in requests {
            match request {
                request if is_at_end || !request.needs_log() => rest.push(request),
                Request::Work(work) => work.fail(RuntimeError::Busy),
                Request::DryRun(request) => request.fail(RuntimeError::Busy),
                Request::CatchUp(then) => then(Err(RuntimeError::Busy)),
                request => rest.push(request),
            }
        }
        Ok(rest)
    }

    /// Passes on the acts that were decided, once they are durable.
    pub(super) fn feed_followers(&mut self) {
        let Some(node) = &mut self.node else {
            return;
        };
        let Some(newest) = node.replication().take_log().last().map(|logged| logged.no()) else {
            return;
        };
        let feed = Arc::clone(&self.cluster.feed);
        node.ahead().answer(Box::new(move |durable| {
            if durable.is_ok() {
                feed.advance(newest);
            }
        }));
    }
}

impl Learnt {
    /// Takes in news of objects and addresses.
    pub(super) fn take_in(
        learnt: &[Self],
        node: &mut Node,
        sending: &dyn SenderInterface,
        now: Instant,
    ) -> Result<(), Error> {
        let commands: Vec<Command> = learnt.iter().map(|learnt| learnt.command.clone()).collect();
        let of = |learnt: &Self| CommandsOrigin { count: 1, origin: learnt.origin.clone() };
        let origins: Vec<CommandsOrigin> = learnt.iter().map(of).collect();
        let commands = Commands::from_origins(&commands, &origins);
        let accepted = node.step_with(sending, now, commands)?;
        log_refused(&accepted.replies);
        Ok(())
    }
}

/// The commands that un-suppress addresses which requests set again.
pub(super) fn unsuppressions(engine: &Engine, requests: &[Request]) -> Vec<Learnt> {
    let works = requests.iter().filter_map(|request| match request {
        Request::Work(work) => Some(work),
        _ => None,
    });
    let given = works.flat_map(|work| {
        let suppressions = engine.suppressions();
        let given = work.commands.iter().flat_map(|command| suppressions.given_again(command));
        given.map(|address| Learnt {
            command: Command::Unsuppress { address },
            origin: work.origin.clone(),
        })
    });
    given.collect()
}
