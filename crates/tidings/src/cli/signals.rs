//! What the process is asked by signals.

use std::sync::Arc;

use tokio::runtime::Runtime;
use tokio::sync::watch;

/// Turns true once somebody asks the process to end, so that nothing is left lying about. Who asks
/// twice is not asked to wait.
pub(super) fn stop(runtime: &Runtime) -> Arc<watch::Sender<bool>> {
    let stop = Arc::new(watch::Sender::new(false));
    let sender = Arc::clone(&stop);
    #[expect(
        clippy::exit,
        reason = "whoever asks twice does not want to wait for an orderly end"
    )]
    let asked = move || {
        if sender.send_replace(true) {
            std::process::exit(1);
        }
    };
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let asked = asked.clone();
        runtime.spawn(async move {
            let Ok(mut terminate) = signal(SignalKind::terminate()) else {
                return;
            };
            while terminate.recv().await.is_some() {
                asked();
            }
        });
    }
    runtime.spawn(async move {
        while tokio::signal::ctrl_c().await.is_ok() {
            asked();
        }
    });
    stop
}

/// Calls `again` whenever somebody asks for the configuration to be read again (SIGHUP, where there
/// are signals).
pub(super) fn reload(runtime: &Runtime, again: impl Fn() + Send + 'static) {
    #[cfg(unix)]
    runtime.spawn(async move {
        use tokio::signal::unix::{SignalKind, signal};
        let Ok(mut hangup) = signal(SignalKind::hangup()) else {
            return;
        };
        while hangup.recv().await.is_some() {
            // It reads a file and waits for the node.
            tokio::task::block_in_place(&again);
        }
    });
    #[cfg(not(unix))]
    drop((runtime, again));
}
