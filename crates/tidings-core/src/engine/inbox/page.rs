//! A page of an inbox: rows, newest first, and the counts of all.
//!
//! Days bound a row, so a page reads days backwards and stops building rows when it is full; the counts are the sums of
//! the counts of each day.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::counts::{Badge, InboxCounter, InboxCounts, walk_of};
use super::cursor::Cursor;
use super::rows::{RowBuilder, RowId, RowKind, rows_of};
use super::walk::{DetailChunks, EntryPosition, InboxDay, InboxEntry, InboxWalk, WantedFacts};
use crate::content::batch::{EventData, Group};
use crate::content::group;
use crate::engine::intake::state::EventContent;
use crate::engine::message::present::Presenter;
use crate::engine::read::reader::Reader;
use crate::engine::replies::refused::StepError;
use crate::engine::state::Engine;
use crate::index::headers::Header;
use crate::journal::record::EventAt;
use crate::journal::stored::{ReadView, Unreadable};
use crate::model::channel::INBOX_NO;
use crate::model::event::Object;
use crate::model::event::host_text::HostText;
use crate::model::id::Id;
use crate::model::item::{ItemState, Shelf};
use crate::model::number::{Seq, TypeNo};
use crate::model::recipient::Recipient;
use crate::model::tenant::{KnownTenant, View};
use crate::model::time::{Day, Instant};
use crate::rules::compiled::CompiledRules;

/// The choice of a page.
#[derive(Clone, Debug, PartialEq)]
pub struct InboxQuery {
    /// Its start; `None` = the newest rows.
    pub from: Option<Cursor>,
    /// Maximum number of rows.
    pub limit: usize,
    /// The rows to list.
    pub state: InboxState,
    /// Only types of these categories; empty = of all.
    pub categories: Vec<String>,
    /// Only these types; empty = all.
    pub types: Vec<String>,
    /// False: each item is a row.
    pub is_grouped: bool,
    /// The entries that it shows.
    pub view: View,
}

impl InboxQuery {
    /// The newest active rows, at most `limit`.
    #[must_use]
    pub fn newest(limit: usize) -> Self {
        Self {
            from: None,
            limit,
            state: InboxState::Active,
            categories: Vec::new(),
            types: Vec::new(),
            is_grouped: true,
            view: View::All,
        }
    }
}

/// The rows that a page lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InboxState {
    /// Rows of the inbox.
    #[default]
    Active,
    /// Active rows with an unseen item.
    Unseen,
    /// Active rows with an unread item.
    Unread,
    /// Rows of the archive.
    Archived,
    /// Rows that are snoozed.
    Snoozed,
    /// All of them.
    All,
}

impl InboxState {
    fn lists(self, row: &RowBuilder) -> bool {
        match self {
            Self::Active => row.id.kind.is_active(),
            Self::Unseen => row.id.kind == RowKind::New && row.state == ItemState::New,
            Self::Unread => row.id.kind == RowKind::New,
            Self::Archived => row.id.kind == RowKind::Archived,
            Self::Snoozed => row.id.kind == RowKind::Snoozed,
            Self::All => true,
        }
    }
}

/// A page of an inbox, newest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InboxPage {
    /// The rows of this page.
    pub groups: Vec<InboxGroup>,
    /// The counts of the whole inbox, whichever page this is.
    pub counts: InboxCounts,
    /// The cursor of the next page; `None` = this is the last.
    pub next: Option<Cursor>,
}

/// A row of an inbox: items of one day, type and tenant (or none) that share a pivot. Read items are in a row of their own, so that new
/// ones are never hidden among them.
#[derive(Clone, Debug, PartialEq)]
pub struct InboxGroup {
    /// Key of the row, unique in the inbox.
    pub key: String,
    /// Its position, by whose bytes the rows of an inbox are in falling order.
    pub order: String,
    /// The type.
    pub event_type: Id,
    /// The tenant of its items; `None` = of none.
    pub tenant: Option<Id>,
    /// The tenant as it is now.
    pub known_tenant: Option<Arc<KnownTenant>>,
    /// The recipient's locale for its items: their own, else the tenant's, else the default one.
    pub locale: String,
    /// The recipient's time zone for its items, found in the same way.
    pub tz: String,
    /// Number of items, listed or not.
    pub count: usize,
    /// The actors of the listed items, each once, newest first.
    pub actors: Vec<Id>,
    /// The time of its position: that of the newest item, or of its return from a snooze.
    pub newest_at: Instant,
    /// True if all items were seen.
    pub seen: bool,
    /// True if all items were read.
    pub read: bool,
    /// True if it is archived.
    pub archived: bool,
    /// The earliest end of a snooze; `None` = it is not snoozed.
    pub snoozed_until: Option<Instant>,
    /// Its items, newest first, at most [`ITEMS_LISTED`](super::rows::ITEMS_LISTED).
    pub items: Vec<InboxItem>,
    /// The listed items as content, from which its sentence is rendered.
    pub content: Vec<Group>,
}

/// One entry of an inbox.
#[derive(Clone, Debug, PartialEq)]
pub struct InboxItem {
    /// The event.
    pub event: Id,
    /// Its type.
    pub event_type: Id,
    /// Its tenant; `None` = of none.
    pub tenant: Option<Id>,
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
    pub body: Option<HostText>,
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
    /// True if it is archived.
    pub archived: bool,
    /// The end of its snooze; `None` = it is not snoozed.
    pub snoozed_until: Option<Instant>,
    /// The item as content, from which its sentence is rendered.
    pub content: Vec<Group>,
}

/// All active rows of an inbox, newest first, without their content.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InboxRows {
    /// The counts of the inbox.
    pub counts: InboxCounts,
    /// The rows.
    pub rows: Vec<InboxRow>,
}

/// An active row without its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InboxRow {
    /// Its identity.
    pub id: RowId,
    /// A hash of its items, their states and their order.
    pub fingerprint: u64,
}

impl Reader<'_> {
    /// Reads a page of an inbox.
    ///
    /// # Errors
    /// [`StepError::Refused`] where the recipient or the view's tenant is unknown.
    pub fn inbox(&self, id: &Id, query: &InboxQuery) -> Result<InboxPage, StepError> {
        let Reader { engine, view } = *self;
        let walk = walk_of(*self, id, &query.view)?;
        let builder = ShownRowsBuilder::new(engine, view, &walk);
        let mut presenter = Presenter::new(engine, view);
        let types = query.type_numbers(&engine.intake.compiled);
        let newest = Cursor { as_of: walk.bucket.next_seq.before(), below: Seq::LAST };
        let from = query.from.unwrap_or(newest);
        let (mut groups, mut next, mut last_shown) = (Vec::new(), None, from.below);
        let mut counting = InboxCounter::new(&walk);
        let (mut badge, mut entries) = (Badge::default(), Vec::new());
        for of in walk.days() {
            let may_show =
                |held: &crate::index::DayIndex| held.first < from.below && held.first <= from.as_of;
            let is_shown =
                next.is_none() && (of.held.is_some_and(may_show) || walk.has_returned(of.day));
            let is_counted = counting.add_known(of.day);
            // The counts of most days are cached: a day that the page does not list is not read.
            if is_counted && !is_shown {
                continue;
            }
            badge.begin_day();
            entries.clear();
            let wanted = match (is_shown, query.is_grouped) {
                (false, _) => WantedFacts::Counts,
                (true, true) => WantedFacts::Order,
                (true, false) => WantedFacts::Identity,
            };
            let newest = walk.each(of, wanted, |entry| {
                badge.count(&entry);
                let is_of_type = types.as_ref().is_none_or(|types| types.contains(&entry.group.0));
                // Entries that came after the first page would move rows from one page to the next.
                if is_shown && is_of_type && entry.order <= from.as_of && walk.shows(&entry) {
                    entries.push(entry);
                }
            })?;
            if !is_counted {
                counting.add(of.day, badge.counts(newest));
            }
            let mut rows = rows_of(&mut entries, of.day, query.is_grouped);
            // Rows are cut, not entries: a row was listed whole at the position of its newest item.
            rows.retain(|row| query.state.lists(row) && row.order < from.below);
            let room = query.limit - groups.len();
            let is_all = rows.len() <= room;
            rows.truncate(room);
            if let Some(last) = rows.last() {
                last_shown = last.order;
            }
            if !is_all {
                next = Some(Cursor { as_of: from.as_of, below: last_shown });
            }
            groups.extend(builder.build(&rows, &mut presenter)?);
        }
        Ok(InboxPage { groups, counts: counting.done(), next })
    }

    /// Lists all active rows of an inbox.
    ///
    /// # Errors
    /// [`StepError::Refused`] where the recipient or the view's tenant is unknown.
    pub fn inbox_rows(&self, id: &Id, of: &View) -> Result<InboxRows, StepError> {
        let walk = walk_of(*self, id, of)?;
        let mut counting = InboxCounter::new(&walk);
        let (mut badge, mut entries, mut rows) = (Badge::default(), Vec::new(), Vec::new());
        for of in walk.days() {
            badge.begin_day();
            entries.clear();
            let newest = walk.each(of, WantedFacts::Order, |entry| {
                badge.count(&entry);
                if entry.shelf == Shelf::Active && walk.shows(&entry) {
                    entries.push(entry);
                }
            })?;
            counting.add(of.day, badge.counts(newest));
            let of_day = rows_of(&mut entries, of.day, true).into_iter();
            rows.extend(of_day.map(|row| InboxRow { id: row.id, fingerprint: row.fingerprint }));
        }
        Ok(InboxRows { counts: counting.done(), rows })
    }

    /// Reads active rows of an inbox by their identities, newest first; those that are not there are left out.
    ///
    /// # Errors
    /// [`StepError::Refused`] where the recipient or the view's tenant is unknown.
    pub fn inbox_groups(
        &self,
        id: &Id,
        of: &View,
        wanted: &[RowId],
    ) -> Result<Vec<InboxGroup>, StepError> {
        let Reader { engine, view } = *self;
        let walk = walk_of(*self, id, of)?;
        let builder = ShownRowsBuilder::new(engine, view, &walk);
        let mut presenter = Presenter::new(engine, view);
        let wanted: FxHashSet<RowId> = wanted.iter().copied().collect();
        let mut rows = Vec::new();
        let days: BTreeSet<Day> = wanted.iter().map(|row| row.day).collect();
        for of in walk.days().filter(|of| days.contains(&of.day)) {
            rows.extend(active_rows(&walk, of)?.into_iter().filter(|row| wanted.contains(&row.id)));
        }
        Ok(builder.build(&rows, &mut presenter)?)
    }

    /// The key of a row.
    #[must_use]
    pub fn row_key(&self, row: RowId) -> String {
        row.key(&self.engine.intake.compiled.names)
    }
}

fn active_rows(walk: &InboxWalk<'_>, of: InboxDay<'_>) -> Result<Vec<RowBuilder>, Unreadable> {
    let mut entries = Vec::new();
    walk.each(of, WantedFacts::Order, |entry| {
        if entry.shelf == Shelf::Active && walk.shows(&entry) {
            entries.push(entry);
        }
    })?;
    Ok(rows_of(&mut entries, of.day, true))
}

impl InboxQuery {
    /// The types that it takes; `None` = all.
    fn type_numbers(&self, compiled: &CompiledRules) -> Option<FxHashSet<TypeNo>> {
        if self.categories.is_empty() && self.types.is_empty() {
            return None;
        }
        let version = compiled.current();
        let types = version.iter().flat_map(|version| &version.rules.types);
        let is_wanted = |name: &String, category: &String| {
            (self.types.is_empty() || self.types.contains(name))
                && (self.categories.is_empty() || self.categories.contains(category))
        };
        let names = types.filter(|(name, of_type)| is_wanted(name, &of_type.category));
        Some(names.filter_map(|(name, _)| compiled.names.type_no(name)).collect())
    }
}

/// The building of rows as they are shown.
struct ShownRowsBuilder<'a> {
    engine: &'a Engine,
    view: &'a dyn ReadView,
    walk: &'a InboxWalk<'a>,
    /// The recipient's profile.
    profile: Option<&'a Recipient>,
}

/// The facts of an entry's arrival.
struct ArrivalFacts {
    t: Instant,
    reasons: Vec<String>,
    event: EventAt,
}

/// An entry of a row with the facts of its arrival and the header of its event.
struct ListedEntry<'a> {
    entry: &'a InboxEntry,
    fact: ArrivalFacts,
    header: Header,
}

impl<'a> ShownRowsBuilder<'a> {
    fn new(engine: &'a Engine, view: &'a dyn ReadView, walk: &'a InboxWalk<'a>) -> Self {
        let profile = walk.bucket.roster.profile(walk.number);
        Self { engine, view, walk, profile }
    }

    /// Builds rows as they are shown.
    fn build(
        &self,
        rows: &[RowBuilder],
        presenter: &mut Presenter<'_>,
    ) -> Result<Vec<InboxGroup>, Unreadable> {
        let mut chunks: BTreeMap<Day, DetailChunks<'_>> = BTreeMap::new();
        let mut events: BTreeMap<Day, BTreeSet<EventAt>> = BTreeMap::new();
        let mut facts = Vec::new();
        for entry in rows.iter().flat_map(|row| &row.listed) {
            let fact = self.facts(entry, &mut chunks)?;
            if let Some(fact) = &fact {
                events.entry(entry.day).or_default().insert(fact.event);
            }
            facts.push(fact);
        }
        for (day, events) in &events {
            presenter.read_contents(*day, events)?;
        }
        let mut facts = facts.into_iter();
        let mut groups = Vec::with_capacity(rows.len());
        for row in rows {
            let mut listed = Vec::with_capacity(row.listed.len());
            for (entry, fact) in row.listed.iter().zip(facts.by_ref()) {
                if let Some(fact) = fact {
                    let header = self.engine.intake.header(self.view, entry.day, fact.event)?;
                    listed.push(ListedEntry { entry, fact, header });
                }
            }
            groups.extend(self.group_of(row, listed, presenter)?);
        }
        Ok(groups)
    }

    /// Reads time, reasons and event of an entry.
    fn facts(
        &self,
        entry: &InboxEntry,
        chunks: &mut BTreeMap<Day, DetailChunks<'a>>,
    ) -> Result<Option<ArrivalFacts>, Unreadable> {
        let day = entry.day;
        let Some(held) = self.walk.bucket.index.days.get(&day) else {
            return Ok(None);
        };
        match entry.source {
            EntryPosition::Segment { segment, arrival, ordinal } => {
                let chunks = chunks.entry(day).or_insert_with(|| DetailChunks::new(self.walk, day));
                let details = chunks.details(&held.segments[segment], arrival)?;
                let reasons = details.reasons(ordinal)?;
                let (t, event) = (details.t(arrival)?, details.event(arrival, day)?);
                Ok(Some(ArrivalFacts { t, reasons, event }))
            }
            EntryPosition::Tail { seq, variant } => Ok(held.tail.get(&seq).map(|kept| {
                let arrival = &kept.arrival;
                let reasons = arrival.reasons_of(&arrival.variants[variant], INBOX_NO);
                ArrivalFacts { t: arrival.t, reasons, event: arrival.event }
            })),
        }
    }

    /// Builds a row from its newest members; `None` if it has none.
    fn group_of(
        &self,
        row: &RowBuilder,
        members: Vec<ListedEntry<'_>>,
        presenter: &mut Presenter<'_>,
    ) -> Result<Option<InboxGroup>, Unreadable> {
        let rules = self.engine.rules();
        let types = rules.map(|rules| &rules.types);
        let own = |field: fn(&Recipient) -> Option<&String>| self.profile.and_then(field);
        let said = |entries: Vec<&group::Entry>| {
            rules.map(|rules| group::group(entries, rules)).unwrap_or_default()
        };
        let mut group: Option<InboxGroup> = None;
        let mut contents: Vec<group::Entry> = Vec::with_capacity(members.len());
        for ListedEntry { entry, fact: ArrivalFacts { t, reasons, event }, header } in members {
            let of_type = types.and_then(|types| types.get(header.event_type.as_str()));
            let EventContent { data, body, trace: _ } = presenter.content(entry.day, event)?;
            let tenants = &self.engine.intake.tenants;
            let tenant = tenants.id(entry.tenant);
            let known = entry.tenant.and_then(|tenant| tenants.get(tenant));
            let until = if let Shelf::Snoozed(until) = entry.shelf { Some(until) } else { None };
            let content = group::Entry {
                t,
                reasons: reasons.into(),
                object: presenter.object(&header.object)?,
                actor: header.actor.as_ref().map(|id| presenter.actor(id)).transpose()?,
                target: header.target.as_ref().map(|id| presenter.object(id)).transpose()?,
                data,
                body,
                header,
            };
            let header = &content.header;
            let item = InboxItem {
                event: header.id.clone(),
                event_type: header.event_type.clone(),
                tenant: tenant.cloned(),
                category: of_type.map(|of_type| of_type.category.clone()),
                actor: content.actor.clone(),
                object: Arc::clone(&content.object),
                target: content.target.clone(),
                data: content.data.clone(),
                body: content.body.clone(),
                occurred_at: header.occurred_at,
                t,
                reasons: content.reasons.to_vec(),
                seen: entry.state >= ItemState::Seen,
                read: entry.state == ItemState::Read,
                archived: entry.shelf == Shelf::Archived,
                snoozed_until: until,
                content: said(vec![&content]),
            };
            let group = group.get_or_insert_with(|| InboxGroup {
                key: row.id.key(&self.engine.intake.compiled.names),
                order: format!("{:016x}", row.order.0),
                event_type: header.event_type.clone(),
                tenant: tenant.cloned(),
                known_tenant: known.cloned(),
                locale: own(|of| of.locale.as_ref())
                    .or_else(|| known?.tenant.locale.as_ref())
                    .or(rules.map(|rules| &rules.defaults.locale))
                    .cloned()
                    .unwrap_or_default(),
                tz: own(|of| of.tz.as_ref())
                    .or_else(|| known?.tenant.tz.as_ref())
                    .or(rules.map(|rules| &rules.defaults.tz))
                    .cloned()
                    .unwrap_or_default(),
                count: row.count,
                actors: Vec::new(),
                newest_at: entry.back.unwrap_or(t),
                seen: row.state >= ItemState::Seen,
                read: row.state == ItemState::Read,
                archived: row.id.kind == RowKind::Archived,
                snoozed_until: row.snoozed_until,
                items: Vec::new(),
                content: Vec::new(),
            });
            if let Some(actor) = &header.actor
                && !group.actors.contains(actor)
            {
                group.actors.push(actor.clone());
            }
            group.items.push(item);
            contents.push(content);
        }
        if let Some(group) = &mut group {
            group.content = said(contents.iter().collect());
        }
        Ok(group)
    }
}
