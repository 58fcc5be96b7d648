//! Explanations of an event for its whole audience: counts by channel, outcome and the rule that left somebody out.
//!
//! The entries are those that the journal has, and who got none is stored with the day of arrival.

use std::collections::BTreeMap;
use std::slice;

use super::overlay::ViewOverlay;
use super::{ExplainError, ExplainSubject};
use crate::engine::reach::Reach;
use crate::engine::read::outcome::EntryStateCounts;
use crate::engine::read::reader::Reader;
use crate::engine::rows::draft::Draft;
use crate::engine::rows::not_reached::{NotReachedReason, not_reached};
use crate::journal::stored::Unreadable;
use crate::model::channel::channel_no;
use crate::model::command::Command;
use crate::model::id::Id;
use crate::model::time::Instant;

/// The outcome of an event over its audience, or the one that a supposed event would have.
#[derive(Clone, Debug, PartialEq)]
pub struct AudienceReport {
    /// The event.
    pub event: Id,
    /// Its type.
    pub event_type: Id,
    /// Its tenant; `None` = of none.
    pub tenant: Option<Id>,
    /// True if it was not published.
    pub supposed: bool,
    /// The instant as of which it is told.
    pub as_of: Instant,
    /// Number of recipients in its audience.
    pub concerned: u64,
    /// Number of recipients with at least one entry when it was accepted.
    pub notifications: u64,
    /// The channels of its type that it allows.
    pub channels: BTreeMap<&'static str, ChannelReport>,
}

/// The audience of an event on a channel: those with an entry, and those without.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChannelReport {
    /// The entries.
    pub fate: EntryStateCounts,
    /// Number of recipients without an entry, by reason: `preference`, `once_pending`, `once_ever`.
    pub left_out: BTreeMap<&'static str, u64>,
}

impl Reader<'_> {
    /// Explains what became of an event for its audience, as long as the day of its arrival is kept; or what would become of
    /// a supposed one by the end of the instant, were it published now.
    ///
    /// # Errors
    /// [`ExplainError`].
    pub fn explain_audience(
        &self,
        subject: ExplainSubject,
        now: Instant,
    ) -> Result<AudienceReport, ExplainError> {
        let Reader { engine, view } = *self;
        let now = now.max(engine.now());
        let event = match subject {
            ExplainSubject::Event(id) => {
                let report = self.audience_of(&id, now)?;
                return report.ok_or(ExplainError::UnknownEvent(id));
            }
            ExplainSubject::Supposed(event) => event,
        };
        let (id, event_type) = (event.id.clone(), event.event_type.clone());
        let tenant = event.tenant.clone();
        let command = Command::Publish(event);
        let mut copy = engine.copy();
        let step = copy.step(view, &Reach::new(), now, slice::from_ref(&command))?;
        if let Some(Err(refused)) = step.replies.into_iter().next() {
            return Err(ExplainError::Refused(refused));
        }
        let overlay = ViewOverlay::new(view, step.writes);
        let report = copy.reader(&overlay).audience_of(&id, now)?;
        // Of an event that names somebody unknown, and reaches nobody, nothing is kept.
        let report = report.unwrap_or(AudienceReport {
            event: id,
            event_type,
            tenant,
            supposed: true,
            as_of: now,
            concerned: 0,
            notifications: 0,
            channels: BTreeMap::new(),
        });
        Ok(AudienceReport { supposed: true, ..report })
    }

    /// The report on an event that is known.
    fn audience_of(&self, id: &Id, now: Instant) -> Result<Option<AudienceReport>, Unreadable> {
        let Reader { engine, view } = *self;
        let Some(known) = self.known_event(&Draft::new(view), id)? else {
            return Ok(None);
        };
        let Some(trace) = self.trace(id)? else {
            return Ok(None);
        };
        let report = trace.report(view)?;
        let row = known.row;
        let mut without = Vec::new();
        for bucket in engine.shards.buckets() {
            without.extend(not_reached(view, row.arrived.day(), bucket.no, row.place)?);
        }
        let nobody: u64 = without.iter().map(|of| of.recipients.len()).sum();
        let concerned = report.notifications + nobody;
        let version = engine.intake.compiled.current();
        let of_type = engine.intake.compiled.names.type_no(row.event.event_type.as_str());
        let of_type = version.zip(of_type).and_then(|(version, no)| version.of_type(no));
        let mut channels: BTreeMap<&'static str, ChannelReport> = report
            .channels
            .into_iter()
            .map(|(name, fate)| (name, ChannelReport { fate, ..ChannelReport::default() }))
            .collect();
        let only = row.event.channels.as_deref();
        for channel in of_type.iter().flat_map(|of_type| of_type.channels(only)) {
            channels.entry(channel.name()).or_default();
        }
        for (name, of_channel) in &mut channels {
            let channel = channel_no(name);
            for set in &without {
                let why =
                    channel.map_or(NotReachedReason::Preference, |channel| set.why_on(channel));
                *of_channel.left_out.entry(why.word()).or_default() += set.recipients.len();
            }
            // Who has an entry on another channel chose to have none here.
            let others = concerned.saturating_sub(of_channel.fate.entries + nobody);
            if others > 0 {
                let preference = NotReachedReason::Preference.word();
                *of_channel.left_out.entry(preference).or_default() += others;
            }
        }
        Ok(Some(AudienceReport {
            event: id.clone(),
            event_type: row.event.event_type,
            tenant: row.event.tenant,
            supposed: false,
            as_of: now,
            concerned,
            notifications: report.notifications,
            channels,
        }))
    }
}
