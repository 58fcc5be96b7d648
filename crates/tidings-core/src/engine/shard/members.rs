//! Members of tenants: those of one step become one record per bucket. A member who leaves loses the subscriptions of
//! the tenant.

use std::collections::{BTreeMap, BTreeSet};

use roaring::RoaringBitmap;

use super::admission::once::remembers_of;
use super::follow::Subscriptions;
use super::state::Shard;
use super::tenant::TenantRemoval;
use crate::engine::change_log::fields;
use crate::engine::change_log::note::NotedChange;
use crate::engine::intake::state::Intake;
use crate::engine::replies::refused::Refused;
use crate::engine::replies::reply::Reply;
use crate::engine::rows::draft::Draft;
use crate::journal::record::Record;
use crate::journal::record_size::{pieces, set_bytes};
use crate::journal::stored::Unreadable;
use crate::model::command::Command;
use crate::model::id::BucketNo;
use crate::model::number::RecipientAt;
use crate::model::tenant::TenantNo;
use crate::sets::set::Set;

/// The most recipients of a deleted tenant whose memberships and subscriptions end in a step.
const SLICE: usize = 1_000;

/// Changes of memberships in a shard.
pub(crate) struct Memberships<'a, 'd> {
    pub(crate) shard: &'a mut Shard,
    pub(crate) draft: &'a mut Draft<'d>,
}

impl Memberships<'_, '_> {
    /// Does commands that all join, or all leave.
    pub(crate) fn change(
        &mut self,
        intake: &Intake,
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
            let found = self.shard.find(recipient);
            let reply = found.and_then(|at| Ok((at, intake.tenant_no(tenant)?)));
            replies.push(reply.map(|(RecipientAt { bucket, number }, tenant)| {
                if self.shard.buckets[bucket].members.has(tenant, number.0) != on {
                    let tenants = changes.entry(bucket).or_default();
                    if tenants.entry(tenant).or_default().insert(number.0) {
                        self.draft.noted.note(|| NotedChange::shown("member", !on, on));
                    }
                }
                Reply::Done
            }));
        }
        for (bucket, tenants) in changes {
            let tenants = tenants
                .into_iter()
                .map(|(tenant, recipients)| (tenant, recipients.into()))
                .collect();
            self.write(bucket, tenants, on)?;
        }
        Ok(replies)
    }

    /// Replaces the memberships of a recipient.
    pub(super) fn set(
        &mut self,
        RecipientAt { bucket, number }: RecipientAt,
        mut tenants: BTreeSet<TenantNo>,
        intake: &Intake,
    ) -> Result<(), Unreadable> {
        let members = &self.shard.buckets[bucket].members;
        let known: BTreeSet<TenantNo> = members.tenants_of(number.0).collect();
        self.draft.noted.note_fields(|| {
            fields::memberships(&known, &tenants, &intake.tenants).into_iter().collect()
        });
        let mut left = BTreeSet::new();
        for known in known {
            if !tenants.remove(&known) {
                left.insert(known);
            }
        }
        for (changed, on) in [(left, false), (tenants, true)] {
            let one = |tenant| (tenant, Set::from_iter([number.0]));
            self.write(bucket, changed.into_iter().map(one).collect(), on)?;
        }
        Ok(())
    }

    /// Writes that recipients of a bucket become members, or cease to be.
    fn write(
        &mut self,
        bucket: BucketNo,
        tenants: Vec<(TenantNo, Set)>,
        on: bool,
    ) -> Result<(), Unreadable> {
        if !on {
            let mut subscriptions = Subscriptions { shard: self.shard, draft: self.draft };
            subscriptions.unfollow_all(bucket, &tenants)?;
        }
        for tenants in pieces(tenants, |(_, recipients)| set_bytes(recipients)) {
            self.shard.write(self.draft, bucket, Record::Members { tenants, on });
        }
        Ok(())
    }
}

impl TenantRemoval<'_, '_> {
    /// Removes a slice of the deleted tenants. What is left after a crash is found again.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub(super) fn run(
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
            let mut removal =
                TenantRemoval { shard: &mut *shard, draft: &mut *draft, tenant, room };
            removal.remove()?;
            room = removal.room;
            if room > 0 {
                ended.remove(&tenant);
            }
        }
        *shard.ended_tenants = Some(ended);
        Ok(())
    }

    fn remove(&mut self) -> Result<(), Unreadable> {
        for &bucket in &*self.shard.buckets.numbers() {
            if self.room == 0 {
                break;
            }
            self.end_memberships(bucket)?;
            self.forget_preferences(bucket);
            self.forget_addresses(bucket);
            self.forget_delivered(bucket)?;
        }
        Ok(())
    }

    /// Ends memberships and subscriptions in a bucket.
    fn end_memberships(&mut self, bucket: BucketNo) -> Result<(), Unreadable> {
        let Self { tenant, .. } = *self;
        let members = self.shard.buckets[bucket].members.numbers(tenant).take(self.room);
        let members: Set = members.collect();
        self.room = self.room.saturating_sub(members.len() as usize);
        if !members.is_empty() {
            let mut memberships = Memberships { shard: self.shard, draft: self.draft };
            memberships.write(bucket, vec![(tenant, members)], false)?;
        }
        let followers = self.shard.buckets[bucket].followers.of_tenant(tenant).flatten();
        let followers: Set = followers.take(self.room).collect();
        self.room = self.room.saturating_sub(followers.len() as usize);
        if !followers.is_empty() {
            let mut subscriptions = Subscriptions { shard: self.shard, draft: self.draft };
            subscriptions.unfollow_all(bucket, &[(tenant, followers)])?;
        }
        Ok(())
    }
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
