//! The last message of each lane: a `leading` lane sends at once what arrives long enough after it.

use roaring::RoaringBitmap;

use crate::bucket::lanes::by_address::{BucketLanes, LaneContext, pop_until};
use crate::bucket::lanes::lane::SparseLanePage;
use crate::model::batch_key::LaneKey;
use crate::model::number::LaneNo;
use crate::model::time::Instant;
use crate::rules::compiled::CompiledRules;
use crate::rules::lane_kind::LaneKind;

impl BucketLanes {
    /// Notes a message of a lane for `leading`, which asks for it no longer than its longest `quiet` allows.
    pub(crate) fn note_messages(
        &mut self,
        lane: &LaneKey,
        at: Instant,
        recipients: &RoaringBitmap,
        around: LaneContext<'_>,
    ) {
        for no in counting_lanes(lane.lane, around.compiled) {
            let lane = LaneKey { lane: no, ..lane.clone() };
            if !lane.is_plain() {
                let quiet = around.longest_quiet(no);
                if quiet == 0 {
                    continue;
                }
                self.fading.insert((Instant(at.0.saturating_add(quiet)), lane.clone()));
            }
            self.change_known(&lane, recipients, around, |lane, _| {
                lane.note_messages(at, recipients);
            });
        }
    }

    /// Takes messages that turned out empty back from the last ones.
    pub(crate) fn take_back_messages(
        &mut self,
        lane: &LaneKey,
        at: Instant,
        recipients: &RoaringBitmap,
        around: LaneContext<'_>,
    ) {
        for no in counting_lanes(lane.lane, around.compiled) {
            let lane = LaneKey { lane: no, ..lane.clone() };
            self.change_known(&lane, recipients, around, |lane, _| {
                lane.take_back_messages(at, recipients);
            });
        }
    }

    /// Drops the last messages of lanes with a key that matter no more.
    pub(crate) fn fade(&mut self, now: Instant, around: LaneContext<'_>) {
        while let Some(at) = pop_until(&mut self.fading, &now) {
            let Some(keyed) = self.keyed.get_mut(&at) else {
                continue;
            };
            let quiet = around.longest_quiet(at.lane);
            let up_to = Instant(now.0.saturating_sub(quiet));
            for number in keyed.lane.forget_messages(up_to) {
                self.dirty.insert((at.clone(), SparseLanePage::of(number)));
            }
            self.settle(&at, around.terms);
        }
    }

    /// Puts back what is after this instant, in every lane; see [`Lane::put_back`].
    ///
    /// [`Lane::put_back`]: crate::bucket::Lane::put_back
    pub(crate) fn put_back(&mut self, to: Instant, around: LaneContext<'_>) {
        for lane in self.plain.values_mut() {
            lane.put_back(to);
        }
        for at in self.keyed.keys().cloned().collect::<Vec<_>>() {
            if let Some(keyed) = self.keyed.get_mut(&at) {
                let changed = keyed.lane.put_back(to);
                let pages = changed.iter().map(SparseLanePage::of);
                self.dirty.extend(pages.map(|page| (at.clone(), page)));
            }
            self.settle(&at, around.terms);
        }
        self.fade_by(around);
    }

    /// Computes anew until when last messages matter: the rules have changed, or were read.
    pub(crate) fn fade_by(&mut self, around: LaneContext<'_>) {
        self.fading.clear();
        for (at, keyed) in &self.keyed {
            let quiet = around.longest_quiet(at.lane);
            let until = keyed
                .lane
                .last_messages()
                .map(|(_, at)| at)
                .map(|at| Instant(at.0.saturating_add(quiet)));
            self.fading.extend(until.map(|until| (until, at.clone())));
        }
    }
}

impl LaneContext<'_> {
    /// The longest time for which the last message of a lane with a key matters, in milliseconds.
    fn longest_quiet(self, no: LaneNo) -> i64 {
        let quiet = |no| self.terms.rules().map_or(0, |rules| rules.longest_quiet(no));
        let names = &self.compiled.names;
        names.others(no).chain([no]).map(quiet).max().unwrap_or(0)
    }
}

/// The numbers of a lane that count its last messages: `leading` lanes, and lanes of one's own, which
/// a change of the configuration may make `leading`.
fn counting_lanes(no: LaneNo, compiled: &CompiledRules) -> Vec<LaneNo> {
    let lane = compiled.names.lane(no);
    if lane.kind != LaneKind::Leading && lane.has_policy_name() {
        return Vec::new();
    }
    compiled.names.others(no).chain([no]).collect()
}
