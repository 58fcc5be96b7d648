//! `live`: open streams of inboxes, by the memory and time that they take, and by how soon a frame comes.
//!
//! The server is a process of its own, so that its memory is not that of the readers. All share the processors.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

use super::server::process::{self, Process};
use super::server::{Connection, broken, post, unexpected};
use super::stopwatch::{Stopwatch, ms};
use super::{BenchFault, Measurement, number, quantile, world};

/// Arguments of `live`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct LiveParams {
    /// Number of open streams, each of another recipient; a process needs as many file descriptors
    #[arg(long, default_value_t = 10_000)]
    pub(crate) streams: u32,
    /// Number of recipients, with streams or without
    #[arg(long, default_value_t = 100_000)]
    pub(crate) recipients: u32,
    /// Number of events that everybody has before
    #[arg(long, default_value_t = 5)]
    pub(crate) entries: u32,
    /// Number of seconds for which nothing happens
    #[arg(long, default_value_t = 30)]
    pub(crate) idle: u64,
    /// Number of events to one recipient each
    #[arg(long, default_value_t = 2_000)]
    pub(crate) singles: u32,
    /// Number of events to everybody
    #[arg(long, default_value_t = 5)]
    pub(crate) everybody: u32,
    /// Directory of the store, which is deleted when the benchmark ends
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) dir: PathBuf,
}

/// Number of streams that are opened at once.
const OPENING: u32 = 64;

/// The longest wait for a frame.
const PATIENCE: Duration = Duration::from_secs(120);

/// Runs it.
pub(crate) fn run(params: &LiveParams) -> Result<Vec<Measurement>, BenchFault> {
    if params.streams == 0 || params.streams > params.recipients {
        let detail = "there must be a stream, and no more of them than recipients";
        return Err(BenchFault::Wrong(detail.to_owned()));
    }
    let rules = format!("{}[users]\nstreams = {}\n", super::RULES, params.streams);
    process::measure(&params.dir, &rules, &[], async |server| measure(params, server).await)
}

/// A frame of a stream, with the time at which it came.
struct ReceivedFrame {
    stream: u32,
    after: Duration,
}

async fn measure(params: &LiveParams, server: &Process) -> Result<Vec<Measurement>, BenchFault> {
    let mut publisher = Connection::open(server.address).await?;
    fill(&mut publisher, params).await?;
    let watch = Stopwatch::start();
    let before = server.resident_bytes()?;
    let (sender, mut receiver) = mpsc::unbounded_channel();
    let mut opening = tokio::task::JoinSet::new();
    for stream in 0..params.streams {
        if stream >= OPENING {
            opening.join_next().await.transpose().map_err(broken)?.transpose()?;
        }
        opening.spawn(open(server.address, stream, watch, sender.clone()));
    }
    while let Some(opened) = opening.join_next().await {
        opened.map_err(broken)??;
    }
    let opened = watch.elapsed();
    let memory = server.resident_bytes()?.saturating_sub(before);
    let (cpu, idle) = (server.cpu_seconds()?, Stopwatch::start());
    sleep(Duration::from_secs(params.idle)).await;
    let idle_cpu = (server.cpu_seconds()? - cpu) / idle.elapsed().as_secs_f64() * 100.0;

    let mut event = u64::from(params.entries);
    let (mut frames, mut alone) = (Vec::new(), Vec::new());
    for _ in 0..params.singles {
        // A prime step: neighbours in time are none among the recipients.
        let stream =
            u32::try_from(event.wrapping_mul(7919) % u64::from(params.streams)).unwrap_or(0);
        let sent = watch.elapsed();
        publisher.publish(&post(&world::body(event, stream))).await?;
        let answered = watch.elapsed();
        event += 1;
        alone.push(ms(answered.saturating_sub(sent)));
        let frame = next(&mut receiver).await?;
        if frame.stream != stream {
            return Err(BenchFault::Http("a frame came to somebody else".to_owned()));
        }
        frames.push(ms(frame.after.saturating_sub(answered)));
    }
    let (mut all, mut under_load) = (Vec::new(), Vec::new());
    for _ in 0..params.everybody {
        publisher.publish(&post(&world::body_to_everybody(event, "shown"))).await?;
        let answered = watch.elapsed();
        event += 1;
        let mut waiting = vec![true; params.streams as usize];
        let mut left = params.streams;
        let mut last = answered;
        let mut connection = Connection::open(server.address).await?;
        let publish = async {
            loop {
                // Somebody who has no stream.
                let request = post(&world::body(event, params.recipients));
                // The last one is not waited for, and its id is taken all the same.
                event += 1;
                let sent = watch.elapsed();
                connection.publish(&request).await?;
                under_load.push(ms(watch.elapsed().saturating_sub(sent)));
            }
        };
        let receive = async {
            while left > 0 {
                let frame = next(&mut receiver).await?;
                if std::mem::take(&mut waiting[frame.stream as usize]) {
                    left -= 1;
                    last = last.max(frame.after);
                }
            }
            Ok::<(), BenchFault>(())
        };
        tokio::select! {
            failed = publish => { let failed: Result<(), BenchFault> = failed; failed? }
            received = receive => received?,
        }
        all.push(ms(last.saturating_sub(answered)));
    }
    let named = BTreeMap::from([
        ("streams", u64::from(params.streams)),
        ("recipients", u64::from(params.recipients)),
        ("entries", u64::from(params.entries)),
    ]);
    let of = |metric, samples: &[f64]| Measurement::of("live", &named, metric, samples);
    let streams = number(u64::from(params.streams));
    let p99 = |times: &[f64]| [quantile(times, 0.99)];
    Ok(vec![
        of(("memory_of_stream", "bytes"), &[number(memory) / streams]),
        of(("streams_opened", "a second"), &[streams / opened.as_secs_f64()]),
        of(("idle", "% of a core"), &[idle_cpu]),
        of(("frame_after_answer", "ms"), &frames),
        of(("everybody_has_it", "ms"), &all),
        of(("publish_beside_p99", "ms"), &p99(&under_load)).against("alone", &p99(&alone)),
    ])
}

async fn next(
    receiver: &mut mpsc::UnboundedReceiver<ReceivedFrame>,
) -> Result<ReceivedFrame, BenchFault> {
    let none = || BenchFault::Http("a frame did not come".to_owned());
    timeout(PATIENCE, receiver.recv()).await.ok().flatten().ok_or_else(none)
}

/// Makes the recipients, one more than there are, and what their inboxes have.
async fn fill(publisher: &mut Connection, params: &LiveParams) -> Result<(), BenchFault> {
    let people: Vec<u32> = (0..=params.recipients).collect();
    for people in people.chunks(5_000) {
        let people: Vec<String> = people
            .iter()
            .map(|number| format!("{{\"id\":\"{}\"}}", world::recipient(*number)))
            .collect();
        let body = format!("[{}]", people.join(","));
        let request = format!(
            "POST /v1/recipients HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        let answer = publisher.ask(request.as_bytes()).await?;
        if !answer.starts_with(b"HTTP/1.1 2") {
            return Err(unexpected(answer));
        }
    }
    for event in 0..params.entries {
        let body = world::body_to_everybody(u64::from(event), "shown");
        publisher.publish(&post(&body)).await?;
    }
    Ok(())
}

/// Opens a stream; its changes are told from then on.
async fn open(
    address: SocketAddr,
    stream: u32,
    watch: Stopwatch,
    sender: mpsc::UnboundedSender<ReceivedFrame>,
) -> Result<(), BenchFault> {
    let mut connection = TcpStream::connect(address).await.map_err(broken)?;
    let recipient = world::recipient(stream);
    let request = format!(
        "GET /v1/recipients/{recipient}/live HTTP/1.1\r\nhost: localhost\r\naccept: text/event-stream\r\n\r\n"
    );
    connection.write_all(request.as_bytes()).await.map_err(broken)?;
    let mut text = Vec::with_capacity(1 << 10);
    while take(&mut text, b"event: hello\n") == 0 {
        if connection.read_buf(&mut text).await.map_err(broken)? == 0 {
            return Err(unexpected(&text));
        }
    }
    tokio::spawn(async move {
        while let Ok(1..) = connection.read_buf(&mut text).await {
            let at = watch.elapsed();
            for _ in 0..take(&mut text, b"event: inbox\n") {
                // Whoever listens may have ended.
                let _was_sent = sender.send(ReceivedFrame { stream, after: at });
            }
        }
    });
    Ok(())
}

/// Counts the beginnings of events in what was read, of which only the end is kept.
fn take(text: &mut Vec<u8>, begin: &[u8]) -> usize {
    let (mut count, mut rest) = (0, &text[..]);
    while let Some(at) = rest.windows(begin.len()).position(|window| window == begin) {
        count += 1;
        rest = &rest[at + begin.len()..];
    }
    let kept = rest.len().min(begin.len() - 1);
    let kept = rest[rest.len() - kept..].to_vec();
    // Before the first event there is the head, which says why where there is none.
    if count > 0 {
        *text = kept;
        text.reserve(1 << 10);
    }
    count
}
