//! Changes of single messages that operators ask for: retry, cancel, resend.
//!
//! The content of a message is fixed when it is built, so it is sent again as it was, without entries that its
//! recipient has refused since. A copy of a delivered message changes nothing in the books but `resent`.

use std::collections::BTreeSet;

use roaring::RoaringBitmap;

use super::attempt_row::{attempts_of, note_report};
use super::message_row::MessageRow;
use super::message_turns::MessageOccurrences;
use crate::bucket::{Bucket, Closing};
use crate::engine::intake::state::Intake;
use crate::engine::rows::draft::Draft;
use crate::engine::rows::ends::{Of, ending_of, ends};
use crate::engine::rows::going::Going;
use crate::engine::rows::reach::Reached;
use crate::engine::rows::reply::{Operated, Refused, Reply, StepError};
use crate::engine::shard::state::Shard;
use crate::index::FoundEntry;
use crate::journal::record::{Attempts, Entries, Record, Reopened};
use crate::journal::stored::Unreadable;
use crate::model::messages::{Answered, Attempt, MessageAct, MessageName, MessageState};
use crate::model::number::{ClosingId, MessageId, RecipientNo, Seq};
use crate::model::reason::{Ending, Outcome, Reason};
use crate::model::time::{Day, Instant};

/// The state of a message, and how it came to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Standing {
    pub(crate) state: MessageState,
    /// The reason why it was not handed over.
    pub(crate) reason: Option<Reason>,
    /// The instant of its outcome.
    pub(crate) at: Option<Instant>,
    ending: Option<Ending>,
}

impl Standing {
    fn of(state: MessageState) -> Self {
        Self { state, reason: None, at: None, ending: None }
    }

    pub(crate) fn ended(at: Instant, ending: Ending) -> Self {
        let state = match ending {
            Ending::Delivered => MessageState::Sent,
            Ending::Refused | Ending::Unreachable | Ending::Template => MessageState::Failed,
            Ending::Unknown => MessageState::Unknown,
            Ending::RecipientGone | Ending::Forgotten => MessageState::Cancelled,
        };
        Self { state, reason: ending.reason(), at: Some(at), ending: Some(ending) }
    }

    /// The state of a message that waits or is on its way, if it does.
    pub(crate) fn open(bucket: &Bucket, MessageId { closing, number }: MessageId) -> Option<Self> {
        let open = bucket.closings.get(&closing.seq)?;
        if open.unmade.get(&number.0).is_some() {
            return Some(Self::of(MessageState::Planned));
        }
        let has_failed = open.tried.get(&number.0).is_some_and(|tried| tried.count > 0);
        let state = if has_failed { MessageState::Retrying } else { MessageState::Sending };
        open.sending.contains(number.0).then_some(Self::of(state))
    }

    /// The state of a built message that is not on its way, by the records of its closing.
    pub(crate) fn closed<'r>(
        row: &MessageRow,
        number: RecipientNo,
        records: impl IntoIterator<Item = &'r Record>,
    ) -> Self {
        if let Some((reason, at_check)) = row.why_nothing() {
            let state = if at_check { MessageState::Suppressed } else { MessageState::Cancelled };
            return Self { reason: Some(reason), ..Self::of(state) };
        }
        match ending_of(records, number) {
            Some((at, ending)) => Self::ended(at, ending),
            // It ended within the step that asks.
            None => Self::of(MessageState::Sending),
        }
    }
}

/// A message that is known.
pub(crate) struct KnownMessage {
    pub(crate) standing: Standing,
    /// The day on which it was built, and its row.
    pub(crate) row: Option<(Day, MessageRow)>,
}

impl Shard {
    /// A message as it is stored; `None` = there is none of this name.
    pub(crate) fn known(
        &self,
        draft: &Draft<'_>,
        name: MessageName,
    ) -> Result<Option<KnownMessage>, Unreadable> {
        let Some(bucket) = self.buckets.get(name.id.closing.bucket) else {
            return Ok(None);
        };
        let closing = name.id.closing.seq;
        let is_other_day = |open: &Closing| open.at.day() != name.due;
        if bucket.closings.get(&closing).is_some_and(|open| is_other_day(open)) {
            return Ok(None);
        }
        let open = Standing::open(bucket, name.id);
        let row = self.messages(draft).message_row(name.id, name.due)?;
        let row = row.filter(|(_, row)| row.at.day() == name.due);
        let standing = match (open, &row) {
            (Some(open), _) => open,
            (None, None) => return Ok(None),
            (None, Some((day, row))) => {
                let days = self.journal_days.range(*day..).copied();
                let records = ends(draft.view, bucket.no, Of::Closing(closing), days)?;
                Standing::closed(row, name.id.number, &records)
            }
        };
        Ok(Some(KnownMessage { standing, row }))
    }

    /// Retries, cancels or resends a message.
    pub(crate) fn operate(
        &mut self,
        intake: &Intake,
        draft: &mut Draft<'_>,
        name: MessageName,
        act: MessageAct,
    ) -> Result<Reply, StepError> {
        let Some(KnownMessage { standing, row }) = self.known(draft, name)? else {
            return Err(Refused::UnknownMessage(name).into());
        };
        let mut operation =
            MessageOperation { shard: &mut *self, draft: &mut *draft, message: name.id };
        let operated = match (act, standing.state, standing.ending) {
            (MessageAct::Cancel, ..) => operation.cancel(standing.state)?,
            (MessageAct::Retry, MessageState::Retrying, _) => {
                operation.hurry();
                Operated::Goes
            }
            (MessageAct::Retry, MessageState::Failed, Some(ending))
            | (
                MessageAct::Resend,
                MessageState::Sent | MessageState::Unknown | MessageState::Failed,
                Some(ending),
            ) => {
                let Some((_, row)) = &row else {
                    return Err(Refused::UnknownMessage(name).into());
                };
                let tenant = row.lane.tenant.map(|tenant| intake.tenants.get(tenant));
                if tenant.is_some_and(|known| known.is_none_or(|known| known.tenant.disabled)) {
                    let why = "its tenant is disabled, or was deleted";
                    return Err(Refused::MessageGone(why.into()).into());
                }
                if let Some(why) = operation.reopen(row, ending)? {
                    return Err(Refused::MessageGone(why.into()).into());
                }
                Operated::Goes
            }
            (_, state, _) => return Err(Refused::MessageState { state, act }.into()),
        };
        Ok(Reply::Operated(operated))
    }

    /// Notes what was reported of a message after it was handed over. Nothing is decided by it.
    pub(crate) fn take_report(
        &mut self,
        intake: &Intake,
        draft: &mut Draft<'_>,
        name: MessageName,
        report: &Attempt,
    ) -> Result<Reply, StepError> {
        match self.known(draft, name)? {
            Some(KnownMessage { row: Some((day, row)), .. }) => {
                if note_report(draft, day, name.id, report)? {
                    let closing = name.id.closing;
                    let mut occurrences =
                        MessageOccurrences { shard: self, intake, draft, closing };
                    occurrences.note_reported(name, &row, report)?;
                }
                Ok(Reply::Done)
            }
            _ => Err(Refused::UnknownMessage(name).into()),
        }
    }
}

/// An operation on a message.
struct MessageOperation<'a, 'd> {
    shard: &'a mut Shard,
    draft: &'a mut Draft<'d>,
    message: MessageId,
}

impl MessageOperation<'_, '_> {
    /// Takes all entries out of a message that is surely not handed over.
    fn cancel(&mut self, state: MessageState) -> Result<Operated, Unreadable> {
        let (message, bucket) = (self.message, self.message.closing.bucket);
        match state {
            MessageState::Planned => {
                let items = self.planned_entries()?;
                let count = items.len() as u64;
                self.shard.cut(self.draft, bucket, Some(Reason::Message), items);
                Ok(match count {
                    0 => Operated::NothingLeft,
                    count => Operated::Cancelled(count),
                })
            }
            MessageState::Sending | MessageState::Retrying
                if self.draft.reach.get(&message) == Some(&Reached::KeptBack) =>
            {
                let Some(open) = self.shard.buckets[bucket].closings.get(&message.closing.seq)
                else {
                    return Ok(Operated::NothingLeft);
                };
                let channel = self.shard.compiled.names.lane(open.lane.lane).channel;
                let row = self.shard.messages(self.draft).message_row(message, open.at.day())?;
                let entries: Vec<_> = row
                    .map(|(_, row)| row.entries(message.closing.seq))
                    .into_iter()
                    .flatten()
                    .map(|seq| (seq, channel, message))
                    .collect();
                let count = entries.len() as u64;
                self.shard.take_out(self.draft, bucket, Reason::Message, entries)?;
                Ok(Operated::Cancelled(count))
            }
            MessageState::Sending
            | MessageState::Retrying
            | MessageState::Sent
            | MessageState::Unknown => Ok(Operated::TooLate),
            MessageState::Failed | MessageState::Suppressed | MessageState::Cancelled => {
                Ok(Operated::NothingLeft)
            }
        }
    }

    /// The entries of a message that is not built.
    fn planned_entries(&self) -> Result<Vec<Entries>, Unreadable> {
        let MessageId { closing, number } = self.message;
        let bucket = &self.shard.buckets[closing.bucket];
        let Some(open) = bucket.closings.get(&closing.seq) else {
            return Ok(Vec::new());
        };
        let names = &self.shard.compiled.names;
        let channel = names.lane(open.lane.lane).channel;
        let recipients = RoaringBitmap::from_iter([number.0]);
        let found =
            bucket.waiting(self.draft.view, names).unmade_for(closing.seq, open, number.0)?;
        let seq = |entry: &FoundEntry| found.source(entry.source).0.seq;
        let entries = found.entries.iter().map(|entry| Entries {
            seq: seq(entry),
            channel,
            recipients: recipients.clone().into(),
        });
        Ok(entries.collect())
    }

    /// Sends a message that waits for its next attempt now.
    fn hurry(&mut self) {
        let (shard, message) = (&mut *self.shard, self.message);
        let MessageId { closing, number } = message;
        let open = shard.buckets[closing.bucket].closings.get(&closing.seq);
        let Some(tried) = open.and_then(|open| open.tried.get(&number.0)).copied() else {
            return;
        };
        let attempts = Attempts { until: shard.now.min(tried.until), ..tried };
        let record = Record::Attempted { at: shard.now, closing: closing.seq, number, attempts };
        shard.write(self.draft, closing.bucket, record);
        shard.going.push(Going { message, had_ended: false });
    }

    /// Sends a message that had its outcome again, or returns why it can't.
    fn reopen(
        &mut self,
        row: &MessageRow,
        ending: Ending,
    ) -> Result<Option<&'static str>, Unreadable> {
        let (shard, draft, message) = (&mut *self.shard, &mut *self.draft, self.message);
        let ClosingId { bucket: no, seq } = message.closing;
        let bucket = &shard.buckets[no];
        if bucket.roster.profile(message.number).is_none() {
            return Ok(Some("its recipient was erased"));
        }
        let seqs = row.entries(seq);
        let first = bucket.index.first_seq(bucket.next_seq);
        let days: Vec<Day> = seqs
            .iter()
            .filter(|seq| **seq >= first)
            .filter_map(|seq| bucket.index.day_of(*seq))
            .collect();
        // Without all its entries it would be another message under the same id.
        if days.len() < seqs.len() {
            return Ok(Some("a day of its entries was deleted"));
        }
        let channel = shard.compiled.names.lane(row.lane.lane).channel;
        let from = seqs.iter().min().copied().unwrap_or(seq);
        let open = Closing::new(row.lane.clone(), row.at, row.at, from);
        let unwanted = match shard.version() {
            Some(version) => {
                shard.messages(draft).unwanted_in(message, channel, &open, &version)?
            }
            None => Vec::new(),
        };
        let has_failed = ending.outcome() == Outcome::Failed;
        let left: BTreeSet<Seq> = seqs.iter().copied().collect();
        // A copy of a delivered message is sent whole or not at all. A failed one goes with what is left.
        if !unwanted.is_empty() && (!has_failed || unwanted.len() >= left.len()) {
            return Ok(Some("its recipient has chosen `never` for it since"));
        }
        for day in days {
            let account = shard.ledger.at(no, day, channel);
            account.reopen(ending.outcome(), ending.reason(), 1);
        }
        // A refusal does not take back what an attempt before it may have handed over.
        let tries = attempts_of(draft.view, message, shard.journal_days.range(row.at.day()..))?;
        let was_in_doubt = tries.iter().any(|run| run.answer == Answered::Unknown);
        let attempts = Attempts {
            count: 0,
            until: shard.now,
            in_doubt: !has_failed || was_in_doubt,
            resent: 0,
            delivered: ending == Ending::Delivered,
            again: false,
        };
        let again = Reopened {
            at: shard.now,
            closing: seq,
            lane: open.lane,
            due: open.at,
            from: open.from,
            number: message.number,
            attempts,
        };
        shard.write(draft, no, Record::Reopened(Box::new(again)));
        // The message has pending entries again, which admissions must find.
        shard.admitted.clear();
        shard.going.push(Going { message, had_ended: true });
        // Follows the record: entries are taken out of messages that are on their way.
        let unwanted = unwanted.into_iter().map(|seq| (seq, channel, message));
        shard.take_out(draft, no, Reason::Preference, unwanted.collect())?;
        Ok(None)
    }
}
