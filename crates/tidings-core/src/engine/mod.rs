//! The engine: a deterministic state machine that makes all decisions.
//!
//! `step(commands, now)` returns writes, replies and effects. It does no I/O of its own (it reads through the caller's
//! view), reads no clock and draws no random number. The caller commits a step's writes at once and only then answers.
//! A step whose writes were not committed poisons the engine: drop it, and open another from the store.

mod acts;
mod address_index;
mod change_log;
mod chores;
mod clock;
mod commands;
mod dry_run;
mod explain;
mod figures;
mod inbox;
mod intake;
mod jobs;
mod message;
mod reach;
mod read;
mod replica;
mod replies;
mod retention;
mod rows;
mod send_checks;
mod shard;
mod shards;
mod state;
mod step;
#[cfg(test)]
mod tests;
mod workers;

pub use crate::bucket::storage::options::Options;
pub use crate::bucket::{PreferenceInForce, SetBy};
pub use acts::log_entry::{LogEntry, LogNo, StoredEntry};
pub use change_log::person::PersonChanges;
pub use change_log::read::{ChangeFilter, changes};
pub use change_log::write::LoggedChange;
pub use chores::DaysToList;
pub use commands::{Commands, CommandsOrigin, NewRules};
pub use dry_run::{DryAnswers, DryRun};
pub use explain::audience::{AudienceReport, ChannelReport};
pub use explain::{ExplainError, ExplainSubject};
pub use figures::{
    Delays, FigureRow, FigureValues, FiguresQuery, FiguresReport, GroupBy, HOURS_KEPT, Measure,
};
pub use inbox::counts::{CategoryCounts, InboxCounts};
pub use inbox::cursor::{Cursor, CursorError};
pub use inbox::page::{
    InboxGroup, InboxItem, InboxPage, InboxQuery, InboxRow, InboxRows, InboxState,
};
pub use inbox::rows::{ITEMS_LISTED, RowId};
pub use intake::state::Tally;
pub use intake::suppressed::Suppressions;
pub use jobs::end::JobEnds;
pub use jobs::messages_of::BulkMessages;
pub use jobs::report::{JobReport, JobReports};
pub use jobs::slice::{JobSlice, OpenJobs};
pub use message::attempt_row::{AttemptedMessage, TriedContent};
pub use message::closings::Closings;
pub use message::made::ClosingResults;
pub use message::plan::{Plan, PlannedMessage, Planner};
pub use message::present::{Presenter, batch_id};
pub use message::sent::{RetriedAttempt, Sent};
pub use message::touch::UpcomingStep;
pub use reach::{KeptBackState, Reach};
pub use read::agenda::{Agenda, DueLanes};
pub use read::books::BooksWalk;
pub use read::changed::InboxesAt;
pub use read::events::audience::{
    ChannelFate, FateFilter, FateReason, FateState, ReachedRecipient,
};
pub use read::events::{EventFilter, ListedEvent};
pub use read::list::{
    LOOKED_AT_MAX, ListPage, ListPositionError, NewestFirst, PageBuilder, Positioned,
};
pub use read::message_content::{BuiltContent, BuiltMessage};
pub use read::message_report::MessageReport;
pub use read::messages::{MessageFilter, MessageSummary};
pub use read::outcome::{EntryStateCounts, EventReport, EventTrace};
pub use read::people::{FollowersPage, ListedFollower, ListedRecipient, RecipientFilter};
pub use read::reader::Reader;
pub use read::retrying::{MessageInRetry, MessagesInRetry};
pub use read::search::{
    FoundKind, HITS_MAX, MatchedBy, NEAREST_MAX, NearId, Search, SearchHit, SearchResult,
};
pub use read::snapshot::EngineSnapshot;
pub use read::suppressions::{SuppressedAddress, SuppressionFilter};
pub use read::tenants::{TenantDirectory, TenantNow};
pub use read::view::{FollowedTopic, MessageAt, OpenLane, WaitingEntry};
pub use replica::answer::{Answers, OpenReply};
pub use replica::apply::applied_by_shards;
pub use replica::log_rows::read_log;
pub use replica::progress::{HeldShards, KeptObjects, Progress};
pub use replica::view::ReplicaPosition;
pub use replies::concerns::CommandConcerns;
pub use replies::erasure::{Erasure, ErasureReceipt};
pub use replies::going::GoingMessage;
pub use replies::refused::{Refused, StepError};
pub use replies::reply::{
    CancelOutcome, Dropped, OperatedMessage, Published, PublishedAs, Reply, TakenBackEntries,
};
pub use replies::unanswered::UnansweredCondition;
pub use replies::warning::Warning;
pub use rows::ledger::LedgerRow;
pub use rows::not_reached::NotReachedReason;
pub use rows::occurred::{HookState, hook_state, occurrence_at};
pub use shard::due::InboxDelivery;
pub use shards::{shard_of, shard_with};
pub use state::{Engine, Step};
pub use workers::{ShardJob, Workers};
