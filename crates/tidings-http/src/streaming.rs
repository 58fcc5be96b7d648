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

/// The least speed of a reader, in bytes a second.
const SPEED_MIN: usize = 64 << 10;

/// The time of waiting over which the speed of a reader is measured.
const SPEED_OVER: Duration = Duration::from_secs(60);

/// The speed of a reader, over the time that was waited for them.
#[derive(Default)]
struct ReaderPace {
    waited: Duration,
    bytes: usize,
}

impl ReaderPace {
    /// Returns true if the reader was waited for too long for what they took.
    fn is_too_slow(&mut self, waited: Duration) -> bool {
        self.waited += waited;
        if self.waited < SPEED_OVER {
            return false;
        }
        let Self { waited, bytes } = std::mem::take(self);
        bytes < SPEED_MIN * usize::try_from(waited.as_secs()).unwrap_or(usize::MAX)
    }
}

/// Streams what is written as its reader takes it, with a fault at the end where it is not whole. The stream ends once
/// the node is gone (`life`), or where its reader accepts no data for so long, or too little over a minute.
pub(super) fn streamed(
    life: Weak<()>,
    patience: Duration,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()> + Send + 'static,
) -> impl Stream<Item = io::Result<Bytes>> {
    let (chunks, wanted) = mpsc::channel(CHUNKS_WAITING);
    let tokio = Handle::current();
    let writing = tokio::task::spawn_blocking(move || {
        let chunks =
            Chunks { chunks, tokio, life, patience, pace: ReaderPace::default(), is_over: false };
        let mut out = io::BufWriter::with_capacity(CHUNK_BYTES, chunks);
        let written = write(&mut out).and_then(|()| out.flush());
        written.inspect_err(|fault| tracing::warn!(error = %fault, "a stream was interrupted"))
    });
    stream::unfold((wanted, Some(writing)), async |(mut wanted, writing)| {
        if let Some(chunk) = wanted.recv().await {
            return Some((Ok(chunk), (wanted, writing)));
        }
        // The connection breaks if the content is not whole, so that the reader notices.
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
    pace: ReaderPace,
    /// It broke off: a buffer that is dropped writes once more.
    is_over: bool,
}

impl Chunks {
    /// Waits for room; a node that failed meanwhile wants its store back.
    async fn room(&mut self) -> io::Result<mpsc::Permit<'_, Bytes>> {
        let mut waited = Duration::ZERO;
        while self.life.strong_count() > 0 {
            match timeout(LIFE_LOOK, self.chunks.reserve()).await {
                Ok(room) => return room.map_err(|_| io::ErrorKind::BrokenPipe.into()),
                Err(_) if self.pace.is_too_slow(LIFE_LOOK) => {
                    let why = "its reader takes less than 64 KiB a second";
                    return Err(io::Error::new(io::ErrorKind::TimedOut, why));
                }
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
        let tokio = self.tokio.clone();
        let sent = tokio.block_on(self.room()).map(|room| room.send(Bytes::copy_from_slice(bytes)));
        self.is_over = sent.is_err();
        self.pace.bytes += bytes.len();
        sent.map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_has_a_least_speed_over_the_time_that_is_waited_for_them() {
        let over = |each: usize| {
            let mut pace = ReaderPace::default();
            (0..120).any(|_| {
                pace.bytes += each;
                pace.is_too_slow(Duration::from_secs(1))
            })
        };
        assert!(over(32 << 10) && over(SPEED_MIN - 1) && !over(SPEED_MIN));
        // Who is not waited for may be served with little.
        let mut pace = ReaderPace::default();
        assert!(!pace.is_too_slow(Duration::from_secs(59)));
        assert!(pace.is_too_slow(Duration::from_secs(1)) && pace.waited.is_zero());
    }
}
