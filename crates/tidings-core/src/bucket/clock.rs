//! The fold of a clock that is put back (decision 072).
//!
//! Instants of records never go back, since days are written in their order. So a record has the time of the clock, as
//! long as that is earlier. Pending entries are due by the clock; deadlines that the earlier clock set beyond it are
//! counted from now.

use std::collections::BTreeMap;

use roaring::RoaringBitmap;

use crate::bucket::state::version_at;
use crate::bucket::{Bucket, DeadlineTerms};
use crate::journal::record::Attempts;
use crate::model::number::LaneNo;
use crate::model::time::Instant;
use crate::rules::compiled::CompiledRules;

/// A clock that was put back.
#[derive(Clone, Copy, Debug)]
pub(super) struct PutBackClock {
    /// The time that it shows from now on.
    pub(super) to: Instant,
    /// By how much it was ahead, in milliseconds.
    pub(super) by_ms: i64,
}

/// The instants of records by the clock of then.
pub(super) fn by_clock(clock: Option<Instant>) -> impl Fn(Instant) -> Instant {
    move |at| clock.map_or(at, |clock| at.min(clock))
}

impl Bucket {
    /// The instant of a record by the clock of then.
    pub(super) fn by_the_clock(&self, at: Instant) -> Instant {
        by_clock(self.clock)(at)
    }

    /// Folds in what the clock shows at the instant of a record.
    pub(super) fn set_clock(&mut self, at: Instant, clock: Instant, compiled: &CompiledRules) {
        let before = self.by_the_clock(at);
        self.clock = (clock < at).then_some(clock);
        if clock < before {
            let by_ms = before.0.saturating_sub(clock.0);
            PutBackClock { to: clock, by_ms }.fold(self, compiled);
        }
    }
}

impl PutBackClock {
    /// Counts deadlines from now that the earlier clock set beyond it.
    fn fold(self, bucket: &mut Bucket, compiled: &CompiledRules) {
        self.fold_digests(bucket, compiled);
        let (lanes, around) = bucket.lanes_and_around(compiled);
        lanes.put_back(self.to, around);
        bucket.cap_counts.put_back(self.to);
        let is_later = |attempts: &Attempts| attempts.until > self.to;
        for seq in bucket
            .closings
            .iter()
            .filter(|(_, closing)| closing.clock > self.to || closing.tried.values().any(is_later))
            .map(|(seq, _)| *seq)
            .collect::<Vec<_>>()
        {
            let Some(closing) = bucket.closings.get_mut(&seq) else {
                continue;
            };
            closing.clock = closing.clock.min(self.to);
            for (number, attempts) in closing
                .tried
                .iter()
                .filter(|(_, attempts)| is_later(attempts))
                .map(|(no, of)| (*no, *of))
                .collect::<Vec<_>>()
            {
                let until = attempts.until.plus_ms(-self.by_ms).max(self.to);
                let attempts = Attempts { until, ..attempts };
                closing.tried.insert(number, attempts);
            }
        }
    }

    /// Looks up the next slots of digests anew, for windows that wait for a later one than the next.
    fn fold_digests(self, bucket: &mut Bucket, compiled: &CompiledRules) {
        let Self { to, .. } = self;
        for no in bucket
            .lanes
            .plain()
            .iter()
            .filter(|(_, lane)| lane.has_slot_after(to))
            .map(|(no, _)| *no)
            .collect::<Vec<LaneNo>>()
        {
            let Some(lane) = bucket.lanes.plain_mut().get_mut(&no) else {
                continue;
            };
            let mut by_version = BTreeMap::<u32, RoaringBitmap>::new();
            for number in lane.take_slots_after(to) {
                // A window keeps the digest as it was when it was opened.
                let since = lane.since(number);
                let version = since
                    .and_then(|since| version_at(&bucket.versions, since))
                    .unwrap_or(bucket.rules);
                by_version.entry(version).or_default().insert(number);
            }
            for (version, recipients) in by_version {
                let terms =
                    DeadlineTerms::of(&bucket.roster, &bucket.ended, compiled.version(version));
                lane.wait_from(to, &recipients, terms);
            }
        }
        let ever = bucket.roster.ever();
        for at in bucket.lanes.keyed_where(|lane| lane.has_slot_after(to)) {
            let (lanes, around) = bucket.lanes_and_around(compiled);
            let later = lanes.change_known(&at, &ever, around, |lane, _| lane.take_slots_after(to));
            for (version, recipients) in bucket.by_version(&at, &later.unwrap_or_default()) {
                bucket.change_under(version, &at, &recipients, compiled, |lane, terms| {
                    lane.wait_from(to, &recipients, terms);
                });
            }
        }
    }
}
