//! The targets of rows: a node in this process, or a server.

use crossbeam_channel::{Receiver, bounded};
use tidings_api::body::{Fault, hint};
use tidings_core::Command;
use tidings_core::engine::Refused;
use tidings_node::{Handle, Replies, RuntimeError};

use super::Kind;
use crate::client::{CallAnswer, LineProblem, Request, Server};

/// Rows of a slice that were refused: the place in the slice, and why.
pub(super) type RefusedRows = Vec<(usize, Fault)>;

/// The reason why a sink failed; earlier rows are imported.
#[derive(Debug, thiserror::Error)]
pub enum SinkError {
    /// The node can't.
    #[error(transparent)]
    Node(#[from] RuntimeError),
    /// The server can't, or can't be reached.
    #[error(transparent)]
    Server(#[from] crate::client::CallFault),
}

/// A sink for slices of rows.
pub trait Sink {
    /// Number of rows that it takes at once.
    fn slice_rows(&self) -> usize;

    /// Returns true if it wants rows as lines of JSON too.
    fn wants_lines(&self) -> bool;

    /// Takes a slice; slices become durable in the order in which they are given.
    ///
    /// # Errors
    /// [`SinkError`]; then nothing more can be given.
    fn give(&mut self, commands: Vec<Command>, lines: Vec<u8>) -> Result<PendingSlice, SinkError>;
}

/// A slice in progress in a sink.
pub enum PendingSlice {
    /// It is durable, but for these.
    Durable(RefusedRows),
    /// The node will answer.
    Node(Receiver<Replies>),
}

impl PendingSlice {
    /// Waits until the slice is durable.
    ///
    /// # Errors
    /// [`SinkError`]; it may be in or not.
    pub fn wait(self) -> Result<RefusedRows, SinkError> {
        match self {
            Self::Durable(refusals) => Ok(refusals),
            Self::Node(answer) => {
                let replies = answer.recv().map_err(|_| RuntimeError::Stopped)??;
                let refused = replies.into_iter().enumerate();
                Ok(refused.filter_map(|(at, reply)| Some((at, fault(&reply.err()?)))).collect())
            }
        }
    }
}

/// A sink into a node of this process.
pub struct NodeSink(pub Handle);

impl Sink for NodeSink {
    /// Nobody else waits for the node: the more rows, the more share a set and a sync.
    fn slice_rows(&self) -> usize {
        100_000
    }

    fn wants_lines(&self) -> bool {
        false
    }

    fn give(&mut self, commands: Vec<Command>, _: Vec<u8>) -> Result<PendingSlice, SinkError> {
        let (answer, answered) = bounded(1);
        self.0.submit_then(commands, move |replies| drop(answer.send(replies)))?;
        Ok(PendingSlice::Node(answered))
    }
}

fn fault(refused: &Refused) -> Fault {
    let hint = hint(refused).unwrap_or_else(|| match refused {
        Refused::UnknownRecipient(_) => "import the recipients first".to_owned(),
        Refused::UnknownTenant { .. } => "make the tenant first".to_owned(),
        _ => "see the configuration".to_owned(),
    });
    Fault::new(refused.to_string(), hint)
}

/// A sink to a server, through its calls for many items.
pub struct ServerSink<'s> {
    /// The server.
    pub server: &'s mut Server,
    /// The kind of rows.
    pub kind: Kind,
}

impl Sink for ServerSink<'_> {
    /// Few enough for those who call meanwhile not to notice.
    fn slice_rows(&self) -> usize {
        10_000
    }

    fn wants_lines(&self) -> bool {
        true
    }

    fn give(&mut self, commands: Vec<Command>, lines: Vec<u8>) -> Result<PendingSlice, SinkError> {
        if commands.is_empty() {
            return Ok(PendingSlice::Durable(RefusedRows::new()));
        }
        let path = format!("/v1/{}?answers=problems", self.kind.word());
        let answered = self.server.ask(&Request::post(path).lines(lines))?;
        Ok(PendingSlice::Durable(refusals(&answered.success()?)?))
    }
}

/// The lines of an answer with a problem.
fn refusals(answered: &CallAnswer) -> Result<RefusedRows, SinkError> {
    let mut refusals = RefusedRows::new();
    for line in answered.lines()? {
        let Some(problem) = LineProblem::of(&line) else {
            continue;
        };
        // From here on nothing was done, and nothing is wrong with the line.
        if problem.is_of_the_server() {
            return Err(problem.into_fault().into());
        }
        let at = usize::try_from(problem.line - 1).unwrap_or(usize::MAX);
        refusals.push((at, Fault::new(problem.reason, problem.hint)));
    }
    Ok(refusals)
}
