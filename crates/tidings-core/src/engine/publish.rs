//! Publishing: from an event to the sets of its recipients.

use std::collections::{BTreeMap, BTreeSet};

use roaring::RoaringBitmap;
use rustc_hash::FxHashMap;

use super::Engine;
use super::accepted::EventRow;
use super::draft::Draft;
use super::intake::{Located, from_json, id_key, named_key, to_json};
use super::reply::{Answer, Published, PublishedAs, Refused, Reply, Warning};
use super::take_back::{parts, set_bytes};
use crate::audience::partition;
use crate::batch::Pivot;
use crate::bucket::Bucket;
use crate::event::{Audience, Event, Object};
use crate::id::Id;
use crate::journal::at_rest::{Shelf, Unreadable, decode, encode};
use crate::journal::record::{About, Arrival, INBOX_NO, LaneNo, Record, TypeNo, Variant};
use crate::law::{Law, Type};
use crate::pause::Paused;
use crate::table::{Key, Owner, Partition, Table};
use crate::time::{Day, Instant};
use crate::topic::heard_by;

/// A source of an audience: a reason, before the recipients are known.
enum Source {
    Everyone,
    Named,
    Near,
    Topic(Id),
}

/// The sets of one bucket by (lanes, reasons).
pub(crate) type Routed = BTreeMap<(Vec<LaneNo>, Vec<u16>), RoaringBitmap>;

/// One of these sets.
type Destination = ((Vec<LaneNo>, Vec<u16>), RoaringBitmap);

impl Engine {
    /// Accepts an event, once.
    pub(crate) fn publish(&mut self, draft: &mut Draft<'_>, now: Instant, event: &Event) -> Answer {
        if let Some((day, located)) = self.locate(draft, &event.id)? {
            return self.publish_again(draft, event, day, located);
        }
        let type_no = self.law.names.type_no(event.kind.as_str());
        let version = self.version();
        let Some((type_no, version)) = type_no.zip(version) else {
            return Ok(Err(self.unknown_type(&event.kind)));
        };
        let Some(kind) = version.kind(type_no) else {
            return Ok(Err(self.unknown_type(&event.kind)));
        };
        if let Err(exceeded) = version.rules.limits.check_event(event) {
            return Ok(Err(exceeded.into()));
        }
        let place = self.intake.next_place;
        self.intake.next_place += 1;
        self.intake.tally.events += 1;
        // Only an `object` command says whether an object may be told.
        let described = |object: &Object| Object {
            notifiable: None,
            ..object.clone()
        };
        let scheduled = event.deliver_at.filter(|t| *t > now);
        let named_on = scheduled.unwrap_or(now).day();
        let objects = &mut self.intake.objects;
        for role in event.actor.iter().chain(&event.target) {
            objects.upsert_role(draft, &described(role), named_on)?;
        }
        objects.upsert(draft, &described(&event.object), named_on)?;

        let mut warnings = Vec::new();
        let reasons = Reasons::of(&event.to);
        let named = self.named(&event.to, &mut warnings);
        let left_out = event.actor.as_ref().filter(|_| !kind.rules.include_actor);
        let left_out = left_out.and_then(|actor| self.number_of(&actor.id));
        let mut routed: Vec<Routed> = Vec::with_capacity(self.buckets.len());
        let (mut concerned, mut actor_is_left_out) = (0, false);
        for (at, (bucket, named)) in self.buckets.iter().zip(named).enumerate() {
            let mut classes = reasons.classes(bucket, &event.to, named);
            if classes.is_empty() {
                routed.push(Routed::new());
                continue;
            }
            if let Some((_, actor)) = left_out.filter(|(of, _)| *of == at) {
                for (_, who) in &mut classes {
                    actor_is_left_out |= who.remove(actor);
                }
            }
            concerned += classes.iter().map(|(_, who)| who.len()).sum::<u64>();
            let only = event.channels.as_deref();
            routed.push(settle_lanes(
                bucket,
                &self.law,
                route(bucket, (kind, &self.intake.paused), only, classes),
            ));
        }
        // Of the warnings these are counted: who is not known, and an audience that is empty, once.
        self.intake.tally.warnings += warnings.len() as u64 + u64::from(concerned == 0);
        if concerned == 0 {
            warnings.extend(why_nobody(&event.to, actor_is_left_out));
        }
        warnings.extend(why_never(event, now));

        let sizes = routed
            .iter()
            .flatten()
            .map(|((lanes, _), who)| (lanes.len() as u64, who.len()));
        let (notifications, entries) = sizes.fold((0, 0), |sum, (lanes, who)| {
            (sum.0 + who, sum.1 + lanes * who)
        });
        let row = EventRow {
            place,
            arrived: now,
            made: Some((notifications, entries)),
            event: event.clone(),
        };
        self.register(draft, now, &row, scheduled);
        match scheduled {
            Some(t) => self.freeze(draft, t, &row, &reasons.words, routed),
            None => self.arrive(draft, now, (now, type_no), &row, &reasons.words, routed),
        }
        let status = PublishedAs::Accepted;
        let id = event.id.clone();
        Ok(Ok(Reply::Published(Published {
            id,
            status,
            notifications,
            entries,
            warnings,
        })))
    }

    /// Answers an event whose id is known: nothing happens.
    fn publish_again(
        &mut self,
        draft: &Draft<'_>,
        event: &Event,
        day: Day,
        located: Located,
    ) -> Answer {
        self.intake.tally.republished += 1;
        let waits = located.scheduled;
        let stored = self.accepted(draft, &BTreeSet::from([(Some(day), located)]), waits)?;
        // What was stored has been through JSON, which not every number survives as it was.
        let given: Event = from_json("an event", &to_json(event))?;
        let differs = stored.is_some_and(|stored| stored.event != given);
        Ok(Ok(Reply::Published(Published {
            id: event.id.clone(),
            status: PublishedAs::Duplicate,
            notifications: 0,
            entries: 0,
            warnings: differs.then_some(Warning::Differs).into_iter().collect(),
        })))
    }

    /// Whether an event with this id was accepted on a kept day.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub fn has_event(&self, shelf: &dyn Shelf, event: &Id) -> Result<bool, Unreadable> {
        Ok(self.locate(&Draft::new(shelf), event)?.is_some())
    }

    pub(crate) fn unknown_type(&self, kind: &Id) -> Refused {
        let types = self.rules().map(|rules| rules.types.keys().cloned());
        Refused::UnknownType {
            kind: kind.clone(),
            configured: types.into_iter().flatten().collect(),
        }
    }

    /// The location of an earlier event, and the day of its arrival, as long as that day is kept.
    pub(crate) fn locate(
        &self,
        draft: &Draft<'_>,
        event: &Id,
    ) -> Result<Option<(Day, Located)>, Unreadable> {
        let key = id_key(event);
        for day in self.intake.known_ids.days_of(event) {
            if let Some(bytes) = draft.get(Partition::Day(day), &key)? {
                return Ok(Some((day, decode("an event's place", &bytes)?)));
            }
        }
        Ok(None)
    }

    /// Registers a day on which objects change, so that it is deleted like others.
    pub(crate) fn keep_day(&mut self, draft: &mut Draft<'_>, day: Day) {
        if self.intake.id_days.insert(day) {
            let key = Key::of(Owner::Intake, Table::ObjectDays).done();
            draft.put(Partition::Day(day), key, Vec::new());
        }
    }

    /// The days that may hold rows of the intake.
    pub(crate) fn held_days(&self) -> impl DoubleEndedIterator<Item = Day> {
        self.intake.id_days.iter().copied()
    }

    fn register(
        &mut self,
        draft: &mut Draft<'_>,
        now: Instant,
        row: &EventRow,
        scheduled: Option<Instant>,
    ) {
        let event = &row.event;
        let located = encode(&Located {
            place: row.place,
            scheduled,
            ordinal: scheduled
                .is_none()
                .then(|| self.intake.next_ordinal(now.day())),
        });
        let today = Partition::Day(now.day());
        self.intake.id_days.insert(now.day());
        self.intake.known_ids.note(draft, now.day(), &event.id);
        draft.put(today, id_key(&event.id), located.clone());
        if let Some(key) = &event.cancellation_key {
            let today_key = named_key(Table::Keys, key, Some(row.place));
            draft.put(today, today_key, located.clone());
            if scheduled.is_some() {
                let key = named_key(Table::ScheduledKeys, key, Some(row.place));
                draft.put(Partition::Base, key, located.clone());
            }
        }
        if scheduled.is_some() {
            let key = named_key(Table::ScheduledIds, &event.id, Some(row.place));
            draft.put(Partition::Base, key, located);
        }
    }

    fn named(&self, to: &Audience, warnings: &mut Vec<Warning>) -> Vec<RoaringBitmap> {
        let mut named = vec![RoaringBitmap::new(); self.buckets.len()];
        let mut unknown = BTreeSet::new();
        for recipient in &to.recipients {
            match self.number_of(recipient) {
                Some((bucket, number)) => {
                    named[bucket].insert(number);
                }
                None => {
                    unknown.insert(recipient);
                }
            }
        }
        warnings.extend(unknown.into_iter().cloned().map(Warning::UnknownRecipient));
        named
    }

    /// The index of a recipient's bucket, and their number there.
    fn number_of(&self, recipient: &Id) -> Option<(usize, u32)> {
        let at = self.bucket_at(recipient.as_str());
        let number = self.buckets[at].roster.number(recipient.as_str())?;
        Some((at, number))
    }

    /// Writes the arrival into each bucket with recipients.
    pub(crate) fn arrive(
        &mut self,
        draft: &mut Draft<'_>,
        now: Instant,
        (t, kind): (Instant, TypeNo),
        row: &EventRow,
        words: &[String],
        routed: Vec<Routed>,
    ) {
        let day = now.day();
        let rules = self.law.current().map_or(0, |version| version.number);
        let kind_rules = self.law.current().and_then(|version| version.kind(kind));
        let pivot = kind_rules.and_then(|kind| kind.rules.group);
        let about = About::of(&row.event, pivot.unwrap_or(Pivot::Object));
        let ordinal = self.intake.keep_event(draft, day, row);
        for (at, routed) in routed.into_iter().enumerate() {
            if routed.is_empty() {
                continue;
            }
            let no = self.buckets[at].no;
            for ((lanes, _), who) in &routed {
                self.ledger.at((no, day, INBOX_NO)).notifications += who.len();
                for lane in lanes {
                    let channel = self.law.names.lane(*lane).channel;
                    self.ledger.at((no, day, channel)).enter(who.len());
                }
            }
            let bytes = |((lanes, reasons), who): &Destination| {
                8 + 3 * (lanes.len() + reasons.len()) + set_bytes(who)
            };
            for routed in parts(routed.into_iter().collect(), bytes) {
                let (reasons, variants) = narrowed(words, routed);
                let arrival = Arrival {
                    at: now,
                    t,
                    place: row.place,
                    ordinal,
                    kind,
                    rules,
                    moved: false,
                    about,
                    reasons,
                    variants,
                };
                self.write(draft, at, now, Record::Arrival(arrival));
            }
        }
    }
}

/// The reason why an audience is empty.
fn why_nobody(to: &Audience, actor_is_left_out: bool) -> Vec<Warning> {
    if actor_is_left_out {
        return vec![Warning::OnlyTheActor];
    }
    let topics = (!to.topics.is_empty()).then(|| Warning::NoFollowers(to.topics.clone()));
    let near = (!to.near.is_empty()).then(|| Warning::NobodyNear(to.near.clone()));
    let causes: Vec<Warning> = topics.into_iter().chain(near).collect();
    match causes.is_empty() {
        true => vec![Warning::NobodyConcerned],
        false => causes,
    }
}

/// The reason why nothing of an event can be sent, whatever its audience.
fn why_never(event: &Event, now: Instant) -> Option<Warning> {
    let expires = event.expires_at?;
    let later = event.deliver_at.filter(|t| *t > now);
    match later {
        _ if expires <= now => Some(Warning::AlreadyExpired(expires)),
        Some(t) if expires <= t => Some(Warning::ExpiresBeforeDelivery(expires)),
        _ => None,
    }
}

/// The words of an event's reasons, sorted by bytes, each with its source.
struct Reasons {
    words: Vec<String>,
    sources: Vec<Source>,
}

impl Reasons {
    fn of(to: &Audience) -> Self {
        let mut all: BTreeMap<String, Source> = BTreeMap::new();
        if to.everyone {
            all.insert("everyone".to_owned(), Source::Everyone);
        }
        if !to.recipients.is_empty() {
            all.insert("named".to_owned(), Source::Named);
        }
        if !to.near.is_empty() {
            all.insert("near".to_owned(), Source::Near);
        }
        for topic in to.topics.iter().flat_map(|topic| heard_by(topic.as_str())) {
            if let Ok(id) = Id::new(topic) {
                all.insert(format!("topic:{topic}"), Source::Topic(id));
            }
        }
        let (words, sources) = all.into_iter().unzip();
        Self { words, sources }
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
            let who = match source {
                Source::Everyone => bucket.roster.everyone.clone(),
                Source::Named => named.take().unwrap_or_default(),
                Source::Near => {
                    let circles = to.near.iter();
                    let mut who = RoaringBitmap::new();
                    circles.for_each(|circle| who |= bucket.roster.places.within(circle));
                    who
                }
                Source::Topic(topic) => match bucket.followers.get(topic.as_str()) {
                    Some(who) => who.clone(),
                    None => continue,
                },
            };
            if !who.is_empty() {
                sources.push((at, who));
            }
        }
        match sources.len() {
            0 => Vec::new(),
            1 => sources
                .into_iter()
                .map(|(at, who)| (vec![at], who))
                .collect(),
            _ => partition(sources),
        }
    }
}

/// Splits the audience by the lanes that their preferences choose, without those who opted out.
fn route(
    bucket: &Bucket,
    (kind, paused): (&Type, &Paused),
    only: Option<&[String]>,
    classes: Vec<(Vec<u32>, RoaringBitmap)>,
) -> Routed {
    let mut routed = Routed::new();
    for (reasons, who) in classes {
        let reasons: Vec<u16> = reasons
            .into_iter()
            .map(|at| u16::try_from(at).expect("the limits leave an event fewer reasons than 2^16"))
            .collect();
        let mut parts = vec![(Vec::new(), who)];
        for channel in kind.channels(only) {
            let mut split = Vec::with_capacity(parts.len());
            for (lanes, who) in parts {
                let chosen = bucket.preferences.lanes(channel, (kind, paused), who);
                for (lane, part) in chosen {
                    let mut lanes: Vec<LaneNo> = lanes.clone();
                    lanes.extend(lane);
                    split.push((lanes, part));
                }
            }
            parts = split;
        }
        for (mut lanes, part) in parts {
            if !lanes.is_empty() && !part.is_empty() {
                lanes.sort_unstable();
                *routed.entry((lanes, reasons.clone())).or_default() |= part;
            }
        }
    }
    routed
}

/// Redirects recipients whose window was opened under another kind of the lane.
pub(crate) fn settle_lanes(bucket: &Bucket, law: &Law, routed: Routed) -> Routed {
    if law
        .names
        .lanes()
        .all(|(no, _)| law.names.others(no).next().is_none())
    {
        return routed;
    }
    let mut settled = Routed::new();
    for ((lanes, reasons), who) in routed {
        let mut parts = vec![(Vec::new(), who)];
        for lane in lanes {
            let mut split = Vec::with_capacity(parts.len());
            for (lanes, who) in parts {
                for (no, part) in bucket.lanes_of(lane, who, law) {
                    let mut lanes: Vec<LaneNo> = lanes.clone();
                    lanes.push(no);
                    split.push((lanes, part));
                }
            }
            parts = split;
        }
        for (mut lanes, part) in parts {
            lanes.sort_unstable();
            *settled.entry((lanes, reasons.clone())).or_default() |= part;
        }
    }
    settled
}

/// The variants of an arrival with only the words that a bucket needs.
fn narrowed(words: &[String], routed: Vec<Destination>) -> (Vec<String>, Vec<Variant>) {
    let mut used: Vec<u16> = routed
        .iter()
        .flat_map(|((_, reasons), _)| reasons.clone())
        .collect();
    used.sort_unstable();
    used.dedup();
    let number: FxHashMap<u16, u16> = used.iter().copied().zip(0..).collect();
    let variants = routed.into_iter().map(|((lanes, reasons), who)| Variant {
        lanes,
        reasons: reasons.iter().map(|at| number[at]).collect(),
        who: who.into(),
    });
    (
        used.iter()
            .map(|at| words[usize::from(*at)].clone())
            .collect(),
        variants.collect(),
    )
}
