//! Pausing and resuming a type or a channel (decision 012).

use super::Engine;
use super::draft::Draft;
use super::reply::{Answer, Refused, Reply};
use super::take_back::Among;
use crate::command::Pausable;
use crate::deadline::Kind;
use crate::journal::at_rest::Unreadable;
use crate::journal::record::{ChannelNo, INBOX_NO, LaneNo, Record, TypeNo, channel_no};
use crate::pause::Paused;
use crate::time::Instant;

/// A pausable type or channel, by number.
enum Found {
    Type(TypeNo),
    Channel(ChannelNo),
}

impl Engine {
    /// The paused types and channels.
    #[must_use]
    pub fn paused(&self) -> &Paused {
        &self.intake.paused
    }

    /// Pauses a type or channel. No effect if it is paused already.
    pub(crate) fn pause(&mut self, draft: &mut Draft<'_>, now: Instant, what: &Pausable) -> Answer {
        let among = match (self.pausable(what), what) {
            (Err(refused), _) => return Ok(Err(refused)),
            (Ok(Found::Type(kind)), Pausable::Type(name)) => {
                if !self.intake.paused.types.insert(name.as_str().to_owned()) {
                    return Ok(Ok(Reply::Done));
                }
                Some(Among {
                    kind: Some(kind),
                    ..Among::default()
                })
            }
            (Ok(Found::Channel(channel)), _) => {
                if !self.intake.paused.channels.insert(channel) {
                    return Ok(Ok(Reply::Done));
                }
                // The inbox has no windows that could stay open: what comes is set apart.
                (channel == INBOX_NO).then(|| Among {
                    channel: Some(channel),
                    ..Among::default()
                })
            }
            (Ok(Found::Type(_)), Pausable::Channel(_)) => None,
        };
        self.note_paused(draft, now, among)?;
        Ok(Ok(Reply::Done))
    }

    /// Resumes a type or channel. No effect if it is not paused.
    pub(crate) fn resume(
        &mut self,
        draft: &mut Draft<'_>,
        now: Instant,
        what: &Pausable,
    ) -> Answer {
        let among = match (self.pausable(what), what) {
            (Err(refused), _) => return Ok(Err(refused)),
            (Ok(Found::Type(kind)), Pausable::Type(name)) => {
                if !self.intake.paused.types.remove(name.as_str()) {
                    return Ok(Ok(Reply::Done));
                }
                Some(Among {
                    kind: Some(kind),
                    paused_only: true,
                    ..Among::default()
                })
            }
            (Ok(Found::Channel(channel)), _) => {
                if !self.intake.paused.channels.remove(&channel) {
                    return Ok(Ok(Reply::Done));
                }
                (channel == INBOX_NO).then(|| Among {
                    channel: Some(channel),
                    paused_only: true,
                    ..Among::default()
                })
            }
            (Ok(Found::Type(_)), Pausable::Channel(_)) => None,
        };
        self.note_paused(draft, now, among)?;
        Ok(Ok(Reply::Done))
    }

    /// Whether it can be paused: the type is configured, the channel is known.
    ///
    /// # Errors
    /// [`Refused::UnknownType`] or [`Refused::UnknownChannel`].
    fn pausable(&self, what: &Pausable) -> Result<Found, Refused> {
        match what {
            Pausable::Type(name) => {
                let number = self.law.names.type_no(name.as_str());
                let known = number.filter(|number| {
                    let version = self.law.current();
                    version.is_some_and(|version| version.kind(*number).is_some())
                });
                let known = known.map(Found::Type);
                known.ok_or_else(|| self.unknown_type(name))
            }
            Pausable::Channel(name) => {
                let number = channel_no(name).map(Found::Channel);
                number.ok_or_else(|| Refused::UnknownChannel(name.clone()))
            }
        }
    }

    /// Checks for [`Engine::check`] whether it can be paused.
    pub(crate) fn check_pausable(&self, what: &Pausable) -> Result<(), Refused> {
        self.pausable(what).map(|_| ())
    }

    /// Removes types that are no longer configured from the paused ones; returns whether there were any.
    pub(crate) fn forget_paused_types(&mut self) -> bool {
        let types = &mut self.intake.paused.types;
        let before = types.len();
        if let Some(version) = self.law.current() {
            types.retain(|name| version.rules.types.contains_key(name));
        }
        types.len() < before
    }

    /// Moves entries to their new lanes, and records in each bucket what is paused.
    fn note_paused(
        &mut self,
        draft: &mut Draft<'_>,
        now: Instant,
        among: Option<Among<'_>>,
    ) -> Result<(), Unreadable> {
        for at in 0..self.buckets.len() {
            if let Some(among) = among {
                self.reroute(draft, now, at, among)?;
            }
            self.write_paused(draft, now, at);
        }
        Ok(())
    }

    /// Records in a bucket the paused channels, and the lanes of paused types that are now empty.
    pub(crate) fn write_paused(&mut self, draft: &mut Draft<'_>, now: Instant, at: usize) {
        let paused = &self.intake.paused;
        let is_empty = |no: &LaneNo| {
            let name = self.law.names.lane(*no);
            let inbox = name.channel == INBOX_NO && paused.channels.contains(&INBOX_NO);
            name.kind == Kind::Paused && paused.types.is_empty() && !inbox
        };
        let bucket = &self.buckets[at];
        let record = Record::Pause {
            at: now,
            channels: paused.channels.iter().copied().collect(),
            emptied: bucket.lanes.keys().copied().filter(is_empty).collect(),
        };
        self.write(draft, at, now, record);
    }
}
