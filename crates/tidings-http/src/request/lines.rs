//! Streams of lines (`application/x-ndjson`) of any length: read in slices, answered line by line.
//!
//! A slice is what has arrived when the node is free for it, within bounds; while it is being done the
//! next one is read, and no more. So memory is bounded, and a client that does not read its answers
//! stops its own stream. A slice that fails ends the stream: what comes after it has not been done.

mod buffer;

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::{FutureExt as _, StreamExt as _, stream};
use http_body_util::BodyExt as _;
use serde::Serialize;
use tidings_api::body::Fields;
use tidings_core::engine::Reply;
use tidings_core::model::Origin;
use tidings_core::{Command, Id, Rules};
use tokio::time::{Duration, Instant, sleep, timeout};
use utoipa::{IntoParams, ToSchema};

use self::buffer::Buffer;
use super::query::{FromQuery, Parameters};
use crate::change::origin::{origin, within_origin};
use crate::cluster::split::Replies;
use crate::error::{Code, Problem, ProblemBody};
use crate::request::{broken, late};
use crate::service::{PendingReply, Service};
use crate::shares::bytes::ByteReservation;
use crate::shares::caller;

/// The wait of a stream before it retries a busy node.
const BUSY_WAIT: Duration = Duration::from_millis(5);

/// The choice of lines that are answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ToSchema)]
#[schema(rename_all = "snake_case")]
pub(crate) enum Answers {
    /// Each line is answered.
    #[default]
    All,
    /// Failed lines only, and a last line of counts.
    Problems,
}

/// The query of calls with many items.
#[derive(Clone, Copy, Debug, Default, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct BulkLinesQuery {
    /// For a stream of lines: `all` answers each line; `problems` answers only failed lines, and adds a last line of
    /// counts. An array is always answered item by item.
    #[param(inline, required = false)]
    pub(crate) answers: Answers,
}

/// The name of its parameter.
pub(crate) const ANSWERS: &str = "answers";

impl FromQuery for BulkLinesQuery {
    const KNOWN: &'static [&'static str] = &[ANSWERS];

    fn read(query: &Parameters) -> Result<Self, Problem> {
        let words = [("all", Answers::All), ("problems", Answers::Problems)];
        let answers = query.word(ANSWERS, &words)?.unwrap_or_default();
        Ok(Self { answers })
    }
}

/// The handler of a call's lines.
pub(crate) trait Lines: Send + 'static {
    /// The status of the answer.
    const STATUS: StatusCode;

    /// Reads a line, counted from 1.
    ///
    /// # Errors
    /// The line is refused; the other lines are done.
    fn read(&mut self, rules: &Rules, number: u64, line: &[u8]) -> Result<Command, Problem>;

    /// Writes the answer to a line as one JSON object, without a line end.
    ///
    /// # Errors
    /// A [`Problem`] to answer in its place.
    fn write_answer(&self, number: u64, reply: Reply, out: &mut Vec<u8>) -> Result<(), Problem>;
}

/// An item that succeeded.
#[derive(Serialize, ToSchema)]
pub(crate) struct Done {
    /// In a stream: the line number, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    line: Option<u64>,
    status: DoneStatus,
}

impl Done {
    pub(crate) fn new(line: Option<u64>) -> Self {
        let status = DoneStatus::Done;
        Self { line, status }
    }
}

#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum DoneStatus {
    Done,
}

/// Lines that become one command each, by a function.
pub(crate) struct Each<F>(pub(super) F);

/// A function that reads the body of an item.
pub(crate) trait ReadItem:
    Fn(&Rules, Fields<'_>) -> Result<Command, Problem> + Send + 'static
{
}

impl<F: Fn(&Rules, Fields<'_>) -> Result<Command, Problem> + Send + 'static> ReadItem for F {}

impl<F: Fn(&Rules, Fields<'_>) -> Result<Command, Problem> + Send + 'static> Each<F> {
    /// Items that a function reads.
    pub(crate) fn new(read: F) -> Self {
        Self(read)
    }
}

impl<F: ReadItem> Lines for Each<F> {
    const STATUS: StatusCode = StatusCode::OK;

    fn read(&mut self, rules: &Rules, _: u64, line: &[u8]) -> Result<Command, Problem> {
        (self.0)(rules, Fields::parse(line)?)
    }

    fn write_answer(&self, line: u64, _: Reply, out: &mut Vec<u8>) -> Result<(), Problem> {
        let written = serde_json::to_writer(out, &Done::new(Some(line)));
        written.map_err(|fault| Problem::new(Code::Internal, fault.to_string()))
    }
}

/// The answer to a line of a stream.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "describes what streams answer")]
pub(crate) enum LineAnswer {
    Done(Done),
    Rejected(Rejected),
    Counted(Counted),
}

/// An item that failed; the others succeeded.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Rejected {
    /// In a stream: the line number, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    line: Option<u64>,
    /// The item's `id`, if it could be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    id: Option<String>,
    status: RejectedStatus,
    /// The problem of the item.
    #[schema(value_type = ProblemBody<'static>)]
    problem: serde_json::Value,
}

#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum RejectedStatus {
    Rejected,
}

impl Rejected {
    pub(crate) fn new(line: Option<u64>, id: Option<String>, problem: &Problem) -> Self {
        Self {
            line,
            id,
            status: RejectedStatus::Rejected,
            // Texts and numbers are always JSON.
            problem: serde_json::to_value(problem.body()).unwrap_or_default(),
        }
    }
}

/// The `id` in the body that became this command.
fn named(command: &Command) -> Option<&Id> {
    match command {
        Command::Publish(event) => Some(&event.id),
        Command::Recipient(change) => Some(&change.id),
        Command::Object(object) => Some(&object.id),
        Command::Tenant { tenant, .. } => Some(tenant),
        _ => None,
    }
}

/// The last line of the answer to a stream with `answers=problems`.
#[derive(Serialize, ToSchema)]
pub(crate) struct Counted {
    /// Number of lines read, without blank ones.
    lines: u64,
    /// Number of lines that succeeded.
    done: u64,
    /// Number of lines that failed.
    problems: u64,
}

/// Answers a stream of lines.
///
/// # Errors
/// A [`Problem`] before the first line was read.
pub(crate) async fn answer<L: Lines>(
    service: Arc<Service>,
    body: Body,
    wanted: BulkLinesQuery,
    lines: L,
) -> Result<Response, Problem> {
    let room = service.bodies.of(caller());
    let mut stream = LineStream {
        service,
        body,
        lines,
        answers: wanted.answers,
        buffer: Buffer::default(),
        flight: None,
        end: LinesEnd::Open,
        counted: Counted { lines: 0, done: 0, problems: 0 },
        room,
        origin: origin(),
    };
    // The head of the answer waits for the first piece of the body: a client that asked whether to continue has to
    // get that first.
    let first = stream.next().await;
    let rest = stream::unfold(stream, async |mut stream| {
        let chunk = stream.next().await?;
        Some((chunk, stream))
    });
    let chunks = stream::iter(first).chain(rest).map(Ok::<_, Infallible>);
    let ndjson = HeaderValue::from_static("application/x-ndjson");
    let head = [(header::CONTENT_TYPE, ndjson)];
    Ok((L::STATUS, head, Body::from_stream(chunks)).into_response())
}

struct LineStream<L> {
    service: Arc<Service>,
    body: Body,
    lines: L,
    answers: Answers,
    buffer: Buffer,
    /// The work in progress.
    flight: Option<LineSlice>,
    end: LinesEnd,
    counted: Counted,
    room: ByteReservation,
    /// The origin of the lines, which are read after the call has begun to answer.
    origin: Option<Arc<Origin>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LinesEnd {
    /// There may be more to read.
    Open,
    /// All is read.
    Read,
    /// The last line was written.
    Told,
}

/// A line that was read.
struct ReadLine {
    number: u64,
    /// Its `id`.
    id: Option<String>,
    /// Its fault; a line in order waits for a reply.
    fault: Option<Problem>,
}

/// A slice: lines that are handled in one step.
#[derive(Default)]
struct LineSlice {
    lines: Vec<ReadLine>,
    commands: Vec<Command>,
    bytes: usize,
    pending: Option<Result<PendingReply<Replies>, Problem>>,
    /// The answers, if they were waited for before they are sent.
    settled: Option<Result<Replies, Problem>>,
}

impl LineSlice {
    /// The answers, waited for if need be.
    async fn replies(&mut self, service: &Service) -> Result<Replies, Problem> {
        match (self.settled.take(), self.pending.take()) {
            (Some(replies), _) => replies,
            (None, None) => Ok(Vec::new()),
            (None, Some(Err(problem))) => Err(problem),
            (None, Some(Ok(pending))) => service.answered(pending).await,
        }
    }
}

impl<L: Lines> LineStream<L> {
    /// The answers to the next slice; `None` at the end.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            let mut slice = self.gather().await;
            if !slice.lines.is_empty() {
                if let Some(failed) = self.settle().await {
                    return Some(self.answer_slice(failed).await);
                }
                self.submit(&mut slice).await;
                let Some(before) = self.flight.replace(slice) else {
                    continue;
                };
                return Some(self.answer_slice(before).await);
            }
            if let Some(before) = self.flight.take() {
                return Some(self.answer_slice(before).await);
            }
            match self.end {
                // A frame without data.
                LinesEnd::Open => {}
                LinesEnd::Read if self.answers == Answers::Problems => {
                    self.end = LinesEnd::Told;
                    let mut out = Vec::new();
                    write_line(&mut out, &self.counted);
                    return Some(out.into());
                }
                LinesEnd::Read | LinesEnd::Told => return None,
            }
        }
    }

    /// Reads as many lines as are available and fit; waits for the first one if no slice is in progress.
    async fn gather(&mut self) -> LineSlice {
        let service = Arc::clone(&self.service);
        let settings = &service.settings;
        let rules = service.rules();
        let mut slice = LineSlice::default();
        loop {
            while slice.lines.len() < settings.slice_lines_max
                && slice.bytes < settings.slice_bytes_max
            {
                let Some((number, line)) = self.buffer.line(self.end != LinesEnd::Open) else {
                    break;
                };
                slice.bytes += line.len();
                let (id, fault) = match self.lines.read(&rules, number, line) {
                    Ok(command) => {
                        let id = named(&command).map(|id| id.as_str().to_owned());
                        slice.commands.push(command);
                        (id, None)
                    }
                    Err(problem) => {
                        let fields = Fields::parse(line).unwrap_or_default();
                        (fields.said_id().map(str::to_owned), Some(problem))
                    }
                };
                slice.lines.push(ReadLine { number, id, fault });
            }
            if self.service.is_stopping() && self.end == LinesEnd::Open {
                let stopping = Problem::new(Code::Stopping, "nothing was done from this line on");
                slice.lines.push(self.stop(stopping));
            }
            let is_full = slice.lines.len() >= settings.slice_lines_max
                || slice.bytes >= settings.slice_bytes_max;
            if is_full || self.end != LinesEnd::Open {
                return slice;
            }
            let idle = slice.lines.is_empty() && self.flight.is_none();
            let frame = if idle {
                tokio::select! {
                    frame = timeout(settings.body_patience, self.body.frame()) => {
                        frame.map_err(|_| late(settings.body_patience))
                    }
                    () = service.stopped() => continue,
                }
            } else {
                match self.body.frame().now_or_never() {
                    Some(frame) => Ok(frame),
                    // Lines that are here are handed in, rather than wait for a body that may be slow.
                    None => return slice,
                }
            };
            let read = frame.and_then(|frame| frame.transpose().map_err(broken));
            match read {
                Ok(None) => self.end = LinesEnd::Read,
                Ok(Some(frame)) => {
                    if let Ok(data) = frame.into_data()
                        && let Err(problem) = self.take_in(&data, slice.bytes).await
                    {
                        slice.lines.push(self.stop(problem));
                    }
                }
                Err(problem) => {
                    slice.lines.push(self.stop(problem));
                }
            }
        }
    }

    /// Adds a piece of the body, within bounds. It takes room as it arrives: a caller that sends nothing holds none,
    /// and one that finds none waits.
    async fn take_in(&mut self, data: &[u8], slice_bytes: usize) -> Result<(), Problem> {
        let settings = &self.service.settings;
        let bound = settings.body_bytes_max;
        if self.buffer.unread() > bound {
            let detail = format!("the line has more than {bound} bytes");
            return Err(Problem::new(Code::BodyTooLarge, detail));
        }
        let in_progress = self.flight.as_ref().map_or(0, |flight| flight.bytes);
        let bytes = self.buffer.unread() + data.len() + slice_bytes + in_progress;
        self.room.shrink_to(bytes);
        let until = Instant::now() + settings.body_patience;
        while let Err(problem) = self.room.hold(bytes) {
            if Instant::now() >= until {
                return Err(problem);
            }
            sleep(BUSY_WAIT).await;
        }
        self.buffer.push(data);
        Ok(())
    }

    /// Ends the reading at a line that could not be read for this problem.
    fn stop(&mut self, problem: Problem) -> ReadLine {
        self.end = LinesEnd::Read;
        ReadLine { number: self.buffer.stop(), id: None, fault: Some(problem) }
    }

    /// Waits for the work in progress if other nodes do some of it: two slices could overtake each other on their way.
    /// Returns it if it failed; later slices are not done then.
    async fn settle(&mut self) -> Option<LineSlice> {
        self.service.shards.cluster_view()?;
        let mut before = self.flight.take()?;
        let replies = before.replies(&self.service).await;
        let has_failed = match &replies {
            Ok(replies) => replies.iter().any(is_of_server),
            Err(_) => true,
        };
        before.settled = Some(replies);
        if has_failed {
            return Some(before);
        }
        self.flight = Some(before);
        None
    }

    /// Submits to the node; retries a busy one within the time limit of an answer.
    async fn submit(&mut self, slice: &mut LineSlice) {
        if slice.commands.is_empty() {
            return;
        }
        let until = Instant::now() + self.service.settings.answer_patience;
        loop {
            if self.service.handle.of(caller()).has_room() || Instant::now() >= until {
                let commands = std::mem::take(&mut slice.commands);
                let ask = || self.service.ask(true, commands);
                slice.pending = Some(within_origin(self.origin.clone(), ask));
                return;
            }
            sleep(BUSY_WAIT).await;
        }
    }

    /// Writes the answers to a slice.
    async fn answer_slice(&mut self, mut slice: LineSlice) -> Bytes {
        let replies = slice.replies(&self.service).await;
        // What other nodes could not do is sent again like what was not read.
        let has_failed = replies.as_ref().map_or(true, |all| all.iter().any(is_of_server));
        if has_failed {
            self.end = LinesEnd::Read;
            self.buffer.stop();
        }
        let (mut replies, failed) = match replies {
            Ok(replies) => (replies.into_iter(), None),
            Err(problem) => (Vec::new().into_iter(), Some(problem)),
        };
        let mut out = Vec::new();
        for ReadLine { number, id, fault } in slice.lines {
            self.counted.lines += 1;
            let written = match (fault, &failed) {
                (Some(fault), _) => Err(fault),
                (None, Some(failed)) => Err(failed.clone()),
                (None, None) => self.answer_one(number, replies.next(), &mut out),
            };
            match written {
                Ok(()) => self.counted.done += 1,
                Err(problem) => {
                    self.counted.problems += 1;
                    write_line(&mut out, &Rejected::new(Some(number), id, &problem));
                }
            }
        }
        out.into()
    }

    fn answer_one(
        &self,
        line: u64,
        reply: Option<Result<Reply, Problem>>,
        out: &mut Vec<u8>,
    ) -> Result<(), Problem> {
        let no_reply = || Problem::new(Code::Internal, "the node gave no answer");
        let reply = reply.ok_or_else(no_reply)??;
        if self.answers == Answers::Problems {
            return Ok(());
        }
        let start = out.len();
        let written = self.lines.write_answer(line, reply, out);
        match written {
            Ok(()) => out.push(b'\n'),
            Err(_) => out.truncate(start),
        }
        written
    }
}

/// Returns true if a command failed because of the node: it can't do the command, or has no room for it.
fn is_of_server(reply: &Result<Reply, Problem>) -> bool {
    let problem = reply.as_ref().err();
    problem.is_some_and(|problem| {
        matches!(problem.code, Code::TooBusy | Code::Busy)
            || problem.code.status().is_server_error()
    })
}

fn write_line(out: &mut Vec<u8>, line: &impl Serialize) {
    // Texts and numbers are always JSON, and memory takes what is written to it.
    let _ = serde_json::to_writer(&mut *out, line);
    out.push(b'\n');
}
