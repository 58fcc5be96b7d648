//! Publishing: from an event to the sets of its recipients.

use std::collections::{BTreeMap, BTreeSet};

use roaring::RoaringBitmap;
use rustc_hash::FxHashMap;

use super::mute::{RecipientRoute, RouteBranch};
use super::state::Shard;
use crate::bucket::{Bucket, EntryReasons, UnmutedReasons};
use crate::engine::acts::applied::PublishCounts;
use crate::engine::figures::counting::CountKey;
use crate::engine::figures::measure::Slot;
use crate::engine::intake::state::Intake;
use crate::engine::rows::draft::Draft;
use crate::engine::rows::event_row::EventRow;
use crate::engine::rows::not_reached::{
    NotReachedReason, NotReachedSet, NotReachedSets, put_not_reached,
};
use crate::journal::record::{About, Arrival, EventAt, Origin, Record, Variant};
use crate::journal::record_size::{pieces, set_bytes};
use crate::journal::stored::Unreadable;
use crate::model::channel::{CHANNELS, ChannelNo, INBOX_NO};
use crate::model::event::{Audience, Pivot};
use crate::model::id::{BucketNo, Id};
use crate::model::number::{LaneNo, RecipientAt, RecipientNo, TypeNo};
use crate::model::pause::Paused;
use crate::model::tenant::TenantNo;
use crate::model::time::Instant;
use crate::model::topic::followed_paths;
use crate::rules::compiled::{CompiledRules, Type};
use crate::sets::audience::partition;

/// A source of an audience: a reason, before the recipients are known.
enum AudienceSource {
    Everyone,
    Named,
    Near,
    Topic(Id),
}

/// The sets of one bucket by lanes and reasons.
pub(crate) type RoutedSets = BTreeMap<RecipientRoute, RoaringBitmap>;

/// An event with its recipients of one instant.
pub(crate) struct RoutedEvent<'a> {
    pub(crate) row: &'a EventRow,
    /// The instant at which it enters their lanes.
    pub(crate) t: Instant,
    /// The words of all reasons.
    pub(crate) words: &'a [String],
    pub(crate) routed: BTreeMap<BucketNo, RoutedSets>,
}

/// One of these sets.
type RoutedSet = (RecipientRoute, RoaringBitmap);

impl Shard {
    /// Applies an accepted event: it enters its lanes now, with this row, or its audience is kept until `t`.
    pub(crate) fn publish(
        &mut self,
        intake: &Intake,
        draft: &mut Draft<'_>,
        row: &EventRow,
        address: Option<EventAt>,
    ) -> Result<PublishCounts, Unreadable> {
        let event = &row.event;
        let type_no = self.compiled.names.type_no(event.event_type.as_str());
        let version = self.version();
        let of_type = type_no.zip(version.as_deref()).and_then(|(no, version)| version.of_type(no));
        let Some(of_type) = of_type else {
            return Ok(PublishCounts::default());
        };
        let reasons = ReasonWords::of(row);
        let audience = EventAudience { shard: &*self, row, of_type, reasons: &reasons };
        let ShardAudience { mut counts, mut routed, mut not_reached } = audience.divided();
        if routed.is_empty() {
            return Ok(counts);
        }
        // Precedes the counts: who is left out gets no entry, and is counted apart.
        let admitted = self.admit(intake, &mut *draft, row, of_type, &mut routed, &mut not_reached);
        counts.suppressed = admitted?;
        for (bucket, sets) in &not_reached {
            put_not_reached(draft, row.arrived.day(), *bucket, row.place, sets);
        }
        for (route, recipients) in routed.values().flatten() {
            counts.notifications += recipients.len();
            counts.entries += route.lanes.len() as u64 * recipients.len();
        }
        self.entries_created += counts.entries;
        let of =
            CountKey { at: row.arrived, type_no: of_type.no, tenant: row.tenant, channel: None };
        self.figures.add(of, Slot::NOTIFICATIONS, counts.notifications);
        let mut by_t: BTreeMap<Instant, BTreeMap<BucketNo, RoutedSets>> = BTreeMap::new();
        for (no, lanes) in routed {
            for (t, lanes) in self.router(no, row, &reasons.words).by_instant(lanes) {
                by_t.entry(t).or_default().insert(no, lanes);
            }
        }
        for (t, routed) in by_t {
            let event = RoutedEvent { row, t, words: &reasons.words, routed };
            // What comes after the arrival is entered by the intake, however late this shard learns of both.
            match address.filter(|_| t <= row.came_at()) {
                Some(address) => self.arrive(draft, event, address)?,
                None => self.freeze(draft, event, of_type.no),
            }
        }
        Ok(counts)
    }

    /// Writes the arrival of an event into each bucket with recipients. If the clock of the intake's node is ahead, it
    /// enters now.
    pub(crate) fn arrive(
        &mut self,
        draft: &mut Draft<'_>,
        event: RoutedEvent<'_>,
        address: EventAt,
    ) -> Result<(), Unreadable> {
        let RoutedEvent { row, t, words, routed } = event;
        let now = self.now;
        let t = t.min(self.clock);
        if !routed.is_empty() {
            self.copy_event(draft, address, |_| Ok(row.clone()))?;
        }
        let type_no = self.compiled.names.type_no(row.event.event_type.as_str());
        let current = self.compiled.current().cloned();
        let rules = current.as_ref().map_or(0, |version| version.number);
        let of_type = current.as_ref().zip(type_no).and_then(|(version, no)| version.of_type(no));
        let pivot = of_type.and_then(|of_type| of_type.rules.group);
        let about = About::of(&row.event, pivot.unwrap_or(Pivot::Object));
        // One count for each channel, however many buckets and lanes there are.
        let mut entered = [0; CHANNELS.len()];
        for (no, routed) in routed {
            for (route, recipients) in &routed {
                let day = now.day();
                // A channel that comes later belongs to a notification that has been counted.
                if !route.later {
                    self.ledger.at(no, day, INBOX_NO).notifications += recipients.len();
                }
                for lane in &route.lanes {
                    let channel = self.compiled.names.lane(*lane).channel;
                    self.ledger.at(no, day, channel).enter(recipients.len());
                    entered[usize::from(channel)] += recipients.len();
                }
            }
            let bytes = |(route, recipients): &RoutedSet| route.bytes() + set_bytes(recipients);
            let (later, first): (Vec<_>, Vec<_>) =
                routed.into_iter().partition(|(route, _)| route.later);
            // Each piece fits in a row of the store, whatever the size of the audience.
            for (origin, routed) in [(Origin::First, first), (Origin::Later, later)] {
                for routed in pieces(routed, bytes) {
                    let (reasons, variants) = narrowed(words, routed);
                    let arrival = Arrival {
                        at: now,
                        t,
                        place: row.place,
                        event: address,
                        type_no: type_no.unwrap_or(TypeNo::NONE),
                        rules,
                        keys: row.keys.clone(),
                        tenant: row.tenant,
                        origin,
                        about,
                        reasons,
                        variants,
                    };
                    self.write(draft, no, Record::Arrival(arrival));
                }
            }
        }
        for (channel, count) in (0..).map(ChannelNo).zip(entered) {
            let type_no = type_no.unwrap_or(TypeNo::NONE);
            let of = CountKey { at: now, type_no, tenant: row.tenant, channel: Some(channel) };
            self.figures.add(of, Slot::ENTRIES, count);
        }
        Ok(())
    }
}

/// The audience of an event in a shard.
struct ShardAudience {
    counts: PublishCounts,
    /// By lanes and reasons.
    routed: BTreeMap<BucketNo, RoutedSets>,
    /// The recipients who get no entry, by bucket and reason.
    not_reached: BTreeMap<BucketNo, NotReachedSets>,
}

fn union<'a>(sets: impl Iterator<Item = &'a RoaringBitmap>) -> RoaringBitmap {
    sets.fold(RoaringBitmap::new(), |all, set| all | set)
}

/// The audience of an event of a type in a shard.
struct EventAudience<'a> {
    shard: &'a Shard,
    row: &'a EventRow,
    of_type: &'a Type,
    reasons: &'a ReasonWords,
}

impl EventAudience<'_> {
    /// The recipients by lanes and reasons, as preferences are now.
    fn divided(&self) -> ShardAudience {
        let &Self { shard, row, of_type, reasons } = self;
        let event = &row.event;
        let (mut named, unknown) = self.named();
        let mut counts = PublishCounts { unknown, ..PublishCounts::default() };
        let left_out = event
            .actor
            .as_ref()
            .filter(|_| !of_type.rules.include_actor)
            .and_then(|actor| shard.find(&actor.id).ok());
        let mut excepted = self.excepted();
        let mut routed: BTreeMap<BucketNo, RoutedSets> = BTreeMap::new();
        let mut not_reached = BTreeMap::new();
        for bucket in shard.buckets.iter() {
            let named = named.remove(&bucket.no);
            if named.is_none() && !event.to.reaches_unnamed() {
                continue;
            }
            let mut classes = reasons.classes(bucket, &event.to, named.unwrap_or_default());
            if classes.is_empty() {
                continue;
            }
            if let Some(excepted) = excepted.remove(&bucket.no) {
                for (_, recipients) in &mut classes {
                    counts.has_exceptions |= !recipients.is_disjoint(&excepted);
                    *recipients -= &excepted;
                }
            }
            if let Some(RecipientAt { number: actor, .. }) =
                left_out.filter(|of| of.bucket == bucket.no)
            {
                for (_, recipients) in &mut classes {
                    counts.actor_is_left_out |= recipients.remove(actor.0);
                }
            }
            let concerned = classes.iter().map(|(_, recipients)| recipients.len()).sum::<u64>();
            counts.concerned += concerned;
            let router = shard.router(bucket.no, row, &reasons.words);
            let all = union(classes.iter().map(|(_, recipients)| recipients));
            let of_bucket = router.settled(router.route(of_type, classes));
            // Sets by reasons and those by lanes are disjoint.
            if of_bucket.values().map(RoaringBitmap::len).sum::<u64>() < concerned {
                let none = all - union(of_bucket.values());
                let why = NotReachedReason::Preference;
                let set = NotReachedSet { why, channels: Vec::new(), recipients: none.into() };
                not_reached.insert(bucket.no, vec![set]);
            }
            routed.insert(bucket.no, of_bucket);
        }
        ShardAudience { counts, routed, not_reached }
    }

    /// The recipients that the event names, by bucket, and those that do not exist.
    fn named(&self) -> (BTreeMap<BucketNo, RoaringBitmap>, BTreeSet<Id>) {
        let mut named: BTreeMap<BucketNo, RoaringBitmap> = BTreeMap::new();
        let mut unknown = BTreeSet::new();
        for recipient in &self.row.event.to.recipients {
            // Their own shard says whether they exist: answers of shards add up, and no warning may come twice.
            if self.shard.buckets.of(recipient.as_str()).is_none() {
                continue;
            }
            match self.shard.find(recipient) {
                Ok(RecipientAt { bucket, number }) => {
                    named.entry(bucket).or_default().insert(number.0);
                }
                Err(_) => {
                    unknown.insert(recipient.clone());
                }
            }
        }
        (named, unknown)
    }

    /// The recipients that the event leaves out, by bucket.
    fn excepted(&self) -> BTreeMap<BucketNo, RoaringBitmap> {
        let mut excepted: BTreeMap<BucketNo, RoaringBitmap> = BTreeMap::new();
        let found = self.row.event.to.except.iter().filter_map(|id| self.shard.find(id).ok());
        for RecipientAt { bucket, number } in found {
            excepted.entry(bucket).or_default().insert(number.0);
        }
        excepted
    }
}

/// The lanes of an event's recipients in a bucket, as preferences and rules are now.
#[derive(Clone, Copy)]
pub(crate) struct LaneRouter<'a> {
    pub(crate) bucket: &'a Bucket,
    pub(crate) row: &'a EventRow,
    /// The words of all reasons.
    pub(crate) words: &'a [String],
    pub(crate) paused: &'a Paused,
    pub(crate) compiled: &'a CompiledRules,
}

impl Shard {
    /// The lanes of an event's recipients in a bucket.
    pub(crate) fn router<'a>(
        &'a self,
        bucket: BucketNo,
        row: &'a EventRow,
        words: &'a [String],
    ) -> LaneRouter<'a> {
        let bucket = &self.buckets[bucket];
        LaneRouter { bucket, row, words, paused: &self.paused, compiled: &self.compiled }
    }
}

impl LaneRouter<'_> {
    /// Splits an event's sets by the instant at which it enters the lanes of their recipients.
    pub(crate) fn by_instant(&self, routed: RoutedSets) -> BTreeMap<Instant, RoutedSets> {
        let (row, names) = (self.row, &self.compiled.names);
        let mut by_t: BTreeMap<Instant, RoutedSets> = BTreeMap::new();
        if routed.is_empty() {
            return by_t;
        }
        let first = match row.event.deliver_local {
            Some(_) => None,
            None => row.enters_first().pop_first(),
        };
        if let Some(first) = first.filter(|_| row.after_ms.is_empty()) {
            return BTreeMap::from([(first, routed)]);
        }
        for (route, recipients) in routed {
            let subsets: Vec<(Instant, RoaringBitmap)> = match (row.event.deliver_local, first) {
                (Some(time), _) => {
                    let by_t = self
                        .bucket
                        .roster
                        .clocks(row.tenant)
                        .by_zone(&recipients)
                        .into_iter()
                        // A local time that has passed already is due on arrival.
                        .map(|(zone, subset)| (zone.when(time).max(row.came_at()), subset));
                    by_t.collect()
                }
                (None, first) => vec![(first.unwrap_or(row.came_at()), recipients)],
            };
            for (after_ms, route) in route.by_after(row, names) {
                for (t, subset) in &subsets {
                    let routed = by_t.entry(t.plus_ms(after_ms)).or_default();
                    *routed.entry(route.clone()).or_default() |= subset;
                }
            }
        }
        by_t
    }

    /// Splits the audience by the lanes that their preferences choose, without those who opted out.
    fn route(&self, of_type: &Type, classes: Vec<(Vec<u32>, RoaringBitmap)>) -> RoutedSets {
        let Self { bucket, row, words, paused, .. } = *self;
        let only = row.event.channels.as_deref();
        let mut routed = RoutedSets::new();
        for (reasons, recipients) in classes {
            let reasons: Vec<u16> = reasons
                .into_iter()
                .map(|at| {
                    u16::try_from(at).expect("the limits leave an event fewer reasons than 2^16")
                })
                .collect();
            let mut subsets = vec![(Vec::new(), recipients)];
            let why = EntryReasons { words, reasons: &reasons };
            for channel in of_type.channels(only) {
                let mut split = Vec::with_capacity(subsets.len());
                for (entries, recipients) in subsets {
                    let chosen =
                        bucket.preferences.lanes(channel, of_type, row.tenant, paused, recipients);
                    for (lane, subset) in chosen {
                        let Some(lane) = lane else {
                            split.push((entries.clone(), subset));
                            continue;
                        };
                        for (left, subset) in self.unmuted(of_type, channel, why, subset) {
                            let mut entries: Vec<RouteBranch> = entries.clone();
                            let reasons = match left {
                                UnmutedReasons::Nothing => {
                                    split.push((entries, subset));
                                    continue;
                                }
                                UnmutedReasons::All => None,
                                UnmutedReasons::Some(reasons) => Some(reasons),
                            };
                            entries.push(RouteBranch { channel, lane, reasons });
                            split.push((entries, subset));
                        }
                    }
                }
                subsets = split;
            }
            for (entries, subset) in subsets {
                if !entries.is_empty() && !subset.is_empty() {
                    *routed.entry(RecipientRoute::of(entries, &reasons)).or_default() |= subset;
                }
            }
        }
        routed
    }

    /// Splits a set by the reasons that mutes leave to an entry of a type.
    pub(crate) fn unmuted(
        &self,
        of_type: &Type,
        channel: ChannelNo,
        why: EntryReasons<'_>,
        recipients: RoaringBitmap,
    ) -> Vec<(UnmutedReasons, RoaringBitmap)> {
        if of_type.rules.required {
            vec![(UnmutedReasons::All, recipients)]
        } else {
            let event = (&self.row.event, self.row.tenant);
            self.bucket.preferences.mutes.split(channel, event, why, recipients)
        }
    }

    /// Redirects recipients whose window was opened under another kind of the lane.
    pub(crate) fn settled(&self, routed: RoutedSets) -> RoutedSets {
        let Self { bucket, row, compiled, .. } = *self;
        if compiled.names.lanes().all(|(no, _)| compiled.names.others(no).next().is_none()) {
            return routed;
        }
        let mut settled = RoutedSets::new();
        for (route, recipients) in routed {
            let mut subsets = vec![(Vec::new(), recipients)];
            for &lane in &route.lanes {
                let address = compiled.names.address(lane, &row.keys, row.tenant);
                let mut split = Vec::with_capacity(subsets.len());
                for (lanes, recipients) in subsets {
                    // A window keeps the kind under which it was opened, and entries join it until it closes.
                    for (no, subset) in bucket.lanes_of(&address, recipients, compiled) {
                        let mut lanes: Vec<LaneNo> = lanes.clone();
                        lanes.push(no);
                        split.push((lanes, subset));
                    }
                }
                subsets = split;
            }
            for (mut lanes, subset) in subsets {
                lanes.sort_unstable();
                let route = RecipientRoute { lanes, ..route.clone() };
                *settled.entry(route).or_default() |= subset;
            }
        }
        settled
    }
}

/// The words of an event's reasons, sorted by bytes, each with its source.
pub(crate) struct ReasonWords {
    pub(crate) words: Vec<String>,
    sources: Vec<AudienceSource>,
    /// The tenant of the event, whose members and subscriptions alone are meant.
    tenant: Option<TenantNo>,
}

impl ReasonWords {
    pub(crate) fn of(row: &EventRow) -> Self {
        let (to, tenant) = (&row.event.to, row.tenant);
        let mut all: BTreeMap<String, AudienceSource> = BTreeMap::new();
        if to.everyone {
            all.insert("everyone".to_owned(), AudienceSource::Everyone);
        }
        if !to.recipients.is_empty() {
            all.insert("named".to_owned(), AudienceSource::Named);
        }
        if !to.near.is_empty() {
            all.insert("near".to_owned(), AudienceSource::Near);
        }
        for topic in to.topics.iter().flat_map(|topic| followed_paths(topic.as_str())) {
            if let Ok(id) = Id::new(topic) {
                all.insert(format!("topic:{topic}"), AudienceSource::Topic(id));
            }
        }
        let (words, sources) = all.into_iter().unzip();
        Self { words, sources, tenant }
    }

    /// The indexes of the reasons for which a recipient is in the audience, or would be without its `except`.
    pub(crate) fn reaching(&self, bucket: &Bucket, row: &EventRow, number: u32) -> Vec<u16> {
        let to = &row.event.to;
        let id = bucket.roster.profile(RecipientNo(number)).map(|profile| &profile.id);
        let is_named = id.is_some_and(|id| to.recipients.contains(id));
        let named = is_named.then(|| RoaringBitmap::from_iter([number]));
        let mut classes = self.classes(bucket, to, named.unwrap_or_default()).into_iter();
        let reasons = classes.find(|(_, recipients)| recipients.contains(number));
        let reasons = reasons.map_or_else(Vec::new, |(reasons, _)| reasons);
        reasons.into_iter().filter_map(|at| u16::try_from(at).ok()).collect()
    }

    /// The audience in a bucket, as disjoint sets by reasons.
    fn classes(
        &self,
        bucket: &Bucket,
        to: &Audience,
        named: RoaringBitmap,
    ) -> Vec<(Vec<u32>, RoaringBitmap)> {
        let mut named = Some(named);
        let mut sources = Vec::new();
        for (at, source) in (0..).zip(&self.sources) {
            let recipients = match source {
                AudienceSource::Everyone => match self.tenant {
                    Some(tenant) => bucket.members.of(tenant),
                    None => RoaringBitmap::clone(&bucket.roster.everyone),
                },
                AudienceSource::Named => named.take().unwrap_or_default(),
                AudienceSource::Near => {
                    let circles = to.near.iter();
                    let mut recipients = RoaringBitmap::new();
                    circles.for_each(|circle| recipients |= bucket.roster.geo_index.within(circle));
                    if let Some(tenant) = self.tenant {
                        recipients &= bucket.members.of(tenant);
                    }
                    recipients
                }
                AudienceSource::Topic(topic) => {
                    match bucket.followers.get(self.tenant, topic.as_str()) {
                        Some(recipients) => recipients.clone(),
                        None => continue,
                    }
                }
            };
            if !recipients.is_empty() {
                sources.push((at, recipients));
            }
        }
        match sources.len() {
            0 => Vec::new(),
            1 => sources.into_iter().map(|(at, recipients)| (vec![at], recipients)).collect(),
            _ => partition(sources),
        }
    }
}

/// The variants of an arrival with only the words that a bucket needs.
fn narrowed(words: &[String], routed: Vec<RoutedSet>) -> (Vec<String>, Vec<Variant>) {
    let mut used: Vec<u16> = routed.iter().flat_map(|(route, _)| route.words()).collect();
    used.sort_unstable();
    used.dedup();
    let number: FxHashMap<u16, u16> = used.iter().copied().zip(0..).collect();
    let variants = routed.into_iter().map(|(route, recipients)| {
        let route = route.renumbered(&number);
        Variant {
            lanes: route.lanes,
            reasons: route.reasons,
            elsewhere: route.elsewhere,
            recipients: recipients.into(),
        }
    });
    (used.iter().map(|at| words[usize::from(*at)].clone()).collect(), variants.collect())
}
