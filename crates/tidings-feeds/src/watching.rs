//! The watcher of a feed that is not read.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;

use crate::outbox::Outbox;
use crate::poll::{CHORES_EVERY, gauge, open};
use crate::{Context, FeedFault};

/// Looks at the table of a feed that is not read, for what others see of it. It is not read because it is paused, or
/// for this fault.
pub(crate) async fn watch(context: &Context, known: Option<&str>) -> Infallible {
    let every = context.settings.every.max(CHORES_EVERY);
    loop {
        let fault = watch_until_broken(context, every, known).await;
        let Err(fault) = fault;
        if known.is_none() {
            context.status.set(|status| status.fault = Some(fault.to_string()));
        }
        sleep(every.max(Duration::from_secs(5))).await;
    }
}

async fn watch_until_broken(
    context: &Context,
    every: Duration,
    known: Option<&str>,
) -> Result<Infallible, FeedFault> {
    let client = open(context, &Arc::default()).await?;
    let outbox = Outbox::of(&context.settings, &client);
    loop {
        gauge(context, &outbox).await?;
        context.status.set(|status| status.fault = known.map(str::to_owned));
        sleep(every).await;
    }
}
