//! A recipient's inbox: pages of groups, newest first, and the badge.
//!
//! A group is what has one type and one pivot (the object, or what the type says) within one UTC day,
//! what was read apart from what was not. Days bound a group, so a page reads days backwards and
//! stops building groups when it is full; the badge adds up what each day has on its own. It reads
//! facets, a few bytes of each arrival that concerns the reader, and details of what it shows.
//!
//! Shown, counted and marked is the same: entries that the inbox was told and that did not end, less
//! those whose object is withdrawn now.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::cursor::Cursor;
use crate::bucket::{AsOf, Bucket, Counts, Marking, Reading, State};
use crate::content::batch::EventData;
use crate::engine::intake::state::Content;
use crate::engine::message::present::Presenter;
use crate::engine::read::reader::Reader;
use crate::engine::rows::reply::Stop;
use crate::engine::state::Engine;
use crate::index::facets::{Details, Facets, details_key, facets_chunk, row_of};
use crate::index::headers::Header;
use crate::index::{DayIndex, SegmentAt};
use crate::journal::record::{About, EventAt};
use crate::journal::stored::{ReadView, Unreadable};
use crate::journal::table::Partition;
use crate::model::channel::INBOX_NO;
use crate::model::event::Object;
use crate::model::id::Id;
use crate::model::number::{LaneNo, RecipientAt, RecipientNo, Seq, TypeNo};
use crate::model::time::{Day, Instant};

/// The most items of a group that a page lists, the newest ones; the group's count is exact.
pub const ITEMS_LISTED: usize = 25;

/// A page of an inbox, newest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InboxPage {
    /// The groups of this page.
    pub groups: Vec<InboxGroup>,
    /// The badge: the number of groups with an unseen item, in the whole inbox, whichever page this is.
    pub unseen: u64,
    /// Number of groups with an unread item, in the whole inbox.
    pub unread: u64,
    /// Revision: it rises with every change of these numbers, so an answer with a lower one is older.
    pub rev: u64,
    /// The cursor of the next page; `None` = this is the last.
    pub next: Option<Cursor>,
}

/// A group: inbox items of one day and type that share a pivot. Read items are in a group of their own,
/// so that new ones are never hidden among them.
#[derive(Clone, Debug, PartialEq)]
pub struct InboxGroup {
    /// Key of the group, unique in the inbox: type, pivot, day, and whether it was read.
    pub key: String,
    /// The type.
    pub event_type: Id,
    /// Number of items, listed or not.
    pub count: usize,
    /// The actors of the listed items, each once, newest first.
    pub actors: Vec<Id>,
    /// Time of the newest item.
    pub newest_at: Instant,
    /// True if all items were seen.
    pub seen: bool,
    /// True if it was read.
    pub read: bool,
    /// Its items, newest first, at most [`ITEMS_LISTED`].
    pub items: Vec<InboxItem>,
}

/// One entry of an inbox.
#[derive(Clone, Debug, PartialEq)]
pub struct InboxItem {
    /// The event.
    pub event: Id,
    /// Its type.
    pub event_type: Id,
    /// The category of the type; `None` if the type is no longer configured.
    pub category: Option<String>,
    /// The actor as it is now.
    pub actor: Option<Arc<Object>>,
    /// The object as it is now.
    pub object: Arc<Object>,
    /// The target as it is now.
    pub target: Option<Arc<Object>>,
    /// The event's `data`.
    pub data: Option<Arc<EventData>>,
    /// The event's `body`.
    pub body: Option<Arc<str>>,
    /// The event's `occurred_at`.
    pub occurred_at: Option<Instant>,
    /// Time of entering.
    pub t: Instant,
    /// The reasons why this recipient was notified.
    pub reasons: Vec<String>,
    /// True if it was seen.
    pub seen: bool,
    /// True if it was read.
    pub read: bool,
}

/// An entry that an inbox shows.
#[derive(Clone, Copy)]
struct Entry {
    /// The seq; 0 if it was not requested.
    seq: Seq,
    /// Its type, and the hash that identifies its group within the type.
    group: (TypeNo, u64),
    state: State,
    source: Source,
}

/// The position of an entry's arrival in its day.
#[derive(Clone, Copy)]
enum Source {
    Segment { segment: usize, arrival: usize, ordinal: u32 },
    Tail { seq: Seq, variant: usize },
}

/// A group under construction.
struct Shape {
    newest: Seq,
    count: usize,
    seen: bool,
    read: bool,
    /// The newest of its entries, newest first.
    listed: Vec<Entry>,
}

/// The groups of a day with an unseen item, and those with an unread item.
#[derive(Default)]
struct Badge {
    unseen: FxHashSet<(TypeNo, u64)>,
    /// Groups with an item that was seen and not read.
    seen: FxHashSet<(TypeNo, u64)>,
}

impl Badge {
    fn begin_day(&mut self) {
        self.unseen.clear();
        self.seen.clear();
    }

    fn count(&mut self, entry: &Entry) {
        match entry.state {
            State::New => self.unseen.insert(entry.group),
            State::Seen => self.seen.insert(entry.group),
            State::Read => false,
        };
    }

    fn counts(&self) -> Counts {
        let only_seen = self.seen.difference(&self.unseen).count();
        let number = |count| u32::try_from(count).unwrap_or(u32::MAX);
        let unseen = self.unseen.len();
        Counts { unseen: number(unseen), unread: number(unseen + only_seen) }
    }
}

impl Reader<'_> {
    /// Reads a page of an inbox: at most `limit` groups from a cursor on, or the newest.
    ///
    /// # Errors
    /// [`Stop::Refused`] where the recipient is unknown.
    pub fn inbox(&self, id: &Id, from: Option<Cursor>, limit: usize) -> Result<InboxPage, Stop> {
        let Reader { engine, view } = *self;
        let RecipientAt { bucket: at, number } = engine.find(id)?;
        let bucket = engine.shards.bucket(at);
        let reader = InboxReader::new(engine, view, bucket, number);
        let mut presenter = Presenter::new(engine, view);
        let from = from.unwrap_or(Cursor { as_of: bucket.delivered_to, below: Seq::LAST });
        let (mut groups, mut next, mut last_shown) = (Vec::new(), None, from.below);
        let (today, withdrawals) = (engine.intake.now.day(), engine.intake.objects.withdrawals);
        let marks = bucket.marks.get(&number.0);
        let as_of = AsOf {
            marked: marks.map_or_else(Seq::default, |marks| marks.changed),
            withdrawals,
            hidden: bucket.hidden,
        };
        let known = bucket.counted.of(number.0, as_of);
        let mut counted = Vec::with_capacity(bucket.index.days.len());
        let (mut badge, mut unseen, mut unread) = (Badge::default(), 0, 0);
        let (mut ordinals, mut entries) = (Vec::new(), Vec::new());
        for (day, held) in bucket.index.days.iter().rev() {
            let least = reader.reading.of_day(*day);
            let is_shown = next.is_none() && held.first < from.below && held.first <= from.as_of;
            let counts = known.iter().find(|(known, _)| known == day);
            let counts = counts
                .map(|(_, counts)| *counts)
                .or((least == State::Read).then_some(Counts::default()));
            let counts = match counts {
                Some(counts) if !is_shown => counts,
                _ => {
                    badge.begin_day();
                    entries.clear();
                    let wanted = Wanted { least, seq: is_shown };
                    reader.each_entry(*day, held, wanted, &mut ordinals, |entry| {
                        badge.count(&entry);
                        if is_shown && entry.seq <= from.as_of {
                            entries.push(entry);
                        }
                    })?;
                    let room = limit - groups.len();
                    let (shown, is_all) = shapes(&mut entries, from.below, room);
                    if let Some(last) = shown.last() {
                        last_shown = last.newest;
                    }
                    if !is_all {
                        let (as_of, below) = (from.as_of, last_shown);
                        next = Some(Cursor { as_of, below });
                    }
                    groups.extend(reader.build(*day, held, &shown, &mut presenter)?);
                    badge.counts()
                }
            };
            unseen += u64::from(counts.unseen);
            unread += u64::from(counts.unread);
            if *day < today {
                counted.push((*day, counts));
            }
        }
        bucket.counted.keep(number.0, as_of, counted);
        Ok(InboxPage { groups, unseen, unread, rev: self.rev(bucket), next })
    }

    /// The revision of a bucket's inboxes: it rises with every change of what they show.
    fn rev(&self, bucket: &Bucket) -> u64 {
        let engine = self.engine;
        let forgotten = engine.intake.forgotten_before.map_or(0, |day| day.0);
        bucket.next_seq.0
            + engine.intake.objects.withdrawals
            + u64::try_from(forgotten).unwrap_or(0)
    }
}

/// The groups of a day that were not shown yet, newest first: at most this many, and whether these are
/// all.
fn shapes(entries: &mut [Entry], below: Seq, room: usize) -> (Vec<Shape>, bool) {
    entries.sort_unstable_by_key(|entry| std::cmp::Reverse(entry.seq));
    let mut shapes: Vec<Shape> = Vec::new();
    // `None` = it was shown, or there is no room for it.
    let mut known: FxHashMap<((TypeNo, u64), bool), Option<usize>> = FxHashMap::default();
    let mut is_all = true;
    for entry in entries {
        let read = entry.state == State::Read;
        let at = *known.entry((entry.group, read)).or_insert_with(|| {
            if entry.seq >= below {
                return None;
            }
            if shapes.len() == room {
                is_all = false;
                return None;
            }
            shapes.push(Shape {
                newest: entry.seq,
                count: 0,
                seen: true,
                read,
                listed: Vec::new(),
            });
            Some(shapes.len() - 1)
        });
        let Some(shape) = at.map(|at| &mut shapes[at]) else {
            continue;
        };
        shape.count += 1;
        shape.seen &= entry.state >= State::Seen;
        if shape.listed.len() < ITEMS_LISTED {
            shape.listed.push(*entry);
        }
    }
    (shapes, is_all)
}

/// The reading of one recipient's inbox.
struct InboxReader<'a> {
    engine: &'a Engine,
    view: &'a dyn ReadView,
    bucket: &'a Bucket,
    number: RecipientNo,
    reading: Reading<'a>,
    /// The lanes of the inbox.
    lanes: Vec<LaneNo>,
}

/// The details to read of each inbox entry.
#[derive(Clone, Copy)]
struct Wanted {
    /// The least state that an entry has.
    least: State,
    /// True to read its seq.
    seq: bool,
}

impl<'a> InboxReader<'a> {
    fn new(
        engine: &'a Engine,
        view: &'a dyn ReadView,
        bucket: &'a Bucket,
        number: RecipientNo,
    ) -> Self {
        let lanes = engine.intake.compiled.names.lanes().filter(|(_, lane)| lane.is_inbox());
        Self {
            engine,
            view,
            bucket,
            number,
            reading: Reading::of(bucket.marks.get(&number.0).map(|marks| &**marks)),
            lanes: lanes.map(|(no, _)| no).collect(),
        }
    }

    fn has_inbox(&self, lanes: &[LaneNo]) -> bool {
        lanes.iter().any(|lane| self.lanes.contains(lane))
    }

    fn is_withdrawn(&self, object: u64) -> bool {
        self.engine.intake.objects.withdrawn_hashes.contains_key(&object)
    }

    /// Visits the inbox entries of a day, in no order. `ordinals` is a buffer.
    fn each_entry(
        &self,
        day: Day,
        held: &DayIndex,
        wanted: Wanted,
        ordinals: &mut Vec<u32>,
        mut visit: impl FnMut(Entry),
    ) -> Result<(), Unreadable> {
        let (index, number) = (&self.bucket.index, self.number.0);
        for (at, segment) in held.segments.iter().enumerate() {
            ordinals.clear();
            index.row_of(self.view, day, segment, number, ordinals)?;
            for ordinals in ordinals.chunk_by(|a, b| facets_chunk(*a) == facets_chunk(*b)) {
                self.each_at_rest(day, segment, at, ordinals, wanted, &mut visit)?;
            }
        }
        for kept in held.tail.values() {
            if kept.seq > self.bucket.delivered_to {
                break;
            }
            let arrival = &kept.arrival;
            let variant = arrival.variants.iter().position(|variant| {
                variant.who.contains(self.number.0) && self.has_inbox(&variant.lanes)
            });
            let Some(variant) = variant else { continue };
            let ended = self.bucket.ended.has(kept.seq, INBOX_NO, self.number.0);
            if ended || self.is_withdrawn(arrival.about.object) {
                continue;
            }
            let marking = Marking {
                place: arrival.place,
                object: arrival.about.object,
                bounds: (arrival.t, arrival.t),
                t: || Ok::<_, Unreadable>(arrival.t),
            };
            visit(Entry {
                seq: kept.seq,
                group: (arrival.type_no, arrival.about.group()),
                state: self.reading.of_entry(wanted.least, marking)?,
                source: Source::Tail { seq: kept.seq, variant },
            });
        }
        Ok(())
    }

    /// Visits the entries of one chunk of a segment's facets.
    fn each_at_rest(
        &self,
        day: Day,
        segment: &SegmentAt,
        at: usize,
        ordinals: &[u32],
        wanted: Wanted,
        visit: &mut impl FnMut(Entry),
    ) -> Result<(), Unreadable> {
        let Some(chunk) = ordinals.first().map(|ordinal| facets_chunk(*ordinal)) else {
            return Ok(());
        };
        let bytes = self.bucket.index.facets(self.view, day, segment, chunk)?;
        let facets = Facets::parse(&bytes)?;
        let lane_sets = facets.lane_sets(|lanes| self.has_inbox(lanes));
        let may_have_ended = self.bucket.ended.may_be_left_out(self.number.0);
        let has_withdrawn = !self.engine.intake.objects.withdrawn_hashes.is_empty();
        let mut found = facets.arrivals(ordinals, &lane_sets)?;
        if has_withdrawn {
            facets.retain_objects(&mut found, |object| !self.is_withdrawn(object))?;
        }
        let mut chunks = Chunks::new(self, day);
        let Wanted { least, seq: wants_seq } = wanted;
        for (ordinal, arrival) in found {
            let seq =
                if wants_seq || may_have_ended { facets.seq(arrival)? } else { Seq::default() };
            if may_have_ended && self.bucket.ended.has(seq, INBOX_NO, self.number.0) {
                continue;
            }
            let state = if self.reading.is_empty() || least == State::Read {
                least
            } else {
                let marking = Marking {
                    place: facets.place(arrival)?,
                    object: facets.object(arrival)?,
                    bounds: facets.bounds(arrival)?,
                    t: || Ok::<_, Unreadable>(chunks.details(segment, arrival)?.t(arrival)?),
                };
                self.reading.of_entry(least, marking)?
            };
            visit(Entry {
                seq,
                group: facets.group(arrival)?,
                state,
                source: Source::Segment { segment: at, arrival, ordinal },
            });
        }
        Ok(())
    }

    /// Builds the groups of a day as they are shown.
    fn build(
        &self,
        day: Day,
        held: &DayIndex,
        shapes: &[Shape],
        presenter: &mut Presenter<'_>,
    ) -> Result<Vec<InboxGroup>, Unreadable> {
        let mut chunks = Chunks::new(self, day);
        let (mut facts, mut events) = (Vec::new(), Vec::new());
        for entry in shapes.iter().flat_map(|shape| &shape.listed) {
            let (t, reasons, event) = match entry.source {
                Source::Segment { segment, arrival, ordinal } => {
                    let details = chunks.details(&held.segments[segment], arrival)?;
                    let reasons = details.reasons(ordinal)?;
                    (details.t(arrival)?, reasons, details.event(arrival, day)?)
                }
                Source::Tail { seq, variant } => {
                    let kept = held.tail.get(&seq);
                    let Some(arrival) = kept.map(|kept| &kept.arrival) else {
                        continue;
                    };
                    let reasons = arrival.reasons_of(&arrival.variants[variant], INBOX_NO);
                    (arrival.t, reasons, arrival.event)
                }
            };
            facts.push((t, reasons));
            events.push(event);
        }
        presenter.read_contents(day, &events.iter().copied().collect())?;
        let headers: Vec<Header> = events
            .iter()
            .map(|at| self.engine.intake.header(self.view, day, *at))
            .collect::<Result<_, _>>()?;
        let facts = facts.into_iter().zip(events);
        let mut listed = headers.into_iter().zip(facts);
        let groups = shapes.iter().map(|shape| {
            let members = listed.by_ref().take(shape.listed.len());
            self.group_of(shape, day, members, presenter)
        });
        groups.filter_map(Result::transpose).collect()
    }

    /// Builds a group from its newest members; `None` if it has none.
    fn group_of(
        &self,
        shape: &Shape,
        day: Day,
        members: impl Iterator<Item = (Header, ((Instant, Vec<String>), EventAt))>,
        presenter: &mut Presenter<'_>,
    ) -> Result<Option<InboxGroup>, Unreadable> {
        let types = self.engine.rules().map(|rules| &rules.types);
        let mut group: Option<InboxGroup> = None;
        for ((header, ((t, reasons), at)), entry) in members.zip(&shape.listed) {
            let of_type = types.and_then(|types| types.get(header.event_type.as_str()));
            let Content { data, body } = presenter.content(day, at)?;
            let item = InboxItem {
                event: header.id.clone(),
                event_type: header.event_type.clone(),
                category: of_type.map(|of_type| of_type.category.clone()),
                actor: header.actor.as_ref().map(|id| presenter.actor(id)).transpose()?,
                object: presenter.object(&header.object)?,
                target: header.target.as_ref().map(|id| presenter.object(id)).transpose()?,
                data,
                body,
                occurred_at: header.occurred_at,
                t,
                reasons,
                seen: entry.state >= State::Seen,
                read: entry.state == State::Read,
            };
            let group = group.get_or_insert_with(|| InboxGroup {
                key: key_of(&header, entry.group.1, day, shape.read),
                event_type: header.event_type.clone(),
                count: shape.count,
                actors: Vec::new(),
                newest_at: t,
                seen: shape.seen,
                read: shape.read,
                items: Vec::new(),
            });
            if let Some(actor) = header.actor
                && !group.actors.contains(&actor)
            {
                group.actors.push(actor);
            }
            group.items.push(item);
        }
        Ok(group)
    }
}

/// The key of a group, unique in its inbox: its pivot is the id whose hash its entries share, after its
/// role if that is not the object. A colon within an id is escaped.
pub(crate) fn key_of(header: &Header, group: u64, day: Day, read: bool) -> String {
    use crate::model::event::Pivot;
    let by_object = About::object_hash(&header.object) == group;
    let escaped = |id: &Id| id.as_str().replace('%', "%25").replace(':', "%3A");
    let by_role = |id: &Option<Id>, pivot: Pivot| {
        let (word, id) = (pivot.word(), id.as_ref()?);
        (About::pivot_hash(word, id) == group).then(|| format!("{word}:{}", escaped(id)))
    };
    let pivot = by_object
        .then(|| escaped(&header.object))
        .or_else(|| by_role(&header.actor, Pivot::Actor))
        .or_else(|| by_role(&header.target, Pivot::Target))
        .unwrap_or_else(|| format!("event:{}", escaped(&header.id)));
    let state = if read { "read" } else { "new" };
    format!("{}:{pivot}:{day}:{state}", escaped(&header.event_type))
}

/// Details of a day's segments, each row read once.
struct Chunks<'a> {
    view: &'a dyn ReadView,
    bucket: &'a Bucket,
    day: Day,
    read: BTreeMap<Vec<u8>, Vec<u8>>,
}

impl<'a> Chunks<'a> {
    fn new(reader: &InboxReader<'a>, day: Day) -> Self {
        Self { view: reader.view, bucket: reader.bucket, day, read: BTreeMap::new() }
    }

    fn details(&mut self, segment: &SegmentAt, arrival: usize) -> Result<Details<'_>, Unreadable> {
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
