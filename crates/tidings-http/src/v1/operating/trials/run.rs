//! The run of a comparison, on a thread of its own: one processor, whatever the server has.

use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::thread;

use axum::response::Response;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use futures_util::StreamExt as _;
use serde_json::Value;
use tidings_core::Day;
use tidings_core::model::{JobState, Origin};
use tidings_node::DurableSnapshot;
use tidings_trial::compare::{NamedRules, compare};
use tokio::runtime::Handle;
use tokio::sync::OwnedSemaphorePermit;

use crate::service::Service;
use crate::trials::comparison::{Comparison, ComparisonEnd, of_end};
use crate::v1::export;

/// Maximum number of bytes of the compressed timeline.
const TIMELINE_BYTES_MAX: usize = 256 << 20;

/// Bytes that are written and read at once.
const BUFFER_BYTES: usize = 64 << 10;

/// A comparison that is about to run.
pub(crate) struct ComparisonRun {
    pub(crate) comparison: Arc<Comparison>,
    /// The place of the one that runs.
    pub(crate) place: OwnedSemaphorePermit,
    /// The configurations.
    pub(crate) configs: Vec<NamedRules>,
    /// The only channel that counts; `None` = all but the inbox.
    pub(crate) channel: Option<String>,
    pub(crate) timeline: LastDays,
    /// The origin of its beginning.
    pub(crate) origin: Option<Arc<Origin>>,
    pub(crate) service: Weak<Service>,
    /// Held by tests that want it to run for a while.
    #[cfg(test)]
    pub(crate) gate: Arc<std::sync::Mutex<()>>,
}

/// The last days of the store.
pub(crate) struct LastDays {
    pub(crate) durable: Arc<DurableSnapshot>,
    /// Gone once the node is.
    pub(crate) life: Weak<()>,
    /// The first day.
    pub(crate) from: Day,
    /// The exports of other nodes, of their shards.
    pub(crate) others: Vec<Response>,
    pub(crate) tokio: Handle,
}

impl ComparisonRun {
    /// Begins to run.
    ///
    /// # Errors
    /// The system has no thread.
    pub(crate) fn spawn(self) -> io::Result<()> {
        let thread = thread::Builder::new().name("tidings-compare".to_owned());
        thread.spawn(move || self.run()).map(drop)
    }

    fn run(self) {
        let Self { comparison, place, configs, channel, timeline, origin, service, .. } = self;
        #[cfg(test)]
        drop(self.gate.lock());
        let ending = Ending(&comparison);
        let result = timeline.written(&comparison).and_then(|timeline| {
            let open = || PlayedLines {
                lines: BufReader::with_capacity(BUFFER_BYTES, GzDecoder::new(&*timeline)),
                comparison: &comparison,
            };
            let figures = compare(&configs, channel.as_deref(), open, &comparison.stop);
            let figures = figures.map_err(io::Error::other)?;
            Ok(serde_json::to_value(figures)?)
        });
        // Whoever sees its end may begin the next.
        drop(place);
        ending.end(result, origin.as_deref(), &service);
    }
}

/// The end that a run comes to, whatever becomes of it.
struct Ending<'c>(&'c Comparison);

impl Ending<'_> {
    fn end(&self, result: io::Result<Value>, origin: Option<&Origin>, service: &Weak<Service>) {
        let Some(service) = service.upgrade() else {
            return;
        };
        let state = if result.is_ok() { JobState::Done } else { JobState::Stopped };
        let problem = result.as_ref().err().map(ToString::to_string);
        let end = ComparisonEnd { at: Some(service.now()), state, result: result.ok(), problem };
        if self.0.end_with(end)
            && let Some(origin) = origin
        {
            let handle = service.handle.clone().with_origin(Some(of_end(origin)));
            // A server that ends meanwhile has stopped it.
            let _ = handle.log(self.0.ended(state), |_| {});
        }
    }
}

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        let problem = Some("it broke off: the server's log says why".to_owned());
        let state = JobState::Stopped;
        self.0.end_with(ComparisonEnd { at: None, state, result: None, problem });
    }
}

impl LastDays {
    /// The timeline, compressed: it is played twice.
    fn written(self, comparison: &Comparison) -> io::Result<Vec<u8>> {
        let Self { durable, life, from, others, tokio } = self;
        let lines =
            WrittenLines { out: GzEncoder::new(Vec::new(), Compression::fast()), comparison, life };
        let mut out = BufWriter::with_capacity(BUFFER_BYTES, lines);
        export::write_tenants(&durable, from, None, &mut out)?;
        for answer in others {
            let mut data = answer.into_body().into_data_stream();
            while let Some(chunk) = tokio.block_on(data.next()) {
                out.write_all(&chunk.map_err(io::Error::other)?)?;
            }
        }
        export::write_recipients(&durable, from, &mut out)?;
        export::write_events(&durable, from, None, &mut out)?;
        export::write_disabled(&durable, None, &mut out)?;
        out.into_inner().map_err(io::IntoInnerError::into_error)?.out.finish()
    }
}

/// The reason why something stopped.
fn stopped() -> io::Error {
    io::Error::other("it was stopped")
}

/// Counts the lines of the timeline as they are written.
struct WrittenLines<'c> {
    out: GzEncoder<Vec<u8>>,
    comparison: &'c Comparison,
    life: Weak<()>,
}

impl Write for WrittenLines<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.comparison.stop.load(Ordering::Relaxed) {
            return Err(stopped());
        }
        if self.life.strong_count() == 0 {
            return Err(io::Error::other("the store failed or the server is stopping"));
        }
        if self.out.get_ref().len() > TIMELINE_BYTES_MAX {
            return Err(io::Error::other("the timeline is too large; compare fewer days"));
        }
        let written = self.out.write(bytes)?;
        self.comparison.lines.fetch_add(lines_in(&bytes[..written]), Ordering::Relaxed);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Counts the lines of the timeline as they are played.
struct PlayedLines<'c, R> {
    lines: R,
    comparison: &'c Comparison,
}

impl<R: BufRead> Read for PlayedLines<'_, R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(into)?;
        self.consume(read);
        Ok(read)
    }
}

impl<R: BufRead> BufRead for PlayedLines<'_, R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        match self.comparison.stop.load(Ordering::Relaxed) {
            true => Err(stopped()),
            false => self.lines.fill_buf(),
        }
    }

    fn consume(&mut self, bytes: usize) {
        // What is consumed was there before, so this reads nothing.
        if let Ok(there) = self.lines.fill_buf() {
            let played = lines_in(there.get(..bytes).unwrap_or(there));
            self.comparison.played.fetch_add(played, Ordering::Relaxed);
        }
        self.lines.consume(bytes);
    }
}

fn lines_in(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|byte| **byte == b'\n').count() as u64
}
