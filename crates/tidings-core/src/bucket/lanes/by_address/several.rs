//! Changes of several lanes at once: those of a number or of a tenant, and digests.

use std::collections::BTreeSet;

use roaring::RoaringBitmap;

use crate::bucket::lanes::by_address::{BucketLanes, LaneContext, SOME};
use crate::bucket::lanes::lane::{DeadlineTerms, Lane};
use crate::model::batch_key::LaneKey;
use crate::model::number::LaneNo;
use crate::model::tenant::TenantNo;

impl BucketLanes {
    /// The addresses of the lanes that are wanted, without those of plain ones.
    pub(in crate::bucket) fn keyed_where(&self, is_wanted: impl Fn(&Lane) -> bool) -> Vec<LaneKey> {
        let wanted = self.keyed.iter().filter(|(_, keyed)| is_wanted(&keyed.lane));
        wanted.map(|(at, _)| at.clone()).collect()
    }

    /// The recipients with an open window in the lanes of a number, whatever their key and tenant.
    pub(crate) fn open_in(&self, no: LaneNo) -> RoaringBitmap {
        let mut open = self.plain.get(&no).map_or_else(RoaringBitmap::new, |of| of.open().clone());
        self.keyed_in(no).for_each(|(_, lane)| open |= lane.open());
        open
    }

    /// The lanes of a number that are not plain.
    pub(super) fn keyed_in(&self, no: LaneNo) -> impl Iterator<Item = (&LaneKey, &Lane)> {
        let keyed = self.keyed.from(&LaneKey::from(no)).take_while(move |(at, _)| at.lane == no);
        keyed.map(|(at, keyed)| (at, &keyed.lane))
    }

    /// The addresses of the lanes of a tenant that are wanted. It asks once for each number and key, however many tenants
    /// have lanes of these.
    pub(in crate::bucket) fn keyed_of_tenant(
        &self,
        tenant: TenantNo,
        is_wanted: impl Fn(&Lane) -> bool,
    ) -> Vec<LaneKey> {
        let mut found = Vec::new();
        let mut next = self.keyed.first();
        while let Some((at, _)) = next {
            let own = LaneKey { tenant: Some(tenant), ..at.clone() };
            let keyed = self.keyed.get(&own).filter(|keyed| is_wanted(&keyed.lane));
            found.extend(keyed.map(|_| own));
            let is_after = |other: &LaneKey| (other.lane, &other.key) > (at.lane, &at.key);
            next = self.keyed.first_on(is_after).next();
        }
        found
    }

    /// Does something to the lanes of a tenant that are wanted, and to their open windows.
    pub(crate) fn change_of_tenant(
        &mut self,
        tenant: TenantNo,
        around: LaneContext<'_>,
        wants: impl Fn(&Lane) -> bool,
        mut change: impl FnMut(&mut Lane, &RoaringBitmap, DeadlineTerms<'_>),
    ) {
        for at in self.keyed_of_tenant(tenant, wants) {
            self.change_of_all(&at, around, &mut change);
        }
    }

    /// The addresses of digests that are not plain, of those in which windows of some recipients are open.
    pub(crate) fn keyed_digests(&self, recipients: &RoaringBitmap) -> Vec<LaneKey> {
        let is_wanted = |lane: &Lane| lane.is_digest() && !lane.open().is_disjoint(recipients);
        if recipients.len() >= SOME {
            return self.keyed_where(is_wanted);
        }
        let all: BTreeSet<&LaneKey> =
            recipients.iter().flat_map(|number| self.keyed_of(number)).collect();
        let wanted = all.into_iter().filter(|at| self.get(at).is_some_and(is_wanted));
        wanted.cloned().collect()
    }

    /// Sets whether windows of digests are counted.
    pub(crate) fn count_if(&mut self, around: LaneContext<'_>) {
        let counts = |no| around.compiled.counts(&around.compiled.names.lane(no).kind);
        for (no, lane) in &mut self.plain {
            lane.count_if(counts(*no));
        }
        for at in self.keyed_where(Lane::is_digest) {
            if let Some(keyed) = self.keyed.get_mut(&at) {
                keyed.lane.count_if(counts(at.lane));
            }
            self.settle(&at, around.terms);
        }
    }

    /// Empties the lanes of a number: all their entries have moved to other lanes.
    pub(crate) fn empty(&mut self, no: LaneNo, around: LaneContext<'_>) {
        if let Some(lane) = self.plain.get_mut(&no) {
            lane.empty();
        }
        let keyed: Vec<LaneKey> = self.keyed_in(no).map(|(at, _)| at.clone()).collect();
        for at in keyed {
            self.change_of_all(&at, around, |lane, _, _| lane.empty());
        }
    }

    fn change_of_all(
        &mut self,
        lane_key: &LaneKey,
        around: LaneContext<'_>,
        change: impl FnOnce(&mut Lane, &RoaringBitmap, DeadlineTerms<'_>),
    ) {
        let recipients =
            self.get(lane_key).map_or_else(RoaringBitmap::new, |lane| lane.open().clone());
        self.change(lane_key, &recipients, around, |lane, terms| change(lane, &recipients, terms));
    }
}
