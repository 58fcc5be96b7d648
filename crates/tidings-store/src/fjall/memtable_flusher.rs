//! A thread that flushes full memtables, so that no commit waits for that, and periodically notes the
//! newest commit.
//!
//! Sealing a memtable is quick as a rule, and takes tens of milliseconds where the engine is just
//! putting its tables in order or removes a journal.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::engine::FjallEngine;
use super::options::Options;
use crate::Error;

/// The thread. It ends when this is dropped.
#[derive(Debug)]
pub(super) struct MemtableFlusher {
    wake: Option<SyncSender<()>>,
    ended: Mutex<Receiver<()>>,
    patience: Duration,
}

impl MemtableFlusher {
    /// Starts the thread.
    pub(super) fn start(engine: Arc<FjallEngine>, options: Options) -> Result<Self, Error> {
        let (wake, woken) = sync_channel(1);
        let (ends, ended) = sync_channel(1);
        let run = move || {
            loop {
                match woken.recv_timeout(options.note_every) {
                    Ok(()) => engine.empty_due_memtables(),
                    Err(RecvTimeoutError::Timeout) => engine.note_newest(),
                    Err(RecvTimeoutError::Disconnected) => break,
                }
            }
            engine.note_newest();
            drop(engine);
            // The receiver is gone if it has waited for longer than its limit.
            let _received = ends.send(());
        };
        std::thread::Builder::new()
            .name("tidings-emptier".to_owned())
            .spawn(run)
            .map_err(|fault| Error::Unavailable(format!("no thread to empty with: {fault}")))?;
        Ok(Self { wake: Some(wake), ended: Mutex::new(ended), patience: options.patience })
    }

    /// Wakes the thread, unless it is about to run anyway.
    pub(super) fn wake(&self) {
        if let Some(wake) = &self.wake {
            let _is_to_look = wake.try_send(());
        }
    }
}

impl Drop for MemtableFlusher {
    fn drop(&mut self) {
        self.wake = None;
        // A thread that hangs in the engine keeps its handles, and the lock.
        let ended = self.ended.get_mut().unwrap_or_else(PoisonError::into_inner);
        let _ended = ended.recv_timeout(self.patience);
    }
}
