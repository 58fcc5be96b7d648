//! Changes of single messages that operators ask for: retry, cancel, resend.
//!
//! The content of a message is fixed when it is built, so it is sent again as it was, without entries that its
//! recipient has refused since. A copy of a delivered message changes nothing in the books but `resent`.

use std::collections::BTreeSet;

use roaring::RoaringBitmap;

use super::attempt_row::{NotedReport, attempts_of, note_report};
use super::counted::CountedMessage;
use super::index_writer::MessageIndexWriter;
use super::message_row::MessageRow;
use super::message_turns::MessageOccurrences;
use super::standing::KnownMessage;
use crate::bucket::Closing;
use crate::engine::change_log::note::NotedChange;
use crate::engine::figures::counting::CountKey;
use crate::engine::intake::state::Intake;
use crate::engine::reach::KeptBackState;
use crate::engine::replies::going::GoingMessage;
use crate::engine::replies::refused::{Refused, StepError};
use crate::engine::replies::reply::{OperatedMessage, Reply};
use crate::engine::rows::draft::Draft;
use crate::engine::rows::ends::ClosingEndings;
use crate::engine::shard::state::Shard;
use crate::index::FoundEntry;
use crate::journal::record::{Attempts, Entries, Record, Reopened};
use crate::journal::stored::Unreadable;
use crate::model::messages::{Answered, Attempt, MessageAct, MessageName, MessageState};
use crate::model::number::{ClosingId, MessageId, Seq};
use crate::model::reason::{Ending, Outcome, Reason};

impl Shard {
    /// Retries, cancels or resends a message.
    pub(crate) fn operate(
        &mut self,
        intake: &Intake,
        draft: &mut Draft<'_>,
        name: MessageName,
        act: MessageAct,
    ) -> Result<Reply, StepError> {
        let mut endings = std::mem::take(&mut *self.endings);
        let known = KnownMessage::find(self, draft, name, &mut endings)?;
        *self.endings = endings;
        let Some(KnownMessage { standing, row }) = known else {
            return Err(Refused::UnknownMessage(name).into());
        };
        let mut operation =
            MessageOperation { shard: &mut *self, draft: &mut *draft, message: name.id };
        let operated = match (act, standing.state, standing.ending) {
            (MessageAct::Cancel, ..) => operation.cancel(standing.state)?,
            (MessageAct::Retry, MessageState::Retrying, _) => {
                operation.hurry()?;
                OperatedMessage::Goes
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
                OperatedMessage::Goes
            }
            (_, state, _) => return Err(Refused::MessageState { state, act }.into()),
        };
        let tenant = row.as_ref().and_then(|(_, row)| row.lane.tenant);
        let after = match operated {
            OperatedMessage::Goes => Some(MessageState::Sending),
            OperatedMessage::Cancelled(_) => Some(MessageState::Cancelled),
            OperatedMessage::TooLate | OperatedMessage::NothingLeft => None,
        };
        if let Some(after) = after {
            draft.noted.note(|| NotedChange {
                tenant: intake.tenants.id(tenant).cloned(),
                ..NotedChange::shown("state", standing.state.word(), after.word())
            });
        }
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
        match KnownMessage::find(self, draft, name, &mut ClosingEndings::default())? {
            Some(KnownMessage { row: Some((day, row)), .. }) => {
                let noted = note_report(draft, day, name.id, report)?;
                if noted == NotedReport::First {
                    let ClosingId { bucket, seq } = name.id.closing;
                    let channel = self.compiled.names.lane(row.lane.lane).channel;
                    let (bucket, due) = (&self.buckets[bucket], (row.at, channel));
                    let counted = CountedMessage::read(bucket, draft.view, due, row.entries(seq))?;
                    counted.count_report(&mut self.figures, report.answer);
                }
                if noted != NotedReport::Before {
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
    fn cancel(&mut self, state: MessageState) -> Result<OperatedMessage, Unreadable> {
        let (message, bucket) = (self.message, self.message.closing.bucket);
        match state {
            MessageState::Planned => {
                let items = self.planned_entries()?;
                let count = items.len() as u64;
                self.shard.cut(self.draft, bucket, Some(Reason::Message), items)?;
                Ok(match count {
                    0 => OperatedMessage::NothingLeft,
                    count => OperatedMessage::Cancelled(count),
                })
            }
            MessageState::Sending | MessageState::Retrying
                if self.draft.reach.get(&message) == Some(&KeptBackState::KeptBack) =>
            {
                let Some(open) = self.shard.buckets[bucket].closings.get(&message.closing.seq)
                else {
                    return Ok(OperatedMessage::NothingLeft);
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
                Ok(OperatedMessage::Cancelled(count))
            }
            MessageState::Sending
            | MessageState::Retrying
            | MessageState::Sent
            | MessageState::Unknown => Ok(OperatedMessage::TooLate),
            MessageState::Failed | MessageState::Suppressed | MessageState::Cancelled => {
                Ok(OperatedMessage::NothingLeft)
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
    fn hurry(&mut self) -> Result<(), Unreadable> {
        let (shard, message) = (&mut *self.shard, self.message);
        let MessageId { closing, number } = message;
        let open = shard.buckets[closing.bucket].closings.get(&closing.seq);
        let Some(tried) = open.and_then(|open| open.tried.get(&number.0)).copied() else {
            return Ok(());
        };
        if self.draft.concerned.is_counted() {
            let entries = shard.messages(self.draft).seqs_of(message)?.len();
            self.draft.concerned.message(message, entries);
        }
        let attempts = Attempts { until: shard.now.min(tried.until), ..tried };
        let record = Record::Attempted { at: shard.now, closing: closing.seq, number, attempts };
        shard.write(self.draft, closing.bucket, record);
        shard.going.push(GoingMessage { message, had_ended: false, by_job: false });
        Ok(())
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
        let is_kept = |seq: &Seq| *seq >= first && bucket.index.day_of(*seq).is_some();
        // Without all its entries it would be another message under the same id.
        if !seqs.iter().all(is_kept) {
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
        let due = open.at;
        let counted = CountedMessage::read(bucket, draft.view, (row.at, channel), seqs)?;
        for kept in &counted.entries {
            let account = shard.ledger.at(no, kept.arrival.at.day(), channel);
            account.reopen(ending.outcome(), ending.reason(), 1);
            let of = CountKey::entries_of(&kept.arrival, channel);
            shard.figures.reopen(of, ending.outcome(), ending.reason());
        }
        counted.take_back(&mut shard.figures, MessageState::after(ending));
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
        MessageIndexWriter::of(shard, draft).reopened(message, due, ending)?;
        // The message has pending entries again, which admissions must find.
        shard.admitted.clear();
        shard.going.push(GoingMessage { message, had_ended: true, by_job: false });
        // Those that the recipient has refused since are counted where they end.
        draft.concerned.message(message, left.len() - unwanted.len());
        // Follows the record: entries are taken out of messages that are on their way.
        let unwanted = unwanted.into_iter().map(|seq| (seq, channel, message));
        shard.take_out(draft, no, Reason::Preference, unwanted.collect())?;
        Ok(None)
    }
}
