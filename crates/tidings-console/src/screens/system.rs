//! The system: lists of what runs the server and of who uses it, and what can be done about each.

mod jobs;

use std::sync::Arc;

use axum::Router;

use crate::console::Console;

/// The screens of the system.
pub(crate) fn routes() -> Router<Arc<Console>> {
    Router::new().merge(jobs::routes())
}
