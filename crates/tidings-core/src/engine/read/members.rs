//! Reads of memberships: the members of a tenant, and the tenants of a recipient.

use std::collections::BTreeMap;

use crate::engine::read::tenants::TenantDirectory;
use crate::engine::replies::refused::Refused;
use crate::model::id::Id;
use crate::model::number::{RecipientAt, RecipientNo};
use crate::model::recipient::Recipient;

impl<'e> TenantDirectory<'e> {
    /// The tenants of which a recipient is a member, by id.
    ///
    /// # Errors
    /// [`Refused::UnknownRecipient`].
    pub fn tenants_of(&self, recipient: &Id) -> Result<Vec<Id>, Refused> {
        let engine = self.0;
        let RecipientAt { bucket, number } = engine.find(recipient)?;
        let tenants = engine.shards.bucket(bucket).members.tenants_of(number.0);
        let known = tenants.filter_map(|tenant| engine.intake.tenants.get(tenant));
        let mut ids: Vec<Id> = known.map(|known| known.id.clone()).collect();
        ids.sort_unstable();
        Ok(ids)
    }

    /// A page of at most `most` members of a tenant, by id; `after` = the last id of the previous page.
    ///
    /// # Errors
    /// [`Refused::UnknownTenant`].
    pub fn members(
        &self,
        tenant: &Id,
        after: Option<&Id>,
        most: usize,
    ) -> Result<Vec<&'e Recipient>, Refused> {
        let engine = self.0;
        let tenant = engine.intake.tenants.number(tenant)?;
        let mut first: BTreeMap<&'e Id, &'e Recipient> = BTreeMap::new();
        for bucket in engine.shards.buckets() {
            let numbers = bucket.members.numbers(tenant);
            let profiles = numbers.filter_map(|number| bucket.roster.profile(RecipientNo(number)));
            for profile in profiles.filter(|of| after.is_none_or(|after| of.id > *after)) {
                let is_full = first.len() >= most;
                if is_full && first.last_key_value().is_none_or(|(last, _)| **last < profile.id) {
                    continue;
                }
                first.insert(&profile.id, profile);
                if first.len() > most {
                    first.pop_last();
                }
            }
        }
        Ok(first.into_values().collect())
    }

    /// Number of memberships of all tenants, and the bytes of memory that they take, roughly.
    #[must_use]
    pub fn memberships(&self) -> (u64, usize) {
        let buckets = || self.0.shards.buckets();
        let count = buckets().map(|bucket| bucket.members.count()).sum();
        (count, buckets().map(|bucket| bucket.members.bytes()).sum())
    }
}
