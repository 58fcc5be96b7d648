//! The number of the newest commit, noted beside the engine.
//!
//! The journal of a store alone can't show that its end is missing: without its last commits it looks as
//! if they had never been. So the number of one that is durable is kept in a file of its own.

use std::sync::atomic::{AtomicU64, Ordering};

use super::super::directory::ACCEPT_LOSS;
use super::FjallEngine;
use crate::Error;

impl FjallEngine {
    /// Refuses a store that ends before a commit that was noted as durable. A crash never leads to this:
    /// a commit is noted after it was synced.
    pub(super) fn compare_with(
        &mut self,
        noted: Result<Option<u64>, Error>,
        accept_loss: bool,
    ) -> Result<(), Error> {
        let last = self.last_commit.load(Ordering::Relaxed);
        let is_behind = match noted {
            Ok(noted) => noted.is_some_and(|noted| noted > last),
            Err(_) if accept_loss => true,
            Err(fault) => return Err(fault),
        };
        if is_behind && !accept_loss {
            return Err(Error::Corrupt(format!(
                "{}: its newest commits are gone: it ends with commit {last}, and later ones were \
                 durable; restore it from a backup, or {ACCEPT_LOSS}",
                self.directory.engine().display()
            )));
        }
        if is_behind {
            let noted = self.directory.note_newest(last);
            noted.map_err(|fault| Error::Unusable(fault.to_string()))?;
        }
        self.noted_commit = Some(AtomicU64::new(last));
        Ok(())
    }

    /// Notes the newest commit. If that fails, an earlier one stays noted, which is also correct.
    pub(in super::super) fn note_newest(&self) {
        let Some(noted) = &self.noted_commit else {
            return;
        };
        let last = self.last_commit.load(Ordering::Acquire);
        if noted.load(Ordering::Relaxed) != last
            && self.broken.get().is_none()
            && self.directory.note_newest(last).is_ok()
        {
            noted.store(last, Ordering::Relaxed);
        }
    }
}
