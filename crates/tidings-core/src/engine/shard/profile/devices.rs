//! Devices that join a recipient's addresses and leave them, each with the tenant whose messages it gets.

use super::size;
use crate::engine::change_log::fields;
use crate::engine::intake::state::Intake;
use crate::engine::replies::refused::{Refused, StepError};
use crate::engine::replies::reply::Reply;
use crate::engine::rows::draft::Draft;
use crate::engine::shard::state::Shard;
use crate::engine::shard::tenant::TenantRemoval;
use crate::model::channel::{CHANNEL_KINDS, ChannelNo};
use crate::model::id::{BucketNo, Id};
use crate::model::number::{RecipientAt, RecipientNo, TenantNo};
use crate::model::recipient::GivenAddress;
use crate::model::suppression::ChannelAddress;

/// A device that joins the addresses of a recipient, or leaves them.
pub(super) struct DeviceChange<'a> {
    pub(super) recipient: &'a Id,
    pub(super) channel: ChannelNo,
    pub(super) given: &'a GivenAddress,
    pub(super) joins: bool,
}

impl DeviceChange<'_> {
    /// Changes the profile.
    pub(super) fn run(
        self,
        shard: &mut Shard,
        intake: &Intake,
        draft: &mut Draft<'_>,
    ) -> Result<Reply, StepError> {
        let Self { recipient, channel, given, joins } = self;
        let of_channel =
            CHANNEL_KINDS.get(usize::from(channel)).and_then(|channel| channel.address);
        let kind = of_channel.ok_or_else(|| Refused::UnknownChannel(channel.0.to_string()))?;
        let RecipientAt { bucket, number } = shard.find(recipient)?;
        let tenant = given.tenant.as_ref().map(|id| intake.tenant_no(id)).transpose()?;
        let Some(known) = shard.buckets[bucket].roster.profile(number) else {
            return Err(Refused::UnknownRecipient(recipient.clone()).into());
        };
        let device = ChannelAddress::new(channel, &given.text);
        let is_device = |text: &str| ChannelAddress::new(channel, text) == device;
        let mut new = known.clone();
        let mut all: Vec<(&str, Option<TenantNo>)> = known.addresses.views(channel).collect();
        if joins {
            match all.iter_mut().find(|(text, of)| *of == tenant && is_device(text)) {
                Some((text, _)) => *text = &given.text,
                None => {
                    all.push((&given.text, tenant));
                    // Those of another tenant stay as long as the profile has room for all.
                    let of_tenant = all.iter().filter(|(_, of)| *of == tenant).count();
                    drop_oldest(&mut all, of_tenant.saturating_sub(kind.most()), |of| of == tenant);
                    let surplus = all.len().saturating_sub(kind.most_of_all_tenants());
                    drop_oldest(&mut all, surplus, |_| true);
                }
            }
        } else {
            all.retain(|(text, of)| tenant.is_some() && *of != tenant || !is_device(text));
        }
        new.addresses.set_views(channel, &all);
        if joins {
            size::check(&shard.buckets[bucket], Some(number), &new, &[], intake.row_bytes)?;
        }
        draft.noted.note_fields(|| fields::addresses(&known.addresses, &new.addresses).collect());
        if new != *known {
            shard.write_profile(draft, RecipientAt { bucket, number }, new);
        }
        Ok(Reply::Done)
    }
}

/// Removes the oldest devices among those of some tenants.
fn drop_oldest(
    all: &mut Vec<(&str, Option<TenantNo>)>,
    mut surplus: usize,
    is_candidate: impl Fn(Option<TenantNo>) -> bool,
) {
    all.retain(|(_, of)| {
        let leaves = surplus > 0 && is_candidate(*of);
        surplus -= usize::from(leaves);
        !leaves
    });
}

impl TenantRemoval<'_, '_> {
    /// Ends the addresses of the tenant in a bucket.
    pub(in crate::engine::shard) fn forget_addresses(&mut self, bucket: BucketNo) {
        let shard = &mut *self.shard;
        let numbers = shard.buckets[bucket].roster.addressed(self.tenant).take(self.room);
        let numbers: Vec<RecipientNo> = numbers.map(RecipientNo).collect();
        self.room = self.room.saturating_sub(numbers.len());
        for number in numbers {
            let known = shard.buckets[bucket].roster.profile(number).cloned();
            if let Some(mut profile) = known {
                profile.addresses.end_tenant(self.tenant);
                shard.write_profile(self.draft, RecipientAt { bucket, number }, profile);
            }
        }
    }
}
