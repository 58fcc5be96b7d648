//! The end of unread answers: a reader who accepts nothing for a minute is given up.
//!
//! The protocols wait for a reader for ever, and the answer waits with them. Each task that writes answers has a clock
//! here: a piece that is handed to it starts the clock, and asking for the next one stops it.

use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hyper::rt::Executor;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

/// Time limit of a reader who accepts nothing.
pub(crate) const WRITE_PATIENCE: Duration = Duration::from_secs(60);

tokio::task_local! {
    /// The clock of the task, if it writes answers.
    static WRITER: Arc<AnswerWriter>;
}

/// The writing of answers by one task: of one stream of HTTP/2, or of a connection of HTTP/1.1.
pub(crate) struct AnswerWriter {
    patience: Duration,
    /// The instant by which the piece that is being written has to be accepted.
    until: Mutex<Option<Instant>>,
    began: Notify,
}

impl AnswerWriter {
    /// The writer of this task.
    pub(crate) fn current() -> Option<Arc<Self>> {
        WRITER.try_with(Arc::clone).ok()
    }

    fn set(&self, until: Option<Instant>) {
        *self.until.lock().unwrap_or_else(PoisonError::into_inner) = until;
    }

    /// A piece was handed over to be written.
    pub(crate) fn begin(&self) {
        self.set(Some(Instant::now() + self.patience));
        self.began.notify_one();
    }

    /// All that was handed over was accepted.
    pub(crate) fn accepted(&self) {
        self.set(None);
    }

    /// Ends once a reader has accepted nothing for too long.
    async fn stalled(&self) {
        loop {
            let until = *self.until.lock().unwrap_or_else(PoisonError::into_inner);
            match until {
                None => self.began.notified().await,
                Some(until) if until <= Instant::now() => return,
                Some(until) => sleep_until(until).await,
            }
        }
    }

    /// Runs a task that writes answers until it ends, or until its reader has accepted nothing for so long. `None` = the
    /// latter.
    pub(crate) async fn run<F: Future>(patience: Duration, task: F) -> Option<F::Output> {
        let writer = Self { patience, until: Mutex::default(), began: Notify::new() };
        let writer = Arc::new(writer);
        let mut task = pin!(WRITER.scope(Arc::clone(&writer), task));
        tokio::select! {
            ended = &mut task => Some(ended),
            () = writer.stalled() => None,
        }
    }
}

/// Runs the streams of HTTP/2, each until its reader is given up: then it is reset, and what it held is free.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StreamExecutor {
    pub(crate) patience: Duration,
}

impl<F> Executor<F> for StreamExecutor
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    fn execute(&self, stream: F) {
        tokio::spawn(AnswerWriter::run(self.patience, stream));
    }
}
