//! Signals to the process.

use std::sync::Arc;

use tokio::runtime::Runtime;
use tokio::sync::watch;

/// Becomes true once the process is asked to end, so that it can clean up; it hears of that from now on. A second
/// request ends it at once.
pub(super) fn stop(runtime: &Runtime) -> Arc<watch::Sender<bool>> {
    let stop = Arc::new(watch::Sender::new(false));
    let sender = Arc::clone(&stop);
    #[expect(clippy::exit, reason = "whoever asks twice does not want to wait for an orderly end")]
    let on_signal = move || {
        if sender.send_replace(true) {
            std::process::exit(1);
        }
    };
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let on_signal = on_signal.clone();
        let _inside = runtime.enter();
        let terminate = signal(SignalKind::terminate());
        runtime.spawn(async move {
            let Ok(mut terminate) = terminate else {
                return;
            };
            while terminate.recv().await.is_some() {
                on_signal();
            }
        });
    }
    runtime.spawn(async move {
        while tokio::signal::ctrl_c().await.is_ok() {
            on_signal();
        }
    });
    stop
}

/// Requests for the configuration to be read again (SIGHUP, where there are signals).
#[derive(Default)]
pub(super) struct ReloadSignals {
    #[cfg(unix)]
    signal: Option<tokio::signal::unix::Signal>,
}

impl ReloadSignals {
    /// Hears of them from now on; without that the first one ends the process.
    pub(super) fn listen(runtime: &Runtime) -> Self {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            let _inside = runtime.enter();
            let signal = signal(SignalKind::hangup()).ok();
            Self { signal }
        }
        #[cfg(not(unix))]
        {
            let _ = runtime;
            Self::default()
        }
    }

    /// Calls `again` for them: once for all that have come so far, and whenever another one comes.
    pub(super) fn answer(self, runtime: &Runtime, again: impl Fn() + Send + 'static) {
        #[cfg(unix)]
        runtime.spawn(async move {
            let Some(mut signal) = self.signal else {
                return;
            };
            while signal.recv().await.is_some() {
                // It reads a file and waits for the node.
                tokio::task::block_in_place(&again);
            }
        });
        #[cfg(not(unix))]
        drop((runtime, again));
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::process::Command;
    use std::sync::mpsc::channel;

    use super::*;

    /// A signal that comes before the server can do anything about it neither ends it nor is lost.
    #[test]
    fn who_asks_before_the_server_is_ready_is_answered() {
        let runtime = Runtime::new().unwrap();
        let hangups = ReloadSignals::listen(&runtime);
        let process = std::process::id().to_string();
        let sent = Command::new("kill").args(["-HUP", &process]).status();
        assert!(sent.unwrap().success());
        let (tell, told) = channel();
        hangups.answer(&runtime, move || tell.send(()).unwrap());
        told.recv().unwrap();
    }
}
