//! Stopping a node: it waits for work in progress, but not for ever.

use std::time::Duration;

use crossbeam_channel::{Receiver, bounded, select};

use super::{Loop, Runtime};
use crate::handle::{Request, RuntimeError, Stop, unavailable};

/// The time that [`Runtime::stop`] waits for work in progress.
const DRAIN: Duration = Duration::from_secs(30);

/// The time limit of the last commit after the drain.
const LAST_COMMIT: Duration = Duration::from_secs(5);

impl Runtime {
    /// Stops within 30 s: see [`Runtime::stop_within`].
    ///
    /// # Errors
    /// As [`Runtime::stop_within`].
    pub fn stop(self) -> Result<(), RuntimeError> {
        self.stop_within(DRAIN)
    }

    /// Stops: earlier requests are answered, queued messages and those being sent are finished, pending
    /// chores are done; all of it within `drain`. A message that is still being sent then is in doubt, as
    /// after a crash: the next start takes it up.
    ///
    /// # Errors
    /// [`RuntimeError`] where the store failed meanwhile, or has not ended some seconds after the drain;
    /// nothing durable is lost by it.
    pub fn stop_within(self, drain: Duration) -> Result<(), RuntimeError> {
        let last = crossbeam_channel::after(drain.saturating_add(LAST_COMMIT));
        let (answer, answered) = bounded(1);
        self.handle.stop(Stop::within(drain, answer), &last)?;
        let result = select! {
            recv(answered) -> done => done.map_err(|_| RuntimeError::Stopped)?,
            recv(self.ended.0) -> _ => answered.try_recv().map_err(|_| RuntimeError::Stopped)?,
            recv(last) -> _ => return Err(late()),
        };
        // What still holds the store then goes with the process.
        select! {
            recv(self.closed) -> _ => {}
            recv(last) -> _ => {}
        }
        result
    }
}

fn late() -> RuntimeError {
    RuntimeError::Unknown("the last write has not ended in time".to_owned())
}

impl Loop {
    /// Whether nothing is left to wait for.
    pub(super) fn can_end(&self) -> bool {
        let is_settled = self.sent.is_empty() || self.node.is_none();
        self.is_drained || (self.senders.is_idle() && is_settled)
    }

    /// Ends, and answers the requester.
    pub(super) fn end(&mut self, stop: &Stop) {
        self.put_off.drain(..).for_each(Request::turn_away);
        let under_way = self.senders.under_way();
        if under_way > 0 {
            tracing::warn!(
                messages = under_way,
                "stopped while messages were under way; the next start takes them up"
            );
        }
        let result = self.last_writes(&stop.drained);
        if !self.is_drained {
            self.packer.wait_until(&stop.drained);
        }
        drop(stop.answer.send(result));
    }

    fn last_writes(&mut self, drained: &Receiver<std::time::Instant>) -> Result<(), RuntimeError> {
        let Some(node) = &mut self.node else {
            return Err(unavailable());
        };
        let failed = |fault: crate::Error| RuntimeError::Unknown(fault.to_string());
        node.ahead().finish().map_err(failed)?;
        // Chores that are not done now are for the next start, and so are all where there is no room.
        if node.store().ensure_room().is_err() {
            return Ok(());
        }
        while !self.is_drained {
            match node.chore() {
                Ok(true) => self.is_drained = drained.try_recv().is_ok(),
                Ok(false) => break,
                Err(fault @ crate::Error::Chore { .. }) => {
                    self.fail(&fault);
                    break;
                }
                Err(fault) => return Err(failed(fault)),
            }
        }
        Ok(())
    }
}
