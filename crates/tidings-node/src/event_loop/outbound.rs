//! The messages on their way: from their building to the record of their outcome.

use std::collections::VecDeque;
use std::sync::Arc;

use tidings_core::content::Message;
use tidings_core::engine::ClosingResults;
use tidings_core::model::TenantNo;

use super::clock::LoopClock;
use super::unbuilt::{BuiltMessageHolders, UnbuiltMessages};
use crate::cluster::log_feed::Learnt;
use crate::commit::CommitNo;
use crate::commit::executor::Executor;
use crate::delivery::senders::Senders;
use crate::delivery::{AnswersByClosing, Delivery};

/// The messages of a loop.
pub(crate) struct Outbound {
    pub(crate) delivery: Delivery,
    pub(crate) senders: Senders,
    pub(super) unbuilt: UnbuiltMessages,
    /// The tenant of which messages were built last, by priority: the next one has its turn.
    pub(super) last_made: [Option<TenantNo>; 2],
    /// Answers that are not recorded yet, by closing. They survive a failure of the store: a sent message
    /// is not sent again because recording it failed.
    pub(super) answered: AnswersByClosing,
    /// Answers in commits that are not durable yet.
    pub(super) recorded: VecDeque<(CommitNo, Vec<ClosingResults>)>,
    /// The reports of answers on addresses.
    pub(super) address_reports: Vec<Learnt>,
    /// Set if messages are sent within the instant at which they are due.
    pub(super) at_once: Option<AtOnce>,
}

/// The sending within an instant.
#[derive(Default)]
pub(crate) struct AtOnce {
    /// True if nothing is sent: what is built counts as delivered.
    pub(crate) counts_only: bool,
    /// The messages so far, if somebody wants to have them.
    pub(crate) messages: Option<Vec<Message>>,
}

impl Outbound {
    /// The messages of a loop that begins.
    pub(super) fn new(delivery: Delivery, clock: &LoopClock, by: Executor) -> Self {
        let senders = Senders::new(delivery.channels(), Arc::clone(&clock.source), by);
        Self {
            senders: senders.asking(delivery.may_send()),
            delivery,
            unbuilt: UnbuiltMessages::default(),
            last_made: [None; 2],
            answered: AnswersByClosing::new(),
            recorded: VecDeque::new(),
            address_reports: Vec::new(),
            at_once: None,
        }
    }

    /// The messages that are built and wait.
    pub(super) fn built(&self) -> BuiltMessageHolders<'_> {
        BuiltMessageHolders { senders: &self.senders, in_flight: &self.delivery.in_flight }
    }
}
