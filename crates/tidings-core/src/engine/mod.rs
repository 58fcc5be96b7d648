//! The engine: a deterministic state machine that makes all decisions.
//!
//! `step(commands, now)` returns writes, replies and effects. It does no I/O of its own (it reads through the caller's
//! view), reads no clock and draws no random number. The caller commits a step's writes at once and only then answers.
//! A step whose writes were not committed poisons the engine: drop it, and open another from the store.

mod chores;
mod clock;
mod explain;
mod inbox;
mod intake;
mod message;
mod send_checks;

mod read;
mod replica;
mod retention;
mod rows;
mod shard;
mod shards;
mod state;
mod step;
#[cfg(test)]
mod tests;
mod workers;

pub use crate::bucket::storage::options::Options;
pub use crate::bucket::{Applying, SetBy};
pub use crate::model::number::{ClosingId, MessageId};
pub use explain::{Subject, Unexplained};
pub use inbox::counts::{CategoryCounts, InboxCounts};
pub use inbox::cursor::{Cursor, CursorError};
pub use inbox::page::{
    InboxGroup, InboxItem, InboxPage, InboxQuery, InboxRow, InboxRows, InboxState,
};
pub use inbox::rows::{ITEMS_LISTED, RowId};
pub use intake::state::Tally;
pub use message::attempt_row::Attempted;
pub use message::closings::Closings;
pub use message::made::Settled;
pub use message::plan::{Plan, PlannedMessage, Planner};
pub use message::present::{Presenter, batch_id};
pub use message::touch::Upcoming;
pub use read::agenda::{Agenda, DueLanes};
pub use read::books::BooksWalk;
pub use read::changed::InboxesAt;
pub use read::message_report::MessageReport;
pub use read::messages::{
    MessageCursor, MessageCursorError, MessageFilter, MessageSummary, MessagesPage,
};
pub use read::outcome::{EventReport, Fate, Trace};
pub use read::reader::Reader;
pub use read::retrying::{Retried, Retrying};
pub use read::snapshot::EngineSnapshot;
pub use read::tenants::{PageById, TenantDirectory, TenantNow};
pub use read::view::{Followed, MessageAt, OpenLane, WaitingEntry};
pub use replica::answer::{Answers, OpenReply};
pub use replica::apply::applied_by_shards;
pub use replica::log_rows::read_log;
pub use replica::progress::{HeldShards, KeptObjects, Progress};
pub use replica::view::Replica;
pub use rows::act::{LogEntry, LogNo, StoredEntry};
pub use rows::going::Going;
pub use rows::inbox_delivery::InboxDelivery;
pub use rows::ledger::LedgerRow;
pub use rows::occurred::{HookState, hook_state, occurrence_at};
pub use rows::reach::{Reach, Reached};
pub use rows::reply::{
    CancelOutcome, Dropped, Operated, Published, PublishedAs, Refused, Reply, StepError, TakenBack,
    Warning,
};
pub use rows::sent::{Sent, Tried};
pub use rows::unanswered::Unanswered;
pub use shards::{shard_of, shard_with};
pub use state::{Engine, Step};
pub use workers::{Job, Workers};
