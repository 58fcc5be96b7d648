//! Stopping a node: it waits for work in progress, but not for ever.

use std::time::Duration;

use crossbeam_channel::{bounded, select};

use super::Runtime;
use crate::error::RuntimeError;
use crate::handle::request::Stop;

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
        self.handle.stop(Stop::within(drain, answer))?;
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
