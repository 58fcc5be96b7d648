//! The parts that all readers share.

use std::sync::Arc;

use crate::{FeedSettings, SharedFeedState, Sink};

/// The parts that a reader works with.
pub struct Context {
    /// Settings of its feed.
    pub settings: FeedSettings,
    /// The receiver of rows.
    pub sink: Arc<dyn Sink>,
    /// The status that others read.
    pub status: Arc<SharedFeedState>,
}
