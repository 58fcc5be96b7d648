//! Explanations of the fate of an event for a recipient, also of a hypothetical event.
//!
//! They read the journal: the reasons and lanes of entries, the time and the reason of their end, the messages that
//! carried them. Facts that it does not keep, such as the reason why there is no entry, are computed from the present
//! audiences, preferences and rules, and marked so. A hypothetical event goes through the same functions as a published
//! one, for this recipient alone, and nothing is written.

mod arrival;
pub(in crate::engine) mod audience;
mod deadline;
mod history;
mod look;
mod overlay;

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::sync::Arc;

use super::message::plan::Plan;
use super::read::outcome::KnownEvent;
use super::replies::refused::Refused;
use super::rows::draft::Draft;
use super::rows::event_row::EventRow;
use super::shard::state::Shard;
use super::state::Engine;
use crate::bucket::Bucket;
use crate::engine::read::reader::Reader;
use crate::journal::stored::Unreadable;
use crate::model::batch_key::LaneKey;
use crate::model::channel::ChannelNo;
use crate::model::event::Event;
use crate::model::explanation::{ChannelPath, EntryState, Explanation, ExplanationStep, Rule};
use crate::model::id::Id;
use crate::model::number::{RecipientAt, RecipientNo};
use crate::model::reason::{Outcome, Reason};
use crate::model::recipient::Recipient;
use crate::model::tenant::TenantNo;
use crate::model::time::Instant;
use crate::rules::UnknownTenant;
use crate::rules::compiled::{RulesVersion, Type};

/// The event to explain.
#[derive(Clone, Debug)]
pub enum ExplainSubject {
    /// One that was published.
    Event(Id),
    /// One that was not: what would become of it, were it published now.
    Supposed(Box<Event>),
}

/// The reason why nothing can be explained.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExplainError {
    /// The event is unknown: it was not published, or the day of its arrival is forgotten.
    #[error("unknown event `{0}`")]
    UnknownEvent(Id),
    /// The recipient is unknown.
    #[error("unknown recipient `{0}`")]
    UnknownRecipient(Id),
    /// A supposed event is of a tenant that is unknown.
    #[error("unknown tenant `{0}`")]
    UnknownTenant(Id),
    /// A supposed event would be refused.
    #[error(transparent)]
    Refused(Refused),
    /// The store can't be read.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
}

/// The question: an event and a recipient, with what is looked at to answer it.
struct ExplainQuestion<'a> {
    engine: &'a Engine,
    shard: &'a Shard,
    bucket: &'a Bucket,
    number: RecipientNo,
    profile: &'a Recipient,
    draft: Draft<'a>,
    event: KnownEvent,
    supposed: bool,
    /// The instant as of which it is answered.
    now: Instant,
    version: Option<&'a Arc<RulesVersion>>,
    of_type: Option<&'a Type>,
}

impl<'a> Reader<'a> {
    /// Explains what became of an event for a recipient, as long as the day of its arrival is kept; or what would
    /// become of a supposed one. `now` = the instant as of which it is explained, no earlier than the newest step.
    ///
    /// # Errors
    /// [`ExplainError`].
    pub fn explain(
        &self,
        subject: ExplainSubject,
        recipient: &Id,
        now: Instant,
    ) -> Result<Explanation, ExplainError> {
        Ok(self.question(subject, recipient, now)?.answer()?)
    }

    /// The rules that decided when the window of an event for a recipient went out; nothing where the event or the
    /// recipient is not known any more.
    pub(super) fn why_due(
        &self,
        subject: ExplainSubject,
        recipient: &Id,
        address: &LaneKey,
        at: Instant,
        window: &Plan,
    ) -> Result<Vec<ExplanationStep>, Unreadable> {
        let engine = self.engine;
        let question = match self.question(subject, recipient, engine.now()) {
            Ok(question) => question,
            Err(ExplainError::Unreadable(fault)) => return Err(fault),
            Err(_) => return Ok(Vec::new()),
        };
        let channel = engine.intake.compiled.names.lane(address.lane).channel;
        let mut path = begin(channel);
        let mut sources: Vec<u32> = window.found.entries.iter().map(|of| of.source).collect();
        window.order(&mut sources);
        let entries: Vec<_> =
            sources.iter().map(|source| &window.found.source(*source).0.arrival).collect();
        question.was_due_steps(address, at, &entries, &mut path)?;
        Ok(path.steps)
    }

    fn question(
        &self,
        subject: ExplainSubject,
        recipient: &Id,
        now: Instant,
    ) -> Result<ExplainQuestion<'a>, ExplainError> {
        let Reader { engine, view } = *self;
        let now = now.max(engine.now());
        let unknown = || ExplainError::UnknownRecipient(recipient.clone());
        let Ok(RecipientAt { bucket: no, number }) = engine.find(recipient) else {
            return Err(unknown());
        };
        let bucket = engine.shards.bucket(no);
        let Some(profile) = bucket.roster.profile(number) else {
            return Err(unknown());
        };
        let (draft, supposed) = (Draft::new(view), matches!(subject, ExplainSubject::Supposed(_)));
        let event = match subject {
            ExplainSubject::Supposed(event) => self.supposed(*event, now)?,
            ExplainSubject::Event(id) => match self.known_event(&draft, &id)? {
                Some(known) => known,
                None => return Err(ExplainError::UnknownEvent(id)),
            },
        };
        let version = engine.intake.compiled.current();
        let name = event.row.event.event_type.as_str();
        let of_type = engine.intake.compiled.names.type_no(name);
        let of_type = of_type.and_then(|of_type| version?.of_type(of_type));
        Ok(ExplainQuestion {
            engine,
            shard: &engine.shards[engine.shards.index_of(no)],
            bucket,
            number,
            profile,
            draft,
            event,
            supposed,
            now,
            version,
            of_type,
        })
    }

    /// An event as it would be accepted now.
    fn supposed(&self, event: Event, now: Instant) -> Result<KnownEvent, ExplainError> {
        let engine = self.engine;
        let version = engine.intake.compiled.current();
        let of_type = engine.intake.compiled.names.type_no(event.event_type.as_str());
        let of_type = of_type.and_then(|of_type| version?.of_type(of_type));
        // With a key that is too long a publish is refused; it is as if there were none.
        let keys = of_type.and_then(|of_type| of_type.keys(&event).ok());
        let after_ms = of_type.map(|of_type| of_type.all_after_ms(&event));
        let tenant = event.tenant.as_ref().map(|id| {
            let known = engine.intake.tenants.number(id);
            let makes = version.and_then(|version| version.rules.tenants).is_some_and(|rules| {
                // It would have nobody.
                rules.unknown == UnknownTenant::Make
            });
            known
                .ok()
                .or(makes.then_some(TenantNo(NonZeroU32::MAX)))
                .ok_or_else(|| ExplainError::UnknownTenant(id.clone()))
        });
        Ok(KnownEvent {
            row: EventRow {
                place: engine.intake.next_place,
                arrived: now,
                clock: None,
                keys: keys.unwrap_or_default(),
                after_ms: after_ms.unwrap_or_default(),
                tenant: tenant.transpose()?,
                event,
            },
            instants: BTreeSet::new(),
            days: BTreeSet::from([now.day()]),
            journal_days: Vec::new(),
        })
    }
}

impl ExplainQuestion<'_> {
    fn event(&self) -> &Event {
        &self.event.row.event
    }

    fn answer(&self) -> Result<Explanation, Unreadable> {
        let entries =
            if self.supposed { history::StoredEntries::default() } else { self.entries()? };
        let arrival = self.arrival(entries.reasons())?;
        let mut channels: BTreeSet<ChannelNo> = entries.channels(self);
        if arrival.is_reached {
            let only = self.event().channels.as_deref();
            channels.extend(self.of_type.iter().flat_map(|of_type| of_type.channels(only)));
        }
        let routed =
            if arrival.is_reached && self.supposed { self.routed(&arrival) } else { Vec::new() };
        let mut paths = Vec::new();
        for channel in channels {
            let entry = routed.iter().find(|entry| entry.channel == channel);
            paths.push(match entry {
                Some(entry) => self.supposition(&arrival, entry)?,
                None if entries.has(self, channel) => self.history(&entries, channel)?,
                None => self.without_entry(&arrival, channel),
            });
        }
        Ok(Explanation {
            event: self.event().id.clone(),
            event_type: self.event().event_type.clone(),
            tenant: self.event().tenant.clone(),
            recipient: self.profile.id.clone(),
            as_of: self.now,
            supposed: self.supposed,
            steps: arrival.steps,
            channels: paths,
        })
    }

    fn lane_text(&self, lane: &LaneKey) -> String {
        let mut text = self.engine.intake.compiled.names.lane(lane.lane).name.clone();
        if !lane.key.is_empty() {
            text.push_str(&format!(", key `{}`", lane.key.as_str()));
        }
        if let Some(tenant) = self.engine.intake.tenants.id(lane.tenant) {
            text.push_str(&format!(", tenant `{tenant}`"));
        }
        text
    }
}

/// A path that begins.
fn begin(channel: ChannelNo) -> ChannelPath {
    ChannelPath {
        channel: channel.name(),
        steps: Vec::new(),
        state: EntryState::None,
        reason: None,
        at: None,
    }
}

/// Sets how an entry ended.
fn end(path: &mut ChannelPath, outcome: Outcome, reason: Option<Reason>, at: Instant) {
    path.state = EntryState::Ended(outcome);
    path.reason = reason;
    path.at = Some(at);
}

/// A rule that ended an entry for a reason.
fn ended(rule: Rule, looked_at: impl Into<String>, reason: Reason) -> ExplanationStep {
    let (outcome, reason) = (reason.outcome().word(), reason.word());
    ExplanationStep::ends(rule, looked_at, format!("ends it: {outcome} ({reason})"))
}
