//! The entries that wait: in lanes, or in closings whose messages are not built.

use roaring::RoaringBitmap;

use crate::bucket::{Bucket, Closing};
use crate::index::{Found, SearchFilter};
use crate::journal::record::Variant;
use crate::journal::stored::{ReadView, StoredArrival, Unreadable};
use crate::model::batch_key::LaneKey;
use crate::model::channel::{ChannelNo, INBOX_NO};
use crate::model::number::{LaneNo, Seq, TypeNo};
use crate::model::tenant::TenantNo;
use crate::rules::names::NumberedNames;

/// A filter of the entries that wait in the lanes of a number.
#[derive(Clone, Copy, Default)]
pub(crate) struct WaitingFilter<'a> {
    /// Recipients; `None` = all.
    pub(crate) recipients: Option<&'a RoaringBitmap>,
    /// Type; `None` = all.
    pub(crate) type_no: Option<TypeNo>,
    /// Tenant; `None` = all.
    pub(crate) tenant: Option<TenantNo>,
    /// Lane; `None` = all.
    pub(crate) lane: Option<&'a LaneKey>,
}

/// The entries of a bucket that wait, as they are looked for.
#[derive(Clone, Copy)]
pub(crate) struct WaitingEntries<'a> {
    bucket: &'a Bucket,
    view: &'a dyn ReadView,
    names: &'a NumberedNames,
}

impl Bucket {
    /// The entries that wait.
    pub(crate) fn waiting<'a>(
        &'a self,
        view: &'a dyn ReadView,
        names: &'a NumberedNames,
    ) -> WaitingEntries<'a> {
        let bucket = self;
        WaitingEntries { bucket, view, names }
    }

    /// The recipients whose entry of an arrival still waits in a lane.
    pub(crate) fn pending(
        &self,
        seq: Seq,
        lane_key: &LaneKey,
        channel: ChannelNo,
        recipients: &RoaringBitmap,
    ) -> RoaringBitmap {
        let mut waiting = if channel == INBOX_NO && !self.keeps_paused(lane_key) {
            // Inbox entries wait from their arrival to the end of the step alone.
            if seq > self.delivered_to { recipients.clone() } else { RoaringBitmap::new() }
        } else {
            let mut waiting = RoaringBitmap::new();
            if let Some(lane) = self.lanes.get(lane_key) {
                let open = (recipients & lane.open()).into_iter();
                waiting.extend(open.filter(|number| lane.since(*number).is_some_and(|s| s <= seq)));
            }
            // A window that has closed still waits until its message is built.
            for (closing, open) in self.closings.from(&seq) {
                if open.lane == *lane_key && *closing > seq {
                    let unmade = open.unmade.iter().filter(|(_, since)| **since <= seq);
                    let unmade = unmade.map(|(number, _)| *number);
                    waiting.extend(unmade.filter(|number| recipients.contains(*number)));
                }
            }
            waiting
        };
        if let Some(ended) = self.ended.of(seq, channel) {
            waiting -= ended;
        }
        waiting
    }

    /// The sets of an arrival's variants, in order.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub(crate) fn sets_of(
        &self,
        view: &dyn ReadView,
        kept: &StoredArrival,
    ) -> Result<Vec<RoaringBitmap>, Unreadable> {
        // All numbers ever given to a recipient.
        let mut recipients = RoaringBitmap::new();
        recipients.insert_range(0..self.roster.next_number().0);
        self.index.sets_of(view, kept, &recipients)
    }
}

impl WaitingEntries<'_> {
    /// The entries that wait in the lanes of a number, whatever their key, of some recipients or of all.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub(crate) fn in_lane(
        &self,
        lane_no: LaneNo,
        recipients: Option<&RoaringBitmap>,
    ) -> Result<Found, Unreadable> {
        self.wanted(lane_no, WaitingFilter { recipients, ..WaitingFilter::default() })
    }

    /// Selects entries that wait in the lanes of a number.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub(crate) fn wanted(
        &self,
        lane_no: LaneNo,
        WaitingFilter { recipients, type_no, tenant, lane }: WaitingFilter<'_>,
    ) -> Result<Found, Unreadable> {
        let Self { bucket, view, names } = *self;
        let to = bucket.next_seq.before();
        let channel = names.lane(lane_no).channel;
        let takes = |kept: &StoredArrival, variant: &Variant| {
            variant.lanes.contains(&lane_no)
                && type_no.is_none_or(|no| no == kept.arrival.type_no)
                && (tenant.is_none() || tenant == kept.arrival.tenant)
                && lane.is_none_or(|lane| lane.has(names, &kept.arrival, variant))
        };
        if names.lane(lane_no).is_inbox() {
            let all = recipients.unwrap_or(&bucket.roster.everyone);
            let has =
                |number: u32, kept: &StoredArrival| !bucket.ended.has(kept.seq, channel, number);
            // Inbox entries wait until the end of the step; those of a paused inbox are in the lane of
            // paused types.
            let from = bucket.delivered_to.next();
            return bucket
                .index
                .look(view, &SearchFilter { from, to, recipients: all, takes: &takes, has: &has });
        }
        let recipients = recipients.unwrap_or(&bucket.roster.everyone);
        let (mut open, mut from) = (RoaringBitmap::new(), None);
        bucket.lanes.each_of(lane_no, recipients, |at, lane, of_lane| {
            if tenant.is_some() && tenant != at.tenant {
                return;
            }
            let since = of_lane.iter().filter_map(|number| lane.since(number));
            from = since.chain(from).min();
            open |= of_lane;
        });
        let Some(from) = from else {
            return Ok(Found::default());
        };
        let plain = bucket.lanes.plain().get(&lane_no).map(|lane| &**lane);
        let has = |number: u32, kept: &StoredArrival| {
            let (keys, tenant) = (&kept.arrival.keys, kept.arrival.tenant);
            let lane = if tenant.is_none() && names.key(lane_no, keys).is_empty() {
                plain
            } else {
                bucket.lanes.get(&names.address(lane_no, keys, tenant))
            };
            lane.and_then(|lane| lane.since(number)).is_some_and(|since| since <= kept.seq)
                && !bucket.ended.has(kept.seq, channel, number)
        };
        bucket
            .index
            .look(view, &SearchFilter { from, to, recipients: &open, takes: &takes, has: &has })
    }

    /// The entries of a type in a closing that are not in a built message yet.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub(crate) fn unmade_of(&self, closing: Seq, type_no: TypeNo) -> Result<Found, Unreadable> {
        let Self { bucket, view, names } = *self;
        let Some(open) = bucket.closings.get(&closing) else {
            return Ok(Found::default());
        };
        let Some(from) = open.unmade.values().min().copied() else {
            return Ok(Found::default());
        };
        let channel = names.lane(open.lane.lane).channel;
        let recipients = open.unmade.keys().copied().collect();
        let takes = |kept: &StoredArrival, variant: &Variant| {
            kept.arrival.type_no == type_no && open.lane.has(names, &kept.arrival, variant)
        };
        let has = |number: u32, kept: &StoredArrival| {
            let since = open.unmade.get(&number);
            since.is_some_and(|since| *since <= kept.seq)
                && !bucket.ended.has(kept.seq, channel, number)
        };
        bucket.index.look(
            view,
            &SearchFilter { from, to: closing, recipients: &recipients, takes: &takes, has: &has },
        )
    }

    /// The entries of a recipient in a closing whose message is not built.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub(crate) fn unmade_for(
        &self,
        seq: Seq,
        closing: &Closing,
        number: u32,
    ) -> Result<Found, Unreadable> {
        let Self { bucket, view, names } = *self;
        let channel = names.lane(closing.lane.lane).channel;
        let look = SearchFilter {
            from: closing.unmade.get(&number).copied().unwrap_or(seq),
            to: seq,
            recipients: &RoaringBitmap::from_iter([number]),
            takes: &|kept, variant| closing.lane.has(names, &kept.arrival, variant),
            has: &|number, kept| !bucket.ended.has(kept.seq, channel, number),
        };
        bucket.index.look(view, &look)
    }
}
