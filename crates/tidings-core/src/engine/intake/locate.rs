//! The lookup of an event by its id or its cancellation key, on the days on which it arrived or entered.

use std::collections::{BTreeMap, BTreeSet};

use super::accepted;
use super::state::Intake;
use crate::engine::acts::act::{Cancel, CancelledEvents};
use crate::engine::rows::draft::Draft;
use crate::engine::rows::event_row::{EventRow, ScheduledRow};
use crate::engine::rows::named::{EventLocation, id_key, named_key, scheduled_key};
use crate::journal::stored::{Unreadable, decode, each, from_json};
use crate::journal::table::{Owner, Partition, Table};
use crate::model::command::Cancelled;
use crate::model::id::Id;
use crate::model::number::EventNo;
use crate::model::tenant::TenantNo;
use crate::model::time::{Day, Instant};

/// Places of events, each with the day of the row that names it; none = a row that outlives days.
pub(crate) type EventPlaces = BTreeSet<(Option<Day>, EventLocation)>;

impl Intake {
    /// The location of an earlier event, and the day of its arrival, as long as that day is kept.
    pub(crate) fn locate(
        &self,
        draft: &Draft<'_>,
        event: &Id,
    ) -> Result<Option<(Day, EventLocation)>, Unreadable> {
        let key = id_key(event);
        for day in self.known_ids.days_of(event) {
            if let Some(bytes) = draft.get(Partition::Day(day), &key)? {
                return Ok(Some((day, decode("an event's place", &bytes)?)));
            }
        }
        Ok(None)
    }

    /// Returns true if the event of a cancel is known, or if it names a key: only an event to come is cancelled ahead.
    pub(crate) fn knows_cancelled(
        &self,
        draft: &Draft<'_>,
        cancel: &Cancel,
    ) -> Result<bool, Unreadable> {
        let Cancelled::Event(id) = &cancel.what else {
            return Ok(true);
        };
        // An event of another tenant is as if it weren't there.
        let is_of =
            |located: EventLocation| cancel.tenant.is_none() || located.tenant == cancel.tenant;
        Ok(self.locate(draft, id)?.is_some_and(|(_, located)| is_of(located)))
    }

    /// The events with an id: more than one if it was used again after the day of its arrival was deleted,
    /// while entries of the first are still pending or kept.
    pub(crate) fn located_event(
        &self,
        draft: &Draft<'_>,
        id: &Id,
    ) -> Result<EventPlaces, Unreadable> {
        let days = self.entered_days.iter().copied();
        let mut located = named(draft, id, Owner::Intake, Table::EnteredIds, days)?;
        let (owner, table) = (Owner::Intake, Table::ScheduledIds);
        located.extend(named_in(draft, id, owner, table, Partition::Base)?);
        let arrived = self.locate(draft, id)?;
        located.extend(arrived.map(|(day, located)| (Some(day), located)));
        Ok(located)
    }

    /// The events with a cancellation key, of all tenants.
    pub(crate) fn located_by_key(
        &self,
        draft: &Draft<'_>,
        key: &Id,
    ) -> Result<EventPlaces, Unreadable> {
        let days = self.id_days.iter().copied();
        let mut located = named(draft, key, Owner::Intake, Table::Keys, days)?;
        let (owner, table) = (Owner::Intake, Table::ScheduledKeys);
        located.extend(named_in(draft, key, owner, table, Partition::Base)?);
        Ok(located)
    }

    /// The events to cancel, of a tenant or of all. A scheduled event is known by its schedule as well as by the days on which it
    /// entered.
    pub(crate) fn located_events(
        &self,
        draft: &Draft<'_>,
        cancelled: &Cancelled,
        tenant: Option<TenantNo>,
    ) -> Result<CancelledEvents, Unreadable> {
        let located = match cancelled {
            Cancelled::Event(id) => self.located_event(draft, id)?,
            Cancelled::Key(key) => self.located_by_key(draft, key)?,
        };
        let mut events = CancelledEvents::new();
        let is_of = |located: &EventLocation| tenant.is_none() || located.tenant == tenant;
        for (day, located) in located.into_iter().filter(|(_, located)| is_of(located)) {
            let event = events.entry(located.place).or_default();
            event.days.extend(day.filter(|_| located.at.is_some()));
            if event.waits_for.is_empty() {
                event.waits_for = self.waits_for(draft, located)?;
            }
        }
        Ok(events)
    }

    /// The instants at which an event is still to enter lanes.
    pub(crate) fn waits_for(
        &self,
        draft: &Draft<'_>,
        EventLocation { place, scheduled, .. }: EventLocation,
    ) -> Result<BTreeSet<Instant>, Unreadable> {
        let waits = |t: &Instant| self.scheduled.contains_key(&(*t, place));
        let Some(last) = scheduled.filter(waits) else {
            return Ok(BTreeSet::new());
        };
        let (row, _) = self.scheduled_row(draft, last, place)?;
        let all = row.enters().into_iter();
        Ok(all.filter(waits).collect())
    }

    /// The row of an event as it was accepted.
    pub(crate) fn row_of(
        &self,
        draft: &Draft<'_>,
        located: &EventPlaces,
        waits: Option<Instant>,
    ) -> Result<Option<EventRow>, Unreadable> {
        for (day, located) in located {
            if let (Some(day), Some(at)) = (day, located.at) {
                return Ok(Some(accepted::read(draft, *day, at)?));
            }
            if let Some(t) = waits {
                let (row, _) = self.scheduled_row(draft, t, located.place)?;
                return Ok(Some(*row));
            }
        }
        Ok(None)
    }

    /// The row of an event that is scheduled for an instant, among others, and the last of its instants.
    pub(crate) fn scheduled_row(
        &self,
        draft: &Draft<'_>,
        t: Instant,
        place: EventNo,
    ) -> Result<(Box<EventRow>, Instant), Unreadable> {
        let read = |t| {
            let bytes = draft
                .get(Partition::Base, &scheduled_key(Owner::Intake, t, place))?
                .ok_or_else(missing)?;
            from_json("a scheduled event", &bytes)
        };
        match read(t)? {
            ScheduledRow::Event(row) => Ok((row, t)),
            ScheduledRow::Until(last) => match read(last)? {
                ScheduledRow::Event(row) => Ok((row, last)),
                ScheduledRow::Until(_) => Err(missing()),
            },
        }
    }
}

fn missing() -> Unreadable {
    Unreadable("a scheduled event is missing".to_owned())
}

/// The places of events that a table names, on these days.
pub(crate) fn named(
    draft: &Draft<'_>,
    name: &Id,
    owner: Owner,
    table: Table,
    days: impl Iterator<Item = Day>,
) -> Result<EventPlaces, Unreadable> {
    let mut located = EventPlaces::new();
    for day in days {
        located.extend(named_in(draft, name, owner, table, Partition::Day(day))?);
    }
    Ok(located)
}

pub(crate) fn named_in(
    draft: &Draft<'_>,
    name: &Id,
    owner: Owner,
    table: Table,
    partition: Partition,
) -> Result<EventPlaces, Unreadable> {
    let prefix = named_key(owner, table, name, None);
    let mut rows: BTreeMap<Vec<u8>, Option<Vec<u8>>> = BTreeMap::new();
    each(draft.view, partition, &prefix, |key, value| {
        rows.insert(key.to_vec(), Some(value.to_vec()));
        Ok(())
    })?;
    for (key, value) in draft.written(partition, &prefix) {
        rows.insert(key.to_vec(), value.map(<[u8]>::to_vec));
    }
    let day = match partition {
        Partition::Day(day) => Some(day),
        Partition::Base => None,
    };
    rows.into_values()
        .flatten()
        .map(|bytes| Ok((day, decode("an event's place", &bytes)?)))
        .collect()
}
