//! The way out of a feed.

use std::pin::Pin;

/// A row that is given to a sink.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutboxRow {
    /// Its `id` in the table, which is never another row's.
    pub id: i64,
    /// Its payload, a JSON text.
    pub payload: String,
}

/// The answer to a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It has its effect, which is durable; it may have had it before.
    Taken,
    /// It had no effect and never will as it is; a problem as JSON (RFC 9457).
    Refused(String),
}

/// The error of a sink that can't take anything now. Some of the rows may have had their effect.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unavailable(pub String);

/// The answers to rows, in their order, which come when they are durable.
pub type Answering<'s> =
    Pin<Box<dyn Future<Output = Result<Vec<Verdict>, Unavailable>> + Send + 's>>;

/// The way out of feeds.
///
/// Rows take effect in the order in which they are given. A row that comes again has no other effect: the sink knows by
/// feed and number that it has taken it, also over a crash.
pub trait Sink: Send + Sync + 'static {
    /// Takes rows. With `stops` no row after the first refused one takes effect, and the answers end with that one's.
    ///
    /// A caller that stops waiting has not withdrawn them.
    fn accept<'s>(&'s self, feed: &'s str, rows: Vec<OutboxRow>, stops: bool) -> Answering<'s>;
}
