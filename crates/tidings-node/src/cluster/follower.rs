//! The follower of a node with some shards: it waits for log entries, has them applied, and reports.
//!
//! One request is under way at a time. It carries the acknowledgements of the entries before, so the leader remembers
//! nothing: after a failure the follower sends it again, to the node that has the intake by then. The entries themselves
//! are read in the store.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Builder;
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, bounded};

use crate::clock::monotonic::Monotonic;
use crate::cluster::log_feed::FollowerReport;
use crate::handle::Handle;

/// The way to the node with the intake.
pub trait LeaderLink: Send {
    /// Reports, and returns once the report is durable and there are entries after those applied, or about half a second
    /// has passed.
    ///
    /// # Errors
    /// The reason, if it is not known whether the report is durable.
    fn exchange(&mut self, report: &FollowerReport) -> Result<(), String>;
}

/// The wait after a request that failed.
const PAUSE: Duration = Duration::from_millis(200);

/// The time after which API keys are read again, in milliseconds: the log does not have their changes.
const KEYS_MS: i64 = 400;

/// The number of failures after which one is logged.
const FAILURES_LOGGED: u32 = 25;

/// A node's follower; it ends when this is dropped.
pub struct Follower {
    ends: Arc<AtomicBool>,
    /// Dropped to end a pause.
    _awake: Sender<()>,
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::SeqCst);
    }
}

impl Follower {
    /// Starts the thread.
    ///
    /// # Errors
    /// A thread can't be started.
    pub fn start(handle: Handle, link: Box<dyn LeaderLink>) -> std::io::Result<Self> {
        let ends = Arc::<AtomicBool>::default();
        let (awake, pauses) = bounded(0);
        let thread =
            FollowerThread { handle, link, pauses, ends: Arc::clone(&ends), keys_read: None };
        Builder::new().name("tidings-follower".to_owned()).spawn(move || thread.run())?;
        Ok(Self { ends, _awake: awake })
    }
}

/// The thread of a follower.
struct FollowerThread {
    handle: Handle,
    link: Box<dyn LeaderLink>,
    pauses: Receiver<()>,
    ends: Arc<AtomicBool>,
    keys_read: Option<Monotonic>,
}

impl FollowerThread {
    fn run(mut self) {
        let mut confirms = false;
        let mut unanswered = FollowerReport::default();
        let mut failures = 0_u32;
        while !self.ends.load(Ordering::SeqCst) {
            self.read_keys();
            let report = match self.handle.apply_log(confirms) {
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

    /// Reads API keys again, even if the node with the intake can't be reached.
    fn read_keys(&mut self) {
        let now = Monotonic::now();
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
