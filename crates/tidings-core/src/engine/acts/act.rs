//! Acts: the decisions of the intake for everybody, in one order.
//!
//! The intake assigns ids, places and order; it knows no recipient. Each shard applies the acts to its buckets, in
//! order.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::engine::jobs::job::JobWithBuckets;
use crate::engine::rows::event_row::EventRow;
use crate::engine::rows::suppression_row::SuppressionRow;
use crate::journal::record::EventAt;
use crate::model::command::{Cancelled, PauseSubject};
use crate::model::id::Id;
use crate::model::messages::jobs::JobNo;
use crate::model::number::EventNo;
use crate::model::recipient::RecipientChange;
use crate::model::suppression::ChannelAddress;
use crate::model::tenant::{KnownTenant, TenantNo};
use crate::model::time::{Day, Instant};
use crate::rules::Rules;

/// A change that concerns everybody.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Act {
    /// An event was accepted. `at` = the address of its row, if it enters lanes now. `profiles` are changed before.
    Publish {
        row: Box<EventRow>,
        at: Option<EventAt>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        profiles: Vec<RecipientChange>,
    },
    /// A scheduled event enters its lanes.
    Enter { row: Box<EventRow>, at: EventAt, t: Instant },
    /// Events were cancelled.
    Cancel(Cancel),
    /// A type or a channel was paused, and was not before.
    Pause(PauseSubject),
    /// A type or a channel was resumed that was paused.
    Resume(PauseSubject),
    /// A version of the rules came into force.
    Rules { version: u32, rules: Box<Rules> },
    /// Every day before this one is deleted.
    Forget { before: Day },
    /// Entries of the days before this one that are not due end, while the deletion has to wait for the others.
    Expire { before: Day },
    /// An event has a row and enters no lane: it was cancelled before it came, or before it was due.
    Keep { row: Box<EventRow>, at: EventAt },
    /// An event without entries released its id: it enters no lanes at these instants.
    Unschedule { place: EventNo, waits_for: BTreeSet<Instant> },
    /// An object was changed. `withdrawals` = the number of withdrawals and restorations of all objects so far.
    Object { id: Id, withdrawn: bool, withdrawals: u64 },
    /// A tenant was created, changed or deleted. `void` = its scheduled events, which no longer enter.
    Tenant { number: TenantNo, known: Box<KnownTenant>, void: CancelledEvents },
    /// An address was suppressed, or, without a suppression, is not any more.
    Suppression { address: ChannelAddress, listed: SuppressionRow, at: Instant },
    /// A job was made. Its messages are rows of the intake.
    Job { no: JobNo, job: Box<JobWithBuckets> },
    /// A job was stopped.
    StopJob { no: JobNo, at: Instant },
}

/// A cancel of events.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Cancel {
    pub(crate) what: Cancelled,
    /// The tenant whose events alone are meant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tenant: Option<TenantNo>,
    pub(crate) events: CancelledEvents,
    /// True if entries are removed from inboxes too.
    pub(crate) withdraws: bool,
}

/// Cancelled events by place.
pub(crate) type CancelledEvents = BTreeMap<EventNo, CancelledEvent>;

/// A cancelled event.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct CancelledEvent {
    /// The instants at which it was still to enter lanes.
    pub(crate) waits_for: BTreeSet<Instant>,
    /// The days on which it entered.
    pub(crate) days: BTreeSet<Day>,
}
