//! Changes of a tenant in a shard: pending entries of a deleted tenant end at once.

use super::state::Shard;
use super::take_back::EntryFilter;
use crate::bucket::tenant::terms_of;
use crate::engine::acts::act::CancelledEvents;
use crate::engine::reach::KeptBackState;
use crate::engine::rows::draft::Draft;
use crate::journal::record::Record;
use crate::journal::stored::Unreadable;
use crate::model::channel::ChannelNo;
use crate::model::id::BucketNo;
use crate::model::number::{MessageId, RecipientNo, Seq};
use crate::model::reason::Reason;
use crate::model::tenant::{KnownTenant, Tenant, TenantNo};

impl Shard {
    /// Takes over a tenant that was created, changed or deleted.
    pub(super) fn take_tenant(
        &mut self,
        draft: &mut Draft<'_>,
        tenant: TenantNo,
        known: &KnownTenant,
        void: &CancelledEvents,
    ) -> Result<(), Unreadable> {
        for (place, event) in void {
            for t in &event.waits_for {
                self.cancel_scheduled(draft, *t, *place, Reason::TenantGone)?;
            }
        }
        if let (Some(_), Some(ended)) = (known.deleted, &mut *self.ended_tenants) {
            ended.insert(tenant);
        }
        let after = Some(&known.tenant).filter(|_| known.deleted.is_none());
        let mut update = TenantUpdate { shard: self, draft, tenant };
        // Entries that end do so first: changed terms would move them to other lanes.
        if known.deleted.is_some() || known.tenant.disabled {
            update.end_waiting()?;
        }
        update.set_terms(after)
    }
}

/// A tenant that changes in a shard.
struct TenantUpdate<'a, 'd> {
    shard: &'a mut Shard,
    draft: &'a mut Draft<'d>,
    tenant: TenantNo,
}

impl TenantUpdate<'_, '_> {
    /// Ends what waits of the tenant, in lanes and in messages that are kept back.
    fn end_waiting(&mut self) -> Result<(), Unreadable> {
        for &bucket in &*self.shard.buckets.numbers() {
            let recipients = self.shard.buckets[bucket].lanes.waiting_of(self.tenant);
            if !recipients.is_empty() {
                let tenant = Some(self.tenant);
                let filter = EntryFilter {
                    recipients: Some(&recipients),
                    tenant,
                    are_void: true,
                    ..EntryFilter::default()
                };
                self.shard.reroute(self.draft, bucket, filter)?;
            }
            let kept_back = self.kept_back(bucket)?;
            self.shard.take_out(self.draft, bucket, Reason::TenantGone, kept_back)?;
        }
        Ok(())
    }

    /// The entries of the tenant in messages that are not handed over.
    fn kept_back(&self, bucket: BucketNo) -> Result<Vec<(Seq, ChannelNo, MessageId)>, Unreadable> {
        let bucket = &self.shard.buckets[bucket];
        let mut kept_back = Vec::new();
        let closings = bucket.closings.iter();
        for (closing, open) in closings.filter(|(_, of)| of.lane.tenant == Some(self.tenant)) {
            let channel = self.shard.compiled.names.lane(open.lane.lane).channel;
            for number in &open.sending {
                let message = bucket.closing_id(*closing).message(RecipientNo(number));
                if self.draft.reach.get(&message) == Some(&KeptBackState::KeptBack) {
                    let seqs = self.shard.messages(self.draft).seqs_of(message)?.into_iter();
                    kept_back.extend(seqs.map(|seq| (seq, channel, message)));
                }
            }
        }
        Ok(kept_back)
    }

    /// Notes what the tenant sets from now on, and moves its entries that wait to the lanes that now apply; `None` = it
    /// is deleted and sets nothing.
    fn set_terms(&mut self, after: Option<&Tenant>) -> Result<(), Unreadable> {
        let tenant = self.tenant;
        let terms = after.map(Tenant::terms).unwrap_or_default();
        for &bucket in &*self.shard.buckets.numbers() {
            let before = terms_of(&self.shard.buckets[bucket], tenant);
            if terms == before {
                continue;
            }
            let (at, boxed) = (self.shard.now, Box::new(terms.clone()));
            self.shard.write(self.draft, bucket, Record::Tenant { at, tenant, terms: boxed });
            if after.is_some() && terms.preferences != before.preferences {
                let filter = EntryFilter { tenant: Some(tenant), ..EntryFilter::default() };
                self.shard.reroute(self.draft, bucket, filter)?;
                self.shard.take_out_unwanted(self.draft, bucket, None, Some(tenant))?;
            }
        }
        Ok(())
    }
}

/// The removal of what there is of a deleted tenant in a shard: memberships, subscriptions, preferences and addresses, and
/// what admissions remember. Each step removes a slice, so that the end of one with very many members takes no long step.
pub(super) struct TenantRemoval<'a, 'd> {
    pub(super) shard: &'a mut Shard,
    pub(super) draft: &'a mut Draft<'d>,
    pub(super) tenant: TenantNo,
    /// Number of recipients, or rows, that this step may still remove.
    pub(super) room: usize,
}
