//! Windows of digests that are counted when they are first due (contract, section 6, "min_items").

use std::collections::BTreeMap;

use roaring::RoaringBitmap;

use super::lane::{DeadlineTerms, Lane};
use super::waiting::WaitingFilter;
use crate::bucket::Bucket;
use crate::bucket::state::version_at;
use crate::journal::stored::{ReadView, Unreadable};
use crate::model::batch_key::LaneKey;
use crate::model::time::Instant;
use crate::rules::compiled::CompiledRules;
use crate::rules::lane_kind::LaneKind;

impl Bucket {
    /// The recipients among these whose window of a digest holds fewer pending entries than the digest asks
    /// for, but not none.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub(crate) fn too_few(
        &self,
        view: &dyn ReadView,
        lane_key: &LaneKey,
        recipients: &RoaringBitmap,
        compiled: &CompiledRules,
    ) -> Result<RoaringBitmap, Unreadable> {
        let mut fewer = RoaringBitmap::new();
        let (name, lane) = (compiled.names.lane(lane_key.lane), self.lanes.get(lane_key));
        let (LaneKind::Digest(digest), Some(lane)) = (&name.kind, lane) else {
            return Ok(fewer);
        };
        // A window keeps the digest as it was when it was opened.
        let least = |number: u32| {
            let version = version_at(&self.versions, lane.since(number)?);
            Some(compiled.version(version?)?.min_items(digest))
        };
        let least_of: BTreeMap<u32, u32> = recipients
            .iter()
            // Nothing is kept of who was erased, and so no zone in which there would be a next slot.
            .filter(|number| self.roster.everyone.contains(*number))
            .filter_map(|number| Some((number, least(number)?)))
            .filter(|(_, least)| *least > 1)
            .collect();
        let some = least_of.keys().copied().collect();
        let wanted = WaitingFilter {
            recipients: Some(&some),
            lane: Some(lane_key),
            ..WaitingFilter::default()
        };
        let mut found = self.waiting(view, &compiled.names).wanted(lane_key.lane, wanted)?;
        found.sort();
        for entries in found.by_recipient() {
            let number = entries[0].number;
            let least = least_of.get(&number).copied().unwrap_or(0);
            if (entries.len() as u64) < u64::from(least) {
                fewer.insert(number);
            }
        }
        Ok(fewer)
    }

    /// Folds in that windows were counted.
    pub(in crate::bucket) fn count(
        &mut self,
        at: Instant,
        lane: &LaneKey,
        fewer: &RoaringBitmap,
        enough: &RoaringBitmap,
        compiled: &CompiledRules,
    ) {
        let (lanes, around) = self.lanes_and_around(compiled);
        lanes.change_known(lane, enough, around, |lane, _| lane.note_enough(at, enough));
        for (version, recipients) in self.by_version(lane, fewer) {
            self.change_under(version, lane, &recipients, compiled, |lane, terms| {
                lane.pass_over(at, &recipients, terms);
            });
        }
    }

    /// Splits recipients by the version of the rules under which their window of a lane was opened.
    pub(in crate::bucket) fn by_version(
        &self,
        lane: &LaneKey,
        recipients: &RoaringBitmap,
    ) -> BTreeMap<u32, RoaringBitmap> {
        let lane = self.lanes.get(lane);
        let mut by_version: BTreeMap<u32, RoaringBitmap> = BTreeMap::new();
        for number in recipients {
            let since = lane.and_then(|lane| lane.since(number));
            if let Some(version) = since.and_then(|since| version_at(&self.versions, since)) {
                by_version.entry(version).or_default().insert(number);
            }
        }
        by_version
    }

    /// Changes windows of a lane under a version of the rules that is not in force any more: a window keeps the digest as
    /// it was when it was opened.
    pub(in crate::bucket) fn change_under(
        &mut self,
        version: u32,
        lane: &LaneKey,
        recipients: &RoaringBitmap,
        compiled: &CompiledRules,
        change: impl FnOnce(&mut Lane, DeadlineTerms<'_>),
    ) {
        let (lanes, around) = self.lanes_and_around(compiled);
        let then = compiled.version(version);
        lanes.change_known(lane, recipients, around, |lane, terms| change(lane, terms.under(then)));
    }
}
