//! Contract, section 11, "Before": the people, entries and messages that a command would touch.
//!
//! The model does the command in a copy of the world, and looks which entries are other than before.

use std::collections::BTreeSet;

use tidings_core::Command;
use tidings_core::engine::CommandConcerns;
use tidings_core::model::{INBOX, Timed};

use super::pending::PAUSED;
use super::tenant::has;
use super::{Model, ModelEntryState, Refused};

impl Model {
    /// The data that a command would touch at its instant, to which the clock runs.
    ///
    /// # Errors
    /// The reason why it would be refused.
    pub fn concerned(&mut self, timed: &Timed) -> Result<CommandConcerns, Refused> {
        self.advance(timed.at)?;
        match &timed.command {
            Command::Erase { recipient } => {
                let person = self.person(recipient)?;
                let theirs = self.entries.iter().filter(|entry| entry.person == person);
                let waiting =
                    theirs.filter(|entry| !matches!(entry.state, ModelEntryState::Ended(_)));
                Ok(CommandConcerns { people: 1, entries: waiting.count() as u64, messages: 0 })
            }
            Command::Flush { .. } => BeforeCommand(self).flushed(&timed.command),
            _ => BeforeCommand(self).changed(timed),
        }
    }
}

/// The world before a command.
struct BeforeCommand<'m>(&'m Model);

impl BeforeCommand<'_> {
    /// The data that a publish, a cancel or a withdrawal would touch: the entries that are new, end or leave an inbox.
    fn changed(&self, timed: &Timed) -> Result<CommandConcerns, Refused> {
        let model = self.0;
        let mut after = model.clone();
        after.play(timed.clone())?;
        let mut people = BTreeSet::new();
        let mut entries = 0;
        for (at, entry) in after.entries.iter().enumerate() {
            let is_touched = model.entries.get(at).is_none_or(|before| {
                let waited = !matches!(before.state, ModelEntryState::Ended(_));
                let ends = waited && matches!(entry.state, ModelEntryState::Ended(_));
                ends || (before.shown && before.item.is_some() && entry.item.is_none())
            });
            if is_touched {
                people.insert(entry.person);
                entries += 1;
            }
        }
        for (person, profile) in after.people.iter().enumerate() {
            let is_other = model.people.get(person) != Some(profile)
                || model.tenants.of_member(person) != after.tenants.of_member(person);
            if is_other {
                people.insert(person);
            }
        }
        Ok(CommandConcerns { people: people.len() as u64, entries, messages: 0 })
    }

    /// The data that a flush would touch: the lanes that it makes due, and what waits in them.
    fn flushed(&self, command: &Command) -> Result<CommandConcerns, Refused> {
        let Command::Flush { recipient, channel, lane, key, view } = command else {
            return Ok(CommandConcerns::default());
        };
        let model = self.0;
        let (person, view) = (model.person(recipient)?, model.view(view)?);
        let mut concerns = CommandConcerns::default();
        for &at in &model.open {
            let open = &model.lanes[at];
            let is_meant = open.person == person
                && open.window.is_some()
                && open.channel != INBOX
                && open.name != PAUSED
                && has(view, open.tenant)
                && channel.as_ref().is_none_or(|channel| *channel == open.channel)
                && lane.as_ref().is_none_or(|name| *name == open.name)
                && key.as_ref().is_none_or(|key| *key == open.key);
            if is_meant {
                let waits = ModelEntryState::Waiting { lane: at };
                let waiting = model.entries.iter().filter(|entry| entry.state == waits);
                concerns.people = 1;
                concerns.entries += waiting.count() as u64;
                concerns.messages += 1;
            }
        }
        Ok(concerns)
    }
}
