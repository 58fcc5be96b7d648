//! The reader that asks the table.

use std::convert::Infallible;

use crate::{Context, Fault};

/// Reads until something is wrong. Dropped at any wait it loses nothing.
pub(crate) async fn read(_context: &Context) -> Result<Infallible, Fault> {
    std::future::pending().await
}

/// Looks at the table of a paused feed, for what others see of it.
pub(crate) async fn watch(_context: &Context) -> Infallible {
    std::future::pending().await
}
