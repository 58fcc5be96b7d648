//! Entries that ended individually: cancelled, moved, left out of the inbox, or removed from it.
//!
//! The sets of an arrival still have them, so their readers need this list. An inbox shows its days until they are
//! deleted. A lane looks back no further than to the beginning of an open window or of a message that is not built yet;
//! earlier ends are in the journal alone.

use roaring::RoaringBitmap;

use crate::model::channel::{ChannelNo, INBOX_NO};
use crate::model::number::Seq;
use crate::sets::shared::{Shared, Tree};

/// Minimum number of ended entries before garbage collection.
const ENTRIES_MIN: u64 = 64;

/// The entries that ended individually and may still be needed.
#[derive(Clone, Debug, Default)]
pub(crate) struct EndedEntries {
    /// By the seq of the arrival.
    recipients: Tree<(Seq, ChannelNo), Shared<RoaringBitmap>>,
    /// Recipients with an ended inbox entry, or more: no others need a look-up.
    left_out: Shared<RoaringBitmap>,
    /// Number of entries of lanes that close.
    of_lanes: u64,
    /// Number of those that were left after the last garbage collection.
    kept: u64,
}

impl EndedEntries {
    pub(in crate::bucket) fn note(
        &mut self,
        seq: Seq,
        channel: ChannelNo,
        recipients: &RoaringBitmap,
    ) {
        let ended = &mut **self.recipients.or_default((seq, channel));
        let before = ended.len();
        *ended |= recipients;
        if channel == INBOX_NO {
            *self.left_out |= recipients;
        } else {
            self.of_lanes += ended.len() - before;
        }
    }

    /// The recipients whose entries of an arrival ended.
    pub(crate) fn of(&self, seq: Seq, channel: ChannelNo) -> Option<&RoaringBitmap> {
        self.recipients.get(&(seq, channel)).map(|recipients| &**recipients)
    }

    pub(crate) fn has(&self, seq: Seq, channel: ChannelNo, number: u32) -> bool {
        self.of(seq, channel).is_some_and(|recipients| recipients.contains(number))
    }

    /// Returns true if an inbox entry of any recipient may have ended.
    pub(crate) fn may_be_left_out(&self, number: u32) -> bool {
        self.left_out.contains(number)
    }

    pub(in crate::bucket) fn forget_before(&mut self, first: Seq) {
        self.recipients.remove_before(&(first, INBOX_NO));
        let lanes = self.recipients.iter().filter(|((_, of), _)| *of != INBOX_NO);
        self.of_lanes = lanes.map(|(_, recipients)| recipients.len()).sum();
        self.kept = self.kept.min(self.of_lanes);
    }

    pub(in crate::bucket) fn bytes(&self) -> usize {
        self.recipients.values().map(|recipients| 48 + recipients.serialized_size()).sum()
    }

    /// True if enough entries of lanes have ended to look for those that are no longer needed.
    pub(in crate::bucket) fn are_many(&self) -> bool {
        self.of_lanes >= ENTRIES_MIN.max(self.kept.saturating_mul(2))
    }

    /// Drops the entries of lanes that are no longer needed, and calls `drop` with each.
    pub(in crate::bucket) fn retain(
        &mut self,
        is_needed: impl Fn(Seq, ChannelNo, u32) -> bool,
        mut drop: impl FnMut(Seq, ChannelNo),
    ) {
        let mut left = 0;
        self.recipients.retain(|(seq, channel), recipients| {
            let (seq, channel) = (*seq, *channel);
            let stays =
                channel == INBOX_NO || recipients.iter().any(|n| is_needed(seq, channel, n));
            if !stays {
                drop(seq, channel);
            } else if channel != INBOX_NO {
                left += recipients.len();
            }
            stays
        });
        (self.of_lanes, self.kept) = (left, left);
    }
}
