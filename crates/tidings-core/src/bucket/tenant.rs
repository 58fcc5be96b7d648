//! The fold of tenants' terms.

use super::lanes::lane::Lane;
use super::state::Bucket;
use crate::model::number::RecipientNo;
use crate::model::tenant::{TenantNo, TenantTerms};
use crate::model::time::Instant;
use crate::rules::compiled::CompiledRules;

/// Folds in the terms of a tenant.
pub(super) fn change_tenant(
    bucket: &mut Bucket,
    at: Instant,
    tenant: TenantNo,
    new: &TenantTerms,
    compiled: &CompiledRules,
) {
    bucket.dirty.tenants.insert(tenant);
    let old = terms_of(bucket, tenant);
    let rezones = old.tz != new.tz;
    let moves = rezones || old.quiet_hours != new.quiet_hours;
    // Deadlines that have passed while they were held become final by the clock that they passed on.
    if moves {
        let (lanes, around) = bucket.lanes_and_around(compiled);
        let around_it = around.terms.in_lanes_of(Some(tenant));
        let is_quiet = |lane: &Lane| lane.may_be_quiet(around_it);
        lanes.change_of_tenant(tenant, around, is_quiet, |lane, recipients, terms| {
            lane.settle_passed(recipients, at, terms);
        });
    }
    if old.preferences != new.preferences {
        bucket.preferences.set_defaults(tenant, new);
    }
    if !moves {
        return;
    }
    // Precedes the next slots, which are looked up by the new zone.
    bucket.roster.set_tenant(tenant, new);
    if rezones {
        let old = old.tz.as_deref();
        for lane in bucket.lanes.keyed_of_tenant(tenant, Lane::is_digest) {
            let open = bucket.lanes.get(&lane).map(|lane| lane.open().clone());
            let has_moved = |number: &u32| {
                let number = RecipientNo(*number);
                let clocks = bucket.roster.clocks(Some(tenant));
                let usual = || bucket.roster.zone(number).map(|(zone, _)| zone);
                let has_own = || {
                    let profile = bucket.roster.profile(number);
                    profile.is_none_or(|profile| profile.tz.is_some())
                };
                !has_own() && clocks.zone(number).map(|(zone, _)| zone) != old.or_else(usual)
            };
            let moved = open.unwrap_or_default().iter().filter(has_moved).collect();
            bucket.rezone_in(at, &lane, &moved, compiled);
        }
    }
    let (lanes, around) = bucket.lanes_and_around(compiled);
    lanes.change_of_tenant(
        tenant,
        around,
        |_| true,
        |lane, recipients, _| lane.ask_again(recipients, at),
    );
}

/// The terms of a tenant.
pub(crate) fn terms_of(bucket: &Bucket, tenant: TenantNo) -> TenantTerms {
    let (tz, quiet_hours) = bucket.roster.set_by(tenant);
    TenantTerms {
        tz: tz.map(str::to_owned),
        quiet_hours: quiet_hours.cloned().map(Box::new),
        preferences: bucket.preferences.of_tenants.defaults(tenant).to_vec(),
    }
}
