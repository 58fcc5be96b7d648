//! The places of events in a shard, with the copies that moved entries left on later days.

use std::collections::BTreeSet;

use super::state::Shard;
use crate::engine::acts::act::{Cancel, CancelledEvents};
use crate::engine::intake::locate;
use crate::engine::intake::locate::EventPlaces;
use crate::engine::intake::state::Intake;
use crate::engine::rows::draft::Draft;
use crate::engine::rows::named::EventLocation;
use crate::journal::stored::Unreadable;
use crate::journal::table::{Owner, Table};
use crate::model::command::Cancelled;
use crate::model::id::Id;
use crate::model::number::EventNo;

/// Copies of events in a shard, read through a draft.
#[derive(Clone, Copy)]
pub(crate) struct Copies<'a> {
    shard: &'a Shard,
    draft: &'a Draft<'a>,
}

impl Shard {
    /// Its copies of events.
    pub(crate) fn copies_in<'a>(&'a self, draft: &'a Draft<'a>) -> Copies<'a> {
        Copies { shard: self, draft }
    }
}

impl Copies<'_> {
    /// Cancelled events with the days to which entries of them moved.
    pub(crate) fn with_copies(&self, cancel: &Cancel) -> Result<CancelledEvents, Unreadable> {
        let (name, table) = match &cancel.what {
            Cancelled::Event(id) => (id, Table::EnteredIds),
            Cancelled::Key(key) => (key, Table::Keys),
        };
        let mut events = cancel.events.clone();
        let copies = self.copies_of(name, table)?.into_iter();
        let is_of =
            |located: &EventLocation| cancel.tenant.is_none() || located.tenant == cancel.tenant;
        for (day, located) in copies.filter(|(_, located)| is_of(located)) {
            events.entry(located.place).or_default().days.extend(day);
        }
        Ok(events)
    }

    /// The places of events of this name of which entries moved to later days.
    pub(crate) fn copies_of(&self, name: &Id, table: Table) -> Result<EventPlaces, Unreadable> {
        let days = self.shard.copies.keys().copied();
        locate::named(self.draft, name, Owner::Shared, table, days)
    }

    /// The places of the events with this id that entered lanes or will.
    pub(crate) fn places_of(
        &self,
        intake: &Intake,
        id: &Id,
    ) -> Result<BTreeSet<EventNo>, Unreadable> {
        let mut located = intake.located_event(self.draft, id)?;
        located.extend(self.copies_of(id, Table::EnteredIds)?);
        Ok(located.iter().map(|(_, located)| located.place).collect())
    }
}
