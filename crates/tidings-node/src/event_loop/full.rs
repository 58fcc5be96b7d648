//! The loop while the disk is full.

use tidings_core::{Command, Instant};

use super::EventLoop;
use super::answer::{NodeState, answer, refuse};
use super::missed::catch_up;
use crate::error::{Error, RuntimeError};
use crate::handle::request::{Request, StopFlag};

impl EventLoop {
    /// Runs a turn on a full disk: reads are answered, days are deleted on request or when they expire,
    /// and everything else waits. The state in memory stays valid, so nothing has to be opened again once
    /// there is room.
    pub(super) fn turn_without_room(
        &mut self,
        now: Instant,
        requests: Vec<Request>,
        stopping: &mut StopFlag,
        full: &tidings_store::Error,
    ) -> Result<(), Error> {
        let is_forget = |command: &Command| matches!(command, Command::Forget { .. });
        let mut possible = Vec::new();
        for request in requests {
            match request {
                Request::Work(work) if !work.commands.iter().all(is_forget) => {
                    work.fail(RuntimeError::Full(full.to_string()));
                }
                Request::DryRun(request) => request.fail(RuntimeError::Full(full.to_string())),
                Request::Keys(request) => request.fail(RuntimeError::Full(full.to_string())),
                Request::Log(request) => request.fail(RuntimeError::Full(full.to_string())),
                Request::Apply(request) => {
                    (request.then)(Err(RuntimeError::Full(full.to_string())));
                }
                Request::CatchUp(then) => then(Err(RuntimeError::Full(full.to_string()))),
                Request::Configure(.., answer) => {
                    let _ = answer.send(Err(RuntimeError::Full(full.to_string())));
                }
                request => possible.push(request),
            }
        }
        self.set_frees(true);
        let done = self.do_what_frees(now, possible, stopping);
        // A stop does not wait for room: outcomes go into the reserve, or the next start would send these messages again.
        let done = if stopping.is_some() { done.and_then(|()| self.settle(now)) } else { done };
        self.set_frees(false);
        done
    }

    fn do_what_frees(
        &mut self,
        now: Instant,
        possible: Vec<Request>,
        stopping: &mut StopFlag,
    ) -> Result<(), Error> {
        if let Err(fault) = self.forget_without_room(now, stopping) {
            refuse(possible, stopping);
            return Err(fault);
        }
        let Some(node) = &mut self.node else {
            refuse(possible, stopping);
            return Ok(());
        };
        let channels = &self.outbound.delivery.channels();
        let (rules, keys, spent) = (&mut self.rules, &self.shared.keys, &mut self.spent);
        let mut state = NodeState { channels, rules, keys, spent };
        answer(node, now, possible, stopping, &mut state, &())
    }

    /// Deletes expired days; their due messages are sent first.
    fn forget_without_room(&mut self, now: Instant, stopping: &StopFlag) -> Result<(), Error> {
        let Some(node) = &mut self.node else {
            return Ok(());
        };
        let is_time = node.engine().next_forget().is_some_and(|at| at <= now);
        if !is_time && !node.forgets_late() {
            return Ok(());
        }
        let forgets_until = self.clock.forgets_until;
        // No slices here: nothing else is decided meanwhile, and days go only after all that was due
        // before.
        while catch_up(node, now, forgets_until)? {}
        self.settle(now)?;
        if stopping.is_none() {
            self.hand_out(now)?;
        }
        self.run_decision(now, |node, sending, _| node.forget_late(sending, now, forgets_until))
    }

    fn set_frees(&mut self, frees: bool) {
        if let Some(node) = &mut self.node {
            node.set_frees(frees);
        }
    }
}
