//! Marks against entries: recipients who have seen the content of a message, here or in their inbox.
//!
//! An inbox shows an event at once, other channels may come `after`: only to those who have not seen it in their
//! inbox by then. The marks alone say who could have, since an event's time in the inbox is its later time less the
//! delay in its row. Only of those, mostly few, the index is asked whether their inbox has the event; asking it first
//! would read all entries of an event to everyone. An event of a deleted day was not seen. The delay is decided when the
//! event is accepted, so new rules change the time of nothing that was published before.

use std::collections::BTreeMap;
use std::convert::Infallible;

use roaring::RoaringBitmap;

use super::publish::LaneRouter;
use crate::bucket::{Bucket, ComparedEntry, FrozenRecipients, MarkedFields, Marks, ReaderMarks};
use crate::engine::intake::accepted;
use crate::engine::message::plan::Planner;
use crate::engine::rows::draft::Draft;
use crate::index::headers::Header;
use crate::index::{Found, FoundEntry, SearchFilter};
use crate::journal::record::{About, Arrival, Variant};
use crate::journal::stored::{ReadView, StoredArrival, Unreadable};
use crate::model::channel::{ChannelNo, INBOX_NO};
use crate::model::command::MarkKind;
use crate::model::item::ItemState;
use crate::model::number::{EventNo, RecipientNo};
use crate::model::tenant::TenantNo;
use crate::model::time::Instant;
use crate::rules::compiled::Type;
use crate::rules::names::NumberedNames;

/// The entries of an event that entered inboxes at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct InboxedEntries {
    place: EventNo,
    tenant: Option<TenantNo>,
    /// The hash of its object's id.
    object: u64,
    t: Instant,
}

/// By the event's place, the recipients who have seen it in their inbox.
pub(crate) type SeenByEvent = BTreeMap<EventNo, RoaringBitmap>;

impl InboxedEntries {
    /// The recipients of a set whose marks cover their entry.
    fn marked(self, bucket: &Bucket, recipients: &RoaringBitmap) -> RoaringBitmap {
        let covers = |marks: &Marks| {
            if let Some(item) = marks.items.get(self.place) {
                return item.counts_as(ItemState::Seen);
            }
            let marking = MarkedFields {
                place: self.place,
                tenant: self.tenant,
                object: self.object,
                bounds: (self.t, self.t),
                t: || Ok::<_, Infallible>(self.t),
            };
            let Ok(state) = ReaderMarks::of(Some(marks)).of_entry(ItemState::New, marking);
            state >= ItemState::Seen
        };
        if recipients.len() < bucket.marks.len() as u64 {
            let marks_of =
                |number: &u32| bucket.marks.get(number).is_some_and(|marks| covers(marks));
            return recipients.iter().filter(marks_of).collect();
        }
        let marks = bucket.marks.iter();
        marks
            .filter(|(number, marks)| recipients.contains(**number) && covers(marks))
            .map(|(number, _)| *number)
            .collect()
    }
}

/// The recipients of a set whose inbox has their entry, seen.
fn seen_there(
    view: &dyn ReadView,
    bucket: &Bucket,
    names: &NumberedNames,
    by_entries: &BTreeMap<InboxedEntries, RoaringBitmap>,
) -> Result<SeenByEvent, Unreadable> {
    let mut marked = SeenByEvent::new();
    let (mut everyone, mut since) = (RoaringBitmap::new(), None);
    for (entries, recipients) in by_entries {
        let recipients = entries.marked(bucket, recipients);
        if !recipients.is_empty() {
            since = since.into_iter().chain([entries.t]).min();
            everyone |= &recipients;
            *marked.entry(entries.place).or_default() |= recipients;
        }
    }
    // An entry is held by the day on which it entered, or by a later one to which it moved.
    let days = since.map(|t| bucket.index.days.range(t.day()..));
    let Some((_, first)) = days.and_then(|mut days| days.next()) else {
        return Ok(SeenByEvent::new());
    };
    let is_inbox = |variant: &Variant| variant.lanes.iter().any(|no| names.lane(*no).is_inbox());
    let look = SearchFilter {
        from: first.first,
        to: bucket.delivered_to,
        recipients: &everyone,
        takes: &|kept: &StoredArrival, variant| {
            marked.contains_key(&kept.arrival.place) && is_inbox(variant)
        },
        has: &|number, kept: &StoredArrival| {
            let recipients = marked.get(&kept.arrival.place);
            recipients.is_some_and(|recipients| recipients.contains(number))
                && !bucket.ended.has(kept.seq, INBOX_NO, number)
        },
    };
    let found = bucket.index.look(view, &look)?;
    let mut seen = SeenByEvent::new();
    for (source, recipients) in found.by_source() {
        let place = found.source(source).0.arrival.place;
        *seen.entry(place).or_default() |= recipients;
    }
    Ok(seen)
}

impl LaneRouter<'_> {
    /// By channel, the recipients of a scheduled event who have seen it in their inbox, where the channel has an `after`.
    pub(super) fn seen_before(
        &self,
        view: &dyn ReadView,
        of_type: &Type,
        t: Instant,
        frozen: &FrozenRecipients,
    ) -> Result<BTreeMap<ChannelNo, RoaringBitmap>, Unreadable> {
        let Self { bucket, row, compiled, .. } = *self;
        let mut concerned: BTreeMap<ChannelNo, RoaringBitmap> = BTreeMap::new();
        for subset in &frozen.subsets {
            for channel in
                subset.channels.iter().filter(|channel| of_type.after_ms(**channel).is_some())
            {
                *concerned.entry(*channel).or_default() |= &subset.recipients.0;
            }
        }
        let mut seen = BTreeMap::new();
        for (channel, recipients) in concerned {
            let entries = InboxedEntries {
                place: row.place,
                tenant: row.tenant,
                object: About::object_hash(&row.event.object.id),
                t: t.plus_ms(-row.after_ms(channel)),
            };
            let by_entries = BTreeMap::from([(entries, recipients)]);
            let by_place = seen_there(view, bucket, &compiled.names, &by_entries)?;
            seen.extend(by_place.into_values().map(|recipients| (channel, recipients)));
        }
        Ok(seen)
    }
}

impl Planner<'_> {
    /// The recipients of entries on a channel that have seen the same event in their inbox, where its type comes
    /// later on the channel.
    pub(crate) fn seen_in_inboxes(
        &self,
        draft: &Draft<'_>,
        bucket: &Bucket,
        channel: ChannelNo,
        found: &Found,
    ) -> Result<SeenByEvent, Unreadable> {
        let engine = self.engine;
        let version = engine.intake.compiled.current();
        let comes_later = |source: u32| {
            let of_type =
                version.and_then(|rules| rules.of_type(found.source(source).0.arrival.type_no));
            of_type.is_some_and(|of_type| of_type.after_ms(channel).is_some())
        };
        let sources = (0..).take(found.sources.len());
        let mut by_source: BTreeMap<u32, RoaringBitmap> = sources
            .filter(|source| comes_later(*source))
            .map(|source| (source, RoaringBitmap::new()))
            .collect();
        let asks = !by_source.is_empty();
        for FoundEntry { number, source } in found.entries.iter().filter(|_| asks) {
            if let Some(recipients) = by_source.get_mut(source)
                && bucket.marks.contains_key(number)
            {
                recipients.insert(*number);
            }
        }
        let mut by_entries: BTreeMap<InboxedEntries, RoaringBitmap> = BTreeMap::new();
        for (source, recipients) in
            by_source.into_iter().filter(|(_, recipients)| !recipients.is_empty())
        {
            let arrival = &found.source(source).0.arrival;
            let row = accepted::read(draft, arrival.at.day(), arrival.event)?;
            let entries = InboxedEntries {
                place: arrival.place,
                tenant: arrival.tenant,
                object: arrival.about.object,
                t: arrival.t.plus_ms(-row.after_ms(channel)),
            };
            *by_entries.entry(entries).or_default() |= recipients;
        }
        seen_there(draft.view, bucket, &engine.intake.compiled.names, &by_entries)
    }

    /// Returns true if a recipient has seen the event of an arrival.
    pub(crate) fn has_seen(
        &self,
        bucket: &Bucket,
        number: RecipientNo,
        kept: &StoredArrival,
        header: &Header,
    ) -> bool {
        let engine = self.engine;
        let Arrival { t, place, type_no, tenant, .. } = kept.arrival;
        let Some(marks) = bucket.marks.get(&number.0) else {
            return false;
        };
        let looked = ComparedEntry {
            t,
            place,
            tenant,
            object: &header.object,
            has_inbox: &|version| engine.intake.compiled.has_inbox(version, type_no),
        };
        marks.cover(looked, MarkKind::Seen)
    }
}
