//! The requests so far, by call and class of status.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::http::StatusCode;

/// Requests by call and class of status.
#[derive(Debug)]
pub(crate) struct Requests(pub(crate) BTreeMap<&'static str, [AtomicU64; 5]>);

/// The name for requests that match no call.
pub(crate) const NO_CALL: &str = "none";

impl Requests {
    /// Creates empty counters for these calls.
    pub(crate) fn of(calls: impl IntoIterator<Item = &'static str>) -> Self {
        let calls = calls.into_iter().chain([NO_CALL]);
        Self(calls.map(|call| (call, Default::default())).collect())
    }

    /// Counts one.
    pub(crate) fn count(&self, call: &str, status: StatusCode) {
        let class = usize::from(status.as_u16() / 100).clamp(1, 5) - 1;
        if let Some(classes) = self.0.get(call) {
            classes[class].fetch_add(1, Ordering::Relaxed);
        }
    }
}
