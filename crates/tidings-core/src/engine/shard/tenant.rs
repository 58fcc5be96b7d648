//! Changes of a tenant in a shard: pending entries of a deleted tenant end at once.

use roaring::RoaringBitmap;

use super::cancel::cancel_scheduled;
use super::prefer;
use super::state::Shard;
use super::take_back::Among;
use crate::engine::rows::act::CancelledEvents;
use crate::engine::rows::draft::Draft;
use crate::engine::rows::reach::Reached;
use crate::journal::stored::Unreadable;
use crate::model::channel::ChannelNo;
use crate::model::id::BucketNo;
use crate::model::number::{MessageId, RecipientNo, Seq};
use crate::model::reason::Reason;
use crate::model::tenant::{KnownTenant, TenantNo};

impl Shard {
    /// Takes over a tenant that was created, changed or deleted.
    pub(super) fn take_tenant(
        &mut self,
        draft: &mut Draft<'_>,
        number: TenantNo,
        known: &KnownTenant,
        void: &CancelledEvents,
    ) -> Result<(), Unreadable> {
        for (place, event) in void {
            for t in &event.waits_for {
                cancel_scheduled(self, draft, *t, *place, Reason::TenantGone)?;
            }
        }
        if let (Some(_), Some(ended)) = (known.deleted, &mut *self.ended_tenants) {
            ended.insert(number);
        }
        // Entries that end do so first: changed terms would move them to other lanes.
        if known.deleted.is_some() || known.tenant.disabled {
            for &at in &*self.buckets.numbers() {
                end_waiting(self, draft, at, number)?;
            }
        }
        let tenant = Some(&known.tenant).filter(|_| known.deleted.is_none());
        prefer::tenant_changed(self, draft, number, tenant)
    }
}

/// Ends what waits of a tenant, in lanes and in messages that are kept back.
fn end_waiting(
    shard: &mut Shard,
    draft: &mut Draft<'_>,
    at: BucketNo,
    number: TenantNo,
) -> Result<(), Unreadable> {
    let who: RoaringBitmap = shard.buckets[at].lanes.waiting_of(number);
    if !who.is_empty() {
        let among =
            Among { who: Some(&who), tenant: Some(number), are_void: true, ..Among::default() };
        shard.reroute(draft, at, among)?;
    }
    let kept_back = kept_back(shard, draft, at, number)?;
    shard.take_out(draft, at, Reason::TenantGone, kept_back)
}

/// The entries of a tenant in messages that are not handed over.
fn kept_back(
    shard: &Shard,
    draft: &Draft<'_>,
    at: BucketNo,
    tenant: TenantNo,
) -> Result<Vec<(Seq, ChannelNo, MessageId)>, Unreadable> {
    let bucket = &shard.buckets[at];
    let mut kept_back = Vec::new();
    for (closing, open) in bucket.closings.iter().filter(|(_, of)| of.lane.tenant == Some(tenant)) {
        let channel = shard.compiled.names.lane(open.lane.lane).channel;
        for number in &open.sending {
            let message = bucket.closing_id(*closing).message(RecipientNo(number));
            if draft.reach.get(&message) == Some(&Reached::KeptBack) {
                let seqs = shard.messages(draft).seqs_of(message)?.into_iter();
                kept_back.extend(seqs.map(|seq| (seq, channel, message)));
            }
        }
    }
    Ok(kept_back)
}
