//! Mutes at arrival and afterwards: the reasons that they leave, and the entries that they end.
//!
//! An entry ends if, with all mutes of its channel, none of its reasons would remain. A change checks all that waits
//! again, by the rows of its events, so a change of the configuration (a type is no longer `required`) needs no rule of
//! its own. Recipients stay in one set as long as lanes and reasons are the same on each channel.

use std::collections::BTreeMap;

use roaring::RoaringBitmap;
use rustc_hash::FxHashMap;

use crate::bucket::{Bucket, EntryReasons};
use crate::engine::intake::accepted;
use crate::engine::rows::draft::Draft;
use crate::engine::rows::event_row::EventRow;
use crate::journal::record::{ChannelReasons, Variant};
use crate::journal::stored::{StoredArrival, Unreadable};
use crate::model::channel::ChannelNo;
use crate::model::number::LaneNo;
use crate::rules::compiled::Type;
use crate::rules::names::NumberedNames;

/// The lanes and the reasons of recipients who get the same.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RecipientRoute {
    /// The lane of each entry, ascending.
    pub(crate) lanes: Vec<LaneNo>,
    /// Indexes of the reasons' words.
    pub(crate) reasons: Vec<u16>,
    /// The channels with other reasons; never the inbox.
    pub(crate) elsewhere: Vec<ChannelReasons>,
    /// True if these recipients have other entries of the event before.
    pub(crate) later: bool,
}

/// An entry of recipients who get the same: its reasons are `None` where they are those of all.
#[derive(Clone, Debug)]
pub(crate) struct RouteBranch {
    pub(crate) channel: ChannelNo,
    pub(crate) lane: LaneNo,
    pub(crate) reasons: Option<Vec<u16>>,
}

impl RecipientRoute {
    /// The way of entries, by channel, whose reasons are these but where they say otherwise.
    pub(crate) fn of(entries: Vec<RouteBranch>, reasons: &[u16]) -> Self {
        let mut lanes: Vec<LaneNo> = entries.iter().map(|entry| entry.lane).collect();
        lanes.sort_unstable();
        let mut each = entries.into_iter().map(|entry| ChannelReasons {
            channel: entry.channel,
            reasons: entry.reasons.unwrap_or_else(|| reasons.to_vec()),
        });
        let first = each.next().map_or_else(Vec::new, |first| first.reasons);
        Self {
            lanes,
            elsewhere: each.filter(|of| of.reasons != first).collect(),
            reasons: first,
            later: false,
        }
    }

    /// Its entries by the time by which they come later, as the event's row has it.
    pub(crate) fn by_after(self, row: &EventRow, names: &NumberedNames) -> Vec<(i64, Self)> {
        let mut lanes: BTreeMap<i64, Vec<LaneNo>> = BTreeMap::new();
        for lane in &self.lanes {
            let after_ms = row.after_ms(names.lane(*lane).channel);
            lanes.entry(after_ms).or_default().push(*lane);
        }
        let first = lanes.keys().next().copied();
        let subsets = lanes.into_iter().map(|(after_ms, lanes)| {
            let subset = Self { lanes, later: Some(after_ms) != first, ..self.clone() };
            (after_ms, subset)
        });
        subsets.collect()
    }

    /// The indexes of the reasons on a channel.
    pub(crate) fn reasons_on(&self, channel: ChannelNo) -> &[u16] {
        let other = self.elsewhere.iter().find(|of| of.channel == channel);
        other.map_or(&self.reasons, |of| &of.reasons)
    }

    /// The indexes of all reasons.
    pub(crate) fn words(&self) -> impl Iterator<Item = u16> {
        let elsewhere = self.elsewhere.iter().flat_map(|of| &of.reasons);
        self.reasons.iter().chain(elsewhere).copied()
    }

    /// The same with other indexes of the words.
    pub(crate) fn renumbered(mut self, number: &FxHashMap<u16, u16>) -> Self {
        for reasons in
            self.elsewhere.iter_mut().map(|of| &mut of.reasons).chain([&mut self.reasons])
        {
            reasons.iter_mut().for_each(|at| *at = number[at]);
        }
        self
    }

    /// An upper bound on its bytes in a row.
    pub(crate) fn bytes(&self) -> usize {
        8 + 3 * (self.lanes.len() + self.words().count() + self.elsewhere.len())
    }
}

/// The recipients of a set whose mutes end their entries of an arrival on a channel.
pub(crate) fn silenced(
    draft: &Draft<'_>,
    bucket: &Bucket,
    of_type: &Type,
    kept: &StoredArrival,
    variant: &Variant,
    channel: ChannelNo,
    recipients: &RoaringBitmap,
) -> Result<RoaringBitmap, Unreadable> {
    let mutes = &bucket.preferences.mutes;
    if of_type.rules.required || !mutes.concern(recipients) {
        return Ok(RoaringBitmap::new());
    }
    let arrival = &kept.arrival;
    let row = accepted::read(draft, arrival.at.day(), arrival.event)?;
    let why = EntryReasons { words: &arrival.reasons, reasons: variant.reasons_on(channel) };
    Ok(mutes.silence(channel, (&row.event, row.tenant), why, recipients.clone()))
}
