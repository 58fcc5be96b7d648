//! The messages that caps count (contract, section 6, "Caps").
//!
//! A closing counts from when it is decided, and no longer once its message turns out empty: a server never sends
//! more than a cap allows, and may send something a little later than it could have. Days are forgotten and what a cap
//! counts is not, so it is kept apart from them: instants alone, of recipients who had messages on a channel with caps,
//! as long as one of its caps may still count them. A new cap counts from its configuration on: the days of earlier
//! messages may be gone, and a start or a reload would have to read all others.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use roaring::RoaringBitmap;

use crate::bucket::storage::known::{self, odd_key};
use crate::journal::stored::{Unreadable, decode, encode};
use crate::journal::table::{Key, Owner, Partition, REST, Table, Write, u32_at};
use crate::model::channel::ChannelNo;
use crate::model::id::BucketNo;
use crate::model::time::Instant;
use crate::rules::Cap;
use crate::rules::compiled::RulesVersion;

/// The instants of messages, by channel and recipient, ascending.
#[derive(Debug, Default)]
pub(crate) struct CapCounts {
    counted: BTreeMap<(ChannelNo, u32), Vec<Instant>>,
    /// The pages that the next checkpoint writes.
    dirty: BTreeSet<(ChannelNo, u32)>,
    /// Number of recipients that were left when all were looked at the last time.
    swept: usize,
}

/// Number of recipients in a page.
const PAGE: u32 = 256;

/// Number of recipients below which nothing is swept.
const SWEPT_MIN: usize = 1024;

/// Number of instants that are kept beyond the largest cap: of closings that may turn out empty.
const SPARE: usize = 64;

/// The instants of a page, each list with its recipient.
type InstantPage = Vec<(u32, Vec<Instant>)>;

impl CapCounts {
    /// Notes messages that were decided at an instant.
    pub(in crate::bucket) fn note(
        &mut self,
        channel: ChannelNo,
        recipients: &RoaringBitmap,
        at: Instant,
        caps: &[Cap],
    ) {
        for number in recipients {
            let counted = self.counted.entry((channel, number)).or_default();
            prune(counted, at, caps, SPARE);
            counted.push(at);
            self.dirty.insert((channel, number / PAGE));
        }
        if self.counted.len() > SWEPT_MIN.max(2 * self.swept) {
            self.sweep(channel, at, caps);
            self.swept = self.counted.len();
        }
    }

    /// Drops what no cap of a channel counts any more.
    fn sweep(&mut self, channel: ChannelNo, at: Instant, caps: &[Cap]) {
        let dirty = &mut self.dirty;
        self.counted.retain(|(of, number), counted| {
            if *of == channel {
                let before = counted.len();
                prune(counted, at, caps, SPARE);
                if counted.len() < before {
                    dirty.insert((channel, *number / PAGE));
                }
            }
            !counted.is_empty()
        });
    }

    /// Removes the newest message of an instant; returns whether there was one.
    pub(in crate::bucket) fn take_back(
        &mut self,
        channel: ChannelNo,
        number: u32,
        at: Instant,
    ) -> bool {
        let Some(counted) = self.counted.get_mut(&(channel, number)) else {
            return false;
        };
        let Some(place) = counted.iter().rposition(|known| *known == at) else {
            return false;
        };
        counted.remove(place);
        self.dirty.insert((channel, number / PAGE));
        true
    }

    /// The first instant at which a recipient may get another message; `None` = now.
    pub(in crate::bucket) fn free_at(
        &self,
        channel: ChannelNo,
        number: u32,
        now: Instant,
        caps: &[Cap],
    ) -> Option<Instant> {
        let counted = self.counted.get(&(channel, number))?;
        let free = caps.iter().filter_map(|cap| {
            let place = counted.len().checked_sub(cap.max as usize)?;
            let free = counted.get(place)?.plus_ms(cap.per_ms);
            (free > now).then_some(free)
        });
        free.max()
    }

    /// Counts messages after this instant as of this instant.
    pub(in crate::bucket) fn put_back(&mut self, to: Instant) {
        let later = self
            .counted
            .iter_mut()
            .filter(|(_, counted)| counted.last().is_some_and(|at| *at > to));
        for ((channel, number), counted) in later {
            counted.iter_mut().for_each(|at| *at = (*at).min(to));
            self.dirty.insert((*channel, number / PAGE));
        }
    }

    pub(in crate::bucket) fn erase(&mut self, number: u32) {
        for key in self.counted.keys().filter(|(_, of)| *of == number).copied().collect::<Vec<_>>()
        {
            self.counted.remove(&key);
            self.dirty.insert((key.0, number / PAGE));
        }
    }

    /// The rows of the pages that the next checkpoint of a bucket writes.
    pub(in crate::bucket) fn rows(&mut self, bucket: BucketNo) -> Vec<Write> {
        let rows = self.take_rows().into_iter().map(|((channel, page), value)| {
            let key = Key::of(Owner::Bucket(bucket), Table::CapCounts);
            Write {
                partition: Partition::Base,
                key: key.bytes(&[channel.0]).u32(page).done(),
                value,
            }
        });
        rows.collect()
    }

    /// Puts back a row of what caps count.
    ///
    /// # Errors
    /// [`Unreadable`] where it makes no sense.
    pub(in crate::bucket) fn restore(
        &mut self,
        key: &[u8],
        row: &[u8],
        is_known: impl Fn(u32) -> Result<(), Unreadable>,
    ) -> Result<(), Unreadable> {
        let odd = || odd_key("what caps count");
        let channel = *key.get(REST).ok_or_else(odd)?;
        known::channel(ChannelNo(channel))?;
        u32_at(key, REST + 1).ok_or_else(odd)?;
        let page: InstantPage = decode("what caps count", row)?;
        for (number, counted) in page {
            is_known(number)?;
            self.counted.insert((ChannelNo(channel), number), counted);
        }
        Ok(())
    }

    /// Drops what the caps of the rules that were in force until now did not count, and all where there are none
    /// from now on.
    pub(in crate::bucket) fn change(
        &mut self,
        at: Instant,
        old: Option<&Arc<RulesVersion>>,
        new: Option<&Arc<RulesVersion>>,
    ) {
        let channels: BTreeSet<ChannelNo> =
            self.counted.keys().map(|(channel, _)| *channel).collect();
        for channel in channels {
            let caps = old.map_or(&[][..], |version| version.caps(channel));
            let ends = new.is_none_or(|version| version.caps(channel).is_empty());
            let Self { counted, dirty, .. } = &mut *self;
            for ((_, number), counted) in counted.range_mut((channel, 0)..=(channel, u32::MAX)) {
                dirty.insert((channel, *number / PAGE));
                if ends {
                    counted.clear();
                } else {
                    // By the caps of before: what they did not count any more must not come back under
                    // longer ones.
                    prune(counted, at, caps, 0);
                }
            }
        }
        self.counted.retain(|_, counted| !counted.is_empty());
    }

    /// The rows of the pages that have changed; `None` = nothing is left of a page.
    fn take_rows(&mut self) -> BTreeMap<(ChannelNo, u32), Option<Vec<u8>>> {
        let dirty = std::mem::take(&mut self.dirty);
        let row = |(channel, page): (ChannelNo, u32)| {
            let last = page.saturating_mul(PAGE).saturating_add(PAGE - 1);
            let counted = self.counted.range((channel, page * PAGE)..=(channel, last));
            let counted = counted.filter(|(_, counted)| !counted.is_empty());
            let counted: InstantPage =
                counted.map(|((_, no), counted)| (*no, counted.clone())).collect();
            ((channel, page), (!counted.is_empty()).then(|| encode(&counted)))
        };
        dirty.into_iter().map(row).collect()
    }
}

/// Drops the instants that no cap counts any more, and more than the largest one needs.
fn prune(counted: &mut Vec<Instant>, at: Instant, caps: &[Cap], spare: usize) {
    let longest_ms = caps.iter().map(|cap| cap.per_ms).max().unwrap_or(0);
    let most = caps.iter().map(|cap| cap.max as usize).max().unwrap_or(0) + spare;
    counted.retain(|known| *known > at.plus_ms(-longest_ms));
    counted.drain(..counted.len().saturating_sub(most));
}
