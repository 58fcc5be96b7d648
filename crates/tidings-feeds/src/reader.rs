//! A feed that is read: the task that begins its reader, and begins it again.

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use crate::status::{FeedState, SharedFeedState, Snapshot};
use crate::{Context, FeedFault, FeedSettings, Sink, poll, watching};

/// The first wait before a reader begins again; it doubles.
const REST_MIN: Duration = Duration::from_millis(100);

/// The longest wait before a reader begins again.
const REST_MAX: Duration = Duration::from_secs(15);

/// An order to a feed.
#[derive(Clone, Copy)]
struct FeedCommand {
    is_paused: bool,
    /// Number of times that it was resumed: a feed that has stopped tries again.
    resumed: u64,
}

/// A feed that is read, until this is dropped.
pub struct Feed {
    settings: FeedSettings,
    status: Arc<SharedFeedState>,
    wish: watch::Sender<FeedCommand>,
    task: JoinHandle<()>,
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Feed {
    /// Starts to read, unless it is paused.
    #[must_use]
    pub fn start(
        runtime: &Handle,
        settings: FeedSettings,
        sink: Arc<dyn Sink>,
        is_paused: bool,
    ) -> Self {
        let status = Arc::<SharedFeedState>::default();
        let wish = watch::Sender::new(FeedCommand { is_paused, resumed: 0 });
        let context = Context { settings: settings.clone(), sink, status: Arc::clone(&status) };
        if is_paused {
            status.set(|status| status.state = FeedState::Paused);
        }
        let task = runtime.spawn(run(context, wish.subscribe()));
        Self { settings, status, wish, task }
    }

    /// Its settings.
    #[must_use]
    pub fn settings(&self) -> &FeedSettings {
        &self.settings
    }

    /// Its state now.
    #[must_use]
    pub fn status(&self) -> Snapshot {
        self.status.get()
    }

    /// Stops reading; rows stay where they are.
    pub fn pause(&self) {
        self.wish.send_modify(|wish| wish.is_paused = true);
        self.status.set(|status| status.state = FeedState::Paused);
    }

    /// Goes on reading, also where it has stopped by itself.
    pub fn resume(&self) {
        self.status.set(|status| status.state = FeedState::Running);
        self.wish.send_modify(|wish| {
            *wish = FeedCommand { is_paused: false, resumed: wish.resumed.wrapping_add(1) };
        });
    }
}

/// Reads whenever that is wished. A reader that is no longer wished is dropped at its next wait.
async fn run(context: Context, mut wish: watch::Receiver<FeedCommand>) {
    let mut rest = REST_MIN;
    loop {
        let now = *wish.borrow_and_update();
        if now.is_paused {
            tokio::select! {
                changed = wish.changed() => if changed.is_err() { return },
                never = watching::watch(&context, None) => match never {},
            }
            continue;
        }
        let fault = tokio::select! {
            changed = wish.changed() => {
                if changed.is_err() {
                    return;
                }
                continue;
            }
            never = poll::read(&context) => match never { Err(fault) => fault, Ok(never) => match never {} },
        };
        let name = &context.settings.name;
        let lasts = matches!(fault, FeedFault::Lasting(_));
        tracing::warn!(feed = %name, %lasts, reason = %fault, "the feed can't be read");
        let is_first = context.status.get().fault.is_none();
        context.status.set(|status| {
            status.fault = Some(fault.to_string());
            if lasts {
                status.state = FeedState::Stopped;
            }
        });
        // A fault that was mended in between begins with the short wait again.
        rest = if is_first { REST_MIN } else { (rest * 2).min(REST_MAX) };
        let known = fault.to_string();
        let patience = async {
            // Only an operator can mend it, so the reader watches for a change rather than try on.
            if lasts {
                match watching::watch(&context, Some(&known)).await {}
            } else {
                sleep(rest).await;
            }
        };
        tokio::select! {
            changed = wish.changed() => if changed.is_err() { return },
            () = patience => {}
        }
    }
}
