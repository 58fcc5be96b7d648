//! Moving and ending pending entries: preferences, new rules, pauses.
//!
//! Removing entries never moves a deadline: the lane stays open until it is due.

use std::collections::BTreeMap;

use roaring::RoaringBitmap;

use super::mute::silenced;
use super::state::Shard;
use crate::bucket::{Bucket, WaitingFilter};
use crate::engine::figures::counting::CountKey;
use crate::engine::figures::measure::Slot;
use crate::engine::intake::accepted;
use crate::engine::rows::draft::Draft;
use crate::engine::rows::event_row::EventRow;
use crate::engine::rows::named::{EventLocation, name_again};
use crate::engine::send_checks::look::{EndedRecipients, SendCheckFacts};
use crate::index::Found;
use crate::journal::record::{Arrival, Entries, EventAt, Origin, Record, Variant};
use crate::journal::record_size::{pieces, set_bytes};
use crate::journal::stored::{StoredArrival, Unreadable};
use crate::journal::table::Owner;
use crate::model::channel::ChannelNo;
use crate::model::id::BucketNo;
use crate::model::number::{LaneNo, TypeNo};
use crate::model::reason::Reason;
use crate::model::tenant::TenantNo;
use crate::model::time::Instant;
use crate::rules::lane_kind::LaneKind;
use crate::rules::names::LaneName;
use crate::sets::shared::Tree;

/// A filter on pending entries.
#[derive(Clone, Copy, Default)]
pub(crate) struct EntryFilter<'a> {
    /// Only entries on this channel.
    pub(crate) channel: Option<ChannelNo>,
    /// Only entries of these recipients.
    pub(crate) recipients: Option<&'a RoaringBitmap>,
    /// Only entries of this type, including those that are due and in no message yet.
    pub(crate) type_no: Option<TypeNo>,
    /// Only entries of paused types, which wait apart.
    pub(crate) paused_only: bool,
    /// Only entries of this tenant.
    pub(crate) tenant: Option<TenantNo>,
    /// True if all of these end: their tenant is gone.
    pub(crate) are_void: bool,
}

/// Entries of one arrival that move to another lane.
struct Moved<'a> {
    kept: &'a StoredArrival,
    lane: LaneNo,
    reasons: Vec<String>,
    recipients: RoaringBitmap,
}

/// Sorts pending entries of a bucket into those that end, those that leave (they end without a reason), and the lanes
/// that they move to.
struct EntrySorter<'a, 'f> {
    shard: &'a Shard,
    draft: &'a Draft<'a>,
    bucket: &'a Bucket,
    filter: EntryFilter<'a>,
    /// Those that end, by reason; `None` = they move.
    ends: BTreeMap<Option<Reason>, Vec<Entries>>,
    moved: Vec<Moved<'f>>,
}

impl Shard {
    /// Ends entries at once, each counted on its day. `None` = they move to another lane.
    pub(crate) fn cut(
        &mut self,
        draft: &mut Draft<'_>,
        bucket: BucketNo,
        why: Option<Reason>,
        items: Vec<Entries>,
    ) -> Result<(), Unreadable> {
        if items.is_empty() {
            return Ok(());
        }
        let index = &self.buckets[bucket].index;
        for Entries { seq, channel, recipients } in &items {
            if let Some(kept) = index.arrival(draft.view, *seq)? {
                let row = self.ledger.at(bucket, kept.arrival.at.day(), *channel);
                let of = CountKey::entries_of(&kept.arrival, *channel);
                match why {
                    Some(reason) => {
                        row.end(reason.outcome(), Some(reason), recipients.len());
                        self.figures.end(of, reason.outcome(), Some(reason), recipients.len());
                    }
                    None => {
                        row.go_on(recipients.len());
                        self.figures.take(of, Slot::ENTRIES, recipients.len());
                    }
                }
            }
        }
        for items in pieces(items, |item| set_bytes(&item.recipients)) {
            let record = Record::Cut { at: self.now, why, items };
            self.write(draft, bucket, record);
        }
        Ok(())
    }

    /// Moves pending entries out of lanes that no longer apply into those that do.
    pub(crate) fn reroute(
        &mut self,
        draft: &mut Draft<'_>,
        bucket: BucketNo,
        filter: EntryFilter<'_>,
    ) -> Result<(), Unreadable> {
        let Some(version) = self.version() else {
            return Ok(());
        };
        let now = self.now;
        let found = self.waiting_entries(draft, bucket, filter)?;
        let (ends, moved) = (BTreeMap::new(), Vec::new());
        let of_bucket = &self.buckets[bucket];
        let mut rerouting =
            EntrySorter { shard: self, draft, bucket: of_bucket, filter, ends, moved };
        for (lane, _, found) in &found {
            rerouting.sort(*lane, found)?;
        }
        let EntrySorter { mut ends, mut moved, .. } = rerouting;
        // They join as if they had entered in this order: a window asks for its first and its newest entry.
        moved.sort_by_key(|moved: &Moved<'_>| {
            (moved.kept.arrival.t, moved.kept.arrival.place, moved.kept.seq, moved.lane)
        });
        let mut arrivals = Vec::with_capacity(moved.len());
        for moved in moved {
            let kept = moved.kept;
            let Arrival { at: arrived, event, .. } = kept.arrival;
            self.copy_event(draft, event, |draft| accepted::read(draft, arrived.day(), event))?;
            let channel = self.compiled.names.lane(moved.lane).channel;
            self.ledger.at(bucket, now.day(), channel).enter(moved.recipients.len());
            let of = CountKey { at: now, ..CountKey::entries_of(&kept.arrival, channel) };
            self.figures.add(of, Slot::ENTRIES, moved.recipients.len());
            arrivals.push(arrive_again(moved, now, version.number));
        }
        // Entries that move leave last, right before they arrive again.
        let leaves = ends.remove(&None).unwrap_or_default();
        for (why, items) in ends {
            self.cut(draft, bucket, why, items)?;
        }
        self.cut(draft, bucket, None, leaves)?;
        // Is asked once, before any of them joins: what one change moves joins as a set, and one piece of
        // it must not make a window overdue for the next.
        let overdue = self.buckets[bucket].overdue_of(&arrivals, self.clock, &self.compiled);
        for arrivals in pieces(arrivals, arrival_bytes) {
            let record = Record::Move {
                at: now,
                overdue: overdue
                    .iter()
                    .map(|(lane, recipients)| (lane.clone(), recipients.clone()))
                    .collect(),
                arrivals,
            };
            self.write(draft, bucket, record);
        }
        Ok(())
    }

    /// Records a version of the rules in each bucket, and moves pending entries to their new lanes.
    pub(crate) fn put_in_force(
        &mut self,
        draft: &mut Draft<'_>,
        version: u32,
    ) -> Result<(), Unreadable> {
        let at = self.now;
        let current = self.version();
        let dropped = current.is_some_and(|version| self.paused.keep_types(&version.rules));
        // Arrivals of a type without an admission are not noted, so what is known of it has gaps: it is built anew.
        self.admitted.clear();
        for &no in &*self.buckets.numbers() {
            // Precedes the moves, which ask for lanes under the new version.
            self.write(draft, no, Record::Rules { at, version });
            self.reroute(draft, no, EntryFilter::default())?;
            self.take_out_unwanted(draft, no, None, None)?;
            if dropped {
                self.write_paused(draft, no);
            }
        }
        Ok(())
    }

    /// Copies the row of an event of another day, entries of which enter today, unless today has it.
    pub(crate) fn copy_event(
        &mut self,
        draft: &mut Draft<'_>,
        event: EventAt,
        row: impl FnOnce(&Draft<'_>) -> Result<EventRow, Unreadable>,
    ) -> Result<(), Unreadable> {
        let today = self.now.day();
        if event.day == today {
            return Ok(());
        }
        if !self.copies.contains_key(&today) {
            // Only today gets copies: of earlier days the list of days is enough.
            self.copies.values_mut().for_each(|copies| *copies = Tree::new());
        }
        if self.copies.entry(today).or_default().insert(event, ()).is_some() {
            return Ok(());
        }
        let row = row(draft)?;
        accepted::copy(draft, today, event, &row);
        let EventRow { place, tenant, .. } = row;
        let located = EventLocation { place, scheduled: None, at: Some(event), tenant };
        name_again(draft, Owner::Shared, today, &row.event, located);
        self.kept_objects.push((row.event, today));
        Ok(())
    }

    /// The pending entries of a bucket, lane by lane.
    pub(crate) fn waiting_entries(
        &self,
        draft: &Draft<'_>,
        bucket: BucketNo,
        filter: EntryFilter<'_>,
    ) -> Result<Vec<(LaneNo, ChannelNo, Found)>, Unreadable> {
        let bucket = &self.buckets[bucket];
        let mut all: Vec<(LaneNo, ChannelNo, Found)> = Vec::new();
        for (no, name) in self.compiled.names.lanes() {
            let paused = name.kind == LaneKind::Paused;
            let other = filter.channel.is_some_and(|channel| channel != name.channel);
            if other || (filter.paused_only && !paused) {
                continue;
            }
            // A lane of paused types never comes due, so it still has entries of recipients who were erased.
            let open = paused.then(|| bucket.lanes.open_in(no));
            // A pause of the inbox holds the entries of those who were erased at the same instant, too.
            let pauses = filter.channel.is_some() && filter.recipients.is_none();
            let ever = (pauses && name.is_inbox()).then(|| bucket.roster.ever());
            let recipients = filter.recipients.or(open.as_ref()).or(ever.as_ref());
            let EntryFilter { type_no, tenant, .. } = filter;
            let wanted = WaitingFilter { recipients, type_no, tenant, lane: None };
            let found = bucket.waiting(draft.view, &self.compiled.names).wanted(no, wanted)?;
            if !found.entries.is_empty() {
                all.push((no, name.channel, found));
            }
        }
        if let Some(type_no) = filter.type_no.filter(|_| !filter.paused_only) {
            for (seq, closing) in &bucket.closings {
                let (names, lane) = (&self.compiled.names, closing.lane.lane);
                let found = bucket.waiting(draft.view, names).unmade_of(*seq, type_no)?;
                if !found.entries.is_empty() {
                    all.push((lane, names.lane(lane).channel, found));
                }
            }
        }
        Ok(all)
    }
}

/// An upper bound on the bytes of an arrival's sets and words in a row.
fn arrival_bytes(arrival: &Arrival) -> usize {
    let sets = arrival.variants.iter().map(|variant| {
        set_bytes(&variant.recipients) + 3 * (variant.lanes.len() + variant.reasons.len())
    });
    let words = arrival.reasons.iter().map(String::len);
    sets.sum::<usize>() + words.sum::<usize>()
}

fn arrive_again(moved: Moved<'_>, now: Instant, rules: u32) -> Arrival {
    let Arrival { t, place, event, type_no, about, ref keys, tenant, .. } = moved.kept.arrival;
    let words = moved.reasons;
    let reasons = (0..).take(words.len()).collect();
    let variants = vec![Variant {
        lanes: vec![moved.lane],
        reasons,
        elsewhere: Vec::new(),
        recipients: moved.recipients.into(),
    }];
    Arrival {
        at: now,
        t,
        place,
        event,
        type_no,
        rules,
        keys: keys.clone(),
        tenant,
        origin: Origin::Moved,
        about,
        reasons: words,
        variants,
    }
}

impl<'f> EntrySorter<'_, 'f> {
    /// Sorts the pending entries of a lane.
    fn sort(&mut self, lane: LaneNo, found: &'f Found) -> Result<(), Unreadable> {
        let Self { shard, draft, bucket, filter, .. } = *self;
        let (compiled, paused) = (&*shard.compiled, &shard.paused);
        let Some(version) = compiled.current() else {
            return Ok(());
        };
        let LaneName { channel, ref kind, .. } = *compiled.names.lane(lane);
        let from_paused = *kind == LaneKind::Paused;
        for (source, mut recipients) in found.by_source() {
            let (kept, variant) = found.source(source);
            if filter.tenant.is_some_and(|tenant| kept.arrival.tenant != Some(tenant)) {
                continue;
            }
            let mut end = |why: Option<Reason>, recipients: RoaringBitmap| {
                self.ends.entry(why).or_default().push(Entries {
                    seq: kept.seq,
                    channel,
                    recipients: recipients.into(),
                });
            };
            let of_type = version.of_type(kept.arrival.type_no);
            let address =
                |lane| compiled.names.address(lane, &kept.arrival.keys, kept.arrival.tenant);
            let from = address(lane);
            // Other lanes leave this to the check of the message, which ends entries of erased recipients and unknown types.
            let mut gone = RoaringBitmap::new();
            if from_paused {
                gone = &recipients - &*bucket.roster.everyone;
                if of_type.is_some_and(|of_type| paused.sets_apart(&of_type.name, channel)) {
                    // As long as the type stays paused, entries of erased recipients go on waiting, and end
                    // when it is resumed.
                    recipients -= &gone;
                }
            }
            let (mut never, mut leaves) = (RoaringBitmap::new(), Vec::new());
            if let Some(of_type) = of_type {
                never = silenced(draft, bucket, of_type, kept, variant, channel, &recipients)?;
                let tenant = kept.arrival.tenant;
                let chosen =
                    bucket.preferences.lanes(channel, of_type, tenant, paused, recipients.clone());
                for (to, subset) in chosen {
                    match to {
                        None => never |= subset,
                        Some(to) if compiled.names.are_one_lane(&address(to), &from) => {}
                        Some(to) => leaves.push((to, subset)),
                    }
                }
            }
            let facts = SendCheckFacts {
                tenant_gone: EndedRecipients::all_if(filter.are_void),
                unknown_type: EndedRecipients::all_if(from_paused && of_type.is_none()),
                gone: EndedRecipients::Of(&gone),
                never: EndedRecipients::Of(&never),
                ..SendCheckFacts::default()
            };
            let left = facts
                .checks()
                .divide(recipients, |reason, recipients| end(Some(reason), recipients));
            for (to, mut subset) in leaves {
                subset &= &left;
                if subset.is_empty() {
                    continue;
                }
                end(None, subset.clone());
                for (lane, recipients) in bucket.lanes_of(&address(to), subset, compiled) {
                    let reasons = kept.arrival.reasons_of(variant, channel);
                    self.moved.push(Moved { kept, lane, reasons, recipients });
                }
            }
        }
        Ok(())
    }
}
