//! What readers have in common.

use std::sync::Arc;

use crate::{Settings, Sink, Status};

/// What a reader works with.
pub struct Context {
    /// Settings of its feed.
    pub settings: Settings,
    /// Where rows go.
    pub sink: Arc<dyn Sink>,
    /// What others see of it.
    pub status: Arc<Status>,
}
