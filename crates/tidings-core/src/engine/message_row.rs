//! Rows of built messages: one recipient's entries of a closing, fixed with their commit.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::plan::{Plan, PlannedMessage};
use crate::batch_key::LaneKey;
use crate::journal::parts;
use crate::journal::stored::{ReadView, Unreadable, decode};
use crate::number::MessageId;
use crate::reason::Reason;
use crate::table::{Key, Owner, Partition, Table};
use crate::time::Instant;

/// A personal batch as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MessageRow {
    pub(crate) lane: LaneKey,
    /// The closing's instant.
    pub(crate) at: Instant,
    /// Seqs as differences to the closing's, then to the one before.
    entries: Vec<i64>,
    ended: Vec<(i64, Reason)>,
}

impl MessageRow {
    /// The batch whose first row is `row`.
    ///
    /// # Errors
    /// [`Unreadable`] where it makes no sense.
    pub(crate) fn read(
        view: &dyn ReadView,
        partition: Partition,
        key: &[u8],
        row: &[u8],
    ) -> Result<Self, Unreadable> {
        let bytes = parts::whole(key, row, |key| view.get(partition, key))?;
        decode("a message", &bytes)
    }

    pub(super) fn of(plan: &Plan, planned: &PlannedMessage) -> Self {
        let seq = |source: u32| plan.found.source(source).0.seq;
        let entries = planned.entries.iter().map(|source| seq(*source));
        let ended = planned.ended.iter();
        let ended = ended.map(|(source, reason)| (seq(*source), *reason));
        let lane = LaneKey {
            lane: plan.lane,
            key: plan.key.clone(),
        };
        Self::new((lane, plan.at), plan.closing.seq, entries, ended)
    }

    fn new(
        (lane, at): (LaneKey, Instant),
        closing: u64,
        entries: impl Iterator<Item = u64>,
        ended: impl Iterator<Item = (u64, Reason)>,
    ) -> Self {
        let mut last = closing.cast_signed();
        let mut difference = |seq: u64| {
            let seq = seq.cast_signed();
            let difference = seq - last;
            last = seq;
            difference
        };
        let entries = entries.map(&mut difference).collect();
        let ended = ended
            .map(|(seq, reason)| (difference(seq), reason))
            .collect();
        Self {
            lane,
            at,
            entries,
            ended,
        }
    }

    /// The message without some entries.
    pub(crate) fn without(&self, closing: u64, seqs: &BTreeSet<u64>) -> Self {
        let (entries, ended) = self.seqs(closing);
        let entries = entries.into_iter().filter(|seq| !seqs.contains(seq));
        let lane = self.lane.clone();
        Self::new((lane, self.at), closing, entries, ended.into_iter())
    }

    /// Tells whether it has no entries and none ended at its check.
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.ended.is_empty()
    }

    /// The seqs of its entries.
    pub(crate) fn entries(&self, closing: u64) -> Vec<u64> {
        self.seqs(closing).0
    }

    /// The seqs of its entries, and those that ended at its check.
    pub(crate) fn seqs(&self, closing: u64) -> (Vec<u64>, Vec<(u64, Reason)>) {
        let mut last = closing.cast_signed();
        let mut seq = |difference: &i64| {
            last = last.wrapping_add(*difference);
            last.cast_unsigned()
        };
        let entries = self.entries.iter().map(&mut seq).collect();
        let ended = self
            .ended
            .iter()
            .map(|(difference, reason)| (seq(difference), *reason))
            .collect();
        (entries, ended)
    }
}

/// The key of a personal batch.
pub(crate) fn message_key(MessageId { closing, number }: MessageId) -> Vec<u8> {
    Key::of(Owner::Bucket(closing.bucket), Table::Messages)
        .u32(number)
        .u64(closing.seq)
        .done()
}
