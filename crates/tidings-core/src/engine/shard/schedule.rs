//! Scheduled events: their audience is fixed at arrival, their lanes when they are due.
//!
//! An event may be due at several instants, since recipients' clocks differ. The intake, which knows no recipient, lets
//! it enter at each possible instant.

use std::collections::BTreeMap;

use roaring::RoaringBitmap;
use rustc_hash::FxHashMap;

use super::mute::RecipientRoute;
use super::publish::{LaneRouter, RoutedEvent, RoutedSets};
use super::state::Shard;
use crate::bucket::{EntryReasons, FrozenEvent, FrozenRecipients, FrozenSubset};
use crate::engine::figures::counting::CountKey;
use crate::engine::figures::measure::Slot;
use crate::engine::rows::draft::Draft;
use crate::engine::rows::event_row::EventRow;
use crate::engine::rows::named::scheduled_key;
use crate::engine::send_checks::look::{EndedRecipients, SendCheckFacts};
use crate::journal::record::{ChannelReasons, EventAt, Record};
use crate::journal::stored::{Unreadable, encode};
use crate::journal::table::{Owner, Partition};
use crate::model::channel::{ChannelNo, INBOX_NO};
use crate::model::id::BucketNo;
use crate::model::number::{EventNo, TypeNo};
use crate::model::reason::Reason;
use crate::model::time::Instant;
use crate::rules::compiled::Type;
use crate::sets::set::Set;

mod not_entered;

pub(crate) use not_entered::NotEntered;

impl Shard {
    /// Stores an event with its audience until it is due.
    pub(crate) fn freeze(
        &mut self,
        draft: &mut Draft<'_>,
        event: RoutedEvent<'_>,
        type_no: TypeNo,
    ) {
        let RoutedEvent { row, t, words, routed } = event;
        for (no, routed) in routed {
            let mut merged: BTreeMap<(Vec<ChannelNo>, RecipientRoute), RoaringBitmap> =
                BTreeMap::new();
            for (mut route, recipients) in routed {
                // Lanes are chosen anew when the event enters, so the channels are all that is kept of
                // them.
                let mut channels: Vec<ChannelNo> = std::mem::take(&mut route.lanes)
                    .into_iter()
                    .map(|lane| self.compiled.names.lane(lane).channel)
                    .collect();
                channels.sort_unstable();
                *merged.entry((channels, route)).or_default() |= recipients;
            }
            if merged.is_empty() {
                continue;
            }
            let mut used: Vec<u16> = merged.keys().flat_map(|(_, route)| route.words()).collect();
            used.sort_unstable();
            used.dedup();
            let number: FxHashMap<u16, u16> = used.iter().copied().zip(0..).collect();
            let subsets = merged.into_iter().map(|((channels, route), recipients)| {
                let route = route.renumbered(&number);
                FrozenSubset {
                    channels,
                    reasons: route.reasons,
                    elsewhere: route.elsewhere,
                    later: route.later,
                    recipients: recipients.into(),
                }
            });
            let frozen = FrozenRecipients {
                words: used.iter().map(|at| words[usize::from(*at)].clone()).collect(),
                subsets: subsets.collect(),
                event: Some(FrozenEvent { arrived: row.arrived, type_no, tenant: row.tenant }),
            };
            draft.concerned.frozen(no, &frozen);
            let scheduled = &mut self.buckets[no].scheduled;
            scheduled.insert((t, row.place), frozen.everyone());
            self.note_scheduled(no, t, row, type_no);
            let key = scheduled_key(Owner::Bucket(no), t, row.place);
            draft.put_chunked(Partition::Base, key, &encode(&frozen));
        }
    }

    /// Removes the frozen sets of a scheduled event and returns them.
    pub(crate) fn take_frozen(
        &mut self,
        draft: &mut Draft<'_>,
        t: Instant,
        place: EventNo,
    ) -> Result<Vec<(BucketNo, FrozenRecipients)>, Unreadable> {
        let mut frozen = Vec::new();
        for no in &*self.buckets.numbers() {
            if !self.buckets[*no].scheduled.contains_key(&(t, place)) {
                continue;
            }
            let bucket = &mut self.buckets[*no];
            bucket.scheduled.remove(&(t, place));
            let key = scheduled_key(Owner::Bucket(bucket.no), t, place);
            let bytes = draft.get_chunked(Partition::Base, &key)?;
            let bytes =
                bytes.ok_or_else(|| Unreadable("a scheduled audience is missing".to_owned()))?;
            frozen.push((bucket.no, FrozenRecipients::decode(&bytes)?));
            draft.delete_chunked(Partition::Base, key)?;
        }
        Ok(frozen)
    }

    /// Enters a scheduled event into its lanes: its audience was fixed at arrival, and preferences and
    /// lanes are read now.
    pub(crate) fn enter_scheduled(
        &mut self,
        draft: &mut Draft<'_>,
        t: Instant,
        address: EventAt,
        row: &EventRow,
    ) -> Result<(), Unreadable> {
        let frozen = self.take_frozen(draft, t, row.place)?;
        let version = self.version();
        let type_no = self.compiled.names.type_no(row.event.event_type.as_str());
        let of_type = version.as_ref().zip(type_no).and_then(|(version, no)| version.of_type(no));
        let mut words: Vec<String> =
            frozen.iter().flat_map(|(_, frozen)| frozen.words.iter().cloned()).collect();
        words.sort_unstable();
        words.dedup();
        let mut routed = BTreeMap::new();
        for (no, frozen) in frozen {
            let router = self.router(no, row, &words);
            let seen = match of_type {
                Some(of_type) => router.seen_before(draft.view, of_type, t, &frozen)?,
                None => BTreeMap::new(),
            };
            let (sets, dropped) = router.thaw(of_type, &seen, frozen);
            routed.insert(no, router.settled(sets));
            let type_no = type_no.unwrap_or(TypeNo::NONE);
            let event = FrozenEvent { arrived: row.arrived, type_no, tenant: row.tenant };
            self.drop_entries(draft, no, (row.place, Some(event)), dropped);
        }
        self.arrive(draft, RoutedEvent { row, t, words: &words, routed }, address)
    }

    /// Counts entries that end without having entered a lane, on the day on which their event arrived.
    pub(crate) fn drop_entries(
        &mut self,
        draft: &mut Draft<'_>,
        bucket: BucketNo,
        (place, event): (EventNo, Option<FrozenEvent>),
        ended: NotEntered,
    ) {
        let at = self.now;
        let unknown = FrozenEvent { arrived: at, type_no: TypeNo::NONE, tenant: None };
        let FrozenEvent { arrived, type_no, tenant } = event.unwrap_or(unknown);
        let day = arrived.day();
        self.ledger.at(bucket, day, INBOX_NO).notifications += ended.alone;
        for (later, items) in [(false, ended.first), (true, ended.later)] {
            let items = items
                .into_iter()
                .filter(|(_, recipients)| !recipients.is_empty())
                .map(|((channel, reason), recipients)| (channel, reason, recipients.into()));
            let items: Vec<(ChannelNo, Reason, Set)> = items.collect();
            if items.is_empty() {
                continue;
            }
            for (channel, reason, recipients) in &items {
                let row = self.ledger.at(bucket, day, *channel);
                row.enter(recipients.len());
                row.end(reason.outcome(), Some(*reason), recipients.len());
                let of = CountKey { at: arrived, type_no, tenant, channel: Some(*channel) };
                self.figures.add(of, Slot::ENTRIES, recipients.len());
                self.figures.end(of, reason.outcome(), Some(*reason), recipients.len());
            }
            let record = Record::NeverEntered { at, arrived: day, place, later, items };
            self.write(draft, bucket, record);
        }
    }
}

impl LaneRouter<'_> {
    /// Applies the preferences of now to a scheduled audience, and what inboxes have shown of the event: returns the
    /// lanes that apply, and the entries that end instead.
    fn thaw(
        &self,
        of_type: Option<&Type>,
        seen: &BTreeMap<ChannelNo, RoaringBitmap>,
        frozen: FrozenRecipients,
    ) -> (RoutedSets, NotEntered) {
        let Self { bucket, row, words, paused, .. } = *self;
        let mut routed = RoutedSets::new();
        let mut dropped = NotEntered::default();
        let at = frozen.words.iter().map(|word| words.binary_search(word));
        let at: Vec<Option<u16>> = at.map(|at| u16::try_from(at.ok()?).ok()).collect();
        let renumbered = |reasons: &[u16]| -> Vec<u16> {
            reasons.iter().filter_map(|word| *at.get(usize::from(*word))?).collect()
        };
        for subset in frozen.subsets {
            let elsewhere = subset
                .elsewhere
                .iter()
                .map(|of| ChannelReasons { channel: of.channel, reasons: renumbered(&of.reasons) });
            let route = RecipientRoute {
                lanes: Vec::new(),
                reasons: renumbered(&subset.reasons),
                elsewhere: elsewhere.collect(),
                later: subset.later,
            };
            let (channels, recipients) = (subset.channels, subset.recipients);
            // Whoever was erased since is still in the frozen set.
            let erased = &recipients.0 - &*bucket.roster.everyone;
            let mut sets = vec![(Vec::new(), recipients.0)];
            for channel in channels {
                let mut split = Vec::new();
                for (lanes, recipients) in sets {
                    let chosen = match of_type {
                        Some(of_type) => {
                            let preferences = &bucket.preferences;
                            preferences
                                .lanes(channel, of_type, row.tenant, paused, recipients)
                                .collect()
                        }
                        None => vec![(None, recipients)],
                    };
                    for (lane, mut subset) in chosen {
                        let why = EntryReasons { words, reasons: route.reasons_on(channel) };
                        let is_muted = of_type.is_some_and(|of_type| !of_type.rules.required);
                        let mutes = is_muted.then_some(&bucket.preferences.mutes);
                        let event = (&row.event, row.tenant);
                        let silenced =
                            mutes.map(|mutes| mutes.silence(channel, event, why, subset.clone()));
                        let facts = SendCheckFacts {
                            unknown_type: EndedRecipients::all_if(of_type.is_none()),
                            gone: EndedRecipients::Of(&erased),
                            never: match (lane, &silenced) {
                                (None, _) => EndedRecipients::All,
                                (Some(_), Some(silenced)) => EndedRecipients::Of(silenced),
                                (Some(_), None) => EndedRecipients::None,
                            },
                            seen: seen
                                .get(&channel)
                                .map_or(EndedRecipients::None, EndedRecipients::Of),
                            ..SendCheckFacts::default()
                        };
                        let enters = facts.checks().divide(subset.clone(), |reason, recipients| {
                            dropped.end(route.later, channel, reason, &recipients);
                        });
                        subset -= &enters;
                        let with_it = lanes.iter().copied().chain(lane).collect();
                        // Who gets no entry on this channel may still get one on the next.
                        split.extend([(with_it, enters), (lanes.clone(), subset)]);
                    }
                }
                split.retain(|(_, recipients)| !recipients.is_empty());
                sets = split;
            }
            for (mut lanes, subset) in sets {
                // The notification was promised at arrival, and has no entry left: it is counted alone.
                if lanes.is_empty() {
                    dropped.end_alone(route.later, &subset);
                    continue;
                }
                lanes.sort_unstable();
                let route = RecipientRoute { lanes, ..route.clone() };
                *routed.entry(route).or_default() |= subset;
            }
        }
        (routed, dropped)
    }
}
