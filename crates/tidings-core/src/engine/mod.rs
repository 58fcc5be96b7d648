//! The engine: a deterministic state machine that decides for everybody.
//!
//! `step(commands, now)` gives writes, replies and effects. It does no I/O of its own (what it must
//! read, the caller's view reads), reads no clock and draws no random number. The caller commits a
//! step's writes at once and only then answers. A step whose writes were not committed makes the
//! engine poisoned: throw it away, and open another from what is stored.

mod accept;
mod accepted;
mod act;
mod admission;
mod admitted;
mod agenda;
mod ahead;
mod attempt_row;
mod books;
mod buckets;
mod cancel;
mod clock;
mod condition;
mod cursor;
mod draft;
mod due;
mod ends;
mod event_row;
mod explain;
mod export;
mod follow;
mod going;
mod inbox;
mod inbox_delivery;
mod intake;
mod known_ids;
mod ledger;
mod locate;
mod look;
mod made;
mod message_report;
mod message_row;
mod messages;
mod mute;
mod next;
mod objects;
mod operate;
mod outcome;
mod part;
mod parts;
mod pause;
mod plan;
mod present;
mod profile;
mod publish;
mod reach;
mod recent;
mod record_size;
mod reply;
mod retention;
mod retrying;
mod rows;
mod schedule;
mod seen;
mod sent;
mod snapshot;
mod state;
mod step;
mod suppressed;
mod take_back;
#[cfg(test)]
mod tests;
mod told;
mod told_rows;
mod touch;
mod view;
mod workers;

pub use crate::number::{ClosingId, MessageId};
pub use crate::options::Options;
pub use act::{ActNo, StoredActs, Told};
pub use agenda::{Agenda, DueLanes};
pub use attempt_row::Attempted;
pub use books::Walk;
pub use condition::Unanswered;
pub use cursor::{Cursor, CursorError};
pub use explain::{Subject, Unexplained};
pub use going::Going;
pub use inbox::{ITEMS_LISTED, InboxGroup, InboxItem, InboxPage};
pub use inbox_delivery::InboxDelivery;
pub use intake::Tally;
pub use ledger::Row as LedgerRow;
pub use made::Settled;
pub use message_report::MessageReport;
pub use messages::{
    MessageCursor, MessageCursorError, MessageFilter, MessageSummary, MessagesPage,
};
pub use outcome::{EventReport, Fate, Trace};
pub use parts::{part_of, part_with};
pub use plan::{Plan, PlannedMessage};
pub use present::{Presenter, batch_id};
pub use reach::{Reach, Reached};
pub use reply::{
    Dropped, Extent, Operated, Published, PublishedAs, Refused, Reply, TakenBack, Warning,
};
pub use retrying::{Retried, Retrying};
pub use sent::{Sent, Tried};
pub use snapshot::EngineSnapshot;
pub use state::{Engine, Step};
pub use told::{Answers, Held, KeptObjects, OpenReply, Progress, applied_by_parts};
pub use told_rows::read_told;
pub use touch::Upcoming;
pub use view::{MessageAt, OpenLane, WaitingEntry};
pub use workers::{Job, Workers};
