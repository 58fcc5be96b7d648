//! The list of events, newest first by their arrival.
//!
//! Places ascend with the instant of arrival, so a walk goes back over places. Where a field is asked for, the index
//! names the few that may match. Those of a recipient come from the recipient's postings.

pub(crate) mod audience;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use roaring::RoaringBitmap;

use self::audience::ChannelFate;
use crate::engine::read::list::{LOOKED_AT_MAX, ListPage, NewestFirst, Positioned};
use crate::engine::read::reader::Reader;
use crate::engine::rows::arrived::{
    ArrivedEvent, ArrivedRow, IndexedField, IndexedRange, ValueHash, arrived_row, each_arrived,
    indexed, indexed_ranges,
};
use crate::engine::rows::ends::ended_ahead;
use crate::engine::rows::named::{EventLocation, id_key};
use crate::engine::rows::not_reached::not_reaching;
use crate::index::SearchFilter;
use crate::journal::stored::{ReadView, Unreadable, decode};
use crate::journal::table::Partition;
use crate::model::id::Id;
use crate::model::number::{EventNo, RecipientAt, Seq, TenantNo};
use crate::model::time::{Day, Instant};

/// The ranges of the index that are read together.
const RANGES_TOGETHER: usize = 32;

/// A choice among events; what is absent leaves all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventFilter {
    /// Only those of this type.
    pub event_type: Option<Id>,
    /// Only those with this actor.
    pub actor: Option<Id>,
    /// Only those with this object.
    pub object: Option<Id>,
    /// Only those with this target.
    pub target: Option<Id>,
    /// Only those of this tenant.
    pub tenant: Option<TenantNo>,
    /// Only those in whose audience this recipient was.
    pub recipient: Option<Id>,
    /// Only those that arrived at this instant or later.
    pub from: Option<Instant>,
    /// Only those that arrived before this instant.
    pub to: Option<Instant>,
}

/// An event in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedEvent {
    /// The id.
    pub id: Id,
    /// The type.
    pub event_type: Id,
    /// The actor.
    pub actor: Option<Id>,
    /// The object.
    pub object: Id,
    /// The target.
    pub target: Option<Id>,
    /// Its tenant, also where that was deleted; `None` = of none.
    pub tenant: Option<Id>,
    /// The time of its arrival.
    pub arrived: Instant,
    /// The fates of the recipient's entries, by channel; none if all events are listed.
    pub channels: BTreeMap<&'static str, ChannelFate>,
}

impl Positioned for ListedEvent {
    type Position = NewestFirst;

    fn position(&self) -> NewestFirst {
        NewestFirst { at: self.arrived, id: self.id.clone() }
    }
}

impl EventFilter {
    /// The hashes of the values that are asked for, those that most often have few events first.
    fn hashes(&self) -> Vec<ValueHash> {
        let of = |field, value: &Option<Id>| {
            value.as_ref().map(|value| ValueHash::of(field, value.as_str().as_bytes()))
        };
        [
            of(IndexedField::Object, &self.object),
            of(IndexedField::Actor, &self.actor),
            of(IndexedField::Target, &self.target),
            self.tenant.map(ValueHash::of_tenant),
            of(IndexedField::Type, &self.event_type),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    fn takes(&self, event: &ArrivedEvent, at: Instant) -> bool {
        let is =
            |wanted: &Option<Id>, value: Option<&Id>| wanted.is_none() || wanted.as_ref() == value;
        is(&self.event_type, Some(&event.event_type))
            && is(&self.actor, event.actor.as_ref())
            && is(&self.object, Some(&event.object))
            && is(&self.target, event.target.as_ref())
            && (self.tenant.is_none() || self.tenant == event.tenant)
            && self.from.is_none_or(|from| from <= at)
            && self.to.is_none_or(|to| at < to)
    }
}

/// A page of events under construction. Events come by descending arrival; those of one instant are sorted by id, so
/// the page ends between two instants only.
struct EventsGathering<'a> {
    reader: Reader<'a>,
    filter: &'a EventFilter,
    after: Option<NewestFirst>,
    most: usize,
    room: usize,
    found: Vec<(NewestFirst, EventNo, ArrivedEvent)>,
    /// The last position that was looked at.
    last: Option<NewestFirst>,
    is_cut: bool,
}

impl EventsGathering<'_> {
    /// The instant up to which events may be listed.
    fn upto(&self) -> Instant {
        let to = self.filter.to.map_or(Instant::MAX, |to| to.plus_ms(-1));
        self.after.as_ref().map_or(to, |after| after.at.min(to))
    }

    fn take(&mut self, at: Instant, place: EventNo, event: &ArrivedEvent) -> ControlFlow<()> {
        if self.filter.from.is_some_and(|from| at < from) {
            return ControlFlow::Break(());
        }
        let is_full = self.room == 0 || self.found.len() >= self.most;
        if is_full && self.last.as_ref().is_some_and(|last| last.at != at) {
            self.is_cut = true;
            return ControlFlow::Break(());
        }
        self.room = self.room.saturating_sub(1);
        let position = NewestFirst { at, id: event.id.clone() };
        if self.last.as_ref().is_none_or(|last| *last < position) {
            self.last = Some(position.clone());
        }
        let is_next = self.after.as_ref().is_none_or(|after| *after < position);
        if is_next && self.filter.takes(event, at) {
            self.found.push((position, place, event.clone()));
        }
        ControlFlow::Continue(())
    }

    /// Walks back over the days that may have events.
    fn gather_all(&mut self) -> Result<(), Unreadable> {
        let Reader { engine, view } = self.reader;
        let upto = self.upto();
        let from = self.filter.from.map(Instant::day);
        let hashes = self.filter.hashes();
        let days = engine.intake.id_days.iter().rev().copied();
        for day in days.filter(|day| day.start() <= upto) {
            if from.is_some_and(|from| day < from) {
                break;
            }
            let start = match upto < day.end() {
                true => last_until(view, day, upto)?,
                false => Some(EventNo(u64::MAX)),
            };
            let Some(start) = start else { continue };
            if gather_day(view, day, start, &hashes, self)?.is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Walks back over the events that a recipient was in the audience of.
    fn gather_of(&mut self, whose: RecipientAt) -> Result<(), Unreadable> {
        let Reader { engine, view } = self.reader;
        let RecipientAt { bucket, number } = whose;
        let bucket = engine.shards.bucket(bucket);
        let recipients = RoaringBitmap::from_iter([number.0]);
        let look = SearchFilter {
            from: Seq::default(),
            to: Seq(u64::MAX),
            recipients: &recipients,
            takes: &|_, _| true,
            has: &|_, _| true,
        };
        let found = bucket.index.look(view, &look)?;
        let mut places: BTreeSet<EventNo> =
            found.sources.iter().map(|source| source.kept.arrival.place).collect();
        places.extend(bucket.scheduled.of(number.0).into_iter().map(|(_, place)| place));
        for day in days(self.reader) {
            places.extend(not_reaching(view, day, bucket.no, number.0)?);
            places.extend(ended_ahead(view, bucket.no, day, number)?);
        }
        let places: Vec<EventNo> = places.into_iter().collect();
        let mut rows = PlaceRows { reader: self.reader, day: None, row: None };
        let upto = self.upto();
        let (mut low, mut high) = (0, places.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            // What is not found arrived on a day that is deleted, before all that are kept.
            let at = rows.find(places[middle])?.map(|(at, _)| at);
            if at.is_none_or(|at| at <= upto) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        for place in places[..low].iter().rev() {
            let Some((at, event)) = rows.find(*place)? else {
                continue;
            };
            if self.take(at, *place, &event).is_break() {
                break;
            }
        }
        Ok(())
    }
}

impl Reader<'_> {
    /// A page of events, newest first by arrival, as long as the day of their arrival is kept.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub fn events(
        &self,
        filter: &EventFilter,
        after: Option<NewestFirst>,
        most: usize,
    ) -> Result<ListPage<ListedEvent>, Unreadable> {
        let mut gathering = EventsGathering {
            reader: *self,
            filter,
            after,
            most,
            room: LOOKED_AT_MAX,
            found: Vec::new(),
            last: None,
            is_cut: false,
        };
        let whose = match &filter.recipient {
            None => {
                gathering.gather_all()?;
                None
            }
            Some(recipient) => {
                let Ok(whose) = self.engine.find(recipient) else {
                    return Ok(ListPage::default());
                };
                gathering.gather_of(whose)?;
                Some(whose)
            }
        };
        let EventsGathering { mut found, last, is_cut, .. } = gathering;
        found.sort_by(|(a, ..), (b, ..)| a.cmp(b));
        let next = if found.len() > most {
            found.get(most.saturating_sub(1)).map(|(position, ..)| position.clone())
        } else {
            last.filter(|_| is_cut)
        };
        found.truncate(most);
        let mut rows = Vec::with_capacity(found.len());
        for (position, place, event) in found {
            if !self.is_kept(&position, place)? {
                continue;
            }
            let channels = match whose {
                Some(whose) => self.fates_of(&event.id, place, whose)?,
                None => BTreeMap::new(),
            };
            rows.push(ListedEvent {
                id: event.id,
                event_type: event.event_type,
                actor: event.actor,
                object: event.object,
                target: event.target,
                tenant: self.engine.intake.tenants.id(event.tenant).cloned(),
                arrived: position.at,
                channels,
            });
        }
        Ok(ListPage { rows, next })
    }

    /// Returns true if an event still has its id: that of an event of which nobody got anything may have been released.
    fn is_kept(&self, of: &NewestFirst, place: EventNo) -> Result<bool, Unreadable> {
        let row = self.view.get(Partition::Day(of.at.day()), &id_key(&of.id))?;
        let Some(row) = row else { return Ok(false) };
        let located: EventLocation = decode("an event's place", &row)?;
        Ok(located.place == place)
    }
}

/// The days on which events may have arrived. A node without the intake learns of a day by its journals.
fn days(reader: Reader<'_>) -> BTreeSet<Day> {
    let mut days = reader.engine.shards.journal_days();
    days.extend(&reader.engine.intake.id_days);
    days
}

/// The rows of accepted events by place, with the row that was read last.
struct PlaceRows<'a> {
    reader: Reader<'a>,
    day: Option<Day>,
    row: Option<ArrivedRow>,
}

impl PlaceRows<'_> {
    /// The event at a place, and the instant of its arrival; `None` = the day of its arrival is deleted.
    fn find(&mut self, place: EventNo) -> Result<Option<(Instant, ArrivedEvent)>, Unreadable> {
        let of = |row: &ArrivedRow| row.get(place).map(|event| (row.at, event.clone()));
        if let Some(found) = self.row.as_ref().and_then(of) {
            return Ok(Some(found));
        }
        // Places that are asked for one after the other are often of one day.
        for day in self.day.into_iter().chain(days(self.reader).into_iter().rev()) {
            if let Some(row) = arrived_row(self.reader.view, day, place)?
                && let Some(found) = of(&row)
            {
                (self.day, self.row) = (Some(day), Some(row));
                return Ok(Some(found));
            }
        }
        Ok(None)
    }
}

/// The last place of a day whose event arrived up to an instant.
fn last_until(view: &dyn ReadView, day: Day, upto: Instant) -> Result<Option<EventNo>, Unreadable> {
    let last = |row: &ArrivedRow| EventNo(row.end().0.saturating_sub(1));
    let Some(newest) = arrived_row(view, day, EventNo(u64::MAX))? else {
        return Ok(None);
    };
    if newest.at <= upto {
        return Ok(Some(last(&newest)));
    }
    let (mut low, mut high, mut best) = (0, newest.first.0, None);
    while low < high {
        let middle = u64::midpoint(low, high);
        match arrived_row(view, day, EventNo(middle))? {
            Some(row) if row.at > upto => high = row.first.0,
            Some(row) => {
                best = Some(last(&row));
                low = row.end().0.max(middle + 1);
            }
            None => low = middle + 1,
        }
    }
    Ok(best)
}

/// Gathers the events of a day up to a place that have values, newest first.
fn gather_day(
    view: &dyn ReadView,
    day: Day,
    start: EventNo,
    hashes: &[ValueHash],
    gathering: &mut EventsGathering<'_>,
) -> Result<ControlFlow<()>, Unreadable> {
    let ranges = if hashes.is_empty() { Vec::new() } else { indexed_ranges(view, day)? };
    let indexed_end = ranges.last().map_or(EventNo(0), |range| range.end());
    let mut flow = ControlFlow::Continue(());
    each_arrived(view, day, start, |row| {
        if row.end() <= indexed_end {
            return Ok(ControlFlow::Break(()));
        }
        for (index, event) in row.events.iter().enumerate().rev() {
            let place = EventNo(row.first.0.saturating_add(index as u64));
            if place <= start && place >= indexed_end && flow.is_continue() {
                flow = gathering.take(row.at, place, event);
            }
        }
        Ok(flow)
    })?;
    if flow.is_break() {
        return Ok(flow);
    }
    let ranges: Vec<IndexedRange> =
        ranges.into_iter().rev().filter(|range| range.first <= start).collect();
    for together in ranges.chunks(RANGES_TOGETHER) {
        let mut matching: Option<Vec<RoaringBitmap>> = None;
        for hash in hashes {
            let found = indexed(view, day, *hash, together)?;
            matching = Some(match matching {
                None => found,
                Some(known) => known.into_iter().zip(found).map(|(a, b)| a & b).collect(),
            });
        }
        for (range, ordinals) in together.iter().zip(matching.into_iter().flatten()) {
            if gather_range(view, day, start, *range, &ordinals, gathering)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
    }
    Ok(ControlFlow::Continue(()))
}

/// Gathers events of an indexed range, newest first.
fn gather_range(
    view: &dyn ReadView,
    day: Day,
    start: EventNo,
    range: IndexedRange,
    ordinals: &RoaringBitmap,
    gathering: &mut EventsGathering<'_>,
) -> Result<ControlFlow<()>, Unreadable> {
    let mut read: Option<ArrivedRow> = None;
    for ordinal in ordinals.iter().rev() {
        let place = EventNo(range.first.0.saturating_add(u64::from(ordinal)));
        if place > start {
            continue;
        }
        if read.as_ref().is_none_or(|row| row.get(place).is_none()) {
            read = arrived_row(view, day, place)?;
        }
        let missing = || Unreadable(format!("the accepted event {} is missing", place.0));
        let row = read.as_ref().ok_or_else(missing)?;
        let event = row.get(place).ok_or_else(missing)?;
        if gathering.take(row.at, place, event).is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    Ok(ControlFlow::Continue(()))
}
