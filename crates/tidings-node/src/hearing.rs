//! The hearing of a node with some parts: it asks the node with the intake for acts, has them applied, and reports.
//!
//! One question is under way at a time, and says what became of the acts of the answer before. So nothing has to be
//! remembered by who answers: after a failure it is asked again, of whoever has the intake by then. The acts themselves are
//! read in the store.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Builder;
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, bounded};

use crate::clock::monotonic;
use crate::election::Monotonic;
use crate::feed::Report;
use crate::handle::Handle;

/// The way to the node with the intake.
pub trait Link: Send {
    /// Reports, and returns once the report is durable and there are acts that follow those applied, or about half a
    /// second has passed.
    ///
    /// # Errors
    /// The reason, if it is not known whether the report is durable.
    fn exchange(&mut self, report: &Report) -> Result<(), String>;
}

/// The wait after a question without an answer.
const PAUSE: Duration = Duration::from_millis(200);

/// The time after which API keys are read again, in milliseconds: nobody tells of their changes.
const KEYS_MS: i64 = 1_000;

/// The number of failures after which one is logged.
const FAILURES_LOGGED: u32 = 25;

/// A node's hearing; it ends when this is dropped.
pub struct Hearing {
    ends: Arc<AtomicBool>,
    /// Dropped to wake up who pauses.
    _awake: Sender<()>,
}

impl Drop for Hearing {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::SeqCst);
    }
}

impl Hearing {
    /// Begins to hear.
    ///
    /// # Errors
    /// A thread can't be started.
    pub fn start(handle: Handle, link: Box<dyn Link>) -> std::io::Result<Self> {
        let ends = Arc::<AtomicBool>::default();
        let (awake, pauses) = bounded(0);
        let ear = Ear { handle, link, pauses, ends: Arc::clone(&ends), keys_read: None };
        Builder::new().name("tidings-hearing".to_owned()).spawn(move || ear.hear())?;
        Ok(Self { ends, _awake: awake })
    }
}

/// The thread that hears.
struct Ear {
    handle: Handle,
    link: Box<dyn Link>,
    pauses: Receiver<()>,
    ends: Arc<AtomicBool>,
    keys_read: Option<Monotonic>,
}

impl Ear {
    fn hear(mut self) {
        let mut confirms = false;
        let mut unanswered = Report::default();
        let mut failures = 0_u32;
        while !self.ends.load(Ordering::SeqCst) {
            self.read_keys();
            let report = match self.handle.apply_told(confirms) {
                Ok(report) => report.after(std::mem::take(&mut unanswered)),
                // A store that has failed is opened again.
                Err(_) => {
                    confirms = false;
                    self.pause();
                    continue;
                }
            };
            match self.link.exchange(&report) {
                Ok(()) => {
                    failures = 0;
                    confirms = !report.learnt.is_empty();
                }
                Err(why) => {
                    failures += 1;
                    if failures.is_multiple_of(FAILURES_LOGGED) {
                        tracing::warn!(%why, "the node that accepts events can't be asked for them");
                    }
                    (unanswered, confirms) = (report, false);
                    self.pause();
                }
            }
        }
    }

    /// Has API keys read again, whether the node with the intake can be asked or not.
    fn read_keys(&mut self) {
        let now = monotonic();
        if self.keys_read.is_none_or(|read| now >= read.plus(KEYS_MS)) {
            self.keys_read = Some(now);
            // If it has no room for that now, it has the next time.
            let _ = self.handle.read_keys();
        }
    }

    fn pause(&self) {
        // Nothing is ever sent: that the other side is gone ends the pause.
        let _ended = self.pauses.recv_timeout(PAUSE);
    }
}
