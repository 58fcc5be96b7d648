//! Feeds of a server: the databases of the host that it reads, and the fate of their rows.
//!
//! Only the server that has the intake reads. What is known of a feed is kept by its reader, and ends with it.

#[cfg(test)]
#[cfg(feature = "postgres")]
mod tests;

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

#[cfg(feature = "postgres")]
use std::sync::Arc;

#[cfg(feature = "postgres")]
use tidings_feeds::{Feed, FeedSettings, FeedState, Sink, Snapshot};

/// The state of a feed that is tried again and again.
#[cfg(feature = "postgres")]
const FAILING: &str = "failing";

/// The status of a feed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct OutboxFeedStatus {
    pub(super) state: &'static str,
    pub(super) newest: Option<String>,
    /// Age of the oldest row that waits; `None` = unknown, as the table can't be read.
    pub(super) lag_ms: Option<u64>,
    pub(super) taken: u64,
    pub(super) refused: u64,
    pub(super) parked: u64,
    pub(super) fault: Option<String>,
}

impl OutboxFeedStatus {
    /// Returns true if nothing is in its way.
    pub(super) fn is_read(&self) -> bool {
        self.state == "running" && self.fault.is_none()
    }
}

#[cfg(feature = "postgres")]
impl From<Snapshot> for OutboxFeedStatus {
    fn from(seen: Snapshot) -> Self {
        let Snapshot { state, newest, lag_ms, taken, parked, refused, fault } = seen;
        // What it last met says nothing of a feed that nobody reads.
        let fault = fault.filter(|_| state != FeedState::Paused);
        let is_failing = state == FeedState::Running && fault.is_some();
        let state = if is_failing { FAILING } else { state.name() };
        let lag_ms = (!is_failing).then_some(lag_ms);
        Self { state, newest, lag_ms, taken, refused, parked, fault }
    }
}

/// A row that is parked in the table of a feed.
pub(super) struct ParkedOutboxRow {
    pub(super) row: i64,
    pub(super) key: Option<String>,
    /// The time when the host wrote it, in milliseconds since 1970.
    pub(super) at_ms: i64,
    /// The problem, as JSON.
    pub(super) problem: String,
}

/// The feeds that are read here.
#[derive(Default)]
pub struct Feeds(Mutex<ReadFeeds>);

/// The feeds that are read.
#[derive(Default)]
struct ReadFeeds {
    /// The runtime of readers; `None` while nothing is read here.
    #[cfg(feature = "postgres")]
    runtime: Option<tokio::runtime::Handle>,
    #[cfg(feature = "postgres")]
    feeds: BTreeMap<String, Feed>,
}

impl Feeds {
    fn lock(&self) -> MutexGuard<'_, ReadFeeds> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends all readers. Rows stay where they are.
    pub(super) fn end(&self) {
        *self.lock() = ReadFeeds::default();
    }
}

#[cfg(feature = "postgres")]
impl Feeds {
    /// Notes where readers run.
    pub(super) fn run_on(&self, runtime: &tokio::runtime::Handle) {
        self.lock().runtime = Some(runtime.clone());
    }

    /// Puts other settings in force, if feeds are read here. A feed whose settings stay the same goes on.
    pub(super) fn put(
        &self,
        settings: Vec<FeedSettings>,
        is_paused: &dyn Fn(&str) -> bool,
        sink: &dyn Fn() -> Arc<dyn Sink>,
    ) {
        let mut read = self.lock();
        let Some(runtime) = read.runtime.clone() else {
            return;
        };
        let mut before = std::mem::take(&mut read.feeds);
        for settings in settings {
            let name = settings.name.clone();
            let same = before.remove(&name).filter(|feed| *feed.settings() == settings);
            let feed = same.unwrap_or_else(|| {
                let is_paused = is_paused(&name);
                tracing::info!(feed = %name, table = %settings.table, is_paused, "reading a feed");
                Feed::start(&runtime, settings, sink(), is_paused)
            });
            read.feeds.insert(name, feed);
        }
        for name in before.keys() {
            tracing::info!(feed = %name, "the feed is no longer read as it was configured");
        }
    }

    /// The feeds that are read here, by name.
    pub(super) fn read_here(&self) -> Vec<(String, OutboxFeedStatus)> {
        let read = self.lock();
        read.feeds.iter().map(|(name, feed)| (name.clone(), feed.status().into())).collect()
    }

    /// The status of a feed.
    pub(super) fn status(&self, name: &str, is_paused: bool) -> OutboxFeedStatus {
        match self.lock().feeds.get(name) {
            Some(feed) => feed.status().into(),
            None => not_read(is_paused),
        }
    }

    /// The parked rows of a feed after one of them, by time and number, newest first; `None` = nobody can read them now.
    pub(super) async fn parked(
        &self,
        name: &str,
        after: Option<(i64, i64)>,
        most: usize,
    ) -> Option<Vec<ParkedOutboxRow>> {
        let settings = self.lock().feeds.get(name)?.settings().clone();
        let after = after.map(|(at_ms, id)| tidings_feeds::ParkedRowPlace { at_ms, id });
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let rows = match tidings_feeds::parked(&settings, after, most).await {
            Ok(rows) => rows,
            Err(fault) => {
                tracing::warn!(feed = name, %fault, "the parked rows of a feed can't be read");
                return None;
            }
        };
        let row = |row: tidings_feeds::ParkedRow| {
            let tidings_feeds::ParkedRow { id, key, at_ms, problem } = row;
            ParkedOutboxRow { row: id, key, at_ms, problem }
        };
        Some(rows.into_iter().map(row).collect())
    }

    /// Pauses or resumes a feed.
    pub(super) fn steer(&self, name: &str, is_paused: bool) {
        if let Some(feed) = self.lock().feeds.get(name) {
            if is_paused { feed.pause() } else { feed.resume() }
        }
    }
}

#[cfg(not(feature = "postgres"))]
impl Feeds {
    pub(super) fn read_here(&self) -> Vec<(String, OutboxFeedStatus)> {
        let _ = self;
        BTreeMap::new().into_iter().collect()
    }

    pub(super) fn status(&self, _: &str, is_paused: bool) -> OutboxFeedStatus {
        let _ = self;
        not_read(is_paused)
    }

    #[expect(clippy::unused_async, reason = "with feeds it reads their tables")]
    pub(super) async fn parked(
        &self,
        _: &str,
        _: Option<(i64, i64)>,
        _: usize,
    ) -> Option<Vec<ParkedOutboxRow>> {
        let _ = self;
        None
    }

    pub(super) fn steer(&self, _: &str, _: bool) {
        let _ = self;
    }
}

#[cfg(all(test, feature = "postgres"))]
mod status_tests {
    use super::*;

    #[test]
    fn f15_a_feed_with_a_fault_is_failing_and_nobody_knows_its_lag() {
        let of = |state, fault: Option<&str>| {
            let fault = fault.map(str::to_owned);
            let seen = Snapshot { state, fault, lag_ms: 7, ..Snapshot::default() };
            let OutboxFeedStatus { state, lag_ms, fault, .. } = seen.into();
            (state, lag_ms, fault.is_some())
        };
        assert_eq!(of(FeedState::Running, None), ("running", Some(7), false));
        assert_eq!(of(FeedState::Running, Some("no rights")), ("failing", None, true));
        assert_eq!(of(FeedState::Stopped, Some("row 7")), ("stopped", Some(7), true));
        assert_eq!(of(FeedState::Paused, Some("no rights")), ("paused", Some(7), false));
    }
}

/// The status of a feed that no server reads.
fn not_read(is_paused: bool) -> OutboxFeedStatus {
    if is_paused {
        return OutboxFeedStatus { state: "paused", ..OutboxFeedStatus::default() };
    }
    let fault = Some("no server reads it now".to_owned());
    OutboxFeedStatus { state: "stopped", fault, ..OutboxFeedStatus::default() }
}
