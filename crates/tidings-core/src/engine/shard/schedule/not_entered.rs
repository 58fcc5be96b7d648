//! Entries of a scheduled event that end before it is due.

use std::collections::BTreeMap;

use roaring::RoaringBitmap;

use crate::bucket::FrozenSubset;
use crate::model::channel::ChannelNo;
use crate::model::reason::Reason;

/// Entries of a scheduled event that end without having entered a lane.
#[derive(Debug, Default)]
pub(crate) struct NotEntered {
    /// By channel and reason, those of recipients without an entry before.
    pub(crate) first: EndedByReason,
    /// The others.
    pub(crate) later: EndedByReason,
    /// Number of recipients without an entry before, and without another one now.
    pub(crate) alone: u64,
}

type EndedByReason = BTreeMap<(ChannelNo, Reason), RoaringBitmap>;

impl NotEntered {
    /// Ends one entry of each of a set; `later` as in the shard that they are of.
    pub(crate) fn end(
        &mut self,
        later: bool,
        channel: ChannelNo,
        why: Reason,
        recipients: &RoaringBitmap,
    ) {
        let ended = if later { &mut self.later } else { &mut self.first };
        *ended.entry((channel, why)).or_default() |= recipients;
    }

    /// Ends all entries of some recipients of a shard.
    pub(crate) fn end_all(
        &mut self,
        subset: &FrozenSubset,
        recipients: &RoaringBitmap,
        why: Reason,
    ) {
        for channel in &subset.channels {
            self.end(subset.later, *channel, why, recipients);
        }
        self.end_alone(subset.later, recipients);
    }

    /// Counts recipients of a shard who have no entry now.
    pub(crate) fn end_alone(&mut self, later: bool, recipients: &RoaringBitmap) {
        self.alone += if later { 0 } else { recipients.len() };
    }

    /// Number of these entries.
    pub(crate) fn entries(&self) -> u64 {
        self.first.values().chain(self.later.values()).map(RoaringBitmap::len).sum()
    }
}
