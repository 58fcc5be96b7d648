//! Answers that are written on a thread of their own, as their reader takes them.

use std::io::{self, Write};
use std::sync::Weak;
use std::time::Duration;

use axum::body::Bytes;
use futures_util::stream::{self, Stream};
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::time::timeout;

/// Bytes that are handed to the connection at once.
const CHUNK_BYTES: usize = 256 << 10;

/// Chunks that wait for a connection that is slower than the disk.
const CHUNKS_WAITING: usize = 4;

/// The interval at which a stalled stream is checked for whether it may still wait.
const LIFE_LOOK: Duration = Duration::from_millis(100);

/// Streams what is written as its reader takes it, with a fault at the end where it is not whole. The stream ends once
/// the node is gone (`life`), or where its reader accepts no data for so long.
pub(super) fn streamed(
    life: Weak<()>,
    patience: Duration,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()> + Send + 'static,
) -> impl Stream<Item = io::Result<Bytes>> {
    let (chunks, wanted) = mpsc::channel(CHUNKS_WAITING);
    let tokio = Handle::current();
    let writing = tokio::task::spawn_blocking(move || {
        let chunks = Chunks { chunks, tokio, life, patience, is_over: false };
        let mut out = io::BufWriter::with_capacity(CHUNK_BYTES, chunks);
        let written = write(&mut out).and_then(|()| out.flush());
        written.inspect_err(|fault| tracing::warn!(error = %fault, "a stream was interrupted"))
    });
    stream::unfold((wanted, Some(writing)), async |(mut wanted, writing)| {
        if let Some(chunk) = wanted.recv().await {
            return Some((Ok(chunk), (wanted, writing)));
        }
        // The connection breaks where it is not whole, so that whoever reads sees that.
        let ended = writing?.await.unwrap_or_else(|fault| Err(io::Error::other(fault)));
        Some((Err(ended.err()?), (wanted, None)))
    })
}

/// Hands on what is written; waits where the connection is slow, but not for ever.
struct Chunks {
    chunks: mpsc::Sender<Bytes>,
    tokio: Handle,
    life: Weak<()>,
    patience: Duration,
    /// It broke off: a buffer that is dropped writes once more.
    is_over: bool,
}

impl Chunks {
    /// Waits for room; a node that failed meanwhile wants its store back.
    async fn room(&self) -> io::Result<mpsc::Permit<'_, Bytes>> {
        let mut waited = Duration::ZERO;
        while self.life.strong_count() > 0 {
            match timeout(LIFE_LOOK, self.chunks.reserve()).await {
                Ok(room) => return room.map_err(|_| io::ErrorKind::BrokenPipe.into()),
                Err(_) if waited >= self.patience => {
                    let seconds = self.patience.as_secs_f32();
                    let why = format!("its reader accepted no data for {seconds} s");
                    return Err(io::Error::new(io::ErrorKind::TimedOut, why));
                }
                Err(_) => waited += LIFE_LOOK,
            }
        }
        Err(io::Error::other("the store failed or the server is stopping"))
    }
}

impl io::Write for Chunks {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.is_over {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        let sent =
            self.tokio.block_on(self.room()).map(|room| room.send(Bytes::copy_from_slice(bytes)));
        self.is_over = sent.is_err();
        sent.map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
