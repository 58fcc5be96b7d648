//! The socket: a bounded number of connections, and a stop that finishes requests in progress.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

/// The bounds of connections.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Maximum number of open connections; more wait to be accepted.
    pub connections_max: usize,
    /// Time limit of a request's head, and of an idle connection.
    pub head_patience: Duration,
    /// Maximum number of bytes of a request's head.
    pub head_bytes_max: usize,
    /// Time limit of requests in progress once the server stops.
    pub drain_patience: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            connections_max: 4_096,
            head_patience: Duration::from_secs(60),
            head_bytes_max: 64 << 10,
            drain_patience: Duration::from_secs(30),
        }
    }
}

/// The wait if the system is out of connections: a moment, so that some end.
const OUT_OF_FILES_WAIT: Duration = Duration::from_millis(100);

/// Serves until `stop`; then accepts no connection, and finishes requests in progress within bounds.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    bounds: Bounds,
    stop: impl Future<Output = ()>,
) {
    let graceful = GracefulShutdown::new();
    let room = Arc::new(Semaphore::new(bounds.connections_max));
    let mut stop = std::pin::pin!(stop);
    loop {
        let stream = tokio::select! {
            stream = accept(&listener, &room) => stream,
            () = &mut stop => break,
        };
        let (stream, permit) = stream;
        let service = TowerToHyperService::new(router.clone());
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(bounds.head_patience)
            .max_buf_size(bounds.head_bytes_max)
            .serve_connection(TokioIo::new(stream), service);
        let connection = graceful.watch(connection);
        tokio::spawn(async move {
            // A connection that breaks is the client's matter.
            if let Err(fault) = connection.await {
                tracing::debug!(error = %fault, "a connection broke");
            }
            drop(permit);
        });
    }
    drop(listener);
    if timeout(bounds.drain_patience, graceful.shutdown())
        .await
        .is_err()
    {
        let seconds = bounds.drain_patience.as_secs();
        tracing::warn!(seconds, "requests still in progress were cut off");
    }
}

async fn accept(
    listener: &TcpListener,
    room: &Arc<Semaphore>,
) -> (TcpStream, tokio::sync::OwnedSemaphorePermit) {
    let permit = Arc::clone(room).acquire_owned().await;
    let permit = permit.expect("the semaphore is never closed");
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                // Answers are whole: there is nothing to wait for.
                if let Err(fault) = stream.set_nodelay(true) {
                    tracing::debug!(error = %fault, "a connection broke");
                }
                return (stream, permit);
            }
            Err(fault) => {
                tracing::warn!(error = %fault, "accepting a connection failed");
                sleep(OUT_OF_FILES_WAIT).await;
            }
        }
    }
}
