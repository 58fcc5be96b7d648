//! What takes entries back or sends them another way: cancels, preferences, new rules.
//!
//! Taking something back never moves a deadline: the lane stays open until it is due.

use std::collections::{BTreeMap, BTreeSet};

use roaring::RoaringBitmap;

use super::draft::Draft;
use super::intake::{Located, named_key};
use super::reply::{Answer, Refused, Reply};
use super::{Engine, schedule::Frozen};
use crate::bucket::{Bucket, Found};
use crate::command::Cancelled;
use crate::id::Id;
use crate::journal::at_rest::{Kept, Unreadable, decode, each};
use crate::journal::record::{
    Arrival, ChannelNo, Entries, INBOX_NO, LaneNo, Record, Variant, channel_no,
};
use crate::law::{Law, Version};
use crate::reason::Reason;
use crate::recipient::{Mode, PreferenceScope};
use crate::table::{Partition, Table};
use crate::time::Instant;

/// A preference as a command gives it.
#[derive(Clone, Copy)]
pub(crate) struct Chosen<'a> {
    pub(crate) recipient: &'a Id,
    pub(crate) scope: &'a PreferenceScope,
    pub(crate) channel: &'a str,
    pub(crate) mode: &'a Mode,
}

/// Entries of one arrival that go another way.
struct Moved<'a> {
    kept: &'a Kept,
    lane: LaneNo,
    reasons: Vec<String>,
    who: RoaringBitmap,
}

impl Engine {
    /// Takes back what still waits of an event, or of all that carry a key so far.
    pub(crate) fn cancel(
        &mut self,
        draft: &mut Draft<'_>,
        now: Instant,
        cancelled: &Cancelled,
    ) -> Answer {
        let located = match cancelled {
            Cancelled::Event(id) => self.located_event(draft, id)?,
            Cancelled::Key(key) => self.located(draft, key, Table::Keys, Table::ScheduledKeys)?,
        };
        // A scheduled event is known by its schedule as well as by the day on which it entered.
        let located: BTreeMap<u64, Option<Instant>> = located
            .into_iter()
            .map(|located| (located.place, located.scheduled))
            .collect();
        let mut taken_back = 0;
        for (place, scheduled) in located {
            let waits = scheduled.is_some_and(|t| self.intake.scheduled.contains(&(t, place)));
            taken_back += match scheduled {
                Some(t) if waits => self.cancel_scheduled(draft, now, t, place)?,
                _ => self.cancel_arrived(draft, now, place)?,
            };
        }
        Ok(Ok(Reply::Cancelled(taken_back)))
    }

    /// The places of the events that have this id: more than one where it came again after the day of
    /// its arrival was forgotten, and something of the first still waits or is kept.
    pub(crate) fn places_of(
        &self,
        draft: &Draft<'_>,
        id: &Id,
    ) -> Result<BTreeSet<u64>, Unreadable> {
        let located = self.located_event(draft, id)?;
        Ok(located.into_iter().map(|located| located.place).collect())
    }

    fn located_event(&self, draft: &Draft<'_>, id: &Id) -> Result<BTreeSet<Located>, Unreadable> {
        let mut located = self.located(draft, id, Table::Copies, Table::ScheduledIds)?;
        located.extend(self.locate(draft, id)?);
        Ok(located)
    }

    /// Where events are that two tables name, one of each day and one that outlives days.
    fn located(
        &self,
        draft: &Draft<'_>,
        name: &Id,
        of_day: Table,
        of_base: Table,
    ) -> Result<BTreeSet<Located>, Unreadable> {
        let mut located = BTreeSet::new();
        let days = self.held_days().map(|day| (Partition::Day(day), of_day));
        for (partition, table) in days.chain([(Partition::Base, of_base)]) {
            let prefix = named_key(table, name, None);
            let mut rows: BTreeMap<Vec<u8>, Option<Vec<u8>>> = BTreeMap::new();
            each(draft.shelf, partition, &prefix, |key, value| {
                rows.insert(key.to_vec(), Some(value.to_vec()));
                Ok(())
            })?;
            for (key, value) in draft.written(partition, &prefix) {
                rows.insert(key.to_vec(), value.map(<[u8]>::to_vec));
            }
            for bytes in rows.into_values().flatten() {
                located.insert(decode("an event's place", &bytes)?);
            }
        }
        Ok(located)
    }

    fn cancel_scheduled(
        &mut self,
        draft: &mut Draft<'_>,
        now: Instant,
        t: Instant,
        place: u64,
    ) -> Result<u64, Unreadable> {
        let Some((_, frozen)) = self.take_scheduled(draft, t, place)? else {
            return Ok(0);
        };
        let mut count = 0;
        for (at, parts) in frozen.into_iter().enumerate() {
            let mut items: BTreeMap<ChannelNo, RoaringBitmap> = BTreeMap::new();
            let alone = parts.iter().map(|part| part.who.len()).sum();
            for Frozen { channels, who, .. } in parts {
                for channel in channels {
                    *items.entry(channel).or_default() |= &who.0;
                }
            }
            count += items.values().map(RoaringBitmap::len).sum::<u64>();
            let items = items
                .into_iter()
                .map(|(channel, who)| (channel, Reason::Event, who.into()));
            self.drop_entries(draft, now, at, (place, alone), items.collect());
        }
        Ok(count)
    }

    fn cancel_arrived(
        &mut self,
        draft: &mut Draft<'_>,
        now: Instant,
        place: u64,
    ) -> Result<u64, Unreadable> {
        let mut count = 0;
        for at in 0..self.buckets.len() {
            let waiting = self.waiting_of(draft, at, place)?;
            let items: Vec<Entries> = waiting
                .into_iter()
                .map(|((seq, channel), who)| Entries {
                    seq,
                    channel,
                    who: who.into(),
                })
                .collect();
            count += items.iter().map(|entries| entries.who.len()).sum::<u64>();
            self.cut(draft, now, at, Some(Reason::Event), items);
        }
        Ok(count)
    }

    /// What waits of an event in a bucket.
    fn waiting_of(
        &self,
        draft: &Draft<'_>,
        at: usize,
        place: u64,
    ) -> Result<BTreeMap<(u64, ChannelNo), RoaringBitmap>, Unreadable> {
        let bucket = &self.buckets[at];
        let mut waiting: BTreeMap<(u64, ChannelNo), RoaringBitmap> = BTreeMap::new();
        let candidates = bucket.waiting_somewhere();
        for kept in bucket.arrivals_of(draft.shelf, place)? {
            let found = bucket.sets_of(draft.shelf, &kept, &candidates)?;
            for (variant, who) in kept.arrival.variants.iter().zip(found) {
                for lane in &variant.lanes {
                    let channel = self.law.names.lane(*lane).channel;
                    let pending = bucket.pending(kept.seq, *lane, channel, &who);
                    if !pending.is_empty() {
                        *waiting.entry((kept.seq, channel)).or_default() |= pending;
                    }
                }
            }
        }
        Ok(waiting)
    }

    /// Ends entries at once, each booked on its day. `None` = they go on in another lane.
    fn cut(
        &mut self,
        draft: &mut Draft<'_>,
        now: Instant,
        at: usize,
        why: Option<Reason>,
        items: Vec<Entries>,
    ) {
        if items.is_empty() {
            return;
        }
        let bucket = &self.buckets[at];
        for Entries { seq, channel, who } in &items {
            if let Some(day) = bucket.day_of(*seq) {
                let row = self.ledger.at((bucket.no, day, *channel));
                match why {
                    Some(reason) => row.end(reason.outcome(), Some(reason), who.len()),
                    None => row.moved += who.len(),
                }
            }
        }
        self.write(
            draft,
            at,
            now,
            Record::Cut {
                at: now,
                why,
                items,
            },
        );
    }

    /// Notes what a recipient chose, and sends what waits where it now belongs.
    pub(crate) fn prefer(
        &mut self,
        draft: &mut Draft<'_>,
        now: Instant,
        chosen: Chosen<'_>,
    ) -> Answer {
        let (bucket, number) = match self.find(chosen.recipient) {
            Ok(found) => found,
            Err(refused) => return Ok(Err(refused)),
        };
        let Some(channel) = channel_no(chosen.channel) else {
            return Ok(Err(Refused::UnknownChannel(chosen.channel.to_owned())));
        };
        if let Mode::Digest(name) = chosen.mode {
            let known = self
                .rules()
                .is_some_and(|rules| rules.digests.contains_key(name));
            if !known || channel == INBOX_NO {
                let what = if known {
                    format!("the inbox has no digests, so `{name}` can't be chosen for it")
                } else {
                    format!("there is no digest `{name}`")
                };
                return Ok(Err(Refused::Preference(what)));
            }
        }
        let (scope, mode) = (chosen.scope.clone(), chosen.mode.clone());
        self.write(
            draft,
            bucket,
            now,
            Record::Preference {
                number,
                scope,
                channel,
                mode,
            },
        );
        let who = RoaringBitmap::from_iter([number]);
        self.reroute(draft, now, bucket, Some(channel), Some(&who))?;
        Ok(Ok(Reply::Done))
    }

    /// Takes what waits out of lanes that no longer apply and puts it into those that do.
    pub(crate) fn reroute(
        &mut self,
        draft: &mut Draft<'_>,
        now: Instant,
        at: usize,
        channel: Option<ChannelNo>,
        who: Option<&RoaringBitmap>,
    ) -> Result<(), Unreadable> {
        let Some(version) = self.version() else {
            return Ok(());
        };
        let bucket = &self.buckets[at];
        let mut found: Vec<(LaneNo, ChannelNo, Found)> = Vec::new();
        for (no, lane) in self.law.names.lanes() {
            if channel.is_none_or(|channel| channel == lane.channel) {
                let open = bucket.waiting_in(draft.shelf, no, lane.channel, who)?;
                if !open.entries.is_empty() {
                    found.push((no, lane.channel, open));
                }
            }
        }
        let (mut cuts, mut leaves) = (Vec::new(), Vec::new());
        let mut moved = Vec::new();
        for (lane, channel, found) in &found {
            sort_out(
                bucket,
                (&self.law, &version),
                (*lane, *channel),
                found,
                &mut cuts,
                &mut leaves,
                &mut moved,
            );
        }
        moved.sort_by_key(|moved: &Moved<'_>| {
            (
                moved.kept.arrival.t,
                moved.kept.arrival.place,
                moved.kept.seq,
                moved.lane,
            )
        });
        let mut arrivals = Vec::with_capacity(moved.len());
        for moved in moved {
            let kept = moved.kept;
            let from = (kept.arrival.at.day(), kept.arrival.ordinal);
            let place = kept.arrival.place;
            let ordinal = self.intake.copy_event(draft, from, place, now.day())?;
            let channel = self.law.names.lane(moved.lane).channel;
            self.ledger.at((bucket.no, now.day(), channel)).entries += moved.who.len();
            arrivals.push(arrive_again(moved, now, version.number, ordinal));
        }
        self.cut(draft, now, at, Some(Reason::Preference), cuts);
        self.cut(draft, now, at, None, leaves);
        if !arrivals.is_empty() {
            self.write(draft, at, now, Record::Move { at: now, arrivals });
        }
        Ok(())
    }
}

fn arrive_again(moved: Moved<'_>, now: Instant, rules: u32, ordinal: u32) -> Arrival {
    let Arrival {
        t,
        place,
        kind,
        about,
        ..
    } = moved.kept.arrival;
    let words = moved.reasons;
    let reasons = (0..).take(words.len()).collect();
    let variants = vec![Variant {
        lanes: vec![moved.lane],
        reasons,
        who: moved.who.into(),
    }];
    Arrival {
        at: now,
        t,
        place,
        ordinal,
        kind,
        rules,
        moved: true,
        about,
        reasons: words,
        variants,
    }
}

/// Sorts what waits in a lane into what ends, what leaves, and where it goes.
fn sort_out<'a>(
    bucket: &Bucket,
    (law, version): (&Law, &Version),
    (lane, channel): (LaneNo, ChannelNo),
    found: &'a Found,
    cuts: &mut Vec<Entries>,
    leaves: &mut Vec<Entries>,
    moved: &mut Vec<Moved<'a>>,
) {
    let mut sets: BTreeMap<u32, RoaringBitmap> = BTreeMap::new();
    for (number, source) in &found.entries {
        sets.entry(*source).or_default().insert(*number);
    }
    for (source, who) in sets {
        let (kept, variant) = found.source(source);
        let Some(kind) = version.kind(kept.arrival.kind) else {
            continue;
        };
        let parts = bucket.preferences.split(channel, kind, who);
        for (mode, part) in parts {
            let entries = |who: &RoaringBitmap| Entries {
                seq: kept.seq,
                channel,
                who: who.clone().into(),
            };
            match kind.lane(channel, mode.as_ref()) {
                Some(same) if law.names.are_one(same, lane) => {}
                Some(other) => {
                    leaves.push(entries(&part));
                    for (lane, who) in bucket.lanes_of(other, part, law) {
                        let reasons = kept.arrival.reasons_of(variant);
                        moved.push(Moved {
                            kept,
                            lane,
                            reasons,
                            who,
                        });
                    }
                }
                None => cuts.push(entries(&part)),
            }
        }
    }
}
