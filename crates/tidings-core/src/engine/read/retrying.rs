//! The messages that wait for their next attempt, the next first.
//!
//! The time of each is in memory. Only the messages that are shown are read.

use std::collections::BTreeSet;

use super::messages::MessageSummary;
use crate::engine::message::attempt_row::attempts_of;
use crate::engine::message::standing::MessageStanding;
use crate::engine::read::reader::Reader;
use crate::engine::replies::refused::StepError;
use crate::engine::rows::draft::Draft;
use crate::journal::stored::Unreadable;
use crate::model::id::Id;
use crate::model::messages::{Answered, AttemptRun, MessageState};
use crate::model::number::{MessageId, RecipientNo};
use crate::model::pause::Paused;
use crate::model::tenant::View;

/// A message that waits for its next attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageInRetry {
    /// The line of a list.
    pub summary: MessageSummary,
    /// The provider's last answer; `None` = none.
    pub last: Option<AttemptRun>,
    /// True if a pause holds it.
    pub is_held: bool,
}

/// Messages that wait for their next attempt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessagesInRetry {
    /// Number of them.
    pub count: usize,
    /// The requested ones, the next first; those that a pause holds come last.
    pub messages: Vec<MessageInRetry>,
}

impl Reader<'_> {
    /// The messages of a view that wait for their next attempt, of a recipient or all; at most `most` are shown.
    ///
    /// # Errors
    /// [`StepError::Refused`] where the recipient or the view's tenant is unknown.
    pub fn retrying(
        &self,
        recipient: Option<&Id>,
        of: &View,
        most: usize,
    ) -> Result<MessagesInRetry, StepError> {
        let engine = self.engine;
        let of = engine.intake.tenants.view(of)?;
        let whose = recipient.map(|id| engine.find(id)).transpose()?;
        let (least, greatest) = whose.map_or((0, u32::MAX), |of| (of.number.0, of.number.0));
        let mut waits = Vec::new();
        for (shard, bucket) in engine.shards.with_buckets() {
            if whose.is_some_and(|of| of.bucket != bucket.no) {
                continue;
            }
            let shown = bucket.closings.iter().filter(|(_, open)| of.shows(open.lane.tenant));
            for (seq, open) in shown {
                let channel = shard.compiled.names.lane(open.lane.lane).channel;
                let is_held = engine.paused().has_channel(channel.name());
                let tried = open.tried.from(&least);
                for (number, tried) in tried.take_while(|(number, _)| **number <= greatest) {
                    let id = bucket.closing_id(*seq).message(RecipientNo(*number));
                    let standing = MessageStanding::open(bucket, id);
                    if standing.is_some_and(|is| is.state == MessageState::Retrying) {
                        waits.push((is_held, tried.until, id));
                    }
                }
            }
        }
        waits.sort_unstable();
        let count = waits.len();
        let shown: BTreeSet<MessageId> = waits.iter().take(most).map(|(.., id)| *id).collect();
        let held = self.held(&shown)?;
        let mut messages = Vec::new();
        for (.., id) in waits.into_iter().take(most) {
            let is_held = held.contains(&id);
            messages.extend(self.retried(id, is_held)?);
        }
        messages.sort_by_key(|message| message.is_held);
        Ok(MessagesInRetry { count, messages })
    }

    /// The messages of these that a pause holds.
    fn held(&self, messages: &BTreeSet<MessageId>) -> Result<BTreeSet<MessageId>, Unreadable> {
        let Reader { engine, view } = *self;
        let mut held = BTreeSet::new();
        if *engine.paused() == Paused::default() {
            return Ok(held);
        }
        for plan in engine.planner(view).made_again(messages)? {
            for planned in &plan.messages {
                let types: Vec<Id> =
                    planned.entries.iter().map(|at| plan.item(*at).event_type).collect();
                if engine.paused().holds(plan.channel, &types) {
                    held.insert(plan.closing.message(planned.number));
                }
            }
        }
        Ok(held)
    }

    fn retried(&self, id: MessageId, is_held: bool) -> Result<Option<MessageInRetry>, Unreadable> {
        let Reader { engine, view } = *self;
        let shard = &engine.shards[engine.shards.index_of(id.closing.bucket)];
        let bucket = &shard.buckets[id.closing.bucket];
        let open = bucket.closings.get(&id.closing.seq);
        let Some((standing, open)) = MessageStanding::open(bucket, id).zip(open) else {
            return Ok(None);
        };
        let due = open.at.day();
        let row = shard.messages(&Draft::new(view)).message_row(id, due)?;
        let attempts = attempts_of(view, id, shard.journal_days.range(due..))?;
        // What is reported later is no answer to an attempt.
        let mut newest_first = attempts.into_iter().rev();
        let last = newest_first.find(|run| Answered::TO_ATTEMPTS.contains(&run.answer));
        let summary = MessageSummary::of(*self, shard, bucket, id, standing, row.as_ref());
        Ok(summary.map(|summary| MessageInRetry { summary, last, is_held }))
    }
}
