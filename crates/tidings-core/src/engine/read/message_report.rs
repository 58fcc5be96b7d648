//! The history of a message: its entries, the reasons of its time, and the answers of providers.

use std::collections::BTreeMap;

use super::messages::MessageSummary;
use super::view::MessageAt;
use crate::bucket::Bucket;
use crate::content::message::{Item, SkippedEntry};
use crate::engine::explain::ExplainSubject;
use crate::engine::message::attempt_row::attempts_of;
use crate::engine::message::message_row::MessageRow;
use crate::engine::message::plan::{Plan, PlannedMessage};
use crate::engine::message::present::batch_id;
use crate::engine::message::standing::{KnownMessage, MessageStanding};
use crate::engine::read::reader::Reader;
use crate::engine::rows::draft::Draft;
use crate::engine::rows::ends::{ClosingEndings, EndSubject, ends};
use crate::journal::record::Record;
use crate::journal::stored::Unreadable;
use crate::model::explanation::{ExplanationStep, Rule};
use crate::model::messages::{AttemptRun, MessageName};
use crate::model::number::{MessageId, RecipientNo, Seq};
use crate::model::reason::Reason;

/// The most entries of a message that its time line names.
const ENTERED_MAX: usize = 100;

/// The time line of a message.
#[derive(Clone, Debug, PartialEq)]
pub struct MessageReport {
    /// The line of a list.
    pub summary: MessageSummary,
    /// The id by which providers and logs know it; `None` = it has no content.
    pub batch: Option<String>,
    /// Its entries; those of deleted days are left out.
    pub items: Vec<Item>,
    /// The entries that ended at its check, or were taken out of it later.
    pub left_out: Vec<SkippedEntry>,
    /// The attempts to hand it over, in their order.
    pub attempts: Vec<AttemptRun>,
    /// Its history, in its order.
    pub steps: Vec<ExplanationStep>,
}

impl Reader<'_> {
    /// The time line of a message; `None` = it is unknown.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub fn message_report(&self, name: MessageName) -> Result<Option<MessageReport>, Unreadable> {
        let Reader { engine, view } = *self;
        let MessageId { closing, number } = name.id;
        let Some(bucket) = engine.shards.held_bucket(closing.bucket) else {
            return Ok(None);
        };
        let shard = &engine.shards[engine.shards.index_of(closing.bucket)];
        let draft = Draft::new(view);
        let mut endings = ClosingEndings::default();
        let Some(KnownMessage { standing, row }) =
            KnownMessage::find(shard, &draft, name, &mut endings)?
        else {
            return Ok(None);
        };
        let Some(summary) =
            MessageSummary::of(*self, shard, bucket, name.id, standing, row.as_ref())
        else {
            return Ok(None);
        };
        let mut report = MessageReport {
            summary,
            batch: None,
            items: Vec::new(),
            left_out: Vec::new(),
            attempts: attempts_of(view, name.id, shard.journal_days.range(name.due..))?,
            steps: Vec::new(),
        };
        let content = ReportedContent { reader: *self, bucket, id: name.id };
        match &row {
            Some((_, row)) => content.add_row(row, &mut report)?,
            None => content.add_planned(&mut report)?,
        }
        let days = shard.journal_days.range(name.due..).copied();
        let records = ends(view, bucket.no, EndSubject::Closing(closing.seq), days)?;
        report.add_attempts(number, &records);
        Ok(Some(report))
    }
}

/// The content of a message, as its history names it.
struct ReportedContent<'a> {
    reader: Reader<'a>,
    bucket: &'a Bucket,
    id: MessageId,
}

impl ReportedContent<'_> {
    /// Entries of its recipient by their seqs, as a plan.
    fn entries_at(
        &self,
        row: &MessageRow,
        seqs: Vec<Seq>,
    ) -> Result<(Plan, PlannedMessage), Unreadable> {
        let name = self.reader.engine.intake.compiled.names.lane(row.lane.lane);
        let at = MessageAt {
            at: row.at,
            channel: name.channel.name(),
            lane: name.name.clone(),
            key: row.lane.key.clone(),
            tenant: row.lane.tenant,
            entries: seqs.len(),
            bucket: self.bucket.no,
            number: self.id.number,
            closing: self.id.closing.seq,
            seqs,
        };
        self.reader.message_at(&at)
    }

    /// Adds the entries of a built message, and why it went when it did.
    fn add_row(&self, row: &MessageRow, report: &mut MessageReport) -> Result<(), Unreadable> {
        let closing = self.id.closing;
        let (seqs, mut left_out) = row.seqs(closing.seq);
        left_out.extend(row.taken(closing.seq));
        let whole: Vec<Seq> =
            seqs.iter().chain(left_out.iter().map(|(seq, _)| seq)).copied().collect();
        let (window, all) = self.entries_at(row, whole)?;
        let reasons: BTreeMap<Seq, Reason> = left_out.into_iter().collect();
        for source in &all.entries {
            let item = window.item(*source);
            let seq = window.found.source(*source).0.seq;
            if report.steps.len() < ENTERED_MAX {
                report.steps.push(entered(&item));
            }
            match reasons.get(&seq) {
                None => report.items.push(item),
                Some(reason) => {
                    report.left_out.push(SkippedEntry { event: item.event, reason: *reason });
                }
            }
        }
        if let (Some(recipient), Some(first)) = (&report.summary.recipient, all.entries.first()) {
            let subject = ExplainSubject::Event(window.item(*first).event);
            let steps = self.reader.why_due(subject, recipient, &row.lane, row.at, &window)?;
            report.steps.extend(steps);
        }
        let (plan, planned) = self.entries_at(row, seqs)?;
        report.batch =
            self.reader.engine.message(&plan, &planned).map(|message| batch_id(&message));
        let count = match row.len() {
            1 => "with 1 entry".to_owned(),
            count => format!("with {count} entries"),
        };
        let looked_at = report.batch.clone().unwrap_or_default();
        let built = ExplanationStep::passes(Rule::Message, looked_at, format!("built {count}"));
        report.steps.push(built.at(row.built()));
        Ok(())
    }

    /// Adds the entries of a message that is not built yet.
    fn add_planned(&self, report: &mut MessageReport) -> Result<(), Unreadable> {
        let Self { reader: Reader { engine, view }, bucket, id } = *self;
        let MessageId { closing, number } = id;
        let Some(open) = bucket.closings.get(&closing.seq) else {
            return Ok(());
        };
        let names = &engine.intake.compiled.names;
        let mut found = bucket.waiting(view, names).unmade_for(closing.seq, open, number.0)?;
        found.sort();
        let mut sources: Vec<u32> = found.entries.iter().map(|entry| entry.source).collect();
        let plan = engine.planner(view).plan_of(closing, &open.lane, open.at, open.clock, found)?;
        plan.order(&mut sources);
        for source in sources {
            let item = plan.item(source);
            if report.steps.len() < ENTERED_MAX {
                report.steps.push(entered(&item));
            }
            report.items.push(item);
        }
        let due = ExplanationStep::passes(Rule::Message, "the lane was due", "it is being built");
        report.steps.push(due.at(open.clock));
        Ok(())
    }
}

/// The step of an entry into its lane.
fn entered(item: &Item) -> ExplanationStep {
    let looked_at = format!("event `{}`, type `{}`", item.event, item.event_type);
    ExplanationStep::passes(Rule::Lane, looked_at, "entered it").at(item.t)
}

impl MessageReport {
    /// Tells the attempts and outcomes of a message, in their order.
    fn add_attempts(&mut self, number: RecipientNo, records: &[Record]) {
        let mut steps: Vec<ExplanationStep> = self.attempts.iter().map(attempted).collect();
        for record in records {
            match record {
                Record::Outcome { at, recipients, ending, .. } if recipients.contains(number.0) => {
                    let result = MessageStanding::ended(*at, *ending).state.word();
                    let reason = ending.reason().map_or("the outcome", Reason::word);
                    steps.push(ExplanationStep::passes(Rule::Delivery, reason, result).at(*at));
                }
                Record::Reopened(again) if again.number == number => {
                    let step = ExplanationStep::passes(Rule::Delivery, "an operator", "resent it");
                    steps.push(step.at(again.at));
                }
                _ => {}
            }
        }
        steps.sort_by_key(|step| step.at);
        self.steps.extend(steps);
    }
}

fn attempted(run: &AttemptRun) -> ExplanationStep {
    let AttemptRun { first, last, count, provider, answer, reply } = run;
    // A message whose channel has no provider is attempted by none.
    let looked_at =
        if provider.is_empty() { reply.clone() } else { format!("{provider}: {reply}") };
    let result = match count {
        1 => answer.name().to_owned(),
        count => format!("{}, {count} times until {last}", answer.name()),
    };
    ExplanationStep::passes(Rule::Delivery, looked_at, result).at(*first)
}
