//! Lines of a step: each is written beside the change that it tells.

use std::borrow::Cow;
use std::sync::Arc;

use super::erased::ErasedPerson;
use super::fields;
use super::line::{LineRows, LineWriter};
use super::note::{ChangeNotes, NotedChange};
use super::subject::{
    action_of, counted_action_of, counted_subject_of, of_address, of_erased, subject_of,
    subject_of_cancelled, tenant_of,
};
use crate::engine::acts::act::Cancel;
use crate::engine::replies::reply::{CancelOutcome, OperatedMessage, Reply};
use crate::engine::rows::draft::Draft;
use crate::engine::state::Engine;
use crate::engine::step::StepRun;
use crate::journal::stored::{ReadView, Unreadable};
use crate::journal::table::Write;
use crate::model::changes::{
    ChangeId, ChangeLine, ChangeSubject, ChangedField, OF_INTAKE, Origin, SubjectKind,
};
use crate::model::command::Command;
use crate::model::id::{BucketNo, Id};
use crate::model::time::Instant;
use crate::rules::Rules;

/// The lines of a step.
#[derive(Debug, Default)]
pub(in crate::engine) struct StepLines {
    lines: Vec<(Arc<Origin>, ChangeLine)>,
    /// The origin of each command; empty = none has one.
    pub(in crate::engine) origins: Vec<Option<Arc<Origin>>>,
}

impl StepLines {
    /// The origin of a command.
    pub(in crate::engine) fn origin_of(&self, command: usize) -> Option<Arc<Origin>> {
        self.origins.get(command)?.clone()
    }
}

/// A change that is decided beside the engine, for the log.
#[derive(Clone, Debug)]
pub struct LoggedChange {
    /// Its subject.
    pub subject: ChangeSubject,
    /// The fields that it concerns.
    pub fields: Vec<ChangedField>,
}

impl LoggedChange {
    /// The writes that log it: they belong into the commit of the change.
    ///
    /// # Errors
    /// [`Unreadable`]; the engine is poisoned then: drop it and open another.
    pub fn write(
        self,
        engine: &mut Engine,
        view: &dyn ReadView,
        now: Instant,
        origin: &Origin,
    ) -> Result<Vec<Write>, Unreadable> {
        // No step: the clocks stand still, since what is due before `now` has not gone out.
        let Self { subject, fields } = self;
        let writer = Writer::about(&subject, engine);
        let (at, mut draft) = (now.max(engine.intake.now), Draft::new(view));
        let next = writer.lines(engine);
        let line = LineOrigin { origin, writer: writer.0, at }.line(
            next,
            view,
            subject,
            NotedChange::of(fields),
        )?;
        LineRows(&line).put(&mut draft);
        Ok(draft.done())
    }
}

/// The writer of a line: the number of a shard, or [`OF_INTAKE`].
#[derive(Clone, Copy)]
struct Writer(u16);

impl Writer {
    /// The writer of a line about a subject. What is about no recipient is the intake's, if it is here.
    fn about(subject: &ChangeSubject, engine: &Engine) -> Self {
        let recipient = subject.id.as_deref().filter(|_| subject.kind == SubjectKind::Recipient);
        match recipient.map(|id| BucketNo::of(id, engine.intake.buckets)) {
            Some(bucket) => Self::of(Some(bucket), engine),
            None if engine.holds_intake => Self(OF_INTAKE),
            None => Self(engine.shards[0].no),
        }
    }

    /// The shard that decides what is about a recipient, or the intake.
    fn of(bucket: Option<BucketNo>, engine: &Engine) -> Self {
        let shard_of = |bucket| engine.shards[engine.shards.index_of(bucket)].no;
        Self(bucket.map_or(OF_INTAKE, shard_of))
    }

    /// Its lines.
    fn lines(self, engine: &mut Engine) -> &mut LineWriter {
        let of_shard = engine.shards.iter_mut().find(|shard| shard.no == self.0);
        of_shard.map_or(&mut engine.intake.lines, |shard| &mut shard.lines)
    }
}

impl StepRun<'_, '_> {
    /// The writer of a command's line: the owner of its recipient or message, or the intake.
    fn writer(&self, command: &Command) -> u16 {
        let bucket = match command {
            Command::Message { message, .. } | Command::Report { message, .. } => {
                Some(message.id.closing.bucket)
            }
            command => command.recipient().map(|id| self.bucket_of(id)),
        };
        Writer::of(bucket, self.engine).0
    }

    fn bucket_of(&self, recipient: &Id) -> BucketNo {
        BucketNo::of(recipient.as_str(), self.engine.intake.buckets)
    }

    /// Logs what a command has changed, as it was noted and as its reply tells. Returns the line and its subject.
    pub(in crate::engine) fn log_command(
        &mut self,
        origin: &Arc<Origin>,
        command: &Command,
        noted: ChangeNotes,
        reply: &Reply,
    ) -> Result<Option<(ChangeId, ChangeSubject)>, Unreadable> {
        match noted {
            ChangeNotes::Off | ChangeNotes::Counted(0) => Ok(None),
            // Several changes for one command are one of it.
            ChangeNotes::Counted(_) => {
                self.log_counted(origin, command, 1)?;
                Ok(None)
            }
            ChangeNotes::Each(changes) => {
                let Some(mut change) = noted_change(command, changes, reply) else {
                    return Ok(None);
                };
                if origin.action.is_none() {
                    change.action = action_of(command).map(Cow::Borrowed);
                }
                let subject = match reply {
                    Reply::JobMade { job, .. } => {
                        Some(ChangeSubject::new(SubjectKind::Job, job.to_string()))
                    }
                    _ => self.subject(command),
                };
                let Some(subject) = subject else {
                    return Ok(None);
                };
                let tenant = tenant_of(command).cloned();
                let writer = self.writer(command);
                let id = self.log(origin, writer, subject.clone(), tenant, change)?;
                Ok(Some((id, subject)))
            }
        }
    }

    /// Logs a number of changes by commands of one kind: one line a commit.
    pub(in crate::engine) fn log_counted(
        &mut self,
        origin: &Arc<Origin>,
        command: &Command,
        count: u64,
    ) -> Result<(), Unreadable> {
        let Some(subject) = counted_subject_of(command).filter(|_| count > 0) else {
            return Ok(());
        };
        let action = origin.action.clone();
        let action = action.or_else(|| counted_action_of(command).map(Cow::Borrowed));
        let action = action.unwrap_or_default();
        let is_same = |(of, line): &&mut (Arc<Origin>, ChangeLine)| {
            Arc::ptr_eq(of, origin) && line.subject == subject && line.action == action
        };
        if let Some((_, line)) = self.lines.lines.iter_mut().find(is_same) {
            line.count = line.count.map(|known| known + count);
            return Ok(());
        }
        let tenant = tenant_of(command).filter(|_| subject.id.is_some()).cloned();
        let writer = self.writer(command);
        let change = NotedChange { tenant, action: Some(action), ..NotedChange::of(None) };
        let line = self.line(origin, writer, subject, change)?;
        self.lines.lines.push((Arc::clone(origin), ChangeLine { count: Some(count), ..line }));
        Ok(())
    }

    /// Adds a line, or its fields to that of the same request about the same subject; returns its id.
    pub(in crate::engine) fn log(
        &mut self,
        origin: &Arc<Origin>,
        writer: u16,
        subject: ChangeSubject,
        tenant: Option<Id>,
        mut change: NotedChange,
    ) -> Result<ChangeId, Unreadable> {
        change.tenant = change.tenant.or(tenant);
        // What names no operation of its own has one for each command.
        if let Some((of, line)) = self.lines.lines.last_mut()
            && Arc::ptr_eq(of, origin)
            && origin.action.is_some()
            && (&line.subject, &line.tenant) == (&subject, &change.tenant)
        {
            line.fields.append(&mut change.fields);
            return Ok(line.id);
        }
        let line = self.line(origin, writer, subject, change)?;
        let id = line.id;
        self.lines.lines.push((Arc::clone(origin), line));
        Ok(id)
    }

    fn line(
        &mut self,
        origin: &Origin,
        writer: u16,
        subject: ChangeSubject,
        change: NotedChange,
    ) -> Result<ChangeLine, Unreadable> {
        let written = LineOrigin { origin, writer, at: self.engine.intake.now };
        written.line(Writer(writer).lines(self.engine), self.draft.view, subject, change)
    }

    /// The subject of a command.
    fn subject(&self, command: &Command) -> Option<ChangeSubject> {
        let key = self.engine.intake.hash_key;
        match command {
            Command::Suppress { address, .. }
            | Command::Unsuppress { address }
            | Command::ReportAddress { address, .. } => Some(of_address(key, address)),
            Command::Erase { recipient } => Some(of_erased(key, recipient)),
            command => subject_of(command),
        }
    }

    /// Logs that other rules come into force.
    pub(in crate::engine) fn log_rules(
        &mut self,
        origin: &Arc<Origin>,
        rules: &Rules,
    ) -> Result<(), Unreadable> {
        let known = self.engine.intake.compiled.current();
        let next = known.map_or(1, |version| version.number + 1);
        let fields = fields::rules(known.map(|version| &version.rules), rules);
        let subject = ChangeSubject::new(SubjectKind::Configuration, next.to_string());
        self.log(origin, OF_INTAKE, subject, None, NotedChange::of(fields)).map(drop)
    }

    /// Logs that a cancel is remembered, which shows once all shards have answered.
    pub(in crate::engine) fn log_remembered(
        &mut self,
        origin: &Arc<Origin>,
        cancel: &Cancel,
    ) -> Result<(), Unreadable> {
        let subject = subject_of_cancelled(&cancel.what);
        let tenant = self.engine.intake.tenants.id(cancel.tenant).cloned();
        let change = NotedChange::with_result(cancelled(CancelOutcome::Remembered));
        self.log(origin, OF_INTAKE, subject, tenant, change).map(drop)
    }

    /// Puts a hash in the place of the id of an erased person, in all lines.
    pub(in crate::engine) fn mask_erased(&mut self, recipient: &Id) -> Result<(), Unreadable> {
        let erased = ErasedPerson::new(self.engine.intake.hash_key, recipient);
        for (_, line) in &mut self.lines.lines {
            erased.mask(line);
        }
        erased.mask_stored(&mut self.draft)
    }

    /// Writes the lines of the step.
    pub(in crate::engine) fn write_lines(&mut self) {
        for (_, line) in std::mem::take(&mut self.lines.lines) {
            LineRows(&line).put(&mut self.draft);
        }
    }
}

/// A line's origin, writer and instant.
struct LineOrigin<'a> {
    origin: &'a Origin,
    writer: u16,
    at: Instant,
}

impl LineOrigin<'_> {
    fn line(
        self,
        next: &mut LineWriter,
        view: &dyn ReadView,
        subject: ChangeSubject,
        NotedChange { fields, tenant, result, action }: NotedChange,
    ) -> Result<ChangeLine, Unreadable> {
        let Origin { by, via, request, .. } = self.origin.clone();
        let action = action.or_else(|| self.origin.action.clone()).unwrap_or_default();
        let id = next.next(view, self.writer, self.at)?;
        Ok(ChangeLine {
            id,
            by,
            via,
            action,
            subject,
            tenant,
            request,
            count: None,
            fields,
            result,
        })
    }
}

/// The change of a command; `None` = nothing was changed.
fn noted_change(
    command: &Command,
    changes: Vec<NotedChange>,
    reply: &Reply,
) -> Option<NotedChange> {
    match (command, reply) {
        (_, Reply::Cancelled(taken)) => {
            let changed = taken.cancelled + taken.removed_from_batch + taken.withdrawn;
            let outcome = cancelled(taken.outcome());
            (changed > 0 || taken.remembered).then(|| NotedChange::with_result(outcome))
        }
        (_, Reply::Flushed { lanes, .. }) => {
            (*lanes > 0).then(|| NotedChange::shown("lanes", *lanes as u64, 0_u64))
        }
        (_, Reply::Operated(OperatedMessage::TooLate | OperatedMessage::NothingLeft)) => None,
        _ => {
            let mut changes = changes.into_iter();
            let mut first = changes.next()?;
            for more in changes {
                first.fields.extend(more.fields);
                first.tenant = first.tenant.or(more.tenant);
            }
            Some(first)
        }
    }
}

/// The word of what became of a cancel.
fn cancelled(outcome: CancelOutcome) -> &'static str {
    match outcome {
        CancelOutcome::Cancelled => "cancelled",
        CancelOutcome::RemovedFromBatch => "removed_from_batch",
        CancelOutcome::Withdrawn => "withdrawn",
        CancelOutcome::TooLate => "too_late",
        CancelOutcome::NothingLeft => "nothing_left",
        CancelOutcome::Unknown => "unknown",
        CancelOutcome::Remembered => "remembered",
    }
}
