//! The fan-out of events: the size of each audience, and how long its publisher waited.

use std::sync::{Arc, Mutex, PoisonError};

use tidings_core::engine::{Refused, Reply};
use tidings_core::{Command, Id, Instant};
use tidings_node::Observer;

use super::stopwatch::Stopwatch;

/// The fan-out of one event to its audience.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredFanOut {
    /// The event.
    pub event: Id,
    /// The time when it was published, on the clock of the story.
    pub at: Instant,
    /// Its notifications.
    pub recipients: u64,
    /// Milliseconds from its publish until it was durable and in the inboxes, with everything else
    /// that was said at the same instant.
    pub ms: f64,
}

/// The events whose reach and speed the summary prints.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Foremost {
    /// The event that was asked for, once it was published.
    pub chosen: Option<MeasuredFanOut>,
    /// The event of most notifications; of equals the first.
    pub largest: Option<MeasuredFanOut>,
}

/// An observer of a player that collects fan-outs.
pub struct FanOuts {
    chosen: Id,
    watch: Stopwatch,
    foremost: Arc<Mutex<Foremost>>,
}

impl FanOuts {
    /// Watches for this event and for the largest; what it finds is to be read from the second.
    #[must_use]
    pub fn of(chosen: Id) -> (Self, Arc<Mutex<Foremost>>) {
        let foremost = Arc::<Mutex<Foremost>>::default();
        let shared = Arc::clone(&foremost);
        (Self { chosen, watch: Stopwatch::start(), foremost }, shared)
    }
}

impl Observer for FanOuts {
    fn before(&mut self, _: Instant, _: &[Command]) {
        self.watch = Stopwatch::start();
    }

    fn after(&mut self, at: Instant, replies: &[Result<Reply, Refused>]) {
        let ms = self.watch.ms();
        let mut foremost = self.foremost.lock().unwrap_or_else(PoisonError::into_inner);
        for reply in replies {
            let Ok(Reply::Published(published)) = reply else {
                continue;
            };
            let recipients = published.notifications;
            let reached = || MeasuredFanOut { event: published.id.clone(), at, recipients, ms };
            if published.id == self.chosen {
                foremost.chosen = Some(reached());
            }
            if foremost.largest.as_ref().is_none_or(|known| known.recipients < recipients) {
                foremost.largest = Some(reached());
            }
        }
    }
}
