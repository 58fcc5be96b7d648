//! Members of tenants: most tenants have a few people in a bucket, and most people are in one tenant or two.
//!
//! Each membership is held twice, by tenant and by recipient. The checkpoint has it once.

use std::collections::BTreeSet;

use roaring::RoaringBitmap;

use crate::codec::Corrupt;
use crate::journal::stored::encode;
use crate::journal::table::{Key, Owner, Partition, Table, Write};
use crate::model::id::BucketNo;
use crate::model::tenant::TenantNo;
use crate::sets::pairs::{Pairs, pair, parts};
use crate::sets::set::Set;
use crate::sets::shared::WriterOnly;

/// The memberships of a bucket.
#[derive(Clone, Debug, Default)]
pub(crate) struct Members {
    by_tenant: Pairs,
    by_number: Pairs,
    /// The pages by tenant that the next checkpoint writes.
    dirty: WriterOnly<BTreeSet<u64>>,
}

impl Members {
    /// The members of a tenant.
    pub(crate) fn of(&self, tenant: TenantNo) -> RoaringBitmap {
        let numbers = self.numbers(tenant);
        RoaringBitmap::from_sorted_iter(numbers).expect("pairs ascend")
    }

    /// The numbers of the members of a tenant, ascending.
    pub(crate) fn numbers(&self, tenant: TenantNo) -> impl Iterator<Item = u32> {
        self.by_tenant.of(tenant.0.get())
    }

    pub(crate) fn has(&self, tenant: TenantNo, number: u32) -> bool {
        self.by_tenant.has(tenant.0.get(), number)
    }

    /// The tenants that a recipient is a member of, ascending.
    pub(crate) fn tenants_of(&self, number: u32) -> impl Iterator<Item = TenantNo> {
        self.by_number.of(number).filter_map(TenantNo::of_raw)
    }

    /// Adds or removes members.
    pub(crate) fn change(&mut self, tenants: &[(TenantNo, Set)], on: bool) {
        let pairs = || {
            let each = |(tenant, recipients): &'_ (TenantNo, Set)| {
                let tenant = tenant.0.get();
                recipients.iter().map(move |number| (tenant, number)).collect::<Vec<_>>()
            };
            tenants.iter().flat_map(each)
        };
        let mut changed: Vec<u64> = pairs().map(|(tenant, number)| pair(tenant, number)).collect();
        changed.sort_unstable();
        self.by_tenant.change(&changed, on, &mut |last| {
            self.dirty.insert(last);
        });
        let mut changed: Vec<u64> = pairs().map(|(tenant, number)| pair(number, tenant)).collect();
        changed.sort_unstable();
        self.by_number.change(&changed, on, &mut |_| {});
    }

    /// Removes a recipient from every tenant.
    pub(crate) fn erase(&mut self, number: u32) {
        let one = Set::from_iter([number]);
        let left: Vec<(TenantNo, Set)> =
            self.tenants_of(number).map(|tenant| (tenant, one.clone())).collect();
        self.change(&left, false);
    }

    /// The rows of the pages changed since the last call, each by the last membership that it may have.
    pub(crate) fn rows(&mut self, bucket: BucketNo) -> Vec<Write> {
        let dirty = std::mem::take(&mut *self.dirty);
        let rows = dirty.into_iter().map(|last| Write {
            partition: Partition::Base,
            key: Key::of(Owner::Bucket(bucket), Table::Members).u64(last).done(),
            value: self.by_tenant.page(last).map(|page| encode(&&**page)),
        });
        rows.collect()
    }

    /// Adds a stored page, above those before.
    ///
    /// # Errors
    /// [`Corrupt`] where it makes no sense.
    pub(crate) fn restore(&mut self, last: u64, page: &[u8]) -> Result<(), Corrupt> {
        self.by_tenant.restore(last, page)
    }

    /// Ends a recovery. Returns the largest number of a member.
    pub(crate) fn restored(&mut self) -> Option<u32> {
        let turned = self.by_tenant.iter().map(|at| {
            let (tenant, number) = parts(at);
            pair(number, tenant)
        });
        let mut turned: Vec<u64> = turned.collect();
        turned.sort_unstable();
        self.by_number.change(&turned, true, &mut |_| {});
        turned.last().map(|at| parts(*at).0)
    }

    /// Number of memberships.
    pub(crate) fn count(&self) -> u64 {
        self.by_tenant.iter().count() as u64
    }

    /// Bytes of memory, roughly.
    pub(crate) fn bytes(&self) -> usize {
        self.by_tenant.bytes() + self.by_number.bytes()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// A bucket of a million members in ten thousand tenants: they join in no order.
    #[test]
    fn t42_a_membership_takes_at_most_eight_bytes() {
        let (numbers, tenants) = (62_500_u32, 10_000_u32);
        let mut members = Members::default();
        let mix = |number: u32| number.wrapping_mul(2_654_435_761) >> 7;
        let mut order: Vec<u32> = (0..numbers).collect();
        order.sort_unstable_by_key(|number| mix(*number));
        for together in order.chunks(64) {
            let mut joined: BTreeMap<u32, Set> = BTreeMap::new();
            for number in together {
                joined.entry(mix(number ^ 0x5555) % tenants + 1).or_default().insert(*number);
            }
            let tenant = |(raw, recipients)| (TenantNo::of_raw(raw).unwrap(), recipients);
            members.change(&joined.into_iter().map(tenant).collect::<Vec<_>>(), true);
        }
        assert_eq!(members.count(), u64::from(numbers));
        let each = members.bytes() as f64 / f64::from(numbers);
        assert!(each < 8.0, "{each} bytes a membership");
    }
}
