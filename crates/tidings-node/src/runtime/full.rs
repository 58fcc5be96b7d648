//! The loop while the disk is full.

use tidings_core::{Command, Instant};

use super::{Stopping, answer, catch_up, refuse};
use crate::Error;
use crate::channel::InForce;
use crate::handle::{Request, RuntimeError};
use crate::kept_back::KeptBack;
use crate::node::Node;

/// A turn where the disk is full: looks are answered, days are forgotten when asked or when their
/// time has come, and everything else has to wait. What is in memory stays true, so nothing has to be
/// opened again once there is room.
pub(super) fn turn_without_room(
    node: &mut Node,
    now: Instant,
    requests: Vec<Request>,
    stopping: &mut Stopping,
    (channels, full): (&InForce, &tidings_store::Error),
) -> Result<(), Error> {
    let is_forget = |command: &Command| matches!(command, Command::Forget { .. });
    let mut possible = Vec::new();
    for request in requests {
        match request {
            Request::Work(work) if !work.commands.iter().all(is_forget) => {
                work.fail(RuntimeError::Full(full.to_string()));
            }
            Request::Configure(.., answer) => {
                drop(answer.send(Err(RuntimeError::Full(full.to_string()))));
            }
            request => possible.push(request),
        }
    }
    node.set_frees(true);
    let forgets = node.engine().next_forget().is_some_and(|at| at <= now);
    let caught_up = if forgets { catch_up(node, now) } else { Ok(()) };
    let nothing = KeptBack::new(None, None);
    let done = match caught_up {
        Ok(()) => answer(node, now, possible, stopping, (channels, &nothing)),
        Err(fault) => {
            refuse(possible, stopping);
            Err(fault)
        }
    };
    node.set_frees(false);
    done
}
