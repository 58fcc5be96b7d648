//! The writing thread and its watchdog: inside a commit the engine may wait for its own background work,
//! and would wait for ever, silently, if that work is dead.
//!
//! All writes run on one thread; who asked waits for the answer, but not longer than told. A panic
//! of the engine becomes an error here, too. After either the store counts as broken.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::Error;

type Job = Box<dyn FnOnce() -> Result<(), Error> + Send>;

/// The writing thread.
#[derive(Debug)]
pub(super) struct Writer {
    line: Mutex<Option<Line>>,
    patience: Duration,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Line {
    jobs: Sender<Job>,
    answers: Receiver<Result<(), Error>>,
}

impl Writer {
    /// Starts the thread.
    pub(super) fn start(patience: Duration) -> Result<Self, Error> {
        let (jobs, inbox) = channel::<Job>();
        let (outbox, answers) = channel();
        let run = move || {
            for job in inbox {
                let answer = catch_unwind(AssertUnwindSafe(job)).unwrap_or_else(|_| {
                    Err(Error::Unavailable(
                        "the engine broke down while it wrote".to_owned(),
                    ))
                });
                if outbox.send(answer).is_err() {
                    return;
                }
            }
        };
        let thread = std::thread::Builder::new()
            .name("tidings-store".to_owned())
            .spawn(run)
            .map_err(|fault| Error::Unavailable(format!("no thread to write with: {fault}")))?;
        Ok(Self {
            line: Mutex::new(Some(Line { jobs, answers })),
            patience,
            thread: Some(thread),
        })
    }

    /// Runs a write and waits for its answer.
    ///
    /// # Errors
    /// The error of the write; [`Error::Hung`] if it takes longer than the patience, and
    /// [`Error::Unavailable`] for every write after that.
    pub(super) fn run(
        &self,
        job: impl FnOnce() -> Result<(), Error> + Send + 'static,
    ) -> Result<(), Error> {
        let mut slot = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(line) = slot.as_ref() else {
            return Err(stopped());
        };
        if line.jobs.send(Box::new(job)).is_err() {
            return Err(stopped());
        }
        match line.answers.recv_timeout(self.patience) {
            Ok(answer) => answer,
            Err(RecvTimeoutError::Timeout) => {
                // The late answer must not be taken for that of another write.
                *slot = None;
                Err(Error::Hung(self.patience.as_secs()))
            }
            Err(RecvTimeoutError::Disconnected) => Err(stopped()),
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let line = self
            .line
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        // Without a line the thread hangs in the engine: it keeps its handles, and the lock.
        if line.is_some()
            && let Some(thread) = self.thread.take()
        {
            drop(line);
            // It has caught every panic of a write, and its own end is all that is awaited here.
            let _ended = thread.join();
        }
    }
}

fn stopped() -> Error {
    Error::Unavailable("the writing thread has stopped; open the store again".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_that_hangs_or_breaks_down_is_an_error() {
        let writer = Writer::start(Duration::from_secs(60)).unwrap();
        assert!(writer.run(|| Ok(())).is_ok());
        assert!(matches!(
            writer.run(|| Err(Error::Full(String::new()))),
            Err(Error::Full(_))
        ));
        assert!(matches!(
            writer.run(|| panic!("on purpose")),
            Err(Error::Unavailable(_))
        ));
        assert!(writer.run(|| Ok(())).is_ok());

        let writer = Writer::start(Duration::ZERO).unwrap();
        let (release, hold) = channel::<()>();
        let hung = writer.run(move || {
            let _released = hold.recv();
            Ok(())
        });
        assert!(matches!(hung, Err(Error::Hung(0))));
        assert!(matches!(writer.run(|| Ok(())), Err(Error::Unavailable(_))));
        drop(release);
    }
}
