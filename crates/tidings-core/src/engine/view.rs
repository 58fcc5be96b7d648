//! What a recipient or an operator looks at: inbox pages, open lanes, messages that were made.

use std::collections::BTreeMap;

use roaring::RoaringBitmap;

use super::intake::{EventRow, from_json, scheduled_key};
use super::made::MessageRow;
use super::plan::{Letter, Plan};
use super::present::Presenter;
use super::reply::Refused;
use super::schedule::Frozen;
use super::{Engine, follow};
use crate::batch::Pivot;
use crate::bucket::{Look, Looked};
use crate::command::MarkKind;
use crate::event::Object;
use crate::headers::Header;
use crate::id::Id;
use crate::journal::at_rest::{Kept, Shelf, Unreadable, decode, each};
use crate::journal::record::{ChannelNo, INBOX_NO, Variant};
use crate::recipient::{Mode, PreferenceScope, Recipient};
use crate::rules::CHANNELS;
use crate::table::{Key, Owner, Partition, REST, Table, u64_at};
use crate::time::Instant;

/// A page of an inbox, newest first.
#[derive(Clone, Debug, PartialEq)]
pub struct InboxPage {
    /// The groups of this page.
    pub groups: Vec<InboxGroup>,
    /// Groups with a member that was not seen: the badge.
    pub unseen: usize,
    /// Groups with a member that was not read.
    pub unread: usize,
    /// Counts up with everything that happens to the recipient's bucket: of two answers the one with
    /// the higher number is the newer.
    pub rev: u64,
    /// How many groups there are before this page's first and on it.
    pub shown: usize,
    /// How many groups there are.
    pub total: usize,
}

/// Inbox items of one type that share a pivot. What was read stands in a group apart.
#[derive(Clone, Debug, PartialEq)]
pub struct InboxGroup {
    /// Names the group as long as it holds the same.
    pub key: String,
    /// The type.
    pub kind: Id,
    /// How many items.
    pub count: usize,
    /// Who did it, each once, newest first.
    pub actors: Vec<Id>,
    /// The newest item's time.
    pub newest_at: Instant,
    /// Whether all of it was seen.
    pub seen: bool,
    /// Whether it was read.
    pub read: bool,
    /// Its items, newest first.
    pub items: Vec<InboxItem>,
}

impl InboxGroup {
    /// A group that is going to hold this item and others of its kind.
    fn begin(header: &Header, key: Option<&Id>, item: &InboxItem) -> Self {
        let key = key.map_or("", Id::as_str);
        let state = if item.read { "read" } else { "new" };
        Self {
            key: format!("{}:{key}:{state}", header.kind),
            kind: header.kind.clone(),
            count: 0,
            actors: Vec::new(),
            newest_at: item.t,
            seen: true,
            read: item.read,
            items: Vec::new(),
        }
    }
}

/// One entry of an inbox.
#[derive(Clone, Debug, PartialEq)]
pub struct InboxItem {
    /// The event.
    pub event: Id,
    /// Its type.
    pub kind: Id,
    /// The object as it is now.
    pub object: Object,
    /// When it happened, if the event said so.
    pub occurred_at: Option<Instant>,
    /// When it entered.
    pub t: Instant,
    /// Why this recipient is concerned.
    pub reasons: Vec<String>,
    /// Whether it was seen.
    pub seen: bool,
    /// Whether it was read.
    pub read: bool,
}

/// A lane in which something waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenLane {
    /// On which channel.
    pub channel: &'static str,
    /// Its name.
    pub lane: String,
    /// When it is due; `None` = never, unless something else happens.
    pub due: Option<Instant>,
    /// What waits, by (t, arrival).
    pub entries: Vec<WaitingEntry>,
}

/// An entry that waits in a lane, or an event that is scheduled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingEntry {
    /// The event.
    pub event: Id,
    /// Its type.
    pub kind: Id,
    /// Its object.
    pub object: Id,
    /// When it entered.
    pub t: Instant,
}

/// Where a message of a recipient is to be found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LetterAt {
    /// The closing's instant.
    pub at: Instant,
    /// On which channel.
    pub channel: &'static str,
    /// The lane's name.
    pub lane: String,
    /// How many entries it told.
    pub told: usize,
    pub(crate) bucket: u16,
    pub(crate) number: u32,
    pub(crate) closing: u64,
    pub(crate) seqs: Vec<u64>,
}

impl Engine {
    /// A recipient's profile.
    #[must_use]
    pub fn recipient(&self, id: &Id) -> Option<&Recipient> {
        let (bucket, number) = self.find(id).ok()?;
        self.buckets[bucket].roster.profile(number)
    }

    /// Whether anything was ever said of an object.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub fn knows_object(&self, shelf: &dyn Shelf, object: &Id) -> Result<bool, Unreadable> {
        Ok(shelf
            .get(Partition::Base, &super::intake::object_key(object))?
            .is_some())
    }

    /// How many recipients there are.
    #[must_use]
    pub fn recipients(&self) -> u64 {
        self.buckets
            .iter()
            .map(|bucket| bucket.roster.everyone.len())
            .sum()
    }

    /// How many follow a topic itself.
    #[must_use]
    pub fn followers(&self, topic: &str) -> u64 {
        let of = |bucket: &crate::bucket::Bucket| {
            bucket.followers.get(topic).map_or(0, RoaringBitmap::len)
        };
        self.buckets.iter().map(of).sum()
    }

    /// What a recipient chose: (scope, channel, mode).
    ///
    /// # Errors
    /// [`Refused::UnknownRecipient`].
    pub fn preferences(
        &self,
        id: &Id,
    ) -> Result<Vec<(PreferenceScope, &'static str, Mode)>, Refused> {
        let (bucket, number) = self.find(id)?;
        let chosen = self.buckets[bucket].preferences.of(number).into_iter();
        let named = |(channel, scope, mode): (ChannelNo, _, _)| {
            (scope, CHANNELS[usize::from(channel)], mode)
        };
        Ok(chosen.map(named).collect())
    }

    /// The topics that a recipient follows, by bytes.
    ///
    /// # Errors
    /// [`Unreadable`] outside, [`Refused::UnknownRecipient`] inside.
    pub fn following(
        &self,
        shelf: &dyn Shelf,
        id: &Id,
    ) -> Result<Result<Vec<String>, Refused>, Unreadable> {
        let (bucket, number) = match self.find(id) {
            Ok(found) => found,
            Err(refused) => return Ok(Err(refused)),
        };
        let no = self.buckets[bucket].no;
        let prefix = Key::of(Owner::Bucket(no), Table::Following)
            .u32(number)
            .done();
        let mut topics = Vec::new();
        each(shelf, Partition::Base, &prefix, |key, value| {
            let of_row = follow::topics_of(key, value)?.into_iter();
            topics.extend(of_row.map(|topic| topic.as_str().to_owned()));
            Ok(())
        })?;
        topics.sort_unstable();
        Ok(Ok(topics))
    }

    /// A page of an inbox: at most `limit` groups behind the first `skip`.
    ///
    /// # Errors
    /// [`Unreadable`] outside, [`Refused::UnknownRecipient`] inside.
    pub fn inbox(
        &self,
        shelf: &dyn Shelf,
        id: &Id,
        skip: usize,
        limit: usize,
    ) -> Result<Result<InboxPage, Refused>, Unreadable> {
        let (at, number) = match self.find(id) {
            Ok(found) => found,
            Err(refused) => return Ok(Err(refused)),
        };
        let bucket = &self.buckets[at];
        let who = RoaringBitmap::from_iter([number]);
        let takes = |_: &Kept, variant: &Variant| super::due::has_inbox(&self.law, variant);
        let has = |number: u32, seq: u64| !bucket.has_ended(seq, INBOX_NO, number);
        let look = Look {
            from: 0,
            to: bucket.told_to,
            who: &who,
            takes: &takes,
            has: &has,
        };
        let mut found = bucket.collect(shelf, &look)?;
        found.sort();
        let marks = bucket.marks.get(&number);
        let mut presenter = Presenter::new(self, shelf);
        let mut groups: BTreeMap<(Id, Option<Id>, bool), InboxGroup> = BTreeMap::new();
        for (_, source) in found.entries.iter().rev() {
            let (kept, variant) = found.source(*source);
            let arrival = &kept.arrival;
            let header = self
                .intake
                .header(shelf, arrival.at.day(), arrival.ordinal)?;
            let kind = self
                .law
                .current()
                .and_then(|version| version.kind(arrival.kind));
            let covered = |mark| {
                let looked = Looked {
                    t: arrival.t,
                    place: arrival.place,
                    event: &header.id,
                    object: &header.object,
                    has_inbox: &|version| self.law.has_inbox(version, arrival.kind),
                };
                marks.is_some_and(|marks| marks.cover(looked, mark))
            };
            let (seen, read) = (covered(MarkKind::Seen), covered(MarkKind::Read));
            let pivot = kind
                .and_then(|kind| kind.rules.group)
                .unwrap_or(Pivot::Object);
            let key = role(&header, pivot);
            let item = InboxItem {
                event: header.id.clone(),
                kind: header.kind.clone(),
                object: (*presenter.object(&header.object)?).clone(),
                occurred_at: header.occurred_at,
                t: arrival.t,
                reasons: arrival.reasons_of(variant),
                seen,
                read,
            };
            let group = groups
                .entry((header.kind.clone(), key.clone(), read))
                .or_insert_with(|| InboxGroup::begin(&header, key.as_ref(), &item));
            group.count += 1;
            group.seen &= seen;
            if let Some(actor) = &header.actor
                && !group.actors.contains(actor)
            {
                group.actors.push(actor.clone());
            }
            group.items.push(item);
        }
        let mut groups: Vec<InboxGroup> = groups.into_values().collect();
        groups.sort_by(|a, b| {
            b.newest_at
                .cmp(&a.newest_at)
                .then_with(|| a.key.cmp(&b.key))
        });
        let (unseen, unread) = (
            groups.iter().filter(|group| !group.seen).count(),
            groups.iter().filter(|group| !group.read).count(),
        );
        let total = groups.len();
        let groups: Vec<InboxGroup> = groups.into_iter().skip(skip).take(limit).collect();
        let shown = skip.min(total) + groups.len();
        Ok(Ok(InboxPage {
            groups,
            unseen,
            unread,
            rev: bucket.next_seq,
            shown,
            total,
        }))
    }

    /// The lanes in which something of a recipient waits.
    ///
    /// # Errors
    /// [`Unreadable`] outside, [`Refused::UnknownRecipient`] inside.
    pub fn open_lanes(
        &self,
        shelf: &dyn Shelf,
        id: &Id,
    ) -> Result<Result<Vec<OpenLane>, Refused>, Unreadable> {
        let (at, number) = match self.find(id) {
            Ok(found) => found,
            Err(refused) => return Ok(Err(refused)),
        };
        let bucket = &self.buckets[at];
        let who = RoaringBitmap::from_iter([number]);
        let mut lanes = Vec::new();
        for (no, lane) in &bucket.lanes {
            let name = self.law.names.lane(*no);
            let found = bucket.waiting_in(shelf, *no, name.channel, Some(&who))?;
            let mut entries = Vec::new();
            for (_, source) in &found.entries {
                let arrival = &found.source(*source).0.arrival;
                let header = self
                    .intake
                    .header(shelf, arrival.at.day(), arrival.ordinal)?;
                let waiting = WaitingEntry {
                    event: header.id,
                    kind: header.kind,
                    object: header.object,
                    t: arrival.t,
                };
                entries.push((arrival.t, arrival.place, waiting));
            }
            if entries.is_empty() {
                continue;
            }
            entries.sort_by_key(|(t, place, _)| (*t, *place));
            let due = lane
                .deadline(number)
                .filter(|due| *due < i64::MAX)
                .map(Instant);
            lanes.push(OpenLane {
                channel: CHANNELS[usize::from(name.channel)],
                lane: name.name.clone(),
                due,
                entries: entries.into_iter().map(|(_, _, entry)| entry).collect(),
            });
        }
        Ok(Ok(lanes))
    }

    /// What is scheduled for a recipient, by (t, arrival): it enters its lanes at its `t`, not before.
    ///
    /// # Errors
    /// [`Unreadable`] outside, [`Refused::UnknownRecipient`] inside.
    pub fn scheduled(
        &self,
        shelf: &dyn Shelf,
        id: &Id,
    ) -> Result<Result<Vec<WaitingEntry>, Refused>, Unreadable> {
        let (at, number) = match self.find(id) {
            Ok(found) => found,
            Err(refused) => return Ok(Err(refused)),
        };
        let owner = Owner::Bucket(self.buckets[at].no);
        let mut entries = Vec::new();
        for (t, place) in &self.intake.scheduled {
            let Some(bytes) = shelf.get(Partition::Base, &scheduled_key(owner, *t, *place))? else {
                continue;
            };
            let parts: Vec<Frozen> = decode("a scheduled audience", &bytes)?;
            if !parts.iter().any(|part| part.who.contains(number)) {
                continue;
            }
            let key = scheduled_key(Owner::Intake, *t, *place);
            let bytes = shelf.get(Partition::Base, &key)?;
            let bytes =
                bytes.ok_or_else(|| Unreadable("a scheduled event is missing".to_owned()))?;
            let EventRow { event, .. } = from_json("a scheduled event", &bytes)?;
            entries.push(WaitingEntry {
                event: event.id,
                kind: event.kind,
                object: event.object.id,
                t: *t,
            });
        }
        Ok(Ok(entries))
    }

    /// The messages that were made for a recipient, newest first; the inbox makes none.
    ///
    /// # Errors
    /// [`Unreadable`] outside, [`Refused::UnknownRecipient`] inside.
    pub fn letters_of(
        &self,
        shelf: &dyn Shelf,
        id: &Id,
    ) -> Result<Result<Vec<LetterAt>, Refused>, Unreadable> {
        let (at, number) = match self.find(id) {
            Ok(found) => found,
            Err(refused) => return Ok(Err(refused)),
        };
        let bucket = self.buckets[at].no;
        let prefix = Key::of(Owner::Bucket(bucket), Table::Messages)
            .u32(number)
            .done();
        let mut letters = Vec::new();
        for day in self.journal_days.iter().rev() {
            let mut of_day = Vec::new();
            each(shelf, Partition::Day(*day), &prefix, |key, value| {
                let closing = u64_at(key, REST + 4).unwrap_or_default();
                let row: MessageRow = decode("a message", value)?;
                let name = self.law.names.lane(row.lane);
                let seqs = row.told(closing);
                of_day.push(LetterAt {
                    at: row.at,
                    channel: CHANNELS[usize::from(name.channel)],
                    lane: name.name.clone(),
                    told: seqs.len(),
                    bucket,
                    number,
                    closing,
                    seqs,
                });
                Ok(())
            })?;
            letters.extend(of_day.into_iter().rev());
        }
        Ok(Ok(letters))
    }

    /// A message that was made, with what it told; entries of forgotten days are left out.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub fn letter(
        &self,
        shelf: &dyn Shelf,
        letter: &LetterAt,
    ) -> Result<(Plan, Letter), Unreadable> {
        let bucket = &self.buckets[usize::from(letter.bucket)];
        let who = RoaringBitmap::from_iter([letter.number]);
        let (from, to) = (letter.seqs.iter().min(), letter.seqs.iter().max());
        let told: std::collections::BTreeSet<u64> = letter.seqs.iter().copied().collect();
        let lanes = self.law.names.lanes();
        let lane = lanes.into_iter().find(|(_, name)| {
            name.name == letter.lane && CHANNELS[usize::from(name.channel)] == letter.channel
        });
        let lane = lane.map_or(0, |(no, _)| no);
        let takes = |_: &Kept, _: &Variant| true;
        let has = |_: u32, seq: u64| told.contains(&seq);
        let look = Look {
            from: from.copied().unwrap_or(0),
            to: to.copied().unwrap_or(0),
            who: &who,
            takes: &takes,
            has: &has,
        };
        let mut found = bucket.collect(shelf, &look)?;
        found.sort();
        let mut sources: Vec<u32> = found.entries.iter().map(|(_, source)| *source).collect();
        let of = (letter.bucket, letter.closing);
        let plan = self.plan_of(shelf, of, (lane, letter.at), found)?;
        plan.order(&mut sources);
        Ok((
            plan,
            Letter {
                number: letter.number,
                told: sources,
                ended: Vec::new(),
            },
        ))
    }
}

/// The id that an event has in a role.
fn role(header: &Header, pivot: Pivot) -> Option<Id> {
    match pivot {
        Pivot::Object => Some(header.object.clone()),
        Pivot::Actor => header.actor.clone(),
        Pivot::Target => header.target.clone(),
    }
}
