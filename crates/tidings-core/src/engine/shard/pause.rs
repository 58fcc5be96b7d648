//! Pausing and resuming a type or a channel (decision 012).

use super::state::Shard;
use super::take_back::EntryFilter;
use crate::engine::rows::draft::Draft;
use crate::engine::state::Engine;
use crate::journal::record::Record;
use crate::journal::stored::Unreadable;
use crate::model::channel::{INBOX_NO, channel_no};
use crate::model::command::PauseSubject;
use crate::model::id::BucketNo;
use crate::model::number::LaneNo;
use crate::model::pause::Paused;
use crate::rules::lane_kind::LaneKind;
use crate::rules::names::NumberedNames;

impl Engine {
    /// The paused types and channels.
    #[must_use]
    pub fn paused(&self) -> &Paused {
        &self.intake.paused
    }
}

impl Shard {
    /// Pauses a type or channel.
    pub(crate) fn pause(
        &mut self,
        draft: &mut Draft<'_>,
        what: &PauseSubject,
    ) -> Result<(), Unreadable> {
        match what {
            PauseSubject::Type(name) => {
                self.paused.types.insert(name.as_str().to_owned());
            }
            PauseSubject::Channel(name) => self.paused.channels.extend(channel_no(name)),
        }
        // Follows the change: entries move to the lanes that apply while it is paused.
        let filter = set_apart(&self.compiled.names, what);
        self.note_paused(draft, filter)
    }

    /// Resumes a type or channel.
    pub(crate) fn resume(
        &mut self,
        draft: &mut Draft<'_>,
        what: &PauseSubject,
    ) -> Result<(), Unreadable> {
        match what {
            PauseSubject::Type(name) => {
                self.paused.types.remove(name.as_str());
            }
            PauseSubject::Channel(name) => {
                channel_no(name).map(|channel| self.paused.channels.remove(&channel));
            }
        }
        let filter = set_apart(&self.compiled.names, what)
            .map(|filter| EntryFilter { paused_only: true, ..filter });
        self.note_paused(draft, filter)
    }

    /// Moves entries to their new lanes, and records in each bucket what is paused.
    fn note_paused(
        &mut self,
        draft: &mut Draft<'_>,
        filter: Option<EntryFilter<'_>>,
    ) -> Result<(), Unreadable> {
        for &bucket in &*self.buckets.numbers() {
            if let Some(filter) = filter {
                self.reroute(draft, bucket, filter)?;
            }
            // Follows the moves: lanes of paused types that are recorded as empty have lost their entries by
            // then.
            self.write_paused(draft, bucket);
        }
        Ok(())
    }

    /// Records in a bucket the paused channels, and the lanes of paused types that are now empty.
    pub(crate) fn write_paused(&mut self, draft: &mut Draft<'_>, bucket: BucketNo) {
        let paused = &self.paused;
        let is_empty = |no: &LaneNo| {
            let name = self.compiled.names.lane(*no);
            let inbox = name.channel == INBOX_NO && paused.channels.contains(&INBOX_NO);
            name.kind == LaneKind::Paused && paused.types.is_empty() && !inbox
        };
        let numbers = self.buckets[bucket].lanes.numbers().into_iter();
        let record = Record::Pause {
            at: self.now,
            channels: paused.channels.iter().copied().collect(),
            emptied: numbers.filter(is_empty).collect(),
        };
        self.write(draft, bucket, record);
    }
}

/// The entries that wait apart while something is paused; none = they stay in their windows.
fn set_apart(names: &NumberedNames, what: &PauseSubject) -> Option<EntryFilter<'static>> {
    match what {
        PauseSubject::Type(name) => {
            Some(EntryFilter { type_no: names.type_no(name.as_str()), ..EntryFilter::default() })
        }
        // The inbox has no windows that could stay open: what comes is set apart.
        PauseSubject::Channel(name) => (channel_no(name) == Some(INBOX_NO))
            .then(|| EntryFilter { channel: Some(INBOX_NO), ..EntryFilter::default() }),
    }
}
