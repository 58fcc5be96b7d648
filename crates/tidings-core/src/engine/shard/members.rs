//! Members of tenants: those of one step become one record per bucket. A member who leaves loses the subscriptions of
//! the tenant.

use std::collections::{BTreeMap, BTreeSet};

use roaring::RoaringBitmap;

use super::admission::once::{forget_delivered, remembers_of};
use super::follow::unfollow_all;
use super::prefer;
use super::profile::devices;
use super::state::Shard;
use crate::engine::intake::state::Intake;
use crate::engine::rows::draft::Draft;
use crate::engine::rows::record_size::{pieces, set_bytes};
use crate::engine::rows::reply::{Refused, Reply};
use crate::journal::record::Record;
use crate::journal::stored::Unreadable;
use crate::model::command::Command;
use crate::model::id::BucketNo;
use crate::model::number::RecipientAt;
use crate::model::recipient::RecipientChange;
use crate::model::tenant::TenantNo;
use crate::sets::set::Set;

/// The most recipients of a deleted tenant whose memberships and subscriptions end in a step.
const SLICE: usize = 1_000;

/// Does commands that all join, or all leave.
pub(crate) fn change(
    shard: &mut Shard,
    intake: &Intake,
    draft: &mut Draft<'_>,
    commands: &[&Command],
) -> Result<Vec<Result<Reply, Refused>>, Unreadable> {
    let mut changes: BTreeMap<BucketNo, BTreeMap<TenantNo, RoaringBitmap>> = BTreeMap::new();
    let mut replies = Vec::with_capacity(commands.len());
    let mut on = true;
    for command in commands {
        let (recipient, tenant) = match command {
            Command::Join { recipient, tenant } => (recipient, tenant),
            Command::Leave { recipient, tenant } => {
                on = false;
                (recipient, tenant)
            }
            _ => continue,
        };
        let found = shard.find(recipient);
        let reply = found.and_then(|at| Ok((at, intake.tenant_no(tenant)?)));
        replies.push(reply.map(|(RecipientAt { bucket, number }, tenant)| {
            if shard.buckets[bucket].members.has(tenant, number.0) != on {
                let tenants = changes.entry(bucket).or_default();
                tenants.entry(tenant).or_default().insert(number.0);
            }
            Reply::Done
        }));
    }
    for (bucket, tenants) in changes {
        let tenants = tenants.into_iter().map(|(tenant, who)| (tenant, who.into())).collect();
        write(shard, draft, bucket, tenants, on)?;
    }
    Ok(replies)
}

/// The tenants that a change of a recipient names; `None` = they stay as they are.
///
/// # Errors
/// [`Refused`] if one of them is unknown.
pub(crate) fn named(
    intake: &Intake,
    change: &RecipientChange,
) -> Result<Option<BTreeSet<TenantNo>>, Refused> {
    change.named_tenants().try_for_each(|id| intake.tenant_no(id).map(drop))?;
    Ok(named_and_known(intake, change))
}

/// [`named`] without tenants that were deleted after the event was accepted.
pub(crate) fn named_and_known(
    intake: &Intake,
    change: &RecipientChange,
) -> Option<BTreeSet<TenantNo>> {
    let tenants = change.tenants.as_ref()?.iter();
    Some(tenants.filter_map(|id| intake.tenants.number(id).ok()).collect())
}

/// Replaces the memberships of a recipient.
pub(crate) fn set(
    shard: &mut Shard,
    draft: &mut Draft<'_>,
    RecipientAt { bucket, number }: RecipientAt,
    mut tenants: BTreeSet<TenantNo>,
) -> Result<(), Unreadable> {
    let mut left = BTreeSet::new();
    for known in shard.buckets[bucket].members.tenants_of(number.0) {
        if !tenants.remove(&known) {
            left.insert(known);
        }
    }
    for (changed, on) in [(left, false), (tenants, true)] {
        let one = |tenant| (tenant, Set::from_iter([number.0]));
        write(shard, draft, bucket, changed.into_iter().map(one).collect(), on)?;
    }
    Ok(())
}

/// Ends memberships, subscriptions, preferences and addresses of deleted tenants, and what admissions remember of them: a
/// slice in each step, so that the end of one with very many members takes no long step. What is left after a crash is found again.
///
/// # Errors
/// [`Unreadable`] where the store can't be read.
pub(crate) fn end_deleted(
    shard: &mut Shard,
    intake: &Intake,
    draft: &mut Draft<'_>,
) -> Result<(), Unreadable> {
    let mut ended = match shard.ended_tenants.take() {
        Some(ended) => ended,
        None => left_of_deleted(shard, intake, draft)?,
    };
    let mut room = SLICE;
    while let Some(&tenant) = ended.first().filter(|_| room > 0) {
        for &bucket in &*shard.buckets.numbers() {
            end_tenant(shard, draft, bucket, tenant, &mut room)?;
        }
        if room > 0 {
            ended.remove(&tenant);
        }
    }
    *shard.ended_tenants = Some(ended);
    Ok(())
}

/// The deleted tenants of which something is left in a shard: it was closed before they had ended.
fn left_of_deleted(
    shard: &Shard,
    intake: &Intake,
    draft: &Draft<'_>,
) -> Result<BTreeSet<TenantNo>, Unreadable> {
    let deleted: Vec<TenantNo> = intake.tenants.deleted().collect();
    let mut left = BTreeSet::new();
    for bucket in shard.buckets.iter() {
        for tenant in &deleted {
            let mut members = bucket.members.numbers(*tenant);
            let is_left = members.next().is_some()
                || bucket.followers.of_tenant(*tenant).next().is_some()
                || bucket.preferences.recipients_with_choices(*tenant).next().is_some()
                || bucket.roster.addressed(*tenant).next().is_some()
                || remembers_of(draft, bucket.no, *tenant)?;
            left.extend(is_left.then_some(*tenant));
        }
    }
    Ok(left)
}

/// Ends what there is of a deleted tenant in a bucket, as far as there is room, which gets less.
fn end_tenant(
    shard: &mut Shard,
    draft: &mut Draft<'_>,
    bucket: BucketNo,
    tenant: TenantNo,
    room: &mut usize,
) -> Result<(), Unreadable> {
    if *room == 0 {
        return Ok(());
    }
    let members: Set = shard.buckets[bucket].members.numbers(tenant).take(*room).collect();
    *room = room.saturating_sub(members.len() as usize);
    if !members.is_empty() {
        write(shard, draft, bucket, vec![(tenant, members)], false)?;
    }
    let followers = shard.buckets[bucket].followers.of_tenant(tenant).flatten();
    let followers: Set = followers.take(*room).collect();
    *room = room.saturating_sub(followers.len() as usize);
    if !followers.is_empty() {
        unfollow_all(shard, draft, bucket, &[(tenant, followers)])?;
    }
    prefer::forget_tenant(shard, draft, bucket, tenant, room);
    devices::end_tenant(shard, draft, bucket, tenant, room);
    forget_delivered(draft, bucket, tenant, room)
}

/// Writes that recipients of a bucket become members, or cease to be.
fn write(
    shard: &mut Shard,
    draft: &mut Draft<'_>,
    bucket: BucketNo,
    tenants: Vec<(TenantNo, Set)>,
    on: bool,
) -> Result<(), Unreadable> {
    if !on {
        unfollow_all(shard, draft, bucket, &tenants)?;
    }
    for tenants in pieces(tenants, |(_, who)| set_bytes(who)) {
        shard.write(draft, bucket, Record::Members { tenants, on });
    }
    Ok(())
}
