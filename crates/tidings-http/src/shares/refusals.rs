//! Answers that refuse a recipient who has taken their share: each waits for a moment.
//!
//! One who asks again as soon as they are refused keeps the processors busy with refusals. While theirs waits, a connection
//! asks for nothing else.

use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use tidings_node::CallerId;
use tokio::sync::Semaphore;
use tokio::time::sleep;

/// Maximum number of refusals that wait; further ones don't.
const WAITING_MAX: usize = 16_384;

/// The refusals that wait.
#[derive(Clone, Debug)]
pub(crate) struct Refusals {
    places: Arc<Semaphore>,
    /// The wait of each.
    delay: Duration,
}

impl Refusals {
    /// Refusals that each wait for this long.
    pub(crate) fn new(delay: Duration) -> Self {
        Self { places: Arc::new(Semaphore::new(WAITING_MAX)), delay }
    }

    /// Waits where an answer refuses a recipient their call.
    pub(crate) async fn hold(&self, caller: &CallerId, status: StatusCode) {
        let is_refused = status == StatusCode::TOO_MANY_REQUESTS;
        if !is_refused || !matches!(caller, CallerId::Recipient(_)) {
            return;
        }
        if let Ok(_place) = self.places.try_acquire() {
            sleep(self.delay).await;
        }
    }
}
