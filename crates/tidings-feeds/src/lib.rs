//! Feeds: readers of an outbox in a host's own database. What the host committed there is handed to a [`Sink`] once in
//! effect, what it rolled back never.
//!
//! This crate knows PostgreSQL and nothing else of tidings: neither the store nor the engine nor HTTP. Rows are texts
//! to it. Who implements [`Sink`] reads them, and answers once they are durable there; only then does a row get its
//! `taken_at`. A crash in between hands the row over again, so a sink must know a row that it has taken.
//!
//! Statements are never prepared under a name: a connection may lead through `PgBouncer` in transaction mode, where the
//! next statement may be another server's.

mod address;
mod context;
mod fault;
mod outbox;
mod parked;
mod poll;
mod reader;
mod settings;
mod sink;
mod sql;
mod status;
mod watching;

pub use address::connect;
pub use context::Context;
pub use fault::FeedFault;
pub use outbox::{Outbox, OutboxGauge};
pub use parked::{ParkedRow, ParkedRowPlace, parked};
pub use reader::Feed;
pub use settings::{FeedSettings, OnRefusal, TABLE};
pub use sink::{Answering, OutboxRow, Sink, Unavailable, Verdict};
pub use sql::{migration, migration_of};
pub use status::{FeedState, SharedFeedState, Snapshot};
