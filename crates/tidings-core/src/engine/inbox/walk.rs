//! The walk over the entries of one inbox, day by day.
//!
//! It reads facets, a few bytes of each arrival that concerns the reader. Pages, counts and marks see the same entries:
//! those that were delivered to the inbox and did not end, without those whose object is withdrawn now.

use std::collections::{BTreeMap, BTreeSet};

use super::rows::group_in;
use crate::bucket::{Bucket, InboxItemStates, MarkedFields, Marks, NewestSeqs, ReaderMarks};
use crate::engine::intake::state::Intake;
use crate::index::facets::{Details, Facets, details_key, facets_chunk, row_of};
use crate::index::{DayIndex, SegmentAt};
use crate::journal::stored::{ReadView, Unreadable};
use crate::journal::table::Partition;
use crate::model::channel::INBOX_NO;
use crate::model::item::{ItemState, Shelf};
use crate::model::number::{EventNo, LaneNo, RecipientNo, Seq, TypeNo};
use crate::model::tenant::{TenantNo, View};
use crate::model::time::{Day, Instant};

/// An entry of an inbox.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InboxEntry {
    /// Its seq, or that of its return from a snooze: its position. 0 = it was not requested.
    pub(crate) order: Seq,
    /// Its event's place; the default if it was not requested.
    pub(crate) place: EventNo,
    /// The tenant of its event; `None` = of none.
    pub(crate) tenant: Option<TenantNo>,
    /// Its type, and the hash that identifies its group within the type.
    pub(crate) group: (TypeNo, u64),
    /// The hash of its object's id; 0 = it was not requested.
    pub(crate) object: u64,
    pub(crate) state: ItemState,
    pub(crate) shelf: Shelf,
    /// The instant at which it came back from a snooze.
    pub(crate) back: Option<Instant>,
    /// The day that has its arrival.
    pub(crate) day: Day,
    pub(crate) source: EntryPosition,
}

/// The position of an entry's arrival in its day.
#[derive(Clone, Copy, Debug)]
pub(crate) enum EntryPosition {
    Segment { segment: usize, arrival: usize, ordinal: u32 },
    Tail { seq: Seq, variant: usize },
}

/// The facts of an entry that a walk reads beyond its group and state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum WantedFacts {
    /// Group and state: enough to count.
    Counts,
    /// Also its position.
    Order,
    /// Also place and object.
    Identity,
    /// Entries whose object is withdrawn, too.
    Withdrawn,
}

/// The reading of one recipient's inbox.
pub(crate) struct InboxWalk<'a> {
    pub(super) intake: &'a Intake,
    view: &'a dyn ReadView,
    pub(crate) bucket: &'a Bucket,
    pub(super) number: RecipientNo,
    /// The entries that the reader sees. A walk visits the others, too: what is counted serves all views.
    pub(super) of: View<TenantNo>,
    pub(super) marks: Option<&'a Marks>,
    only: WalkFilter<'a>,
    reading: ReaderMarks<'a>,
    /// The lanes of the inbox.
    lanes: Vec<LaneNo>,
    /// The days that have entries of items with a state of their own.
    own: BTreeSet<Day>,
    /// By day of return, the items of other days that came back on it, by the day of their entry.
    returned: BTreeMap<Day, BTreeMap<Day, BTreeSet<EventNo>>>,
}

/// The entries that a walk is after. The others are passed by before anything else of them is looked up, so that one of a
/// large inbox costs little more than finding it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WalkFilter<'a> {
    /// Those of a group of a type.
    pub(crate) group: Option<(TypeNo, u64)>,
    /// Those about an object, by the hash of its id.
    pub(crate) object: Option<u64>,
    /// Those of events.
    pub(crate) places: Option<&'a BTreeSet<EventNo>>,
}

impl WalkFilter<'_> {
    fn takes(&self, group: (TypeNo, u64), object: u64, place: EventNo) -> bool {
        self.group.is_none_or(|only| only == group)
            && self.object.is_none_or(|only| only == object)
            && self.places.is_none_or(|only| only.contains(&place))
    }

    /// The same of an arrival at rest, of which nothing is read that does not matter.
    fn takes_at(&self, facets: &Facets<'_>, arrival: usize) -> Result<bool, Unreadable> {
        if let Some((type_no, hash)) = self.group {
            let group = facets.group(arrival)?;
            if group.0 != type_no || group_in(group.1, facets.tenant(arrival)?) != hash {
                return Ok(false);
            }
        }
        if let Some(object) = self.object
            && facets.object(arrival)? != object
        {
            return Ok(false);
        }
        match self.places {
            Some(places) => Ok(places.contains(&facets.place(arrival)?)),
            None => Ok(true),
        }
    }
}

/// The depth of a walk.
#[derive(Clone, Copy)]
struct WalkDepth {
    /// The lowest state of all entries.
    least: ItemState,
    wanted: WantedFacts,
}

/// Arrivals at rest: ordinals of one chunk of a segment.
#[derive(Clone, Copy)]
struct SegmentOrdinals<'a> {
    day: Day,
    segment: &'a SegmentAt,
    /// The index of the segment in its day.
    at: usize,
    ordinals: &'a [u32],
}

/// A day of an inbox.
#[derive(Clone, Copy)]
pub(crate) struct InboxDay<'a> {
    pub(crate) day: Day,
    /// `None` = nothing arrived on it; items came back.
    pub(crate) held: Option<&'a DayIndex>,
}

impl<'a> InboxWalk<'a> {
    /// The walk through what a view shows of a recipient's inbox.
    pub(crate) fn new(
        intake: &'a Intake,
        view: &'a dyn ReadView,
        bucket: &'a Bucket,
        number: RecipientNo,
        of: View<TenantNo>,
    ) -> Self {
        let lanes = intake.compiled.names.lanes().filter(|(_, lane)| lane.is_inbox());
        let marks = bucket.marks.get(&number.0).map(|marks| &**marks);
        let mut returned: BTreeMap<Day, BTreeMap<Day, BTreeSet<EventNo>>> = BTreeMap::new();
        let mut own = BTreeSet::new();
        let mut last = None;
        for (place, item) in marks.iter().flat_map(|marks| marks.items.iter()) {
            if last != Some(item.day) {
                own.insert(item.day);
                last = Some(item.day);
            }
            if item.listed_on() != item.day {
                let on = returned.entry(item.listed_on()).or_default();
                on.entry(item.day).or_default().insert(place);
            }
        }
        Self {
            intake,
            view,
            bucket,
            number,
            of,
            marks,
            only: WalkFilter::default(),
            reading: ReaderMarks::of(marks),
            lanes: lanes.map(|(no, _)| no).collect(),
            own,
            returned,
        }
    }

    /// The same walk, after some entries alone.
    pub(crate) fn after(self, only: WalkFilter<'a>) -> Self {
        Self { only, ..self }
    }

    /// The days of the inbox, newest first.
    pub(crate) fn days(&self) -> impl Iterator<Item = InboxDay<'a>> + use<'a> {
        let index = &self.bucket.index.days;
        let days: BTreeSet<Day> = index.keys().chain(self.returned.keys()).copied().collect();
        days.into_iter()
            .rev()
            .map(|day| InboxDay { day, held: index.get(&day).map(|held| &**held) })
    }

    /// Returns true if the reader sees an entry.
    pub(crate) fn shows(&self, entry: &InboxEntry) -> bool {
        self.of.shows(entry.tenant)
    }

    /// The lowest state of the entries of a day that the reader sees: a mark may cover all of it.
    pub(crate) fn least(&self, day: Day) -> ItemState {
        self.least_in(day, self.of)
    }

    /// The lowest state of a view's entries of a day.
    pub(super) fn least_in(&self, day: Day, view: View<TenantNo>) -> ItemState {
        let is_plain = !self.own.contains(&day) && !self.returned.contains_key(&day);
        if is_plain { self.reading.of_day(day, view) } else { ItemState::New }
    }

    /// Returns true if a tenant was deleted, whose entries left inboxes.
    pub(super) fn is_gone(&self, tenant: Option<TenantNo>) -> bool {
        tenant.is_some_and(|tenant| self.intake.tenants.get(tenant).is_none())
    }

    /// Returns true if items of other days came back on a day.
    pub(crate) fn has_returned(&self, day: Day) -> bool {
        self.returned.contains_key(&day)
    }

    fn items(&self) -> Option<&'a InboxItemStates> {
        self.marks.map(|marks| &marks.items).filter(|items| !items.is_empty())
    }

    fn has_inbox(&self, lanes: &[LaneNo]) -> bool {
        lanes.iter().any(|lane| self.lanes.contains(lane))
    }

    fn is_withdrawn(&self, object: u64) -> bool {
        self.intake.objects.withdrawn_hashes.contains_key(&object)
    }

    /// Visits the entries that a day lists, of all views, in no order; deleted ones are left out. Returns the newest
    /// seqs of those that arrived on it, visited or not.
    pub(crate) fn each(
        &self,
        of: InboxDay<'_>,
        wanted: WantedFacts,
        mut visit: impl FnMut(InboxEntry),
    ) -> Result<NewestSeqs, Unreadable> {
        let least = self.least_in(of.day, View::All);
        let mut newest = NewestSeqs::default();
        if let Some(held) = of.held {
            let is_listed = |place: EventNo| {
                let item = self.items().and_then(|items| items.get(place));
                item.is_none_or(|item| item.listed_on() == of.day)
            };
            let reading = WalkDepth { least, wanted };
            newest = self.each_of(of.day, held, reading, is_listed, &mut visit)?;
        }
        for (day, places) in self.returned.get(&of.day).into_iter().flatten() {
            if let Some(held) = self.bucket.index.days.get(day) {
                let is_listed = |place: EventNo| places.contains(&place);
                let reading = WalkDepth { least: ItemState::New, wanted };
                self.each_of(*day, held, reading, is_listed, &mut visit)?;
            }
        }
        Ok(newest)
    }

    /// Visits the entries that arrived on a day and are listed. Returns the newest seqs.
    fn each_of(
        &self,
        day: Day,
        held: &DayIndex,
        reading: WalkDepth,
        is_listed: impl Fn(EventNo) -> bool,
        visit: &mut impl FnMut(InboxEntry),
    ) -> Result<NewestSeqs, Unreadable> {
        let WalkDepth { least, wanted } = reading;
        let (index, number) = (&self.bucket.index, self.number.0);
        let (mut ordinals, mut newest) = (Vec::new(), NewestSeqs::default());
        for (at, segment) in held.segments.iter().enumerate() {
            ordinals.clear();
            index.row_of(self.view, day, segment, number, &mut ordinals)?;
            for ordinals in ordinals.chunk_by(|a, b| facets_chunk(*a) == facets_chunk(*b)) {
                let rest = SegmentOrdinals { day, segment, at, ordinals };
                newest.note_all(&self.each_at_rest(rest, reading, &is_listed, visit)?);
            }
        }
        for kept in held.tail.values() {
            // Arrivals of the step in progress are not in the inbox yet.
            if kept.seq > self.bucket.delivered_to {
                break;
            }
            let arrival = &kept.arrival;
            let variant = arrival.variants.iter().position(|variant| {
                variant.recipients.contains(self.number.0) && self.has_inbox(&variant.lanes)
            });
            let Some(variant) = variant else { continue };
            if self.bucket.ended.has(kept.seq, INBOX_NO, self.number.0) {
                continue;
            }
            newest.note(arrival.tenant, kept.seq);
            let group = (arrival.type_no, group_in(arrival.about.group(), arrival.tenant));
            if !self.only.takes(group, arrival.about.object, arrival.place) {
                continue;
            }
            let is_withdrawn =
                wanted < WantedFacts::Withdrawn && self.is_withdrawn(arrival.about.object);
            if is_withdrawn || self.is_gone(arrival.tenant) || !is_listed(arrival.place) {
                continue;
            }
            let marking = MarkedFields {
                place: arrival.place,
                tenant: arrival.tenant,
                object: arrival.about.object,
                bounds: (arrival.t, arrival.t),
                t: || Ok::<_, Unreadable>(arrival.t),
            };
            let entry = InboxEntry {
                order: kept.seq,
                place: arrival.place,
                tenant: arrival.tenant,
                group,
                object: arrival.about.object,
                state: ItemState::New,
                shelf: Shelf::Active,
                back: None,
                day,
                source: EntryPosition::Tail { seq: kept.seq, variant },
            };
            self.with_state(entry, least, marking, visit)?;
        }
        Ok(newest)
    }

    /// Visits the entries of one chunk of a segment's facets. Returns the newest seqs.
    fn each_at_rest(
        &self,
        rest: SegmentOrdinals<'_>,
        reading: WalkDepth,
        is_listed: impl Fn(EventNo) -> bool,
        visit: &mut impl FnMut(InboxEntry),
    ) -> Result<NewestSeqs, Unreadable> {
        let SegmentOrdinals { day, segment, at, ordinals } = rest;
        let WalkDepth { least, wanted } = reading;
        let Some(chunk) = ordinals.first().map(|ordinal| facets_chunk(*ordinal)) else {
            return Ok(NewestSeqs::default());
        };
        let bytes = self.bucket.index.facets(self.view, day, segment, chunk)?;
        let facets = Facets::parse(&bytes)?;
        let lane_sets = facets.lane_sets(|lanes| self.has_inbox(lanes));
        let may_have_ended = self.bucket.ended.may_be_left_out(self.number.0);
        let has_withdrawn =
            wanted < WantedFacts::Withdrawn && !self.intake.objects.withdrawn_hashes.is_empty();
        let mut found = facets.arrivals(ordinals, &lane_sets)?;
        let mut newest = NewestSeqs::default();
        for (_, arrival) in found.iter().rev() {
            let seq = facets.seq(*arrival)?;
            if !(may_have_ended && self.bucket.ended.has(seq, INBOX_NO, self.number.0)) {
                newest.note(facets.tenant(*arrival)?, seq);
                // Without tenants the newest arrival of all is the newest of each view.
                if !facets.has_tenants() {
                    break;
                }
            }
        }
        if has_withdrawn {
            facets.retain_objects(&mut found, |object| !self.is_withdrawn(object))?;
        }
        let mut chunks = DetailChunks::new(self, day);
        let has_items = self.items().is_some();
        let wants_place = has_items || wanted >= WantedFacts::Identity;
        for (ordinal, arrival) in found {
            if !self.only.takes_at(&facets, arrival)? {
                continue;
            }
            let wants_seq = wanted >= WantedFacts::Order || may_have_ended;
            let seq = if wants_seq { facets.seq(arrival)? } else { Seq::default() };
            if may_have_ended && self.bucket.ended.has(seq, INBOX_NO, self.number.0) {
                continue;
            }
            let place = if wants_place { facets.place(arrival)? } else { EventNo::default() };
            if has_items && !is_listed(place) {
                continue;
            }
            let tenant = facets.tenant(arrival)?;
            if self.is_gone(tenant) {
                continue;
            }
            let object = if wanted >= WantedFacts::Identity { facets.object(arrival)? } else { 0 };
            let (type_no, group) = facets.group(arrival)?;
            let entry = InboxEntry {
                order: seq,
                place,
                tenant,
                group: (type_no, group_in(group, tenant)),
                object,
                state: least,
                shelf: Shelf::Active,
                back: None,
                day,
                source: EntryPosition::Segment { segment: at, arrival, ordinal },
            };
            // No mark can change this entry, so nothing more of it is read.
            if self.reading.is_empty() || least == ItemState::Read {
                visit(entry);
                continue;
            }
            let marking = MarkedFields {
                place: facets.place(arrival)?,
                tenant,
                object: facets.object(arrival)?,
                bounds: facets.bounds(arrival)?,
                t: || Ok::<_, Unreadable>(chunks.details(segment, arrival)?.t(arrival)?),
            };
            self.with_state(entry, least, marking, visit)?;
        }
        Ok(newest)
    }

    /// Visits an entry with its state: its own, or what marks say.
    fn with_state(
        &self,
        mut entry: InboxEntry,
        least: ItemState,
        marking: MarkedFields<impl FnMut() -> Result<Instant, Unreadable>>,
        visit: &mut impl FnMut(InboxEntry),
    ) -> Result<(), Unreadable> {
        match self.items().and_then(|items| items.get(marking.place)) {
            Some(item) if item.shelf == Shelf::Deleted => return Ok(()),
            Some(item) => {
                (entry.state, entry.shelf) = (item.state, item.shelf);
                if let Some(back) = item.back {
                    (entry.order, entry.back) = (back.seq, Some(back.at));
                }
            }
            None => entry.state = self.reading.of_entry(least, marking)?,
        }
        visit(entry);
        Ok(())
    }
}

/// The times of entries, read in the order of a walk.
pub(crate) struct EntryTimes<'a> {
    walk: &'a InboxWalk<'a>,
    chunks: DetailChunks<'a>,
}

/// The number of rows of details that are kept at once.
const ROWS_KEPT: usize = 64;

impl<'a> EntryTimes<'a> {
    pub(crate) fn new(walk: &'a InboxWalk<'a>) -> Self {
        Self { walk, chunks: DetailChunks::new(walk, Day::default()) }
    }

    /// The time when an entry entered the inbox, and the instant of its arrival: that is later if it was moved.
    pub(crate) fn of(&mut self, entry: &InboxEntry) -> Result<(Instant, Instant), Unreadable> {
        let held = self.walk.bucket.index.days.get(&entry.day);
        match entry.source {
            EntryPosition::Segment { segment, arrival, .. } => {
                let Some(segment) = held.and_then(|held| held.segments.get(segment)) else {
                    return Ok((Instant::default(), Instant::default()));
                };
                if self.chunks.day != entry.day || self.chunks.read.len() > ROWS_KEPT {
                    self.chunks = DetailChunks::new(self.walk, entry.day);
                }
                let details = self.chunks.details(segment, arrival)?;
                Ok((details.t(arrival)?, details.at(arrival)?))
            }
            EntryPosition::Tail { seq, .. } => {
                let kept = held.and_then(|held| held.tail.get(&seq));
                Ok(kept.map(|kept| (kept.arrival.t, kept.arrival.at)).unwrap_or_default())
            }
        }
    }
}

/// Details of a day's segments, each row read once.
pub(crate) struct DetailChunks<'a> {
    view: &'a dyn ReadView,
    bucket: &'a Bucket,
    day: Day,
    read: BTreeMap<Vec<u8>, Vec<u8>>,
}

impl<'a> DetailChunks<'a> {
    pub(crate) fn new(walk: &InboxWalk<'a>, day: Day) -> Self {
        Self { view: walk.view, bucket: walk.bucket, day, read: BTreeMap::new() }
    }

    pub(crate) fn details(
        &mut self,
        segment: &SegmentAt,
        arrival: usize,
    ) -> Result<Details<'_>, Unreadable> {
        let (no, id) = (self.bucket.no, segment.id());
        let (first, key) = row_of(arrival, |first| {
            let key = details_key(no, id, first);
            if !self.read.contains_key(&key) {
                let bytes = self
                    .view
                    .get(Partition::Day(self.day), &key)?
                    .ok_or_else(|| self.bucket.index.is_missing(segment))?;
                self.read.insert(key.clone(), bytes);
            }
            let arrivals = Details::parse(first, &self.read[&key])?.arrivals();
            Ok::<_, Unreadable>((key, arrivals))
        })?;
        Ok(Details::parse(first, &self.read[&key])?)
    }
}
