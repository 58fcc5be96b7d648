//! Windows of digests that are counted when they are first due (contract, section 6, "min_items").

use std::collections::BTreeMap;

use roaring::RoaringBitmap;

use crate::bucket::state::version_at;
use crate::bucket::{Bucket, Terms};
use crate::journal::stored::{ReadView, Unreadable};
use crate::model::number::LaneNo;
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
        lane_no: LaneNo,
        who: &RoaringBitmap,
        compiled: &CompiledRules,
    ) -> Result<RoaringBitmap, Unreadable> {
        let mut fewer = RoaringBitmap::new();
        let (name, lane) = (compiled.names.lane(lane_no), self.lanes.plain().get(&lane_no));
        let (LaneKind::Digest(digest), Some(lane)) = (&name.kind, lane) else {
            return Ok(fewer);
        };
        // A window keeps the digest as it was when it was opened.
        let least = |number: u32| {
            let version = version_at(&self.versions, lane.since(number)?);
            Some(compiled.version(version?)?.min_items(digest))
        };
        let asked: BTreeMap<u32, u32> = who
            .iter()
            // Nothing is kept of who was erased, and so no zone in which there would be a next slot.
            .filter(|number| self.roster.everyone.contains(*number))
            .filter_map(|number| Some((number, least(number)?)))
            .filter(|(_, least)| *least > 1)
            .collect();
        let some = asked.keys().copied().collect();
        let mut found = self.waiting(view, &compiled.names).in_lane(lane_no, Some(&some))?;
        found.sort();
        for entries in found.by_recipient() {
            let number = entries[0].number;
            let least = asked.get(&number).copied().unwrap_or(0);
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
        lane_no: LaneNo,
        fewer: &RoaringBitmap,
        enough: &RoaringBitmap,
        compiled: &CompiledRules,
    ) {
        let Some(lane) = self.lanes.plain_mut().get_mut(&lane_no) else {
            return;
        };
        lane.note_enough(at, enough);
        let mut by_version: BTreeMap<u32, RoaringBitmap> = BTreeMap::new();
        for number in fewer {
            let since = lane.since(number);
            if let Some(version) = since.and_then(|since| version_at(&self.versions, since)) {
                by_version.entry(version).or_default().insert(number);
            }
        }
        for (version, who) in by_version {
            let terms = Terms::of(&self.roster, &self.ended, compiled.version(version));
            lane.pass_over(at, &who, terms);
        }
    }
}
