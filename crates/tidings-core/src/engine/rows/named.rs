//! Rows that name events, types and rules: their keys and values.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use super::draft::Draft;
use crate::journal::record::EventAt;
use crate::journal::stored::{ReadView, Unreadable, each, encode};
use crate::journal::table::{Key, Owner, Partition, Table, after_prefix};
use crate::model::event::Event;
use crate::model::id::Id;
use crate::model::number::EventNo;
use crate::model::tenant::TenantNo;
use crate::model::time::{Day, Instant};
use crate::rules::names::NumberedName;

/// The location of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct EventLocation {
    pub(crate) place: EventNo,
    /// The instant for which it was scheduled, if any.
    pub(crate) scheduled: Option<Instant>,
    /// The address of its row; none if it is only scheduled.
    pub(crate) at: Option<EventAt>,
    /// Its tenant, if any.
    pub(crate) tenant: Option<TenantNo>,
}

pub(crate) fn id_key(event: &Id) -> Vec<u8> {
    Key::of(Owner::Intake, Table::Ids).bytes(event.as_str().as_bytes()).done()
}

pub(crate) fn scheduled_key(owner: Owner, t: Instant, place: EventNo) -> Vec<u8> {
    Key::of(owner, Table::Scheduled).i64(t.0).u64(place.0).done()
}

/// The keys of all events under an id or a cancellation key in a table, or (with a place) of one of them.
pub(crate) fn named_key(owner: Owner, table: Table, name: &Id, place: Option<EventNo>) -> Vec<u8> {
    let prefix = Key::of(owner, table).bytes(name.as_str().as_bytes()).bytes(&[0]);
    match place {
        Some(place) => prefix.u64(place.0).done(),
        None => prefix.done(),
    }
}

pub(crate) fn rules_key(version: u32) -> Vec<u8> {
    Key::of(Owner::Intake, Table::Rules).u32(version).done()
}

pub(crate) fn name_key(named: &NumberedName) -> Vec<u8> {
    let key = Key::of(Owner::Intake, Table::Names);
    match named {
        NumberedName::Type(number, _) => key.bytes(&[0]).u32(number.0).done(),
        NumberedName::Lane(number, _) => key.bytes(&[1]).u32(u32::from(number.0)).done(),
    }
}

/// Records an event under a day other than that of its arrival, so that a cancel finds it.
pub(crate) fn name_again(
    draft: &mut Draft<'_>,
    owner: Owner,
    day: Day,
    event: &Event,
    located: EventLocation,
) {
    let (partition, place, located) = (Partition::Day(day), Some(located.place), encode(&located));
    if let Some(key) = &event.cancellation_key {
        let key = named_key(owner, Table::Keys, key, place);
        draft.put(partition, key, located.clone());
    }
    let key = named_key(owner, Table::EnteredIds, &event.id, place);
    draft.put(partition, key, located);
}

/// Visits the rows of a table of the intake that outlive days.
pub(crate) fn each_base(
    view: &dyn ReadView,
    table: Table,
    take: impl FnMut(&[u8], &[u8]) -> Result<(), Unreadable>,
) -> Result<(), Unreadable> {
    let prefix = Key::of(Owner::Intake, table).done();
    each(view, Partition::Base, &prefix, take)
}

/// The days of which a table has a row.
pub(crate) fn days_with(
    view: &dyn ReadView,
    days: &[Day],
    owner: Owner,
    table: Table,
) -> Result<BTreeSet<Day>, Unreadable> {
    let from = Key::of(owner, table).done();
    let until = after_prefix(&from);
    let mut with = BTreeSet::new();
    for day in days {
        let visit = &mut |_: &[u8], _: &[u8]| {
            with.insert(*day);
            ControlFlow::Break(())
        };
        view.scan(Partition::Day(*day), &from, until.as_deref(), visit)?;
    }
    Ok(with)
}
