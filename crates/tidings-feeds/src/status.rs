//! The state of a feed, which others may look at while it is read.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// The state of a feed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FeedState {
    /// It is read, or will be once its database is back.
    #[default]
    Running,
    /// Somebody has paused it.
    Paused,
    /// It can't go on until somebody fixes something.
    Stopped,
}

impl FeedState {
    /// Its name in answers.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Stopped => "stopped",
        }
    }
}

/// The status of a feed at an instant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// Its state.
    pub state: FeedState,
    /// The number of the newest row that was taken, as text.
    pub newest: Option<String>,
    /// Age of the oldest row that waits, by the clock of the database, in milliseconds; 0 = none does.
    pub lag_ms: u64,
    /// Number of rows taken since the process started.
    pub taken: u64,
    /// Number of rows that are parked in the table.
    pub parked: u64,
    /// Number of rows that were refused since the process started.
    pub refused: u64,
    /// The reason why it is not read.
    pub fault: Option<String>,
}

/// The state of a feed, shared between its reader and those who look.
#[derive(Debug, Default)]
pub struct SharedFeedState(Mutex<Snapshot>);

impl SharedFeedState {
    /// The state now.
    #[must_use]
    pub fn get(&self) -> Snapshot {
        self.lock().clone()
    }

    /// Changes it.
    pub fn set(&self, change: impl FnOnce(&mut Snapshot)) {
        change(&mut self.lock());
    }

    fn lock(&self) -> MutexGuard<'_, Snapshot> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
