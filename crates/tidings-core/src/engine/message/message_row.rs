//! Rows of built messages: one recipient's entries of a closing, fixed with their commit.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::plan::{Plan, PlannedMessage};
use crate::journal::chunks;
use crate::journal::stored::{ReadView, Unreadable, decode};
use crate::journal::table::{Key, Owner, Partition, Table};
use crate::model::batch_key::LaneKey;
use crate::model::number::{MessageId, Seq};
use crate::model::reason::Reason;
use crate::model::time::Instant;

/// A personal batch as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MessageRow {
    pub(crate) lane: LaneKey,
    /// The closing's instant.
    pub(crate) at: Instant,
    /// The time from then until it was built.
    built_after_ms: i64,
    /// Seqs as differences to the closing's, then to the one before.
    entries: Vec<i64>,
    ended: Vec<(i64, Reason)>,
    /// The entries that were removed after it was built. The journal has their end.
    taken: Vec<(i64, Reason)>,
}

/// The seqs of a personal batch.
#[derive(Debug, Default)]
struct Seqs {
    entries: Vec<Seq>,
    ended: Vec<(Seq, Reason)>,
    taken: Vec<(Seq, Reason)>,
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
        let bytes = chunks::whole(key, row, |key| view.get(partition, key))?;
        decode("a message", &bytes)
    }

    pub(crate) fn of(plan: &Plan, planned: &PlannedMessage, built: Instant) -> Self {
        let seq = |source: u32| plan.found.source(source).0.seq;
        let entries = planned.entries.iter().map(|source| seq(*source));
        let ended = planned.ended.iter().map(|(source, reason)| (seq(*source), *reason));
        let lane = LaneKey { lane: plan.lane, key: plan.key.clone(), tenant: plan.tenant };
        let built_after_ms = built.0 - plan.at.0;
        let (closing, taken) = (plan.closing.seq, [].into_iter());
        Self::new(lane, plan.at, built_after_ms, closing, entries, ended, taken)
    }

    fn new(
        lane: LaneKey,
        at: Instant,
        built_after_ms: i64,
        closing: Seq,
        entries: impl Iterator<Item = Seq>,
        ended: impl Iterator<Item = (Seq, Reason)>,
        taken: impl Iterator<Item = (Seq, Reason)>,
    ) -> Self {
        let mut last = closing.0.cast_signed();
        let mut difference = |seq: Seq| {
            let seq = seq.0.cast_signed();
            let difference = seq - last;
            last = seq;
            difference
        };
        let entries = entries.map(&mut difference).collect();
        let mut with_reason =
            |(seq, reason): (Seq, Reason)| -> (i64, Reason) { (difference(seq), reason) };
        let ended = ended.map(&mut with_reason).collect();
        let taken = taken.map(&mut with_reason).collect();
        Self { lane, at, built_after_ms, entries, ended, taken }
    }

    /// The message without some entries, which are taken out for a reason.
    pub(crate) fn without(&self, closing: Seq, seqs: &BTreeSet<Seq>, why: Reason) -> Self {
        let Seqs { entries, ended, taken } = self.all_seqs(closing);
        let (out, entries): (Vec<Seq>, Vec<Seq>) =
            entries.into_iter().partition(|seq| seqs.contains(seq));
        let out = out.into_iter().map(|seq| (seq, why));
        let (entries, ended) = (entries.into_iter(), ended.into_iter());
        let (lane, taken) = (self.lane.clone(), taken.into_iter().chain(out));
        Self::new(lane, self.at, self.built_after_ms, closing, entries, ended, taken)
    }

    /// The instant at which it was built.
    pub(crate) fn built(&self) -> Instant {
        self.at.plus_ms(self.built_after_ms)
    }

    /// The seqs of its entries.
    pub(crate) fn entries(&self, closing: Seq) -> Vec<Seq> {
        self.all_seqs(closing).entries
    }

    /// Number of its entries.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The seqs of its entries, and those that ended at its check.
    pub(crate) fn seqs(&self, closing: Seq) -> (Vec<Seq>, Vec<(Seq, Reason)>) {
        let Seqs { entries, ended, .. } = self.all_seqs(closing);
        (entries, ended)
    }

    /// Returns true if an entry passes, told or left out.
    pub(crate) fn has(&self, closing: Seq, passes: impl FnMut(Seq) -> bool) -> bool {
        let Seqs { entries, ended, taken } = self.all_seqs(closing);
        let left_out = ended.into_iter().chain(taken).map(|(seq, _)| seq);
        entries.into_iter().chain(left_out).any(passes)
    }

    /// The seqs of the entries that were taken out of it.
    pub(crate) fn taken(&self, closing: Seq) -> Vec<(Seq, Reason)> {
        self.all_seqs(closing).taken
    }

    /// The reason why it has no content, and whether the checks before sending found that.
    pub(crate) fn why_nothing(&self) -> Option<(Reason, bool)> {
        let at_check = self.ended.first().map(|(_, reason)| (*reason, true));
        self.taken
            .last()
            .map(|(_, reason)| (*reason, false))
            .or(at_check)
            .filter(|_| self.entries.is_empty())
    }

    fn all_seqs(&self, closing: Seq) -> Seqs {
        let mut last = closing.0.cast_signed();
        let mut seq = |difference: &i64| {
            last = last.wrapping_add(*difference);
            Seq(last.cast_unsigned())
        };
        let entries = self.entries.iter().map(&mut seq).collect();
        let mut with_reason =
            |(difference, reason): &(i64, Reason)| -> (Seq, Reason) { (seq(difference), *reason) };
        let ended = self.ended.iter().map(&mut with_reason).collect();
        let taken = self.taken.iter().map(&mut with_reason).collect();
        Seqs { entries, ended, taken }
    }
}

/// The key of a personal batch.
pub(crate) fn message_key(MessageId { closing, number }: MessageId) -> Vec<u8> {
    Key::of(Owner::Bucket(closing.bucket), Table::Messages).u32(number.0).seq(closing.seq).done()
}
